// SPDX-License-Identifier: GPL-2.0-only
#include "diag/throttle.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"

struct search {
	const char *sys;
	const struct throttle_domain *domain;
	int (*emit)(void *context, const char *who, const char *text);
	void *context;
};

static int tell(const struct search *search, const char *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int tell(const struct search *search, const char *who, const char *format, ...)
{
	char text[LIMITER_TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return search->emit(search->context, who, text);
}

/* Whether a cooling device slows CPUs: drivers call theirs Processor or cpufreq-cpuN. */
static bool cools_cpus(const struct search *search, const char *name)
{
	char type[64];

	return sysfs_read_line(type, sizeof(type), "%s/class/thermal/%s/type", search->sys, name) &&
	       (!strcmp(type, "Processor") || strstr(type, "cpufreq"));
}

/* Returns 1 when a device is active and was reported, 0, or the result of emit. */
static int tell_cooling(const struct search *search, const char *name)
{
	double state, most;
	int r;

	if (strncmp(name, "cooling_device", 14) != 0 || !cools_cpus(search, name) ||
	    !sysfs_read_number(&state, "%s/class/thermal/%s/cur_state", search->sys, name) ||
	    !sysfs_read_number(&most, "%s/class/thermal/%s/max_state", search->sys, name) || !state)
		return 0;
	r = tell(search, "thermal",
		 "heat: %s is at step %.0f of %.0f; see /sys/class/thermal for the temperature",
		 name, state, most);
	return r ? r : 1;
}

static int find_cooling(const struct search *search)
{
	char path[SYSFS_PATH_SIZE];
	_cleanup_closedir_ DIR *directory = NULL;
	const struct dirent *entry;
	int r = 0;

	snprintf(path, sizeof(path), "%s/class/thermal", search->sys);
	directory = opendir(path);
	while (!r && directory && (entry = readdir(directory)))
		r = tell_cooling(search, entry->d_name);
	return r;
}

/* Reports the first known reason for a lowered scaling_max_freq; else another program wrote it. */
static int find_maximum(const struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	double bios_khz;
	int r;

	if (domain->scaling_max_khz >= domain->highest_khz)
		return 0;
	if (sysfs_read_number(&bios_khz, "%s/devices/system/cpu/cpu%u/cpufreq/bios_limit",
			      search->sys, domain->first_cpu) &&
	    bios_khz <= domain->scaling_max_khz)
		return tell(search, "firmware",
			    "the firmware allows %.0f MHz at most (bios_limit): see its power and "
			    "thermal settings",
			    bios_khz / 1000);
	r = find_cooling(search);
	if (r)
		return r < 0 ? r : 0;
	return tell(search, "scaling-max",
		    "scaling_max_freq of policy%u is %u MHz, of %u MHz that there are: the "
		    "administrator or another program lowered it; raise it there to undo that",
		    domain->first_cpu, domain->scaling_max_khz / 1000, domain->highest_khz / 1000);
}

static int find_minimum(const struct search *search)
{
	const struct throttle_domain *domain = search->domain;

	if (domain->scaling_min_khz <= domain->lowest_khz)
		return 0;
	return tell(search, "scaling-min",
		    "scaling_min_freq of policy%u is %u MHz: the administrator or another program "
		    "raised it; lower it there to undo that",
		    domain->first_cpu, domain->scaling_min_khz / 1000);
}

static int find_boost(const struct search *search)
{
	double value;

	if (sysfs_read_number(&value, "%s/devices/system/cpu/cpufreq/boost", search->sys) && !value)
		return tell(search, "boost-off",
			    "turbo is switched off for the machine (cpufreq/boost is 0)");
	if (sysfs_read_number(&value, "%s/devices/system/cpu/intel_pstate/no_turbo", search->sys) &&
	    value)
		return tell(search, "boost-off",
			    "turbo is switched off for the machine (intel_pstate/no_turbo is 1)");
	return 0;
}

static uint32_t clamp_khz(uint32_t khz, const struct throttle_domain *domain)
{
	if (khz < domain->scaling_min_khz)
		khz = domain->scaling_min_khz;
	return khz > domain->scaling_max_khz ? domain->scaling_max_khz : khz;
}

/*
 * Compares the request, within the limits, with the present frequency: up to 5 % is within the
 * measurement's error.
 */
static int find_driver(const struct search *search)
{
	const struct throttle_domain *domain = search->domain;
	uint32_t min_khz = clamp_khz(domain->asked_min_khz, domain);
	uint32_t max_khz = clamp_khz(domain->asked_max_khz, domain);
	uint32_t now_khz = domain->current_khz;
	bool is_low = now_khz < min_khz - min_khz / 20;

	if (!domain->asked_max_khz || !now_khz || (!is_low && now_khz <= max_khz + max_khz / 20))
		return 0;
	return tell(search, "driver",
		    "the driver reports %u MHz where %u MHz were asked for: the hardware decides "
		    "otherwise (power or temperature), or has not got there yet",
		    now_khz / 1000, (is_low ? min_khz : max_khz) / 1000);
}

int throttle_find(const char *sys, const struct throttle_domain *domain,
		  int (*emit)(void *context, const char *who, const char *text), void *context)
{
	static int (*const steps[])(const struct search *search) = { find_maximum, find_minimum,
								     find_boost, find_driver };
	const struct search search = { sys, domain, emit, context };
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(steps); i++)
		r = steps[i](&search);
	return r;
}
