// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/benefit.h"
#include "ctl/format.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/time.h"

#define POWER_SAMPLE_US 100000
#define TEXT_SIZE	96

static void add(json_t *found, const char *name, json_t *text)
{
	json_array_append_new(found, json_pack("{ss so}", "name", name, "text", text));
}

static void find_turbo(json_t *found, const char *sys)
{
	double value;

	if (sysfs_read_number(&value, "%s/devices/system/cpu/intel_pstate/no_turbo", sys))
		add(found, "turbo",
		    json_sprintf("%s (intel_pstate/no_turbo)", value ? "off" : "on"));
	else if (sysfs_read_number(&value, "%s/devices/system/cpu/cpufreq/boost", sys))
		add(found, "turbo", json_sprintf("%s (cpufreq/boost)", value ? "on" : "off"));
}

/* A word that all have, or "mixed". */
struct common {
	char word[TEXT_SIZE];
};

static void note_preference(const char *path, void *context)
{
	struct common *common = context;
	char word[TEXT_SIZE];

	if (!sysfs_read_line(word, sizeof(word), "%s", path))
		return;
	if (!common->word[0])
		snprintf(common->word, sizeof(common->word), "%s", word);
	else if (strcmp(common->word, word) != 0)
		snprintf(common->word, sizeof(common->word), "mixed");
}

static void find_preferences(json_t *found, const char *sys)
{
	struct common preference = { "" };
	char profile[TEXT_SIZE];

	sysfs_each(note_preference, &preference,
		   "%s/devices/system/cpu/cpufreq/policy*/energy_performance_preference", sys);
	if (preference.word[0])
		add(found, "EPP", format_json(preference.word));
	if (sysfs_read_line(profile, sizeof(profile), "%s/firmware/acpi/platform_profile", sys))
		add(found, "platform", json_sprintf("profile %s", profile));
}

struct heat {
	double highest_mc; /* thousandths of a degree; 0: no sensor */
	char sensor[TEXT_SIZE];
};

static void note_temperature(struct heat *heat, const char *path, const char *sensor)
{
	double mc;

	if (!sysfs_read_number(&mc, "%s", path) || mc <= heat->highest_mc)
		return;
	heat->highest_mc = mc;
	snprintf(heat->sensor, sizeof(heat->sensor), "%s", sensor);
}

/* The drivers of CPUs' sensors, by hwmon. */
static void note_hwmon(const char *path, void *context)
{
	static const char *const drivers[] = { "coretemp", "k10temp", "zenpower", "cpu_thermal",
					       "scpi_sensors" };
	struct heat *heat = context;
	char name[TEXT_SIZE], directory[SYSFS_PATH_SIZE];

	snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path), path);
	if (!sysfs_read_line(name, sizeof(name), "%s/name", directory))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(name, drivers[i]))
			note_temperature(heat, path, name);
}

/* Thermal zones whose type names a CPU: x86_pkg_temp, cpu-thermal, cpu0-thermal, soc-thermal. */
static void note_zone(const char *path, void *context)
{
	struct heat *heat = context;
	char type[TEXT_SIZE], temperature[SYSFS_PATH_SIZE];

	if (!sysfs_read_line(type, sizeof(type), "%s/type", path) ||
	    (!strstr(type, "cpu") && !strstr(type, "pkg") && !strstr(type, "soc")))
		return;
	snprintf(temperature, sizeof(temperature), "%s/temp", path);
	note_temperature(heat, temperature, type);
}

static void find_temperature(json_t *found, const char *sys)
{
	struct heat heat = { 0 };

	sysfs_each(note_hwmon, &heat, "%s/class/hwmon/hwmon*/temp*_input", sys);
	if (!heat.highest_mc)
		sysfs_each(note_zone, &heat, "%s/class/thermal/thermal_zone*", sys);
	if (heat.highest_mc)
		add(found, "heat",
		    json_sprintf("%.0f °C, the highest of %s", heat.highest_mc / 1000,
				 heat.sensor));
}

struct cooling {
	unsigned int n, active;
};

static void note_cooling(const char *path, void *context)
{
	struct cooling *cooling = context;
	char type[TEXT_SIZE];
	double state;

	if (!sysfs_read_line(type, sizeof(type), "%s/type", path) ||
	    (strcmp(type, "Processor") != 0 && strncmp(type, "cpufreq-", 8) != 0 &&
	     strncmp(type, "thermal-cpufreq", 15) != 0) ||
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
	sysfs_each(note_cooling, &cooling, "%s/class/thermal/cooling_device*", sys);
	if (events >= 0)
		add(found, "throttled",
		    json_sprintf("%.0f times since the boot, %.1f s in all", events, ms / 1000));
	if (cooling.n)
		add(found, "cooling",
		    json_sprintf("%u of %u CPU cooling devices limit now", cooling.active,
				 cooling.n));
}

static void find_power(json_t *found, const char *sys)
{
	uint64_t begin_ns = time_now_ns(), end_ns;
	struct energy_meter meter;

	energy_find(sys, begin_ns, &meter);
	if (!meter.source)
		return;
	usleep(POWER_SAMPLE_US);
	end_ns = time_now_ns();
	energy_read(&meter, end_ns);
	add(found, "power",
	    json_sprintf("%.1f W by %s", meter.joules * 1e9 / (double)(end_ns - begin_ns),
			 meter.source));
}

json_t *machine_find(const char *sys)
{
	json_t *found = json_array();

	find_turbo(found, sys);
	find_preferences(found, sys);
	find_temperature(found, sys);
	find_throttling(found, sys);
	find_power(found, sys);
	return found;
}
