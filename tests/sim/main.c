// SPDX-License-Identifier: GPL-2.0-only
/* wakegov-sim: options, and one run per workload and governor. The model is described in sim.h. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "config/units.h"
#include "shared/cleanup.h"
#include "shared/version.h"
#include "sim/output.h"
#include "sim/recording.h"

#define EXIT_USAGE    2
#define GOVERNORS_MAX 16

enum {
	OPT_LIST = 1, /* what getopt returns for an argument that belongs to the option before */
	OPT_PLATFORM = 256,
	OPT_WORKLOAD,
	OPT_GOVERNOR,
	OPT_SEED,
	OPT_DURATION,
	OPT_WARM_UP,
	OPT_POLICY,
	OPT_CSV,
	OPT_RECORD,
	OPT_VERBOSE,
	OPT_VERSION,
	OPT_HELP
};

static const struct option options[] = {
	{ "platform", required_argument, NULL, OPT_PLATFORM },
	{ "workload", required_argument, NULL, OPT_WORKLOAD },
	{ "governor", required_argument, NULL, OPT_GOVERNOR },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "warm-up", required_argument, NULL, OPT_WARM_UP },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

struct command {
	const char *platform_path;
	const char **specs; /* argc of them at most */
	int n_specs;
	const struct sim_governor *governors[GOVERNORS_MAX];
	int n_governors;
	struct run_options run;
	const char *policy_path; /* NULL: the built-in one */
	const char *record_path;
	bool csv, verbose, help, version;
	int list; /* which option takes what follows it */
};

static void print_help(void)
{
	printf("Usage: wakegov-sim --platform FILE --workload SPEC… --governor NAME… [OPTION…]\n"
	       "Simulate a machine's I/O under frequency governors, wakegov's own core among "
	       "them.\n\n"
	       "  --platform FILE   the machine; see conf/platforms\n"
	       "  --workload SPEC…  what runs, one run each\n"
	       "  --governor NAME…  or 'all'\n"
	       "  --duration TIME   to simulate, default 10s\n"
	       "  --warm-up TIME    before that, not counted, default 2s\n"
	       "  --seed N          of the random numbers, default 1: the same seed, the same "
	       "output\n"
	       "  --policy FILE     of wakegov, alone, as wakegov.conf(5); default: built-in "
	       "values\n"
	       "  --csv             for machines\n"
	       "  --record FILE     write down what wakegov's core is told and decides; with one "
	       "SPEC and\n"
	       "                    the governor wakegov alone; for wakegovctl replay and export\n"
	       "  --verbose         more of what the model knows\n"
	       "  --version, --help\n\n"
	       "%s\nGovernors:\n",
	       workload_help);
	for (int i = 0; sim_governors[i]; i++)
		printf("  %-18s %s\n", sim_governors[i]->name, sim_governors[i]->summary);
	printf("\nExit status: 0 done, 1 a file or SPEC is wrong (the last line says where and what\n"
	       "was expected), 2 wrong options.\n");
}

static int add_governor(struct command *command, const char *name)
{
	const struct sim_governor *governor = sim_governor_find(name);

	if (!strcmp(name, "all")) {
		for (int i = 0; sim_governors[i] && command->n_governors < GOVERNORS_MAX; i++)
			command->governors[command->n_governors++] = sim_governors[i];
		return 0;
	}
	if (!governor || command->n_governors == GOVERNORS_MAX) {
		fprintf(stderr, "wakegov-sim: --governor: found '%s', expected one of", name);
		for (int i = 0; sim_governors[i]; i++)
			fprintf(stderr, " %s", sim_governors[i]->name);
		fprintf(stderr, " all, %d at most\n", GOVERNORS_MAX);
		return -EINVAL;
	}
	command->governors[command->n_governors++] = governor;
	return 0;
}

static int take_quantity(const char *option, const struct policy_units *units, uint64_t most,
			 uint64_t *ret)
{
	uint64_t number;

	if (policy_units_parse(units, optarg, &number) == 0 && number <= most) {
		*ret = number;
		return 0;
	}
	fprintf(stderr, "wakegov-sim: %s: found '%s', expected %s\n", option, optarg, units->noun);
	return -EINVAL;
}

static int take_list(struct command *command)
{
	if (command->list == OPT_GOVERNOR)
		return add_governor(command, optarg);
	if (command->list == OPT_WORKLOAD) {
		command->specs[command->n_specs++] = optarg;
		return 0;
	}
	fprintf(stderr, "wakegov-sim: unexpected '%s'; try wakegov-sim --help\n", optarg);
	return -EINVAL;
}

static int take_option(struct command *command, int option)
{
	switch (option) {
	case OPT_WORKLOAD:
	case OPT_GOVERNOR:
		command->list = option;
		return take_list(command);
	case OPT_LIST:
		return take_list(command);
	case OPT_PLATFORM:
		command->platform_path = optarg;
		return 0;
	case OPT_SEED:
		return take_quantity("--seed", &policy_units_none, UINT64_MAX, &command->run.seed);
	case OPT_DURATION:
		return take_quantity("--duration", &policy_units_duration, 3600000000000,
				     &command->run.duration_ns);
	case OPT_WARM_UP:
		return take_quantity("--warm-up", &policy_units_duration, 3600000000000,
				     &command->run.warm_up_ns);
	case OPT_POLICY:
		command->policy_path = optarg;
		return 0;
	case OPT_CSV:
		command->csv = true;
		return 0;
	case OPT_RECORD:
		command->record_path = optarg;
		return 0;
	case OPT_VERBOSE:
		command->verbose = true;
		return 0;
	case OPT_VERSION:
		command->version = true;
		return 0;
	case OPT_HELP:
		command->help = true;
		return 0;
	default:
		fprintf(stderr, "Try wakegov-sim --help.\n");
		return -EINVAL;
	}
}

