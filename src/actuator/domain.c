// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cpufreq domain as every backend sees it: its open files, their values, and its state. A domain
 * is yielded when another program changes our control. We then restore everything else, and
 * remember our value of that control, as the program may restore what it found.
 */
#include "actuator/domain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "actuator/discovery.h"
#include "actuator/saved.h"
#include "core/opp.h"
#include "shared/cleanup.h"
#include "wakegov/abi.h"

const char *const actuator_state_names[] = {
	[ACTUATOR_STATE_RELEASED] = "released", [ACTUATOR_STATE_OBSERVED] = "observed",
	[ACTUATOR_STATE_DRIVEN] = "driven",	[ACTUATOR_STATE_YIELDED] = "yielded",
	[ACTUATOR_STATE_OFFLINE] = "offline",	[ACTUATOR_STATE_HANDED_BACK] = "handed-back",
};

int actuator_domain_init(struct actuator_domain *domain, const struct topology_domain *info,
			 struct saved_values *saved)
{
	struct {
		int *fd;
		const char *file;
	} const files[] = {
		{ &domain->cur_freq_fd, "scaling_cur_freq" },
		{ &domain->governor_fd, control_names[CONTROL_GOVERNOR] },
		{ &domain->min_freq_fd, control_names[CONTROL_MIN_FREQ] },
		{ &domain->max_freq_fd, control_names[CONTROL_MAX_FREQ] },
		{ &domain->hardware_max_fd, "cpuinfo_max_freq" },
	};
	_cleanup_close_ int measurement_fd = -1;

	*domain = (struct actuator_domain){
		.info = info,
		.saved = saved,
		.setspeed_fd = -1,
		.cur_freq_fd = -1,
		.governor_fd = -1,
		.min_freq_fd = -1,
		.max_freq_fd = -1,
		.hardware_max_fd = -1,
	};
	range_init(&domain->range);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int fd = control_open(info->first_cpu, files[i].file, O_RDONLY);

		/* A domain that lacks one is only observed. */
		if (fd < 0 && fd != -ENOENT) {
			actuator_domain_deinit(domain);
			return fd;
		}
		*files[i].fd = fd < 0 ? -1 : fd;
	}
	measurement_fd = control_open(info->first_cpu, "cpuinfo_avg_freq", O_RDONLY);
	domain->measures = measurement_fd >= 0;
	control_read_u32(domain->hardware_max_fd, &domain->hardware_max_khz);
	return 0;
}

void actuator_domain_deinit(struct actuator_domain *domain)
{
	int *const fds[] = { &domain->setspeed_fd, &domain->cur_freq_fd, &domain->governor_fd,
			     &domain->min_freq_fd, &domain->max_freq_fd, &domain->hardware_max_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		close_fdp(fds[i]);
		*fds[i] = -1;
	}
	range_close(&domain->range);
}

int actuator_domain_read_requests(struct actuator_domain *domain, struct wakegov_limits *ret)
{
	int r;

	*ret = (struct wakegov_limits){ 0 };
	r = control_read_u32(domain->min_freq_fd, &ret->min_khz);
	if (r == 0)
		r = control_read_u32(domain->max_freq_fd, &ret->max_khz);
	if (r == 0 && domain->read_limits)
		domain->read_limits(domain->userdata, domain->max_freq_fd, ret);
	return r;
}

int actuator_domain_read_limits(struct actuator_domain *domain, uint32_t *ret_min_khz,
				uint32_t *ret_max_khz)
{
	const struct range_limit *min = &domain->range.min, *max = &domain->range.max;
	uint32_t min_khz, max_khz;
	int r = control_read_u32(domain->min_freq_fd, &min_khz);

	if (r == 0)
		r = control_read_u32(domain->max_freq_fd, &max_khz);
	if (r < 0)
		return r;

	/* The limits of others, without our own. */
	if (domain->range.is_acquired) {
		if (max_khz >= max->put_khz || range_limit_was(max, max_khz))
			max_khz = max->saved_khz;
		if (min_khz <= min->put_khz || range_limit_was(min, min_khz))
			min_khz = range_others_min_khz(&domain->range);
	}
	/* After turbo was switched off, this may be our own former maximum. */
	if (domain->hardware_max_khz && max_khz > domain->hardware_max_khz)
		max_khz = domain->hardware_max_khz;
	*ret_min_khz = opp_clamp(domain->info, min_khz);
	*ret_max_khz = opp_clamp(domain->info, max_khz);
	return 0;
}

bool actuator_domain_see_boost(struct actuator_domain *domain)
{
	uint32_t before_khz = domain->hardware_max_khz;
	bool switched = domain->touched & (1u << CONTROL_BOOST);

	if (control_read_u32(domain->hardware_max_fd, &domain->hardware_max_khz) < 0)
		domain->hardware_max_khz = 0;
	switched |= domain->hardware_max_khz != before_khz;
	domain->touched &= ~(1u << CONTROL_BOOST);
	domain->boost_switched |= switched;
	return switched;
}

int actuator_domain_read_back(struct actuator_domain *domain, uint32_t *ret_khz)
{
	char value[CONTROL_VALUE_SIZE];
	int r = control_read_u32(domain->cur_freq_fd, ret_khz);

	/* The kernel's word for a frequency that the driver does not know. */
	if (r == -EINVAL && control_read(domain->cur_freq_fd, value, sizeof(value)) > 0 &&
	    !strcmp(value, "<unknown>")) {
		*ret_khz = 0;
		return 0;
	}
	return r;
}

