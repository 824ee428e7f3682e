// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/history/stats.h"
#include "shared/time.h"

#define DAY 20000

static char directory[] = "/tmp/wakegov-account-XXXXXX";

static struct topology *make_topology(void)
{
	struct topology *topology = calloc(1, sizeof(*topology) + 2 * sizeof(topology->domains[0]));

	topology->n_domains = 2;
	for (uint32_t i = 0; i < 2; i++) {
		topology->domains[i] = (struct topology_domain){
			.n_opps = 3, .opp_khz = { 400000, 800000, 1200000 }, .capacity = 1024
		};
		snprintf(topology->domains[i].name, DOMAIN_NAME_SIZE, "policy%u", i);
	}
	return topology;
}

static const struct stats_row boost = {
	{ STATS_IO_BOOST, "fio", "nvme0n1" },
	{ .ns = 61 * NS_PER_S,
	  .spent_khz_ms = 12300000000,
	  .spent_j = 1.25,
	  .ios = 9,
	  .gained = 2 },
};

static const struct stats_row chain = { { STATS_CHAIN, "psql", "" },
					{ .ns = 9 * NS_PER_S, .spent_khz_ms = 5, .spent_j = 2.5 } };

static void path_of(int32_t day, char ret[64])
{
	snprintf(ret, 64, "%s/account.%d", directory, day);
}

static void save(struct topology *topology)
{
	struct stats *stats = stats_new(topology);

	stats_add_ns(stats, DAY, 1, 2, REASON_IO_BOOST, 5 * NS_PER_S);
	stats_add_ns(stats, DAY, 0, 0, REASON_IDLE, 24 * 3600 * NS_PER_S);
	stats_add_row(stats, DAY, &boost);
	stats_add_row(stats, DAY, &chain);
	assert_int_equal(stats_file_save(directory, stats, topology, DAY), 0);
	stats_free(stats);
}

static void test_saved_and_added(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);
	const struct stats_period *day;

	save(topology);
	/* What was counted of the day meanwhile, and another day, stay. */
	stats_add_ns(stats, DAY, 1, 2, REASON_IO_BOOST, NS_PER_S);
	assert_int_equal(stats_file_load(directory, stats, topology, DAY), 0);
	assert_int_equal(stats_file_load(directory, stats, topology, DAY - 1), 0);
	day = stats_of_day(stats, DAY);
	assert_int_equal(stats_ns(stats, day, 1, 2, REASON_IO_BOOST), 6 * NS_PER_S);
	assert_int_equal(stats_ns(stats, day, 0, 0, REASON_IDLE), 24 * 3600 * NS_PER_S);
	assert_string_equal(stats_row(day, 0)->key.device, "nvme0n1");
	assert_memory_equal(&stats_row(day, 0)->sums, &boost.sums, sizeof(boost.sums));
	assert_int_equal(stats_row(day, 1)->key.kind, STATS_CHAIN);
	assert_memory_equal(&stats_row(day, 1)->sums, &chain.sums, sizeof(chain.sums));
	stats_free(stats);
	/* A domain and an OPP that are gone. */
	strcpy(topology->domains[0].name, "policy4");
	topology->domains[1].opp_khz[2] = 1300000;
	stats = stats_new(topology);
	assert_int_equal(stats_file_load(directory, stats, topology, DAY), 0);
	day = stats_of_day(stats, DAY);
	assert_int_equal(stats_ns(stats, day, 0, 0, REASON_IDLE), 0);
	assert_int_equal(stats_ns(stats, day, 1, 2, REASON_IO_BOOST), 0);
	assert_non_null(stats_row(day, 0));
	stats_free(stats);
	free(topology);
}

static void test_damage_is_found(void **state)
{
	struct topology *topology = make_topology();
	uint8_t data[4096], copy[4096];
	char path[64];
	ssize_t n;
	int fd;

	save(topology);
	path_of(DAY, path);
	fd = open(path, O_RDONLY);
	n = read(fd, data, sizeof(data));
	close(fd);
	assert_true(n > 16);
	for (ssize_t at = 0; at < n; at++) {
		struct stats *stats = stats_new(topology);

		assert_int_equal(stats_file_parse(data, (size_t)at, stats, topology, DAY),
				 -EBADMSG);
		memcpy(copy, data, (size_t)n);
		copy[at] ^= 4;
		assert_int_equal(stats_file_parse(copy, (size_t)n, stats, topology, DAY), -EBADMSG);
		assert_null(stats_of_day(stats, DAY));
		stats_free(stats);
	}
	free(topology);
}

static void test_old_ones_are_removed(void **state)
{
	struct topology *topology = make_topology();
	char path[64];

	save(topology);
	path_of(DAY, path);
	stats_file_remove_before(directory, DAY);
	assert_int_equal(access(path, F_OK), 0);
	stats_file_remove_before(directory, DAY + 1);
	assert_int_equal(access(path, F_OK), -1);
	free(topology);
}

/* What a directory that is gone does is said, and no file is left behind. */
static void test_cannot_be_saved(void **state)
{
	struct topology *topology = make_topology();
	struct stats *stats = stats_new(topology);

	stats_add_row(stats, DAY, &boost);
	assert_int_equal(stats_file_save("/no/such/directory", stats, topology, DAY), -ENOENT);
	assert_int_equal(stats_file_save(directory, stats, topology, DAY + 1), 0);
	stats_free(stats);
	free(topology);
}

static int begin(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saved_and_added),
		cmocka_unit_test(test_damage_is_found),
		cmocka_unit_test(test_cannot_be_saved),
		cmocka_unit_test(test_old_ones_are_removed),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
