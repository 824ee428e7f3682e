// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/policy.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/rule.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/sysfs.h"

static const struct statefile choice_file = { .name = "profile", .version = 1 };

#define MINUTES_PER_DAY (24 * 60)

static const char *const whys[] = {
	[PROFILE_BY_DEFAULT] = "no condition is true",
	[PROFILE_BY_CONDITION] = "its condition is true",
	[PROFILE_CHOSEN] = "chosen",
	[PROFILE_HELD] = "held by a client",
};

const char *profile_why(const struct manager *manager)
{
	return whys[manager->profile.why];
}

struct supplies {
	bool has_line;
	bool line_online;
	bool discharging;
};

static bool says(const char *supply, const char *file, const char *word)
{
	char line[32];

	return sysfs_read_line(line, sizeof(line), "%s/%s", supply, file) && !strcmp(line, word);
}

static void look_at_line(const char *supply, void *context)
{
	struct supplies *supplies = context;
	bool is_mains = says(supply, "type", "Mains");

	supplies->has_line |= is_mains;
	if (is_mains || says(supply, "type", "USB"))
		supplies->line_online |= says(supply, "online", "1");
}

/* Looks at a battery, unless it belongs to a mouse or the like. */
static void look_at_battery(const char *supply, void *context)
{
	struct supplies *supplies = context;

	if (says(supply, "type", "Battery") && !says(supply, "scope", "Device"))
		supplies->discharging |= says(supply, "status", "Discharging");
}

/*
 * Whether the machine runs on a battery: no line is online, and there is one or a battery is
 * discharging. A machine with neither does not, and batteries of mice and the like do not count, as
 * for systemd's ConditionACPower=. Batteries are read only if they decide: a controller may take
 * tens of milliseconds.
 */
static bool is_on_battery(void)
{
	struct supplies supplies = { 0 };

	sysfs_each(look_at_line, &supplies, "/sys/class/power_supply/*");
	if (!supplies.line_online && !supplies.has_line)
		sysfs_each(look_at_battery, &supplies, "/sys/class/power_supply/*");
	return !supplies.line_online && (supplies.has_line || supplies.discharging);
}

/* Not time(2), which lags behind the clock of timers by up to a tick. */
static struct tm local_time(void)
{
	struct timespec now;
	struct tm local;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	return local;
}

bool profile_rule_has_task(const struct manager *manager, const char *name)
{
	int rule = manager->rules ? rule_named(&manager->policy, name) : -1;

	return rule >= 0 && rules_count(manager->rules, rule).tasks > 0;
}

static bool holds(const struct manager *manager, const struct policy_when *when)
{
	struct tm local = local_time();
	uint32_t now_min = local.tm_hour * 60 + local.tm_min;
	bool is_after = now_min >= when->from_min, is_before = now_min < when->until_min;

	if (!when->given)
		return false;
	if (when->power != POLICY_POWER_ANY &&
	    (when->power == POLICY_POWER_BATTERY) != is_on_battery())
		return false;
	/* A time from 22:00 to 6:00 spans midnight. */
	if (when->by_time &&
	    !(when->from_min < when->until_min ? is_after && is_before : is_after || is_before))
		return false;
	return !when->rule[0] || profile_rule_has_task(manager, when->rule);
}

const struct policy_profile *profile_pick(const struct manager *manager,
					  const struct policy_profiles *profiles,
					  enum profile_why *ret_why)
{
	const struct profile_choice *choice = &manager->profile;
	const struct policy_profile *profile = policy_profiles_find(profiles, choice->held);

	*ret_why = PROFILE_HELD;
	if (profile)
		return profile;
	profile = policy_profiles_find(profiles, choice->chosen);
	*ret_why = PROFILE_CHOSEN;
	if (profile)
		return profile;
	*ret_why = PROFILE_BY_CONDITION;
	for (uint32_t i = 0; i < profiles->n; i++)
		if (holds(manager, &profiles->entries[i].when))
			return &profiles->entries[i];
	*ret_why = PROFILE_BY_DEFAULT;
	return policy_profiles_find(profiles, POLICY_PROFILE_DEFAULT);
}

int profile_apply(struct manager *manager, const struct policy_files *files, struct policy *ret)
{
	struct profile_choice *choice = &manager->profile;
	const struct policy_profiles *profiles = policy_files_profiles(files);
	const struct policy_profile *profile = profile_pick(manager, profiles, &choice->why);
	int r;

	if (choice->chosen[0] && !policy_profiles_find(profiles, choice->chosen))
		log_warning("the chosen profile %s is no longer in the policy", choice->chosen);
	strcpy(choice->name, profile->name);
	r = policy_files_apply(files, profile, ret);
	if (r == 0 && manager->options.observe)
		ret->backend = POLICY_BACKEND_OBSERVE;
	return r;
}

/* The next time at which a condition begins or ends. */
time_t profile_next_boundary(const struct policy_profiles *profiles)
{
	struct tm local = local_time();
	uint32_t now_min = local.tm_hour * 60 + local.tm_min, least = MINUTES_PER_DAY;

	for (uint32_t i = 0; i < profiles->n; i++) {
		const struct policy_when *when = &profiles->entries[i].when;
		const uint32_t bounds[] = { when->from_min, when->until_min };

		for (int j = 0; when->by_time && j < 2; j++) {
			uint32_t ahead =
				(bounds[j] + MINUTES_PER_DAY - now_min - 1) % MINUTES_PER_DAY + 1;

			least = ahead < least ? ahead : least;
		}
	}
	local.tm_min += least;
	local.tm_sec = 0;
	local.tm_isdst = -1;
	return mktime(&local);
}

static void print_choice(FILE *out, const void *data)
{
	fprintf(out, "chosen %s\n", (const char *)data);
}

void profile_save_choice(const struct manager *manager)
{
	const char *directory = manager->options.run_dir, *chosen = manager->profile.chosen;
	int r = chosen[0] ? statefile_write(directory, &choice_file, print_choice, chosen)
			  : statefile_remove(directory, &choice_file);

	if (r < 0)
		log_warning(
			"the profile is in force, but a restart of wakegovd will end it: cannot "
			"write %s/profile: %s",
			directory, strerror(-r));
}

void profile_read_choice(struct manager *manager)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	const char *directory = manager->options.run_dir;
	int r = statefile_open(directory, &choice_file, &reader);
	char *line;

	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (sscanf(line, "chosen %31s", manager->profile.chosen) != 1)
			r = -EBADMSG;
	if (r < 0)
		log_warning("the chosen profile is not known: cannot use %s/profile: %s", directory,
			    statefile_refusal(r) ?: strerror(-r));
}
