// SPDX-License-Identifier: GPL-2.0-only
/*
 * The platform files that are installed: they load, and the rk3399 gives what was published of it
 * where the governor leaves the frequency alone. Arguments: the published table, the rk3399's
 * file, the other files.
 */
#include <math.h>
#include <string.h>

#include "test-sim.h"

static const char *table_path;
static char **paths;

static void load(const char *path, struct platform *ret)
{
	char *message = NULL;

	if (platform_load(path, ret, &message) < 0)
		print_message("%s\n", message);
	assert_null(message);
}

TEST(test_load)
{
	for (char **path = paths; *path; path++) {
		struct platform platform;
		struct workload workload;
		struct result slow, fast;

		load(*path, &platform);
		test_sim_workload(&platform, "psyncx4", &workload);
		slow = test_sim_run(&platform, &workload, "powersave", TEST_SIM_S);
		fast = test_sim_run(&platform, &workload, "performance", TEST_SIM_S);
		assert_true(fast.iops > slow.iops);
		assert_true(fast.energy_j > slow.energy_j);
	}
}

static bool is_within(const char *row, const char *governor, double found, double published)
{
	double tolerance = strncmp(row, "psync", 5) == 0 ? 0.05 : 0.1;

	if (fabs(found / published - 1) <= tolerance)
		return true;
	print_message("%s under %s: %f, published %f\n", row, governor, found, published);
	return false;
}

TEST(test_published)
{
	FILE *table = fopen(table_path, "r");
	struct platform platform;
	char line[256];
	int n = 0;

	assert_non_null(table);
	load(paths[0], &platform);
	while (fgets(line, sizeof(line), table)) {
		char row[32];
		double performance, powersave;
		struct workload workload;

		if (sscanf(line, "%31[^,],%*f,%*f,%*f,%lf,%lf", row, &performance, &powersave) != 3)
			continue;
		test_sim_workload(&platform, row, &workload);
		assert_true(is_within(
			row, "performance",
			test_sim_run(&platform, &workload, "performance", 4 * TEST_SIM_S).iops,
			performance));
		assert_true(is_within(
			row, "powersave",
			test_sim_run(&platform, &workload, "powersave", 4 * TEST_SIM_S).iops,
			powersave));
		n++;
	}
	assert_int_equal(n, 9);
	fclose(table);
}

/*
 * The queues do more I/Os at a slow clock, in larger batches: that the device does fewer where the
 * reader is boosted, as by schedutil, does not end its boost.
 */
TEST(test_reader_beside_batches)
{
	struct platform platform;
	struct workload workload;
	struct result theirs, ours;
	char **path = paths;

	while (*path && !strstr(*path, "/server.ini"))
		path++;
	assert_non_null(*path);
	load(*path, &platform);
	test_sim_workload(&platform, "libaio4x16:think=3000us+psyncx1:cpus=0-3,cycles=100000",
			  &workload);
	theirs = test_sim_run(&platform, &workload, "schedutil", 6 * TEST_SIM_S);
	ours = test_sim_run(&platform, &workload, "wakegov", 6 * TEST_SIM_S);
	print_message("%.0f by schedutil, %.0f by wakegov\n", theirs.threads[4].iops,
		      ours.threads[4].iops);
	assert_true(ours.threads[4].iops > 0.95 * theirs.threads[4].iops);
}

int main(int argc, char *argv[])
{
	if (argc < 3)
		return 2;
	table_path = argv[1];
	paths = argv + 2;
	return tests_run(NULL, NULL);
}
