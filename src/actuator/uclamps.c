// SPDX-License-Identifier: GPL-2.0-only
/* The table of tasks with clamps that we wrote, and the writes to one of them. */
#include "actuator/uclamps.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/uclamps_private.h"
#include "shared/cleanup.h"

#define SIZE_FIRST 256
/* The journal is rewritten when it has so many lines more than twice the tasks. */
#define JOURNAL_SPARE 4096

static const struct uclamp none = { UCLAMP_LEAST, UCLAMP_MOST };

struct uclamps *uclamps_new(const char *directory)
{
	struct uclamps *clamps = calloc(1, sizeof(*clamps));

	if (!clamps)
		return NULL;
	clamps->directory = directory;
	clamps->journal_fd = -1;
	clamps->next_ns = UINT64_MAX;
	clamps->size = SIZE_FIRST;
	clamps->entries = calloc(clamps->size, sizeof(*clamps->entries));
	return clamps->entries ? clamps : uclamps_free(clamps);
}

struct uclamps *uclamps_free(struct uclamps *clamps)
{
	if (clamps) {
		close_fdp(&clamps->journal_fd);
		free(clamps->entries);
		free(clamps);
	}
	return NULL;
}

/* Open addressing: an entry is at its hashed place or behind it, with no free place between. */
static size_t place_of(const struct uclamps *clamps, uint32_t pid)
{
	return (pid * 2654435761U) & (clamps->size - 1);
}

struct entry *uclamps_lookup(const struct uclamps *clamps, uint32_t pid)
{
	for (size_t i = place_of(clamps, pid);; i = (i + 1) & (clamps->size - 1)) {
		struct entry *entry = &clamps->entries[i];

		if (!entry->clamped.pid)
			return NULL;
		if (entry->clamped.pid == pid)
			return entry;
	}
}

void uclamps_remove(struct uclamps *clamps, struct entry *entry)
{
	size_t mask = clamps->size - 1, hole = (size_t)(entry - clamps->entries);

	clamps->n--;
	for (size_t i = (hole + 1) & mask; clamps->entries[i].clamped.pid; i = (i + 1) & mask) {
		size_t place = place_of(clamps, clamps->entries[i].clamped.pid);

		/* Whether the entry's hashed place lies at or before the hole, cyclically. */
		if (((i - place) & mask) < ((i - hole) & mask))
			continue;
		clamps->entries[hole] = clamps->entries[i];
		hole = i;
	}
	clamps->entries[hole] = (struct entry){ 0 };
}

static struct entry *put_entry(struct uclamps *clamps, const struct entry *entry)
{
	size_t i = place_of(clamps, entry->clamped.pid);

	while (clamps->entries[i].clamped.pid)
		i = (i + 1) & (clamps->size - 1);
	clamps->entries[i] = *entry;
	clamps->n++;
	return &clamps->entries[i];
}

static int grow(struct uclamps *clamps)
{
	struct uclamps before = *clamps;
	struct entry *entries = calloc(2 * clamps->size, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	clamps->entries = entries;
	clamps->size *= 2;
	clamps->n = 0;
	for (size_t i = 0; i < before.size; i++)
		if (before.entries[i].clamped.pid)
			put_entry(clamps, &before.entries[i]);
	free(before.entries);
	return 0;
}

/* Exits are not reported: drops the entries of tasks that have exited, before the table grows. */
static void sweep(struct uclamps *clamps)
{
	for (size_t i = 0; i < clamps->size; i++) {
		struct entry *entry = &clamps->entries[i];
		_cleanup_close_ int fd = -1;
		uint64_t start;

		if (!entry->clamped.pid)
			continue;
		fd = uclamp_open_task(entry->clamped.pid, &start);
		if (fd == -ESRCH || (fd >= 0 && start != entry->clamped.start)) {
			uclamps_remove(clamps, entry);
			i--; /* removal may have moved another entry here */
		}
	}
}

struct entry *uclamps_insert(struct uclamps *clamps, const struct entry *entry)
{
	if (4 * clamps->n >= 3 * clamps->size)
		sweep(clamps);
	if (2 * clamps->n >= clamps->size && grow(clamps) < 0)
		return NULL;
	return put_entry(clamps, entry);
}

/* Replaces the journal by one line for each task. */
static int start_journal(struct uclamps *clamps)
{
	_cleanup_free_ const struct uclamped **list = calloc(clamps->n + 1, sizeof(*list));
	size_t n = 0;
	int fd;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < clamps->size; i++)
		if (clamps->entries[i].clamped.pid)
			list[n++] = &clamps->entries[i].clamped;
	fd = uclamps_journal_rewrite(clamps->directory, list, n);
	if (fd < 0)
		return fd;
	close_fdp(&clamps->journal_fd);
	clamps->journal_fd = fd;
	clamps->lines = n;
	return 0;
}

