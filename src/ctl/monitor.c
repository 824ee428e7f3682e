// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl monitor: prints a line for each event until it is interrupted. wakegovctl decisions:
 * those that the daemon remembers.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "varlink/caller.h"

#define RETRY_S 1

struct monitoring {
	struct ctl *ctl;
	uint64_t left; /* events before it exits; UINT64_MAX: no limit */
	enum ctl_exit code;
};

/* Returns 0 to continue. */
static int on_event(void *context, const json_t *reply)
{
	const json_t *event = json_object_get(json_object_get(reply, "parameters"), "event");
	struct monitoring *monitoring = context;

	if (json_is_string(json_object_get(reply, "error"))) {
		monitoring->code = complain_refusal("monitor", reply);
		return 1;
	}
	/* The first reply only says that it listens now. */
	if (!json_is_object(event))
		return 0;
	ctl_print_one(monitoring->ctl, event, "event");
	monitoring->code = ctl_flush();
	monitoring->left -= monitoring->left != UINT64_MAX;
	return monitoring->code != CTL_OK || !monitoring->left;
}

/* The kinds of --kinds, with commas between, as a list; NULL: not given. */
static json_t *kinds_of(const struct ctl *ctl)
{
	const char *text = ctl_value(ctl, "kinds");
	json_t *kinds = text ? json_array() : NULL;

	while (text && *text) {
		size_t length = strcspn(text, ",");

		json_array_append_new(kinds, json_stringn(text, length));
		text += length + (text[length] == ',');
	}
	return kinds;
}

enum ctl_exit command_monitor(struct ctl *ctl)
{
	struct monitoring monitoring = { .ctl = ctl, .left = UINT64_MAX };
	const char *pid_text = ctl_value(ctl, "pid"), *count = ctl_value(ctl, "count");
	const char *domain = ctl_value(ctl, "domain");
	bool was_there = false;
	uint64_t pid = 0;

	if (pid_text && (!quantity_number(pid_text, &pid) || !pid))
		return ctl_misuse(ctl,
				  "--pid %s: expected a thread id; 'wakegovctl tasks' shows "
				  "them",
				  pid_text);
	if (count && (!quantity_number(count, &monitoring.left) || !monitoring.left))
		return ctl_misuse(ctl, "--count %s: expected how many events to wait for", count);
	/* Waits for a daemon that is restarted, but not for one that was never there. */
	for (;; was_there = true, sleep(RETRY_S)) {
		_cleanup_close_ int fd = caller_open(ctl->path, caller_deadline(ctl->timeout_ns));
		int r;

		if (fd < 0 && !was_there)
			return complain_open(ctl->path, fd);
		if (fd < 0)
			continue;
		r = caller_stream(fd, "io.wakegov.Monitor",
				  json_pack("{so* so* so*}", "kinds", kinds_of(ctl), "domain",
					    domain ? format_json(domain) : NULL, "pid",
					    ctl_nonzero(pid)),
				  on_event, &monitoring);
		if (r > 0)
			return monitoring.code;
		if (r != -ECONNRESET && r != -EPIPE)
			return complain_call(ctl->path, r);
		complain("wakegovd ended; waiting for it to come back. Ctrl-C ends this");
	}
}

struct listing {
	const struct ctl *ctl;
	const char *domain; /* NULL: of all domains */
	uint64_t max;	    /* how many of the remembered ones, the newest */
	uint64_t after_us;  /* only later ones */
	uint64_t since_us;  /* only later ones on disk, CLOCK_REALTIME; 0: none from there */
};

static bool is_wanted(const struct listing *listing, const json_t *decision)
{
	return !listing->domain || field_is_word(decision, "domain", listing->domain);
}

/*
 * Fetches what is in memory, and before it the pages from disk. The last reply then has the wanted
 * decisions of all.
 */
static enum ctl_exit ask(const struct listing *listing, json_t **ret)
{
	json_auto_t *chosen = json_array(), *reply = NULL;
	const json_t *decision;
	uint64_t from = 0;
	enum ctl_exit code;
	size_t i;

	do {
		json_decref(reply);
		reply = NULL;
		code = ctl_call(listing->ctl, "io.wakegov.Decisions",
				json_pack("{sI so* so*}", "after_us", (json_int_t)listing->after_us,
					  "since_realtime_us", ctl_nonzero(listing->since_us),
					  "from", ctl_nonzero(from)),
				&reply);
		if (code != CTL_OK)
			return code;
		json_array_foreach(json_object_get(reply, "decisions"), i, decision)
			if (is_wanted(listing, decision))
				json_array_append(chosen, (json_t *)decision);
		from = field_number(reply, "next");
	} while (from);
	if (json_is_false(json_object_get(reply, "is_complete")))
		complain("decisions from before what wakegovd remembers may be missing: only root "
			 "sees those that are kept on disk (history in wakegov.conf(5))");
	while (json_array_size(chosen) > listing->max)
		json_array_remove(chosen, 0);
	json_object_set(reply, "decisions", chosen);
	*ret = json_incref(reply);
	return CTL_OK;
}

enum ctl_exit command_decisions(struct ctl *ctl)
{
	const char *max = ctl_value(ctl, "lines");
	struct listing listing = {
		.ctl = ctl,
		.domain = ctl->n_arguments ? ctl->arguments[0] : NULL,
		.max = UINT64_MAX,
	};
	struct moment since = { 0 };
	enum ctl_exit code = CTL_OK;
	json_auto_t *reply = NULL;

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
	/* A misspelt domain would look like one that never changes. */
	if (listing.domain)
		code = ctl_call(ctl, "io.wakegov.Explain",
				json_pack("{so}", "domain", format_json(listing.domain)), NULL);
	if (code != CTL_OK)
		return code;
	code = ask(&listing, &reply);
	return code == CTL_OK ? ctl_print(ctl, reply, "decisions", NULL) : code;
}
