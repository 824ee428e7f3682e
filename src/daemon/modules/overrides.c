// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/overrides.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "actuator/task.h"
#include "config/keys.h"
#include "core/opp.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/rule_tracking.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

#define WHOM_SIZE 64

static void save(struct overrides *overrides)
{
	int r = override_file_save(overrides->core->options->run_dir, overrides->core->topology,
				   engine_overrides(overrides->core->engine), &overrides->tasks);

	if (r < 0 && !overrides->unsaved)
		log_warning(
			"overrides are in force, but a restart of wakegovd will end them: cannot write "
			"%s/" OVERRIDE_FILE ": %s",
			overrides->core->options->run_dir, strerror(-r));
	overrides->unsaved = r < 0;
}

static void apply_to_domain(struct core *core, const struct input_override *override)
{
	const struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_OVERRIDE,
		.override = *override,
	};

	engine_apply(core->engine, &input);
}

/* Applies the table of overrides to the tasks. */
static void apply_to_tasks(struct overrides *overrides)
{
	struct core *core = overrides->core;

	task_overrides_fill(&overrides->tasks, &core->policy);
	engine_set_policy(core->engine, &core->policy);
	rule_tracking_set_policy(core);
	save(overrides);
}

/*
 * Resumes the overrides of a predecessor that have not ended. Failures are logged and stop nothing.
 */
static int start(void *state)
{
	struct overrides *overrides = state;
	struct core *core = overrides->core;
	struct override_table table;
	int r = override_file_load(core->options->run_dir, core->topology, time_now_ns(), &table,
				   &overrides->tasks);
	uint32_t n = table.n + overrides->tasks.n;

	if (r < 0)
		log_warning("overrides of the former wakegovd are dropped: cannot use "
			    "%s/" OVERRIDE_FILE ": %s; give them again",
			    core->options->run_dir, statefile_refusal(r) ?: strerror(-r));
	if (!n)
		return 0;
	log_info("%u override%s of the former wakegovd still hold", n, n == 1 ? "" : "s");
	task_overrides_check(&overrides->tasks, &core->policy);
	task_overrides_fill(&overrides->tasks, &core->policy);
	engine_set_policy(core->engine, &core->policy);
	for (uint32_t i = 0; i < table.n; i++)
		apply_to_domain(core, &table.entries[i]);
	return 0;
}

/* Of a domain, or of "pid 812 (make)" or "[rule backup]"; the other argument is NULL. */
__attribute__((format(printf, 4, 5))) static void report(struct overrides *overrides,
							 const struct input_override *of_domain,
							 const struct task_override *of_tasks,
							 const char *format, ...)
{
	struct message_about about = { 0 };
	char whom[WHOM_SIZE], what[128];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (of_domain) {
		about.domain = overrides->core->topology->domains[of_domain->domain].name;
		snprintf(whom, sizeof(whom), "%s", about.domain);
	} else if (of_tasks->target.pid) {
		about.pid = of_tasks->target.pid;
		about.comm = of_tasks->comm;
		snprintf(whom, sizeof(whom), "pid %u (%.15s)", about.pid, about.comm);
	} else {
		snprintf(whom, sizeof(whom), "[rule %s]", of_tasks->target.rule);
	}
	journal_report(overrides->core, MESSAGE_OVERRIDE, &about, "%s: override %u %s", whom,
		       of_domain ? of_domain->id : of_tasks->target.id, what);
}

/* Reports the domain overrides that end by now_ns, each once. */
static void advance(void *state, uint64_t now_ns)
{
	struct overrides *overrides = state;
	const struct override_table *table = engine_overrides(overrides->core->engine);

	for (uint32_t i = 0; i < table->n; i++)
		if (now_ns >= table->entries[i].end_ns)
			report(overrides, &table->entries[i], NULL, "ended: its time is over");
}

static void expire(void *state, uint64_t now_ns)
{
	static const char *const why[] = {
		[TASK_OVERRIDE_HOLDS] = "its time is over",
		[TASK_OVERRIDE_TASK_GONE] = "its task ended",
		[TASK_OVERRIDE_RULE_GONE] = "the policy has no such rule any more",
		[TASK_OVERRIDE_NO_ROOM] =
			"the policy has so many rules that there is no room for it",
	};
	struct overrides *overrides = state;
	bool any = false;

	for (uint32_t i = overrides->tasks.n; i-- > 0;) {
		struct task_override *override = &overrides->tasks.entries[i];

		if (!override->ended && now_ns < override->end_ns)
			continue;
		report(overrides, NULL, override, "ended: %s", why[override->ended]);
		task_overrides_remove(&overrides->tasks, override);
		any = true;
	}
	if (any)
		apply_to_tasks(overrides);
}

/* The domain's last target, or its present OPP. */
static uint32_t present_khz(struct core *core, uint32_t domain)
{
	uint32_t khz = engine_last(core->engine, domain)->target_khz;

	if (!khz)
		actuator_domain_read_back(&core->domains[domain].actuator, &khz);
	return opp_lowest_at_or_above(&core->topology->domains[domain], khz, 0, UINT32_MAX);
}

static int add_to_domain(struct overrides *overrides, const struct override_request *request,
			 uint32_t id)
{
	struct input_override override = {
		.id = id,
		.domain = topology_find(overrides->core->topology, request->domain),
		.min_khz = request->min_khz,
		.max_khz = request->max_khz,
		.uid = request->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
	};

	if (override.domain == TOPOLOGY_NO_DOMAIN)
		return -ENODEV;
	if (engine_overrides(overrides->core->engine)->n == OVERRIDES_MAX)
		return -ENOSPC;
	if (request->freeze)
		override.frozen_khz = present_khz(overrides->core, override.domain);
	apply_to_domain(overrides->core, &override);
	save(overrides);
	report(overrides, &override, NULL, "by user %u for %.1f s", request->uid,
	       (double)request->for_us / 1e6);
	return 0;
}

