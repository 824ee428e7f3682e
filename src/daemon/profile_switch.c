// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/profile_switch.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include "daemon/journal.h"
#include "daemon/policy.h"
#include "daemon/power.h"
#include "daemon/profile.h"
#include "daemon/round.h"
#include "shared/log.h"
#include "shared/time.h"

/* A condition on a rule changes the profile no more often than this. */
#define RULES_GAP_US	US_PER_S

#define MINUTES_PER_DAY (24 * 60)

/* Switches profiles if another one should be in force, or for another reason. */
static void reconsider(struct manager *manager)
{
	struct profile_choice *choice = &manager->profile;
	enum profile_why why;
	const struct policy_profile *profile =
		profile_pick(manager, policy_files_profiles(manager->policy_files), &why);
	struct policy policy;

	if (strcmp(profile->name, choice->name) != 0) {
		if (profile_apply(manager, manager->policy_files, &policy) < 0) {
			log_error("out of memory for the profile %s", profile->name);
			return;
		}
		policy_put_into_effect(manager, &policy);
		manager_round(manager);
	} else if (why == choice->why) {
		return;
	}
	choice->why = why;
	journal_tell(manager, MESSAGE_PROFILE, NULL, "profile %s: %s%s%s%s", profile->name,
		     profile_why(manager), why == PROFILE_BY_CONDITION ? " (" : "",
		     why == PROFILE_BY_CONDITION ? profile->when.text : "",
		     why == PROFILE_BY_CONDITION ? ")" : "");
}

static int on_power(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	if (power_read(fd))
		reconsider(userdata);
	return 0;
}

/* The next time at which a condition begins or ends. */
static time_t next_boundary(const struct policy_profiles *profiles)
{
	struct tm local = profile_local_time();
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

static void arm_clock(struct manager *manager)
{
	const struct policy_profiles *profiles = policy_files_profiles(manager->policy_files);
	const struct itimerspec next = { .it_value.tv_sec = next_boundary(profiles) };

	/* It also fires when the clock is set. */
	timerfd_settime(manager->profile.clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			&next, NULL);
}

static int on_clock(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	uint64_t expired;

	if (read(fd, &expired, sizeof(expired)) < 0 && errno != ECANCELED)
		return 0;
	/* In this order a time that passes meanwhile is not missed. */
	arm_clock(userdata);
	reconsider(userdata);
	return 0;
}

static int on_rules(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *manager = userdata;

	manager->profile.rules_looked_us = time_now_ns() / NS_PER_US;
	reconsider(manager);
	return 0;
}

static int listen_for_power(struct manager *manager)
{
	struct profile_choice *choice = &manager->profile;

	if (choice->power_fd >= 0)
		return 0;
	choice->power_fd = power_open();
	if (choice->power_fd < 0)
		return choice->power_fd;
	return sd_event_add_io(manager->event, NULL, choice->power_fd, EPOLLIN, on_power, manager);
}

static int listen_for_clock(struct manager *manager)
{
	struct profile_choice *choice = &manager->profile;

	if (choice->clock_fd >= 0)
		return 0;
	choice->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (choice->clock_fd < 0)
		return -errno;
	return sd_event_add_io(manager->event, NULL, choice->clock_fd, EPOLLIN, on_clock, manager);
}

static int listen_for_rules(struct manager *manager)
{
	sd_event_source **timer = &manager->profile.rules_timer;
	int r;

	if (*timer)
		return 0;
	r = sd_event_add_time(manager->event, timer, CLOCK_MONOTONIC, 0, 0, on_rules, manager);
	return r < 0 ? r : sd_event_source_set_enabled(*timer, SD_EVENT_OFF);
}

/* Deferred, as a new policy causes a round, and this may be called in one. */
void profile_switch_mind_rules(struct manager *manager)
{
	struct profile_choice *choice = &manager->profile;
	const struct policy_profiles *profiles = policy_files_profiles(manager->policy_files);
	uint32_t met = 0;

	if (!choice->rules_timer)
		return;
	for (uint32_t i = 0; i < profiles->n; i++) {
		const char *rule = profiles->entries[i].when.rule;

		met |= (uint32_t)(rule[0] && profile_rule_has_task(manager, rule)) << i;
	}
	if (met == choice->rules_met)
		return;
	choice->rules_met = met;
	sd_event_source_set_time(choice->rules_timer, choice->rules_looked_us + RULES_GAP_US);
	sd_event_source_set_enabled(choice->rules_timer, SD_EVENT_ONESHOT);
}

int profile_switch_listen(struct manager *manager)
{
	const struct policy_profiles *profiles = policy_files_profiles(manager->policy_files);
	int r = 0;

	for (uint32_t i = 0; i < profiles->n && r >= 0; i++) {
		const struct policy_when *when = &profiles->entries[i].when;

		if (when->power != POLICY_POWER_ANY)
			r = listen_for_power(manager);
		if (r >= 0 && when->rule[0])
			r = listen_for_rules(manager);
		if (r >= 0 && when->by_time)
			r = listen_for_clock(manager);
	}
	if (manager->profile.clock_fd >= 0)
		arm_clock(manager);
	if (r < 0)
		log_error("cannot hear of what the conditions of profiles are about: %s",
			  strerror(-r));
	/* Takes changes from before the daemon listened. */
	reconsider(manager);
	return r < 0 ? r : 0;
}

int profile_switch_choose(struct manager *manager, const char *name)
{
	const struct policy_profiles *profiles = policy_files_profiles(manager->policy_files);

	if (name && !policy_profiles_find(profiles, name))
		return -ENOENT;
	strcpy(manager->profile.chosen, name ?: "");
	profile_save_choice(manager);
	reconsider(manager);
	return 0;
}

/* Deferred, as the sender still uses the channel. */
static void on_unheld(void *userdata)
{
	struct manager *manager = userdata;

	manager->profile.held[0] = '\0';
	sd_event_source_set_enabled(manager->profile.unheld, SD_EVENT_ONESHOT);
}

static int on_reconsider(sd_event_source *source, void *userdata)
{
	reconsider(userdata);
	return 0;
}

int profile_switch_hold(struct manager *manager, const char *name)
{
	const struct policy_profiles *profiles = policy_files_profiles(manager->policy_files);
	struct profile_choice *choice = &manager->profile;
	int r = 0;

	if (!policy_profiles_find(profiles, name))
		return -ENOENT;
	if (!choice->unheld)
		r = sd_event_add_defer(manager->event, &choice->unheld, on_reconsider, manager);
	if (r < 0)
		return r;
	choice->hold.unheard = on_unheld;
	choice->hold.userdata = manager;
	strcpy(choice->held, name);
	reconsider(manager);
	return 0;
}

void profile_switch_deinit(struct manager *manager)
{
	struct profile_choice *choice = &manager->profile;

	sd_event_source_unref(choice->rules_timer);
	sd_event_source_unref(choice->unheld);
	if (choice->power_fd >= 0)
		close(choice->power_fd);
	if (choice->clock_fd >= 0)
		close(choice->clock_fd);
	policy_files_free(manager->policy_files);
}
