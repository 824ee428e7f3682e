// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks whose affinity the daemon has set, and the writes to one of them. */
#include "actuator/affinities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/affinities_private.h"
#include "actuator/affinity_task.h"
#include "actuator/restore_tasks.h"
#include "actuator/uclamp_task.h"
#include "core/pid_index.h"
#include "shared/cleanup.h"

/* The log is rewritten when it has so many lines more than twice the tasks that are kept. */
#define LOG_SPARE 4096

struct entry {
	struct affinity affinity;
	bool kept;
	bool foreign; /* another program set the affinity while the task was kept */
};

struct affinities {
	const char *directory;
	int log_fd;	    /* −1: no line was written yet */
	size_t lines;	    /* of the log */
	uint32_t n_present; /* CPUs of the machine */
	struct pid_index *index;
	struct entry *entries;
	struct affinities_counts counts;
};

struct affinities *affinities_new(const char *directory)
{
	struct affinities *affinities = calloc(1, sizeof(*affinities));

	if (!affinities)
		return NULL;
	affinities->directory = directory;
	affinities->log_fd = -1;
	affinities->n_present = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	affinities->index = pid_index_new(AFFINITIES_MAX);
	affinities->entries = calloc(AFFINITIES_MAX, sizeof(*affinities->entries));
	if (!affinities->index || !affinities->entries)
		return affinities_free(affinities);
	return affinities;
}

struct affinities *affinities_free(struct affinities *affinities)
{
	if (!affinities)
		return NULL;
	close_fdp(&affinities->log_fd);
	pid_index_free(affinities->index);
	free(affinities->entries);
	free(affinities);
	return NULL;
}

static struct entry *find(const struct affinities *affinities, uint32_t pid)
{
	uint32_t place = pid_index_find(affinities->index, pid);

	return place == PID_INDEX_NONE ? NULL : &affinities->entries[place];
}

static void set_kept(struct affinities *affinities, struct entry *entry, bool kept)
{
	affinities->counts.kept += kept - entry->kept;
	entry->kept = kept;
}

void affinities_forget(struct affinities *affinities, uint32_t pid)
{
	struct entry *entry = find(affinities, pid);

	if (!entry)
		return;
	set_kept(affinities, entry, false);
	pid_index_remove(affinities->index, entry - affinities->entries);
}

/* Drops the entries of released tasks; they stay in the table only to recognise their children. */
static void forget_released(struct affinities *affinities)
{
	uint32_t place = pid_index_next(affinities->index, 0);

	for (; place != PID_INDEX_NONE; place = pid_index_next(affinities->index, place + 1))
		if (!affinities->entries[place].kept)
			pid_index_remove(affinities->index, place);
}

static struct entry *add(struct affinities *affinities, uint32_t pid, uint64_t start)
{
	uint32_t place;

	affinities_forget(affinities, pid);
	if (pid_index_count(affinities->index) == AFFINITIES_MAX)
		forget_released(affinities);
	place = pid_index_add(affinities->index, pid);
	if (place == PID_INDEX_NONE)
		return NULL;
	affinities->entries[place] = (struct entry){ .affinity = { .pid = pid, .start = start } };
	return &affinities->entries[place];
}

/* Replaces the log by one line for each task that is kept. */
static int start_log(struct affinities *affinities)
{
	uint32_t n_entries = pid_index_count(affinities->index), place = 0;
	_cleanup_free_ const struct affinity **list = calloc(n_entries + 1, sizeof(*list));
	size_t n = 0;
	int fd;

	if (!list)
		return -ENOMEM;
	while ((place = pid_index_next(affinities->index, place)) != PID_INDEX_NONE) {
		if (affinities->entries[place].kept)
			list[n++] = &affinities->entries[place].affinity;
		place++;
	}
	fd = affinities_log_rewrite(affinities->directory, list, n);
	if (fd < 0)
		return fd;
	close_fdp(&affinities->log_fd);
	affinities->log_fd = fd;
	affinities->lines = n;
	return 0;
}

static int add_line(struct affinities *affinities, const struct affinity *affinity)
{
	int r = 0;

	if (affinities->log_fd < 0 || affinities->lines > 2 * affinities->counts.kept + LOG_SPARE)
		r = start_log(affinities);
	if (r == 0)
		r = affinities_log_add(affinities->log_fd, affinity);
	affinities->lines += r == 0;
	return r;
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
		    struct entry **ret_entry, struct cpu_mask *ret_now)
{
	_cleanup_close_ int fd = uclamp_open_task(pid, ret_start);
	int r = fd < 0 ? fd : affinity_read(pid, ret_now);

	*ret_entry = find(affinities, pid);
	if (r == 0 && !uclamp_is_alive(fd))
		r = -ESRCH;
	if (*ret_entry && (r == -ESRCH || (*ret_entry)->affinity.start != *ret_start)) {
		affinities_forget(affinities, pid);
		*ret_entry = NULL;
	}
	return r;
}

static int take_over(struct affinities *affinities, struct entry *entry)
{
	set_kept(affinities, entry, false);
	entry->foreign = true;
	affinities->counts.foreign++;
	return AFFINITIES_TAKEN_OVER;
}

