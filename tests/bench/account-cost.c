// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the account of decisions costs: to count one, and to keep one on disk, in nanoseconds of CPU
 * time and in bytes, on a machine of two domains that decides ten times a second for each; and to
 * find one in a full week, of a domain that decides every second and of one that is silent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/history/past.h"
#include "daemon/history/stats.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define DOMAINS	  2
#define DECISIONS 1000000
#define STEP_NS	  (100 * NS_PER_MS)
#define DAY_S	  86400ULL
#define WEEK_DAYS 9 /* with what pushes out what is older than a week */
#define FINDS	  20

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

static void count(const struct topology *topology)
{
	struct stats *stats = stats_new(topology);
	uint64_t before_ns = cpu_ns();

	for (uint32_t i = 0; i < DECISIONS; i++) {
		stats_set_target(stats, i % DOMAINS, topology->domains[0].opp_khz[i % 16],
				 i * STEP_NS);
		stats_set_reason(stats, i % DOMAINS, i % (REASON_LAST + 1), i * STEP_NS);
	}
	printf("counted: %" PRIu64 " ns a decision\n", (cpu_ns() - before_ns) / DECISIONS);
	stats_free(stats);
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

/* policy0 and policy1 decide every second, policy2 once, in the middle. */
static uint64_t fill_week(struct archive *archive)
{
	uint64_t start_ns = time_now_ns();
	struct history_entry entry = { .domain = "policy0" };

	for (uint64_t s = 0; s < WEEK_DAYS * DAY_S; s++)
		for (uint32_t domain = 0; domain < DOMAINS + (s == WEEK_DAYS * DAY_S / 2);
		     domain++) {
			entry.domain[6] = (char)('0' + domain);
			entry.entry.decision.now_ns = start_ns + s * NS_PER_S;
			entry.entry.decision.target_khz = 400000 + s % 16 * 100000;
			entry.entry.decision.pid = (uint32_t)s % 1000;
			entry.entry.explanation.contenders[0].cap = (uint32_t)s % 1024;
			archive_add(archive, domain, &entry);
			archive_keep(archive, entry.entry.decision.now_ns, false);
		}
	return entry.realtime_us;
}

static void find(const char *directory)
{
	static const struct {
		const char *domain;
		double days;
	} cases[] = { { "policy0", 0 },	 { "policy0", 1 }, { "policy0", 4 }, { "policy0", 7 },
		      { "policy0", 30 }, { "policy2", 0 }, { "policy2", 6 }, { "policy3", 0 } };
	struct history_entry entry;
	struct archive *archive;
	uint32_t left_out, n = 0;
	uint64_t now_us, from = 0, before_ns;

	if (archive_open(directory, DOMAINS + 2, &archive) < 0)
		exit(EXIT_FAILURE);
	now_us = fill_week(archive);
	do {
		from = archive_list(archive, from, 0, tally, &n);
	} while (from);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t at_us = now_us - (uint64_t)(cases[i].days * DAY_S) * US_PER_S;
		bool found = false;

		before_ns = cpu_ns();
		for (int j = 0; j < FINDS; j++)
			found = archive_find(archive, cases[i].domain, at_us, &entry, &left_out);
		printf("found among %u, %s of %g days ago (%s): %" PRIu64 " us\n", n,
		       cases[i].domain, cases[i].days, found ? "there is one" : "there is none",
		       (cpu_ns() - before_ns) / FINDS / (uint64_t)NS_PER_US);
	}
	archive_close(archive);
	before_ns = cpu_ns();
	if (archive_open(directory, DOMAINS + 2, &archive) < 0)
		exit(EXIT_FAILURE);
	printf("opened again: %" PRIu64 " us\n", (cpu_ns() - before_ns) / (uint64_t)NS_PER_US);
	archive_close(archive);
}

int main(void)
{
	char directory[] = "/tmp/account-cost-XXXXXX", command[96];
	char week[] = "/tmp/account-cost-week-XXXXXX";
	struct topology *topology = make_topology();

	if (!mkdtemp(directory) || !mkdtemp(week))
		return EXIT_FAILURE;
	count(topology);
	keep(directory);
	find(week);
	snprintf(command, sizeof(command), "du -sk %s | cut -f 1", directory);
	printf("KiB on disk: ");
	fflush(stdout);
	if (system(command))
		return EXIT_FAILURE;
	snprintf(command, sizeof(command), "rm -r %s %s", directory, week);
	return system(command);
}
