// SPDX-License-Identifier: GPL-2.0-only
/*
 * The socket's methods that say which rules there are, which tasks they match, and why; properties,
 * hints and pages as other methods show them too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/match.h"
#include "core/opp.h"
#include "daemon/api/api.h"
#include "daemon/process.h"
#include "daemon/rule_tracking.h"
#include "shared/time.h"

/* Keys whose values only privileged users can read: /proc/PID/exe, and cmdline with hidepid=. */
#define PRIVATE_KEYS (POLICY_MATCH_EXE | POLICY_MATCH_COMMAND)

/* A level as a policy has it; null: not given. */
static void put_level(struct json_out *out, const char *key, const struct policy_level *level,
		      enum rule_property property)
{
	char buffer[POLICY_LEVEL_SIZE];

	field_text(out, key, policy_level_format(property, level, buffer));
}

void api_put_properties(struct json_out *out, const struct policy_properties *properties)
{
	put_level(out, "cap", &properties->cap, RULE_CAP);
	put_level(out, "floor", &properties->floor, RULE_FLOOR);
	put_level(out, "io_boost", &properties->io_boost, RULE_IO_BOOST);
	put_level(out, "waiting", &properties->waiting, RULE_WAITING);
	put_level(out, "placement", &properties->placement, RULE_PLACEMENT);
	put_level(out, "idle_latency", &properties->idle_latency, RULE_IDLE_LATENCY);
}

void api_put_hint(struct json_out *out, const struct hint *hint)
{
	uint64_t now_ns = time_now_ns(), left_ns;

	if (!hint) {
		field_null(out, NULL);
		return;
	}
	left_ns = hint->end_ns > now_ns ? hint->end_ns - now_ns : 0;
	json_out_open(out, '{');
	field_count(out, "pid", hint->pid);
	field_text(out, "comm", hint->comm);
	field_text(out, "class", hint->class);
	field_bool(out, "thread", hint->is_thread);
	field_bool(out, "children", hint->children);
	field_count(out, "tasks", hint->n_tasks);
	field_count(out, "uid", hint->by_uid);
	field_count_if(out, "left_us", !hint->held, left_ns / NS_PER_US);
	json_out_close(out, '}');
}

struct api_page api_read_page(const struct call *call)
{
	return (struct api_page){
		.from = (uint32_t)call_number(call, "offset"),
		.left = (uint32_t)call_number_or(call, "limit", API_PAGE_MAX),
		.next = -1,
	};
}

bool api_is_on_page(struct api_page *page, uint32_t place)
{
	if (!page->left) {
		page->next = place;
		return false;
	}
	page->left--;
	return true;
}

int api_end_page(struct json_out *out, const struct api_page *page, struct reply *reply)
{
	json_out_close(out, ']');
	field_count_if(out, "next_offset", page->next >= 0, (uint64_t)page->next);
	return reply_end(reply);
}

/* The bursts of the tasks that have their floor from this rule, the longest of their classes. */
static uint64_t longest_burst_ns(const struct core *core, uint32_t rule,
				 const struct topology_domain *domain)
{
	const struct clamp_classes *classes = engine_clamp_classes(core->engine);
	struct class_clamp clamp;
	uint64_t longest_ns = 0;

	for (uint32_t class = 0; class < classes->n; class ++) {
		clamp_classes_in(classes, &core->policy, class, domain, &clamp);
		if (clamp.response_us && clamp.floor_rule == (int32_t)rule &&
		    classes->burst_ns[class] > longest_ns)
			longest_ns = classes->burst_ns[class];
	}
	return longest_ns;
}

static void put_bursts(struct json_out *out, const struct core *core, uint32_t i)
{
	const struct policy_level *floor = &core->policy.rules[i].properties.floor;
	const struct topology *topology = core->topology;
	const struct topology_domain *domain = NULL;
	uint64_t burst_ns = 0, full_khz, needs_khz;

	/* By the fastest CPUs: bursts that are too long for those are too long for all. */
	for (uint32_t j = 0; j < topology->n_domains; j++)
		if (!domain || topology->domains[j].capacity > domain->capacity)
			domain = &topology->domains[j];
	if (floor->kind == POLICY_LEVEL_RESPONSE && domain)
		burst_ns = longest_burst_ns(core, i, domain);
	if (!field_open_if(out, "bursts", burst_ns))
		return;
	full_khz = opp_khz_for_cap(domain, TOPOLOGY_CAPACITY_MAX);
	needs_khz = full_khz * clamp_response_cap(burst_ns, floor->value) / TOPOLOGY_CAPACITY_MAX;
	field_count(out, "us", burst_ns / NS_PER_US);
	field_count(out, "cycles", burst_ns * full_khz / (NS_PER_S / 1000));
	field_count(out, "needs_khz", needs_khz);
	field_count(out, "highest_khz", topology_domain_max_khz(domain));
	field_count_if(out, "khz", needs_khz <= topology_domain_max_khz(domain),
		       opp_at_or_above(domain, (uint32_t)needs_khz, 0, UINT32_MAX));
	json_out_close(out, '}');
}

