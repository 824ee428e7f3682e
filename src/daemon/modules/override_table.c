// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overrides as a table in memory, as sections and rules of the policy in force, and as lines of
 * a file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "core/rule.h"
#include "daemon/modules/overrides.h"
#include "shared/cleanup.h"
#include "shared/statefile.h"

#define SETTING_BYTES_MAX 64
#define LINE_BYTES_MAX	  4096

static const struct statefile override_file = { .name = OVERRIDE_FILE, .version = 1 };

/* Stores the settings. Returns NULL, or the first that cannot be. */
static const char *store(const struct override *override, struct policy_domain_section *section,
			 struct policy_rule *rule)
{
	const char *name;
	json_t *value;

	json_object_foreach(override->settings, name, value) {
		const char *text = json_string_value(value);

		if (!text || strlen(text) > SETTING_BYTES_MAX ||
		    (override->domain[0] ? policy_limit_store(section, name, text)
					 : policy_level_store(rule, name, text)) < 0)
			return name;
	}
	return NULL;
}

static bool copy_text(const char *text, char *ret, size_t size)
{
	return snprintf(ret, size, "%s", text ?: "") < (int)size;
}

const char *override_parse(const struct call *call, struct override *ret)
{
	struct policy_override *target = &ret->target;
	struct policy_domain_section section = { 0 };
	struct policy_rule rule = { 0 };
	const char *wrong;

	*ret = (struct override){
		.target.pid = (uint32_t)call_number(call, "pid"),
		.target.children = call_flag(call, "children"),
		.settings = json_object_get(call->parameters, "settings"),
	};
	if (!copy_text(call_text(call, "domain"), ret->domain, sizeof(ret->domain)))
		return "domain";
	if (!copy_text(call_text(call, "rule"), target->rule, sizeof(target->rule)) ||
	    (target->rule[0] && ret->domain[0]))
		return "rule";
	if (target->pid && (ret->domain[0] || target->rule[0]))
		return "pid";
	if (target->children && (ret->domain[0] || target->rule[0]))
		return "children";
	wrong = store(ret, &section, &rule);
	if (wrong)
		return wrong;
	if (policy_domain_is_crossed(&section.values))
		return "min-frequency";
	if (!json_object_size(ret->settings))
		return "settings";
	json_incref(ret->settings);
	return NULL;
}

void override_put_fields(struct json_out *out, const struct override *override)
{
	const struct policy_override *target = &override->target;
	_cleanup_free_ char *settings = json_dumps(override->settings,
						   JSON_COMPACT | JSON_ENSURE_ASCII);

	field_count(out, "id", target->id);
	field_text(out, "domain", override->domain[0] ? override->domain : NULL);
	field_nonzero(out, "pid", target->pid);
	field_text(out, "comm", target->pid ? override->comm : NULL);
	field_text(out, "rule", target->rule[0] ? target->rule : NULL);
	field_bool(out, "children", target->children);
	field_json(out, "settings", settings ?: "{}");
	field_count(out, "uid", override->uid);
}

struct override *overrides_find(struct overrides *overrides, uint32_t id)
{
	overrides_each(overrides, override)
		if (override->target.id == id)
			return override;
	return NULL;
}

void overrides_remove(struct overrides *overrides, struct override *override)
{
	struct override *end = overrides->entries + overrides->n;

	json_decref(override->settings);
	memmove(override, override + 1, (end - override - 1) * sizeof(*override));
	overrides->n--;
}

void overrides_clear(struct overrides *overrides)
{
	while (overrides->n)
		overrides_remove(overrides, &overrides->entries[overrides->n - 1]);
}

uint32_t overrides_room(const struct policy *policy, bool of_domain)
{
	return of_domain ? POLICY_OVERRIDES_MAX : POLICY_RULES_MAX - policy->n_rules;
}

static void add_section(const struct override *override, struct policy *policy)
{
	struct policy_domain_section *section =
		&policy->domain_overrides[policy->n_domain_overrides++];

	*section = (struct policy_domain_section){ 0 };
	strcpy(section->name, override->domain);
	store(override, section, NULL);
	section->values.min.override = override->target.id;
	section->values.max.override = override->target.id;
}

