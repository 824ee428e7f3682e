// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frequency/power.h"
#include "shared/cleanup.h"

#define POLICY "%s/devices/system/cpu/cpufreq/policy%" PRIu32

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
static void add_input(struct energy_meter *meter, const struct energy_input *input)
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
	add_input(meter, &input);
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
	add_input(meter, &input);
}

static void add_power(const char *path, void *meter)
{
	struct energy_input input = { 0 };

	snprintf(input.power, sizeof(input.power), "%s", path);
	add_input(meter, &input);
}

/* amd_energy shows each core, and the sockets that contain the cores. */
static void add_socket(const char *path, void *meter)
{
	struct energy_input input = { 0 };
	char label[32];

	if (!sysfs_read_line(label, sizeof(label), "%.*slabel",
			     (int)(strlen(path) - strlen("input")), path) ||
	    strncmp(label, "Esocket", strlen("Esocket")) != 0)
		return;
	snprintf(input.energy, sizeof(input.energy), "%s", path);
	add_input(meter, &input);
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
		{ "power_meter", "power1_average", add_power }, /* ACPI: the whole machine */
		{ "amd_energy", "energy*_input", add_socket },
		{ "fam15h_power", "power1_input", add_power },
		{ "ina2[0-9][0-9]", "power1_input", add_power }, /* supply of a board */
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

static FILE *open_domain(const struct model *model, const struct model_domain *domain,
			 const char *name)
{
	char path[SYSFS_PATH_SIZE];

	snprintf(path, sizeof(path), POLICY "/%s", model->sys, domain->policy, name);
	return fopen(path, "re");
}

/*
 * Parses lines of kHz and hundredths of a second. Returns the seconds since the last reading, by
 * OPP.
 */
static double read_times(const struct model *model, struct model_domain *domain,
			 double ret_s[MODEL_OPPS_MAX])
{
	_cleanup_fclose_ FILE *file = open_domain(model, domain, "stats/time_in_state");
	double khz, hundredths, sum_s = 0;

	memset(ret_s, 0, sizeof(double) * MODEL_OPPS_MAX);
	while (file && fscanf(file, "%lf %lf", &khz, &hundredths) == 2)
		for (uint32_t i = 0; i < domain->n_opps; i++) {
			struct model_opp *opp = &domain->opps[i];

			if (opp->khz != khz)
				continue;
			ret_s[i] = hundredths / 100 - opp->time_s;
			opp->time_s = hundredths / 100;
			sum_s += ret_s[i];
		}
	return sum_s;
}

/*
 * Sums n numbers of each CPU's line, beginning with one; the first number is 0. CPUs without a line
 * get -1.
 */
static void read_cpus(const struct model *model, const char *name, int from, int n, double per_s,
		      double ret_s[MODEL_CPUS_MAX])
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[SYSFS_PATH_SIZE], line[512], *at;

	for (uint32_t cpu = 0; cpu < MODEL_CPUS_MAX; cpu++)
		ret_s[cpu] = -1;
	snprintf(path, sizeof(path), "%s/%s", model->proc, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		double sum = 0;
		unsigned long cpu;

		/* Skips "cpu  …", the line of all CPUs. */
		if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ')
			continue;
		cpu = strtoul(line + 3, &at, 10);
		for (int i = 0; i < from + n; i++) {
			double number = strtod(at, &at);

			if (i >= from)
				sum += number;
		}
		if (cpu < MODEL_CPUS_MAX)
			ret_s[cpu] = sum / per_s;
	}
}

/* Returns the busy seconds since the last reading, by domain. */
static void read_busy(struct model *model, uint64_t now_ns, double *ret_s)
{
	double idle_s[MODEL_CPUS_MAX], ran_s[MODEL_CPUS_MAX];

	/* proc(5): user, nice, system, idle and iowait, in ticks. */
	read_cpus(model, "stat", 3, 2, (double)sysconf(_SC_CLK_TCK), idle_s);
	/*
	 * Documentation/scheduler/sched-stats.rst: the seventh number is the run time of tasks in
	 * ns.
	 */
	read_cpus(model, "schedstat", 6, 1, 1e9, ran_s);
	for (uint32_t i = 0; i < MODEL_CPUS_MAX; i++) {
		struct model_cpu *cpu = &model->cpus[i];
		double busy_s;

		if (idle_s[i] < 0)
			continue;
		if (!cpu->since_ns)
			*cpu = (struct model_cpu){ cpu->domain, now_ns, idle_s[i], ran_s[i] };
		busy_s = fmax((double)(now_ns - cpu->since_ns) / 1e9 - (idle_s[i] - cpu->idle_s),
			      ran_s[i] - cpu->ran_s);
		model->busy_s += busy_s - cpu->busy_s;
		if (cpu->domain)
			ret_s[cpu->domain - model->domains] += busy_s - cpu->busy_s;
		cpu->busy_s = busy_s;
	}
}

