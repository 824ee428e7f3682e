// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/task_override.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
static void say_whom(const struct lease *lease, char ret[static WHOM_SIZE])
{
	if (lease->target.pid)
		snprintf(ret, WHOM_SIZE, "pid %u (%.15s)", lease->target.pid, lease->comm);
	else
		snprintf(ret, WHOM_SIZE, "[rule %s]", lease->target.rule);
}

__attribute__((format(printf, 3, 4))) static void tell(struct manager *manager,
						       const struct lease *lease,
						       const char *format, ...)
{
	const struct message_about about = {
		.pid = lease->target.pid,
		.comm = lease->target.pid ? lease->comm : NULL,
	};
	char whom[WHOM_SIZE], what[128];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	say_whom(lease, whom);
	journal_tell(manager, MESSAGE_OVERRIDE, &about, "%s: override %u %s", whom,
		     lease->target.id, what);
}

/* What is in the table becomes what tasks have. */
static void put_in_force(struct manager *manager)
{
	leases_fill(&manager->leases, &manager->policy);
	engine_set_policy(manager->engine, &manager->policy);
	rule_tracking_set_policy(manager);
	overrides_save(manager);
}

static const char *say_why(enum lease_end ended)
{
	static const char *const why[] = {
		[LEASE_HOLDS] = "its time is over",
		[LEASE_TASK_GONE] = "its task ended",
		[LEASE_RULE_GONE] = "the policy has no such rule any more",
		[LEASE_NO_ROOM] = "the policy has so many rules that there is no room for it",
	};

	return why[ended];
}

void task_override_end_over(struct manager *manager)
{
	uint64_t now_ns = time_now_ns();
	bool any = false;

	for (uint32_t i = manager->leases.n; i-- > 0;) {
		struct lease *lease = &manager->leases.entries[i];

		if (!lease->ended && now_ns < lease->end_ns)
			continue;
		tell(manager, lease, "ended: %s", say_why(lease->ended));
		leases_remove(&manager->leases, lease);
		any = true;
	}
	if (any)
		put_in_force(manager);
}

static int find_task(struct manager *manager, uint32_t pid, struct lease *lease)
{
	struct task_facts facts;
	int r = tracer_find_task(manager->tracer, pid, &facts);

	if (r < 0)
		return r;
	lease->target.pid = pid;
	lease->target.start_ns = facts.start_ns;
	memcpy(lease->comm, facts.comm, sizeof(lease->comm));
	return 0;
}

static int find_rule(const struct policy *policy, const char *name, struct lease *lease)
{
	for (uint32_t i = 0; i < policy->n_rules; i++)
		if (!strcmp(policy->rules[i].name, name)) {
			strcpy(lease->target.rule, name);
			return 0;
		}
	return -ENOENT;
}

static int take_class(const struct policy *policy, const char *name, struct lease *lease)
{
	for (uint32_t i = 0; name && i < policy->n_classes; i++)
		if (!strcmp(policy->classes[i].name, name)) {
			lease->properties = policy->classes[i].properties;
			return 0;
		}
	return name ? -ENODATA : 0;
}

/* A text as in a policy, over what is there. */
static bool take_level(const char *key, const char *text, enum rule_property property,
		       struct lease *lease)
{
	struct policy_rule rule = { .own = lease->properties };

	if (!text)
		return true;
	if (policy_rule_keys_find(key)->store(&rule, text) < 0)
		return false;
	*(struct policy_level *)rule_level(&lease->properties, property) = *rule_level(&rule.own,
										       property);
	return true;
}

static void take_khz(uint32_t khz, struct policy_level *level)
{
	if (khz)
		*level = (struct policy_level){ POLICY_LEVEL_KHZ, khz };
}

/* The frequency of the CPU where it last ran, or 0: that is in no domain. */
static uint32_t present_khz(struct manager *manager, uint32_t pid)
{
	char path[64], text[512];
	_cleanup_fclose_ FILE *file = NULL;
	const char *rest;
	uint32_t cpu, domain;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[n] = '\0';
	/* The name may hold anything, and ends with the last bracket: field 2. The CPU is field 39.
	 */
	rest = strrchr(text, ')');
	for (int field = 2; rest && field < 39; field++)
		rest = strchr(rest + 1, ' ');
	if (!rest || sscanf(rest, "%u", &cpu) != 1)
		return 0;
	domain = topology_domain_of(manager->topology, cpu);
	return domain == TOPOLOGY_NO_DOMAIN ? 0 : overrides_present_khz(manager, domain);
}

static const char *take_levels(struct manager *manager, const struct override_request *request,
			       struct lease *lease)
{
	uint32_t frozen_khz = 0;

	if (!take_level("floor", request->floor, RULE_FLOOR, lease))
		return "floor";
	if (!take_level("cap", request->cap, RULE_CAP, lease))
		return "cap";
	if (!take_level("io-boost", request->io_boost, RULE_IO_BOOST, lease))
		return "io_boost";
	/* The tasks of a rule run at many frequencies. */
	if (request->freeze && lease->target.pid)
		frozen_khz = present_khz(manager, lease->target.pid);
	if (request->freeze && !frozen_khz)
		return "freeze";
	take_khz(frozen_khz ?: request->min_khz, &lease->properties.floor);
	take_khz(frozen_khz ?: request->max_khz, &lease->properties.cap);
	return NULL;
}

int task_override_add(struct manager *manager, const struct override_request *request, uint32_t id,
		      uint32_t *ret_max, const char **ret_wrong)
{
	struct lease lease = {
		.target = { .id = id, .children = request->children },
		.uid = request->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
	};
	int r;

	*ret_max = leases_room(&manager->policy);
	r = request->rule ? find_rule(&manager->policy, request->rule, &lease)
			  : find_task(manager, request->pid, &lease);
	if (r == 0)
		r = take_class(&manager->policy, request->class, &lease);
	if (r < 0)
		return r;
	*ret_wrong = take_levels(manager, request, &lease);
	if (*ret_wrong)
		return -EINVAL;
	if (manager->leases.n >= *ret_max || !leases_add(&manager->leases, &lease))
		return -ENOSPC;
	put_in_force(manager);
	tell(manager, &lease, "by user %u for %.1f s", request->uid, (double)request->for_us / 1e6);
	return 0;
}

bool task_override_cancel(struct manager *manager, uint32_t id)
{
	struct lease *found = leases_find(&manager->leases, id), ended;

	if (!found)
		return false;
	ended = *found;
	leases_remove(&manager->leases, found);
	put_in_force(manager);
	tell(manager, &ended, "was cancelled");
	return true;
}
