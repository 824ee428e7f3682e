// SPDX-License-Identifier: GPL-2.0-only
/*
 * Advice from findings: interrupts in another domain than their readers, other programs that set
 * frequencies.
 */
#include "diag/diag.h"

#include <ctype.h>
#include <limits.h>
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

/* A part of a path without a digit names a kind of thing, not an instance. */
static bool names_any_part(const char *word, size_t length, const char *path)
{
	while (*path) {
		size_t part_length = strcspn(path, "/");

		if (strcspn(path, "0123456789") < part_length &&
		    names_part(word, length, path, part_length))
			return true;
		path += part_length;
		path += *path == '/';
	}
	return false;
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
static void check_line(struct search *search, const char *line)
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

bool interrupts_find(FILE *table, const char *path, uint32_t cpu, struct interrupt *ret)
{
	struct search search = { .path = path, .column = -1 };
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, table) < 0)
		return false;
	/* "           CPU0       CPU1": offline CPUs have no column. */
	for (const char *at = line; (at = strstr(at, "CPU")); search.n_columns++) {
		at += strlen("CPU");
		if (strtoul(at, NULL, 10) == cpu)
			search.column = search.n_columns;
	}
	while (search.column >= 0 && getline(&line, &size, table) >= 0)
		check_line(&search, line);
	if (ferror(table) || !search.most)
		return false;
	*ret = search.found;
	return true;
}

bool interrupts_of_disk(const char *disk, uint32_t cpu, struct interrupt *ret)
{
	char link[PATH_MAX], instance[64], path[PATH_MAX + sizeof(instance) + 1];
	unsigned int subsystem, controller, namespace;
	_cleanup_fclose_ FILE *table = NULL;
	_cleanup_free_ char *device = NULL;

	snprintf(link, sizeof(link), "/sys/block/%s/device", disk);
	device = realpath(link, NULL); /* loop devices and the like have none */
	/* nvme0n1 and, by another path to the same disk, nvme1c0n1 belong to nvme0. */
	if (sscanf(disk, "nvme%uc%un%u", &subsystem, &controller, &namespace) == 3 ||
	    sscanf(disk, "nvme%un%u", &controller, &namespace) == 2)
		snprintf(instance, sizeof(instance), "nvme%u", controller);
	else
		snprintf(instance, sizeof(instance), "%s", disk);
	snprintf(path, sizeof(path), "%s/%s", device ? device : "", instance);

	table = fopen("/proc/interrupts", "re");
	return table && interrupts_find(table, path, cpu, ret);
}

bool advice_find_misplacement(const struct engine *engine, const struct topology *topology,
			      uint32_t device, struct misplacement *ret)
{
	const struct io_device *io_device = engine_device(engine, device);
	struct misplacement found = {
		.cpu = io_device->totals.completion_cpu,
		.completion_domain = io_device->completion_domain,
	};
	const struct io_task *task = NULL;
	uint32_t highest_rate = 0;

	if (!io_device->present || found.completion_domain >= topology->n_domains ||
	    io_device->n_completed_there < 4)
		return false;
	while ((task = engine_next_user(engine, device, task))) {
		uint32_t domain = topology_domain_of(topology, task->cpu);

		if (io_boost_is_over(&task->io_boost) || domain == TOPOLOGY_NO_DOMAIN)
			continue;
		if (domain == found.completion_domain)
			return false;
		if (!found.n_tasks++ || task->io_boost.rate_per_s > highest_rate) {
			highest_rate = task->io_boost.rate_per_s;
			found.task_domain = domain;
		}
	}
	if (found.n_tasks)
		*ret = found;
	return found.n_tasks;
}
