// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every backend must do, against a real cpufreq driver. Runs inside the lab:
 *
 *	tests/lab/lab run -- build/tests/lab/actuator-conformance setspeed
 *
 * setspeed, limits, uclamp, observe   the backend of that name
 * unclamped           uclamp on a kernel without it
 * refused             setspeed on a kernel without the userspace governor's module
 * absent              a machine without cpufreq
 */
#include "actuator-conformance.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "actuator-fixture.h"

/* observe */

static void test_observe_writes_nothing(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = &f->domains[0];

	fixture_watch(f, domain);
	assert_int_equal(backend->acquire(domain), ACTUATOR_DONE);
	assert_int_equal(fixture_apply(domain, 600000), ACTUATOR_UNCHANGED);
	assert_int_equal(fixture_apply(domain, 1800000), ACTUATOR_UNCHANGED);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(domain->read_back_khz, 0); /* nothing was written */
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	assert_int_equal(domain->writes, 0);
	assert_int_equal(fixture_read_watch(f), 0);
	assert_null(fixture_saved_text(f));
	fixture_assert_as_before(f);
}

/* A kernel that cannot. */

static void test_refused_without_module(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "modprobe cpufreq_userspace"));
	fixture_assert_as_before(f);
	assert_null(fixture_saved_text(f));
}

static void test_absent(void **state)
{
	struct topology *topology;

	assert_int_equal(cpufreq_discover(&topology, NULL, NULL), 0);
	assert_int_equal(topology->n_domains, 0);
	assert_int_equal(topology->n_cpus, 4);
	free(topology);
}

