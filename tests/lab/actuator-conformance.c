// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every backend must do, against a real cpufreq driver. Runs inside the lab:
 *
 *	tests/lab/lab run -- build/tests/lab/actuator-conformance setspeed
 *
 * setspeed, observe   the backend of that name
 * refused             setspeed on a kernel without the userspace governor's module
 * absent              a machine without cpufreq
 */
#include "actuator-fixture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Acquire, save. */

static void test_acquire_saves_first(void **state)
{
	struct fixture *f = *state;
	char *text;

	fixture_acquire(f, 0);
	text = fixture_originals_text(f);
	assert_non_null(strstr(text, "/policy0/scaling_governor schedutil userspace\n"));
	assert_null(strstr(text, "setspeed"));
	free(text);
	assert_control(0, "scaling_governor", "userspace");
	assert_int_equal(f->domains[0].state, ACTUATOR_STATE_DRIVEN);
}

static void test_acquire_without_room_changes_nothing(void **state)
{
	struct fixture *f = *state;

	fixture_fill_run_dir(f);
	assert_int_equal(backend->acquire(&f->domains[0]), -ENOSPC);
	assert_non_null(strstr(f->domains[0].why, "No space left"));
	fixture_empty_run_dir(f);
	fixture_assert_as_before(f);
}

/* Apply. */

static void test_apply_each_opp(void **state)
{
	struct fixture *f = *state;

	for (uint32_t d = 0; d < f->topology->n_domains; d++) {
		const struct topology_domain *info = &f->topology->domains[d];
		struct actuator_domain *domain = fixture_acquire(f, d);

		for (int round = 0; round < 3; round++)
			for (uint32_t i = info->n_opps; i-- > 0;) {
				int r = backend->apply(domain, info->opp_khz[i]);

				assert_in_range(r, ACTUATOR_DONE, ACTUATOR_UNCHANGED);
				assert_control_u32(info->first_cpu, "scaling_cur_freq",
						   info->opp_khz[i]);
			}
		assert_int_equal(domain->read_back_mismatches, 0);
		assert_int_equal(domain->write_errors, 0);
	}
}

static void test_apply_unchanged_writes_nothing(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);
	uint32_t transitions;
	uint64_t writes;

	backend->apply(domain, 600000);
	backend->apply(domain, 1000000);
	transitions = read_control_u32(0, "stats/total_trans");
	writes = domain->writes;
	for (int i = 0; i < 100; i++)
		assert_int_equal(backend->apply(domain, 1000000), ACTUATOR_UNCHANGED);
	assert_int_equal(domain->writes, writes);
	assert_int_equal(read_control_u32(0, "stats/total_trans"), transitions);
}

static void test_apply_under_limits(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	write_limit(0, "scaling_max_freq", "1000000");
	assert_int_equal(backend->apply(domain, 1400000), ACTUATOR_DONE);
	assert_int_equal(domain->read_back_khz, 1000000);
	assert_int_equal(domain->read_back_mismatches, 0);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);

	/* The kernel still holds the request, so there is nothing to write. */
	write_limit(0, "scaling_max_freq", "1800000");
	assert_control(0, "scaling_cur_freq", "1400000");
	assert_int_equal(backend->apply(domain, 1400000), ACTUATOR_UNCHANGED);

	write_limit(0, "scaling_min_freq", "1000000");
	assert_int_equal(backend->apply(domain, 400000), ACTUATOR_DONE);
	assert_int_equal(domain->read_back_khz, 1000000);
	assert_int_equal(domain->read_back_mismatches, 0);
	write_limit(0, "scaling_min_freq", "400000");
}

/* Others. */

static void test_foreign_governor(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	backend->apply(domain, 600000);
	write_control(0, "scaling_governor", "performance");
	assert_int_equal(backend->verify(domain), ACTUATOR_FOREIGN);
	assert_int_equal(domain->state, ACTUATOR_STATE_YIELDED);
	assert_string_equal(domain->why, "somebody else set scaling_governor to performance");
	assert_int_equal(backend->apply(domain, 1000000), ACTUATOR_FOREIGN);
	assert_int_equal(backend->release(domain, NULL, NULL), ACTUATOR_DONE);
	assert_control(0, "scaling_governor", "performance");
	assert_null(fixture_originals_text(f));
}

