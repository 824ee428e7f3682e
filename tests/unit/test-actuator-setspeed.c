// SPDX-License-Identifier: GPL-2.0-only
/* What a fake tree can tell of the backends; tests/lab/actuator-conformance has the rest. */
#include "fake-setting.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "core/opp.h"
#include "shared/cleanup.h"

#define POLICY(file) "cpufreq/policy0/scaling_" file

static const struct topology_domain info = {
	.name = "policy0",
	.n_opps = 5,
	.opp_khz = { 400000, 600000, 1000000, 1400000, 1800000 },
	.capacity = 1024,
};

static int set_up(void **state)
{
	return setting_begin(state) < 0 ? -1 : setting_open(*state, &info);
}

#define FIXTURE_TEST(name) SETTING_TEST(name, set_up)

static int apply(const struct backend *backend, struct actuator_domain *domain, uint32_t khz)
{
	const struct actuator_request request = { .target_khz = khz };

	return backend->apply(domain, &request);
}

static void assert_nothing_saved(struct setting *s)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/" SAVED_FILE, s->run_dir);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(s->saved->n, 0);
}

/* In the place of libc's: 1, and a tick's length without high-resolution timers. */
static long resolution_ns = 1;

int clock_getres(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_nsec = resolution_ns };
	return 0;
}

/* With highres=off no tick is seen. */
FIXTURE_TEST(test_unseen_ticks_are_refused)
{
	const struct backend *const backends[] = { &backend_setspeed, &backend_limits };

	resolution_ns = 4000000;
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		assert_int_equal(backends[i]->acquire(&s->domain), -EOPNOTSUPP);
		assert_non_null(strstr(s->domain.why, "highres=off"));
		assert_nothing_saved(s);
	}
	resolution_ns = 1;
}

/* A task that is alone on a CPU without a tick would not be seen to work. */
FIXTURE_TEST(test_tickless_is_refused)
{
	static const struct {
		const char *list;
		int expected;
	} cases[] = {
		{ "0", -EOPNOTSUPP },	     { "0-3", -EOPNOTSUPP },	 { "1,3", -EOPNOTSUPP },
		{ "3-7,1-2", -EOPNOTSUPP },  { "2-3,5", ACTUATOR_DONE }, { "10-11", ACTUATOR_DONE },
		{ "(null)", ACTUATOR_DONE }, { "", ACTUATOR_DONE },
	};
	const struct backend *const backends[] = { &backend_setspeed, &backend_limits };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_write("nohz_full", "%s", cases[i].list);
		for (size_t j = 0; j < ARRAY_SIZE(backends); j++) {
			assert_int_equal(backends[j]->acquire(&s->domain), cases[i].expected);
			if (cases[i].expected == ACTUATOR_DONE)
				actuator_domain_release(&s->domain, backends[j], NULL, NULL);
			else
				assert_non_null(strstr(s->domain.why, "no scheduler tick"));
			assert_nothing_saved(s);
		}
	}
}

FIXTURE_TEST(test_acquire_and_release)
{
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	fake_assert(POLICY("governor"), "userspace");
	assert_int_equal(s->saved->n, 1);
	/* What the governor finds need not be real: the kernel would not be asked for it. */
	fake_assert(POLICY("setspeed"), "1400000");
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_assert(POLICY("setspeed"), "600000");
	assert_int_equal(s->domain.writes, 2);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_setspeed, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(POLICY("governor"), "schedutil");
	assert_nothing_saved(s);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_setspeed, NULL, NULL),
			 ACTUATOR_DONE);
	assert_int_equal(s->domain.setspeed_fd, -1);
}

/* At a limit, scaling_setspeed may be what a request was clamped to: it is written once. */
FIXTURE_TEST(test_request_at_a_limit_is_not_trusted)
{
	fake_write(POLICY("governor"), "userspace");
	fake_write(POLICY("max_freq"), "1000000");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(s->saved->n, 2);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_UNCHANGED);
	assert_int_equal(s->domain.writes, 1);
}

FIXTURE_TEST(test_no_room_to_save)
{
	fake_fill(s->run_dir);
	assert_int_equal(backend_setspeed.acquire(&s->domain), -ENOSPC);
	assert_string_equal(s->domain.why, "the original values cannot be saved in /run (No space "
					   "left on device)");
	assert_int_equal(s->domain.state, ACTUATOR_STATE_RELEASED);
	fake_assert(POLICY("governor"), "schedutil");
	fake_empty(s->run_dir);
	assert_nothing_saved(s);
}

