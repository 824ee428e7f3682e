// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl report --html: the last week of this machine as a page, from what the daemon remembers
 * and keeps on disk.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/page.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "shared/version.h"

#define DOMAINS_MAX 16 /* pictures: more would only be scrolled past */
#define HOUR_US	    (3600 * US_PER_S)
#define WEEK_US	    (7 * 24 * HOUR_US)

/* The clock may be in the first week of 1970, or have been set back since a decision. */
static uint64_t time_before(uint64_t us, uint64_t span_us)
{
	return us > span_us ? us - span_us : 0;
}

struct collecting {
	const struct ctl *ctl;
	struct page page;
	struct topology *topology; /* of the shown domains */
	struct moment now;
	uint64_t oldest_us;
	/* Of each domain: when its last decision was made, CLOCK_REALTIME. */
	uint64_t last_ns[DOMAINS_MAX];
};

static void collecting_deinit(struct collecting *collecting)
{
	page_deinit(&collecting->page);
	free(collecting->topology);
}

/* Time since the start in which the domain was not idle. */
static uint64_t busy_us(const json_t *stats, const char *name)
{
	const json_t *domain, *time;
	uint64_t us = 0;
	size_t i, j;

	json_array_foreach(json_object_get(stats, "domains"), i, domain)
		if (field_is_word(domain, "domain", name))
			json_array_foreach(json_object_get(domain, "times"), j, time)
				us += field_is_word(time, "reason", "idle")
					      ? 0
					      : field_number(time, "time_us");
	return us;
}

/* Whether fewer than DOMAINS_MAX of the domains were busier. */
static bool is_shown(const struct collecting *collecting, const json_t *domains, size_t which)
{
	const json_t *stats = collecting->page.stats, *domain;
	uint64_t own_us = busy_us(stats, field_shown(json_array_get(domains, which), "name"));
	size_t i, before = 0;

	json_array_foreach(domains, i, domain) {
		uint64_t us = busy_us(stats, field_shown(domain, "name"));

		before += us > own_us || (us == own_us && i < which);
	}
	return before < DOMAINS_MAX;
}

/* What stands behind a domain's name. */
static json_t *note_of(const json_t *domain)
{
	const char *why = field_text(domain, "state_why");
	bool is_driven = field_is_word(domain, "state", "driven");

	return json_sprintf("CPUs %s, %u–%u MHz, backend %s%s%s%s%s", field_shown(domain, "cpus"),
			    (unsigned int)(field_number(domain, "lowest_opp_khz") / 1000),
			    (unsigned int)(field_number(domain, "highest_opp_khz") / 1000),
			    field_shown(domain, "backend"),
			    show_is_expected(domain) ? ": frequencies are what its governor is "
						       "expected to set"
						     : "",
			    is_driven ? "" : ", ", is_driven ? "" : field_shown(domain, "state"),
			    !is_driven && why ? ": see wakegovctl status" : "");
}

/* Adds what limits the domain now. */
static enum ctl_exit ask_limiters(struct collecting *collecting, const char *name)
{
	json_auto_t *reply = NULL;
	const json_t *limiter;
	enum ctl_exit code = ctl_call(collecting->ctl, "io.wakegov.Explain",
				      json_pack("{ss}", "domain", name), &reply);
	size_t i;

	json_array_foreach(json_object_get(reply, "limiters"), i, limiter) {
		json_t *row = json_deep_copy(limiter);

		json_object_set_new(row, "domain", json_string(name));
		json_array_append_new(collecting->page.limiters, row);
	}
	return code;
}

static enum ctl_exit add_domains(struct collecting *collecting, const json_t *domains)
{
	struct topology *topology = collecting->topology;
	enum ctl_exit code = CTL_OK;
	const json_t *domain;
	size_t i;

	json_array_foreach(domains, i, domain) {
		struct topology_domain *info = &topology->domains[topology->n_domains];
		uint32_t high_khz = (uint32_t)field_number(domain, "highest_opp_khz");

		if (!high_khz || code != CTL_OK || !is_shown(collecting, domains, i))
			continue;
		snprintf(info->name, sizeof(info->name), "%s", field_shown(domain, "name"));
		info->n_opps = 2;
		info->opp_khz[0] = (uint32_t)field_number(domain, "lowest_opp_khz");
		info->opp_khz[1] = high_khz;
		json_array_append_new(collecting->page.domains,
				      json_pack("{so sb}", "note", note_of(domain), "driven",
						field_is_word(domain, "state", "driven")));
		topology->n_domains++;
		code = ask_limiters(collecting, info->name);
	}
	return code;
}

