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

/* What the options give. */
static struct {
	struct canned_daemon canned;
	struct policy policy;
	uint32_t timeout_ms, max_descriptors;
	int fails, is_for_group;
} given = {
	.canned = { .n_domains = 3, .n_tasks = 4, .n_devices = 3, .n_decisions = 5 },
};

#define POLICY_ERROR   'p'
#define NUMBERS	       256 /* and from here on the offset of a uint32_t in what is given */
#define NUMBER(_field) required_argument, NULL, NUMBERS + (int)offsetof(__typeof__(given), _field)

static const struct option options[] = {
	{ "domains", NUMBER(canned.n_domains) },
	{ "tasks", NUMBER(canned.n_tasks) },
	{ "devices", NUMBER(canned.n_devices) },
	{ "decisions", NUMBER(canned.n_decisions) },
	{ "events", NUMBER(canned.n_events) },
	{ "max-clients", NUMBER(policy.query.max_clients) },
	{ "max-message-bytes", NUMBER(policy.query.max_message_bytes) },
	{ "read-group", NUMBER(policy.query.read_group) },
	{ "change-group", NUMBER(policy.query.change_group) },
	{ "timeout-ms", NUMBER(timeout_ms) },
	{ "max-descriptors", NUMBER(max_descriptors) },
	{ "policy-error", required_argument, NULL, POLICY_ERROR },
	{ "readers-group", no_argument, &given.is_for_group, 1 },
	{ "fail", no_argument, &given.fails, 1 },
	{ NULL },
};

static sd_event *loop;

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

static int parse_arguments(int argc, char **argv)
{
	struct policy_query *query = &given.policy.query;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option >= NUMBERS)
			*(uint32_t *)((char *)&given + option - NUMBERS) =
				(uint32_t)strtoul(optarg, NULL, 10);
		else if (option == POLICY_ERROR)
			given.canned.policy_error = optarg;
		else if (option)
			return -EINVAL;
	if (given.is_for_group)
		query->readers = POLICY_READERS_GROUP;
	if (given.timeout_ms)
		query->client_timeout_ns = given.timeout_ms * 1000000ULL;
	if (given.max_descriptors &&
	    setrlimit(RLIMIT_NOFILE,
		      &(struct rlimit){ given.max_descriptors, given.max_descriptors }) < 0)
		return -errno;
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

static int serve(const char *path, struct manager *manager)
{
	_cleanup_close_ int fd = query_listen(path);
	int r;

	if (fd < 0)
		return fd;
	r = query_server_new(loop, fd, given.fails ? failing_methods() : api_methods, manager,
			     &given.policy.query, &manager->core.server);
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
	int r;

	policy_init(&given.policy);
	if (parse_arguments(argc, argv) < 0) {
		fprintf(stderr, "Usage: %s [OPTIONS] SOCKET; options are in fixture.c\n", argv[0]);
		return 2;
	}
	r = canned_daemon_init(&given.canned);
	if (r >= 0)
		r = sd_event_new(&loop);
	if (r >= 0)
		r = add_signals();
	if (r >= 0)
		r = serve(argv[optind], &given.canned.manager);
	if (r < 0)
		log_error("%s: %s", argv[optind], strerror(-r));
	sd_event_unref(loop);
	canned_daemon_deinit(&given.canned);
	return r < 0;
}
