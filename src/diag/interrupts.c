// SPDX-License-Identifier: GPL-2.0-only
#include "diag/interrupts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"

/* Whether word contains the part as a separate name. */
static bool names_part(const char *word, size_t length, const char *part, size_t part_length)
{
	for (size_t i = 0; i + part_length <= length; i++) {
		const char *end = word + i + part_length;
		size_t left = length - i - part_length;

		if (memcmp(word + i, part, part_length) || (i && isalnum(word[i - 1])))
			continue;
		if (!left || !isalnum(*end) || (left > 1 && *end == 'q' && isdigit(end[1])))
			return true;
	}
	return false;
}

static bool has_digit(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (isdigit(text[i]))
			return true;
	return false;
}

static bool names_any_part(const char *word, size_t length, const char *path)
{
	while (*path) {
		size_t part_length = strcspn(path, "/");

		if (has_digit(path, part_length) && names_part(word, length, path, part_length))
			return true;
		path += part_length;
		path += *path == '/';
	}
	return false;
}

/* "           CPU0       CPU1": offline CPUs have no column. Returns the CPU's column, or -1. */
static int column_of(const char *header, uint32_t cpu)
{
	int column = 0;

	while ((header = strstr(header, "CPU"))) {
		header += strlen("CPU");
		if (strtoul(header, NULL, 10) == cpu)
			return column;
		column++;
	}
	return -1;
}

static int count_columns(const char *header)
{
	int n = 0;

	while ((header = strstr(header, "CPU"))) {
		header += strlen("CPU");
		n++;
	}
	return n;
}

struct search {
	const char *path;
	int column, n_columns;
	uint64_t most;
	struct interrupt found;
};

/*
 * " 38:   2   1904  IR-PCI-MSI-0000:01:00.0   3-edge      nvme0q3": number, a count per CPU, the
 * chip, perhaps with its address, the number there, and the actions, separated by commas.
 */
static void look_at(struct search *search, const char *line)
{
	unsigned long number;
	uint64_t count = 0;
	char *end;

	number = strtoul(line, &end, 10);
	if (end == line || *end != ':')
		return; /* NMI, LOC, … */
	line = end + 1;
	for (int i = 0; i < search->n_columns; i++) {
		uint64_t n = strtoull(line, &end, 10);

		if (end == line)
			return;
		if (i == search->column)
			count = n;
		line = end;
	}
	if (count <= search->most)
		return;
	line += strspn(line, " ");
	line += strcspn(line, " \n");
	while (*(line += strspn(line, " ,\n"))) {
		size_t length = strcspn(line, " ,\n");

		if (names_any_part(line, length, search->path)) {
			search->most = count;
			search->found.number = number;
			snprintf(search->found.name, sizeof(search->found.name), "%.*s",
				 (int)length, line);
			return;
		}
		line += length;
	}
}

int interrupts_find(FILE *table, const char *path, uint32_t cpu, struct interrupt *ret)
{
	struct search search = { .path = path };
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	errno = 0;
	if (getline(&line, &size, table) < 0)
		return errno ? -errno : -ENOENT;
	search.column = column_of(line, cpu);
	search.n_columns = count_columns(line);
	if (search.column < 0)
		return -ENOENT;
	while (getline(&line, &size, table) >= 0)
		look_at(&search, line);
	if (ferror(table))
		return errno ? -errno : -EIO;
	if (!search.most)
		return -ENOENT;
	*ret = search.found;
	return 0;
}

/*
 * nvme0n1 and, by another path to the same disk, nvme1c0n1 belong to nvme0; other disks to
 * themselves.
 */
static void print_instance(const char *disk, char *ret, size_t size)
{
	unsigned int subsystem, controller, namespace;

	if (sscanf(disk, "nvme%uc%un%u", &subsystem, &controller, &namespace) == 3 ||
	    sscanf(disk, "nvme%un%u", &controller, &namespace) == 2)
		snprintf(ret, size, "nvme%u", controller);
	else
		snprintf(ret, size, "%s", disk);
}

int interrupts_of_disk(const char *disk, uint32_t cpu, struct interrupt *ret)
{
	char link[PATH_MAX], instance[64], path[PATH_MAX + sizeof(instance) + 1];
	_cleanup_fclose_ FILE *table = NULL;
	_cleanup_free_ char *device = NULL;

	snprintf(link, sizeof(link), "/sys/block/%s/device", disk);
	device = realpath(link, NULL); /* loop devices and the like have none */
	print_instance(disk, instance, sizeof(instance));
	snprintf(path, sizeof(path), "%s/%s", device ? device : "", instance);

	table = fopen("/proc/interrupts", "re");
	return table ? interrupts_find(table, path, cpu, ret) : -errno;
}
