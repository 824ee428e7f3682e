/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * What all commands of wakegovctl share: the table of commands (words.json), which the parser,
 * --help and the shell completions follow, and how a command asks the daemon, prints and complains
 * (call.c). Each has a function (commands.c).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The exit codes of wakegovctl; documented in wakegovctl(1) and --help. */
enum ctl_exit {
	CTL_OK = 0,
	CTL_REFUSED = 1,     /* the daemon refused, or the call failed */
	CTL_USAGE = 2,	     /* the command line is wrong */
	CTL_UNREACHABLE = 3, /* no daemon answers on the socket, or it may not be opened */
	CTL_LOST = 4,	     /* the connection broke or timed out after it was made */
	CTL_DIFFERS = 5,     /* a replay decided differently from the recording */
};

struct ctl;
struct decision;
struct moment;
struct policy;
struct replay;
struct table;
struct topology;
struct record_reader;
struct what_if;

/* A parsed command line. */
struct ctl {
	/* Of words.json: its name, and what there is of help, arguments, verbs and options. */
	const json_t *command;
	const char *path; /* of the socket */
	uint64_t timeout_ns;
	bool json;
	const char *logged_error; /* a refusal that the daemon's log has: it is not printed */
	json_t *values;		  /* of the options that were given, "" for one that takes none */
	char **arguments;	  /* the words behind the command's name that are no options */
	int n_arguments;
};

/* The command line. */

/* All commands, in the order of --help, and one of them; NULL: there is none of that name. */
const json_t *ctl_commands(void);
const json_t *ctl_find(const char *name);
const char *ctl_name(const struct ctl *ctl);

/* Runs the command that was found. */
enum ctl_exit ctl_run(struct ctl *ctl);

/* An option, as --help shows it: "-n, --lines N" in words.json, and what it is for. */
struct ctl_option {
	char name[32];
	char letter;	   /* 0: no short form */
	const char *value; /* what --help calls its value; NULL: it takes none */
	const char *help;
};

/* The i-th option of the command, which may be NULL, and then those of all. False: no more. */
bool ctl_option(const json_t *command, size_t i, struct ctl_option *ret);

/* The value of an option of the command, "" for one that takes none, NULL when it was not given. */
const char *ctl_value(const struct ctl *ctl, const char *name);

/*
 * Parses the time of an option of the command into *us, which stays without that option. Returns
 * false after printing an error if the value is not a duration.
 */
bool ctl_duration(const struct ctl *ctl, const char *option, uint64_t *us);

/* Parses the moment of an option. Returns false after printing an error if it is no moment. */
bool ctl_moment(const struct ctl *ctl, const char *option, struct moment *ret);