static void make_read_only(const char *path)
{
	assert_int_equal(mount(path, path, "none", MS_BIND, NULL), 0);
	assert_int_equal(mount("none", path, "none", MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
}

FIXTURE_TEST(test_read_only_sys)
{
	make_read_only(FAKE_CPU "/" POLICY("setspeed"));
	assert_int_equal(backend_setspeed.acquire(&s->domain), -EROFS);
	assert_non_null(strstr(s->domain.why, "ProtectKernelTunables=no"));
	assert_nothing_saved(s);
	umount2(FAKE_CPU "/" POLICY("setspeed"), MNT_DETACH);
}

struct refusal {
	const char *driver, *governors, *why;
	int error;
};

static const struct refusal refusals[] = {
	{ "intel_pstate", "performance powersave",
	  "driver intel_pstate has no userspace governor (it offers performance powersave): use "
	  "backend = limits",
	  -EOPNOTSUPP },
	{ "amd-pstate-epp", "performance powersave",
	  "driver amd-pstate-epp has no userspace governor (it offers performance powersave): use "
	  "backend = limits",
	  -EOPNOTSUPP },
	{ "acpi-cpufreq", "performance schedutil",
	  "there is no userspace governor (the kernel offers performance schedutil): modprobe "
	  "cpufreq_userspace, or use backend = limits",
	  -EOPNOTSUPP },
	{ "acpi-cpufreq", "userspace schedutil",
	  "driver acpi-cpufreq refused the userspace governor (Invalid argument): use "
	  "backend = limits",
	  -EIO },
};

/* A link that leads nowhere useful makes the write a success that changes nothing. */
static void check_refusal(const struct refusal *refusal)
{
	struct setting *s = NULL;

	assert_int_equal(set_up((void **)&s), 0);
	fake_write(POLICY("driver"), "%s", refusal->driver);
	fake_write(POLICY("available_governors"), "%s", refusal->governors);
	assert_int_equal(unlink(FAKE_CPU "/cpu0/cpufreq"), 0);
	fake_write("cpu0/cpufreq/scaling_governor", "nothing");
	assert_int_equal(backend_setspeed.acquire(&s->domain), refusal->error);
	assert_string_equal(s->domain.why, refusal->why);
	assert_false(s->domain.held);
	fake_assert(POLICY("governor"), "schedutil");
	assert_nothing_saved(s);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), -EINVAL);
	fake_assert(POLICY("setspeed"), "1000000");
	setting_tear_down((void **)&s);
}

TEST(test_refusals)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		check_refusal(&refusals[i]);
}

FIXTURE_TEST(test_read_back)
{
	static const struct {
		const char *current, *max;
		uint64_t mismatches;
	} steps[] = {
		{ "1400000", "1800000", 0 }, { "1800000", "1800000", 1 }, /* another OPP */
		{ "1399873", "1800000", 1 }, /* a measurement proves nothing */
		{ "1000000", "1200000", 1 }, /* clamped: the OPP below the limit */
		{ "600000", "1200000", 2 },
	};

	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		fake_write(POLICY("cur_freq"), "%s", steps[i].current);
		fake_write(POLICY("max_freq"), "%s", steps[i].max);
		s->domain.asked_khz = 0;
		assert_int_equal(apply(&backend_setspeed, &s->domain, 1400000), ACTUATOR_DONE);
		assert_int_equal(s->domain.read_back_khz, atoi(steps[i].current));
		assert_int_equal(s->domain.read_back_mismatches, steps[i].mismatches);
	}
	assert_int_equal(s->domain.write_errors, 0);
}

