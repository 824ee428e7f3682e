// SPDX-License-Identifier: GPL-2.0-only
/* wakegovd: options, and the choice of the job. See wakegovd(8). */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/affinities.h"
#include "actuator/discovery.h"
#include "actuator/uclamps.h"
#include "config/load.h"
#include "daemon/journal.h"
#include "daemon/manager.h"
#include "daemon/process.h"
#include "rules/rules.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/sysfs.h"
#include "shared/version.h"

#define DEFAULT_RUN_DIR "/run/wakegov"

#define EXIT_USAGE	2

/* The options, by getopt_long()'s values. Those from JOB_CHECK_CONFIG on choose another job. */
enum {
	OPT_CONFIG = 256,
	OPT_OBSERVE,
	OPT_RUN_DIR,
	OPT_STATE_DIR,
	OPT_DEBUG,
	JOB_GOVERN,
	JOB_CHECK_CONFIG,
	JOB_SHOW_CONFIG,
	JOB_RESTORE,
	JOB_VERSION,
	JOB_HELP,
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "check-config", optional_argument, NULL, JOB_CHECK_CONFIG },
	{ "show-config", no_argument, NULL, JOB_SHOW_CONFIG },
	{ "restore", no_argument, NULL, JOB_RESTORE },
	{ "observe", no_argument, NULL, OPT_OBSERVE },
	{ "run-dir", required_argument, NULL, OPT_RUN_DIR },
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "version", no_argument, NULL, JOB_VERSION },
	{ "help", no_argument, NULL, JOB_HELP },
	{ 0 },
};

static void print_help(void)
{
	printf("Usage: wakegovd [OPTION…]\n"
	       "Govern CPU frequencies by what tasks wait for.\n\n"
	       "  --config FILE           read the policy from FILE and FILE.d/*.conf\n"
	       "                          (default: " WAKEGOV_POLICY_PATH ")\n"
	       "  --check-config [FILE]   say whether the policy, or FILE alone, is good, and exit\n"
	       "  --show-config           print every key with its value and the line that gave it\n"
	       "  --restore               put back what a killed wakegovd left behind, and exit\n"
	       "  --observe               decide and explain, but write nothing\n"
	       "  --run-dir DIR           saved values, lock and socket (default: " DEFAULT_RUN_DIR
	       ")\n"
	       "  --state-dir DIR         decisions of a week, and what is counted (default: none)\n"
	       "  --debug                 say more\n"
	       "  --version, --help\n\n"
	       "Exit status: 0 done, 1 it could not be done (the last line says why), 2 wrong\n"
	       "options. See wakegovd(8), wakegov.conf(5), wakegovctl(1).\n");
}

/* By the path that errors have; of a drop-in a rule keeps the name alone, which only one of them
 * has. */
static void print_warning(void *userdata, const char *line)
{
	const char *path = userdata, *slash = strrchr(path, '/');
	int directory = slash ? slash + 1 - path : 0;
	size_t n = strlen(path + directory);
	bool is_of_path = !strncmp(line, path + directory, n) && line[n] == ':';

	printf("%.*s%s\n", is_of_path ? directory : 0, path, line);
}

/* What is doubtful in a policy that could be read. */
static int check_policy(const struct policy *policy, const char *path)
{
	_cleanup_free_ struct topology *topology = NULL;

	/* Without a readable machine, its checks are left out. */
	if (cpufreq_discover(&topology, NULL, NULL) == 0)
		policy_machine_check(policy, topology, print_warning, (void *)path);
	if (rules_check(policy, topology, print_warning, (void *)path)) {
		printf("%s: wakegovd accepts it, but see above what can never match\n", path);
		return EXIT_FAILURE;
	}
	printf("%s: %s\n", path,
	       access(path, F_OK) == 0 ? "good" : "not there, so built-in values hold; good");
	return EXIT_SUCCESS;
}