static bool is_one_run(const struct command *command)
{
	return command->n_specs == 1 && command->n_governors == 1 &&
	       command->governors[0] == &sim_governor_wakegov;
}

static int parse(int argc, char *argv[], struct command *command)
{
	int option, r;

	/* '-': an argument that is no option comes back as OPT_LIST, in its place. */
	while ((option = getopt_long(argc, argv, "-", options, NULL)) != -1) {
		if (option != OPT_LIST)
			command->list = 0;
		r = take_option(command, option);
		if (r < 0)
			return r;
	}
	if (command->help || command->version)
		return 0;
	if (command->record_path && !is_one_run(command)) {
		fprintf(stderr, "wakegov-sim: --record: expected one --workload SPEC and "
				"--governor wakegov alone\n");
		return -EINVAL;
	}
	if (command->platform_path && command->n_specs && command->n_governors &&
	    command->run.duration_ns && optind == argc)
		return 0;
	fprintf(stderr, "wakegov-sim: expected --platform FILE, --workload SPEC and --governor "
			"NAME; try wakegov-sim --help\n");
	return -EINVAL;
}

static void print_result(const struct command *command, const struct platform *platform,
			 const struct result *result)
{
	if (command->csv)
		output_csv(stdout, platform, result);
	else
		output_table(stdout, platform, result);
	if (command->verbose)
		output_details(command->csv ? stderr : stdout, platform, result);
}

static int run_one(const struct command *command, const struct platform *platform,
		   const struct workload *workload, const struct sim_governor *governor)
{
	struct result result;
	int r;

	if (governor == &sim_governor_fixed)
		r = oracle_run(platform, workload, &command->run, &result);
	else
		r = result_run(platform, workload, governor, NULL, &command->run, &result);
	if (r == 0)
		print_result(command, platform, &result);
	return r;
}

static int run_governors(const struct command *command, const struct platform *platform,
			 const struct workload *workload)
{
	int r;

	for (int i = 0; i < command->n_governors; i++) {
		r = run_one(command, platform, workload, command->governors[i]);
		if (r < 0) {
			fprintf(stderr, "wakegov-sim: %s under %s: %s\n", workload->text,
				command->governors[i]->name,
				r == -ELOOP ? "time does not go on, a fault of the simulator"
					    : strerror(-r));
			return r;
		}
		fflush(stdout);
	}
	return 0;
}

/* Without dry_run it is run. */
static int take_spec(const struct command *command, const struct platform *platform,
		     const char *spec, bool dry_run)
{
	_cleanup_free_ struct workload *workload = calloc(1, sizeof(*workload));
	_cleanup_free_ char *message = NULL;
	int r;

	if (!workload)
		return -ENOMEM;
	r = workload_parse(spec, platform, workload, &message);
	if (r < 0) {
		fprintf(stderr, "wakegov-sim: --workload %s: %s\n", spec, message ?: strerror(-r));
		return r;
	}
	return dry_run ? 0 : run_governors(command, platform, workload);
}

static int load_policy(struct command *command, struct policy *ret)
{
	_cleanup_free_ char *message = NULL;
	int r;

	if (!command->policy_path)
		return 0;
	r = policy_load(command->policy_path, false, NULL, ret, &message);
	if (r < 0)
		fprintf(stderr, "%s\n", message ?: strerror(-r));
	else
		command->run.policy = ret;
	return r;
}

static int load(const struct command *command, struct platform *ret)
{
	_cleanup_free_ char *message = NULL;
	int r = platform_load(command->platform_path, ret, &message);

	if (r < 0)
		fprintf(stderr, "%s\n", message ?: strerror(-r));
	/* A fault in the last SPEC is said before the first one is run. */
	for (int i = 0; i < command->n_specs && r == 0; i++)
		r = take_spec(command, ret, command->specs[i], true);
	return r;
}

static int run(const struct command *command)
{
	_cleanup_free_ struct platform *platform = calloc(1, sizeof(*platform));
	int r = 0;

	if (!platform || load(command, platform) < 0)
		return EXIT_FAILURE;
	if (command->csv)
		output_csv_header(stdout, platform);
	else
		output_table_header(stdout, platform);
	for (int i = 0; i < command->n_specs && r == 0; i++)
		r = take_spec(command, platform, command->specs[i], false);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_recorded(struct command *command)
{
	struct recording recording;
	int status;

	if (!command->record_path)
		return run(command);
	if (recording_open(&recording, command->record_path) < 0)
		return EXIT_FAILURE;
	command->run.recorder = recording.recorder;
	status = run(command);
	return recording_close(&recording) < 0 ? EXIT_FAILURE : status;
}

int main(int argc, char *argv[])
{
	struct command command = {
		.run = { .seed = 1, .warm_up_ns = 2000000000, .duration_ns = 10000000000 },
	};
	_cleanup_free_ const char **specs = calloc(argc, sizeof(*specs));
	struct policy policy;

	command.specs = specs;
	if (!specs || parse(argc, argv, &command) < 0)
		return EXIT_USAGE;
	if (command.help) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (command.version) {
		printf("wakegov-sim %s\n", wakegov_version);
		return EXIT_SUCCESS;
	}
	return load_policy(&command, &policy) < 0 ? EXIT_FAILURE : run_recorded(&command);
}
