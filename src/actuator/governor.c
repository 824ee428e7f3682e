// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/governor.h"

#include <cpufreq.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "actuator/saved.h"
#include "shared/cleanup.h"

/*
 * Collects the tunables of a governor that is about to be replaced, to be saved. One that cannot be
 * saved does not prevent the replacement; domain->unsaved names it. Returns their number.
 */
static size_t collect_tunables(struct actuator_domain *domain, const char *governor,
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

/* amd_pstate_epp is its name before Linux 6.7. */
bool governor_driver_chooses(const char *driver)
{
	return !strcmp(driver, "intel_pstate") || !strcmp(driver, "amd-pstate-epp") ||
	       !strcmp(driver, "amd_pstate_epp");
}

static int explain_refusal(struct actuator_domain *domain, int error)
{
	uint32_t policy = domain->info->first_cpu;
	char offered[128] = "none", driver[32] = "of this domain";

	if (error == -EACCES || error == -EPERM || error == -EROFS)
		return actuator_domain_explain_file(domain, error, control_name(CONTROL_GOVERNOR));

	control_read_file(policy, "scaling_available_governors", offered, sizeof(offered));
	control_read_file(policy, "scaling_driver", driver, sizeof(driver));
	if (governor_driver_chooses(driver))
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

/* Saves the speed only under `userspace`; other governors show `<unsupported>`. */
static int save_and_set(struct actuator_domain *domain)
{
	struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX];
	uint32_t policy = domain->info->first_cpu, khz;
	char governor[CONTROL_VALUE_SIZE];
	struct saved_value entries[2];
	size_t n = 0, n_tunables;
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	if (r == -EBUSY)
		return r;
	if (r < 0)
		return actuator_domain_explain_file(domain, r, control_name(CONTROL_GOVERNOR));

	entries[n++] = saved_entry(policy, CONTROL_GOVERNOR, governor, GOVERNOR_USERSPACE);
	if (strcmp(governor, GOVERNOR_USERSPACE) == 0) {
		r = control_read_u32(domain->setspeed_fd, &khz);
		if (r < 0)
			return actuator_domain_explain_file(domain, r,
							    control_name(CONTROL_SETSPEED));
		entries[n++] = saved_entry_khz(policy, CONTROL_SETSPEED, khz);
	}
	n_tunables = collect_tunables(domain, governor, tunables);
	r = actuator_domain_save(domain, entries, n, tunables, n_tunables);
	if (r < 0)
		return r;
	r = set_governor(domain, governor);
	if (r < 0)
		restore_domain(domain->saved, policy, NULL, NULL);
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

/* Saves the switch before it is made. */
static int lend(struct actuator_domain *domain, const char *governor)
{
	struct saved_value saved = saved_entry(domain->info->first_cpu, CONTROL_GOVERNOR,
					       domain->lent_to, governor);
	struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX];
	size_t n;
	int r;

	n = collect_tunables(domain, domain->lent_to, tunables);
	r = saved_add(domain->saved, &saved, 1, tunables, n);
	if (r == 0)
		r = control_store(CONTROL_GOVERNOR, saved.policy, governor);
	if (r == 0)
		r = control_read(domain->governor_fd, domain->lent_to, sizeof(domain->lent_to));
	if (r >= 0 && strcmp(domain->lent_to, governor) != 0)
		r = -EIO;
	if (r >= 0)
		return 0;
	restore_domain(domain->saved, saved.policy, NULL, NULL);
	return actuator_domain_explain(domain, r, "cannot be handed to %s: %s", governor,
				       strerror(-r));
}

int actuator_hand_back(struct actuator_domain *domain, const struct backend *backend,
		       const char *governor)
{
	int r = actuator_domain_release(domain, backend, NULL, NULL);

	if (domain->state == ACTUATOR_STATE_YIELDED)
		return ACTUATOR_TAKEN_OVER;
	if (r == ACTUATOR_OFFLINE)
		return actuator_domain_mark_offline(domain);
	if (r == ACTUATOR_DONE)
		r = control_read(domain->governor_fd, domain->lent_to, sizeof(domain->lent_to));
	if (r < 0)
		return r;
	if (governor && strcmp(governor, domain->lent_to) != 0)
		r = lend(domain, governor);
	if (r < 0)
		return r;
	domain->state = ACTUATOR_STATE_HANDED_BACK;
	return actuator_domain_explain(domain, ACTUATOR_DONE, "handed back to %s for a while",
				       domain->lent_to);
}

int actuator_verify_handed_back(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	domain->touched = 0;
	if (r == -EBUSY)
		return ACTUATOR_OFFLINE;
	if (r < 0)
		return r;
	if (!strcmp(governor, domain->lent_to))
		return ACTUATOR_DONE;
	return actuator_domain_yield(domain, CONTROL_GOVERNOR, governor, domain->lent_to);
}

int actuator_end_hand_back(struct actuator_domain *domain)
{
	int outcome = actuator_verify_handed_back(domain);
	int r;

	if (outcome == ACTUATOR_TAKEN_OVER)
		return outcome;
	domain->state = ACTUATOR_STATE_RELEASED;
	r = restore_domain(domain->saved, domain->info->first_cpu, NULL, NULL);
	return r < 0 ? r : outcome;
}
