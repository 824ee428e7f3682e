// SPDX-License-Identifier: GPL-2.0-only
/* wakegovd: options, and the choice of the job. See wakegovd(8). */
#include <argp.h>
#include <errno.h>
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

/* The options. Those from JOB_CHECK_CONFIG on choose another job. */
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
};

static const struct argp_option known[] = {
	{ "config", OPT_CONFIG, "FILE", 0,
	  "Read the policy from FILE and FILE.d/*.conf (default: " WAKEGOV_POLICY_PATH ")" },
	{ "check-config", JOB_CHECK_CONFIG, "FILE", OPTION_ARG_OPTIONAL,
	  "Say whether the policy, or FILE alone, is good, and exit" },
	{ "show-config", JOB_SHOW_CONFIG, NULL, 0,
	  "Print every key with its value and the line that gave it" },
	{ "restore", JOB_RESTORE, NULL, 0,
	  "Put back what a killed wakegovd left behind, and exit" },
	{ "observe", OPT_OBSERVE, NULL, 0, "Decide and explain, but write nothing" },
	{ "run-dir", OPT_RUN_DIR, "DIR", 0,
	  "Saved values, lock and socket (default: " DEFAULT_RUN_DIR ")" },
	{ "state-dir", OPT_STATE_DIR, "DIR", 0,
	  "Decisions of a week, and what is counted (default: none)" },
	{ "debug", OPT_DEBUG, NULL, 0, "Say more" },
	{ 0 },
};

/* A warning about a rule names only its file; the path goes in front, as in errors. */
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

static error_t take(int key, char *text, struct argp_state *state)
{
	struct command *command = state->input;
	struct daemon_options *manager = &command->manager;

	if (key > JOB_GOVERN && key <= JOB_RESTORE)
		command->job = key;
	if (key == JOB_CHECK_CONFIG) {
		command->check_file = text;
	} else if (key == OPT_CONFIG) {
		manager->policy_path = text;
		manager->policy_may_be_missing = false;
	} else if (key == OPT_OBSERVE) {
		manager->observe = true;
	} else if (key == OPT_RUN_DIR) {
		manager->run_dir = text;
	} else if (key == OPT_STATE_DIR) {
		manager->state_dir = *text ? text : NULL;
	} else if (key == OPT_DEBUG) {
		log_set_level(LOG_DEBUG);
	} else if (key == ARGP_KEY_ARG && command->job == JOB_CHECK_CONFIG &&
		   !command->check_file) {
		/* "--check-config FILE" beside "--check-config=FILE" */
		command->check_file = text;
	} else if (key != JOB_SHOW_CONFIG && key != JOB_RESTORE) {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_version(FILE *out, struct argp_state *state)
{
	fprintf(out, "wakegovd %s\n", wakegov_version);
}

int main(int argc, char *argv[])
{
	static const struct argp parser = {
		known,
		take,
		NULL,
		"Govern CPU frequencies by what tasks wait for.\v"
		"Exit status: 0 done, 1 it could not be done (the last line says why), 2 wrong options. "
		"See wakegovd(8), wakegov.conf(5), wakegovctl(1).",
	};
	struct command command = {
		.job = JOB_GOVERN,
		.manager = { .policy_path = WAKEGOV_POLICY_PATH,
			     .policy_may_be_missing = true,
			     .run_dir = DEFAULT_RUN_DIR },
	};
	struct manager *manager;
	int r;

	argp_err_exit_status = 2;
	argp_program_version_hook = print_version;
	argp_parse(&parser, argc, argv, 0, NULL, &command);
	if (command.job == JOB_CHECK_CONFIG)
		return check_config(&command.manager, command.check_file);
	if (command.job == JOB_SHOW_CONFIG)
		return show_config(&command.manager);
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
