// SPDX-License-Identifier: GPL-2.0-only
/* The table of restricted tasks, the writes to one task, and the log that restores them. */
#include "actuator/affinities.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "actuator/task.h"
#include "shared/cleanup.h"

static void print_masks(const void *entry, char *ret, size_t size)
{
	const struct affinity *affinity = entry;
	char own[CPU_MASK_TEXT_SIZE], put[CPU_MASK_TEXT_SIZE];

	cpu_mask_print_list(&affinity->own, own, sizeof(own));
	cpu_mask_print_list(&affinity->put, put, sizeof(put));
	snprintf(ret, size, "%s %s", own, put);
}

static bool parse_masks(const char *text, void *ret)
{
	struct affinity *affinity = ret;
	char own[CPU_MASK_TEXT_SIZE], put[CPU_MASK_TEXT_SIZE];

	_Static_assert(CPU_MASK_TEXT_SIZE > 3071, "the widths below");
	if (sscanf(text, "%3071s %3071s", own, put) != 2 ||
	    !cpu_mask_parse_list(own, &affinity->own) || !cpu_mask_parse_list(put, &affinity->put))
		return false;
	affinity->was = affinity->put;
	return !cpu_mask_is_empty(&affinity->own);
}

static void follow(void *line, const void *before)
{
	((struct affinity *)line)->was = ((const struct affinity *)before)->put;
}

/* Whether `now` is the mask that we wrote, or the result of cpuset and online CPUs on it. */
static bool is_ours(const struct affinity *affinity, uint32_t pid, const struct cpu_mask *now)
{
	struct cpu_mask limit, put;

	if (cpu_mask_equals(now, &affinity->put))
		return true;
	affinity_read_cpuset(pid, &limit);
	put = cpu_mask_and(&affinity->put, &limit);
	if (cpu_mask_equals(now, &put))
		return true;
	/* The kernel resets an affinity none of whose CPUs is online. */
	affinity_read_online(&limit);
	put = cpu_mask_and(&put, &limit);
	return cpu_mask_is_empty(&put);
}

static void report_task(struct task_restore *run, uint32_t pid, const struct affinity *affinity,
			enum restore_outcome outcome, const struct cpu_mask *now, int error)
{
	char own[256], current[256] = "";

	cpu_mask_print_list(&affinity->own, own, sizeof(own));
	if (now)
		cpu_mask_print_list(now, current, sizeof(current));
	task_restore_report(run, pid, outcome, own, current, error);
}

/*
 * Restores the task's own affinity if the task still has ours, or the one before it: the daemon may
 * have been killed between line and write.
 */
static void restore_own(struct task_restore *run, uint32_t pid, const void *line)
{
	const struct affinity *affinity = line;
	struct cpu_mask now;
	int r = affinity_read(pid, &now);

	if (r == 0 && cpu_mask_equals(&now, &affinity->own))
		return;
	if (r == 0 && !cpu_mask_equals(&now, &affinity->was) && !is_ours(affinity, pid, &now)) {
		report_task(run, pid, affinity, RESTORE_TAKEN_OVER, &now, 0);
		return;
	}
	if (r == 0)
		r = affinity_write(pid, &affinity->own);
	if (r == 0)
		run->done++;
	else if (r != -ESRCH)
		report_task(run, pid, affinity, RESTORE_FAILED, NULL, r);
}

static bool read_child(uint32_t pid, void *ret)
{
	return affinity_read(pid, &((struct affinity *)ret)->put) == 0;
}

static bool gave(const void *line, const void *child)
{
	return cpu_mask_equals(&((const struct affinity *)line)->put,
			       &((const struct affinity *)child)->put);
}

