// SPDX-License-Identifier: GPL-2.0-only
#include "fake-files.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "diag/diag.h"

static char last_name[64];
static struct throttle last;

static int take(void *context, const struct throttle *found)
{
	strcat(context, found->who);
	strcat(context, " ");
	last = *found;
	snprintf(last_name, sizeof(last_name), "%s", found->name ?: "");
	return 0;
}

#define BETWEEN(min, max, now)                                                       \
	{                                                                            \
		.asked_min_khz = (min), .asked_max_khz = (max), .current_khz = (now) \
	}
#define ASKED(khz, now) BETWEEN(khz, khz, now)

/* The words for who limits, in their order. */
static void check(struct throttle_domain domain, const char *expected)
{
	char found[256] = "";

	domain.first_cpu = 2;
	domain.lowest_khz = 400000;
	domain.highest_khz = 1800000;
	domain.scaling_min_khz = domain.scaling_min_khz ?: 400000;
	domain.scaling_max_khz = domain.scaling_max_khz ?: 1800000;
	domain.request_min_khz = domain.request_min_khz ?: 400000;
	domain.request_max_khz = domain.request_max_khz ?: INT32_MAX;
	assert_int_equal(throttle_find(fake_root, &domain, take, found), 0);
	assert_string_equal(found, expected);
}

FILES_TEST(test_nobody)
{
	check((struct throttle_domain){ 0 }, "");
	check((struct throttle_domain)ASKED(1000000, 1040000), "");
}

FILES_TEST(test_somebody_wrote)
{
	check((struct throttle_domain){ .request_max_khz = 1000000 }, "scaling-max ");
	check((struct throttle_domain){ .request_min_khz = 1000000 }, "scaling-min ");
	check((struct throttle_domain){ .request_min_khz = 600000, .request_max_khz = 600000 },
	      "scaling-max scaling-min ");
	assert_int_equal(last.khz, 600000);
	/* Lower than any request: the limit is another one. */
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "kernel-max ");
	assert_int_equal(last.khz, 1000000);
}

/* Limits of intel_pstate for all CPUs; its driver shows them in no file of the policy. */
FILES_TEST(test_percent)
{
	fake_file("devices/system/cpu/intel_pstate/max_perf_pct", "100");
	fake_file("devices/system/cpu/intel_pstate/min_perf_pct", "22");
	check((struct throttle_domain)ASKED(1800000, 900000), "driver ");
	fake_file("devices/system/cpu/intel_pstate/max_perf_pct", "50");
	check((struct throttle_domain)ASKED(1800000, 900000), "max-perf-pct ");
	assert_int_equal(last.percent, 50);
	/* In passive mode it lowers scaling_max_freq, without a request for that. */
	check((struct throttle_domain){ .scaling_max_khz = 900000 }, "max-perf-pct ");
	fake_file("devices/system/cpu/intel_pstate/max_perf_pct", "100");
	fake_file("devices/system/cpu/intel_pstate/min_perf_pct", "50");
	check((struct throttle_domain){ 0 }, "min-perf-pct ");
}

FILES_TEST(test_sched_ext)
{
	fake_file("kernel/sched_ext/root/ops", "lavd");
	fake_file("kernel/sched_ext/switch_all", "0");
	check((struct throttle_domain){ 0 }, "");
	fake_file("kernel/sched_ext/switch_all", "1");
	check((struct throttle_domain){ 0 }, "sched-ext ");
}

FILES_TEST(test_firmware)
{
	fake_file("devices/system/cpu/cpu2/cpufreq/bios_limit", "1000000");
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "firmware ");
	/* Somebody went lower than the firmware wants. */
	check((struct throttle_domain){ .scaling_max_khz = 800000, .request_max_khz = 800000 },
	      "scaling-max ");
	check((struct throttle_domain){ 0 }, "");
}

FILES_TEST(test_heat)
{
	fake_file("class/thermal/cooling_device0/type", "Fan");
	fake_file("class/thermal/cooling_device0/cur_state", "3");
	fake_file("class/thermal/cooling_device0/max_state", "5");
	fake_file("class/thermal/cooling_device1/type", "Processor");
	fake_file("class/thermal/cooling_device1/cur_state", "0");
	fake_file("class/thermal/cooling_device1/max_state", "7");
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "kernel-max ");
	fake_file("class/thermal/cooling_device1/cur_state", "2");
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "thermal ");
	assert_string_equal(last_name, "cooling_device1");
	assert_int_equal(last.step, 2);
	assert_int_equal(last.steps, 7);
	check((struct throttle_domain){ 0 }, "");
	/* Idle time that is injected shows in no limit. */
	fake_file("class/thermal/cooling_device2/type", "intel_powerclamp");
	fake_file("class/thermal/cooling_device2/cur_state", "-1");
	fake_file("class/thermal/cooling_device2/max_state", "100");
	check((struct throttle_domain){ 0 }, "");
	fake_file("class/thermal/cooling_device2/cur_state", "20");
	check((struct throttle_domain){ 0 }, "idle-injection ");
	fake_file("class/thermal/cooling_device2/type", "idle-cpu0");
	check((struct throttle_domain){ 0 }, "idle-injection ");
}

FILES_TEST(test_turbo)
{
	fake_file("devices/system/cpu/cpufreq/boost", "1");
	check((struct throttle_domain){ 0 }, "");
	fake_file("devices/system/cpu/cpufreq/boost", "0");
	check((struct throttle_domain){ 0 }, "boost-off ");
	fake_file("devices/system/cpu/cpufreq/boost", "1");
	fake_file("devices/system/cpu/cpufreq/policy2/boost", "1");
	check((struct throttle_domain){ 0 }, "");
	fake_file("devices/system/cpu/cpufreq/policy2/boost", "0");
	check((struct throttle_domain){ 0 }, "boost-off ");
	assert_string_equal(last_name, "cpufreq/policy2/boost");
	fake_file("devices/system/cpu/intel_pstate/no_turbo", "1");
	check((struct throttle_domain){ 0 }, "boost-off ");
}

FILES_TEST(test_driver)
{
	check((struct throttle_domain)ASKED(1800000, 1200000), "driver ");
	check((struct throttle_domain)ASKED(800000, 1200000), "driver ");
	/* Between two limits its governor decides, and outside of them it cannot. */
	check((struct throttle_domain)BETWEEN(600000, 1400000, 1000000), "");
	check((struct throttle_domain)BETWEEN(600000, 1400000, 1800000), "driver ");
	check((struct throttle_domain)BETWEEN(1000000, 1400000, 600000), "driver ");
	/* What the limit makes of it is no riddle. */
	check((struct throttle_domain){ .asked_min_khz = 1800000,
					.asked_max_khz = 1800000,
					.current_khz = 1000000,
					.request_max_khz = 1000000,
					.scaling_max_khz = 1000000 },
	      "scaling-max ");
	check((struct throttle_domain){ .current_khz = 1200000 }, "");
}
