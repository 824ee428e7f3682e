// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag/diag.h"

static char sys[64], last_name[64];
static struct throttle last;

static int set_up(void **state)
{
	strcpy(sys, "/tmp/wakegov-limiters-XXXXXX");
	assert_non_null(mkdtemp(sys));
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int tear_down(void **state)
{
	return nftw(sys, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *name, const char *value)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", sys, name);
	for (char *slash = strchr(path + strlen(sys) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", value);
	fclose(file);
}

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
	assert_int_equal(throttle_find(sys, &domain, take, found), 0);
	assert_string_equal(found, expected);
}

static void test_nobody(void **state)
{
	check((struct throttle_domain){ 0 }, "");
	check((struct throttle_domain)ASKED(1000000, 1040000), "");
}

static void test_somebody_wrote(void **state)
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
static void test_percent(void **state)
{
	put("devices/system/cpu/intel_pstate/max_perf_pct", "100");
	put("devices/system/cpu/intel_pstate/min_perf_pct", "22");
	check((struct throttle_domain)ASKED(1800000, 900000), "driver ");
	put("devices/system/cpu/intel_pstate/max_perf_pct", "50");
	check((struct throttle_domain)ASKED(1800000, 900000), "max-perf-pct ");
	assert_int_equal(last.percent, 50);
	/* In passive mode it lowers scaling_max_freq, without a request for that. */
	check((struct throttle_domain){ .scaling_max_khz = 900000 }, "max-perf-pct ");
	put("devices/system/cpu/intel_pstate/max_perf_pct", "100");
	put("devices/system/cpu/intel_pstate/min_perf_pct", "50");
	check((struct throttle_domain){ 0 }, "min-perf-pct ");
}

static void test_sched_ext(void **state)
{
	put("kernel/sched_ext/root/ops", "lavd");
	put("kernel/sched_ext/switch_all", "0");
	check((struct throttle_domain){ 0 }, "");
	put("kernel/sched_ext/switch_all", "1");
	check((struct throttle_domain){ 0 }, "sched-ext ");
}

static void test_firmware(void **state)
{
	put("devices/system/cpu/cpu2/cpufreq/bios_limit", "1000000");
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "firmware ");
	/* Somebody went lower than the firmware wants. */
	check((struct throttle_domain){ .scaling_max_khz = 800000, .request_max_khz = 800000 },
	      "scaling-max ");
	check((struct throttle_domain){ 0 }, "");
}

static void test_heat(void **state)
{
	put("class/thermal/cooling_device0/type", "Fan");
	put("class/thermal/cooling_device0/cur_state", "3");
	put("class/thermal/cooling_device0/max_state", "5");
	put("class/thermal/cooling_device1/type", "Processor");
	put("class/thermal/cooling_device1/cur_state", "0");
	put("class/thermal/cooling_device1/max_state", "7");
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "kernel-max ");
	put("class/thermal/cooling_device1/cur_state", "2");
	check((struct throttle_domain){ .scaling_max_khz = 1000000 }, "thermal ");
	assert_string_equal(last_name, "cooling_device1");
	assert_int_equal(last.step, 2);
	assert_int_equal(last.steps, 7);
	check((struct throttle_domain){ 0 }, "");
	/* Idle time that is injected shows in no limit. */
	put("class/thermal/cooling_device2/type", "intel_powerclamp");
	put("class/thermal/cooling_device2/cur_state", "-1");
	put("class/thermal/cooling_device2/max_state", "100");
	check((struct throttle_domain){ 0 }, "");
	put("class/thermal/cooling_device2/cur_state", "20");
	check((struct throttle_domain){ 0 }, "idle-injection ");
	put("class/thermal/cooling_device2/type", "idle-cpu0");
	check((struct throttle_domain){ 0 }, "idle-injection ");
}

static void test_turbo(void **state)
{
	put("devices/system/cpu/cpufreq/boost", "1");
	check((struct throttle_domain){ 0 }, "");
	put("devices/system/cpu/cpufreq/boost", "0");
	check((struct throttle_domain){ 0 }, "boost-off ");
	put("devices/system/cpu/cpufreq/boost", "1");
	put("devices/system/cpu/cpufreq/policy2/boost", "1");
	check((struct throttle_domain){ 0 }, "");
	put("devices/system/cpu/cpufreq/policy2/boost", "0");
	check((struct throttle_domain){ 0 }, "boost-off ");
	assert_string_equal(last_name, "cpufreq/policy2/boost");
	put("devices/system/cpu/intel_pstate/no_turbo", "1");
	check((struct throttle_domain){ 0 }, "boost-off ");
}

static void test_driver(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_somebody_wrote, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_percent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sched_ext, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_firmware, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_heat, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_turbo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_driver, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