static void test_foreign_governor_found_by_apply(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	backend->apply(domain, 600000);
	write_control(0, "scaling_governor", "powersave");
	assert_int_equal(backend->apply(domain, 1000000), ACTUATOR_FOREIGN);
	assert_int_equal(domain->write_errors, 0);
	assert_control(0, "scaling_governor", "powersave");
}

static void test_foreign_governor_found_by_release(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	write_control(0, "scaling_governor", "powersave");
	assert_int_equal(backend->release(domain, fixture_report, f), ACTUATOR_DONE);
	assert_string_equal(f->report,
			    "left policy0 scaling_governor at powersave: somebody else set it\n");
	assert_control(0, "scaling_governor", "powersave");
}

static void test_foreign_speed(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_watch(f, domain);
	backend->apply(domain, 600000);
	backend->apply(domain, 1000000);
	assert_int_equal(fixture_read_watch(f), 0);

	/* Somebody writes what we asked for: no reason to yield. */
	write_control(0, "scaling_setspeed", "1000000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_SETSPEED);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);

	write_control(0, "scaling_setspeed", "1800000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_SETSPEED);
	assert_int_equal(backend->verify(domain), ACTUATOR_FOREIGN);
	assert_string_equal(domain->why, "somebody else set scaling_setspeed to 1800000");
	assert_int_equal(backend->apply(domain, 400000), ACTUATOR_FOREIGN);
	assert_int_equal(backend->release(domain, NULL, NULL), ACTUATOR_DONE);
	assert_control(0, "scaling_cur_freq", "1800000");
	assert_null(fixture_originals_text(f));
}

static void test_foreign_limits_are_told(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);
	uint32_t min_khz, max_khz;

	fixture_watch(f, domain);
	backend->apply(domain, 1400000);
	write_limit(0, "scaling_max_freq", "1000000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_MAX_FREQ);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(actuator_domain_read_limits(domain, &min_khz, &max_khz), 0);
	assert_int_equal(max_khz, 1000000);

	/* What a clamped request reads as is no foreign value, even when the control is touched. */
	domain->touched = 1u << CONTROL_SETSPEED;
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	write_limit(0, "scaling_max_freq", "1800000");
}

static void test_foreign_governor_is_told(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_watch(f, domain);
	write_control(0, "scaling_governor", "powersave");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_GOVERNOR);
	assert_int_equal(backend->verify(domain), ACTUATOR_FOREIGN);
}

/* CPUs that come and go. */

static void test_sibling_offline_and_online(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 1);

	backend->apply(domain, 1400000);
	write_limit(2, "scaling_max_freq", "600000");
	set_online(3, false);
	fixture_expect_hotplug(f, 3, false);
	set_online(3, true);
	fixture_expect_hotplug(f, 3, true);
	write_limit(2, "scaling_max_freq", "1400000");

	actuator_domain_forget_request(domain);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_in_range(backend->apply(domain, 1400000), ACTUATOR_DONE, ACTUATOR_UNCHANGED);
	assert_control(2, "scaling_cur_freq", "1400000");
	assert_int_equal(domain->read_back_mismatches, 0);
}

static void test_domain_offline_and_online(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 1);

	assert_in_range(backend->apply(domain, 1000000), ACTUATOR_DONE, ACTUATOR_UNCHANGED);
	set_online(2, false);
	set_online(3, false);
	assert_int_equal(backend->apply(domain, 600000), ACTUATOR_OFFLINE);
	assert_int_equal(domain->state, ACTUATOR_STATE_OFFLINE);
	assert_int_equal(backend->verify(domain), ACTUATOR_OFFLINE);
	assert_int_equal(domain->write_errors, 0);

	set_online(3, true);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(domain->state, ACTUATOR_STATE_DRIVEN);
	assert_in_range(backend->apply(domain, 600000), ACTUATOR_DONE, ACTUATOR_UNCHANGED);
	assert_control(2, "scaling_cur_freq", "600000");
	set_online(2, true);
}

