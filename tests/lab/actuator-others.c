// SPDX-License-Identifier: GPL-2.0-only
/* Other writers, and CPUs that come and go. See actuator-conformance.c. */
#include <string.h>

#include "actuator-fixture.h"

TEST("setspeed", test_foreign_governor)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_apply(domain, 600000);
	write_control(0, "scaling_governor", "performance");
	assert_int_equal(backend->verify(domain), ACTUATOR_TAKEN_OVER);
	assert_int_equal(domain->state, ACTUATOR_STATE_YIELDED);
	assert_string_equal(domain->why, "another program set scaling_governor to performance");
	assert_int_equal(fixture_apply(domain, 1000000), ACTUATOR_TAKEN_OVER);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	assert_control(0, "scaling_governor", "performance");
	assert_null(fixture_text(f, SAVED_FILE));
}

TEST("setspeed", test_foreign_governor_found_by_apply)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_apply(domain, 600000);
	write_control(0, "scaling_governor", "powersave");
	assert_int_equal(fixture_apply(domain, 1000000), ACTUATOR_TAKEN_OVER);
	assert_int_equal(domain->write_errors, 0);
	assert_control(0, "scaling_governor", "powersave");
}

TEST("setspeed", test_foreign_governor_found_by_release)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	write_control(0, "scaling_governor", "powersave");
	assert_int_equal(actuator_domain_release(domain, backend, fixture_report, f),
			 ACTUATOR_DONE);
	assert_string_equal(f->report,
			    "left policy0 scaling_governor at powersave: another program set it\n");
	assert_control(0, "scaling_governor", "powersave");
}

TEST("setspeed", test_foreign_speed)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_watch(f, domain);
	fixture_apply(domain, 600000);
	fixture_apply(domain, 1000000);
	assert_int_equal(fixture_read_watch(f), 0);

	/* Somebody writes what we asked for: no reason to yield. */
	write_control(0, "scaling_setspeed", "1000000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_SETSPEED);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);

	write_control(0, "scaling_setspeed", "1800000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_SETSPEED);
	assert_int_equal(backend->verify(domain), ACTUATOR_TAKEN_OVER);
	assert_string_equal(domain->why, "another program set scaling_setspeed to 1800000");
	assert_int_equal(fixture_apply(domain, 400000), ACTUATOR_TAKEN_OVER);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	fixture_expect_frequency(0, 1800000);
	assert_null(fixture_text(f, SAVED_FILE));
}

TEST("setspeed", test_foreign_limits_are_told)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	uint32_t min_khz, max_khz;

	fixture_watch(f, domain);
	fixture_apply(domain, 1400000);
	write_limit(0, "scaling_max_freq", "1000000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_MAX_FREQ);
	if (domain->range.is_acquired) { /* beside intel_cpufreq the maximum is ours */
		assert_int_equal(backend->verify(domain), ACTUATOR_TAKEN_OVER);
		return;
	}
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(actuator_domain_read_limits(domain, &min_khz, &max_khz), 0);
	assert_int_equal(max_khz, 1000000);

	/* What a clamped request reads as is no foreign value, even when the control is touched. */
	domain->touched = 1u << CONTROL_SETSPEED;
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	write_limit(0, "scaling_max_freq", "1800000");
}

TEST("setspeed", test_foreign_governor_is_told)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_watch(f, domain);
	write_control(0, "scaling_governor", "powersave");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_GOVERNOR);
	assert_int_equal(backend->verify(domain), ACTUATOR_TAKEN_OVER);
}

/* CPUs that come and go. */

TEST("setspeed limits uclamp", test_sibling_offline_and_online)
{
	struct actuator_domain *domain = fixture_acquire(f, 1);

	fixture_apply(domain, 1400000);
	write_limit(f->second, "scaling_max_freq", "600000");
	set_online(f->second + 1, false);
	fixture_expect_hotplug(f, f->second + 1, false);
	set_online(f->second + 1, true);
	fixture_expect_hotplug(f, f->second + 1, true);
	write_limit(f->second, "scaling_max_freq", "1400000");

	domain->asked_khz = 0;
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_in_range(fixture_apply(domain, 1400000), ACTUATOR_DONE, ACTUATOR_UNCHANGED);
	fixture_expect_frequency(f->second, 1400000);
	assert_int_equal(domain->read_back_mismatches, 0);
}

TEST("setspeed limits uclamp", test_domain_offline_and_online)
{
	struct actuator_domain *domain = fixture_acquire(f, 1);

	assert_in_range(fixture_apply(domain, 1000000), ACTUATOR_DONE, ACTUATOR_UNCHANGED);
	fixture_set_second_online(f, false);
	assert_int_equal(fixture_apply(domain, 600000), ACTUATOR_OFFLINE);
	assert_int_equal(domain->state, ACTUATOR_STATE_OFFLINE);
	assert_int_equal(backend->verify(domain), ACTUATOR_OFFLINE);
	assert_int_equal(domain->write_errors, 0);

	set_online(f->topology->n_cpus - 1, true);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(domain->state, ACTUATOR_STATE_DRIVEN);
	assert_in_range(fixture_apply(domain, 600000), ACTUATOR_DONE, ACTUATOR_UNCHANGED);
	fixture_expect_frequency(f->second, 600000);
	fixture_set_second_online(f, true);
}

TEST("setspeed", test_acquire_with_first_sibling_offline)
{
	set_online(f->second, false);
	fixture_acquire(f, 1);
	assert_control(f->second, "scaling_governor", "userspace");
	set_online(f->second, true);
}

TEST("setspeed limits uclamp", test_acquire_offline)
{
	fixture_set_second_online(f, false);
	assert_int_equal(backend->acquire(&f->domains[1]), ACTUATOR_OFFLINE);
	assert_null(fixture_text(f, SAVED_FILE));
	fixture_set_second_online(f, true);
	fixture_acquire(f, 1);
}

TEST("setspeed limits uclamp", test_release_offline)
{
	struct actuator_domain *domain = fixture_acquire(f, 1);

	fixture_apply(domain, 600000);
	fixture_set_second_online(f, false);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_OFFLINE);
	assert_in_range(restore_saved(f->run_dir, NULL, NULL), 1, CONTROL_N);

	fixture_set_second_online(f, true);
	assert_int_equal(restore_saved(f->run_dir, NULL, NULL), 0);
	fixture_assert_as_before(f);
	assert_null(fixture_text(f, SAVED_FILE));
}
