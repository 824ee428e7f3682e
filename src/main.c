// SPDX-License-Identifier: GPL-2.0-only
/* wakegovd: options, and which of its three jobs is asked for. See wakegovd(8). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"
#include "policy/load.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "takeover.h"

#define DEFAULT_RUN_DIR "/run/wakegov"

enum job { JOB_GOVERN, JOB_CHECK_CONFIG, JOB_RESTORE };

static void print_help(void)
{
	printf("Usage: wakegovd [OPTION…]\n"
	       "Govern CPU frequencies by what tasks wait for.\n\n"
	       "  --config FILE           read the policy from FILE and FILE.d/*.conf\n"
	       "                          (default: " WAKEGOV_POLICY_PATH ")\n"
	       "  --check-config [FILE]   read the policy, say whether it is good, and exit\n"
	       "  --restore               put back what a killed wakegovd left behind, and exit\n"
	       "  --observe               decide and explain, but write nothing\n"
	       "  --run-dir DIR           originals, lock and socket (default: " DEFAULT_RUN_DIR
	       ")\n"
	       "  --debug                 say every decision\n"
	       "  --version, --help\n\n"
	       "Exit status: 0 done, 1 it could not be done (the last line says why), 2 wrong\n"
	       "options. See wakegovd(8), wakegov.conf(5), wakegovctl(1).\n");
}

static int check_config(const char *path)
{
	_cleanup_free_ char *dropin_dir = NULL, *message = NULL;
	struct policy policy;

	if (asprintf(&dropin_dir, "%s.d", path) < 0)
		return EXIT_FAILURE;
	if (policy_load(path, dropin_dir, &policy, &message) < 0) {
		fprintf(stderr, "%s\n", message);
		return EXIT_FAILURE;
	}
	printf("%s: good\n", path);
	return EXIT_SUCCESS;
}

static int restore(const char *run_dir)
{
	int r = restore_originals(run_dir, takeover_report_restore, NULL);

	if (r < 0)
		log_error("not everything could be restored: %s; what is left stands in "
			  "%s/originals",
			  strerror(-r), run_dir);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int govern(const struct manager_options *options)
{
	struct manager *manager;
	int r = manager_new(options, &manager);

	if (r < 0)
		return EXIT_FAILURE;
	r = manager_run(manager);
	manager_free(manager);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	enum {
		OPT_CONFIG = 256,
		OPT_CHECK,
		OPT_RESTORE,
		OPT_OBSERVE,
		OPT_RUN_DIR,
		OPT_DEBUG,
		OPT_VERSION,
		OPT_HELP
	};
	static const struct option options[] = {
		{ "config", required_argument, NULL, OPT_CONFIG },
		{ "check-config", optional_argument, NULL, OPT_CHECK },
		{ "restore", no_argument, NULL, OPT_RESTORE },
		{ "observe", no_argument, NULL, OPT_OBSERVE },
		{ "run-dir", required_argument, NULL, OPT_RUN_DIR },
		{ "debug", no_argument, NULL, OPT_DEBUG },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, OPT_HELP },
		{ 0 },
	};
	struct manager_options manager = {
		.policy_path = WAKEGOV_POLICY_PATH,
		.run_dir = DEFAULT_RUN_DIR,
	};
	enum job job = JOB_GOVERN;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case OPT_CONFIG:
			manager.policy_path = optarg;
			break;
		case OPT_CHECK:
			job = JOB_CHECK_CONFIG;
			if (optarg)
				manager.policy_path = optarg;
			break;
		case OPT_RESTORE:
			job = JOB_RESTORE;
			break;
		case OPT_OBSERVE:
			manager.observe = true;
			break;
		case OPT_RUN_DIR:
			manager.run_dir = optarg;
			break;
		case OPT_DEBUG:
			log_set_level(LOG_DEBUG);
			break;
		case OPT_VERSION:
			printf("wakegovd " WAKEGOV_VERSION "\n");
			return EXIT_SUCCESS;
		case OPT_HELP:
			print_help();
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try wakegovd --help.\n");
			return 2;
		}
	}
	/* "--check-config FILE" beside "--check-config=FILE" */
	if (job == JOB_CHECK_CONFIG && optind == argc - 1)
		manager.policy_path = argv[optind++];
	if (optind < argc) {
		fprintf(stderr, "wakegovd: unexpected '%s'; try wakegovd --help\n", argv[optind]);
		return 2;
	}
	switch (job) {
	case JOB_CHECK_CONFIG:
		return check_config(manager.policy_path);
	case JOB_RESTORE:
		return restore(manager.run_dir);
	default:
		return govern(&manager);
	}
}
