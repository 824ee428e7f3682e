// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit_sample.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/time.h"

#define CPUFREQ "/sys/devices/system/cpu/cpufreq/policy*/stats"

static void for_each(const char *pattern, void (*take)(struct benefit_sample *sample, FILE *file),
		     struct benefit_sample *sample)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			_cleanup_fclose_ FILE *file = fopen(found.gl_pathv[i], "re");

			if (file)
				take(sample, file);
		}
	globfree(&found);
}

/* Documentation/block/stat.rst: reads, merges, sectors, ms, and the same for writes. */
static void add_disk(struct benefit_sample *sample, FILE *file)
{
	uint64_t reads, read_ms, writes, write_ms;

	if (fscanf(file, "%" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64, &reads,
		   &read_ms, &writes, &write_ms) != 4)
		return;
	sample->ios += reads + writes;
	sample->io_ms += read_ms + write_ms;
}

/* Whether its requests are counted on other disks. */
static bool has_others_below(const char *stat_path)
{
	char pattern[256];
	glob_t found;
	bool any;

	snprintf(pattern, sizeof(pattern), "%.*s/slaves/*",
		 (int)(strrchr(stat_path, '/') - stat_path), stat_path);
	any = glob(pattern, 0, NULL, &found) == 0;
	globfree(&found);
	return any || strstr(stat_path, "/loop") || strstr(stat_path, "/zram") ||
	       strstr(stat_path, "/ram");
}

static void add_disks(struct benefit_sample *sample)
{
	glob_t found;

	if (glob("/sys/block/*/stat", 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!has_others_below(found.gl_pathv[i]))
				for_each(found.gl_pathv[i], add_disk, sample);
	globfree(&found);
}

/* Parses lines of kHz and hundredths of a second. */
static void add_states(struct benefit_sample *sample, FILE *file)
{
	double khz, hundredths;

	while (fscanf(file, "%lf %lf", &khz, &hundredths) == 2) {
		sample->khz_s += khz * hundredths / 100;
		sample->domain_s += hundredths / 100;
	}
}

static void add_changes(struct benefit_sample *sample, FILE *file)
{
	uint64_t n;

	if (fscanf(file, "%" SCNu64, &n) == 1)
		sample->changes += n;
}

/*
 * Documentation/scheduler/sched-stats.rst: of each CPU, behind six other numbers, what its tasks
 * ran and waited, in ns, and their turns.
 */
static void add_waits(struct benefit_sample *sample, FILE *file)
{
	double wait_ns, turns;
	char line[512];

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %*u %lf %lf", &wait_ns, &turns) !=
		    2)
			continue;
		sample->wait_us += wait_ns / 1000;
		sample->waits += turns;
	}
}

void benefit_sample(struct benefit_sample *ret)
{
	*ret = (struct benefit_sample){ .time_ns = time_now_ns() };
	add_disks(ret);
	for_each(CPUFREQ "/time_in_state", add_states, ret);
	for_each(CPUFREQ "/total_trans", add_changes, ret);
	for_each("/proc/schedstat", add_waits, ret);
}
