// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/governor.h"

#include <cpufreq.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "actuator/domain.h"
#include "actuator/saved.h"
#include "shared/cleanup.h"

size_t governor_collect_tunables(struct actuator_domain *domain, const char *governor,
				 struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX])
{
	size_t room = SAVED_TUNABLES_MAX - domain->saved->n_tunables;
	char names[sizeof(domain->unsaved) / 2];
	int n;

	domain->unsaved[0] = '\0';
	if (room > TUNABLES_PER_GOVERNOR_MAX)
		room = TUNABLES_PER_GOVERNOR_MAX;
	n = tunables_collect(domain->info->first_cpu, governor, tunables, room, names,
			     sizeof(names));
	if (n < 0)
		snprintf(names, sizeof(names), "any of them: %s", strerror(-n));
	if (names[0])
		snprintf(domain->unsaved, sizeof(domain->unsaved),
			 "tunables of %s that cannot be saved, and can be at the kernel's "
			 "defaults afterwards: %s",
			 governor, names);

	for (int i = 0; i < n; i++)
		strcpy(tunables[i].put, SAVED_ANY);
	return n < 0 ? 0 : (size_t)n;
}

/* Saves the speed only under `userspace`; other governors show `<unsupported>`. */
static int save_values(struct actuator_domain *domain, const char *governor)
{
	struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX];
	struct saved_value entries[2] = {
		{ .policy = domain->info->first_cpu, .control = CONTROL_GOVERNOR },
		{ .policy = domain->info->first_cpu, .control = CONTROL_SETSPEED },
	};
	uint32_t khz;
	size_t n = 1, n_tunables;
	int r;

	snprintf(entries[0].value, sizeof(entries[0].value), "%s", governor);
	snprintf(entries[0].put, sizeof(entries[0].put), "%s", GOVERNOR_USERSPACE);
	if (strcmp(governor, GOVERNOR_USERSPACE) == 0) {
		r = control_read_u32(domain->setspeed_fd, &khz);
		if (r < 0)
			return actuator_domain_explain_file(domain, r,
							    control_name(CONTROL_SETSPEED));
		snprintf(entries[1].value, sizeof(entries[1].value), "%u", khz);
		snprintf(entries[1].put, sizeof(entries[1].put), "%s", SAVED_ANY);
		n = 2;
	}

	n_tunables = governor_collect_tunables(domain, governor, tunables);
	r = saved_add(domain->saved, entries, n, tunables, n_tunables);
	if (r < 0)
		return actuator_domain_explain(domain, r,
					       "the original values cannot be saved in %s (%s)",
					       domain->saved->directory, strerror(-r));
	return 0;
}

/* Drivers that choose frequencies themselves offer only `performance` and `powersave`. */
static bool sets_policy_itself(const char *driver)
{
	return strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "amd-pstate-epp") == 0 ||
	       strcmp(driver, "amd_pstate_epp") == 0;
}

static int explain_refusal(struct actuator_domain *domain, int error)
{
	uint32_t policy = domain->info->first_cpu;
	char offered[128] = "none", driver[32] = "of this domain";

	if (error == -EACCES || error == -EPERM || error == -EROFS)
		return actuator_domain_explain_file(domain, error, control_name(CONTROL_GOVERNOR));

	control_read_file(policy, "scaling_available_governors", offered, sizeof(offered));
	control_read_file(policy, "scaling_driver", driver, sizeof(driver));
	if (sets_policy_itself(driver))
		return actuator_domain_explain(
			domain, -EOPNOTSUPP,
			"driver %s has no userspace governor (it offers %s): use "
			"backend = limits",
			driver, offered);
	if (!strstr(offered, GOVERNOR_USERSPACE))
		return actuator_domain_explain(
			domain, -EOPNOTSUPP,
			"there is no userspace governor (the kernel offers %s): "
			"modprobe cpufreq_userspace, or use backend = limits",
			offered);
	return actuator_domain_explain(
		domain, -EIO,
		"driver %s did not take the userspace governor (%s): use backend = limits", driver,
		strerror(-error));
}

static int set_governor(struct actuator_domain *domain, const char *governor)
{
	char current[CONTROL_VALUE_SIZE], userspace[] = GOVERNOR_USERSPACE;
	int error, r;

	if (strcmp(governor, GOVERNOR_USERSPACE) == 0)
		return 0;

	/* libcpupower returns -ENODEV for every failure; errno and reading back tell more. */
	errno = 0;
	cpufreq_modify_policy_governor(domain->info->first_cpu, userspace);
	error = errno;

	r = control_read(domain->governor_fd, current, sizeof(current));
	if (r < 0)
		return r == -EBUSY ? r
				   : actuator_domain_explain_file(domain, r,
								  control_name(CONTROL_GOVERNOR));
	if (strcmp(current, GOVERNOR_USERSPACE) == 0)
		return 1;
	return explain_refusal(domain, error ? -error : -EINVAL);
}

static int save_and_set(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	if (r == -EBUSY)
		return r;
	if (r < 0)
		return actuator_domain_explain_file(domain, r, control_name(CONTROL_GOVERNOR));

	r = save_values(domain, governor);
	if (r < 0)
		return r;
	r = set_governor(domain, governor);
	if (r < 0)
		restore_domain(domain->saved, domain->info->first_cpu, NULL, NULL);
	return r;
}

int governor_take(struct actuator_domain *domain)
{
	_cleanup_close_ int fd = -1;
	int r;

	domain->why[0] = '\0';
	fd = control_open(domain->info->first_cpu, control_name(CONTROL_SETSPEED), O_RDWR);
	if (fd < 0)
		return actuator_domain_explain_file(domain, fd, control_name(CONTROL_SETSPEED));

	domain->setspeed_fd = fd;
	r = save_and_set(domain);
	if (r < 0) {
		domain->setspeed_fd = -1;
		return r;
	}

	take_fd(&fd);
	return r;
}
