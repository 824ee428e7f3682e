// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine says of itself in /sys: turbo, energy preferences, temperatures, throttling,
 * power; as numbers and words in JSON, with the units in their names.
 */
#include "ctl/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/print.h"
#include "diag/diag.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/time.h"

#define POWER_SAMPLE_US 100000
#define TEXT_SIZE	96

static void add_number(json_t *found, const char *key, double number)
{
	json_object_set_new(found, key, json_integer((json_int_t)number));
}

/* common, of TEXT_SIZE: a word that all have, or "mixed". */
static void add_preference(const char *path, void *common)
{
	char word[TEXT_SIZE];

	if (!sysfs_read_line(word, sizeof(word), "%s", path))
		return;
	if (!*(char *)common)
		strcpy(common, word);
	else if (strcmp(common, word) != 0)
		strcpy(common, "mixed");
}

static void find_preferences(json_t *found, const char *sys)
{
	char preference[TEXT_SIZE] = "", profile[TEXT_SIZE];

	sysfs_each(add_preference, preference,
		   "%s/devices/system/cpu/cpufreq/policy*/energy_performance_preference", sys);
	if (preference[0])
		json_object_set_new(found, "EPP", format_json(preference));
	if (sysfs_read_line(profile, sizeof(profile), "%s/firmware/acpi/platform_profile", sys))
		json_object_set_new(found, "platform_profile", format_json(profile));
}

struct heat {
	double highest_mc; /* thousandths of a degree; 0: no sensor */
	char sensor[TEXT_SIZE];
};

static void add_temperature(struct heat *heat, const char *path, const char *sensor)
{
	double mc;

	if (!sysfs_read_number(&mc, "%s", path) || mc <= heat->highest_mc)
		return;
	heat->highest_mc = mc;
	snprintf(heat->sensor, sizeof(heat->sensor), "%s", sensor);
}

/* A temperature of hwmon, if its driver is one of CPUs. */
static void add_hwmon(const char *path, void *context)
{
	static const char *const drivers[] = { "coretemp", "k10temp", "zenpower", "cpu_thermal",
					       "scpi_sensors" };
	struct heat *heat = context;
	char name[TEXT_SIZE];

	if (!sysfs_read_line(name, sizeof(name), "%.*s/name", (int)(strrchr(path, '/') - path),
			     path))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(name, drivers[i]))
			add_temperature(heat, path, name);
}

/* A thermal zone whose type names a CPU: x86_pkg_temp, cpu-thermal, cpu0-thermal, soc-thermal. */
static void add_zone(const char *path, void *context)
{
	struct heat *heat = context;
	char type[TEXT_SIZE], temperature[SYSFS_PATH_SIZE];

	if (!sysfs_read_line(type, sizeof(type), "%s/type", path) ||
	    (!strstr(type, "cpu") && !strstr(type, "pkg") && !strstr(type, "soc")))
		return;
	snprintf(temperature, sizeof(temperature), "%s/temp", path);
	add_temperature(heat, temperature, type);
}

static void find_temperature(json_t *found, const char *sys)
{
	struct heat heat = { 0 };

	sysfs_each(add_hwmon, &heat, "%s/class/hwmon/hwmon*/temp*_input", sys);
	if (!heat.highest_mc)
		sysfs_each(add_zone, &heat, "%s/class/thermal/thermal_zone*", sys);
	if (heat.highest_mc) {
		add_number(found, "temperature_millidegrees", heat.highest_mc);
		json_object_set_new(found, "temperature_sensor", format_json(heat.sensor));
	}
}

struct cooling {
	unsigned int n, active;
};

static void add_cooling(const char *path, void *context)
{
	struct cooling *cooling = context;
	char type[TEXT_SIZE];
	bool is_idle;
	double state;

	if (!sysfs_read_line(type, sizeof(type), "%s/type", path) ||
	    !cooling_limits_cpus(type, &is_idle) ||
	    !sysfs_read_number(&state, "%s/cur_state", path))
		return;
	cooling->n++;
	cooling->active += state > 0;
}

