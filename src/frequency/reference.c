// SPDX-License-Identifier: GPL-2.0-only
#include "frequency/reference.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/sysfs.h"

uint32_t reference_choose(const struct policy_reference *policy, const struct turbo *turbo,
			  const char **ret_why)
{
	*ret_why = NULL;
	if (policy->kind == POLICY_REFERENCE_KHZ)
		return policy->khz;
	if (!turbo) {
		if (policy->kind != POLICY_REFERENCE_AUTO)
			*ret_why = "the turbo registers say nothing";
		return 0;
	}
	switch (policy->kind) {
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

static int read_register(void *userdata, uint32_t reg, uint64_t *ret)
{
	const int *fd = userdata;
	ssize_t n = pread(*fd, ret, sizeof(*ret), reg);

	if (n < 0)
		return -errno;
	return n == sizeof(*ret) ? 0 : -EIO;
}

#define NO_TURBO "/sys/devices/system/cpu/intel_pstate/no_turbo"
#define BOOST	 "/sys/devices/system/cpu/cpufreq/boost"

const char *const reference_turbo_switches[] = { NO_TURBO, BOOST, NULL };

bool reference_turbo_is_off(void)
{
	double is_on;

	return (sysfs_read_number(&is_on, NO_TURBO) && is_on == 1) ||
	       (sysfs_read_number(&is_on, BOOST) && is_on == 0);
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

/* The model of a CPU of family 6, or 0. */
static uint32_t intel_model(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/cpuinfo", "re");
	bool intel = false, family_6 = false;
	uint32_t model;
	char line[256];

	while (file && fgets(line, sizeof(line), file) && line[0] != '\n') {
		intel |= strstr(line, "GenuineIntel") != NULL;
		family_6 |= strncmp(line, "cpu family", 10) == 0 && strstr(line, ": 6\n");
		if (sscanf(line, "model : %u", &model) == 1 && intel && family_6)
			return model;
	}
	return 0;
}

int reference_read_turbo(struct turbo *ret, const char **ret_why)
{
	_cleanup_close_ int fd = -1;
	uint32_t model = intel_model();
	int r;

	*ret_why = "this is no Intel CPU with such registers";
	if (!model)
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