static uint32_t find_word(const char *word, uint32_t last, const char *(*name)(uint32_t))
{
	for (uint32_t i = 0; word && i <= last; i++)
		if (!strcmp(word, name(i)))
			return i;
	return 0;
}

static const char *name_of_reason(uint32_t reason)
{
	return reason_name(reason);
}

static const char *name_of_limiter(uint32_t limiter)
{
	return limiter_name(limiter);
}

/* A decision of the reply, with its time by CLOCK_REALTIME. */
static struct decision decision_of(const struct collecting *collecting, const json_t *from)
{
	uint64_t realtime_us = field_number(from, "realtime_us");
	struct decision decision = {
		.now_ns = realtime_us * NS_PER_US,
		.domain = topology_find(collecting->topology, field_shown(from, "domain")),
		.previous_khz = (uint32_t)field_number(from, "previous_khz"),
		.target_khz = (uint32_t)field_number(from, "target_khz"),
		.reason = find_word(field_text(from, "reason"), REASON_LAST, name_of_reason),
		.limiter = find_word(field_text(from, "limiter"), LIMITER_LAST, name_of_limiter),
		.pid = (uint32_t)field_number(from, "pid"),
	};

	snprintf(decision.comm, sizeof(decision.comm), "%s", field_text(from, "comm") ?: "");
	return decision;
}

static void add_decision(struct collecting *collecting, const json_t *from)
{
	struct decision decision = decision_of(collecting, from);
	uint64_t *last_ns;

	if (decision.domain == TOPOLOGY_NO_DOMAIN)
		return;
	if (decision.now_ns / NS_PER_US < collecting->oldest_us)
		collecting->oldest_us = decision.now_ns / NS_PER_US;
	last_ns = &collecting->last_ns[decision.domain];
	for (uint32_t i = 0; i < collecting->page.n_periods; i++) {
		struct columns *columns = &collecting->page.periods[i].columns;

		/* The daemon began anew: how long the decision before held is not known. */
		if (!decision.previous_khz && *last_ns)
			columns_pause(columns, decision.domain, *last_ns);
		columns_decide(columns, &decision);
	}
	*last_ns = decision.now_ns;
}

static enum ctl_exit begin_period(struct collecting *collecting, const char *title,
				  uint64_t span_us)
{
	struct page_period *period = &collecting->page.periods[collecting->page.n_periods++];
	uint64_t now_us = collecting->now.realtime_us;

	snprintf(period->title, sizeof(period->title), "%s", title);
	if (columns_begin(&period->columns, collecting->topology->n_domains,
			  time_before(now_us, span_us) * NS_PER_US, now_us * NS_PER_US) == 0)
		return CTL_OK;
	complain("out of memory");
	return CTL_REFUSED;
}

/* The first that is longer than what is known begins with the oldest decision, and is the last. */
static enum ctl_exit begin_periods(struct collecting *collecting, const json_t *decisions)
{
	static const struct {
		const char *title;
		uint64_t us;
	} all[PAGE_PERIODS_MAX] = { { "last hour", HOUR_US },
				    { "last day", 24 * HOUR_US },
				    { "last week", WEEK_US } };
	const json_t *oldest = json_array_get(decisions, 0);
	uint64_t known_us = oldest ? time_before(collecting->now.realtime_us,
						 field_number(oldest, "realtime_us"))
				   : 0;
	_cleanup_free_ char *known = format_duration(known_us);
	_cleanup_free_ char *short_title = format_print("last %s", known);
	enum ctl_exit code = CTL_OK;

	for (size_t i = 0; i < ARRAY_SIZE(all) && code == CTL_OK; i++) {
		if (known_us < all[i].us)
			return begin_period(collecting, known_us ? short_title : all[i].title,
					    known_us ?: all[i].us);
		code = begin_period(collecting, all[i].title, all[i].us);
	}
	return code;
}

static enum ctl_exit ask_decisions(struct collecting *collecting)
{
	uint64_t since_us = time_before(collecting->now.realtime_us, WEEK_US);
	bool is_complete = true;
	uint64_t from = 0;

