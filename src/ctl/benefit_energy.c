// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit_energy.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shared/cleanup.h"

/* The input's present value, in its unit. */
static bool read_input(const struct energy_input *input, double *ret)
{
	double factor;
	char word[32];

	if (input->energy[0])
		return sysfs_read_number(ret, "%s", input->energy);
	/* On mains power the same files show the charging current. */
	if (input->discharging[0] &&
	    (!sysfs_read_line(word, sizeof(word), "%s", input->discharging) ||
	     strcmp(word, "Discharging") != 0))
		return false;
	if (!sysfs_read_number(ret, "%s", input->power))
		return false;
	if (input->times[0]) {
		if (!sysfs_read_number(&factor, "%s", input->times))
			return false;
		*ret *= factor / 1e6; /* microamperes and microvolts */
	}
	*ret = fabs(*ret); /* Some drivers report discharge as a negative number. */
	return true;
}

/* The joules since the previous reading. False: the counter was reset. */
static bool add_up(const struct energy_input *input, double now, double seconds, double *joules)
{
	double change = now - input->last;

	if (!input->energy[0]) {
		*joules += (now + input->last) / 2 / 1e6 * seconds;
		return true;
	}
	if (change < 0)
		change += input->range_uj;
	if (change < 0)
		return false;
	*joules += change / 1e6;
	return true;
}

void energy_read(struct energy_meter *meter, uint64_t now_ns)
{
	double seconds = (double)(now_ns - meter->read_ns) / 1e9;

	for (uint32_t i = 0; i < meter->n_inputs; i++) {
		struct energy_input *input = &meter->inputs[i];
		bool was_known = !isnan(input->last);
		double now;

		if (!read_input(input, &now))
			now = NAN;
		else if (was_known && add_up(input, now, seconds, &meter->joules)) {
			input->last = now;
			continue;
		}
		meter->n_lost++;
		input->last = now;
	}
	meter->read_ns = now_ns;
}

/* Adds the input if it can be read. */
static void take_input(struct energy_meter *meter, const struct energy_input *input)
{
	struct energy_input *taken = &meter->inputs[meter->n_inputs];

	if (meter->n_inputs == ENERGY_INPUTS_MAX)
		return;
	*taken = *input;
	meter->n_inputs += read_input(taken, &taken->last);
}

static bool matches(const char *pattern, const char *directory, const char *name)
{
	char word[64];

	return sysfs_read_line(word, sizeof(word), "%s/%s", directory, name) &&
	       fnmatch(pattern, word, 0) == 0;
}

/*
 * Only packages: core and uncore are parts of one, psys contains them, and intel-rapl-mmio may show
 * the same package again.
 */
static void find_package(const char *zone, void *meter)
{
	struct energy_input input = { 0 };

	if (!matches("package-*", zone, "name"))
		return;
	snprintf(input.energy, sizeof(input.energy), "%s/energy_uj", zone);
	if (!sysfs_read_number(&input.range_uj, "%s/max_energy_range_uj", zone))
		input.range_uj = 0;
	take_input(meter, &input);
}

/*
 * Documentation/ABI/testing/sysfs-class-power. The battery of a mouse or headset has scope Device.
 */
static void find_battery(const char *supply, void *meter)
{
	struct energy_input input = { 0 };
	double ignored;

	if (!matches("Battery", supply, "type") || matches("Device", supply, "scope"))
		return;
	snprintf(input.discharging, sizeof(input.discharging), "%s/status", supply);
	snprintf(input.power, sizeof(input.power), "%s/power_now", supply);
	if (!sysfs_read_number(&ignored, "%s", input.power)) {
		snprintf(input.power, sizeof(input.power), "%s/current_now", supply);
		snprintf(input.times, sizeof(input.times), "%s/voltage_now", supply);
	}
	take_input(meter, &input);
}

static void take_power(const char *path, void *meter)
{
	struct energy_input input = { 0 };

	snprintf(input.power, sizeof(input.power), "%s", path);
	take_input(meter, &input);
}

/* amd_energy shows each core, and the sockets that contain the cores. */
static void take_socket(const char *path, void *meter)
{
	struct energy_input input = { 0 };
	char label[32];

	if (!sysfs_read_line(label, sizeof(label), "%.*slabel",
			     (int)(strlen(path) - strlen("input")), path) ||
	    strncmp(label, "Esocket", strlen("Esocket")) != 0)
		return;
	snprintf(input.energy, sizeof(input.energy), "%s", path);
	take_input(meter, &input);
}

/*
 * Documentation/hwmon/sysfs-interface.rst. Only sensors of the machine or its CPUs, not of a
 * graphics card or disk. Only one device, as one may measure a part of another.
 */
static void find_sensor(const char *device, void *context)
{
	static const struct {
		const char *name, *file;
		void (*take)(const char *path, void *meter);
	} sensors[] = {
		{ "power_meter", "power1_average", take_power }, /* ACPI: the whole machine */
		{ "amd_energy", "energy*_input", take_socket },
		{ "fam15h_power", "power1_input", take_power },
		{ "ina2[0-9][0-9]", "power1_input", take_power }, /* supply of a board */
	};
	struct energy_meter *meter = context;

	for (size_t i = 0; i < ARRAY_SIZE(sensors) && !meter->n_inputs; i++)
		if (matches(sensors[i].name, device, "name"))
			sysfs_each(sensors[i].take, meter, "%s/%s", device, sensors[i].file);
}

void energy_find(const char *sys, uint64_t now_ns, struct energy_meter *ret)
{
	/* The best first: a counter misses nothing between two readings. */
	static const struct {
		const char *source, *pattern;
		void (*find)(const char *directory, void *meter);
	} sources[] = {
		{ "powercap", "class/powercap/intel-rapl:*", find_package },
		{ "battery", "class/power_supply/*", find_battery },
		{ "hwmon", "class/hwmon/hwmon*", find_sensor },
	};

	*ret = (struct energy_meter){ .read_ns = now_ns };
	for (size_t i = 0; i < ARRAY_SIZE(sources) && !ret->n_inputs; i++) {
		sysfs_each(sources[i].find, ret, "%s/%s", sys, sources[i].pattern);
		if (ret->n_inputs)
			ret->source = sources[i].source;
	}
}
