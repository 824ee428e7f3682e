// SPDX-License-Identifier: GPL-2.0-only
/* wakegov-sim: options, and one run per workload and governor. The model is described in sim.h. */
#include <argp.h>
#include <errno.h>
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

#define GOVERNORS_MAX 16

enum {
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
};

static const struct argp_option options[] = {
	{ "platform", OPT_PLATFORM, "FILE", 0, "The machine; see conf/platforms" },
	{ "workload", OPT_WORKLOAD, "SPEC", 0, "What runs, or several, one run each" },
	{ "governor", OPT_GOVERNOR, "NAME", 0, "Or several, or 'all'" },
	{ "duration", OPT_DURATION, "TIME", 0, "To simulate, default 10s" },
	{ "warm-up", OPT_WARM_UP, "TIME", 0, "Before that, not counted, default 2s" },
	{ "seed", OPT_SEED, "N", 0,
	  "Of the random numbers, default 1: the same seed, the same output" },
	{ "policy", OPT_POLICY, "FILE", 0,
	  "Of wakegov, alone, as wakegov.conf(5); default: built-in values" },
	{ "csv", OPT_CSV, NULL, 0, "For machines" },
	{ "record", OPT_RECORD, "FILE", 0,
	  "Record the inputs and decisions of wakegov's core, with one SPEC and the governor wakegov "
	  "alone; for wakegovctl replay and report" },
	{ "verbose", OPT_VERBOSE, NULL, 0, "More of what the model knows" },
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
	bool csv, verbose;
	int list; /* which option takes what follows it */
};

/* The SPECs and governors stand behind the options. */
static char *add_help(int key, const char *text, void *unused)
{
	char *help = NULL;
	size_t size;
	FILE *out;

	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)text;
	out = open_memstream(&help, &size);
	if (!out)
		return NULL;
	fprintf(out, "%s\nGovernors:\n", workload_help);
	for (int i = 0; sim_governors[i]; i++)
		fprintf(out, "  %-18s %s\n", sim_governors[i]->name, sim_governors[i]->summary);
	fputs("\nExit status: 0 done, 1 a file or SPEC is wrong (the last line says where and what was "
	      "expected), 2 wrong options.",
	      out);
	fclose(out);
	return help;
}

static void add_governor(const struct argp_state *state, struct command *command, const char *name)
{
	bool is_all = !strcmp(name, "all");
	int before = command->n_governors;

	for (int i = 0; sim_governors[i] && command->n_governors < GOVERNORS_MAX; i++)
		if (is_all || !strcmp(name, sim_governors[i]->name))
			command->governors[command->n_governors++] = sim_governors[i];
	if (command->n_governors == before)
		argp_error(state,
			   "--governor: found '%s', expected one that --help names, %d at most",
			   name, GOVERNORS_MAX);
}

static uint64_t quantity(const struct argp_state *state, const char *text,
			 const struct policy_units *units, uint64_t most)
{
	uint64_t number = 0;

	if (policy_units_parse(units, text, &number) < 0 || number > most)
		argp_error(state, "found '%s', expected %s", text, units->noun);
	return number;
}

static bool is_one_run(const struct command *command)
{
	return command->n_specs == 1 && command->n_governors == 1 &&
	       command->governors[0] == &sim_governor_wakegov;
}

static void check(const struct argp_state *state, const struct command *command)
{
	if (command->record_path && !is_one_run(command))
		argp_error(state,
			   "--record: expected one --workload SPEC and --governor wakegov alone");
	if (!command->platform_path || !command->n_specs || !command->n_governors ||
	    !command->run.duration_ns)
		argp_error(state, "expected --platform FILE, --workload SPEC and --governor NAME");
}

static error_t take(int key, char *text, struct argp_state *state)
{
	struct command *command = state->input;

	if (key == OPT_WORKLOAD || key == OPT_GOVERNOR)
		command->list = key;
	else if (key != ARGP_KEY_ARG)
		command->list = 0;
	switch (key == ARGP_KEY_ARG ? command->list : key) {
	case OPT_WORKLOAD:
		command->specs[command->n_specs++] = text;
		return 0;
	case OPT_GOVERNOR:
		add_governor(state, command, text);
		return 0;
	case OPT_PLATFORM:
		command->platform_path = text;
		return 0;
	case OPT_SEED:
		command->run.seed = quantity(state, text, &policy_units_none, UINT64_MAX);
		return 0;
	case OPT_DURATION:
		command->run.duration_ns = quantity(state, text, &policy_units_duration,
						    3600000000000);
		return 0;
	case OPT_WARM_UP:
		command->run.warm_up_ns = quantity(state, text, &policy_units_duration,
						   3600000000000);
		return 0;
	case OPT_POLICY:
		command->policy_path = text;
		return 0;
	case OPT_CSV:
		command->csv = true;
		return 0;
	case OPT_RECORD:
		command->record_path = text;
		return 0;
	case OPT_VERBOSE:
		command->verbose = true;
		return 0;
	case ARGP_KEY_END:
		check(state, command);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_version(FILE *out, struct argp_state *state)
{
	fprintf(out, "wakegov-sim %s\n", wakegov_version);
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
	static const struct argp parser = {
		options,
		take,
		"--platform FILE --workload SPEC… --governor NAME…",
		"Simulate a machine's I/O under frequency governors, wakegov's own core among them.\v",
		.help_filter = add_help,
	};
	struct command command = {
		.run = { .seed = 1, .warm_up_ns = 2000000000, .duration_ns = 10000000000 },
	};
	_cleanup_free_ const char **specs = calloc(argc, sizeof(*specs));
	struct policy policy;

	command.specs = specs;
	if (!specs)
		return EXIT_FAILURE;
	argp_err_exit_status = 2;
	argp_program_version_hook = print_version;
	setenv("ARGP_HELP_FMT", "rmargin=100", false);
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &command);
	return load_policy(&command, &policy) < 0 ? EXIT_FAILURE : run_recorded(&command);
}
