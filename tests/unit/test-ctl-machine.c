// SPDX-License-Identifier: GPL-2.0-only
#include "fake-files.h"

#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "shared/cleanup.h"

#define CPU "devices/system/cpu"

/* The value of this key; NULL: it is not there. */
static void assert_word(const char *key, const char *word)
{
	json_auto_t *found = machine_find(fake_root);
	const char *value = json_string_value(json_object_get(found, key));

	if (word)
		assert_string_equal(value, word);
	else
		assert_null(value);
}

static void assert_number(const char *key, json_int_t number)
{
	json_auto_t *found = machine_find(fake_root);
	const json_t *value = json_object_get(found, key);

	assert_true(json_is_integer(value));
	assert_int_equal(json_integer_value(value), number);
}

static void assert_turbo(bool is_on, const char *file)
{
	json_auto_t *found = machine_find(fake_root);

	assert_true(json_is_boolean(json_object_get(found, "turbo")));
	assert_int_equal(json_is_true(json_object_get(found, "turbo")), is_on);
	assert_word("turbo_file", file);
}

static void assert_power(json_int_t milliwatts, const char *source)
{
	assert_number("power_milliwatts", milliwatts);
	assert_word("power_source", source);
}

FILES_TEST(test_nothing)
{
	json_auto_t *found = machine_find(fake_root);

	assert_int_equal(json_object_size(found), 0);
}

FILES_TEST(test_turbo)
{
	fake_file(CPU "/cpufreq/boost", "1");
	assert_turbo(true, "cpufreq/boost");
	fake_file(CPU "/cpufreq/boost", "0");
	assert_turbo(false, "cpufreq/boost");
	/* The other way round, and what counts where there are both. */
	fake_file(CPU "/intel_pstate/no_turbo", "0");
	assert_turbo(true, "intel_pstate/no_turbo");
	fake_file(CPU "/intel_pstate/no_turbo", "1");
	assert_turbo(false, "intel_pstate/no_turbo");
}

FILES_TEST(test_preferences)
{
	fake_file(CPU "/cpufreq/policy0/energy_performance_preference", "balance_power");
	fake_file(CPU "/cpufreq/policy1/energy_performance_preference", "balance_power");
	assert_word("EPP", "balance_power");
	fake_file(CPU "/cpufreq/policy1/energy_performance_preference", "power");
	assert_word("EPP", "mixed");
	fake_file("firmware/acpi/platform_profile", "low-power");
	assert_word("platform_profile", "low-power");
}

FILES_TEST(test_temperature)
{
	fake_file("class/thermal/thermal_zone0/type", "acpitz");
	fake_file("class/thermal/thermal_zone0/temp", "99000");
	assert_word("temperature_sensor", NULL);
	fake_file("class/thermal/thermal_zone1/type", "cpu-thermal");
	fake_file("class/thermal/thermal_zone1/temp", "61400");
	assert_number("temperature_millidegrees", 61400);
	fake_file("class/hwmon/hwmon0/name", "nvme");
	fake_file("class/hwmon/hwmon0/temp1_input", "90000");
	fake_file("class/hwmon/hwmon1/name", "coretemp");
	fake_file("class/hwmon/hwmon1/temp1_input", "71000");
	fake_file("class/hwmon/hwmon1/temp2_input", "74600");
	assert_number("temperature_millidegrees", 74600);
	assert_word("temperature_sensor", "coretemp");
}

FILES_TEST(test_throttling)
{
	fake_file("class/thermal/cooling_device0/type", "Processor");
	fake_file("class/thermal/cooling_device0/cur_state", "0");
	fake_file("class/thermal/cooling_device1/type", "Processor");
	fake_file("class/thermal/cooling_device1/cur_state", "3");
	fake_file("class/thermal/cooling_device2/type", "Fan");
	fake_file("class/thermal/cooling_device2/cur_state", "1");
	/* Injects no idle time, as this state is. */
	fake_file("class/thermal/cooling_device3/type", "intel_powerclamp");
	fake_file("class/thermal/cooling_device3/cur_state", "-1");
	fake_file("class/thermal/cooling_device4/type", "idle-cpu0");
	fake_file("class/thermal/cooling_device4/cur_state", "20");
	assert_number("cooling_devices", 4);
	assert_number("cooling_limiting", 2);
	for (int cpu = 0; cpu < 2; cpu++) {
		char path[96];

		snprintf(path, sizeof(path), CPU "/cpu%d/thermal_throttle/package_throttle_count",
			 cpu);
		fake_file(path, "12");
		snprintf(path, sizeof(path),
			 CPU "/cpu%d/thermal_throttle/package_throttle_total_time_ms", cpu);
		fake_file(path, "3400");
	}
	assert_number("throttle_count", 12);
	assert_number("throttled_us", 3400000);
}

static void write_battery(const char *status)
{
	fake_file("class/power_supply/BAT0/type", "Battery");
	fake_file("class/power_supply/BAT0/status", "%s", status);
}

/* The best source that there is; a battery that is charged shows another current. */
FILES_TEST(test_power)
{
	fake_file("class/hwmon/hwmon1/name", "nvme");
	fake_file("class/hwmon/hwmon1/power1_input", "5000000");
	assert_word("power_source", NULL);
	fake_file("class/hwmon/hwmon2/name", "ina226");
	fake_file("class/hwmon/hwmon2/power1_input", "4000000");
	assert_power(4000, "hwmon");
	write_battery("Discharging");
	fake_file("class/power_supply/BAT0/power_now", "9400000");
	assert_power(9400, "battery");
	fake_file_remove("class/power_supply/BAT0/power_now");
	fake_file("class/power_supply/BAT0/current_now", "-500000");
	fake_file("class/power_supply/BAT0/voltage_now", "12000000");
	assert_power(6000, "battery");
	write_battery("Charging");
	assert_power(4000, "hwmon");
	write_battery("Discharging");
	fake_file("class/power_supply/BAT0/scope", "Device");
	assert_power(4000, "hwmon");
	fake_file("class/powercap/intel-rapl:0/name", "package-0");
	fake_file("class/powercap/intel-rapl:0/energy_uj", "8000000");
	assert_power(0, "counters");
}
