// SPDX-License-Identifier: GPL-2.0-only
/* What the manager shows of rules, and of what they are for a task. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/rule.h"
#include "daemon/grouping.h"
#include "daemon/rule_tracking.h"
#include "daemon/state.h"
#include "daemon/views.h"
#include "shared/cleanup.h"

const char *views_level_text(const struct policy_level *level, enum rule_property property,
			     char ret[static VIEWS_LEVEL_SIZE])
{
	uint32_t none = property == RULE_FLOOR ? 0 : TOPOLOGY_CAPACITY_MAX;

	if (level->kind == POLICY_LEVEL_NONE)
		return NULL;
	if (level->kind == POLICY_LEVEL_PERCENT)
		snprintf(ret, VIEWS_LEVEL_SIZE, "%u%%", level->value);
	else if (level->kind == POLICY_LEVEL_KHZ)
		snprintf(ret, VIEWS_LEVEL_SIZE, "%ukHz", level->value);
	else if (property == RULE_IO_BOOST && (!level->value || level->value == none))
		snprintf(ret, VIEWS_LEVEL_SIZE, "%s", level->value ? "on" : "off");
	else if (level->value == none)
		snprintf(ret, VIEWS_LEVEL_SIZE, "none");
	else
		snprintf(ret, VIEWS_LEVEL_SIZE, "%u/1024", level->value);
	return ret;
}

/* Everything that the view of one rule borrows from. */
struct rule_texts {
	char *match;
	char levels[3][VIEWS_LEVEL_SIZE];
	char domain[DOMAIN_NAME_SIZE];
};

static void free_texts(struct rule_texts *texts)
{
	free(texts->match);
}

