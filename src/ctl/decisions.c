// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl decisions: remembered decisions, and with --follow new ones as they come. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "ctl/quantity.h"
#include "shared/cleanup.h"
#include "shared/text.h"
#include "varlink/caller.h"

#define SHOWN_BEFORE_FOLLOWING 10

struct listing {
	const struct ctl *ctl;
	const char *domain; /* NULL: of all domains */
	uint64_t max;	    /* how many of the remembered ones, the newest */
	uint64_t after_us;  /* only later ones */
	uint64_t
		since_us; /* only later ones of those on disk, CLOCK_REALTIME; 0: none from there */
	enum ctl_exit code;
};

static bool is_wanted(const struct listing *listing, const json_t *decision)
{
	const char *domain = field_text(decision, "domain");

	return (field_number(decision, "monotonic_us") > listing->after_us ||
		field_is_known(decision, "realtime_us")) &&
	       (!listing->domain || (domain && !strcmp(domain, listing->domain)));
}

/* Removes unwanted decisions from the reply. */
static void choose(const struct listing *listing, json_t *reply)
{
	json_t *all = json_object_get(reply, "decisions"), *chosen = json_array();
	const json_t *decision;
	size_t i;

	json_array_foreach(all, i, decision) {
		if (is_wanted(listing, decision))
			json_array_append(chosen, (json_t *)decision);
	}
	json_object_set_new(reply, "decisions", chosen);
}

/* Otherwise a misspelt domain would look like one that never changes. */
static enum ctl_exit check_domain(const struct listing *listing)
{
	json_t *reply;
	enum ctl_exit code;

	if (!listing->domain)
		return CTL_OK;
	code = ctl_call(listing->ctl, "io.wakegov.Explain",
			json_pack("{so}", "domain", format_json(listing->domain)), &reply);
	if (code == CTL_OK)
		json_decref(reply);
	return code;
}

/* Fetches one page from disk, or what is in memory. */
static enum ctl_exit ask_page(const struct listing *listing, uint64_t from, json_t **ret)
{
	json_t *parameters = json_pack("{sI}", "after_us", (json_int_t)listing->after_us);

	if (listing->since_us)
		json_object_set_new(parameters, "since_realtime_us",
				    json_integer((json_int_t)listing->since_us));
	if (from)
		json_object_set_new(parameters, "from", json_integer((json_int_t)from));
	return ctl_call(listing->ctl, "io.wakegov.Decisions", parameters, ret);
}

static enum ctl_exit ask(const struct listing *listing, json_t **ret)
{
	json_t *all = json_array(), *reply;
	uint64_t from = 0;
	enum ctl_exit code;

	do {
		code = ask_page(listing, from, &reply);
		if (code != CTL_OK) {
			json_decref(all);
			return code;
		}
		choose(listing, reply);
		json_array_extend(all, json_object_get(reply, "decisions"));
		from = field_number(reply, "next");
		json_object_set(reply, "decisions", all);
		if (from)
			json_decref(reply);
	} while (from);
	json_decref(all);
	if (json_is_false(json_object_get(reply, "is_complete")))
		complain("decisions from before what wakegovd remembers may be missing: only root "
			 "sees those that are kept on disk (history in wakegov.conf(5))");
	while (json_array_size(json_object_get(reply, "decisions")) > listing->max)
		json_array_remove(json_object_get(reply, "decisions"), 0);
	*ret = reply;
	return CTL_OK;
}

/* One decision, in columns that do not depend on other lines. */
static void show_line(const json_t *decision)
{
	_cleanup_free_ char *time = cell_time(decision, "monotonic_us");
	_cleanup_free_ char *domain = cell_text(decision, "domain");
	_cleanup_free_ char *from = cell_frequency(decision, "previous_khz");
	_cleanup_free_ char *to = cell_frequency(decision, "target_khz");
	_cleanup_free_ char *found = cell_frequency(decision, "read_back_khz");
	_cleanup_free_ char *reason = show_reason(decision, NULL);

	if (!reason)
		return;
	text_clean(reason);
	printf("%s  %-9s  %9s -> %9s, read back %9s  %s\n", time, domain, from, to, found, reason);
}

