// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the frequency of full capacity: on x86 from the turbo limits, as the kernel does. Finds
 * the power of OPPs.
 */
#include "frequency/frequency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"

/* arch/x86/include/asm/msr-index.h */
#define PLATFORM_INFO	   0x0ce
#define TURBO_RATIO_LIMIT  0x1ad
#define TURBO_RATIO_LIMIT1 0x1ae
#define MISC_ENABLE	   0x1a0
#define ATOM_CORE_RATIOS   0x66a
#define ATOM_TURBO_RATIOS  0x66c
#define FSB_FREQUENCY	   0x0cd
#define TURBO_DISABLED	   (1ULL << 38) /* in MISC_ENABLE */

#define BUS_KHZ		   100000

/* Multiples of the bus clock: base, turbo with one working core, turbo with four. */
struct ratios {
	uint32_t base, one, four;
	uint32_t bus_khz;
};

struct registers {
	turbo_read_t read;
	void *userdata;
};

static int get(const struct registers *registers, uint32_t reg, uint64_t *ret)
{
	return registers->read(registers->userdata, reg, ret);
}

static uint32_t byte_at(uint64_t value, unsigned int bit)
{
	return value >> bit & 0xff;
}

/* Silvermont's ratios are relative to a bus clock that depends on the model. */
static int read_silvermont(const struct registers *registers, struct ratios *ret)
{
	static const uint32_t bus_khz[] = { 83300, 100000, 133300, 116700, 80000 };
	uint64_t base, turbo, bus;
	int r = get(registers, ATOM_CORE_RATIOS, &base);

	if (r == 0)
		r = get(registers, ATOM_TURBO_RATIOS, &turbo);
	if (r == 0)
		r = get(registers, FSB_FREQUENCY, &bus);
	if (r < 0)
		return r;
	ret->base = base >> 16 & 0x3f;
	ret->one = turbo & 0x3f;
	ret->four = ret->one;
	bus &= 7;
	ret->bus_khz = bus < ARRAY_SIZE(bus_khz) ? bus_khz[bus] : 0;
	return 0;
}

/* A ratio, then the steps down for larger groups of cores, of which the first counts. */
static int read_knights(const struct registers *registers, struct ratios *ret)
{
	uint64_t limit;
	int r = get(registers, TURBO_RATIO_LIMIT, &limit);

	if (r < 0)
		return r;
	ret->one = byte_at(limit, 8);
	ret->four = ret->one;
	for (unsigned int bit = 16; bit < 64; bit += 8) {
		uint32_t lower = limit >> (bit + 5) & 7;

		if (!lower)
			continue;
		ret->four = lower < ret->one ? ret->one - lower : 0;
		break;
	}
	return 0;
}

/* A ratio and a number of cores for each group; takes the first group with enough cores. */
static int read_groups(const struct registers *registers, uint32_t cores, struct ratios *ret)
{
	uint64_t ratios, sizes;
	int r = get(registers, TURBO_RATIO_LIMIT, &ratios);

	if (r == 0)
		r = get(registers, TURBO_RATIO_LIMIT1, &sizes);
	if (r < 0)
		return r;
	for (unsigned int bit = 0; bit < 64; bit += 8) {
		if (!ret->one && byte_at(sizes, bit) >= 1)
			ret->one = byte_at(ratios, bit);
		if (byte_at(sizes, bit) < cores)
			continue;
		ret->four = byte_at(ratios, bit);
		return 0;
	}
	return -ENODATA;
}

/* A ratio for each number of working cores. A CPU may have fewer than four. */
static int read_core(const struct registers *registers, struct ratios *ret)
{
	uint64_t limit;
	int r = get(registers, TURBO_RATIO_LIMIT, &limit);

	if (r < 0)
		return r;
	ret->one = byte_at(limit, 0);
	ret->four = byte_at(limit, 24);
	if (!ret->four)
		ret->four = ret->one;
	return 0;
}

