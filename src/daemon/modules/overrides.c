// SPDX-License-Identifier: GPL-2.0-only
/* Adds and cancels overrides: limits of a domain, or properties of tasks, until a time. */
#include "daemon/modules/grants.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/task.h"
#include "config/keys.h"
#include "core/opp.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define WHOM_SIZE 64

/* The domain has other overrides than the core knows of. */
static void apply_to_domain(struct grants *grants, uint32_t domain)
{
	const struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_OVERRIDE,
		.override = { domain, overrides_limits(&grants->overrides, domain) },
	};

	engine_apply(grants->core->engine, &input);
}

/* Overrides of tasks and rules are other ones: the rules and their tasks follow. */
static void apply_to_tasks(struct grants *grants)
{
	struct core *core = grants->core;

	overrides_fill(&grants->overrides, &core->policy);
	engine_set_policy(core->engine, &core->policy);
	rule_tracking_set_policy(core);
}

void overrides_resume(struct grants *grants)
{
	overrides_each(&grants->overrides, override)
		if (override->of_domain)
			apply_to_domain(grants, override->domain);
	if (overrides_count(&grants->overrides, false))
		apply_to_tasks(grants);
}

static void report(const struct grants *grants, const struct override *override, const char *what)
{
	const struct policy_override *target = &override->target;
	struct message_about about = { 0 };
	char whom[WHOM_SIZE];

	if (override->of_domain) {
		about.domain = grants->core->topology->domains[override->domain].name;
		snprintf(whom, sizeof(whom), "%s", about.domain);
	} else if (target->pid) {
		about.pid = target->pid;
		about.comm = override->comm;
		snprintf(whom, sizeof(whom), "pid %u (%.15s)", about.pid, about.comm);
	} else {
		snprintf(whom, sizeof(whom), "[rule %s]", target->rule);
	}
	journal_report(grants->core, MESSAGE_OVERRIDE, &about, "%s: override %u %s", whom,
		       override->id, what);
}

static void changed(struct grants *grants, bool of_tasks)
{
	if (of_tasks)
		apply_to_tasks(grants);
	grants_save(grants);
}

static void end(struct grants *grants, struct override *override, const char *what)
{
	bool of_domain = override->of_domain;
	uint32_t domain = override->domain;

	report(grants, override, what);
	overrides_remove(&grants->overrides, override);
	if (of_domain)
		apply_to_domain(grants, domain);
}

void overrides_end_over(struct grants *grants, uint64_t now_ns)
{
	static const char *const why[] = {
		[OVERRIDE_HOLDS] = "ended: its time is over",
		[OVERRIDE_TASK_GONE] = "ended: its task ended",
		[OVERRIDE_RULE_GONE] = "ended: the policy has no such rule any more",
		[OVERRIDE_NO_ROOM] =
			"ended: the policy has so many rules that there is no room for it",
	};
	bool any = false, any_of_tasks = false;

	for (uint32_t i = grants->overrides.n; i-- > 0;) {
		struct override *override = &grants->overrides.entries[i];

		if (!override->ended && now_ns < override->end_ns)
			continue;
		any = true;
		any_of_tasks |= !override->of_domain;
		end(grants, override, why[override->ended]);
	}
	if (any)
		changed(grants, any_of_tasks);
}

/* The domain's last target, or its present OPP. */
static uint32_t present_khz(struct core *core, uint32_t domain)
{
	uint32_t khz = engine_last(core->engine, domain)->target_khz;

	if (!khz)
		actuator_domain_read_back(&core->domains[domain].actuator, &khz);
	return opp_lowest_at_or_above(&core->topology->domains[domain], khz, 0, UINT32_MAX);
}

static int find_limits(struct core *core, const struct override_request *request,
		       struct override *override)
{
	override->domain = topology_find(core->topology, request->domain);
	if (override->domain == TOPOLOGY_NO_DOMAIN)
		return -ENODEV;
	override->min_khz = request->min_khz;
	override->max_khz = request->max_khz;
	if (request->freeze)
		override->frozen_khz = present_khz(core, override->domain);
	return 0;
}