static void assert_released(struct setting *s, const char *governor, const char *speed)
{
	assert_int_equal(actuator_domain_release(&s->domain, &backend_setspeed, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(POLICY("governor"), governor);
	if (speed)
		fake_assert(POLICY("setspeed"), speed);
	assert_nothing_saved(s);
}

/* What the other program found was ours: it is not the value from before us. */
FIXTURE_TEST(test_governor_put_back)
{
	for (int is_taken_again = 0; is_taken_again < 2; is_taken_again++) {
		fake_write(POLICY("governor"), "schedutil");
		assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
		fake_write(POLICY("governor"), "performance");
		assert_int_equal(backend_setspeed.verify(&s->domain), ACTUATOR_TAKEN_OVER);
		fake_write(POLICY("governor"), "userspace");
		assert_true(actuator_domain_is_back(&s->domain));
		if (is_taken_again) {
			assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
			assert_int_equal(apply(&backend_setspeed, &s->domain, 600000),
					 ACTUATOR_DONE);
			assert_released(s, "schedutil", NULL);
		} else {
			assert_int_equal(restore_saved(s->run_dir, NULL, NULL), 0);
			fake_assert(POLICY("governor"), "schedutil");
			assert_int_equal(saved_open(s->run_dir, &s->saved), 0);
			s->domain.saved = s->saved;
		}
	}
}

static void give_up_speed(struct setting *s, const char *governor)
{
	fake_write(POLICY("governor"), "%s", governor);
	fake_write(POLICY("setspeed"), "1400000");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_write(POLICY("setspeed"), "1000000");
	s->domain.touched = 1u << CONTROL_SETSPEED;
	assert_int_equal(backend_setspeed.verify(&s->domain), ACTUATOR_TAKEN_OVER);
	assert_false(actuator_domain_is_back(&s->domain));
}

/* It has the governor with its speed; where it puts ours back, what was before us is restored. */
FIXTURE_TEST(test_speed_put_back)
{
	give_up_speed(s, "schedutil");
	assert_released(s, "userspace", "1000000");
	give_up_speed(s, "schedutil");
	fake_write(POLICY("setspeed"), "600000");
	assert_true(actuator_domain_is_back(&s->domain));
	assert_released(s, "schedutil", NULL);
	give_up_speed(s, "userspace");
	fake_write(POLICY("setspeed"), "600000");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_released(s, "userspace", "1400000");
}

/* A write of another program that its close will tell of, caught in between. */
FIXTURE_TEST(test_unknown_speed_is_not_written_over_at_once)
{
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_write(POLICY("setspeed"), "1400000");
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_NOT_YET);
	fake_assert(POLICY("setspeed"), "1400000");
	s->domain.touched = 1u << CONTROL_SETSPEED;
	assert_int_equal(backend_setspeed.verify(&s->domain), ACTUATOR_TAKEN_OVER);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_TAKEN_OVER);
	fake_assert(POLICY("setspeed"), "1400000");
}

/* The kernel restarted its governor, as after a resume: nobody's value, so ours is written. */
FIXTURE_TEST(test_unknown_speed_of_nobody_is_written_over)
{
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_write(POLICY("setspeed"), "1400000");
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_NOT_YET);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1000000), ACTUATOR_DONE);
	fake_assert(POLICY("setspeed"), "1000000");
	fake_write(POLICY("setspeed"), "1400000");
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_NOT_YET);
}

/* intel_pstate, passive: a request is only the least, so the most goes along with it. */
FIXTURE_TEST(test_hwp_is_pinned)
{
	fake_write(POLICY("driver"), "intel_cpufreq");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(s->saved->n, 1); /* without HWP nothing needs to go along */
	assert_int_equal(actuator_domain_release(&s->domain, &backend_setspeed, NULL, NULL),
			 ACTUATOR_DONE);
	fake_write("cpufreq/policy0/energy_performance_preference", "default");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(s->saved->n, 3);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_assert(POLICY("setspeed"), "600000");
	fake_assert(POLICY("max_freq"), "600000");
	fake_assert(POLICY("min_freq"), "400000");
	assert_int_equal(apply(&backend_setspeed, &s->domain, 1400000), ACTUATOR_DONE);
	fake_assert(POLICY("setspeed"), "1400000");
	fake_assert(POLICY("max_freq"), "1400000");
	assert_int_equal(backend_setspeed.verify(&s->domain), ACTUATOR_DONE);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_setspeed, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(POLICY("max_freq"), "1800000");
	assert_nothing_saved(s);
}

/* Whoever takes the governor has it, and the limits that went along with it are put back. */
FIXTURE_TEST(test_hwp_is_let_go)
{
	fake_write(POLICY("driver"), "intel_cpufreq");
	fake_write("cpufreq/policy0/energy_performance_preference", "default");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_write(POLICY("governor"), "ondemand");
	assert_int_equal(backend_setspeed.verify(&s->domain), ACTUATOR_TAKEN_OVER);
	fake_assert(POLICY("max_freq"), "1800000");
	assert_int_equal(s->saved->n, 1);
}

FIXTURE_TEST(test_hwp_limit_of_somebody_else)
{
	fake_write(POLICY("driver"), "intel_cpufreq");
	fake_write("cpufreq/policy0/energy_performance_preference", "default");
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	assert_int_equal(apply(&backend_setspeed, &s->domain, 600000), ACTUATOR_DONE);
	fake_write(POLICY("max_freq"), "1400000");
	s->domain.touched = 1u << CONTROL_MAX_FREQ;
	assert_int_equal(backend_setspeed.verify(&s->domain), ACTUATOR_TAKEN_OVER);
	assert_string_equal(s->domain.why, "another program set scaling_max_freq to 1400000");
	fake_assert(POLICY("max_freq"), "1400000");
	fake_assert(POLICY("governor"), "schedutil");
}

FIXTURE_TEST(test_release_of_a_full_disk)
{
	assert_int_equal(backend_setspeed.acquire(&s->domain), ACTUATOR_DONE);
	fake_fill(s->run_dir);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_setspeed, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(POLICY("governor"), "schedutil");
	fake_empty(s->run_dir);
	assert_nothing_saved(s);
}