static int find_target(struct core *core, const struct override_request *request,
		       struct task_override *override)
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

/* Parses a level as in a policy, replacing the present one. */
static bool parse_level(const char *key, const char *text, enum rule_property property,
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

static void set_khz(uint32_t khz, struct policy_level *level)
{
	if (khz)
		*level = (struct policy_level){ POLICY_LEVEL_KHZ, khz };
}

/* Freezes a task at the frequency of the CPU where it last ran. Returns the wrong parameter. */
static const char *parse_levels(struct core *core, const struct override_request *request,
				struct task_override *override)
{
	uint32_t frozen_khz = 0, domain = TOPOLOGY_NO_DOMAIN;
	int cpu = -1;

	if (!parse_level("floor", request->floor, RULE_FLOOR, override) &&
	    !parse_level("response", request->floor, RULE_FLOOR, override))
		return "floor";
	if (!parse_level("cap", request->cap, RULE_CAP, override))
		return "cap";
	if (!parse_level("io-boost", request->io_boost, RULE_IO_BOOST, override))
		return "io_boost";
	if (!parse_level("idle-latency", request->idle_latency, RULE_IDLE_LATENCY, override))
		return "idle_latency";
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

static int add_to_tasks(struct overrides *overrides, const struct override_request *request,
			uint32_t id, const char **ret_wrong)
{
	struct task_override override = {
		.target = { .id = id, .children = request->children },
		.uid = request->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
	};
	int r = find_target(overrides->core, request, &override);

	if (r < 0)
		return r;
	*ret_wrong = parse_levels(overrides->core, request, &override);
	if (*ret_wrong)
		return -EINVAL;
	if (overrides->tasks.n >= task_overrides_room(&overrides->core->policy) ||
	    !task_overrides_add(&overrides->tasks, &override))
		return -ENOSPC;
	apply_to_tasks(overrides);
	report(overrides, NULL, &override, "by user %u for %.1f s", request->uid,
	       (double)request->for_us / 1e6);
	return 0;
}

int overrides_add(struct overrides *overrides, const struct override_request *request,
		  uint32_t *ret_id, const char **ret_wrong)
{
	const struct override_table *table = engine_overrides(overrides->core->engine);
	const struct task_overrides *tasks = &overrides->tasks;
	uint32_t last = table->n ? table->entries[table->n - 1].id : 0;

	/* An id above all that are in force. */
	if (tasks->n && tasks->entries[tasks->n - 1].target.id > last)
		last = tasks->entries[tasks->n - 1].target.id;
	*ret_id = last + 1;
	return request->domain ? add_to_domain(overrides, request, *ret_id)
			       : add_to_tasks(overrides, request, *ret_id, ret_wrong);
}

int overrides_cancel(struct overrides *overrides, uint32_t id)
{
	struct task_override *of_tasks = task_overrides_find(&overrides->tasks, id);
	const struct input_override *of_domain =
		override_table_find(engine_overrides(overrides->core->engine), id);

	if (of_tasks) {
		struct task_override ended = *of_tasks;

		task_overrides_remove(&overrides->tasks, of_tasks);
		apply_to_tasks(overrides);
		report(overrides, NULL, &ended, "was cancelled");
	} else if (of_domain) {
		struct input_override ended = *of_domain;

		ended.end_ns = 0;
		apply_to_domain(overrides->core, &ended);
		save(overrides);
		report(overrides, &ended, NULL, "was cancelled");
	}
	return of_tasks || of_domain ? 0 : -ENOENT;
}

static void add_rules(void *state, struct policy *policy)
{
	struct overrides *overrides = state;

	task_overrides_check(&overrides->tasks, policy);
	task_overrides_fill(&overrides->tasks, policy);
}

static void task_seen(void *state, const struct task_facts *facts)
{
	struct overrides *overrides = state;

	task_overrides_end_task(&overrides->tasks, facts->pid, facts->start_ns);
}

static void task_ended(void *state, uint32_t pid)
{
	struct overrides *overrides = state;

	task_overrides_end_task(&overrides->tasks, pid, 0);
}

/* With a full table a task that is not in it may still exist. */
static void scan_ended(void *state, enum scan_end end)
{
	struct overrides *overrides = state;
	const struct rules *rules = overrides->core->rules;

	if (end != SCAN_DONE || rules_are_full(rules))
		return;
	for (uint32_t i = 0; i < overrides->tasks.n; i++) {
		struct task_override *override = &overrides->tasks.entries[i];

		if (override->target.pid && !override->ended &&
		    !rules_find(rules, override->target.pid))
			override->ended = TASK_OVERRIDE_TASK_GONE;
	}
}

static uint64_t next_ns(void *state, uint64_t now_ns, uint64_t others_ns)
{
	struct overrides *overrides = state;

	return task_overrides_next_ns(&overrides->tasks);
}

const struct module overrides_module = {
	.name = "overrides",
	.start = start,
	.add_rules = add_rules,
	.task_seen = task_seen,
	.task_ended = task_ended,
	.scan_ended = scan_ended,
	.expire = expire,
	.advance = advance,
	.next_ns = next_ns,
};
