// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/task_override.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/task.h"
#include "config/rule_keys.h"
#include "core/opp.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/overrides.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define WHOM_SIZE 64

/* "pid 812 (make)" or "[rule backup]" */
static void say_whom(const struct task_override *override, char ret[static WHOM_SIZE])
{
	if (override->target.pid)
		snprintf(ret, WHOM_SIZE, "pid %u (%.15s)", override->target.pid, override->comm);
	else
		snprintf(ret, WHOM_SIZE, "[rule %s]", override->target.rule);
}

__attribute__((format(printf, 3, 4))) static void tell(struct manager *manager,
						       const struct task_override *override,
						       const char *format, ...)
{
	const struct message_about about = {
		.pid = override->target.pid,
		.comm = override->target.pid ? override->comm : NULL,
	};
	char whom[WHOM_SIZE], what[128];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	say_whom(override, whom);
	journal_tell(manager, MESSAGE_OVERRIDE, &about, "%s: override %u %s", whom,
		     override->target.id, what);
}

/* Applies the table of overrides to the tasks. */
static void put_in_force(struct manager *manager)
{
	task_overrides_fill(&manager->task_overrides, &manager->policy);
	engine_set_policy(manager->engine, &manager->policy);
	rule_tracking_set_policy(manager);
	overrides_save(manager);
}

static const char *say_why(enum task_override_end ended)
{
	static const char *const why[] = {
		[TASK_OVERRIDE_HOLDS] = "its time is over",
		[TASK_OVERRIDE_TASK_GONE] = "its task ended",
		[TASK_OVERRIDE_RULE_GONE] = "the policy has no such rule any more",
		[TASK_OVERRIDE_NO_ROOM] =
			"the policy has so many rules that there is no room for it",
	};

	return why[ended];
}

void task_override_end_over(struct manager *manager)
{
	uint64_t now_ns = time_now_ns();
	bool any = false;

	for (uint32_t i = manager->task_overrides.n; i-- > 0;) {
		struct task_override *override = &manager->task_overrides.entries[i];

		if (!override->ended && now_ns < override->end_ns)
			continue;
		tell(manager, override, "ended: %s", say_why(override->ended));
		task_overrides_remove(&manager->task_overrides, override);
		any = true;
	}
	if (any)
		put_in_force(manager);
}

static int find_task(struct manager *manager, uint32_t pid, struct task_override *override)
{
	struct task_facts facts;
	int r = tracer_find_task(manager->tracer, pid, &facts);

	if (r < 0)
		return r;
	override->target.pid = pid;
	override->target.start_ns = facts.start_ns;
	memcpy(override->comm, facts.comm, sizeof(override->comm));
	return 0;
}

static int find_rule(const struct policy *policy, const char *name, struct task_override *override)
{
	if (rule_named(policy, name) < 0)
		return -ENOENT;
	strcpy(override->target.rule, name);
	return 0;
}

/* Parses a level as in a policy, replacing the present one. */
static bool take_level(const char *key, const char *text, enum rule_property property,
		       struct task_override *override)
{
	struct policy_rule rule = { .own = override->properties };

	if (!text)
		return true;
	if (policy_rule_keys_find(key)->store(&rule, text) < 0)
		return false;
	*(struct policy_level *)rule_level(&override->properties, property) = *rule_level(&rule.own,
											  property);
	return true;
}

static void take_khz(uint32_t khz, struct policy_level *level)
{
	if (khz)
		*level = (struct policy_level){ POLICY_LEVEL_KHZ, khz };
}

/* The frequency of the CPU where the task last ran; 0: it is in no domain. */
static uint32_t present_khz(struct manager *manager, uint32_t pid)
{
	int cpu = task_read_cpu(pid);
	uint32_t domain = cpu < 0 ? TOPOLOGY_NO_DOMAIN : topology_domain_of(manager->topology, cpu);

	return domain == TOPOLOGY_NO_DOMAIN ? 0 : overrides_present_khz(manager, domain);
}

static const char *take_levels(struct manager *manager, const struct override_request *request,
			       struct task_override *override)
{
	uint32_t frozen_khz = 0;

	if (!take_level("floor", request->floor, RULE_FLOOR, override) &&
	    !take_level("response", request->floor, RULE_FLOOR, override))
		return "floor";
	if (!take_level("cap", request->cap, RULE_CAP, override))
		return "cap";
	if (!take_level("io-boost", request->io_boost, RULE_IO_BOOST, override))
		return "io_boost";
	if (!take_level("idle-latency", request->idle_latency, RULE_IDLE_LATENCY, override))
		return "idle_latency";
	/* The tasks of a rule run at many frequencies. */
	if (request->freeze && override->target.pid)
		frozen_khz = present_khz(manager, override->target.pid);
	if (request->freeze && !frozen_khz)
		return "freeze";
	take_khz(frozen_khz ?: request->min_khz, &override->properties.floor);
	take_khz(frozen_khz ?: request->max_khz, &override->properties.cap);
	return NULL;
}

int task_override_add(struct manager *manager, const struct override_request *request, uint32_t id,
		      uint32_t *ret_max, const char **ret_wrong)
{
	struct task_override override = {
		.target = { .id = id, .children = request->children },
		.uid = request->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
	};
	int r;

	*ret_max = task_overrides_room(&manager->policy);
	r = request->rule ? find_rule(&manager->policy, request->rule, &override)
			  : find_task(manager, request->pid, &override);
	if (r < 0)
		return r;
	*ret_wrong = take_levels(manager, request, &override);
	if (*ret_wrong)
		return -EINVAL;
	if (manager->task_overrides.n >= *ret_max ||
	    !task_overrides_add(&manager->task_overrides, &override))
		return -ENOSPC;
	put_in_force(manager);
	tell(manager, &override, "by user %u for %.1f s", request->uid,
	     (double)request->for_us / 1e6);
	return 0;
}

bool task_override_cancel(struct manager *manager, uint32_t id)
{
	struct task_override *found = task_overrides_find(&manager->task_overrides, id), ended;

	if (!found)
		return false;
	ended = *found;
	task_overrides_remove(&manager->task_overrides, found);
	put_in_force(manager);
	tell(manager, &ended, "was cancelled");
	return true;
}