static int restore_own(struct affinities *affinities, struct entry *entry,
		       const struct cpu_mask *now)
{
	int r;

	if (!affinity_is_ours(&entry->affinity, now))
		return take_over(affinities, entry);
	r = affinity_write(entry->affinity.pid, &entry->affinity.own);
	if (r < 0 && r != -ESRCH)
		return r;
	set_kept(affinities, entry, false);
	return r == -ESRCH ? AFFINITIES_GONE : AFFINITIES_DONE;
}

int affinities_release_task(struct affinities *affinities, uint32_t pid)
{
	struct cpu_mask now;
	struct entry *entry;
	uint64_t start;
	int r;

	if (!affinities_knows(affinities, pid))
		return AFFINITIES_UNCHANGED;
	r = identify(affinities, pid, &start, &entry, &now);
	if (r == -ESRCH)
		return AFFINITIES_GONE;
	if (r < 0 || !entry || !entry->kept)
		return r < 0 ? r : AFFINITIES_UNCHANGED;
	return restore_own(affinities, entry, &now);
}

/* Writes the line before the affinity. On failure the task and its entry are unchanged. */
static int write_mask(struct affinities *affinities, struct entry *entry,
		      const struct cpu_mask *mask)
{
	struct affinity *affinity = &entry->affinity;
	const struct cpu_mask before = affinity->put;
	int r;

	affinity->put = *mask;
	r = add_line(affinities, affinity);
	if (r == 0)
		r = affinity_write(affinity->pid, mask);
	if (r < 0) {
		affinity->put = before;
		affinities->counts.refused += r != -ESRCH;
		return r == -ESRCH ? AFFINITIES_GONE : r;
	}
	set_kept(affinities, entry, true);
	return AFFINITIES_DONE;
}

int affinities_keep(struct affinities *affinities, uint32_t pid, const struct cpu_mask *cpus)
{
	struct cpu_mask now, own, mask, cpuset, within;
	struct entry *entry;
	uint64_t start;
	int r = identify(affinities, pid, &start, &entry, &now);

	if (r < 0)
		return r == -ESRCH ? AFFINITIES_GONE : r;
	if (entry && entry->kept && !affinity_is_ours(&entry->affinity, &now))
		return take_over(affinities, entry);
	if (entry && entry->foreign)
		return AFFINITIES_TAKEN_OVER;
	own = entry && entry->kept ? entry->affinity.own : own_affinity(affinities, pid, &now);
	mask = cpu_mask_and(&own, cpus);
	affinity_read_cpuset(pid, &cpuset);
	within = cpu_mask_and(&mask, &cpuset);
	if (cpu_mask_is_empty(&within)) {
		if (entry && entry->kept)
			restore_own(affinities, entry, &now);
		return AFFINITIES_OUTSIDE;
	}
	if (cpu_mask_equals(&now, &within))
		return AFFINITIES_UNCHANGED;
	if (!entry)
		entry = add(affinities, pid, start);
	if (!entry) {
		affinities->counts.refused++;
		return -ENOSPC;
	}
	if (!entry->kept)
		entry->affinity.put = now;
	entry->affinity.own = own;
	return write_mask(affinities, entry, &mask);
}

bool affinities_forked(struct affinities *affinities, uint32_t parent, uint32_t child)
{
	const struct entry *from = find(affinities, parent);
	struct affinity inherited;
	struct entry *entry;
	struct cpu_mask now;
	uint64_t start;

	if (!from || child == parent)
		return false;
	inherited = from->affinity;
	if (identify(affinities, child, &start, &entry, &now) < 0 || entry)
		return entry && entry->kept;
	inherited.pid = child;
	inherited.start = start;
	if (cpu_mask_equals(&now, &inherited.own) || !affinity_is_ours(&inherited, &now))
		return false;
	entry = add(affinities, child, start);
	if (!entry)
		return false;
	entry->affinity = inherited;
	set_kept(affinities, entry, true);
	add_line(affinities, &inherited);
	return true;
}

bool affinities_knows(const struct affinities *affinities, uint32_t pid)
{
	return find(affinities, pid);
}

int affinities_release(struct affinities *affinities, restore_report_t report, void *userdata)
{
	struct restore_tasks run = { report, userdata, .what = "affinity" };
	uint32_t place = pid_index_next(affinities->index, 0);
	int r;

	for (; place != PID_INDEX_NONE; place = pid_index_next(affinities->index, place + 1))
		if (affinities->entries[place].kept)
			affinity_restore(&run, &affinities->entries[place].affinity);
	while ((place = pid_index_next(affinities->index, 0)) != PID_INDEX_NONE)
		affinities_forget(affinities, affinities->entries[place].affinity.pid);
	close_fdp(&affinities->log_fd);
	affinities->log_fd = -1;
	r = run.error ? 0 : affinities_log_remove(affinities->directory);
	return restore_tasks_finish(&run) ?: r;
}

void affinities_count(const struct affinities *affinities, struct affinities_counts *ret)
{
	*ret = affinities->counts;
}