static int write_match(const struct policy_rule *rule, char **ret)
{
	size_t size;
	FILE *out = open_memstream(ret, &size);

	if (!out)
		return -ENOMEM;
	rules_say_match(out, rule);
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

static int show_rule(const struct manager *manager, uint32_t i, struct rule_texts *texts,
		     struct rule_view *ret)
{
	const struct policy_rule *rule = &manager->policy.rules[i];
	const struct grouping *grouping = &manager->grouping;
	struct rules_count count = rules_count(manager->rules, i);
	int r = write_match(rule, &texts->match);

	if (r < 0)
		return r;
	snprintf(texts->domain, sizeof(texts->domain), "policy%u", rule->domain_cpu);
	*ret = (struct rule_view){
		.name = rule->name,
		.file = rule->file,
		.line = rule->line,
		.match = texts->match,
		.domain = rule->domain_cpu == POLICY_ANY_DOMAIN ? NULL : texts->domain,
		.class = rule->class[0] ? rule->class : NULL,
		.cap = views_level_text(&rule->properties.cap, RULE_CAP, texts->levels[0]),
		.floor = views_level_text(&rule->properties.floor, RULE_FLOOR, texts->levels[1]),
		.io_boost = views_level_text(&rule->properties.io_boost, RULE_IO_BOOST,
					     texts->levels[2]),
		.tasks = count.tasks,
		.matches = count.matches,
		.by_cgroup = grouping_carries(manager, i),
		.by_task_why = grouping->why_not[i][0] ? grouping->why_not[i] : NULL,
	};
	return 0;
}

int views_list_rules(void *userdata, rule_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	int r = 0;

	for (uint32_t i = 0; i < manager->policy.n_rules && !r; i++) {
		_cleanup_(free_texts) struct rule_texts texts = { 0 };
		struct rule_view view;

		r = show_rule(manager, i, &texts, &view);
		if (r == 0)
			r = emit(context, &view);
	}
	return r;
}

int views_list_rule_tasks(void *userdata, const char *rule, uint32_t from, matched_emit_t emit,
			  void *context)
{
	const struct manager *manager = userdata;
	const struct rules_task *task;
	uint32_t i = 0, place;
	int r = 0;

	while (i < manager->policy.n_rules && strcmp(manager->policy.rules[i].name, rule) != 0)
		i++;
	if (i == manager->policy.n_rules)
		return -ENOENT;
	while (r == 0 && (task = rules_next_task(manager->rules, i, from, &place))) {
		const struct matched_view view = { task->pid, task->tgid, place };

		r = emit(context, &view);
		from = place + 1;
	}
	return r < 0 ? r : 0;
}

/* The rule that caps in the first domain where one does; NULL: none. */
static const struct policy_rule *cap_of(const struct manager *manager, uint64_t matched)
{
	const struct policy *policy = &manager->policy;

	for (uint32_t i = 0; i < manager->topology->n_domains; i++) {
		const struct topology_domain *domain = &manager->topology->domains[i];
		int rule = rule_that_gives(policy, matched, RULE_CAP, domain);

		if (rule >= 0 && rule_level_cap(&policy->rules[rule].properties.cap, domain) <
					 TOPOLOGY_CAPACITY_MAX)
			return &policy->rules[rule];
	}
	return NULL;
}

int views_list_capped(void *userdata, uint32_t from, capped_emit_t emit, void *context)
{
	const struct manager *manager = userdata;
	const struct ruled_tasks *tasks = engine_ruled_tasks(manager->engine);
	const struct ruled_task *task = NULL;
	int r = 0;

	while (r == 0 && (task = ruled_tasks_next(tasks, task))) {
		const struct policy_rule *rule = cap_of(manager, task->matched);
		char cap[VIEWS_LEVEL_SIZE];

		if (!rule || ruled_tasks_place(tasks, task) < from)
			continue;
		r = emit(context,
			 &(struct capped_view){
				 .pid = task->pid,
				 .tgid = task->tgid,
				 .comm = task->comm,
				 .cap = views_level_text(&rule->properties.cap, RULE_CAP, cap),
				 .rule = rule->name,
				 .file = rule->file,
				 .line = rule->line,
				 .place = ruled_tasks_place(tasks, task),
			 });
	}
	return r < 0 ? r : 0;
}

void views_count_rules(void *userdata, struct rules_view *ret)
{
	const struct manager *manager = userdata;

	*ret = (struct rules_view){
		.tasks = rules_n_tasks(manager->rules),
		.max_tasks = manager->policy.max_ruled_tasks,
		.refused = rules_refused(manager->rules),
	};
}

/* Where it runs now is not asked: a property that it has in one domain at least is given. */
static bool gives(const struct manager *manager, uint64_t matched, uint32_t rule,
		  enum rule_property property)
{
	static const struct topology_domain nowhere = { .first_cpu = POLICY_ANY_DOMAIN - 1 };
	const struct topology *topology = manager->topology;

	for (uint32_t i = 0; i < topology->n_domains; i++)
		if (rule_that_gives(&manager->policy, matched, property, &topology->domains[i]) ==
		    (int)rule)
			return true;
	return !topology->n_domains &&
	       rule_that_gives(&manager->policy, matched, property, &nowhere) == (int)rule;
}

static int explain_rule(struct manager *manager, uint32_t i, uint64_t matched,
			const struct task_facts *facts, task_rule_emit_t emit, void *context)
{
	_cleanup_(free_texts) struct rule_texts texts = { 0 };
	_cleanup_free_ char *why = NULL;
	struct task_rule_view view = { 0 };
	int r = show_rule(manager, i, &texts, &view.rule);

	if (r < 0)
		return r;
	why = rules_explain(manager->rules, i, facts, &view.matches);
	if (!why)
		return -ENOMEM;
	view.why = why;
	view.uses_command = manager->policy.rules[i].match.given & POLICY_MATCH_COMMAND;
	view.gives_cap = gives(manager, matched, i, RULE_CAP);
	view.gives_floor = gives(manager, matched, i, RULE_FLOOR);
	view.gives_io_boost = gives(manager, matched, i, RULE_IO_BOOST);
	return emit(context, &view);
}

/* Its present facts, as a scan finds them: what no event told of is taken into account as well. */
int views_explain_rules(void *userdata, uint32_t pid, struct ruled_task_view *ret,
			task_rule_emit_t emit, void *context)
{
	struct manager *manager = userdata;
	const struct rules_task *task;
	struct task_facts facts;
	int r = tracer_find_task(manager->tracer, pid, &facts);

	if (r < 0)
		return r;
	rule_tracking_look_at(manager, &facts);
	task = rules_find(manager->rules, pid);
	*ret = (struct ruled_task_view){
		.pid = pid,
		.tgid = facts.tgid,
		.uid = facts.uid,
	};
	memcpy(ret->comm, facts.comm, sizeof(ret->comm));
	for (int32_t i = POLICY_RULES_MAX - manager->policy.n_leases; i < POLICY_RULES_MAX && !r;
	     i++)
		r = explain_rule(manager, i, task ? task->matched : 0, &facts, emit, context);
	for (uint32_t i = 0; i < manager->policy.n_rules && r == 0; i++)
		r = explain_rule(manager, i, task ? task->matched : 0, &facts, emit, context);
	return r;
}
