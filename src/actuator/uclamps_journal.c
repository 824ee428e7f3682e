// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/uclamps_journal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/statefile.h"

#define LINE_SIZE 96

static const struct statefile journal = { .name = "clamps", .version = 1, .is_log = true };

static void print_line(char ret_line[LINE_SIZE], const struct uclamped *clamped)
{
	snprintf(ret_line, LINE_SIZE, "task %u %llu %u-%u %u-%u\n", clamped->pid,
		 (unsigned long long)clamped->start, clamped->own.min_cap, clamped->own.max_cap,
		 clamped->put.min_cap, clamped->put.max_cap);
}

struct lines {
	const struct uclamped *const *clamped;
	size_t n;
};

static void print_lines(FILE *out, const void *data)
{
	const struct lines *lines = data;
	char line[LINE_SIZE];

	for (size_t i = 0; i < lines->n; i++) {
		print_line(line, lines->clamped[i]);
		fputs(line, out);
	}
}

int uclamps_journal_rewrite(const char *directory, const struct uclamped *const *clamped, size_t n)
{
	const struct lines lines = { clamped, n };
	int r = statefile_write(directory, &journal, print_lines, &lines);

	return r < 0 ? r : statefile_open_log(directory, &journal);
}

int uclamps_journal_add(int fd, const struct uclamped *clamped)
{
	char line[LINE_SIZE];

	print_line(line, clamped);
	return statefile_append(fd, line);
}

int uclamps_journal_remove(const char *directory)
{
	return statefile_remove(directory, &journal);
}

static bool is_clamp(unsigned int min, unsigned int max)
{
	return min <= UCLAMP_MOST && max <= UCLAMP_MOST;
}

/* Accepts only lines that are, to the letter, what uclamps_journal_add() writes. */
static bool parse_line(const char *line, struct uclamped *ret)
{
	unsigned int pid, own_min, own_max, put_min, put_max;
	char expected[LINE_SIZE];
	unsigned long long start;

	if (sscanf(line, "task %10u %20llu %4u-%4u %4u-%4u", &pid, &start, &own_min, &own_max,
		   &put_min, &put_max) != 6)
		return false;
	if (!pid || !is_clamp(own_min, own_max) || !is_clamp(put_min, put_max))
		return false;
	*ret = (struct uclamped){
		.pid = pid,
		.start = start,
		.own = { own_min, own_max },
		.put = { put_min, put_max },
	};
	ret->was = ret->own;
	print_line(expected, ret);
	expected[strlen(expected) - 1] = '\0'; /* its newline */
	return strcmp(line, expected) == 0;
}

/* Sorted by pid, then start, then the order of the lines. */
struct numbered {
	struct uclamped clamped;
	size_t line;
};

static int compare(const void *one, const void *other)
{
	const struct numbered *a = one, *b = other;

	if (a->clamped.pid != b->clamped.pid)
		return a->clamped.pid < b->clamped.pid ? -1 : 1;
	if (a->clamped.start != b->clamped.start)
		return a->clamped.start < b->clamped.start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/*
 * Keeps the last line of each task, with the clamps of the line before it in `was`. Returns their
 * number.
 */
static size_t merge_lines(struct numbered *lines, size_t n, struct uclamped *ret)
{
	size_t n_tasks = 0;

	qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0; i < n; i++) {
		struct uclamped *last = n_tasks ? &ret[n_tasks - 1] : NULL;
		struct uclamped *next = &lines[i].clamped;

		if (!last || last->pid != next->pid || last->start != next->start) {
			ret[n_tasks++] = *next;
			continue;
		}
		next->was = last->put;
		*last = *next;
	}
	return n_tasks;
}

int uclamps_journal_read(const char *directory, struct uclamped **ret, size_t *ret_n)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	_cleanup_free_ struct uclamped *clamped = NULL;
	_cleanup_free_ struct numbered *lines = NULL;
	char *line;
	int r = statefile_open(directory, &journal, &reader);

	*ret = NULL;
	*ret_n = 0;
	if (r <= 0)
		return r;
	lines = calloc(reader.n_max + 1, sizeof(*lines));
	clamped = calloc(reader.n_max + 1, sizeof(*clamped));
	if (!lines || !clamped)
		return -ENOMEM;
	for (size_t n = 0; (r = statefile_next(&reader, &line)) > 0; n++) {
		if (!parse_line(line, &lines[n].clamped))
			return -EBADMSG;
		lines[n].line = n;
	}
	*ret_n = merge_lines(lines, reader.n, clamped);
	*ret = take_ptr(clamped);
	return r;
}
