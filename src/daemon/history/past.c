// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/past.h"

#include <errno.h>
#include <string.h>

#include "daemon/history/stats.h"
#include "shared/log.h"
#include "shared/time.h"

#define SAVE_NS (60 * NS_PER_S)

/* Reads the file of each day of the week once, so that new counts are added to its old ones. */
static void load_days(struct past *past, int32_t today)
{
	const char *directory = past->core->options->state_dir;

	for (int32_t day = today - STATS_DAYS + 1; day <= today; day++) {
		int32_t *loaded = &past->loaded[day % STATS_DAYS];
		int r;

		if (*loaded == day)
			continue;
		*loaded = day;
		r = stats_file_load(directory, past->stats, past->core->topology, day);
		if (r < 0)
			log_warning("%s/account.%d is left out: %s", directory, day,
				    r == -EBADMSG ? "it is not as wakegovd writes it"
						  : strerror(-r));
	}
	stats_file_remove_before(directory, today - STATS_DAYS + 1);
}

/* Writes today's file, and yesterday's if the day has just begun. */
static void save_days(struct past *past, uint64_t now_ns)
{
	int32_t today = account_catch_up(past).day;
	int r = 0;

	past->saved_ns = now_ns;
	past->is_unsaved = false;
	if (past->day != today) {
		r = stats_file_save(past->core->options->state_dir, past->stats,
				    past->core->topology, past->day);
		load_days(past, today);
		past->day = today;
	}
	if (r == 0)
		r = stats_file_save(past->core->options->state_dir, past->stats,
				    past->core->topology, today);
	if (r == 0)
		return;
	log_warning("cannot write %s/account.%d: %s; statistics are not kept until wakegovd is "
		    "restarted",
		    past->core->options->state_dir, today, strerror(-r));
	past->is_counted = false;
}

int past_init(struct past *past)
{
	const struct core *core = past->core;

	past->log = decision_log_new(core->policy.max_decisions);
	past->stats = stats_new(core->topology);
	past->account = account_new(core->topology);
	if (!past->log || !past->stats || !past->account)
		return -ENOMEM;
	account_powers_changed(past);
	return 0;
}

/* Adds the counts of the last days to the present ones. Nothing of it stops the daemon. */
static int start(void *state)
{
	struct past *past = state;
	const struct core *core = past->core;
	const char *directory = core->options->state_dir;

	if (!directory || !core->policy.history || !core->n_domains ||
	    archive_open(directory, core->n_domains, &past->archive) < 0)
		return 0;
	past->is_counted = true;
	past->saved_ns = time_now_ns();
	past->day = account_time(past->account, past->saved_ns).day;
	load_days(past, past->day);
	return 0;
}

/* Writes unwritten entries and counts. */
static void stop(void *state)
{
	struct past *past = state;

	if (past->is_counted)
		save_days(past, time_now_ns());
	past->is_counted = false;
	past->archive = archive_close(past->archive);
}

static void archive_entry(struct past *past, const struct decision_entry *entry)
{
	const struct core *core = past->core;
	struct history_entry kept = { .entry = *entry };
	const struct explanation *rests_on = &entry->explanation;

	strcpy(kept.domain, core->topology->domains[entry->decision.domain].name);
	if (rests_on->has_io &&
	    tracer_device_name(core->tracer, rests_on->io.device, kept.device) < 0)
		kept.device[0] = '\0';
	archive_add(past->archive, entry->decision.domain, &kept);
}

static void target_changed(void *state, const struct decision_entry *entry)
{
	struct past *past = state;

	decision_log_add(past->log, &entry->decision, entry->read_back_khz, &entry->explanation);
	past->is_unsaved = true;
	if (past->archive)
		archive_entry(past, entry);
	stats_add_decision(past->stats, &entry->decision);
}

static int add_opp(void *state, uint32_t domain)
{
	return stats_add_opp(((struct past *)state)->stats, domain);
}

/* At the end of a round: saves, where nothing else is left to do or it is time. */
static uint64_t next_ns(void *state, uint64_t now_ns, uint64_t others_ns)
{
	struct past *past = state;
	bool still = others_ns == UINT64_MAX;

	if (past->archive && !past->core->policy.history)
		stop(past);
	if (past->archive && !archive_keep(past->archive, now_ns, still))
		past->archive = archive_close(past->archive);
	if (past->is_counted && now_ns - past->saved_ns >= SAVE_NS)
		save_days(past, now_ns);
	return past->is_counted && past->is_unsaved ? past->saved_ns + SAVE_NS : UINT64_MAX;
}

static void free_tables(void *state)
{
	struct past *past = state;

	decision_log_free(past->log);
	stats_free(past->stats);
	account_free(past->account);
}

const struct module past_module = {
	.name = "history",
	.start = start,
	.stop = stop,
	.free = free_tables,
	.add_opp = add_opp,
	.powers_changed = account_powers_changed,
	.decided = account_decided,
	.target_changed = target_changed,
	.target_set = account_target_set,
	.next_ns = next_ns,
};