static void put_groups(struct json_out *out, const struct placing *placing,
		       const struct policy_rule *rule)
{
	field_open(out, "groups", '[');
	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++) {
		const struct placed_group *group = &placing->groups[i];

		if (!group->key || strcmp(group->rule, rule->name) != 0)
			continue;
		json_out_open(out, '{');
		field_count(out, "tasks", group->n_tasks);
		field_bool(out, "placed", placing_holds(placing, group));
		field_text(out, "why", placing_group_why(placing, group));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* What the rule wants; with facts also what the task is. */
static void put_conditions(struct json_out *out, const struct core *core, uint32_t i, uint32_t keys,
			   const struct task_facts *facts)
{
	struct match_shown shown;

	field_open(out, "conditions", '[');
	for (; keys; keys &= keys - 1) {
		rules_show(core->rules, i, keys & -keys, facts, &shown);
		json_out_open(out, '{');
		field_text(out, "key", shown.key);
		field_text(out, "wanted", shown.wanted);
		field_text(out, "fact", shown.fact);
		field_text(out, "found", shown.found);
		field_text(out, "unknown", shown.unknown);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void put_rule(struct json_out *out, const struct manager *manager, uint32_t i)
{
	const struct core *core = &manager->core;
	const struct policy_rule *rule = &core->policy.rules[i];
	const struct policy_override *override = &rule->override;
	struct rules_count count = core->rules->ruled[i].count;
	char domain[DOMAIN_NAME_SIZE];

	snprintf(domain, sizeof(domain), "policy%u", rule->domain_cpu);
	json_out_open(out, '{');
	field_text(out, "name", rule->name);
	field_text(out, "file", rule->file);
	field_count(out, "line", rule->line);
	put_conditions(out, core, i, rule->match.given, NULL);
	field_text(out, "when", rule->when[0] ? rule->when : NULL);
	field_nonzero(out, "override_id", override->id);
	field_nonzero(out, "override_pid", override->pid);
	field_bool(out, "override_children", override->children);
	field_text(out, "override_rule", override->rule[0] ? override->rule : NULL);
	field_bool(out, "is_hint", rule->is_hint);
	field_text(out, "domain", rule->domain_cpu == POLICY_ANY_DOMAIN ? NULL : domain);
	field_text(out, "class", rule->class[0] ? rule->class : NULL);
	api_put_properties(out, &rule->properties);
	put_bursts(out, core, i);
	put_groups(out, &manager->placing, rule);
	field_count(out, "tasks", count.tasks);
	field_count(out, "matches", count.matches);
	json_out_close(out, '}');
}

int api_list_rules(const struct call *call, struct reply *reply)
{
	const struct manager *manager = call->userdata;
	const struct core *core = api_traced(call);
	struct json_out *out = reply_begin(reply);

	field_count(out, "tasks", pid_index_count(core->rules->index));
	field_count(out, "max_tasks", core->policy.max_ruled_tasks);
	field_count(out, "refused", pid_index_refused(core->rules->index));
	field_open(out, "rules", '[');
	for (uint32_t i = 0; i < core->policy.n_rules; i++)
		put_rule(out, manager, i);
	json_out_close(out, ']');
	return reply_end(reply);
}

int api_list_rule_tasks(const struct call *call, struct reply *reply)
{
	const struct core *core = api_traced(call);
	const char *rule = call_text(call, "rule");
	struct api_page page = api_read_page(call);
	int i = rule_named(&core->policy, rule);
	const struct rules_task *task;
	struct json_out *out;
	uint32_t place;

	if (i < 0)
		return api_refuse_rule(reply, rule);
	out = reply_begin(reply);
	field_open(out, "tasks", '[');
	while ((task = rules_next_task(core->rules, i, page.from, &place)) &&
	       api_is_on_page(&page, place)) {
		char comm[PROCESS_COMM_SIZE];

		json_out_open(out, '{');
		field_count(out, "pid", task->pid);
		field_count(out, "tgid", task->tgid);
		field_text(out, "comm", process_name(task->pid, "", comm));
		json_out_close(out, '}');
		page.from = place + 1;
	}
	return api_end_page(out, &page, reply);
}

/* The rule that caps in the first domain where one does; NULL: none. */
static const struct policy_rule *cap_of(const struct core *core, uint64_t matched)
{
	const struct policy *policy = &core->policy;

	for (uint32_t i = 0; i < core->topology->n_domains; i++) {
		const struct topology_domain *domain = &core->topology->domains[i];
		int rule = rule_that_gives(policy, matched, RULE_CAP, domain);

		if (rule >= 0 && rule_level_cap(&policy->rules[rule].properties.cap, domain) <
					 TOPOLOGY_CAPACITY_MAX)
			return &policy->rules[rule];
	}
	return NULL;
}

int api_list_capped_tasks(const struct call *call, struct reply *reply)
{
	const struct core *core = api_traced(call);
	const struct task_table *tasks = engine_tasks(core->engine);
	struct api_page page = api_read_page(call);
	struct json_out *out = reply_begin(reply);
	const struct task *task = NULL;

	field_open(out, "tasks", '[');
	while ((task = task_next(tasks, task))) {
		const struct policy_rule *rule = cap_of(core, task->matched);
		uint32_t place = task_place(tasks, task);

		if (!rule || place < page.from)
			continue;
		if (!api_is_on_page(&page, place))
			break;
		json_out_open(out, '{');
		field_count(out, "pid", task->pid);
		field_count(out, "tgid", task->tgid);
		field_text(out, "comm", task->comm);
		put_level(out, "cap", &rule->properties.cap, RULE_CAP);
		field_text(out, "rule", rule->name);
		field_text(out, "file", rule->file);
		field_count(out, "line", rule->line);
		json_out_close(out, '}');
	}
	return api_end_page(out, &page, reply);
}

/* Whether the task has the property in at least one domain, wherever it runs now. */
static bool gives(const struct core *core, uint64_t matched, uint32_t rule,
		  enum rule_property property)
{
	static const struct topology_domain nowhere = { .first_cpu = POLICY_ANY_DOMAIN - 1 };
	const struct topology *topology = core->topology;

	for (uint32_t i = 0; i < topology->n_domains; i++)
		if (rule_that_gives(&core->policy, matched, property, &topology->domains[i]) ==
		    (int)rule)
			return true;
	return !topology->n_domains &&
	       rule_that_gives(&core->policy, matched, property, &nowhere) == (int)rule;
}

/* hides_program: the caller may not see the program and the command line of this task. */
static void put_task_rule(struct json_out *out, const struct manager *manager, uint32_t i,
			  const struct task_facts *facts, bool hides_program)
{
	const struct core *core = &manager->core;
	const struct rules_task *task = rules_find(core->rules, facts->pid);
	uint64_t matched = task ? task->matched : 0;
	struct rules_explanation why;

	rules_explain(core->rules, i, facts, &why);
	json_out_open(out, '{');
	json_out_key(out, "rule");
	put_rule(out, manager, i);
	field_bool(out, "matches", why.matches);
	field_bool(out, "is_met", why.is_met);
	if (hides_program && core->policy.rules[i].match.given & PRIVATE_KEYS)
		field_null(out, "conditions");
	else
		put_conditions(out, core, i, why.keys, facts);
	field_bool(out, "when_holds", why.holds);
	json_out_key(out, "hint");
	api_put_hint(out, why.hint);
	field_bool(out, "inherited", why.is_inherited);
	field_bool(out, "gives_cap", gives(core, matched, i, RULE_CAP));
	field_bool(out, "gives_floor", gives(core, matched, i, RULE_FLOOR));
	field_bool(out, "gives_io_boost", gives(core, matched, i, RULE_IO_BOOST));
	field_bool(out, "gives_waiting", gives(core, matched, i, RULE_WAITING));
	field_bool(out, "gives_placement",
		   rule_that_gives_anywhere(&core->policy, matched, RULE_PLACEMENT) == (int)i);
	field_bool(out, "gives_idle_latency",
		   rule_that_gives_anywhere(&core->policy, matched, RULE_IDLE_LATENCY) == (int)i);
	json_out_close(out, '}');
}

/* Explains by the task's present facts, as a scan finds them, with changes without an event. */
int api_explain_rules(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = api_traced(call);
	json_int_t pid = call_number(call, "pid");
	struct task_facts facts;
	struct json_out *out;
	bool hides_program;
	int r;

	r = tracer_find_task(core->tracer, (uint32_t)pid, &facts);
	if (r == -ESRCH)
		return api_refuse_task(reply, pid);
	if (r < 0)
		return r;
	rule_tracking_update_task(core, &facts);
	hides_program = !call->peer->sees_all && call->peer->uid != facts.uid;
	out = reply_begin(reply);
	field_open(out, "rules", '[');
	/* Overrides come first: they win over the policy's own rules. */
	for (uint32_t i = POLICY_RULES_MAX - core->policy.n_overrides; i < POLICY_RULES_MAX; i++)
		put_task_rule(out, manager, i, &facts, hides_program);
	for (uint32_t i = 0; i < core->policy.n_rules; i++)
		put_task_rule(out, manager, i, &facts, hides_program);
	json_out_close(out, ']');
	field_count(out, "pid", (uint64_t)pid);
	field_count(out, "tgid", facts.tgid);
	field_text(out, "comm", facts.comm);
	return reply_end(reply);
}