/* The OPPs are the driver's table where it has one, and else from its minimum to its maximum. */
static void test_discover(void **state)
{
	static const uint32_t khz[] = { 400000, 600000, 1000000, 1400000, 1800000 };
	const struct fixture *f = *state;
	const struct topology *topology = f->topology;

	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		assert_int_equal(topology->cpu_domain[cpu], cpu >= f->second);
	for (uint32_t d = 0; d < topology->n_domains; d++) {
		const struct topology_domain *domain = &topology->domains[d];
		char name[DOMAIN_NAME_SIZE];

		snprintf(name, sizeof(name), "policy%u", domain->first_cpu);
		assert_string_equal(domain->name, name);
		assert_control_u32(domain->first_cpu, "cpuinfo_min_freq", domain->opp_khz[0]);
		assert_control_u32(domain->first_cpu, "cpuinfo_max_freq",
				   topology_domain_max_khz(domain));
		for (uint32_t i = 1; i < domain->n_opps; i++)
			assert_true(domain->opp_khz[i - 1] < domain->opp_khz[i]);
		if (has_control(domain->first_cpu, "scaling_available_frequencies"))
			assert_memory_equal(domain->opp_khz, khz, domain->n_opps * sizeof(khz[0]));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

/* What holds for every backend. */
#define EVERY_LEVER                                                                          \
	TEST(test_apply_each_opp), TEST(test_apply_unchanged_writes_nothing),                \
		TEST(test_sibling_offline_and_online), TEST(test_domain_offline_and_online), \
		TEST(test_acquire_offline), TEST(test_release_offline), TEST(test_discover), \
		TEST(test_release_restores), TEST(test_crash_then_start_again)

/* And for those that hold it between two limits. */
#define EVERY_RANGE                                                                             \
	TEST(test_limits_never_cross), TEST(test_limits_are_merged),                            \
		TEST(test_limits_end_while_idle), TEST(test_limits_of_others_are_told),         \
		TEST(test_limits_set_while_free), TEST(test_limits_taken_over),                 \
		TEST(test_limits_taken_over_unseen), TEST(test_limits_with_one_control_broken), \
		TEST(test_limits_after_crash)

static const struct CMUnitTest setspeed_tests[] = {
	EVERY_LEVER,
	TEST(test_acquire_without_room_changes_nothing),
	TEST(test_acquire_saves_first),
	TEST(test_apply_under_limits),
	TEST(test_foreign_governor),
	TEST(test_foreign_governor_found_by_apply),
	TEST(test_foreign_governor_found_by_release),
	TEST(test_foreign_speed),
	TEST(test_foreign_limits_are_told),
	TEST(test_foreign_governor_is_told),
	TEST(test_acquire_with_first_sibling_offline),
	TEST(test_release_restores_userspace),
	TEST(test_crash_then_restore),
	TEST(test_crash_then_others),
	TEST(test_tunables_released),
	TEST(test_tunables_after_crash),
	TEST(test_tunables_never_lost),
	TEST(test_tunables_brought_back),
	TEST(test_tunables_with_a_domain_offline),
	TEST(test_tunables_that_depend),
};
static const struct CMUnitTest limits_tests[] = {
	EVERY_LEVER,
	EVERY_RANGE,
	TEST(test_acquire_without_room_changes_nothing),
	TEST(test_limits_save_first),
};
static const struct CMUnitTest uclamp_tests[] = {
	EVERY_LEVER,
	EVERY_RANGE,
	TEST(test_clamps_saved_first),
	TEST(test_clamps_without_room),
	TEST(test_clamps_unchanged_write_nothing),
	TEST(test_clamps_rate_limited),
	TEST(test_clamps_merged_with_the_users),
	TEST(test_clamps_set_by_the_user_meanwhile),
	TEST(test_clamps_asked_away),
	TEST(test_clamps_released),
	TEST(test_clamps_of_another_policy),
	TEST(test_clamps_of_children),
	TEST(test_clamps_of_grandchildren),
	TEST(test_clamps_of_orphans),
	TEST(test_clamps_of_children_with_their_own),
	TEST(test_clamps_kept_by_children),
	TEST(test_clamps_of_many_children),
	TEST(test_clamps_of_a_task_that_is_gone),
	TEST(test_clamps_of_a_number_used_again),
	TEST(test_clamps_of_known_tasks),
	TEST(test_clamps_refused_for_one),
	TEST(test_clamps_of_siblings_governor),
	TEST(test_clamps_after_crash),
	TEST(test_clamps_of_many_heirs_after_crash),
	TEST(test_clamps_after_crash_before_the_write),
	TEST(test_clamps_of_a_spoilt_journal),
	TEST(test_clamps_in_a_storm),
	TEST(test_uclamp_needs_schedutil),
	TEST(test_uclamp_writes_nothing_to_a_domain),
	TEST(test_uclamp_floor_is_a_minimum),
};
/* Before Linux 6.3 the processors' cooling devices have no states. */
static const struct CMUnitTest cooled_tests[] = { cmocka_unit_test_setup_teardown(
	test_limits_that_pass, fixture_set_up, cooled_tear_down) };
static const struct CMUnitTest unclamped_tests[] = { TEST(test_uclamp_is_refused) };
static const struct CMUnitTest observe_tests[] = { TEST(test_observe_writes_nothing) };
static const struct CMUnitTest refused_tests[] = { TEST(test_refused_without_module) };
static const struct CMUnitTest absent_tests[] = { cmocka_unit_test(test_absent) };

const struct backend *backend = &backend_setspeed;

/* As intel_pstate has them: a clock, and a domain, for each. */
static bool every_cpu_is_alone(void)
{
	char cpus[64];

	return control_read_file(0, "related_cpus", cpus, sizeof(cpus)) >= 0 && !strchr(cpus, ' ');
}

/* Drivers of machines with unlike CPUs give each domain its own of a governor. */
static bool tunables_are_shared(void)
{
	return access(CONTROL_DIRECTORY "/schedutil", F_OK) == 0;
}

int main(int argc, char **argv)
{
	const char *suite = argc > 1 ? argv[1] : "setspeed";

	if (!getenv("WAKEGOV_LAB")) {
		fprintf(stderr, "skipped: runs in the lab only, see tests/lab/lab help\n");
		return 77;
	}
	if (every_cpu_is_alone())
		cmocka_set_skip_filter("*sibling*");
	else if (!tunables_are_shared())
		cmocka_set_skip_filter("*tunables*");
	if (strcmp(suite, "setspeed") == 0)
		return cmocka_run_group_tests(setspeed_tests, NULL, NULL);
	if (strcmp(suite, "limits") == 0) {
		backend = &backend_limits;
		return cmocka_run_group_tests(limits_tests, NULL, NULL);
	}
	if (strcmp(suite, "uclamp") == 0) {
		backend = &backend_uclamp;
		return cmocka_run_group_tests(uclamp_tests, NULL, NULL);
	}
	if (strcmp(suite, "cooled") == 0) {
		backend = &backend_limits;
		return cmocka_run_group_tests(cooled_tests, NULL, NULL);
	}
	if (strcmp(suite, "unclamped") == 0) {
		backend = &backend_uclamp;
		return cmocka_run_group_tests(unclamped_tests, NULL, NULL);
	}
	if (strcmp(suite, "refused") == 0)
		return cmocka_run_group_tests(refused_tests, NULL, NULL);
	if (strcmp(suite, "absent") == 0)
		return cmocka_run_group_tests(absent_tests, NULL, NULL);
	if (strcmp(suite, "observe") == 0) {
		backend = &backend_observe;
		return cmocka_run_group_tests(observe_tests, NULL, NULL);
	}

	fprintf(stderr,
		"%s: expected setspeed, limits, cooled, uclamp, unclamped, observe, "
		"refused or absent\n",
		suite);
	return 2;
}