bool actuator_domain_is_request(const struct actuator_domain *domain, uint32_t read_khz)
{
	return !domain->measures && opp_is_one(domain->info, read_khz);
}

int actuator_domain_explain(struct actuator_domain *domain, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(domain->why, sizeof(domain->why), format, args);
	va_end(args);
	return error;
}

int actuator_domain_explain_file(struct actuator_domain *domain, int error, const char *file)
{
	const char *advice = "";

	if (error == -EACCES || error == -EPERM)
		advice = ": run as root";
	else if (error == -EROFS)
		advice = ": /sys is read-only here; with systemd, ProtectKernelTunables=no";
	return actuator_domain_explain(domain, error, "%s cannot be opened or written (%s)%s", file,
				       strerror(-error), advice);
}

int actuator_domain_open(struct actuator_domain *domain, enum control control)
{
	int fd = control_open(domain->info->first_cpu, control_names[control], O_RDWR);

	if (fd == -ENOENT)
		return actuator_domain_explain(domain, -EOPNOTSUPP, "there is no %s",
					       control_names[control]);
	return fd < 0 ? actuator_domain_explain_file(domain, fd, control_names[control]) : fd;
}

int actuator_domain_hold(struct actuator_domain *domain)
{
	char name[SCHED_EXT_NAME_SIZE];

	domain->held = true;
	domain->touched = 0;
	domain->has_sched_ext = sched_ext_has_all("/sys", name);
	actuator_domain_mark_driven(domain);
	return ACTUATOR_DONE;
}

void actuator_domain_mark_driven(struct actuator_domain *domain)
{
	domain->state = ACTUATOR_STATE_DRIVEN;
	domain->why[0] = '\0';
}

int actuator_domain_mark_offline(struct actuator_domain *domain)
{
	domain->state = ACTUATOR_STATE_OFFLINE;
	domain->asked_khz = 0;
	return actuator_domain_explain(domain, ACTUATOR_OFFLINE, "all its CPUs are offline");
}

void actuator_domain_drop(struct actuator_domain *domain)
{
	close_fdp(&domain->setspeed_fd);
	domain->setspeed_fd = -1;
	range_close(&domain->range);
	domain->held = false;
	domain->touched = 0;
	domain->asked_khz = 0;
	domain->read_back_khz = 0;
}

int actuator_domain_yield(struct actuator_domain *domain, enum control control, const char *value,
			  const char *ours)
{
	int r;

	actuator_domain_drop(domain);
	domain->state = ACTUATOR_STATE_YIELDED;
	domain->taken_control = control;
	snprintf(domain->taken_from_us, sizeof(domain->taken_from_us), "%s", ours);
	r = restore_others(domain->saved, domain->info->first_cpu, control, ours);
	return actuator_domain_explain(
		domain, ACTUATOR_TAKEN_OVER, "another program set %s to %s%s%s",
		control_names[control], value,
		r < 0 ? "; the originals file cannot be written: " : "", r < 0 ? strerror(-r) : "");
}

bool actuator_domain_is_back(struct actuator_domain *domain)
{
	enum control control = domain->taken_control;
	char now[CONTROL_VALUE_SIZE];
	struct wakegov_limits limits;

	if (control == CONTROL_MIN_FREQ || control == CONTROL_MAX_FREQ) {
		if (actuator_domain_read_requests(domain, &limits) < 0)
			return false;
		snprintf(now, sizeof(now), "%u",
			 control == CONTROL_MIN_FREQ ? limits.min_khz : limits.max_khz);
	} else if (control_load(control, domain->info->first_cpu, now, sizeof(now)) < 0) {
		return false;
	}
	return strcmp(now, domain->taken_from_us) == 0;
}

int actuator_domain_outcome_unheld(const struct actuator_domain *domain)
{
	switch (domain->state) {
	case ACTUATOR_STATE_YIELDED:
		return ACTUATOR_TAKEN_OVER;
	case ACTUATOR_STATE_OFFLINE:
		return ACTUATOR_OFFLINE;
	default:
		return -EINVAL;
	}
}

int actuator_domain_refuse_tickless(struct actuator_domain *domain)
{
	uint32_t cpu;

	if (!tick_is_seen())
		return actuator_domain_explain(domain, -EOPNOTSUPP,
					       "the kernel has no high-resolution timers now "
					       "(highres=off), and without them a task that is "
					       "alone on a CPU stays unseen");
	if (!tickless_has(domain->info->first_cpu, &cpu))
		return 0;
	return actuator_domain_explain(domain, -EOPNOTSUPP,
				       "CPU %u has no scheduler tick (nohz_full=), so a task that "
				       "is alone there stays unseen",
				       cpu);
}

int actuator_domain_save(struct actuator_domain *domain, const struct saved_value *entries,
			 size_t n)
{
	int r = saved_add(domain->saved, entries, n);

	if (r < 0)
		return actuator_domain_explain(domain, r,
					       "the original values cannot be saved in %s (%s)",
					       domain->saved->directory, strerror(-r));
	return 0;
}
