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
#include "made-line.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define DOMAINS	  2
#define DECISIONS 1000000
#define STEP_NS	  (100 * NS_PER_MS)
#define DAY_S	  86400ULL
#define WEEK_DAYS 9 /* with what pushes out what is older than a week */
#define FINDS	  20
#define LATER_US  (100 * DAY_S * US_PER_S) /* of the wall clock */

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

/* The time of making a line is not counted: query-load has it. */
static char lines[1000][MADE_LINE_SIZE];

static void make_lines(const char *domain, uint64_t now_us)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(lines); i++)
		made_line(lines[i], domain, now_us + i * STEP_NS / NS_PER_US / DOMAINS,
			  now_us + i * STEP_NS / NS_PER_US / DOMAINS, 400000 + i % 16 * 100000);
}

static void tally(void *context, const struct archive_line *line)
{
	++*(uint32_t *)context;
}

static void keep(const char *directory)
{
	uint64_t spent_ns = 0, before_ns = 0, now_ns = time_now_ns(), from = 0;
	struct decision_ring *ring = decision_ring_new(512);
	struct archive *archive;
	uint32_t kept = 0;

	if (archive_open(directory, DOMAINS, &archive) < 0)
		exit(EXIT_FAILURE);
	for (uint32_t i = 0; i < DECISIONS; i++, now_ns += STEP_NS / DOMAINS) {
		if (i % ARRAY_SIZE(lines) == 0)
			make_lines("policy0", now_ns / NS_PER_US);
		before_ns = i % ARRAY_SIZE(lines) == 0 ? cpu_ns() : before_ns;
		decision_ring_add(ring, i % DOMAINS, now_ns, lines[i % ARRAY_SIZE(lines)]);
		archive_add(archive, i % DOMAINS, now_ns, lines[i % ARRAY_SIZE(lines)]);
		archive_keep(archive, now_ns);
		if (i % ARRAY_SIZE(lines) == ARRAY_SIZE(lines) - 1)
			spent_ns += cpu_ns() - before_ns;
	}
	printf("kept: %" PRIu64 " ns a decision", spent_ns / DECISIONS);
	do {
		from = archive_list(archive, from, 0, tally, &kept);
	} while (from);
	printf(", of %u in %.1f hours %u\n", DECISIONS,
	       (double)DECISIONS * (STEP_NS / DOMAINS) / NS_PER_S / 3600, kept);
	archive_close(archive);
	decision_ring_free(ring);
}

/* policy0 and policy1 decide every second, policy2 once, in the middle. */
static uint64_t fill_week(struct archive *archive)
{
	uint64_t start_ns = time_now_ns(), now_us = 0;
	char line[MADE_LINE_SIZE], name[] = "policy0";

	for (uint64_t s = 0; s < WEEK_DAYS * DAY_S; s++)
		for (uint32_t domain = 0; domain < DOMAINS + (s == WEEK_DAYS * DAY_S / 2);
		     domain++) {
			now_us = start_ns / NS_PER_US + s * US_PER_S;
			name[6] = (char)('0' + domain);
			made_line(line, name, now_us, now_us + LATER_US, 400000 + s % 16 * 100000);
			archive_add(archive, domain, now_us * NS_PER_US, line);
			archive_keep(archive, now_us * NS_PER_US);
		}
	return now_us + LATER_US;
}

static void find(const char *directory)
{
	static const struct {
		const char *domain;
		double days;
	} cases[] = { { "policy0", 0 },	 { "policy0", 1 }, { "policy0", 4 }, { "policy0", 7 },
		      { "policy0", 30 }, { "policy2", 0 }, { "policy2", 6 }, { "policy3", 0 } };
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
		for (int j = 0; j < FINDS; j++) {
			char *line = archive_find(archive, cases[i].domain, at_us, &left_out);

			found = line;
			free(line);
		}
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