static int find_target(struct core *core, const struct override_request *request,
		       struct override *override)
{
	struct task_facts facts;
	int r;

	if (request->rule) {
		if (rule_named(&core->policy, request->rule) < 0)
			return -ENOENT;
		strcpy(override->target.rule, request->rule);
		return 0;
	}
	r = tracer_find_task(core->tracer, request->pid, &facts);
	if (r < 0)
		return r;
	override->target.pid = request->pid;
	override->target.start_ns = facts.start_ns;
	memcpy(override->comm, facts.comm, sizeof(override->comm));
	return 0;
}

static void set_khz(uint32_t khz, struct policy_level *level)
{
	if (khz)
		*level = (struct policy_level){ POLICY_LEVEL_KHZ, khz };
}

/* Freezes a task at the frequency of the CPU where it last ran. Returns the wrong parameter. */
static const char *parse_levels(struct core *core, const struct override_request *request,
				struct override *override)
{
	const struct {
		const char *name, *text;
		enum rule_property property;
	} levels[] = {
		{ "floor", request->floor, RULE_FLOOR },
		{ "cap", request->cap, RULE_CAP },
		{ "io_boost", request->io_boost, RULE_IO_BOOST },
		{ "idle_latency", request->idle_latency, RULE_IDLE_LATENCY },
	};
	uint32_t frozen_khz = 0, domain = TOPOLOGY_NO_DOMAIN;
	int cpu = -1;

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (levels[i].text && policy_level_store(&override->properties, levels[i].property,
							 levels[i].text) < 0)
			return levels[i].name;
	/* The tasks of a rule run at many frequencies. */
	if (request->freeze && override->target.pid)
		cpu = task_read_cpu(override->target.pid);
	if (cpu >= 0)
		domain = topology_domain_of(core->topology, cpu);
	if (domain != TOPOLOGY_NO_DOMAIN)
		frozen_khz = present_khz(core, domain);
	if (request->freeze && !frozen_khz)
		return "freeze";
	set_khz(frozen_khz ?: request->min_khz, &override->properties.floor);
	set_khz(frozen_khz ?: request->max_khz, &override->properties.cap);
	return NULL;
}

int overrides_add(struct grants *grants, const struct override_request *request, uint32_t *ret_id,
		  const char **ret_wrong)
{
	struct overrides *overrides = &grants->overrides;
	struct core *core = grants->core;
	struct override override = {
		/* above all that are in force */
		.id = overrides->n ? overrides->entries[overrides->n - 1].id + 1 : 1,
		.uid = request->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
		.of_domain = request->domain,
		.target.children = request->children,
	};
	char what[64];
	int r = override.of_domain ? find_limits(core, request, &override)
				   : find_target(core, request, &override);

	if (r < 0)
		return r;
	*ret_wrong = override.of_domain ? NULL : parse_levels(core, request, &override);
	if (*ret_wrong)
		return -EINVAL;
	if (overrides_count(overrides, override.of_domain) >=
		    overrides_room(&core->policy, override.of_domain) ||
	    !overrides_insert(overrides, &override))
		return -ENOSPC;
	if (override.of_domain)
		apply_to_domain(grants, override.domain);
	changed(grants, !override.of_domain);
	snprintf(what, sizeof(what), "by user %u for %.1f s", request->uid,
		 (double)request->for_us / 1e6);
	report(grants, &override, what);
	*ret_id = override.id;
	return 0;
}

int overrides_cancel(struct grants *grants, uint32_t id)
{
	struct override *override = overrides_find(&grants->overrides, id);
	bool of_tasks = override && !override->of_domain;

	if (!override)
		return -ENOENT;
	end(grants, override, "was cancelled");
	changed(grants, of_tasks);
	return 0;
}