static void test_acquire_with_first_cpu_offline(void **state)
{
	struct fixture *f = *state;

	set_online(2, false);
	fixture_acquire(f, 1);
	assert_control(2, "scaling_governor", "userspace");
	set_online(2, true);
}

static void test_acquire_offline(void **state)
{
	struct fixture *f = *state;

	set_online(2, false);
	set_online(3, false);
	assert_int_equal(backend->acquire(&f->domains[1]), ACTUATOR_OFFLINE);
	assert_null(fixture_originals_text(f));
	set_online(2, true);
	set_online(3, true);
	fixture_acquire(f, 1);
}

static void test_release_offline(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 1);

	set_online(2, false);
	set_online(3, false);
	assert_int_equal(backend->release(domain, NULL, NULL), ACTUATOR_OFFLINE);
	assert_int_equal(restore_originals(f->run_dir, NULL, NULL), 1);

	set_online(2, true);
	set_online(3, true);
	assert_int_equal(restore_originals(f->run_dir, NULL, NULL), 0);
	fixture_assert_as_before(f);
	assert_null(fixture_originals_text(f));
}

/* Release, restore. */

static void drive_everything(struct fixture *f)
{
	for (uint32_t d = 0; d < f->topology->n_domains; d++) {
		struct actuator_domain *domain = fixture_acquire(f, d);

		backend->apply(domain, 1000000);
		backend->apply(domain, 1400000);
	}
}

static void assert_release_restores(struct fixture *f)
{
	fixture_snapshot(f);
	drive_everything(f);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		assert_int_equal(backend->release(&f->domains[d], NULL, NULL), ACTUATOR_DONE);
	fixture_assert_as_before(f);
	assert_null(fixture_originals_text(f));
}

static void test_release_restores(void **state)
{
	assert_release_restores(*state);
}

static void test_release_restores_userspace(void **state)
{
	write_control(0, "scaling_governor", "userspace");
	write_control(0, "scaling_setspeed", "600000");
	write_control(2, "scaling_governor", "powersave");
	write_limit(2, "scaling_max_freq", "1000000");
	assert_release_restores(*state);
	write_limit(2, "scaling_max_freq", "1400000");
}

static void crash_while_driving(struct fixture *f)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		drive_everything(f);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_crash_then_restore(void **state)
{
	struct fixture *f = *state;

	write_control(2, "scaling_governor", "userspace");
	write_control(2, "scaling_setspeed", "600000");
	fixture_snapshot(f);
	crash_while_driving(f);
	assert_control(0, "scaling_governor", "userspace");
	assert_control(2, "scaling_cur_freq", "1400000");

	assert_int_equal(restore_originals(f->run_dir, fixture_report, f), 0);
	assert_string_equal(f->report, "restored policy0 scaling_governor to schedutil\n"
				       "policy2 scaling_governor is userspace as before\n"
				       "restored policy2 scaling_setspeed to 600000\n");
	fixture_assert_as_before(f);

	f->report[0] = '\0';
	assert_int_equal(restore_originals(f->run_dir, fixture_report, f), 0);
	assert_string_equal(f->report, "");
	fixture_assert_as_before(f);
}

static void test_crash_then_others(void **state)
{
	struct fixture *f = *state;

	crash_while_driving(f);
	write_control(0, "scaling_governor", "performance");
	assert_int_equal(restore_originals(f->run_dir, fixture_report, f), 0);
	assert_control(0, "scaling_governor", "performance");
	assert_control(2, "scaling_governor", "schedutil");
}

static void test_crash_then_start_again(void **state)
{
	struct fixture *f = *state;

	crash_while_driving(f);
	/* Without a restore in between, the first originals must stand. */
	fixture_reopen_originals(f);
	drive_everything(f);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		backend->release(&f->domains[d], NULL, NULL);
	fixture_assert_as_before(f);
}

/* observe */

