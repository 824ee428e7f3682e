// SPDX-License-Identifier: GPL-2.0-only
/* Release, crash, restore. See actuator-conformance.c. */
#include <string.h>

#include "actuator-fixture.h"

static void assert_release_restores(struct fixture *f)
{
	fixture_snapshot(f);
	fixture_drive_everything(f);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		assert_int_equal(actuator_domain_release(&f->domains[d], backend, NULL, NULL),
				 ACTUATOR_DONE);
	fixture_assert_as_before(f);
	assert_null(fixture_text(f, SAVED_FILE));
}

TEST("setspeed limits uclamp", test_release_restores)
{
	assert_release_restores(f);
}

TEST("setspeed", test_release_restores_userspace)
{
	write_control(0, "scaling_governor", "userspace");
	write_control(0, "scaling_setspeed", "600000");
	write_control(f->second, "scaling_governor", "powersave");
	write_limit(f->second, "scaling_max_freq", "1000000");
	assert_release_restores(f);
}

TEST("setspeed", test_crash_then_restore)
{
	const char *second = f->topology->domains[1].name;

	write_control(f->second, "scaling_governor", "userspace");
	write_control(f->second, "scaling_setspeed", "600000");
	fixture_snapshot(f);
	fixture_crash_while_driving(f);
	assert_control(0, "scaling_governor", "userspace");
	fixture_expect_frequency(f->second, 1400000);

	assert_int_equal(restore_saved(f->run_dir, fixture_report, f), 0);
	fixture_expect_report(f,
			      "restored policy0 scaling_governor to schedutil\n"
			      "%s scaling_governor is userspace as before\n"
			      "restored %s scaling_setspeed to 600000\n",
			      second, second);
	fixture_assert_as_before(f);

	f->report[0] = '\0';
	assert_int_equal(restore_saved(f->run_dir, fixture_report, f), 0);
	assert_string_equal(f->report, "");
	fixture_assert_as_before(f);
}

TEST("setspeed", test_crash_then_others)
{
	fixture_crash_while_driving(f);
	write_control(0, "scaling_governor", "performance");
	assert_int_equal(restore_saved(f->run_dir, fixture_report, f), 0);
	assert_control(0, "scaling_governor", "performance");
	assert_control(f->second, "scaling_governor", "schedutil");
}

TEST("setspeed limits uclamp", test_crash_then_start_again)
{
	fixture_crash_while_driving(f);
	/* Without a restore in between, the first saved values must stand. */
	fixture_reopen_saved(f);
	fixture_drive_everything(f);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		actuator_domain_release(&f->domains[d], backend, NULL, NULL);
	fixture_assert_as_before(f);
}

/* Tunables: schedutil's, which the kernel frees with the last domain that leaves it. */

#define RATE_LIMIT "schedutil/rate_limit_us"

TEST("setspeed", test_tunables_released)
{
	write_tunable(RATE_LIMIT, "7777");
	fixture_snapshot(f);
	fixture_drive_everything(f);
	assert_no_tunable(RATE_LIMIT);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		assert_int_equal(
			actuator_domain_release(&f->domains[d], backend, fixture_report, f),
			ACTUATOR_DONE);
	fixture_expect_report(f,
			      "restored policy0 scaling_governor to schedutil\n"
			      "restored schedutil/rate_limit_us to 7777\n"
			      "restored %s scaling_governor to schedutil\n",
			      f->topology->domains[1].name);
	fixture_assert_as_before(f);
	assert_null(fixture_text(f, SAVED_FILE));
}

TEST("setspeed", test_tunables_after_crash)
{
	write_tunable(RATE_LIMIT, "7777");
	fixture_snapshot(f);
	fixture_crash_while_driving(f);
	assert_no_tunable(RATE_LIMIT);
	assert_int_equal(restore_saved(f->run_dir, NULL, NULL), 0);
	fixture_assert_as_before(f);

	/* Done once; from then on it is the administrator's. */
	write_tunable(RATE_LIMIT, "500");
	assert_int_equal(restore_saved(f->run_dir, NULL, NULL), 0);
	assert_tunable(RATE_LIMIT, "500");
}

TEST("setspeed", test_tunables_never_lost)
{
	write_tunable(RATE_LIMIT, "7777");
	fixture_acquire(f, 0);
	assert_tunable(RATE_LIMIT, "7777");
	write_tunable(RATE_LIMIT, "500");
	assert_int_equal(actuator_domain_release(&f->domains[0], backend, fixture_report, f),
			 ACTUATOR_DONE);
	assert_string_equal(f->report,
			    "restored policy0 scaling_governor to schedutil\n"
			    "left schedutil/rate_limit_us at 500: another program set it\n");
	assert_tunable(RATE_LIMIT, "500");
	assert_null(fixture_text(f, SAVED_FILE));
}

/* Whoever brings the governor back while we drive the rest has the tunables from then on. */
TEST("setspeed", test_tunables_brought_back)
{
	write_tunable(RATE_LIMIT, "7777");
	fixture_drive_everything(f);
	write_control(0, "scaling_governor", "schedutil");
	write_tunable(RATE_LIMIT, "500");
	assert_int_equal(backend->verify(&f->domains[0]), ACTUATOR_TAKEN_OVER);
	assert_int_equal(actuator_domain_release(&f->domains[1], backend, NULL, NULL),
			 ACTUATOR_DONE);
	assert_tunable(RATE_LIMIT, "500");
}

/* The domain that is back first brings them, and the late one leaves them alone. */
TEST("setspeed", test_tunables_with_a_domain_offline)
{
	write_tunable(RATE_LIMIT, "7777");
	fixture_drive_everything(f);
	fixture_set_second_online(f, false);
	assert_int_equal(actuator_domain_release(&f->domains[0], backend, NULL, NULL),
			 ACTUATOR_DONE);
	assert_tunable(RATE_LIMIT, "7777");
	assert_int_equal(actuator_domain_release(&f->domains[1], backend, NULL, NULL),
			 ACTUATOR_OFFLINE);

	write_tunable(RATE_LIMIT, "500");
	fixture_set_second_online(f, true);
	assert_int_equal(restore_saved(f->run_dir, NULL, NULL), 0);
	assert_control(f->second, "scaling_governor", "schedutil");
	assert_tunable(RATE_LIMIT, "500");
	assert_null(fixture_text(f, SAVED_FILE));
}

/* Each must be written when the kernel takes it: up_threshold stays above down_threshold. */
TEST("setspeed", test_tunables_that_depend)
{
	static const char *const values[][2] = { { "95", "90" }, { "15", "11" } };

	for (int i = 0; i < 2; i++) {
		fixture_govern_all(f, "conservative");
		write_tunable(i ? "conservative/down_threshold" : "conservative/up_threshold",
			      values[i][i]);
		write_tunable(i ? "conservative/up_threshold" : "conservative/down_threshold",
			      values[i][!i]);
		write_tunable("conservative/freq_step", "7");
		assert_release_restores(f);
		fixture_govern_all(f, "performance");
	}
}
