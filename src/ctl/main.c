// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl: asks wakegovd over its socket. See wakegovctl(1). */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/connection.h"
#include "ctl/exit.h"
#include "ctl/explain.h"
#include "ctl/show.h"
#include "ctl/suggest.h"
#include "query/path.h"
#include "shared/cleanup.h"

#define TIMEOUT_DEFAULT_S 10.0
#define TIMEOUT_MAX_S	  86400.0

struct command {
	const char *name;
	const char *method;
	void (*show)(const json_t *reply);
	const char *help;
};

static const struct command commands[] = {
	{ "status", "io.wakegov.Status", show_status, "the daemon, its domains, its own cost" },
	{ "domains", "io.wakegov.Domains", show_domains, "what every domain runs at, and why" },
	{ "tasks", "io.wakegov.Tasks", show_tasks,
	  "the tasks that do I/O, and what a boost brings" },
	{ "devices", "io.wakegov.Devices", show_devices,
	  "the disks, and whether boosts pay there" },
	{ "decisions", "io.wakegov.Decisions", show_decisions, "the last decisions, newest last" },
	{ "reload", "io.wakegov.Reload", show_reload, "read the policy again (root only)" },
};

struct request {
	const struct command *command;
	const char *path;
	uint64_t timeout_ns;
	bool json;
};

static const char usage[] =
	"Usage: wakegovctl [--json] [--socket PATH] [--timeout SECONDS] COMMAND\n"
	"Asks wakegovd, the CPU frequency governor, what it does and why.\n"
	"\n"
	"Commands:\n";

static const char usage_end[] = "\n"
				"Options:\n"
				"  --json             the reply as JSON, for machines\n"
				"  --socket PATH      the daemon's socket (" QUERY_SOCKET_PATH ")\n"
				"  --timeout SECONDS  give up after that long (10)\n"
				"  --help, --version\n"
				"\n"
				"Exit codes:\n"
				"  0  done\n"
				"  1  the daemon refused, or the call failed\n"
				"  2  wrong usage\n"
				"  3  the daemon is not running, or may not be reached\n"
				"  4  the connection was lost, or timed out\n";

static void print_help(void)
{
	fputs(usage, stdout);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-10s  %s\n", commands[i].name, commands[i].help);
	fputs(usage_end, stdout);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];

	fprintf(stderr, "wakegovctl: there is no command '%s'.", name);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (suggest_matches(name, commands[i].name)) {
			fprintf(stderr, " Did you mean '%s'?\n", commands[i].name);
			return NULL;
		}
	}
	fputs(" See: wakegovctl --help\n", stderr);
	return NULL;
}

static bool parse_timeout(const char *text, uint64_t *ret_ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0 && seconds <= TIMEOUT_MAX_S)) {
		fprintf(stderr,
			"wakegovctl: --timeout %s: expected seconds, more than 0, at most %.0f\n",
			text, TIMEOUT_MAX_S);
		return false;
	}
	*ret_ns = (uint64_t)(seconds * 1e9);
	return true;
}

/* Returns 1 to go on, else minus the exit code. */
static int parse_options(int argc, char **argv, struct request *request)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ "socket", required_argument, NULL, 's' },
		{ "timeout", required_argument, NULL, 't' },
		{ NULL },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'j':
			request->json = true;
			break;
		case 's':
			request->path = optarg;
			break;
		case 't':
			if (!parse_timeout(optarg, &request->timeout_ns))
				return -CTL_USAGE;
			break;
		case 'h':
			print_help();
			return -CTL_OK;
		case 'v':
			puts("wakegovctl " WAKEGOV_VERSION);
			return -CTL_OK;
		default:
			fputs("See: wakegovctl --help\n", stderr);
			return -CTL_USAGE;
		}
	}
	return 1;
}

static int parse_arguments(int argc, char **argv, struct request *request)
{
	int r = parse_options(argc, argv, request);

	if (r <= 0)
		return r;
	if (optind == argc) {
		fputs("wakegovctl: no command. Try 'wakegovctl status', or --help\n", stderr);
		return -CTL_USAGE;
	}
	if (optind + 1 < argc) {
		fprintf(stderr, "wakegovctl: '%s' is one argument too many; expected one command\n",
			argv[optind + 1]);
		return -CTL_USAGE;
	}
	request->command = find_command(argv[optind]);
	return request->command ? 1 : -CTL_USAGE;
}

static enum ctl_exit show(const struct request *request, const json_t *parameters)
{
	if (request->json) {
		json_dumpf(parameters, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else {
		request->command->show(parameters);
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "wakegovctl: cannot write the output: %s\n", strerror(errno));
		return CTL_REFUSED;
	}
	return CTL_OK;
}

static enum ctl_exit run(const struct request *request)
{
	uint64_t deadline_ns = connection_deadline(request->timeout_ns);
	_cleanup_close_ int fd = connection_open(request->path, deadline_ns);
	enum ctl_exit code;
	json_t *reply;
	int r;

	if (fd < 0)
		return explain_open(request->path, fd);
	r = connection_call(fd, request->command->method, deadline_ns, &reply);
	if (r < 0)
		return explain_call(request->path, r);

	if (json_is_string(json_object_get(reply, "error")))
		code = explain_refusal(request->command->name, reply);
	else
		code = show(request, json_object_get(reply, "parameters"));
	json_decref(reply);
	return code;
}

int main(int argc, char **argv)
{
	struct request request = {
		.path = QUERY_SOCKET_PATH,
		.timeout_ns = (uint64_t)(TIMEOUT_DEFAULT_S * 1e9),
	};
	int r = parse_arguments(argc, argv, &request);

	return r <= 0 ? -r : (int)run(&request);
}
