// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl: calls wakegovd over its socket. See wakegovctl(1). */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "shared/version.h"
#include "varlink/caller.h"

#define TIMEOUT_DEFAULT_NS 10000000000ULL
#define TIMEOUT_MAX_S	   86400.0

/* For getopt_long(): options without a letter are numbered from here, in their order. */
#define NO_LETTER   256
#define OPTIONS_MAX 16

/* command is NULL for the help of all. */
static void print_help(const json_t *command)
{
	if (!command) {
		view_print(stdout, "help", words_all());
		return;
	}
	view_print(stdout, "help_of_command", command);
	view_print(stdout, "help_options", words_all());
}

/* If there is no such command, prints that, with a similar name if there is one. */
static const json_t *find_command(const char *name)
{
	const json_t *found = ctl_find(name), *command;
	const char *like = NULL;
	size_t i;

	if (found)
		return found;
	json_array_foreach(ctl_commands(), i, command)
		if (field_text(command, "help"))
			suggest_closest(name, field_text(command, "name"), &like);
	if (like)
		complain("there is no command '%.99s'. Did you mean '%s'?", name, like);
	else
		complain("there is no command '%.99s'. See: wakegovctl --help", name);
	return NULL;
}

static bool parse_timeout(const char *text, uint64_t *ret_ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0 && seconds <= TIMEOUT_MAX_S)) {
		complain("--timeout %s: expected seconds, more than 0, at most %.0f", text,
			 TIMEOUT_MAX_S);
		return false;
	}
	*ret_ns = (uint64_t)(seconds * 1e9);
	return true;
}

/* Explains an option that getopt refused; ":" is a missing value. Returns minus the exit code. */
static int refuse_option(const struct ctl *ctl, const char *given, const struct option *options,
			 int problem)
{
	bool is_long = !strncmp(given, "--", 2);
	_cleanup_free_ char *name = strndup(given, strcspn(given, "="));
	const char *like = NULL;

	for (; is_long && name && options->name; options++)
		suggest_closest(name + 2, options->name, &like);
	if (problem == ':')
		complain("%s needs a value", given);
	else if (is_long && optopt)
		complain("%s takes no value", name);
	else if (!is_long)
		complain("there is no option '-%c'", optopt);
	else if (like)
		complain("there is no option '%s'. Did you mean '--%s'?", name, like);
	else
		complain("there is no option '%s'", name);
	fprintf(stderr, "See: wakegovctl %s%s--help\n", ctl->command ? ctl_name(ctl) : "",
		ctl->command ? " " : "");
	return -CTL_USAGE;
}

/* Returns 1 to continue, else minus the exit code. */
static int take_option(struct ctl *ctl, const char *name, const char *value)
{
	json_object_set_new(ctl->values, name, json_string_nocheck(value ?: ""));
	if (!strcmp(name, "help")) {
		print_help(ctl->command);
		return -CTL_OK;
	}
	if (!strcmp(name, "version")) {
		printf("wakegovctl %s\n", wakegov_version);
		return -CTL_OK;
	}
	if (!strcmp(name, "timeout"))
		return parse_timeout(value, &ctl->timeout_ns) ? 1 : -CTL_USAGE;
	if (!strcmp(name, "socket"))
		ctl->path = value;
	ctl->json |= !strcmp(name, "json");
	return 1;
}

/*
 * Parses the options of all and those of the command, if it is known yet. first is "+" if options
 * end at the first other word. Returns 1 to continue, else minus the exit code.
 */
static int parse_options(int argc, char **argv, const char *first, struct ctl *ctl)
{
	char flags[3 * OPTIONS_MAX] = "", *flag = stpcpy(stpcpy(flags, first), ":");
	struct option options[OPTIONS_MAX + 1] = { 0 };
	struct ctl_option known[OPTIONS_MAX];
	int option, r = 1;

	for (int i = 0; i < OPTIONS_MAX && ctl_option(ctl->command, (size_t)i, &known[i]); i++) {
		options[i] = (struct option){
			.name = known[i].name,
			.has_arg = known[i].value ? required_argument : no_argument,
			.val = known[i].letter ?: NO_LETTER + i,
		};
		if (known[i].letter)
			*flag++ = known[i].letter;
		if (known[i].letter && known[i].value)
			*flag++ = ':';
	}
	opterr = 0;
	while (r > 0 && (option = getopt_long(argc, argv, flags, options, NULL)) != -1) {
		const struct option *given = options;

		while (given->name && given->val != option)
			given++;
		r = given->name ? take_option(ctl, given->name, optarg)
				: refuse_option(ctl, argv[optind - 1], options, option);
	}
	return r;
}

/*
 * Fills ret, which borrows from argv and has its defaults set. General options may stand before and
 * behind the command's name. Returns 1 to continue, else minus the exit code, after printing help
 * or the mistake.
 */
static int parse_arguments(int argc, char **argv, struct ctl *ret)
{
	int r = parse_options(argc, argv, "+", ret);
	bool is_help;

	if (r <= 0)
		return r;
	if (optind == argc) {
		complain("no command. Try 'wakegovctl status', or --help");
		return -CTL_USAGE;
	}
	/* "help" and "help COMMAND" are for people who do not know --help yet. */
	is_help = !strcmp(argv[optind], "help");
	if (is_help && optind + 1 == argc) {
		print_help(NULL);
		return -CTL_OK;
	}
	ret->command = find_command(argv[optind + is_help]);
	if (!ret->command)
		return -CTL_USAGE;
	if (is_help) {
		print_help(ret->command);
		return -CTL_OK;
	}

	/*
	 * Behind the command's name getopt starts again; it expects the program's name there, for
	 * its messages.
	 */
	argv[optind] = argv[0];
	argc -= optind;
	argv += optind;
	optind = 0;
	r = parse_options(argc, argv, field_flag(ret->command, "has_tail") ? "+" : "", ret);
	if (r <= 0)
		return r;
	ret->arguments = argv + optind;
	ret->n_arguments = argc - optind;
	if (!field_text(ret->command, "arguments") && ret->n_arguments) {
		complain("'%s' is one argument too many: %s takes none", ret->arguments[0],
			 ctl_name(ret));
		return -CTL_USAGE;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct ctl ctl = {
		.values = json_object(),
		.path = QUERY_SOCKET_PATH,
		.timeout_ns = TIMEOUT_DEFAULT_NS,
	};
	enum ctl_exit code;
	int r;

	setlocale(LC_CTYPE, "");
	r = parse_arguments(argc, argv, &ctl);
	if (r > 0)
		code = ctl_run(&ctl);
	else if (r < 0)
		code = -r;
	else
		code = ctl_flush();
	json_decref(ctl.values);
	return code;
}
