// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/affinities_private.h"
#include "shared/cleanup.h"
#include "shared/statefile.h"

#define LINE_SIZE (64 + 2 * CPU_MASK_TEXT_SIZE)

static const struct statefile log_file = { .name = AFFINITIES_FILE, .version = 1, .is_log = true };

static void print_line(char ret_line[LINE_SIZE], const struct affinity *affinity)
{
	char own[CPU_MASK_TEXT_SIZE], put[CPU_MASK_TEXT_SIZE];

	cpu_mask_print(&affinity->own, own);
	cpu_mask_print(&affinity->put, put);
	snprintf(ret_line, LINE_SIZE, "task %u %llu %s %s\n", affinity->pid,
		 (unsigned long long)affinity->start, own, put);
}

struct lines {
	const struct affinity *const *affinities;
	size_t n;
};

static void print_lines(FILE *out, const void *data)
{
	const struct lines *lines = data;
	char line[LINE_SIZE];

	for (size_t i = 0; i < lines->n; i++) {
		print_line(line, lines->affinities[i]);
		fputs(line, out);
	}
}

int affinities_log_rewrite(const char *directory, const struct affinity *const *affinities,
			   size_t n)
{
	const struct lines lines = { affinities, n };
	int r = statefile_write(directory, &log_file, print_lines, &lines);

	return r < 0 ? r : statefile_open_log(directory, &log_file);
}

int affinities_log_add(int fd, const struct affinity *affinity)
{
	char line[LINE_SIZE];

	print_line(line, affinity);
	return statefile_append(fd, line);
}

int affinities_log_remove(const char *directory)
{
	return statefile_remove(directory, &log_file);
}

/* Accepts only lines that are, to the letter, what affinities_log_add() writes. */
static bool parse_line(const char *line, struct affinity *ret)
{
	char own[CPU_MASK_TEXT_SIZE], put[CPU_MASK_TEXT_SIZE], expected[LINE_SIZE];
	unsigned long long start;

	_Static_assert(CPU_MASK_TEXT_SIZE > 280, "the widths below");
	if (strlen(line) >= LINE_SIZE - 1 ||
	    sscanf(line, "task %10u %20llu %280s %280s", &ret->pid, &start, own, put) != 4)
		return false;
	ret->start = start;
	if (!ret->pid || !cpu_mask_parse(own, &ret->own) || !cpu_mask_parse(put, &ret->put) ||
	    cpu_mask_is_empty(&ret->own))
		return false;
	print_line(expected, ret);
	expected[strlen(expected) - 1] = '\0'; /* its newline */
	return strcmp(line, expected) == 0;
}

int affinities_log_read(const char *directory, struct affinity **ret, size_t *ret_n)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	_cleanup_free_ struct affinity *affinities = NULL;
	char *line;
	int r = statefile_open(directory, &log_file, &reader);

	*ret = NULL;
	*ret_n = 0;
	if (r <= 0)
		return r;
	affinities = calloc(reader.n_max + 1, sizeof(*affinities));
	if (!affinities)
		return -ENOMEM;
	for (size_t n = 0; (r = statefile_next(&reader, &line)) > 0; n++)
		if (!parse_line(line, &affinities[n]))
			return -EBADMSG;
	*ret_n = reader.n;
	*ret = take_ptr(affinities);
	return r;
}
