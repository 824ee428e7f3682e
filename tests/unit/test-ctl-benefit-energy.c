// SPDX-License-Identifier: GPL-2.0-only
#include "fake-files.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "ctl/benefit.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define PACKAGE "class/powercap/intel-rapl:0"
#define BATTERY "class/power_supply/BAT0"

static struct energy_meter meter;

static void package(const char *zone, const char *name, const char *energy_uj)
{
	char path[128];

	snprintf(path, sizeof(path), "class/powercap/%s/name", zone);
	fake_file(path, "%s", name);
	snprintf(path, sizeof(path), "class/powercap/%s/energy_uj", zone);
	fake_file(path, "%s", energy_uj);
	snprintf(path, sizeof(path), "class/powercap/%s/max_energy_range_uj", zone);
	fake_file(path, "4294967295");
}

static void battery(const char *status, const char *power)
{
	fake_file(BATTERY "/type", "Battery");
	fake_file(BATTERY "/status", "%s", status);
	fake_file(BATTERY "/power_now", "%s", power);
}

static void sensor(const char *name, const char *file, const char *value)
{
	char path[128];

	fake_file("class/hwmon/hwmon3/name", "%s", name);
	snprintf(path, sizeof(path), "class/hwmon/hwmon3/%s", file);
	fake_file(path, "%s", value);
}

static void found(const char *source)
{
	energy_find(fake_root, NS_PER_S, &meter);
	if (source)
		assert_string_equal(meter.source, source);
	else
		assert_null(meter.source);
	assert_int_equal(meter.n_inputs > 0, source != NULL);
}

/* So many joules since it was found, at so many seconds. */
static void reads(double joules, uint64_t at_s)
{
	energy_read(&meter, at_s * NS_PER_S);
	assert_true(fabs(meter.joules - joules) < 1e-6);
}

static void test_nothing(void **state)
{
	found(NULL);
	reads(0, 2);
	assert_int_equal(meter.n_lost, 0);
}

static void test_order_of_worth(void **state)
{
	sensor("power_meter", "power1_average", "90000000");
	found("hwmon");
	battery("Discharging", "9000000");
	found("battery");
	package("intel-rapl:0", "package-0", "1");
	found("powercap");
}

static void test_packages(void **state)
{
	package("intel-rapl:0", "package-0", "1000000");
	package("intel-rapl:11", "package-1", "7000000");
	/* None of these is added to them: each is in one, or has both. */
	package("intel-rapl:0:0", "core", "500000");
	package("intel-rapl:2", "psys", "500000");
	found("powercap");
	assert_int_equal(meter.n_inputs, 2);
	fake_file(PACKAGE "/energy_uj", "3500000");
	fake_file("class/powercap/intel-rapl:0:0/energy_uj", "900000000");
	reads(2.5, 2);
	fake_file("class/powercap/intel-rapl:11/energy_uj", "7250000");
	reads(2.75, 3);
}

static void test_counter_begins_again(void **state)
{
	package("intel-rapl:0", "package-0", "4294000000");
	found("powercap");
	fake_file(PACKAGE "/energy_uj", "1000000");
	reads(1.967295, 2);
	fake_file(PACKAGE "/energy_uj", "1500000");
	reads(2.467295, 3);
	assert_int_equal(meter.n_lost, 0);

	/* Nobody knows where it began again. */
	fake_file_remove(PACKAGE "/max_energy_range_uj");
	found("powercap");
	fake_file(PACKAGE "/energy_uj", "1000");
	reads(0, 2);
	assert_int_equal(meter.n_lost, 1);
	fake_file(PACKAGE "/energy_uj", "501000");
	reads(0.5, 3);
	assert_int_equal(meter.n_lost, 1);
}

/* What lies beside a gap is lost, and what comes after it is not taken to have been in it. */
static void test_vanishes(void **state)
{
	package("intel-rapl:0", "package-0", "1000000");
	found("powercap");
	fake_file_remove(PACKAGE "/energy_uj");
	reads(0, 2);
	fake_file(PACKAGE "/energy_uj", "9000000");
	reads(0, 3);
	assert_int_equal(meter.n_lost, 2);
	fake_file(PACKAGE "/energy_uj", "9500000");
	reads(0.5, 4);
	assert_int_equal(meter.n_lost, 2);
	fake_file(PACKAGE "/energy_uj", "<not supported>");
	reads(0.5, 5);
	assert_int_equal(meter.n_lost, 3);
}

static void test_battery(void **state)
{
	battery("Charging", "12000000");
	found(NULL);
	battery("Discharging", "10000000");
	found("battery");
	battery("Discharging", "14000000");
	reads(24, 3); /* two seconds of 10 to 14 W */
	battery("Charging", "30000000");
	reads(24, 4);
	assert_int_equal(meter.n_lost, 1);

	/* Some drivers have only these, and what flows out is negative to some. */
	fake_file_remove(BATTERY "/power_now");
	fake_file(BATTERY "/status", "Discharging");
	fake_file(BATTERY "/current_now", "-500000");
	fake_file(BATTERY "/voltage_now", "12000000");
	found("battery");
	reads(6, 2);

	fake_file(BATTERY "/scope", "Device");
	found(NULL);
}

static void test_sensors(void **state)
{
	static const struct {
		const char *name, *file, *value;
		bool is_used;
		double joules; /* of a second */
	} cases[] = {
		{ "power_meter", "power1_average", "90000000", true, 90 },
		{ "fam15h_power", "power1_input", "35000000", true, 35 },
		{ "ina226", "power1_input", "4000000", true, 4 },
		{ "amdgpu", "power1_average", "50000000", false },
		{ "nvme", "power1_input", "5000000", false },
		{ "coretemp", "temp1_input", "45000", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[64];

		sensor(cases[i].name, cases[i].file, cases[i].value);
		found(cases[i].is_used ? "hwmon" : NULL);
		reads(cases[i].joules, 2);
		snprintf(path, sizeof(path), "class/hwmon/hwmon3/%s", cases[i].file);
		fake_file_remove(path);
	}
}

static void test_sockets(void **state)
{
	sensor("amd_energy", "energy1_input", "1000000");
	sensor("amd_energy", "energy1_label", "Ecore000");
	sensor("amd_energy", "energy2_input", "8000000");
	sensor("amd_energy", "energy2_label", "Esocket0");
	found("hwmon");
	assert_int_equal(meter.n_inputs, 1);
	sensor("amd_energy", "energy2_input", "8750000");
	reads(0.75, 2);
}

static void test_many(void **state)
{
	for (int i = 0; i < 20; i++) {
		char zone[32], name[32];

		snprintf(zone, sizeof(zone), "intel-rapl:%d", i);
		snprintf(name, sizeof(name), "package-%d", i);
		package(zone, name, "1");
	}
	found("powercap");
	assert_int_equal(meter.n_inputs, ENERGY_INPUTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_files_set_up, fake_files_tear_down)
		TEST(test_nothing),  TEST(test_order_of_worth),
		TEST(test_packages), TEST(test_counter_begins_again),
		TEST(test_vanishes), TEST(test_battery),
		TEST(test_sensors),  TEST(test_sockets),
		TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
