// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the account of decisions costs: to count one, and to keep one on disk, in nanoseconds of CPU
 * time and in bytes, on a machine of two domains that decides ten times a second for each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/archive.h"
#include "daemon/stats.h"
#include "daemon/stats_file.h"
#include "shared/time.h"

#define DOMAINS	  2
#define DECISIONS 1000000
#define STEP_NS	  (100 * NS_PER_MS)
#define DAY	  20000

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct topology *make_topology(void)
{
	struct topology *topology =
		calloc(1, sizeof(*topology) + DOMAINS * sizeof(topology->domains[0]));

	topology->n_domains = DOMAINS;
	for (uint32_t i = 0; i < DOMAINS; i++) {
		topology->domains[i] = (struct topology_domain){ .n_opps = 16, .capacity = 1024 };
		snprintf(topology->domains[i].name, DOMAIN_NAME_SIZE, "policy%u", i);
		for (uint32_t opp = 0; opp < 16; opp++)
			topology->domains[i].opp_khz[opp] = 400000 + opp * 100000;
	}
	return topology;
}

/* A boost, a cap and the governor before, as much as a cause can have. */
static void count(struct stats *stats, const struct topology *topology)
{
	struct stats_cause cause = {
		.reason = REASON_IO_BOOST,
		.work_cap = 512,
		.effects = { { { STATS_IO_BOOST, "fio", "nvme0n1" }, 400000 },
			     { { STATS_CAP, "batch", "" }, 1900000 },
			     { { STATS_DOMAIN, "policy0", "schedutil" }, 700000 } },
	};
	uint64_t before_ns = cpu_ns();

	for (uint32_t i = 0; i < DECISIONS; i++) {
		struct stats_time time = { i * STEP_NS, DAY, i * STEP_NS };

		stats_set_target(stats, i % DOMAINS, topology->domains[0].opp_khz[i % 16], &time);
		stats_set_cause(stats, i % DOMAINS, &cause, &time);
	}
	printf("counted: %" PRIu64 " ns a decision\n", (cpu_ns() - before_ns) / DECISIONS);
}

static void tally(void *context, const struct history_entry *entry)
{
	++*(uint32_t *)context;
}

static void keep(const char *directory)
{
	uint64_t before_ns = cpu_ns(), now_ns = time_now_ns(), from = 0;
	struct history_entry entry = { .domain = "policy0" };
	struct archive *archive;
	uint32_t kept = 0;

	if (archive_open(directory, DOMAINS, &archive) < 0)
		exit(EXIT_FAILURE);
	for (uint32_t i = 0; i < DECISIONS; i++, now_ns += STEP_NS / DOMAINS) {
		entry.domain[6] = (char)('0' + i % DOMAINS);
		entry.entry.decision.now_ns = now_ns;
		entry.entry.decision.target_khz = 400000 + i % 16 * 100000;
		entry.entry.decision.pid = i % 1000;
		entry.entry.explanation.contenders[0].cap = i % 1024;
		archive_add(archive, i % DOMAINS, &entry);
		archive_keep(archive, now_ns, false);
	}
	printf("kept: %" PRIu64 " ns a decision", (cpu_ns() - before_ns) / DECISIONS);
	do {
		from = archive_list(archive, from, 0, tally, &kept);
	} while (from);
	printf(", of %u in %.1f hours %u\n", DECISIONS,
	       (double)DECISIONS * (STEP_NS / DOMAINS) / NS_PER_S / 3600, kept);
	archive_close(archive);
}

static void save(const char *directory, const struct stats *stats, const struct topology *topology)
{
	uint64_t before_ns = cpu_ns();

	for (int i = 0; i < 100; i++)
		if (stats_file_save(directory, stats, topology, DAY) < 0)
			exit(EXIT_FAILURE);
	printf("saved, once a minute at most: %" PRIu64 " us\n", (cpu_ns() - before_ns) / 100000);
}

int main(void)
{
	char directory[] = "/tmp/account-cost-XXXXXX", command[64];
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	if (!mkdtemp(directory))
		return EXIT_FAILURE;
	count(stats, topology);
	keep(directory);
	save(directory, stats, topology);
	snprintf(command, sizeof(command), "du -sk %s | cut -f 1", directory);
	printf("KiB on disk: ");
	fflush(stdout);
	if (system(command))
		return EXIT_FAILURE;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}
