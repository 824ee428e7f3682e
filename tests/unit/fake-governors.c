// SPDX-License-Identifier: GPL-2.0-only
#include "fake-governors.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/control.h"
#include "actuator/saved.h"
#include "shared/cleanup.h"

struct default_value {
	const char *governor, *name, *value;
};

static const struct default_value defaults[] = {
	{ "schedutil", "rate_limit_us", "15" },
	{ "conservative", "down_threshold", "20" },
	{ "conservative", "up_threshold", "80" },
};
static const uint32_t policies[] = { 0, 2 };
static bool own;
static const char *failing;
static int failure;

int __real_control_write_path(const char *path, const char *value);
int __wrap_control_write_path(const char *path, const char *value);
int __wrap_cpufreq_modify_policy_governor(unsigned int cpu, char *governor);

static bool is_governed_by(uint32_t policy, const char *governor)
{
	char current[CONTROL_VALUE_SIZE];

	return control_load(CONTROL_GOVERNOR, policy, current, sizeof(current)) >= 0 &&
	       strcmp(current, governor) == 0;
}

static void make_or_free(const char *folder, const struct default_value *value, bool wanted)
{
	char path[128], full[192];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, value->governor, value->name);
	snprintf(full, sizeof(full), FAKE_CPU "/%s", path);
	if (wanted && access(full, F_OK) < 0)
		fake_write(path, "%s", value->value);
	if (wanted)
		return;
	unlink(full);
	*strrchr(full, '/') = '\0';
	rmdir(full);
}

static void update(const struct default_value *value)
{
	bool anywhere = false;

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		bool here = is_governed_by(policies[i], value->governor);
		char folder[64];

		anywhere |= here;
		snprintf(folder, sizeof(folder), "cpufreq/policy%u", policies[i]);
		if (own)
			make_or_free(folder, value, here);
	}
	if (!own)
		make_or_free("cpufreq", value, anywhere);
}

static void update_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		update(&defaults[i]);
}

int __wrap_cpufreq_modify_policy_governor(unsigned int cpu, char *governor)
{
	fake_govern(cpu, governor);
	return 0;
}

static long read_beside(const char *path, const char *name)
{
	char other[CONTROL_PATH_SIZE], value[SAVED_VALUE_SIZE] = "";

	snprintf(other, sizeof(other), "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, name);
	control_read_path(other, value, sizeof(value));
	return strtol(value, NULL, 10);
}

/* As the kernel's store functions: up stays above down. */
static bool is_refused(const char *path, const char *value)
{
	long number = strtol(value, NULL, 10);

	if (strstr(path, "/up_threshold"))
		return number <= read_beside(path, "down_threshold");
	if (strstr(path, "/down_threshold"))
		return number >= read_beside(path, "up_threshold");
	return false;
}

int __wrap_control_write_path(const char *path, const char *value)
{
	bool fails = failing && strcmp(strrchr(path, '/') + 1, failing) == 0;
	int r;

	if (fails && failure == FAKE_KILLED)
		raise(SIGKILL);
	if (fails)
		return failure;
	if (is_refused(path, value))
		return -EINVAL;
	r = __real_control_write_path(path, value);
	update_all();
	return r;
}

void fake_govern(uint32_t policy, const char *governor)
{
	char path[64];

	snprintf(path, sizeof(path), "cpufreq/policy%u/scaling_governor", policy);
	fake_write(path, "%s", governor);
	update_all();
}

void fake_governors(const char *governor, bool per_policy)
{
	own = per_policy;
	failing = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		fake_policy(policies[i], policies[i] + 1);
		fake_govern(policies[i], governor);
	}
}

void fake_fail_tunable(const char *name, int error)
{
	failing = name;
	failure = error;
}
