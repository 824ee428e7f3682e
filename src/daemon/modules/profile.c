// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the profile in force: by a client, or by the conditions of power source, time, and
 * programs that run.
 */
#include "daemon/modules/policy.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <time.h>

#include "actuator/watch.h"
#include "core/rule.h"
#include "daemon/domains.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

static const struct statefile choice_file = { .name = "profile", .version = 1 };

#define MINUTES_PER_DAY (24 * 60)
/* A condition on a rule changes the profile no more often than this. */
#define RULES_GAP_NS NS_PER_S

static const char *const whys[] = {
	[PROFILE_BY_DEFAULT] = "no condition is true",
	[PROFILE_BY_CONDITION] = "its condition is true",
	[PROFILE_CHOSEN] = "chosen",
};

const char *profile_why(const struct policies *policies)
{
	return whys[policies->profile.why];
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

static bool rule_has_task(const struct core *core, const char *name)
{
	int rule = core->rules ? rule_named(&core->policy, name) : -1;

	return rule >= 0 && core->rules->ruled[rule].count.tasks > 0;
}

static bool holds(const struct core *core, const struct policy_when *when)
{
	struct tm local = local_time();
	uint32_t now_min = local.tm_hour * 60 + local.tm_min;
	bool is_after = now_min >= when->from_min, is_before = now_min < when->until_min;

	if (!when->given)
		return false;
	if (when->power != POLICY_POWER_ANY &&
	    (when->power == POLICY_POWER_BATTERY) != power_source_is_battery())
		return false;
	/* A time from 22:00 to 6:00 spans midnight. */
	if (when->by_time &&
	    !(when->from_min < when->until_min ? is_after && is_before : is_after || is_before))
		return false;
	return !when->rule[0] || rule_has_task(core, when->rule);
}

static const struct policy_profiles *profiles_of(const struct policies *policies)
{
	return policy_files_profiles(policies_in_force(policies));
}

/* The profile that should be in force now. Borrowed. */
static const struct policy_profile *pick(const struct policies *policies, enum profile_why *ret_why)
{
	const struct policy_profiles *profiles = profiles_of(policies);
	const struct profile_choice *choice = &policies->profile;
	const struct policy_profile *profile = policy_profiles_find(profiles, choice->chosen);

	*ret_why = PROFILE_CHOSEN;
	if (profile)
		return profile;
	*ret_why = PROFILE_BY_CONDITION;
	for (uint32_t i = 0; i < profiles->n; i++)
		if (holds(policies->core, &profiles->entries[i].when))
			return &profiles->entries[i];
	*ret_why = PROFILE_BY_DEFAULT;
	return policy_profiles_find(profiles, POLICY_PROFILE_DEFAULT);
}

int profile_apply(struct policies *policies, struct policy *ret)
{
	struct profile_choice *choice = &policies->profile;
	const struct policy_profile *profile = pick(policies, &choice->why);
	int r;

	if (choice->chosen[0] && !policy_profiles_find(profiles_of(policies), choice->chosen))
		log_warning("the chosen profile %s is no longer in the policy", choice->chosen);
	strcpy(choice->name, profile->name);
	r = policy_files_apply(policies_in_force(policies), profile, ret);
	if (r == 0 && policies->core->options->observe)
		ret->backend = POLICY_BACKEND_OBSERVE;
	return r;
}

static void print_choice(FILE *out, const void *data)
{
	fprintf(out, "chosen %s\n", (const char *)data);
}

void profile_read_choice(struct policies *policies)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	const char *directory = policies->core->options->run_dir;
	int r = statefile_open(directory, &choice_file, &reader);
	char *line;

	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (sscanf(line, "chosen %31s", policies->profile.chosen) != 1)
			r = -EBADMSG;
	if (r < 0)
		log_warning("the chosen profile is not known: cannot use %s/profile: %s", directory,
			    statefile_refusal(r) ?: strerror(-r));
}

void policy_put_into_effect(struct core *core, const struct policy *policy)
{
	policy_copy(&core->policy, policy);
	modules_call(core, add_rules, &core->policy);
	for (uint32_t i = 0; i < core->n_domains; i++)
		domains_set_preference(core, i);
	engine_set_policy(core->engine, &core->policy, time_now_ns());
	freq_invariance_choose_references(core);
	rule_tracking_set_policy(core);
	query_server_set_limits(core->server, &core->policy.query);
}

/* Switches profiles if another one should be in force, or for another reason. */
static void reconsider(struct policies *policies)
{
	struct profile_choice *choice = &policies->profile;
	enum profile_why why;
	const struct policy_profile *profile = pick(policies, &why);
	struct policy policy;

	if (strcmp(profile->name, choice->name) != 0) {
		if (profile_apply(policies, &policy) < 0) {
			log_error("out of memory for the profile %s", profile->name);
			return;
		}
		policy_put_into_effect(policies->core, &policy);
		round_run(policies->core);
	} else if (why == choice->why) {
		return;
	}
	choice->why = why;
	journal_report(policies->core, MESSAGE_PROFILE, NULL, "profile %s: %s%s%s%s", profile->name,
		       profile_why(policies), why == PROFILE_BY_CONDITION ? " (" : "",
		       why == PROFILE_BY_CONDITION ? profile->when.text : "",
		       why == PROFILE_BY_CONDITION ? ")" : "");
}

