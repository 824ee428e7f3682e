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

/* An option of one command; general ones (--json, --socket, …) go with any. */
struct ctl_option {
	const char *name;  /* without the dashes */
	const char *value; /* its value as help shows it: "FREQUENCY"; NULL: it takes none */
	const char *help;
	char letter; /* short form, but not h; 0: none */
};

struct ctl_command {
	const char *name;
	const char *help;		   /* NULL: for programs, not shown */
	const char *method;		   /* called without parameters; NULL: use run */
	void (*show)(const json_t *reply); /* prints the reply's parameters for people */
	enum ctl_exit (*run)(struct ctl *ctl);
	const char *arguments; /* as help shows them: "DOMAIN | list | cancel ID"; NULL: none */
	const char *verbs[CTL_VERBS_MAX]; /* words that may be the first argument */
	bool has_tail; /* what follows the first argument or "--" is another command line */
	struct ctl_option options[CTL_OPTIONS_MAX];
};

/* A parsed command line. */
struct ctl {
	const struct ctl_command *commands; /* all commands, in the order of --help */
	const struct ctl_command *command;
	const char *path; /* of the socket */
	uint64_t timeout_ns;
	bool json;
	const char *values[CTL_OPTIONS_MAX]; /* in the order of command->options; NULL: not given */
	char **arguments; /* the words behind the command's name that are no options */
	int n_arguments;
};

/*
 * The value of an option of the command, "" for one that takes none, NULL when it was not given.
 * The name must be in the table.
 */
const char *ctl_value(const struct ctl *ctl, const char *name);

/*
 * Calls a method. Consumes parameters, which may be NULL for none. On CTL_OK the reply's parameters
 * are in *ret, owned by the caller; otherwise the failure was printed on standard error.
 */
enum ctl_exit ctl_call(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret);

/* Prints a reply's parameters: as JSON with --json, else by show. */
enum ctl_exit ctl_print(const struct ctl *ctl, const json_t *parameters,
			void (*show)(const json_t *reply));
/*
 * Calls a method and prints the reply, as most commands do. Consumes parameters, which may be NULL.
 */
enum ctl_exit ctl_ask(const struct ctl *ctl, const char *method, json_t *parameters,
		      void (*show)(const json_t *reply));

/* Flushes standard output. Returns CTL_OK, or CTL_REFUSED after complaining that it failed. */
enum ctl_exit ctl_flush(void);

/*
 * Parses the time that an option of the command gives into *us, which stays if it is not given.
 * False: it is none, which was printed.
 */
bool ctl_duration(const struct ctl *ctl, const char *option, uint64_t *us);

struct moment;

/* Parses the moment that an option of the command gives. False: it is none, which was printed. */
bool ctl_moment(const struct ctl *ctl, const char *option, struct moment *ret);

/* Prints a mistake on the command line, and where to read on. Returns CTL_USAGE. */
enum ctl_exit ctl_misuse(const struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
