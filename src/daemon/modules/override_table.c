// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/modules/overrides.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/rule.h"
#include "shared/cleanup.h"
#include "shared/statefile.h"

bool task_overrides_add(struct task_overrides *overrides, const struct task_override *override)
{
	if (overrides->n == TASK_OVERRIDES_MAX)
		return false;
	overrides->entries[overrides->n++] = *override;
	return true;
}

struct task_override *task_overrides_find(struct task_overrides *overrides, uint32_t id)
{
	for (uint32_t i = 0; i < overrides->n; i++)
		if (overrides->entries[i].target.id == id)
			return &overrides->entries[i];
	return NULL;
}

void task_overrides_remove(struct task_overrides *overrides, struct task_override *override)
{
	struct task_override *end = overrides->entries + overrides->n;

	memmove(override, override + 1, (end - override - 1) * sizeof(*override));
	overrides->n--;
}

uint32_t task_overrides_room(const struct policy *policy)
{
	uint32_t room = POLICY_RULES_MAX - policy->n_rules;

	return room < TASK_OVERRIDES_MAX ? room : TASK_OVERRIDES_MAX;
}

void task_overrides_check(struct task_overrides *overrides, const struct policy *policy)
{
	uint32_t room = task_overrides_room(policy);

	for (uint32_t i = 0; i < overrides->n; i++) {
		struct task_override *override = &overrides->entries[i];

		if (override->ended)
			continue;
		if (!override->target.pid && rule_named(policy, override->target.rule) < 0)
			override->ended = TASK_OVERRIDE_RULE_GONE;
		else if (!room)
			override->ended = TASK_OVERRIDE_NO_ROOM;
		else
			room--;
	}
}

void task_overrides_fill(const struct task_overrides *overrides, struct policy *policy)
{
	policy->n_overrides = 0;
	for (uint32_t i = 0; i < overrides->n; i++) {
		const struct task_override *override = &overrides->entries[i];
		int rule = rule_named(policy, override->target.rule);
		struct policy_rule *added;

		if (override->ended)
			continue;
		added = &policy->rules[POLICY_RULES_MAX - ++policy->n_overrides];
		*added = (struct policy_rule){
			.domain_cpu = rule < 0 ? POLICY_ANY_DOMAIN : policy->rules[rule].domain_cpu,
			.properties = override->properties,
			.override = override->target,
		};
		snprintf(added->name, sizeof(added->name), "override-%u", override->target.id);
	}
}

void task_overrides_end_task(struct task_overrides *overrides, uint32_t pid, uint64_t start_ns)
{
	for (uint32_t i = 0; i < overrides->n; i++) {
		struct task_override *override = &overrides->entries[i];

		if (override->target.pid == pid && override->target.start_ns != start_ns &&
		    !override->ended)
			override->ended = TASK_OVERRIDE_TASK_GONE;
	}
}

uint64_t task_overrides_next_ns(const struct task_overrides *overrides)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < overrides->n; i++) {
		if (overrides->entries[i].ended)
			return 0;
		if (overrides->entries[i].end_ns < next_ns)
			next_ns = overrides->entries[i].end_ns;
	}
	return next_ns;
}

static const struct statefile override_file = { .name = OVERRIDE_FILE, .version = 3 };

struct saved {
	const struct topology *topology;
	const struct override_table *table;
	const struct task_overrides *overrides;
};

static void print_lines(FILE *out, const void *data)
{
	const struct saved *saved = data;

	for (uint32_t i = 0; i < saved->table->n; i++) {
		const struct input_override *o = &saved->table->entries[i];

		fprintf(out, "domain %u %u %" PRIu64 " %s %u %u %u\n", o->id, o->uid, o->end_ns,
			saved->topology->domains[o->domain].name, o->min_khz, o->max_khz,
			o->frozen_khz);
	}
	for (uint32_t i = 0; i < saved->overrides->n; i++) {
		const struct task_override *o = &saved->overrides->entries[i];
		const struct policy_override *target = &o->target;
		const struct policy_properties *p = &o->properties;

		fprintf(out, "%s %u %u %" PRIu64 " %d %u %d %u %d %u %d %u ",
			target->pid ? "task" : "rule", target->id, o->uid, o->end_ns, p->cap.kind,
			p->cap.value, p->floor.kind, p->floor.value, p->io_boost.kind,
			p->io_boost.value, p->idle_latency.kind, p->idle_latency.value);
		if (target->pid)
			fprintf(out, "%u %" PRIu64 " %d ", target->pid, target->start_ns,
				target->children);
		statefile_print_escaped(out, target->pid ? o->comm : target->rule);
		fputc('\n', out);
	}
}

