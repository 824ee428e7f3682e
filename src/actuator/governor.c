// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches scaling_governor. When the last domain leaves a governor, the kernel frees its tunables.
 * So they are saved together with the governor, before the switch.
 */
#include "actuator/governor.h"

#include <cpufreq.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/saved.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/text.h"

/* With this many entries the table still has room for every control. */
#define ROOM_FOR_TUNABLES ((size_t)4096)

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct saved_value *)a)->path, ((const struct saved_value *)b)->path);
}

/* Returns 1; 0 unless the file can be both read and written; or a negative errno. */
static int collect_one(const char *directory, const char *name, struct saved_value *ret)
{
	char path[CONTROL_PATH_SIZE], value[SAVED_VALUE_SIZE], more;
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (snprintf(path, sizeof(path), "%s%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (lstat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IRUSR) || !(st.st_mode & S_IWUSR))
		return 0;
	fd = control_open_path(path, O_RDONLY);
	r = fd < 0 ? fd : control_read(fd, value, sizeof(value));
	if (r < 0)
		return r;
	if (pread(fd, &more, 1, r + 1) > 0) /* a second line */
		return -EINVAL;
	*ret = saved_entry_at(path, value, SAVED_ANY);
	return saved_is_valid(ret) ? 1 : -EINVAL;
}

int governor_collect_tunables(uint32_t policy, const char *governor, struct saved_value *ret,
			      size_t n_max, char *ret_unsaved, size_t unsaved_size)
{
	const uint32_t owners[] = { policy, CONTROL_SHARED };
	_cleanup_closedir_ DIR *directory = NULL;
	const struct dirent *file;
	char path[CONTROL_PATH_SIZE];
	size_t n = 0;
	int fd = -ENOENT;

	ret_unsaved[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(owners) && fd == -ENOENT && governor[0]; i++) {
		control_tunables_path(owners[i], governor, path);
		fd = control_open_path(path, O_RDONLY | O_DIRECTORY);
	}
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	while ((file = readdir(directory))) {
		struct saved_value tunable;
		int r = collect_one(path, file->d_name, &tunable);

		if (r > 0 && n < n_max)
			ret[n++] = tunable;
		else if (r != 0)
			text_append(ret_unsaved, unsaved_size, "%s%s", ret_unsaved[0] ? ", " : "",
				    file->d_name);
	}
	qsort(ret, n, sizeof(*ret), compare_paths);
	return (int)n;
}

/*
 * Saves entries and the tunables of the governor that will be replaced. A tunable that cannot be
 * saved does not prevent the replacement; domain->unsaved names it.
 */
static int save_with_tunables(struct actuator_domain *domain, const char *governor,
			      const struct saved_value *entries, size_t n)
{
	struct saved_value all[CONTROL_N + TUNABLES_PER_GOVERNOR_MAX];
	size_t room = domain->saved->n < ROOM_FOR_TUNABLES ? TUNABLES_PER_GOVERNOR_MAX : 0;
	char names[sizeof(domain->unsaved) / 2];
	int n_tunables;

	memcpy(all, entries, n * sizeof(*all));
	domain->unsaved[0] = '\0';
	n_tunables = governor_collect_tunables(domain->info->first_cpu, governor, all + n, room,
					       names, sizeof(names));
	if (n_tunables < 0)
		snprintf(names, sizeof(names), "any of them: %s", strerror(-n_tunables));
	if (names[0])
		snprintf(domain->unsaved, sizeof(domain->unsaved),
			 "tunables of %s that cannot be saved, and can be at the kernel's "
			 "defaults afterwards: %s",
			 governor, names);
	return actuator_domain_save(domain, all, n + (n_tunables < 0 ? 0 : (size_t)n_tunables));
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
		return actuator_domain_explain_file(domain, error, control_names[CONTROL_GOVERNOR]);

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
		domain, -EIO, "driver %s refused the userspace governor (%s): use backend = limits",
		driver, strerror(-error));
}

static int set_governor(struct actuator_domain *domain, const char *governor)
{
	char current[CONTROL_VALUE_SIZE], userspace[] = GOVERNOR_USERSPACE;
	int error, r;

	if (strcmp(governor, GOVERNOR_USERSPACE) == 0)
		return 0;

	/* libcpupower returns -ENODEV for every failure; errno and a read tell more. */
	errno = 0;
	cpufreq_modify_policy_governor(domain->info->first_cpu, userspace);
	error = errno;

	r = control_read(domain->governor_fd, current, sizeof(current));
	if (r < 0)
		return r == -EBUSY ? r
				   : actuator_domain_explain_file(domain, r,
								  control_names[CONTROL_GOVERNOR]);
	if (strcmp(current, GOVERNOR_USERSPACE) == 0)
		return 1;
	return explain_refusal(domain, error ? -error : -EINVAL);
}

/* Saves the speed only under `userspace`; other governors show `<unsupported>`. */
static int save_and_set(struct actuator_domain *domain)
{
	uint32_t policy = domain->info->first_cpu, khz;
	char governor[CONTROL_VALUE_SIZE];
	struct saved_value entries[2];
	size_t n = 0;
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	if (r == -EBUSY)
		return r;
	if (r < 0)
		return actuator_domain_explain_file(domain, r, control_names[CONTROL_GOVERNOR]);

	entries[n++] = saved_entry(policy, CONTROL_GOVERNOR, governor, GOVERNOR_USERSPACE);
	if (strcmp(governor, GOVERNOR_USERSPACE) == 0) {
		r = control_read_u32(domain->setspeed_fd, &khz);
		if (r < 0)
			return actuator_domain_explain_file(domain, r,
							    control_names[CONTROL_SETSPEED]);
		entries[n++] = saved_entry_khz(policy, CONTROL_SETSPEED, khz);
	}
	r = save_with_tunables(domain, governor, entries, n);
	if (r < 0)
		return r;
	r = set_governor(domain, governor);
	if (r < 0)
		restore_domain(domain->saved, policy, NULL, NULL);
	return r;
}

int governor_switch(struct actuator_domain *domain)
{
	_cleanup_close_ int fd = -1;
	int r;

	domain->why[0] = '\0';
	fd = actuator_domain_open(domain, CONTROL_SETSPEED);
	if (fd < 0)
		return fd;
	domain->setspeed_fd = fd;
	r = save_and_set(domain);
	if (r < 0) {
		domain->setspeed_fd = -1;
		return r;
	}

	take_fd(&fd);
	return r;
}

int governor_lend(struct actuator_domain *domain, const char *governor)
{
	struct saved_value saved = saved_entry(domain->info->first_cpu, CONTROL_GOVERNOR,
					       domain->lent_to, governor);
	int r = save_with_tunables(domain, domain->lent_to, &saved, 1);

	if (r == 0)
		r = control_write_path(saved.path, governor);
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

/*
 * The policy's energy preference, written while the control is ours. A preference that another
 * program sets stays. If the performance governor hides the control, ours is written later.
 */

#define AVAILABLE_FILE "energy_performance_available_preferences"
#define DYNAMIC_FILE   "/sys/devices/system/cpu/amd_pstate/dynamic_epp"

const char *preference_describe(int outcome)
{
	switch (outcome) {
	case PREFERENCE_DONE:
	case PREFERENCE_UNCHANGED:
		return "as the policy says";
	case PREFERENCE_MISSING:
		return "the driver has no energy_performance_preference: energy-preference has no "
		       "effect";
	case PREFERENCE_REFUSED:
		return "the performance governor allows no energy-preference but performance: the "
		       "policy's is set when scaling_governor is powersave";
	case PREFERENCE_FOREIGN:
		return "another program set energy_performance_preference; its value stays";
	case PREFERENCE_DYNAMIC:
		return "amd-pstate's dynamic_epp sets energy_performance_preference; it is left to "
		       "the kernel";
	case PREFERENCE_UNNAMED:
		return "the kernel has no word for the firmware's energy_performance_preference, "
		       "so it could not be restored, and stays: write default into the file, then "
		       "reload";
	case -EINVAL:
		return "the driver does not offer this energy-preference: see "
		       "energy_performance_available_preferences";
	default:
		return "energy_performance_preference cannot be written";
	}
}

bool preference_is_dynamic(void)
{
	char word[16];

	return sysfs_read_line(word, sizeof(word), DYNAMIC_FILE) && strcmp(word, "enabled") == 0;
}

/* The control is no longer ours to restore. Returns the outcome, or an error of saving that. */
static int leave(struct saved_values *saved, uint32_t policy, int outcome)
{
	int r;

	saved_drop(saved, saved_find(saved, policy, CONTROL_PREFERENCE));
	r = saved_save(saved);
	return r < 0 ? r : outcome;
}

int preference_set(struct actuator_domain *domain, const char *word)
{
	uint32_t policy = domain->info->first_cpu;
	struct saved_value *saved = saved_find(domain->saved, policy, CONTROL_PREFERENCE);
	bool hidden;
	char now[CONTROL_VALUE_SIZE], before[CONTROL_VALUE_SIZE];
	int r;

	if (!word && !saved)
		return PREFERENCE_UNCHANGED;
	r = control_load(CONTROL_PREFERENCE, policy, now, sizeof(now));
	/* On older kernels reading a number fails with amd-pstate. */
	if (r < 0)
		return r == -ENOENT ? PREFERENCE_MISSING : r == -EINVAL ? PREFERENCE_UNNAMED : r;
	if (preference_is_dynamic())
		return saved ? leave(domain->saved, policy, PREFERENCE_DYNAMIC)
			     : PREFERENCE_DYNAMIC;
	hidden = control_preference_is_hidden(policy, now);
	if (!hidden && saved && !saved_is_ours(saved, now))
		return leave(domain->saved, policy, PREFERENCE_FOREIGN);
	if (!word)
		word = strcpy(before, saved->value);
	if (saved && saved->hidden != hidden && (hidden || strcmp(now, word) == 0)) {
		saved->hidden = hidden;
		r = saved_save(domain->saved);
		if (r < 0)
			return r;
	}
	if (strcmp(now, word) == 0)
		return PREFERENCE_UNCHANGED;
	if (hidden)
		return PREFERENCE_REFUSED;
	/* The value from before us may be a number, which is not in the list. */
	if (word != before && control_lists(policy, AVAILABLE_FILE, word) == 0)
		return -EINVAL;
	r = restore_and_set(domain->saved, CONTROL_PREFERENCE, policy, now, word);
	if (r < 0)
		return r;
	domain->writes++;
	return PREFERENCE_DONE;
}