static void find_throttling(json_t *found, const char *sys)
{
	struct cooling cooling = { 0 };
	double events = -1, ms = 0;

	sysfs_highest(&events, sys,
		      "/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count");
	sysfs_highest(&ms, sys,
		      "/devices/system/cpu/cpu*/thermal_throttle/package_throttle_total_time_ms");
	sysfs_each(add_cooling, &cooling, "%s/class/thermal/cooling_device*", sys);
	if (events >= 0) {
		add_number(found, "throttle_count", events);
		add_number(found, "throttled_us", ms * 1000);
	}
	if (cooling.n) {
		add_number(found, "cooling_devices", cooling.n);
		add_number(found, "cooling_limiting", cooling.active);
	}
}

/* Only packages: core and uncore are parts of one, psys contains them. In microjoules. */
static void sum_packages(const char *zone, void *sum_uj)
{
	double uj;

	if (sysfs_matches("package-*", "%s/name", zone) &&
	    sysfs_read_number(&uj, "%s/energy_uj", zone))
		*(double *)sum_uj += uj;
}

/* The sum of the packages' counters; 0: there are none. */
static double read_energy_uj(const char *sys)
{
	double sum_uj = 0;

	sysfs_each(sum_packages, &sum_uj, "%s/class/powercap/intel-rapl:*", sys);
	return sum_uj;
}

/* Documentation/ABI/testing/sysfs-class-power */
static void sum_batteries(const char *supply, void *sum_uw)
{
	double uw, ua, uv;

	/* On mains power the same files show the charging current. */
	if (!sysfs_is_battery(supply) || !sysfs_matches("Discharging", "%s/status", supply))
		return;
	if (sysfs_read_number(&uw, "%s/power_now", supply))
		*(double *)sum_uw += fabs(uw);
	else if (sysfs_read_number(&ua, "%s/current_now", supply) &&
		 sysfs_read_number(&uv, "%s/voltage_now", supply))
		*(double *)sum_uw += fabs(ua * uv / 1e6);
}

/* Takes one sensor only: a device may measure a part of what another one measures. */
static void find_sensor(const char *device, void *uw)
{
	static const struct {
		const char *name, *file;
	} sensors[] = {
		{ "power_meter", "power1_average" },
		{ "fam15h_power", "power1_input" },
		{ "ina2[0-9][0-9]", "power1_input" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sensors) && !*(double *)uw; i++)
		if (sysfs_matches(sensors[i].name, "%s/name", device))
			sysfs_read_number(uw, "%s/%s", device, sensors[i].file);
}

/* wakegov_measuring.py has the same sources, and counts joules. */
static void find_power(json_t *found, const char *sys)
{
	uint64_t begin_ns = time_now_ns();
	double before_uj = read_energy_uj(sys), uw = 0;
	const char *source = "counters";

	if (before_uj) {
		usleep(POWER_SAMPLE_US);
		uw = (read_energy_uj(sys) - before_uj) * 1e9 / (double)(time_now_ns() - begin_ns);
	} else {
		source = "battery";
		sysfs_each(sum_batteries, &uw, "%s/class/power_supply/*", sys);
	}
	if (!before_uj && !uw) {
		source = "hwmon";
		sysfs_each(find_sensor, &uw, "%s/class/hwmon/hwmon*", sys);
	}
	/* A counter has wrapped where the difference is negative. */
	if (before_uj ? uw >= 0 : uw > 0) {
		add_number(found, "power_milliwatts", uw / 1000);
		json_object_set_new(found, "power_source", json_string(source));
	}
}

json_t *machine_find(const char *sys)
{
	json_t *found = json_object();
	bool is_on;
	const char *turbo = sysfs_read_turbo(sys, &is_on);

	if (turbo) {
		json_object_set_new(found, "turbo", json_boolean(is_on));
		json_object_set_new(found, "turbo_file", json_string(turbo));
	}
	find_preferences(found, sys);
	find_temperature(found, sys);
	find_throttling(found, sys);
	find_power(found, sys);
	return found;
}
