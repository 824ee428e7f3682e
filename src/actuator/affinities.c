// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks whose affinity the daemon has set, and the writes to one of them. */
#include "actuator/affinities.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "actuator/affinities_private.h"
#include "actuator/affinity_task.h"
#include "actuator/restore_tasks.h"
#include "actuator/uclamp_task.h"
#include "shared/cleanup.h"

struct affinities {
	struct task_log log;
	uint32_t n_present; /* CPUs of the machine */
	struct affinities_counts counts;
};

struct affinities *affinities_new(const char *directory)
{
	struct affinities *affinities = calloc(1, sizeof(*affinities));

	if (!affinities)
		return NULL;
	affinities->n_present = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	return task_log_init(&affinities->log, &affinities_log, directory)
		       ? affinities
		       : affinities_free(affinities);
}

struct affinities *affinities_free(struct affinities *affinities)
{
	if (affinities)
		task_log_deinit(&affinities->log);
	free(affinities);
	return NULL;
}

static struct affinity *find(const struct affinities *affinities, uint32_t pid)
{
	return task_log_find(&affinities->log, pid);
}

static void set_kept(struct affinities *affinities, struct affinity *affinity, bool kept)
{
	affinities->counts.kept += kept - affinity->task.kept;
	affinity->task.kept = kept;
}

void affinities_forget(struct affinities *affinities, uint32_t pid)
{
	struct affinity *affinity = find(affinities, pid);

	if (!affinity)
		return;
	set_kept(affinities, affinity, false);
	task_log_drop(&affinities->log, affinity);
}

static struct affinity *add(struct affinities *affinities, const struct affinity *entry)
{
	struct affinity *added = task_log_put(&affinities->log, entry), *released = NULL;

	if (added)
		return added;
	/* Entries of released tasks stay only to recognise their children. */
	while ((released = task_log_next(&affinities->log, released)))
		if (!released->task.kept)
			task_log_drop(&affinities->log, released);
	return task_log_put(&affinities->log, entry);
}

/* The affinity to restore: "every CPU" where the task may run on its whole cpuset. */
static struct cpu_mask own_affinity(const struct affinities *affinities, uint32_t pid,
				    const struct cpu_mask *now)
{
	struct cpu_mask present = { 0 }, cpuset;

	for (uint32_t cpu = 0; cpu < affinities->n_present; cpu++)
		cpu_mask_add(&present, cpu);
	if (cpu_mask_is_in(&present, now))
		return cpu_mask_all();
	affinity_read_cpuset(pid, &cpuset);
	return cpu_mask_is_in(&cpuset, now) ? cpu_mask_all() : *now;
}

/*
 * Reads the task's start and affinity, and finds its entry. Drops an entry of an earlier task with
 * the same pid.
 */
static int identify(struct affinities *affinities, uint32_t pid, uint64_t *ret_start,
		    struct affinity **ret_entry, struct cpu_mask *ret_now)
{
	_cleanup_close_ int fd = uclamp_open_task(pid, ret_start);
	int r = fd < 0 ? fd : affinity_read(pid, ret_now);

	*ret_entry = find(affinities, pid);
	if (r == 0 && !uclamp_is_alive(fd))
		r = -ESRCH;
	if (*ret_entry && (r == -ESRCH || (*ret_entry)->task.start != *ret_start)) {
		affinities_forget(affinities, pid);
		*ret_entry = NULL;
	}
	return r;
}

static int take_over(struct affinities *affinities, struct affinity *entry)
{
	set_kept(affinities, entry, false);
	entry->foreign = true;
	affinities->counts.foreign++;
	return AFFINITIES_TAKEN_OVER;
}

static int restore_own(struct affinities *affinities, struct affinity *entry,
		       const struct cpu_mask *now)
{
	int r;

	if (!affinity_is_ours(entry, now))
		return take_over(affinities, entry);
	r = affinity_write(entry->task.pid, &entry->own);
	if (r < 0 && r != -ESRCH)
		return r;
	set_kept(affinities, entry, false);
	return r == -ESRCH ? AFFINITIES_GONE : AFFINITIES_DONE;
}

