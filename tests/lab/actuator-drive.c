// SPDX-License-Identifier: GPL-2.0-only
/* Acquire, save, apply. See actuator-conformance.c. */
#include <errno.h>
#include <string.h>

#include "actuator-fixture.h"

TEST("setspeed", test_acquire_saves_first)
{
	char *text;

	fixture_acquire(f, 0);
	text = fixture_text(f, SAVED_FILE);
	assert_non_null(strstr(text, "/policy0/scaling_governor schedutil userspace\n"));
	assert_null(strstr(text, "setspeed"));
	free(text);
	assert_control(0, "scaling_governor", "userspace");
	assert_int_equal(f->domains[0].state, ACTUATOR_STATE_DRIVEN);
}

TEST("setspeed limits", test_acquire_without_room_changes_nothing)
{
	fixture_fill_run_dir(f);
	assert_int_equal(backend->acquire(&f->domains[0]), -ENOSPC);
	assert_non_null(strstr(f->domains[0].why, "No space left"));
	fixture_empty_run_dir(f);
	fixture_assert_as_before(f);
}

/* Apply. */

TEST("setspeed limits uclamp", test_apply_each_opp)
{
	for (uint32_t d = 0; d < f->topology->n_domains; d++) {
		const struct topology_domain *info = &f->topology->domains[d];
		struct actuator_domain *domain = fixture_acquire(f, d);

		for (int round = 0; round < 3; round++)
			for (uint32_t i = info->n_opps; i-- > 0;) {
				int r = fixture_apply(domain, info->opp_khz[i]);

				assert_in_range(r, ACTUATOR_DONE, ACTUATOR_UNCHANGED);
				fixture_expect_frequency(info->first_cpu, info->opp_khz[i]);
			}
		assert_int_equal(domain->read_back_mismatches, 0);
		assert_int_equal(domain->write_errors, 0);
	}
}

/* 0 where the driver has no table of its OPPs. */
static uint32_t transitions_of(uint32_t policy)
{
	return has_control(policy, "stats/total_trans")
		       ? read_control_u32(policy, "stats/total_trans")
		       : 0;
}

TEST("setspeed limits uclamp", test_apply_unchanged_writes_nothing)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	uint32_t transitions;
	uint64_t writes;

	fixture_apply(domain, 600000);
	fixture_apply(domain, 1000000);
	fixture_expect_frequency(0, 1000000);
	transitions = transitions_of(0);
	writes = domain->writes;
	for (int i = 0; i < 100; i++)
		assert_int_equal(fixture_apply(domain, 1000000), ACTUATOR_UNCHANGED);
	assert_int_equal(domain->writes, writes);
	assert_int_equal(transitions_of(0), transitions);
}

/* At once, it measures nothing that was asked for; between limits there is nothing to compare. */
static void expect_read_back(const struct actuator_domain *domain, uint32_t khz)
{
	if (domain->setspeed_fd < 0 || fixture_measures_frequency(domain->info->first_cpu))
		return;
	assert_int_equal(domain->read_back_khz, khz);
	assert_int_equal(domain->read_back_mismatches, 0);
}

TEST("setspeed", test_apply_under_limits)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	/* schedutil may have left the domain at the OPP that is asked for. */
	fixture_apply(domain, 600000);
	write_limit(0, "scaling_max_freq", "1000000");
	assert_int_equal(fixture_apply(domain, 1400000), ACTUATOR_DONE);
	expect_read_back(domain, 1000000);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);

	/* The kernel still holds the request, so there is nothing to write. */
	write_limit(0, "scaling_max_freq", "1800000");
	fixture_expect_frequency(0, 1400000);
	assert_int_equal(fixture_apply(domain, 1400000), ACTUATOR_UNCHANGED);

	write_limit(0, "scaling_min_freq", "1000000");
	assert_int_equal(fixture_apply(domain, 400000), ACTUATOR_DONE);
	expect_read_back(domain, 1000000);
	write_limit(0, "scaling_min_freq", "400000");
}