static void test_observe_writes_nothing(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = &f->domains[0];

	fixture_watch(f, domain);
	assert_int_equal(backend->acquire(domain), ACTUATOR_DONE);
	assert_int_equal(backend->apply(domain, 600000), ACTUATOR_UNCHANGED);
	assert_int_equal(backend->apply(domain, 1800000), ACTUATOR_UNCHANGED);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_not_equal(domain->read_back_khz, 0);
	assert_int_equal(backend->release(domain, NULL, NULL), ACTUATOR_DONE);
	assert_int_equal(domain->writes, 0);
	assert_int_equal(fixture_read_watch(f), 0);
	assert_null(fixture_originals_text(f));
	fixture_assert_as_before(f);
}

/* A kernel that cannot. */

static void test_refused_without_module(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "modprobe cpufreq_userspace"));
	fixture_assert_as_before(f);
	assert_null(fixture_originals_text(f));
}

static void test_absent(void **state)
{
	struct topology *topology;

	assert_int_equal(cpufreq_discover(&topology), 0);
	assert_int_equal(topology->n_domains, 0);
	assert_int_equal(topology->n_cpus, 4);
	free(topology);
}

static void test_discover(void **state)
{
	static const uint32_t khz[] = { 400000, 600000, 1000000, 1400000, 1800000 };
	const struct topology *topology = ((struct fixture *)*state)->topology;

	assert_int_equal(topology->n_domains, 2);
	assert_int_equal(topology->n_cpus, 4);
	assert_string_equal(topology->domains[0].name, "policy0");
	assert_string_equal(topology->domains[1].name, "policy2");
	assert_int_equal(topology->domains[0].n_opps, 5);
	assert_int_equal(topology->domains[1].n_opps, 4);
	assert_memory_equal(topology->domains[0].opp_khz, khz, sizeof(khz));
	assert_memory_equal(topology->domains[1].opp_khz, khz, 4 * sizeof(khz[0]));
	for (int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(topology->cpu_domain[cpu], cpu / 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

static const struct CMUnitTest setspeed_tests[] = {
	TEST(test_discover),
	TEST(test_acquire_saves_first),
	TEST(test_acquire_without_room_changes_nothing),
	TEST(test_apply_each_opp),
	TEST(test_apply_unchanged_writes_nothing),
	TEST(test_apply_under_limits),
	TEST(test_foreign_governor),
	TEST(test_foreign_governor_found_by_apply),
	TEST(test_foreign_governor_found_by_release),
	TEST(test_foreign_speed),
	TEST(test_foreign_limits_are_told),
	TEST(test_foreign_governor_is_told),
	TEST(test_sibling_offline_and_online),
	TEST(test_domain_offline_and_online),
	TEST(test_acquire_with_first_cpu_offline),
	TEST(test_acquire_offline),
	TEST(test_release_offline),
	TEST(test_release_restores),
	TEST(test_release_restores_userspace),
	TEST(test_crash_then_restore),
	TEST(test_crash_then_others),
	TEST(test_crash_then_start_again),
};
static const struct CMUnitTest observe_tests[] = { TEST(test_observe_writes_nothing) };
static const struct CMUnitTest refused_tests[] = { TEST(test_refused_without_module) };
static const struct CMUnitTest absent_tests[] = { cmocka_unit_test(test_absent) };

const struct backend *backend = &backend_setspeed;

int main(int argc, char **argv)
{
	const char *suite = argc > 1 ? argv[1] : "setspeed";

	if (!getenv("WAKEGOV_LAB")) {
		fprintf(stderr, "skipped: runs in the lab only, see tests/lab/lab help\n");
		return 77;
	}
	if (strcmp(suite, "setspeed") == 0)
		return cmocka_run_group_tests(setspeed_tests, NULL, NULL);
	if (strcmp(suite, "refused") == 0)
		return cmocka_run_group_tests(refused_tests, NULL, NULL);
	if (strcmp(suite, "absent") == 0)
		return cmocka_run_group_tests(absent_tests, NULL, NULL);
	if (strcmp(suite, "observe") == 0) {
		backend = &backend_observe;
		return cmocka_run_group_tests(observe_tests, NULL, NULL);
	}

	fprintf(stderr, "%s: expected setspeed, observe, refused or absent\n", suite);
	return 2;
}
