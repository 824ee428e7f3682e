/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What wakegovctl can be told, in one table (commands.c): the parser, --help and the shell
 * completions follow it. A command either calls a method without parameters and shows the reply, or
 * has a function of its own.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/complain.h"

#define CTL_OPTIONS_MAX 12
#define CTL_VERBS_MAX	4

struct ctl;

/* Of one command; the general ones (--json, --socket, …) go with any. */
struct ctl_option {
	const char *name;  /* without the dashes */
	const char *value; /* what it takes, as help shows it: "FREQUENCY"; NULL: nothing */
	const char *help;
	char letter; /* a short form, but h; 0: none */
};

struct ctl_command {
	const char *name;
	const char *help;		   /* NULL: it is for programs, and not shown */
	const char *method;		   /* called without parameters; NULL: run does it */
	void (*show)(const json_t *reply); /* its reply's parameters, for people */
	enum ctl_exit (*run)(struct ctl *ctl);
	const char *arguments; /* as help shows them: "DOMAIN | list | cancel ID"; NULL: none */
	const char *verbs[CTL_VERBS_MAX]; /* words that may come first among the arguments */
	bool has_tail; /* what follows the first argument or "--" is another command's */
	struct ctl_option options[CTL_OPTIONS_MAX];
};

/* One command line, taken apart. */
struct ctl {
	const struct ctl_command *commands; /* all that there are, in the order of --help */
	const struct ctl_command *command;
	const char *path; /* of the socket */
	uint64_t timeout_ns;
	bool json;
	const char *values[CTL_OPTIONS_MAX]; /* in the order of command->options; NULL: not given */
	char **arguments;		     /* what is no option, behind the command's name */
	int n_arguments;
};

/*
 * The value of an option of the command, "" for one that takes none, NULL when it was not given.
 * The name must be in the table.
 */
const char *ctl_value(const struct ctl *ctl, const char *name);

/*
 * One call. Consumes parameters, which may be NULL for none. On CTL_OK the reply's parameters are
 * in *ret, owned by the caller; otherwise the failure was told on standard error.
 */
enum ctl_exit ctl_call(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret);

/* Prints a reply's parameters: as JSON with --json, else by show. */
enum ctl_exit ctl_print(const struct ctl *ctl, const json_t *parameters,
			void (*show)(const json_t *reply));
/* Calls and prints the reply: most commands do no more. Takes parameters, which may be NULL. */
enum ctl_exit ctl_ask(const struct ctl *ctl, const char *method, json_t *parameters,
		      void (*show)(const json_t *reply));

/* CTL_OK, or CTL_REFUSED with a complaint when standard output could not be written. */
enum ctl_exit ctl_flush(void);

struct moment;

/* The moment that an option of the command gives. False: it gives none, and that was told. */
bool ctl_moment(const struct ctl *ctl, const char *option, struct moment *ret);

/* A mistake on the command line, in words, and where to read on. Returns CTL_USAGE. */
enum ctl_exit ctl_misuse(const struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