int affinities_release_task(struct affinities *affinities, uint32_t pid)
{
	struct cpu_mask now;
	struct affinity *entry;
	uint64_t start;
	int r;

	if (!affinities_knows(affinities, pid))
		return AFFINITIES_UNCHANGED;
	r = identify(affinities, pid, &start, &entry, &now);
	if (r == -ESRCH)
		return AFFINITIES_GONE;
	if (r < 0 || !entry || !entry->task.kept)
		return r < 0 ? r : AFFINITIES_UNCHANGED;
	return restore_own(affinities, entry, &now);
}

/* Writes the line before the affinity. On failure the task and its entry are unchanged. */
static int write_mask(struct affinities *affinities, struct affinity *entry,
		      const struct cpu_mask *mask)
{
	const struct cpu_mask before = entry->put;
	int r;

	entry->put = *mask;
	r = task_log_add_line(&affinities->log, entry);
	if (r == 0)
		r = affinity_write(entry->task.pid, mask);
	if (r < 0) {
		entry->put = before;
		affinities->counts.refused += r != -ESRCH;
		return r == -ESRCH ? AFFINITIES_GONE : r;
	}
	set_kept(affinities, entry, true);
	return AFFINITIES_DONE;
}

int affinities_keep(struct affinities *affinities, uint32_t pid, const struct cpu_mask *cpus)
{
	struct cpu_mask now, own, mask, cpuset, within;
	struct affinity *entry;
	uint64_t start;
	int r = identify(affinities, pid, &start, &entry, &now);

	if (r < 0)
		return r == -ESRCH ? AFFINITIES_GONE : r;
	if (entry && entry->task.kept && !affinity_is_ours(entry, &now))
		return take_over(affinities, entry);
	if (entry && entry->foreign)
		return AFFINITIES_TAKEN_OVER;
	own = entry && entry->task.kept ? entry->own : own_affinity(affinities, pid, &now);
	mask = cpu_mask_and(&own, cpus);
	affinity_read_cpuset(pid, &cpuset);
	within = cpu_mask_and(&mask, &cpuset);
	if (cpu_mask_is_empty(&within)) {
		if (entry && entry->task.kept)
			restore_own(affinities, entry, &now);
		return AFFINITIES_OUTSIDE;
	}
	if (cpu_mask_equals(&now, &within))
		return AFFINITIES_UNCHANGED;
	if (!entry)
		entry = add(affinities, &(struct affinity){ .task = { pid, false, start } });
	if (!entry) {
		affinities->counts.refused++;
		return -ENOSPC;
	}
	if (!entry->task.kept)
		entry->put = now;
	entry->own = own;
	return write_mask(affinities, entry, &mask);
}

bool affinities_forked(struct affinities *affinities, uint32_t parent, uint32_t child)
{
	const struct affinity *from = find(affinities, parent);
	struct affinity inherited, *entry;
	struct cpu_mask now;
	uint64_t start;

	if (!from || child == parent)
		return false;
	inherited = *from;
	if (identify(affinities, child, &start, &entry, &now) < 0 || entry)
		return entry && entry->task.kept;
	inherited.task = (struct logged_task){ child, false, start };
	inherited.foreign = false;
	if (cpu_mask_equals(&now, &inherited.own) || !affinity_is_ours(&inherited, &now))
		return false;
	entry = add(affinities, &inherited);
	if (!entry)
		return false;
	set_kept(affinities, entry, true);
	task_log_add_line(&affinities->log, entry);
	return true;
}

bool affinities_knows(const struct affinities *affinities, uint32_t pid)
{
	return find(affinities, pid);
}

int affinities_release(struct affinities *affinities, restore_report_t report, void *userdata)
{
	struct restore_tasks run = { report, userdata, &affinities_kind };
	const struct affinity *affinity = NULL;

	while ((affinity = task_log_next(&affinities->log, affinity)))
		if (affinity->task.kept)
			affinity_restore(&run, affinity);
	task_log_clear(&affinities->log);
	affinities->counts.kept = 0;
	return restore_tasks_finish(&run, affinities->log.directory);
}

void affinities_count(const struct affinities *affinities, struct affinities_counts *ret)
{
	*ret = affinities->counts;
}