int override_file_save(const char *directory, const struct topology *topology,
		       const struct override_table *table, const struct task_overrides *overrides)
{
	const struct saved saved = { topology, table, overrides };

	if (!table->n && !overrides->n)
		return statefile_remove(directory, &override_file);
	return statefile_write(directory, &override_file, print_lines, &saved);
}

/* Parses what follows "domain ". Returns whether it is valid. */
static bool parse_domain(const char *text, const struct topology *topology, uint64_t now_ns,
			 struct override_table *table)
{
	struct input_override o = { 0 };
	char name[DOMAIN_NAME_SIZE];
	int n = 0;

	if (sscanf(text, "%u %u %" SCNu64 " %15s %u %u %u%n", &o.id, &o.uid, &o.end_ns, name,
		   &o.min_khz, &o.max_khz, &o.frozen_khz, &n) != 7 ||
	    text[n] || !o.id || override_table_find(table, o.id))
		return false;
	o.domain = topology_find(topology, name);
	return o.domain == TOPOLOGY_NO_DOMAIN || override_table_put(table, &o, now_ns);
}

static bool is_level(const struct policy_level *level, int last_kind)
{
	return (int)level->kind >= POLICY_LEVEL_NONE && (int)level->kind <= last_kind &&
	       level->value <= policy_level_most(level->kind);
}

/* Parses the task or rule, which follows the levels. */
static bool parse_target(const char *text, bool is_task, struct task_override *ret)
{
	struct policy_override *target = &ret->target;
	int children, n = 0;

	if (!is_task)
		return *text && statefile_unescape(text, target->rule, sizeof(target->rule));
	if (sscanf(text, "%u %" SCNu64 " %d%n", &target->pid, &target->start_ns, &children, &n) !=
		    3 ||
	    text[n] != ' ' || !target->pid)
		return false;
	target->children = children;
	return statefile_unescape(text + n + 1, ret->comm, sizeof(ret->comm));
}

/* Parses what follows "task " or "rule ". */
static bool parse_task_override(const char *text, bool is_task, uint64_t now_ns,
				struct task_overrides *overrides)
{
	struct task_override o = { 0 };
	struct policy_properties *p = &o.properties;
	int cap, floor, io_boost, idle_latency, n = 0;

	if (sscanf(text, "%u %u %" SCNu64 " %d %u %d %u %d %u %d %u%n", &o.target.id, &o.uid,
		   &o.end_ns, &cap, &p->cap.value, &floor, &p->floor.value, &io_boost,
		   &p->io_boost.value, &idle_latency, &p->idle_latency.value, &n) != 11 ||
	    text[n] != ' ' || !parse_target(text + n + 1, is_task, &o) || !o.target.id ||
	    task_overrides_find(overrides, o.target.id))
		return false;
	p->cap.kind = cap;
	p->floor.kind = floor;
	p->io_boost.kind = io_boost;
	p->idle_latency.kind = idle_latency;
	if (!is_level(&p->cap, POLICY_LEVEL_KHZ) || !is_level(&p->floor, POLICY_LEVEL_RESPONSE) ||
	    !is_level(&p->io_boost, POLICY_LEVEL_KHZ))
		return false;
	if (idle_latency != POLICY_LEVEL_NONE && idle_latency != POLICY_LEVEL_IDLE_LATENCY)
		return false;
	return o.end_ns <= now_ns || task_overrides_add(overrides, &o);
}

int override_file_load(const char *directory, const struct topology *topology, uint64_t now_ns,
		       struct override_table *ret, struct task_overrides *ret_overrides)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	struct override_table table = { 0 };
	struct task_overrides overrides = { 0 };
	char *line;
	int r = statefile_open(directory, &override_file, &reader);

	ret->n = 0;
	ret_overrides->n = 0;
	while (r > 0 && (r = statefile_next(&reader, &line)) > 0) {
		bool is_task = strncmp(line, "task ", 5) == 0, is_valid = false;

		if (strncmp(line, "domain ", 7) == 0)
			is_valid = parse_domain(line + 7, topology, now_ns, &table);
		else if (is_task || strncmp(line, "rule ", 5) == 0)
			is_valid = parse_task_override(line + 5, is_task, now_ns, &overrides);
		if (!is_valid)
			return -EBADMSG;
	}
	if (r == 0) {
		*ret = table;
		*ret_overrides = overrides;
	}
	return r;
}