/* By arch/x86/include/asm/intel-family.h. */
static int read_ratios(uint32_t model, const struct registers *registers, struct ratios *ret)
{
	bool is_goldmont = model == 0x5c || model == 0x5f || model == 0x7a;
	bool is_knights = model == 0x57 || model == 0x85;
	bool is_skylake_x = model == 0x55;
	uint64_t info;
	int r;

	if (read_silvermont(registers, ret) == 0)
		return 0;
	*ret = (struct ratios){ .bus_khz = BUS_KHZ };
	r = get(registers, PLATFORM_INFO, &info);
	if (r < 0)
		return r;
	ret->base = byte_at(info, 8);
	if (is_goldmont && read_groups(registers, 1, ret) == 0)
		return 0;
	if (is_knights && read_knights(registers, ret) == 0)
		return 0;
	if (is_skylake_x && read_groups(registers, 4, ret) == 0)
		return 0;
	return read_core(registers, ret);
}

int turbo_decode(uint32_t model, turbo_read_t read, void *userdata, struct turbo *ret,
		 const char **ret_why)
{
	const struct registers registers = { read, userdata };
	struct ratios ratios = { 0 };
	uint64_t enable;
	int r = read_ratios(model, &registers, &ratios);

	*ret_why = "they cannot be read";
	if (r < 0)
		return r;
	*ret_why = NULL;
	if (!ratios.base || !ratios.bus_khz)
		*ret_why = "they name no base frequency, as under some hypervisors";
	else if (!ratios.four)
		*ret_why = "they name no turbo frequency";
	else if (ratios.base > ratios.four)
		*ret_why = "they have the base frequency above the turbo's";
	if (*ret_why)
		return -ENODATA;
	if (get(&registers, MISC_ENABLE, &enable) == 0 && enable & TURBO_DISABLED)
		ratios.one = ratios.four = ratios.base;
	*ret = (struct turbo){
		.base_khz = ratios.base * ratios.bus_khz,
		.one_khz = ratios.one * ratios.bus_khz,
		.four_khz = ratios.four * ratios.bus_khz,
	};
	return 0;
}

int turbo_of_amd(uint32_t nominal_khz, uint32_t highest_khz, struct turbo *ret,
		 const char **ret_why)
{
	*ret_why = "the firmware names no nominal frequency below the highest (acpi_cppc)";
	if (!nominal_khz || highest_khz < nominal_khz)
		return -ENODATA;
	*ret_why = NULL;
	*ret = (struct turbo){
		.base_khz = nominal_khz,
		.one_khz = highest_khz,
		.four_khz = nominal_khz + (highest_khz - nominal_khz) / 2,
	};
	return 0;
}

uint32_t reference_choose(uint32_t policy, const struct turbo *turbo, const char **ret_why)
{
	*ret_why = NULL;
	if (policy > POLICY_REFERENCE_BASE)
		return policy;
	if (!turbo) {
		if (policy != POLICY_REFERENCE_AUTO)
			*ret_why = "the turbo registers say nothing";
		return 0;
	}
	switch (policy) {
	case POLICY_REFERENCE_BASE:
		return turbo->base_khz;
	case POLICY_REFERENCE_TURBO_1C:
		if (turbo->one_khz >= turbo->four_khz)
			return turbo->one_khz;
		*ret_why = "there is no one-core turbo frequency";
		return turbo->four_khz;
	default:
		return turbo->four_khz;
	}
}

/* Of an opened /dev/cpu/N/msr. */
static int read_register(void *userdata, uint32_t reg, uint64_t *ret)
{
	ssize_t n = pread(*(const int *)userdata, ret, sizeof(*ret), reg);

	if (n < 0)
		return -errno;
	return n == sizeof(*ret) ? 0 : -EIO;
}

#define CPUS	     "/sys/devices/system/cpu/"
#define CPU0_CPUFREQ CPUS "cpu0/cpufreq/"

