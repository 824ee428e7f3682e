// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the real query server with made-up data until SIGTERM or SIGINT; writes "ready" to standard
 * output when it listens. For test_varlink.py and for a look at wakegovctl without a daemon.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "canned_daemon.h"
#include "config/keys.h"
#include "daemon/api/api.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "varlink/server.h"

static const struct option options[] = {
	{ "domains", required_argument, NULL, 'd' },
	{ "tasks", required_argument, NULL, 't' },
	{ "devices", required_argument, NULL, 'D' },
	{ "decisions", required_argument, NULL, 'n' },
	{ "max-clients", required_argument, NULL, 'c' },
	{ "max-message-bytes", required_argument, NULL, 'm' },
	{ "timeout-ms", required_argument, NULL, 'w' },
	{ "max-descriptors", required_argument, NULL, 'f' },
	{ "policy-error", required_argument, NULL, 'p' },
	{ "events", required_argument, NULL, 'e' },
	{ "read-group", required_argument, NULL, 'r' },
	{ "change-group", required_argument, NULL, 'g' },
	{ "readers-group", no_argument, NULL, 'R' },
	{ "fail", no_argument, NULL, 'x' },
	{ "verbose", no_argument, NULL, 'v' },
	{ NULL },
};

static sd_event *loop;
static const struct query_method *methods = api_methods;

static int fail(const struct call *call, struct reply *reply)
{
	return -ENODEV;
}

/* The same methods, none of which works. */
static const struct query_method *failing_methods(void)
{
	static struct query_method failing[32];

	for (size_t i = 0; api_methods[i].name && i < ARRAY_SIZE(failing) - 1; i++) {
		failing[i] = api_methods[i];
		failing[i].run = fail;
	}
	return failing;
}

static int limit_descriptors(unsigned long max)
{
	struct rlimit limit = { .rlim_cur = max, .rlim_max = max };

	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}

static int parse_option(int option, struct canned_daemon *canned, struct policy_query *limits)
{
	unsigned long number = optarg ? strtoul(optarg, NULL, 10) : 0;

	switch (option) {
	case 'd':
		canned->n_domains = (uint32_t)number;
		return 0;
	case 't':
		canned->n_tasks = (uint32_t)number;
		return 0;
	case 'D':
		canned->n_devices = (uint32_t)number;
		return 0;
	case 'n':
		canned->n_decisions = (uint32_t)number;
		return 0;
	case 'c':
		limits->max_clients = (uint32_t)number;
		return 0;
	case 'm':
		limits->max_message_bytes = (uint32_t)number;
		return 0;
	case 'w':
		limits->client_timeout_ns = number * 1000000;
		return 0;
	case 'f':
		return limit_descriptors(number);
	case 'p':
		canned->policy_error = optarg;
		return 0;
	case 'e':
		canned->n_events = (uint32_t)number;
		return 0;
	case 'r':
		limits->read_group = (uint32_t)number;
		return 0;
	case 'g':
		limits->change_group = (uint32_t)number;
		return 0;
	case 'R':
		limits->readers = POLICY_READERS_GROUP;
		return 0;
	case 'x':
		methods = failing_methods();
		return 0;
	case 'v':
		log_set_level(LOG_DEBUG);
		return 0;
	default:
		return -EINVAL;
	}
}

static int parse_arguments(int argc, char **argv, struct canned_daemon *canned,
			   struct policy_query *limits)
{
	int option, r;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		r = parse_option(option, canned, limits);
		if (r < 0)
			return r;
	}
	return optind == argc - 1 ? 0 : -EINVAL;
}

static int add_signals(void)
{
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;

	r = sd_event_add_signal(loop, NULL, SIGTERM, NULL, NULL);
	return r < 0 ? r : sd_event_add_signal(loop, NULL, SIGINT, NULL, NULL);
}

static int serve(const char *path, struct manager *manager, const struct policy_query *limits)
{
	_cleanup_close_ int fd = query_listen(path);
	int r;

	if (fd < 0)
		return fd;
	r = query_server_new(loop, fd, methods, manager, limits, &manager->core.server);
	if (r < 0)
		return r;
	take_fd(&fd);

	puts("ready");
	fflush(stdout);
	while (r >= 0 && sd_event_get_state(loop) != SD_EVENT_FINISHED) {
		r = sd_event_run(loop, UINT64_MAX);
		manager->core.counts.wakeups++;
	}
	query_server_free(manager->core.server);
	return r;
}

int main(int argc, char **argv)
{
	struct canned_daemon canned = {
		.n_domains = 3, .n_tasks = 4, .n_devices = 3, .n_decisions = 5
	};
	struct policy policy;
	int r;

	policy_init(&policy);
	if (parse_arguments(argc, argv, &canned, &policy.query) < 0) {
		fprintf(stderr, "Usage: %s [OPTIONS] SOCKET; options are in fixture.c\n", argv[0]);
		return 2;
	}
	r = canned_daemon_init(&canned);
	if (r >= 0)
		r = sd_event_new(&loop);
	if (r >= 0)
		r = add_signals();
	if (r >= 0)
		r = serve(argv[optind], &canned.manager, &policy.query);
	if (r < 0)
		log_error("%s: %s", argv[optind], strerror(-r));
	sd_event_unref(loop);
	canned_daemon_deinit(&canned);
	return r < 0;
}
