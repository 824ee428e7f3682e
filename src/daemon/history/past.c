// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/past.h"

#include <errno.h>
#include <string.h>

#include "daemon/history/stats.h"
#include "daemon/manager.h"
#include "shared/log.h"
#include "shared/time.h"

#define SAVE_NS (60 * NS_PER_S)

/* Reads the file of each day of the week once, so that new counts are added to its old ones. */
static void load_days(struct manager *manager, int32_t today)
{
	const char *directory = manager->options.state_dir;

	for (int32_t day = today - STATS_DAYS + 1; day <= today; day++) {
		int32_t *loaded = &manager->past.loaded[day % STATS_DAYS];
		int r;

		if (*loaded == day)
			continue;
		*loaded = day;
		r = stats_file_load(directory, manager->stats, manager->topology, day);
		if (r < 0)
			log_warning("%s/account.%d is left out: %s", directory, day,
				    r == -EBADMSG ? "it is not as wakegovd writes it"
						  : strerror(-r));
	}
	stats_file_remove_before(directory, today - STATS_DAYS + 1);
}

/* Writes today's file, and yesterday's if the day has just begun. */
static void save_days(struct manager *manager, uint64_t now_ns)
{
	int32_t today = account_catch_up(manager).day;
	int r = 0;

	manager->past.saved_ns = now_ns;
	manager->past.is_unsaved = false;
	if (manager->past.day != today) {
		r = stats_file_save(manager->options.state_dir, manager->stats, manager->topology,
				    manager->past.day);
		load_days(manager, today);
		manager->past.day = today;
	}
	if (r == 0)
		r = stats_file_save(manager->options.state_dir, manager->stats, manager->topology,
				    today);
	if (r == 0)
		return;
	log_warning("cannot write %s/account.%d: %s; statistics are not kept until wakegovd is "
		    "restarted",
		    manager->options.state_dir, today, strerror(-r));
	manager->past.is_counted = false;
}

int past_start(struct manager *manager)
{
	const char *directory = manager->options.state_dir;

	if (!directory || !manager->policy.history || !manager->n_domains ||
	    archive_open(directory, manager->n_domains, &manager->past.archive) < 0)
		return 0;
	manager->past.is_counted = true;
	manager->past.saved_ns = time_now_ns();
	manager->past.day = account_time(manager->account, manager->past.saved_ns).day;
	load_days(manager, manager->past.day);
	return 0;
}

void past_stop(struct manager *manager)
{
	if (manager->past.is_counted)
		save_days(manager, time_now_ns());
	manager->past.is_counted = false;
	manager->past.archive = archive_close(manager->past.archive);
}

void past_add(struct manager *manager, const struct decision *decision, uint32_t read_back_khz)
{
	struct history_entry entry = {
		.entry = { .decision = *decision,
			   .read_back_khz = read_back_khz,
			   .explanation = *engine_explanation(manager->engine, decision->domain) },
	};
	struct explanation *rests_on = &entry.entry.explanation;

	manager->past.is_unsaved = true;
	if (!manager->past.archive)
		return;
	strcpy(entry.domain, manager->topology->domains[decision->domain].name);
	if (rests_on->has_io &&
	    tracer_device_name(manager->tracer, rests_on->io.device, entry.device) < 0)
		entry.device[0] = '\0';
	archive_add(manager->past.archive, decision->domain, &entry);
}

uint64_t past_keep(struct manager *manager, uint64_t now_ns, bool still)
{
	struct past *past = &manager->past;

	if (past->archive && !manager->policy.history)
		past_stop(manager);
	if (past->archive && !archive_keep(past->archive, now_ns, still))
		past->archive = archive_close(past->archive);
	if (past->is_counted && now_ns - past->saved_ns >= SAVE_NS)
		save_days(manager, now_ns);
	return past->is_counted && past->is_unsaved ? past->saved_ns + SAVE_NS : UINT64_MAX;
}