/* Prints a mistake on the command line, and where to read on. Returns CTL_USAGE. */
enum ctl_exit ctl_misuse(const struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Calls. */

/* For json_pack()'s o*: a parameter that is left out if the number is 0. */
static inline json_t *ctl_nonzero(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : NULL;
}

/*
 * Calls a method. Consumes parameters, which may be NULL for none. On CTL_OK the reply's parameters
 * are in *ret, owned by the caller; ret may be NULL. Otherwise the failure was printed on standard
 * error.
 */
enum ctl_exit ctl_call(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret);

/*
 * Calls a method and prints nothing. Consumes parameters, which may be NULL for none. Returns 0 or
 * an error of caller_open() or caller_call(). *ret gets the reply's parameters, which the caller
 * owns, and stays where it is an error.
 */
int ctl_try(const struct ctl *ctl, const char *method, json_t *parameters, json_t **ret);

/*
 * Calls a method whose list comes in pages, until list has max entries of those under key, or all.
 * Consumes parameters.
 */
enum ctl_exit ctl_call_pages(const struct ctl *ctl, const char *method, json_t *parameters,
			     const char *key, size_t max, json_t *list);

/*
 * Prints a reply's parameters: as JSON with --json, else as the view of words.json, after add has
 * put in what only the view needs; it may be NULL.
 */
enum ctl_exit ctl_print(const struct ctl *ctl, json_t *reply, const char *view,
			void (*add)(json_t *reply));
/* The same for one of many, whose JSON is one line; flushes nothing. */
void ctl_print_one(const struct ctl *ctl, const json_t *one, const char *view);
/*
 * Calls a method and prints the reply, as most commands do. Consumes parameters, which may be NULL.
 */
enum ctl_exit ctl_ask(const struct ctl *ctl, const char *method, json_t *parameters,
		      const char *view, void (*add)(json_t *reply));

/* Flushes standard output. Returns CTL_OK, or CTL_REFUSED after complaining that it failed. */
enum ctl_exit ctl_flush(void);

/* Another file for output. NULL: it cannot be written, which was printed. */
FILE *ctl_open_output(const char *path);
/* Closes it. Returns code, or CTL_REFUSED after complaining that the file is not complete. */
enum ctl_exit ctl_close_output(FILE *out, const char *path, enum ctl_exit code);

/* Failures on standard error: what failed, why, and what to do. */

/* Prints "wakegovctl: …" and a line feed. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for each line of text, with `before` in front of the first. */
void complain_lines(const char *before, const char *text);

/* Says why caller_open() failed. */
enum ctl_exit complain_open(const char *path, int error);

/* Says why caller_call() failed. */
enum ctl_exit complain_call(const char *path, int error);

/* Says what the daemon's error reply means. */
enum ctl_exit complain_refusal(const char *command, const json_t *reply);

/* The commands that do more than one call; each has a file of its name, if none is given. */

enum ctl_exit command_doctor(struct ctl *ctl);
enum ctl_exit command_explain(struct ctl *ctl);
enum ctl_exit command_hint(struct ctl *ctl);
enum ctl_exit command_run(struct ctl *ctl); /* both in override.c */
enum ctl_exit command_monitor(struct ctl *ctl);
enum ctl_exit command_decisions(struct ctl *ctl); /* monitor.c */
enum ctl_exit command_override(struct ctl *ctl);
enum ctl_exit command_record(struct ctl *ctl);
enum ctl_exit command_report(struct ctl *ctl);
enum ctl_exit command_stats(struct ctl *ctl);
enum ctl_exit command_status(struct ctl *ctl);
enum ctl_exit command_top(struct ctl *ctl);
/* report_html.c: the same as a page with pictures. */
enum ctl_exit report_html(const struct ctl *ctl, const char *path);
/* recordings.c: those that read a recording. */
enum ctl_exit report_html_of_recording(const struct ctl *ctl, const char *path);
enum ctl_exit command_replay(struct ctl *ctl);

/*
 * status.c, explain.c: what the views of these replies need besides their fields. A newer or older
 * daemon's reply may have more or fewer: what is not known is left out, or shown as "-".
 */
void status_add_domain(json_t *domain);
void status_add_domains(json_t *reply);
void status_add_programs(json_t *reply); /* all programs are shown */
void explain_add(json_t *reply);

/* explain.c: appends the replies of Explain for all domains, in their order; at may be empty. */
enum ctl_exit explain_domains(const struct ctl *ctl, const json_t *domains, const json_t *at,
			      json_t *ret);

/*
 * replay.c: the result of a replay, as the JSON that wakegovctl(1) documents. outcome is the result
 * of replay_run(); policy_path names the other policy. NULL without memory. what_if_add() is for
 * its view.
 */
json_t *replay_json(const struct record_reader *reader, int outcome, const struct replay *replay);
json_t *what_if_json(const struct what_if *what_if, const struct record_reader *reader,
		     const char *policy_path);
void what_if_add(json_t *reply);

/*
 * events.c: plays a recording, after record_reader_begin(), and puts each event of it, an object of
 * the type Event in JSON. is_brief: decisions come without what they rest on. Returns as
 * record_reader_next() does at the end.
 */
typedef void event_put_t(FILE *out, const char *line);
int events_put(struct record_reader *reader, bool is_brief, event_put_t *put, FILE *out);
/* A decision of a recording, of the type Decision, without what it rested on. */
json_t *events_decision(const struct topology *topology, const struct decision *decision);

/*
 * report_html.c: the page of report --html. One line of JSON is what all of it is about, then come
 * decisions or events, and the last says where they end. Write errors show in ferror(out).
 */
FILE *page_open(const char *path); /* NULL: it cannot be written, which was printed */
void page_put(FILE *out, const char *json);
void page_put_object(FILE *out, json_t *object); /* consumed */
/* Ends the page and closes it. Returns as ctl_close_output(). */
enum ctl_exit page_close(FILE *out, const char *path, enum ctl_exit code);

/*
 * doctor.c: {"findings": …}, which report shows too. NULL: it failed, which was printed.
 * doctor_add() is for its view.
 */
json_t *doctor_findings(const struct ctl *ctl, bool *ret_bad);
void doctor_add(json_t *reply);

#define FINDING_GOOD "good"
#define FINDING_NOTE "note" /* a part does not work */
#define FINDING_BAD  "bad"  /* wakegov cannot work, or not as asked */

/*
 * doctor_machine.c: appends a finding with the sentences of words.json for this key, found and
 * to_do, filled with the fields of `of`, which may be NULL and is consumed; its name is the field
 * `what`, or else the key. What is found alike in several domains is one finding with their names;
 * domain may be NULL.
 */
void doctor_append(json_t *findings, const char *grade, const char *domain, const char *key,
		   json_t *of);

/*
 * Examines what this machine offers wakegov, and changes nothing; needs no
 * daemon. run_dir is the daemon's, and policy the files' policy. source and why come from its
 * Status: the source of frequencies; NULL without an answer. Returns 0 or a negative errno.
 */
int doctor_examine(const char *run_dir, const struct policy *policy, const char *source,
		   const char *why, json_t *findings);

/*
 * doctor_work.c: appends what speaks for a key of the policy. sys and proc are the paths; status
 * and rules are replies of the daemon, or NULL.
 */
void doctor_advise(json_t *findings, const char *sys, const char *proc, const json_t *status,
		   const json_t *rules);

/*
 * machine.c: the machine's own means to limit frequencies, as its files show them now: turbo,
 * energy preference, platform profile, temperature, throttling and power.
 */

/*
 * An object of numbers and words, in the order to show them; what the machine does not have is left
 * out. sys is the path of /sys. Takes a tenth of a second where power is counted.
 */
json_t *machine_find(const char *sys);