const struct task_log_kind affinities_log = {
	.file = { .name = "affinities", .version = 2, .is_log = true },
	.what = "affinity",
	.max_tasks = AFFINITIES_MAX,
	.size = sizeof(struct affinity),
	.print = print_masks,
	.parse = parse_masks,
	.follow = follow,
	.restore = restore_own,
	.read = read_child,
	.gave = gave,
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

void affinities_forget(struct affinities *affinities, uint32_t pid)
{
	struct affinity *affinity = task_log_find(&affinities->log, pid);

	if (!affinity)
		return;
	affinity->task.kept = false;
	task_log_drop(&affinities->log, affinity);
}

static struct affinity *add(struct affinities *affinities, const struct affinity *entry)
{
	struct affinity *added = task_log_add(&affinities->log, entry), *released = NULL;

	if (added)
		return added;
	/* Entries of released tasks stay only to recognise their children. */
	while ((released = task_log_next(&affinities->log, released)))
		if (!released->task.kept)
			task_log_drop(&affinities->log, released);
	return task_log_add(&affinities->log, entry);
}

/* The affinity to restore: "every CPU" if the task may run on its whole cpuset. */
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
	_cleanup_close_ int fd = task_open(pid, ret_start);
	int r = fd < 0 ? fd : affinity_read(pid, ret_now);

	*ret_entry = task_log_find(&affinities->log, pid);
	if (r == 0 && !task_is_alive(fd))
		r = -ESRCH;
	if (*ret_entry && (r == -ESRCH || (*ret_entry)->task.start != *ret_start)) {
		affinities_forget(affinities, pid);
		*ret_entry = NULL;
	}
	return r;
}

static int mark_taken_over(struct affinities *affinities, struct affinity *entry)
{
	entry->task.kept = false;
	entry->foreign = true;
	affinities->foreign++;
	return AFFINITIES_TAKEN_OVER;
}

static int give_back(struct affinities *affinities, struct affinity *entry,
		     const struct cpu_mask *now)
{
	int r;

	if (!is_ours(entry, entry->task.pid, now))
		return mark_taken_over(affinities, entry);
	r = affinity_write(entry->task.pid, &entry->own);
	if (r < 0 && r != -ESRCH)
		return r;
	entry->task.kept = false;
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
	return give_back(affinities, entry, &now);
}

/* Writes the line before the affinity. On failure the task and its entry are unchanged. */
static int write_mask(struct affinities *affinities, struct affinity *entry,
		      const struct cpu_mask *mask)
{
	const struct cpu_mask before = entry->put;
	int r;

	entry->was = before;
	entry->put = *mask;
	r = task_log_add_line(&affinities->log, entry);
	if (r == 0)
		r = affinity_write(entry->task.pid, mask);
	if (r < 0) {
		entry->put = before;
		affinities->refused += r != -ESRCH;
		return r == -ESRCH ? AFFINITIES_GONE : r;
	}
	entry->task.kept = true;
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
	if (entry && entry->task.kept && !is_ours(entry, pid, &now))
		return mark_taken_over(affinities, entry);
	if (entry && entry->foreign)
		return AFFINITIES_TAKEN_OVER;
	own = entry && entry->task.kept ? entry->own : own_affinity(affinities, pid, &now);
	mask = cpu_mask_and(&own, cpus);
	affinity_read_cpuset(pid, &cpuset);
	within = cpu_mask_and(&mask, &cpuset);
	if (cpu_mask_is_empty(&within)) {
		if (entry && entry->task.kept)
			give_back(affinities, entry, &now);
		return AFFINITIES_OUTSIDE;
	}
	if (cpu_mask_equals(&now, &within))
		return AFFINITIES_UNCHANGED;
	if (!entry)
		entry = add(affinities, &(struct affinity){ .task = { pid, false, start } });
	if (!entry) {
		affinities->refused++;
		return -ENOSPC;
	}
	if (!entry->task.kept)
		entry->put = now;
	entry->own = own;
	return write_mask(affinities, entry, &mask);
}

bool affinities_forked(struct affinities *affinities, uint32_t parent, uint32_t child)
{
	const struct affinity *from = task_log_find(&affinities->log, parent);
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
	if (cpu_mask_equals(&now, &inherited.own) || !is_ours(&inherited, child, &now))
		return false;
	entry = add(affinities, &inherited);
	if (!entry)
		return false;
	entry->task.kept = true;
	task_log_add_line(&affinities->log, entry);
	return true;
}

bool affinities_knows(const struct affinities *affinities, uint32_t pid)
{
	return task_log_find(&affinities->log, pid);
}