static void print_line(struct listing *listing, const json_t *decision)
{
	listing->after_us = field_number(decision, "monotonic_us");
	ctl_print_line(listing->ctl, decision, show_line);
}

/* The monitor listens now, so nothing is missed; the remembered ones come first. */
static void print_remembered(struct listing *listing)
{
	const json_t *decision;
	json_t *reply;
	size_t i;

	listing->code = ask(listing, &reply);
	if (listing->code != CTL_OK)
		return;
	json_array_foreach(json_object_get(reply, "decisions"), i, decision)
		print_line(listing, decision);
	json_decref(reply);
}

/* Returns 0 to continue. */
static int take_reply(void *context, const json_t *reply)
{
	const json_t *event = json_object_get(json_object_get(reply, "parameters"), "event");
	const json_t *decision = json_object_get(event, "decision");
	struct listing *listing = context;

	if (json_is_string(json_object_get(reply, "error"))) {
		listing->code = complain_refusal("decisions", "io.wakegov.Monitor", reply);
		return 1;
	}
	if (!json_is_object(event))
		print_remembered(listing);
	else if (is_wanted(listing, decision))
		print_line(listing, decision);
	if (listing->code == CTL_OK)
		listing->code = ctl_flush();
	return listing->code != CTL_OK;
}

static enum ctl_exit follow(struct listing *listing)
{
	const struct ctl *ctl = listing->ctl;
	_cleanup_close_ int fd = caller_open(ctl->path, caller_deadline(ctl->timeout_ns));
	json_t *parameters = json_pack("{s[s]}", "kinds", "decision");
	int r;

	if (listing->domain)
		json_object_set_new(parameters, "domain", format_json(listing->domain));

	if (fd < 0) {
		json_decref(parameters);
		return complain_open(ctl->path, fd);
	}
	r = caller_stream(fd, "io.wakegov.Monitor", parameters, take_reply, listing);
	return r > 0 ? listing->code : complain_call(ctl->path, r);
}

void show_decisions(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "TIME", TABLE_LEFT, cell_time, "monotonic_us" },
		{ "DOMAIN", TABLE_LEFT, cell_text, "domain" },
		{ "FROM", TABLE_RIGHT, cell_frequency, "previous_khz" },
		{ "TO", TABLE_RIGHT, cell_frequency, "target_khz" },
		{ "READ BACK", TABLE_RIGHT, cell_frequency, "read_back_khz" },
		{ "REASON", TABLE_LEFT, show_reason },
	};

	if (!table_print(TABLE(columns), json_object_get(reply, "decisions"), stdout))
		puts("no such decision is remembered");
}

enum ctl_exit command_decisions(struct ctl *ctl)
{
	const char *max = ctl_value(ctl, "lines");
	bool follows = ctl_value(ctl, "follow");
	struct listing listing = {
		.ctl = ctl,
		.domain = ctl->n_arguments ? ctl->arguments[0] : NULL,
		.max = follows && !ctl_value(ctl, "since") ? SHOWN_BEFORE_FOLLOWING : UINT64_MAX,
	};
	struct moment since = { 0 };
	enum ctl_exit code;
	json_t *reply;

	if (ctl->n_arguments > 1)
		return ctl_misuse(ctl,
				  "'%s' is one argument too many: one domain (policy0), or none",
				  ctl->arguments[1]);
	if (max && !quantity_number(max, &listing.max))
		return ctl_misuse(ctl, "-n %s: expected how many to show", max);
	if (ctl_value(ctl, "since") && !ctl_moment(ctl, "since", &since))
		return CTL_USAGE;
	listing.after_us = since.monotonic_us;
	listing.since_us = since.realtime_us;
	code = check_domain(&listing);
	if (code != CTL_OK)
		return code;
	if (follows)
		return follow(&listing);
	code = ask(&listing, &reply);
	if (code != CTL_OK)
		return code;
	code = ctl_print(ctl, reply, show_decisions);
	json_decref(reply);
	return code;
}