static void add_rule(struct override *override, struct policy *policy)
{
	const struct policy_override *target = &override->target;
	int ruled = rule_named(policy, target->rule);
	struct policy_rule *rule;

	if (!target->pid && ruled < 0)
		override->ended = "the policy has no such rule any more";
	else if (policy->n_overrides == overrides_room(policy, false))
		override->ended = "the policy has so many rules that there is no room for it";
	if (override->ended)
		return;
	rule = &policy->rules[POLICY_RULES_MAX - ++policy->n_overrides];
	*rule = (struct policy_rule){
		.domain_cpu = ruled < 0 ? POLICY_ANY_DOMAIN : policy->rules[ruled].domain_cpu,
		.override = *target,
	};
	snprintf(rule->name, sizeof(rule->name), "override-%u", target->id);
	store(override, NULL, rule);
	rule->properties = rule->own;
}

void overrides_fill(void *state, struct policy *policy)
{
	struct overrides *overrides = state;

	policy->n_overrides = 0;
	policy->n_domain_overrides = 0;
	overrides_each(overrides, override) {
		if (override->domain[0])
			add_section(override, policy);
		else if (!override->ended)
			add_rule(override, policy);
	}
}

void overrides_end_task(struct overrides *overrides, uint32_t pid, uint64_t start_ns)
{
	overrides_each(overrides, override) {
		if (override->target.pid == pid && override->target.start_ns != start_ns &&
		    !override->ended)
			override->ended = OVERRIDE_TASK_GONE;
	}
}

static void print_lines(FILE *file, const void *data)
{
	const struct overrides *overrides = data;

	overrides_each(overrides, override) {
		struct buffer line = { .max = LINE_BYTES_MAX };
		struct json_out out;

		json_out_init(&out, &line);
		json_out_open(&out, '{');
		override_put_fields(&out, override);
		json_out_close(&out, '}');
		json_out_flush(&out);
		fprintf(file, "%" PRIu64 " %" PRIu64 " %.*s\n", override->end_ns,
			override->target.start_ns, (int)line.length, buffer_bytes(&line));
		buffer_deinit(&line);
	}
}

int overrides_save(const struct overrides *overrides, const char *directory)
{
	return overrides->n ? statefile_write(directory, &override_file, print_lines, overrides)
			    : statefile_remove(directory, &override_file);
}

/* Adds what the line says, unless it has ended. Returns whether it is valid. */
static bool parse_line(const char *text, uint64_t now_ns, struct overrides *overrides)
{
	struct override *one = &overrides->entries[overrides->n];
	uint64_t end_ns, start_ns;
	json_auto_t *json = NULL;
	struct call line;
	int n = 0;

	if (overrides->n == POLICY_OVERRIDES_MAX ||
	    sscanf(text, "%" SCNu64 " %" SCNu64 "%n", &end_ns, &start_ns, &n) != 2)
		return false;
	json = json_loads(text + n, 0, NULL);
	line = (struct call){ .parameters = json };
	if (override_parse(&line, one))
		return false;
	overrides->n++;
	one->uid = (uint32_t)call_number(&line, "uid");
	one->end_ns = end_ns;
	one->target.id = (uint32_t)call_number(&line, "id");
	one->target.start_ns = start_ns;
	if (!copy_text(call_text(&line, "comm"), one->comm, sizeof(one->comm)) ||
	    (!one->domain[0] && !one->target.pid && !one->target.rule[0]) ||
	    one->target.id <= (overrides->n > 1 ? one[-1].target.id : 0))
		return false;
	if (end_ns <= now_ns)
		overrides_remove(overrides, one);
	return true;
}

int overrides_load(struct overrides *overrides, const char *directory, uint64_t now_ns)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	char *line;
	int r = statefile_open(directory, &override_file, &reader);

	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (!parse_line(line, now_ns, overrides))
			r = -EBADMSG;
	if (r < 0)
		overrides_clear(overrides);
	return r;
}