	do {
		json_auto_t *reply = NULL;
		const json_t *decisions, *decision;
		enum ctl_exit code = ctl_call(collecting->ctl, "io.wakegov.Decisions",
					      json_pack("{sI so*}", "since_realtime_us",
							(json_int_t)since_us, "from",
							ctl_nonzero(from)),
					      &reply);
		size_t i;

		decisions = json_object_get(reply, "decisions");
		if (code == CTL_OK && !from)
			code = begin_periods(collecting, decisions);
		if (code != CTL_OK)
			return code;
		json_array_foreach(decisions, i, decision)
			add_decision(collecting, decision);
		from = field_number(reply, "next");
		is_complete = !json_is_false(json_object_get(reply, "is_complete"));
	} while (from);
	if (!is_complete)
		json_array_append_new(
			collecting->page.notes,
			json_string("Only what wakegovd has in memory is shown: run as root for "
				    "what it keeps on disk (history in wakegov.conf(5))."));
	return CTL_OK;
}

/* The last decision of a domain that is not driven now ended at an unknown time. */
static void end_periods(struct collecting *collecting)
{
	for (uint32_t i = 0; i < collecting->page.n_periods; i++)
		for (uint32_t j = 0; j < collecting->topology->n_domains; j++) {
			struct columns *columns = &collecting->page.periods[i].columns;
			const json_t *domain = json_array_get(collecting->page.domains, j);

			columns_pause(columns, j,
				      field_flag(domain, "driven") ? columns->end_ns
								   : collecting->last_ns[j]);
		}
}

static void add_notes(struct collecting *collecting, const json_t *status)
{
	time_t now_s = (time_t)(collecting->now.realtime_us / US_PER_S);
	time_t oldest_s = (time_t)(collecting->oldest_us / US_PER_S);
	size_t shown = collecting->topology->n_domains;
	size_t all = json_array_size(json_object_get(status, "domains"));
	json_t *notes = collecting->page.notes;
	char now[64] = "", oldest[64] = "";
	struct tm parts;

	if (localtime_r(&now_s, &parts))
		strftime(now, sizeof(now), "%Y-%m-%d %H:%M %Z", &parts);
	if (localtime_r(&oldest_s, &parts))
		strftime(oldest, sizeof(oldest), "%Y-%m-%d %H:%M", &parts);
	json_array_insert_new(
		notes, 0,
		json_sprintf(
			"Made by wakegovctl %s at %s; %s, backend %s. The oldest decision that "
			"is known is from %s. Nothing is known where a picture is hatched.",
			wakegov_version, now, field_shown(status, "mode"),
			field_shown(status, "backend"), oldest));
	if (shown < all)
		json_array_append_new(notes, json_sprintf("The %zu of %zu domains that had most to "
							  "do are shown.",
							  shown, all));
}

static enum ctl_exit collect(struct collecting *collecting, const json_t *status)
{
	struct page *page = &collecting->page;
	const struct ctl *ctl = collecting->ctl;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Stats", NULL, &page->stats);

	if (code == CTL_OK)
		code = add_domains(collecting, json_object_get(status, "domains"));
	if (code == CTL_OK)
		code = ask_decisions(collecting);
	if (code != CTL_OK)
		return code;
	end_periods(collecting);
	add_notes(collecting, status);
	return CTL_OK;
}

enum ctl_exit report_html(const struct ctl *ctl, const char *path)
{
	_cleanup_(collecting_deinit) struct collecting collecting = {
		.ctl = ctl,
		.topology = calloc(1, sizeof(struct topology) +
					      DOMAINS_MAX * sizeof(struct topology_domain)),
		.now = moment_now(),
		.page = { .notes = json_array(),
			  .domains = json_array(),
			  .limiters = json_array(),
			  .machine = machine_find("/sys") },
	};
	json_auto_t *status = NULL;
	char host[65] = "this machine";
	enum ctl_exit code;
	FILE *out;

	if (!collecting.topology) {
		complain("out of memory");
		return CTL_REFUSED;
	}
	collecting.oldest_us = collecting.now.realtime_us;
	collecting.page.topology = collecting.topology;
	gethostname(host, sizeof(host) - 1);
	collecting.page.title = format_print("wakegov on %s", host);
	code = ctl_call(ctl, "io.wakegov.Status", NULL, &status);
	if (code == CTL_OK)
		code = collect(&collecting, status);
	if (code != CTL_OK)
		return code;
	out = ctl_open_output(path);
	if (!out)
		return CTL_REFUSED;
	page_write(out, &collecting.page);
	return ctl_close_output(out, path, CTL_OK);
}
