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

/* For getopt_long(): options of the command are numbered from here, in the order of its table. */
#define OWN_OPTION 256

/* command is NULL for the help of all. */
static void print_help(const struct ctl_command *command)
{
	if (command) {
		printf("Usage: wakegovctl %s%s%s%s\n%s\n\nOptions:\n", command->name,
		       command->options[0].name ? " [OPTION…]" : "", command->arguments ? " " : "",
		       command->arguments ?: "", command->help);
		for (int i = 0; i < CTL_OPTIONS_MAX && command->options[i].name; i++) {
			const struct ctl_option *option = &command->options[i];
			const char letter[] = { '-', option->letter, ',', ' ', '\0' };
			char name[64];

			snprintf(name, sizeof(name), "%s--%s%s%s", option->letter ? letter : "",
				 option->name, option->value ? " " : "", option->value ?: "");
			printf("  %-17s  %s\n", name, option->help);
		}
		view_print(stdout, "help_options", words_all());
		return;
	}
	view_print(stdout, "help_usage", words_all());
	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		if (c->help)
			printf("  %-10s  %s\n", c->name, c->help);
	puts("\nOptions:");
	view_print(stdout, "help_options", words_all());
	view_print(stdout, "help_exit_codes", words_all());
}

static const struct option general[] = {
	{ "json", no_argument, NULL, 'j' },	     { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },	     { "socket", required_argument, NULL, 's' },
	{ "timeout", required_argument, NULL, 't' },
};

/* If there is no such command, prints that, with a similar name if there is one. */
static const struct ctl_command *find_command(const struct ctl *ctl, const char *name)
{
	const struct ctl_command *found = ctl_find(ctl, name);

	if (found)
		return found;
	fprintf(stderr, "wakegovctl: there is no command '%s'.", name);
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		if (c->help && suggest_matches(name, c->name)) {
			fprintf(stderr, " Did you mean '%s'?\n", c->name);
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

	for (; is_long && name && options->name && !like; options++)
		if (suggest_matches(name + 2, options->name))
			like = options->name;
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
	fprintf(stderr, "See: wakegovctl %s%s--help\n", ctl->command ? ctl->command->name : "",
		ctl->command ? " " : "");
	return -CTL_USAGE;
}

/* Returns 1 to continue, else minus the exit code. */
static int parse_option(struct ctl *ctl, int option)
{
	const struct ctl_option *own = ctl->command ? ctl->command->options : NULL;

	switch (option) {
	case 'j':
		ctl->json = true;
		return 1;
	case 's':
		ctl->path = optarg;
		return 1;
	case 't':
		return parse_timeout(optarg, &ctl->timeout_ns) ? 1 : -CTL_USAGE;
	case 'h':
		print_help(ctl->command);
		return -CTL_OK;
	case 'v':
		printf("wakegovctl %s\n", wakegov_version);
		return -CTL_OK;
	default:
		for (int i = 0; own && i < CTL_OPTIONS_MAX; i++)
			if (option == OWN_OPTION + i || option == own[i].letter)
				ctl->values[i] = optarg ?: "";
		return 1;
	}
}

/*
 * Parses the general options and those of the command, if it is known yet. first is "+" if options
 * end at the first other word. Returns 1 to continue, else minus the exit code.
 */
static int parse_options(int argc, char **argv, const char *first, struct ctl *ctl)
{
	struct option options[ARRAY_SIZE(general) + CTL_OPTIONS_MAX + 1] = { 0 };
	char flags[3 * CTL_OPTIONS_MAX] = "", *flag = stpcpy(stpcpy(flags, first), ":h");
	int option, r = 1;

	memcpy(options, general, sizeof(general));
	for (int i = 0; ctl->command && i < CTL_OPTIONS_MAX && ctl->command->options[i].name; i++) {
		const struct ctl_option *own = &ctl->command->options[i];

		options[ARRAY_SIZE(general) + (size_t)i] = (struct option){
			.name = own->name,
			.has_arg = own->value ? required_argument : no_argument,
			.val = OWN_OPTION + i,
		};
		if (own->letter)
			*flag++ = own->letter;
		if (own->letter && own->value)
			*flag++ = ':';
	}
	opterr = 0;
	while (r > 0 && (option = getopt_long(argc, argv, flags, options, NULL)) != -1)
		r = option == '?' || option == ':'
			    ? refuse_option(ctl, argv[optind - 1], options, option)
			    : parse_option(ctl, option);
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
	ret->command = find_command(ret, argv[optind + is_help]);
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
	r = parse_options(argc, argv, ret->command->has_tail ? "+" : "", ret);
	if (r <= 0)
		return r;
	ret->arguments = argv + optind;
	ret->n_arguments = argc - optind;
	if (!ret->command->arguments && ret->n_arguments) {
		complain("'%s' is one argument too many: %s takes none", ret->arguments[0],
			 ret->command->name);
		return -CTL_USAGE;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct ctl ctl = {
		.commands = ctl_commands,
		.path = QUERY_SOCKET_PATH,
		.timeout_ns = TIMEOUT_DEFAULT_NS,
	};
	int r;

	setlocale(LC_CTYPE, "");
	r = parse_arguments(argc, argv, &ctl);
	if (r < 0)
		return -r;
	if (!r)
		return ctl_flush();
	if (ctl.command->run)
		return ctl.command->run(&ctl);
	return ctl_ask(&ctl, ctl.command->method, NULL, ctl.command->view, ctl.command->add);
}