static int add_line(struct uclamps *clamps, const struct uclamped *clamped)
{
	int r = 0;

	if (clamps->journal_fd < 0 || clamps->lines > 2 * clamps->n + JOURNAL_SPARE)
		r = start_journal(clamps);
	if (r == 0)
		r = uclamps_journal_add(clamps->journal_fd, clamped);
	clamps->lines += r == 0;
	return r;
}

struct uclamp uclamps_merge(struct uclamp own, struct uclamp ours)
{
	struct uclamp merged = {
		.min_cap = own.min_cap > ours.min_cap ? own.min_cap : ours.min_cap,
		.max_cap = own.max_cap < ours.max_cap ? own.max_cap : ours.max_cap,
	};

	if (merged.min_cap > merged.max_cap)
		merged.min_cap = merged.max_cap;
	return merged;
}

/* A clamp that another program changed becomes the task's own, to be merged with ours. */
static void take_foreign(struct uclamps *clamps, struct uclamped *clamped, struct uclamp now)
{
	if (now.min_cap != clamped->put.min_cap)
		clamped->own.min_cap = now.min_cap;
	if (now.max_cap != clamped->put.max_cap)
		clamped->own.max_cap = now.max_cap;
	clamps->counts.foreign += !uclamp_equals(now, clamped->put);
	clamped->put = now;
}

/*
 * The pid became another task's between our look and our write. That task's own clamps are not
 * known, so it gets the kernel's default.
 */
static void spare_stranger(const struct uclamped *clamped, struct uclamp now)
{
	struct uclamp stranger;

	if (uclamp_read(clamped->pid, &stranger) == 0 && uclamp_equals(stranger, clamped->put))
		uclamp_write(clamped->pid, now, none);
}

/*
 * Adds the line, writes, and then checks that the pid still is that task's. A write that only
 * restores the task's own clamps needs no line: a restoration finds nothing to do there.
 */
static int write_task(struct uclamps *clamps, struct uclamped *clamped, int task_fd,
		      struct uclamp merged)
{
	struct uclamp now = clamped->put;
	int r;

	clamped->was = now;
	clamped->put = merged;
	r = add_line(clamps, clamped);
	if (r == 0 || uclamp_equals(merged, clamped->own))
		r = uclamp_write(clamped->pid, now, merged);
	if (r < 0) {
		clamped->put = now;
		return r == -ESRCH ? UCLAMPS_GONE : r;
	}
	clamps->counts.writes++;
	if (uclamp_is_alive(task_fd))
		return UCLAMPS_DONE;
	spare_stranger(clamped, now);
	return UCLAMPS_GONE;
}

/* The entry of the task with this pid and start, added if need be, with its present clamps. */
static int take_entry(struct uclamps *clamps, uint32_t pid, uint64_t start, struct entry **ret)
{
	struct entry *entry = uclamps_lookup(clamps, pid);
	struct uclamp now;
	int r = uclamp_read(pid, &now);

	if (r < 0)
		return r;
	if (entry && entry->clamped.start != start) {
		uclamps_remove(clamps, entry);
		entry = NULL;
	}
	if (entry) {
		take_foreign(clamps, &entry->clamped, now);
	} else {
		const struct entry fresh = {
			.clamped = { .pid = pid, .start = start, .own = now, .put = now },
		};

		entry = uclamps_insert(clamps, &fresh);
	}
	*ret = entry;
	return entry ? 0 : -ENOMEM;
}

static bool is_none(struct uclamp ours)
{
	return ours.min_cap <= UCLAMP_LEAST && ours.max_cap >= UCLAMP_MOST;
}

void uclamps_remember(struct uclamps *clamps, const struct uclamped *clamped)
{
	clamps->recent[clamps->n_recent++ % UCLAMPS_RECENT] = *clamped;
}

/* Drops the entry of a task that is gone or has none of our clamps. */
static int finish(struct uclamps *clamps, struct entry *entry, int r, uint64_t now_ns)
{
	if (r == UCLAMPS_GONE || (r >= 0 && is_none(entry->ours))) {
		uclamps_remember(clamps, &entry->clamped);
		uclamps_remove(clamps, entry);
		return r;
	}
	if (r < 0)
		clamps->counts.refused += !entry->refused;
	entry->refused = r < 0;
	if (r == UCLAMPS_DONE)
		entry->changed_ns = now_ns;
	return r;
}

