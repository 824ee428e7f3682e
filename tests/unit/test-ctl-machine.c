// SPDX-License-Identifier: GPL-2.0-only
#include "fake-files.h"

#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "shared/cleanup.h"

#define CPU "devices/system/cpu"

/* The text of the part with this name; NULL: it is not there. */
static void assert_part(const char *name, const char *text)
{
	json_auto_t *found = machine_find(fake_root);
	const json_t *part;
	size_t i;

	json_array_foreach(found, i, part)
		if (!strcmp(json_string_value(json_object_get(part, "name")), name)) {
			assert_non_null(text);
			assert_string_equal(json_string_value(json_object_get(part, "text")), text);
			return;
		}
	assert_null(text);
}

/* For programs, which should not have to read the text. */
static void assert_number(const char *name, const char *key, json_int_t number)
{
	json_auto_t *found = machine_find(fake_root);
	const json_t *part;
	size_t i;

	json_array_foreach(found, i, part)
		if (!strcmp(json_string_value(json_object_get(part, "name")), name))
			assert_int_equal(json_integer_value(json_object_get(part, key)), number);
}

static void test_nothing(void **state)
{
	json_auto_t *found = machine_find(fake_root);

	assert_int_equal(json_array_size(found), 0);
}

static void test_turbo(void **state)
{
	fake_file(CPU "/cpufreq/boost", "1");
	assert_part("turbo", "on (cpufreq/boost)");
	fake_file(CPU "/cpufreq/boost", "0");
	assert_part("turbo", "off (cpufreq/boost)");
	/* The other way round, and what counts where there are both. */
	fake_file(CPU "/intel_pstate/no_turbo", "0");
	assert_part("turbo", "on (intel_pstate/no_turbo)");
	fake_file(CPU "/intel_pstate/no_turbo", "1");
	assert_part("turbo", "off (intel_pstate/no_turbo)");
}

static void test_preferences(void **state)
{
	fake_file(CPU "/cpufreq/policy0/energy_performance_preference", "balance_power");
	fake_file(CPU "/cpufreq/policy1/energy_performance_preference", "balance_power");
	assert_part("EPP", "balance_power");
	fake_file(CPU "/cpufreq/policy1/energy_performance_preference", "power");
	assert_part("EPP", "mixed");
	fake_file("firmware/acpi/platform_profile", "low-power");
	assert_part("platform", "profile low-power");
}

static void test_temperature(void **state)
{
	fake_file("class/thermal/thermal_zone0/type", "acpitz");
	fake_file("class/thermal/thermal_zone0/temp", "99000");
	assert_part("heat", NULL);
	fake_file("class/thermal/thermal_zone1/type", "cpu-thermal");
	fake_file("class/thermal/thermal_zone1/temp", "61400");
	assert_part("heat", "61 °C, the highest of cpu-thermal");
	fake_file("class/hwmon/hwmon0/name", "nvme");
	fake_file("class/hwmon/hwmon0/temp1_input", "90000");
	fake_file("class/hwmon/hwmon1/name", "coretemp");
	fake_file("class/hwmon/hwmon1/temp1_input", "71000");
	fake_file("class/hwmon/hwmon1/temp2_input", "74600");
	assert_part("heat", "75 °C, the highest of coretemp");
	assert_number("heat", "millidegrees", 74600);
}

static void test_throttling(void **state)
{
	fake_file("class/thermal/cooling_device0/type", "Processor");
	fake_file("class/thermal/cooling_device0/cur_state", "0");
	fake_file("class/thermal/cooling_device1/type", "Processor");
	fake_file("class/thermal/cooling_device1/cur_state", "3");
	fake_file("class/thermal/cooling_device2/type", "Fan");
	fake_file("class/thermal/cooling_device2/cur_state", "1");
	assert_part("cooling", "1 of 2 CPU cooling devices limit now");
	assert_part("throttled", NULL);
	for (int cpu = 0; cpu < 2; cpu++) {
		char path[96];

		snprintf(path, sizeof(path), CPU "/cpu%d/thermal_throttle/package_throttle_count",
			 cpu);
		fake_file(path, "12");
		snprintf(path, sizeof(path),
			 CPU "/cpu%d/thermal_throttle/package_throttle_total_time_ms", cpu);
		fake_file(path, "3400");
	}
	assert_part("throttled", "12 times since the boot, 3.4 s in all");
}

static void write_battery(const char *status)
{
	fake_file("class/power_supply/BAT0/type", "Battery");
	fake_file("class/power_supply/BAT0/status", "%s", status);
}

/* The best source that there is; a battery that is charged shows another current. */
static void test_power(void **state)
{
	fake_file("class/hwmon/hwmon1/name", "nvme");
	fake_file("class/hwmon/hwmon1/power1_input", "5000000");
	assert_part("power", NULL);
	fake_file("class/hwmon/hwmon2/name", "ina226");
	fake_file("class/hwmon/hwmon2/power1_input", "4000000");
	assert_part("power", "4.0 W by hwmon");
	write_battery("Discharging");
	fake_file("class/power_supply/BAT0/power_now", "9400000");
	assert_part("power", "9.4 W by battery");
	assert_number("power", "milliwatts", 9400);
	fake_file_remove("class/power_supply/BAT0/power_now");
	fake_file("class/power_supply/BAT0/current_now", "-500000");
	fake_file("class/power_supply/BAT0/voltage_now", "12000000");
	assert_part("power", "6.0 W by battery");
	write_battery("Charging");
	assert_part("power", "4.0 W by hwmon");
	write_battery("Discharging");
	fake_file("class/power_supply/BAT0/scope", "Device");
	assert_part("power", "4.0 W by hwmon");
	fake_file("class/hwmon/hwmon3/energy1_input", "8000000");
	fake_file("class/hwmon/hwmon3/energy1_label", "Esocket0");
	assert_part("power", "0.0 W by counters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_turbo, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_preferences, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_temperature, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_throttling, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_power, fake_files_set_up,
						fake_files_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
