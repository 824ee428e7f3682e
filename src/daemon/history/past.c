// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module that all decisions pass: it puts those that change a target into the ring in memory
 * and into the archive, and counts.
 */
#include "daemon/history/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/io_model.h"
#include "shared/time.h"

int past_init(struct past *past)
{
	const struct core *core = past->core;

	past->ring = decision_ring_new(core->policy.max_decisions);
	past->stats = stats_new(core->topology);
	past->boosted = calloc(core->topology->n_domains + 1, sizeof(*past->boosted));
	if (!past->ring || !past->stats || !past->boosted)
		return -ENOMEM;
	for (uint32_t i = 0; i < core->topology->n_domains; i++)
		past->boosted[i].group = IO_BOOST_NO_GROUP;
	return 0;
}

/* Without an archive the daemon runs on. */
static int start(void *state)
{
	struct past *past = state;
	const struct core *core = past->core;
	const char *directory = core->options->state_dir;

	if (directory && core->policy.history && core->n_domains)
		archive_open(directory, core->n_domains, &past->archive);
	return 0;
}

static void stop(void *state)
{
	struct past *past = state;

	past->archive = archive_close(past->archive);
}

/* Counts the I/Os of the domain's boosted group since the last count, if it is the same group. */
static void count_gain(struct past *past, uint32_t domain)
{
	struct boosted *boosted = &past->boosted[domain];
	const struct io_group *group = engine_group(past->core->engine, boosted->group);
	uint64_t *counted, from, whole;

	if (!group)
		return;
	counted = &past->counted_ios[boosted->group];
	/* Another group has this index now. */
	if (*counted > group->tally.ios)
		*counted = 0;
	from = *counted > boosted->ios ? *counted : boosted->ios;
	*counted = boosted->ios = group->tally.ios;
	if (group->tally.ios <= from)
		return;
	boosted->gain.ios = group->tally.ios - from;
	/* Of 1 + gain, this part is the gain. */
	whole = IO_PPM + (boosted->found.gain_ppm > 0 ? (uint32_t)boosted->found.gain_ppm : 0);
	boosted->gain.gained = boosted->gain.ios * (whole - IO_PPM) / whole;
	boosted->gain.gained_error = boosted->gain.ios * boosted->found.error_ppm / whole;
	stats_add_gain(past->stats, &boosted->gain);
}

/* From now on, the I/Os of the winner's group count as boosted, if it was tried. */
static void begin_gain(struct past *past, const struct decision *decision)
{
	const struct core *core = past->core;
	const struct explained_io *io = &engine_explanation(core->engine, decision->domain)->io;
	const struct io_task *task = io_task_find(engine_tasks(core->engine), decision->pid);
	const struct io_group *group = task ? engine_group(core->engine, task->io_boost.group)
					    : NULL;
	struct boosted *boosted = &past->boosted[decision->domain];

	if (!group || !io->tried)
		return;
	*boosted = (struct boosted){ .group = task->io_boost.group,
				     .ios = group->tally.ios,
				     .found = io->found };
	memcpy(boosted->gain.comm, decision->comm, sizeof(boosted->gain.comm));
	if (tracer_device_name(core->tracer, io->device, boosted->gain.device) < 0)
		boosted->gain.device[0] = '\0';
}

static void decided(void *state, const struct decision *decision)
{
	struct past *past = state;

	count_gain(past, decision->domain);
	past->boosted[decision->domain].group = IO_BOOST_NO_GROUP;
	if (decision->reason == REASON_IO_BOOST)
		begin_gain(past, decision);
	stats_set_reason(past->stats, decision->domain, decision->reason, decision->now_ns);
}

static void target_set(void *state, uint32_t domain, uint32_t khz, uint64_t now_ns)
{
	stats_set_target(((struct past *)state)->stats, domain, khz, now_ns);
}

void past_catch_up(struct past *past)
{
	for (uint32_t i = 0; i < past->core->n_domains; i++)
		count_gain(past, i);
	stats_catch_up(past->stats, time_now_ns());
}

static void target_changed(void *state, const struct change *change)
{
	const struct decision *decision = &change->decision;
	struct past *past = state;
	_cleanup_free_ char *line = NULL;

	decision_ring_add(past->ring, change);
	if (past->archive && archive_has_room(past->archive, decision->domain, decision->now_ns))
		line = change_line(past->core, change);
	if (line)
		archive_add(past->archive, decision->domain, decision->now_ns, line);
	stats_add_decision(past->stats, decision);
}

static int add_opp(void *state, uint32_t domain)
{
	return stats_add_opp(((struct past *)state)->stats, domain);
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	struct past *past = state;

	if (past->archive && (!past->core->policy.history || archive_has_failed(past->archive)))
		stop(past);
	return past->archive ? archive_keep(past->archive, now_ns) : UINT64_MAX;
}

static void free_tables(void *state)
{
	struct past *past = state;

	free(past->ring);
	stats_free(past->stats);
	free(past->boosted);
}

const struct module past_module = {
	.name = "history",
	.start = start,
	.stop = stop,
	.free = free_tables,
	.add_opp = add_opp,
	.decided = decided,
	.target_changed = target_changed,
	.target_set = target_set,
	.next_ns = next_ns,
};