int uclamps_write_now(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns)
{
	_cleanup_close_ int task_fd = -1;
	struct entry *entry;
	struct uclamp merged;
	uint64_t start;
	int r;

	task_fd = uclamp_open_task(pid, &start);
	r = task_fd < 0 ? task_fd : take_entry(clamps, pid, start, &entry);
	if (r == -ESRCH) {
		entry = uclamps_lookup(clamps, pid);
		return entry ? finish(clamps, entry, UCLAMPS_GONE, now_ns) : UCLAMPS_GONE;
	}
	if (r < 0)
		return r;

	entry->ours = ours;
	entry->pending = false;
	merged = uclamps_merge(entry->clamped.own, ours);
	if (uclamp_equals(merged, entry->clamped.put))
		return finish(clamps, entry, UCLAMPS_UNCHANGED, now_ns);
	return finish(clamps, entry, write_task(clamps, &entry->clamped, task_fd, merged), now_ns);
}

/* Writes the first change at once, further ones at the rate limit. */
static int put_off(struct uclamps *clamps, struct entry *entry, struct uclamp ours)
{
	uint64_t due_ns = entry->changed_ns + UCLAMPS_RATE_LIMIT_NS;

	entry->ours = ours;
	entry->pending = true;
	if (due_ns < clamps->next_ns)
		clamps->next_ns = due_ns;
	return UCLAMPS_LATER;
}

int uclamps_set(struct uclamps *clamps, uint32_t pid, struct uclamp ours, uint64_t now_ns)
{
	struct entry *entry = uclamps_lookup(clamps, pid);

	if (!entry && is_none(ours))
		return UCLAMPS_UNCHANGED;
	if (entry && uclamp_equals(entry->ours, ours) && !entry->pending)
		return UCLAMPS_UNCHANGED;
	if (entry && entry->refused && !is_none(ours))
		return UCLAMPS_UNCHANGED;
	if (entry && entry->changed_ns && now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
		return put_off(clamps, entry, ours);
	return uclamps_write_now(clamps, pid, ours, now_ns);
}

uint64_t uclamps_next_ns(const struct uclamps *clamps)
{
	return clamps->next_ns;
}

int uclamps_check(struct uclamps *clamps, uint32_t pid, uint64_t now_ns)
{
	struct entry *entry = uclamps_lookup(clamps, pid);

	if (!entry || entry->refused || entry->pending)
		return UCLAMPS_UNCHANGED;
	if (now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
		return put_off(clamps, entry, entry->ours);
	return uclamps_write_now(clamps, pid, entry->ours, now_ns);
}

/* Calls one of the functions above for each task; the function may remove the entry. */
static void for_each_task(struct uclamps *clamps, uint64_t now_ns,
			  void (*look)(struct uclamps *clamps, struct entry *entry,
				       uint64_t now_ns))
{
	for (size_t i = 0; i < clamps->size; i++) {
		struct entry *entry = &clamps->entries[i];
		uint32_t pid = entry->clamped.pid;

		if (!pid)
			continue;
		look(clamps, entry, now_ns);
		/* After a removal another entry may have moved here. */
		if (entry->clamped.pid && entry->clamped.pid != pid)
			i--;
	}
}

static void check_entry(struct uclamps *clamps, struct entry *entry, uint64_t now_ns)
{
	if (entry->refused)
		uclamps_write_now(clamps, entry->clamped.pid, entry->ours, now_ns);
	else
		uclamps_check(clamps, entry->clamped.pid, now_ns);
}

void uclamps_check_all(struct uclamps *clamps, uint64_t now_ns)
{
	for_each_task(clamps, now_ns, check_entry);
}

static void flush_entry(struct uclamps *clamps, struct entry *entry, uint64_t now_ns)
{
	if (entry->pending && now_ns < entry->changed_ns + UCLAMPS_RATE_LIMIT_NS)
		put_off(clamps, entry, entry->ours);
	else if (entry->pending)
		uclamps_write_now(clamps, entry->clamped.pid, entry->ours, now_ns);
}

void uclamps_flush(struct uclamps *clamps, uint64_t now_ns)
{
	if (now_ns < clamps->next_ns)
		return;
	clamps->next_ns = UINT64_MAX;
	for_each_task(clamps, now_ns, flush_entry);
}

void uclamps_count(const struct uclamps *clamps, struct uclamps_counts *ret)
{
	*ret = clamps->counts;
	ret->tasks = (uint32_t)clamps->n;
}

bool uclamps_find(const struct uclamps *clamps, uint32_t pid, struct uclamp *ret_own,
		  struct uclamp *ret_merged)
{
	const struct entry *entry = uclamps_lookup(clamps, pid);

	if (!entry)
		return false;
	*ret_own = entry->clamped.own;
	*ret_merged = entry->clamped.put;
	return true;
}