static int on_power(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	char text[UEVENT_SIZE];
	bool is_power = false;
	ssize_t n;

	while ((n = uevent_read(fd, text)) > 0)
		is_power |= memmem(text, (size_t)n, "SUBSYSTEM=power_supply", 23) != NULL;
	if (is_power || n == -ENOBUFS)
		reconsider(userdata);
	return 0;
}

/* Sets the timer to the next time at which a condition begins or ends. */
static void arm_clock(struct policies *policies)
{
	const struct policy_profiles *profiles = profiles_of(policies);
	struct tm local = local_time();
	uint32_t now_min = local.tm_hour * 60 + local.tm_min, least = MINUTES_PER_DAY;
	struct itimerspec next = { 0 };

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
	next.it_value.tv_sec = mktime(&local);
	/* It also fires when the clock is set. */
	timerfd_settime(policies->profile.clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			&next, NULL);
}

static int on_clock(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	uint64_t expired;

	if (read(fd, &expired, sizeof(expired)) < 0 && errno != ECANCELED)
		return 0;
	/* First the clock: a time that comes while the profile is chosen is then not missed. */
	arm_clock(userdata);
	reconsider(userdata);
	return 0;
}

/* The C library reads the zone again when it is asked to. */
static int on_zone(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	if (event->len && strcmp(event->name, "localtime") != 0)
		return 0;
	tzset();
	arm_clock(userdata);
	reconsider(userdata);
	return 0;
}

void profile_expire(struct policies *policies, uint64_t now_ns)
{
	struct profile_choice *choice = &policies->profile;

	if (now_ns < choice->rules_due_ns)
		return;
	choice->rules_due_ns = UINT64_MAX;
	choice->rules_again_ns = now_ns + RULES_GAP_NS;
	reconsider(policies);
}

/* Deferred, as a new policy causes a round. */
void profile_check_rules(void *state)
{
	struct policies *policies = state;
	struct profile_choice *choice = &policies->profile;
	const struct policy_profiles *profiles = profiles_of(policies);
	uint32_t met = 0;

	for (uint32_t i = 0; i < profiles->n; i++) {
		const char *rule = profiles->entries[i].when.rule;

		met |= (uint32_t)(rule[0] && rule_has_task(policies->core, rule)) << i;
	}
	if (met == choice->rules_met)
		return;
	choice->rules_met = met;
	choice->rules_due_ns = choice->rules_again_ns;
	round_soon(policies->core);
}

/* Takes a descriptor that was just opened; opened is a negative errno if that failed. */
static int listen_to(struct policies *policies, int opened, int *fd, sd_event_io_handler_t on_ready)
{
	if (opened < 0)
		return opened;
	*fd = opened;
	return sd_event_add_io(policies->core->event, NULL, opened, EPOLLIN, on_ready, policies);
}

int profile_listen(struct policies *policies)
{
	static const struct uevent_kind news[] = { { UEVENT_CHANGE },
						   { UEVENT_ADD },
						   { UEVENT_REMOVE } };
	const struct policy_profiles *profiles = profiles_of(policies);
	struct profile_choice *choice = &policies->profile;
	int r = 0;

	for (uint32_t i = 0; i < profiles->n && r >= 0; i++) {
		const struct policy_when *when = &profiles->entries[i].when;

		if (when->power != POLICY_POWER_ANY && choice->power_fd < 0)
			r = listen_to(policies, uevent_open(news, ARRAY_SIZE(news)),
				      &choice->power_fd, on_power);
		if (r >= 0 && when->by_time && choice->clock_fd < 0) {
			int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);

			r = listen_to(policies, fd < 0 ? -errno : fd, &choice->clock_fd, on_clock);
			/* A link is replaced as a whole: its directory has the events. */
			if (r >= 0)
				r = sd_event_add_inotify(policies->core->event, NULL, "/etc",
							 IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE |
								 IN_DELETE,
							 on_zone, policies);
		}
	}
	if (choice->clock_fd >= 0)
		arm_clock(policies);
	if (r < 0)
		log_error("cannot watch the conditions of profiles: %s", strerror(-r));
	/* What changed before the daemon listened counts as well. */
	reconsider(policies);
	return r < 0 ? r : 0;
}

int profile_choose(struct policies *policies, const char *name)
{
	const struct policy_profiles *profiles = profiles_of(policies);
	const char *directory = policies->core->options->run_dir;
	int r;

	if (name && !policy_profiles_find(profiles, name))
		return -ENOENT;
	strcpy(policies->profile.chosen, name ?: "");
	r = name ? statefile_write(directory, &choice_file, print_choice, name)
		 : statefile_remove(directory, &choice_file);
	if (r < 0)
		log_warning(
			"the profile is in force, but a restart of wakegovd will end it: cannot "
			"write %s/profile: %s",
			directory, strerror(-r));
	reconsider(policies);
	return 0;
}

void profile_deinit(struct policies *policies)
{
	struct profile_choice *choice = &policies->profile;

	if (choice->power_fd >= 0)
		close(choice->power_fd);
	if (choice->clock_fd >= 0)
		close(choice->clock_fd);
}