const char *const reference_switches[] = { CPUS "intel_pstate/no_turbo", CPUS "cpufreq/boost",
					   CPUS "amd_pstate/status", NULL };

bool reference_turbo_is_off(void)
{
	bool is_on = true;

	return sysfs_read_turbo("/sys", &is_on) && !is_on;
}

uint32_t reference_base_khz(uint32_t policy)
{
	double khz;

	return sysfs_read_number(&khz, "/sys/devices/system/cpu/cpufreq/policy%u/base_frequency",
				 policy) &&
			       khz > 0 && khz <= UINT32_MAX
		       ? (uint32_t)khz
		       : 0;
}

/* The kernel reads CPU 0. While boost is off, only amd-pstate shows the highest frequency. */
static int read_amd(struct turbo *ret, const char **ret_why)
{
	double nominal_mhz = 0, highest_khz = 0;

	sysfs_read_number(&nominal_mhz, "/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq");
	if (!sysfs_read_number(&highest_khz, CPU0_CPUFREQ "amd_pstate_max_freq"))
		sysfs_read_number(&highest_khz, CPU0_CPUFREQ "cpuinfo_max_freq");
	return turbo_of_amd((uint32_t)(nominal_mhz * 1000), (uint32_t)highest_khz, ret, ret_why);
}

int reference_read_turbo(struct turbo *ret, const char **ret_why)
{
	_cleanup_fclose_ FILE *info = fopen("/proc/cpuinfo", "re");
	bool intel = false, amd = false, family_6 = false;
	_cleanup_close_ int fd = -1;
	uint32_t model = 0;
	char line[256];
	int r;

	while (info && fgets(line, sizeof(line), info) && line[0] != '\n') {
		intel |= strstr(line, "GenuineIntel") != NULL;
		amd |= strstr(line, "AuthenticAMD") != NULL;
		family_6 |= strncmp(line, "cpu family", 10) == 0 && strstr(line, ": 6\n");
		if (sscanf(line, "model : %u", &model) == 1)
			break;
	}
	if (amd)
		return read_amd(ret, ret_why);
	*ret_why = "this is no Intel CPU with such registers";
	if (!model || !intel || !family_6)
		return -ENODEV;
	*ret_why = "/dev/cpu/0/msr cannot be opened (modprobe msr; CAP_SYS_RAWIO)";
	fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = turbo_decode(model, read_register, &fd, ret, ret_why);
	if (r == 0 && reference_turbo_is_off())
		ret->one_khz = ret->four_khz = ret->base_khz;
	return r;
}

/* The power of a domain's OPPs: from the policy, the kernel's energy model, or unknown. */

/* Documentation/power/energy-model.rst: named after the domain's first CPU. */
#define MODEL "/sys/kernel/debug/energy_model/cpu%" PRIu32 "/ps:%" PRIu32 "/power"

const char *power_source_name(enum power_source source)
{
	static const char *const names[] = {
		[POWER_UNKNOWN] = NULL,
		[POWER_POLICY] = "the policy's opp-power",
		[POWER_KERNEL] = "the kernel's energy model",
	};

	return names[source];
}

enum power_source power_find(const struct policy *policy, struct topology_domain *domain)
{
	uint32_t section = policy_powers_section(policy, domain->name);

	for (int source = POWER_POLICY; source <= POWER_KERNEL; source++) {
		uint32_t i = 0;

		for (; i < domain->n_opps; i++) {
			uint32_t khz = domain->opp_khz[i];
			double power;

			if (source == POWER_POLICY)
				power = policy_power_at(policy, section, khz);
			else if (!sysfs_read_number(&power, MODEL, domain->first_cpu, khz))
				break;
			if (power < 1 || power > UINT32_MAX)
				break;
			domain->opp_power[i] = (uint32_t)power;
		}
		if (i == domain->n_opps)
			return source;
	}
	memset(domain->opp_power, 0, sizeof(domain->opp_power));
	return POWER_UNKNOWN;
}