/* Checks FILE alone, so that a drop-in can be tried before it is installed; NULL: the policy. */
static int check_config(const struct daemon_options *options, const char *file)
{
	const char *path = file ? file : options->policy_path;
	_cleanup_free_ char *message = NULL, *dropin_dir = NULL;
	struct policy policy;

	if ((!file && asprintf(&dropin_dir, "%s.d", path) < 0) ||
	    policy_load(path, !file && options->policy_may_be_missing, dropin_dir, &policy,
			&message) < 0) {
		fprintf(stderr, "%s\n", message ? message : strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	return check_policy(&policy, path);
}

static int show_config(const struct daemon_options *options)
{
	_cleanup_free_ char *dropin_dir = NULL, *message = NULL;

	if (asprintf(&dropin_dir, "%s.d", options->policy_path) < 0)
		dropin_dir = NULL;
	if (dropin_dir && policy_show(options->policy_path, options->policy_may_be_missing,
				      dropin_dir, stdout, &message) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s\n", message ? message : strerror(ENOMEM));
	return EXIT_FAILURE;
}

/* Frequencies first, as they affect every user. */
static int restore(const char *run_dir)
{
	_cleanup_close_ int run_dir_fd = startup_lock_run_dir(run_dir);
	_cleanup_close_ int machine_fd = -1;
	int r, clamps, affinities;

	/* No run directory: nothing was left. */
	if (run_dir_fd == -ENOENT)
		return EXIT_SUCCESS;
	if (run_dir_fd < 0)
		return EXIT_FAILURE;
	machine_fd = startup_lock_machine(LOG_ERR);
	if (machine_fd == -EBUSY)
		return EXIT_FAILURE;
	r = restore_saved(run_dir, journal_report_restore, NULL);
	clamps = task_log_restore(&uclamps_log, run_dir, journal_report_restore, NULL);
	affinities = task_log_restore(&affinities_log, run_dir, journal_report_restore, NULL);

	journal_log_left(r, "the settings of domains", run_dir, "originals");
	journal_log_left(clamps, "the clamps of tasks", run_dir, "clamps");
	journal_log_left(affinities, "the affinity of tasks", run_dir, "affinities");
	if (r > 0)
		log_warning(
			"%d controls of domains wait, as said above: run wakegovd --restore then",
			r);
	return r < 0 || clamps < 0 || affinities < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Elsewhere the tasks that BPF programs name, and those of saved clamps, would be strangers. */
static bool sees_all_tasks(void)
{
	if (sysfs_pids_are_the_kernels())
		return true;
	log_error(
		"wakegovd runs in a PID namespace, as in a container, where numbers of tasks are "
		"not the kernel's: run it outside, or with the host's (podman run --pid=host --cgroupns=host)");
	return false;
}

struct command {
	int job;
	struct daemon_options manager;
	const char *check_file; /* NULL: the policy, with its drop-ins */
};

static int parse(int argc, char *argv[], struct command *command)
{
	struct daemon_options *manager = &command->manager;
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		option = option == 'h' ? JOB_HELP : option;
		if (option > JOB_GOVERN)
			command->job = option;
		if (option == JOB_CHECK_CONFIG) {
			command->check_file = optarg;
		} else if (option == OPT_CONFIG) {
			manager->policy_path = optarg;
			manager->policy_may_be_missing = false;
		} else if (option == OPT_OBSERVE) {
			manager->observe = true;
		} else if (option == OPT_RUN_DIR) {
			manager->run_dir = optarg;
		} else if (option == OPT_STATE_DIR) {
			manager->state_dir = *optarg ? optarg : NULL;
		} else if (option == OPT_DEBUG) {
			log_set_level(LOG_DEBUG);
		} else if (option == '?') {
			fprintf(stderr, "Try wakegovd --help.\n");
			return -EINVAL;
		}
	}
	/* "--check-config FILE" beside "--check-config=FILE" */
	if (command->job == JOB_CHECK_CONFIG && !command->check_file && optind == argc - 1)
		command->check_file = argv[optind++];
	if (optind < argc) {
		fprintf(stderr, "wakegovd: unexpected '%s'; try wakegovd --help\n", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	struct command command = {
		.job = JOB_GOVERN,
		.manager = { .policy_path = WAKEGOV_POLICY_PATH,
			     .policy_may_be_missing = true,
			     .run_dir = DEFAULT_RUN_DIR },
	};
	struct manager *manager;
	int r;

	if (parse(argc, argv, &command) < 0)
		return EXIT_USAGE;
	switch (command.job) {
	case JOB_HELP:
		print_help();
		return EXIT_SUCCESS;
	case JOB_VERSION:
		printf("wakegovd %s\n", wakegov_version);
		return EXIT_SUCCESS;
	case JOB_CHECK_CONFIG:
		return check_config(&command.manager, command.check_file);
	case JOB_SHOW_CONFIG:
		return show_config(&command.manager);
	}
	if (!sees_all_tasks())
		return EXIT_FAILURE;
	if (command.job == JOB_RESTORE)
		return restore(command.manager.run_dir);
	process_limit_memory();
	r = manager_new(&command.manager, &manager);
	if (r < 0)
		return EXIT_FAILURE;
	malloc_trim(0); /* the start needed more */
	r = manager_run(manager);
	manager_free(manager);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