void model_read(struct model *model, uint64_t now_ns)
{
	_cleanup_free_ double *busy_s = calloc(model->n_domains + 1, sizeof(*busy_s));

	if (!busy_s)
		return;
	read_busy(model, now_ns, busy_s);
	for (uint32_t i = 0; i < model->n_domains; i++) {
		struct model_domain *domain = &model->domains[i];
		double times_s[MODEL_OPPS_MAX], power = 0;
		double sum_s = read_times(model, domain, times_s);

		for (uint32_t j = 0; j < domain->n_opps; j++)
			power += times_s[j] * domain->opps[j].power;
		if (sum_s > 0)
			model->full_cpu_s += busy_s[i] * power / sum_s;
	}
}

/* Documentation/power/energy-model.rst; the unit of power does not matter here. */
static bool read_kernel_power(const struct model *model, struct model_domain *domain)
{
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (!sysfs_read_number(&domain->opps[i].power,
				       "%s/kernel/debug/energy_model/cpu%" PRIu32 "/ps:%.0f/power",
				       model->sys, domain->policy, domain->opps[i].khz) ||
		    domain->opps[i].power <= 0)
			return false;
	return true;
}

static void estimate_power(struct model_domain *domain)
{
	double highest_khz = 0;

	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (domain->opps[i].khz > highest_khz)
			highest_khz = domain->opps[i].khz;
	/* In proportion to the power of the other domains' CPUs. */
	for (uint32_t i = 0; i < domain->n_opps; i++)
		domain->opps[i].power = energy_power_share(domain->opps[i].khz, highest_khz) *
					highest_khz;
}

static void find_domain(const char *path, void *context)
{
	struct model *model = context;
	struct model_domain *domains, domain = { 0 };
	_cleanup_fclose_ FILE *times = NULL;
	double hundredths;

	if (sscanf(strrchr(path, '/'), "/policy%" SCNu32, &domain.policy) != 1)
		return;
	times = open_domain(model, &domain, "stats/time_in_state");
	while (times && domain.n_opps < MODEL_OPPS_MAX &&
	       fscanf(times, "%lf %lf", &domain.opps[domain.n_opps].khz, &hundredths) == 2)
		domain.n_opps++;
	domains = domain.n_opps ? realloc(model->domains, (model->n_domains + 1) * sizeof(domain))
				: NULL;
	if (!domains)
		return;
	model->domains = domains;
	domains[model->n_domains++] = domain;
}

void model_find(const char *sys, const char *proc, uint64_t now_ns, struct model *ret)
{
	double highest = 0;
	uint32_t cpu;

	*ret = (struct model){ .sys = sys, .proc = proc };
	sysfs_each(find_domain, ret, "%s/devices/system/cpu/cpufreq/policy*", sys);
	ret->is_of_kernel = ret->n_domains > 0;
	for (uint32_t i = 0; i < ret->n_domains && ret->is_of_kernel; i++)
		ret->is_of_kernel = read_kernel_power(ret, &ret->domains[i]);
	for (uint32_t i = 0; i < ret->n_domains; i++) {
		struct model_domain *domain = &ret->domains[i];
		_cleanup_fclose_ FILE *cpus = open_domain(ret, domain, "affected_cpus");

		while (cpus && fscanf(cpus, "%" SCNu32, &cpu) == 1)
			if (cpu < MODEL_CPUS_MAX)
				ret->cpus[cpu].domain = domain;
		if (!ret->is_of_kernel)
			estimate_power(domain);
		for (uint32_t j = 0; j < domain->n_opps; j++)
			if (domain->opps[j].power > highest)
				highest = domain->opps[j].power;
	}
	for (uint32_t i = 0; i < ret->n_domains; i++)
		for (uint32_t j = 0; j < ret->domains[i].n_opps; j++)
			ret->domains[i].opps[j].power /= highest;
	model_read(ret, now_ns);
	ret->full_cpu_s = 0;
}

void model_deinit(struct model *model)
{
	free(model->domains);
}
