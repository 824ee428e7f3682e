// SPDX-License-Identifier: GPL-2.0-only
/* The file of the grants: a line for each, with its levels as a policy has them. */
#include "daemon/modules/grants.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "core/rule.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

#define SAVE_AFTER_NS NS_PER_S /* hints within a second are saved together */

static const struct statefile grant_file = { .name = GRANT_FILE, .version = 1 };

/* In the order of a line; a rule gives its placement itself. */
static const enum rule_property levels[] = {
	RULE_CAP,
	RULE_FLOOR,
	RULE_IO_BOOST,
	RULE_IDLE_LATENCY,
};

static void print_levels(FILE *out, const struct policy_properties *properties)
{
	char buffer[POLICY_LEVEL_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		fprintf(out, "%s ",
			policy_level_format(levels[i], rule_level(properties, levels[i]), buffer)
				?: "-");
}

static void print_overrides(FILE *out, const struct grant_tables *tables)
{
	overrides_each(tables->overrides, o) {
		const struct policy_override *target = &o->target;
		const char *kind = o->of_domain ? "domain" : target->pid ? "task" : "rule";

		fprintf(out, "%s %u %u %" PRIu64 " ", kind, o->id, o->uid, o->end_ns);
		if (o->of_domain) {
			fprintf(out, "%s %u %u %u\n", tables->topology->domains[o->domain].name,
				o->min_khz, o->max_khz, o->frozen_khz);
			continue;
		}
		print_levels(out, &o->properties);
		if (target->pid)
			fprintf(out, "%u %" PRIu64 " %d ", target->pid, target->start_ns,
				target->children);
		statefile_print_escaped(out, target->pid ? o->comm : target->rule);
		fputc('\n', out);
	}
}

static void print_hints(FILE *out, const struct rules *rules)
{
	const struct hint *hint = NULL;
	struct rules_task task;
	uint32_t place = 0;

	while ((hint = hints_next(rules_hints(rules), hint))) {
		if (hint->held)
			continue;
		fprintf(out, "hint %u %d %d %d %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s ",
			hint->pid, hint->is_thread, hint->children, hint->any_user, hint->uid,
			hint->by_uid, hint->start_ns, hint->since_ns, hint->end_ns, hint->class);
		statefile_print_escaped(out, hint->comm);
		fputc('\n', out);
	}
	while (rules_next_heir(rules, &place, &task, &hint))
		if (!hint->held)
			fprintf(out, "heir %u %" PRIu64 " %u\n", task.pid, task.start_ns,
				hint->pid);
}

static void print_lines(FILE *out, const void *data)
{
	const struct grant_tables *tables = data;

	print_overrides(out, tables);
	print_hints(out, tables->rules);
}

int grant_file_save(const char *directory, const struct grant_tables *tables)
{
	bool any = tables->overrides->n || hints_count(rules_hints(tables->rules));

	return any ? statefile_write(directory, &grant_file, print_lines, tables)
		   : statefile_remove(directory, &grant_file);
}

/* Parses the limits of a domain, which is unset if it does not exist any more. */
static bool parse_limits(const char *text, const struct topology *topology, struct override *ret)
{
	char name[DOMAIN_NAME_SIZE];
	int n = 0;

	if (sscanf(text, "%15s %u %u %u%n", name, &ret->min_khz, &ret->max_khz, &ret->frozen_khz,
		   &n) != 4 ||
	    text[n])
		return false;
	ret->domain = topology_find(topology, name);
	return true;
}

/* Parses the task or rule, which follows the levels. */
static bool parse_target(const char *text, bool is_task, struct override *ret)
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

/* Parses the levels of a task or rule, and which one it is. */
static bool parse_levels(const char *text, bool is_task, struct override *ret)
{
	char level[POLICY_LEVEL_SIZE];
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++, text += n + 1)
		if (sscanf(text, "%23[^ ]%n", level, &n) != 1 || text[n] != ' ' ||
		    (strcmp(level, "-") != 0 &&
		     policy_level_store(&ret->properties, levels[i], level) < 0))
			return false;
	return parse_target(text, is_task, ret);
}

/* Parses what follows "domain ", "task " or "rule ". Returns whether it is valid. */
static bool parse_override(const char *text, char kind, uint64_t now_ns,
			   const struct grant_tables *ret)
{
	struct override o = { .of_domain = kind == 'd' };
	int n = 0;

	if (sscanf(text, "%u %u %" SCNu64 "%n", &o.id, &o.uid, &o.end_ns, &n) != 3 ||
	    text[n] != ' ' || !o.id || overrides_find(ret->overrides, o.id))
		return false;
	text += n + 1;
	if (!(o.of_domain ? parse_limits(text, ret->topology, &o)
			  : parse_levels(text, kind == 't', &o)))
		return false;
	if (o.end_ns <= now_ns || (o.of_domain && o.domain == TOPOLOGY_NO_DOMAIN))
		return true;
	return overrides_insert(ret->overrides, &o);
}

/* Parses what follows "hint ". Returns whether it is valid. */
static bool parse_hint(const char *text, uint64_t now_ns, struct hints *hints)
{
	int is_thread, children, any_user, n = 0;
	struct hint hint = { 0 };

	if (sscanf(text, "%u %d %d %d %u %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s%n", &hint.pid,
		   &is_thread, &children, &any_user, &hint.uid, &hint.by_uid, &hint.start_ns,
		   &hint.since_ns, &hint.end_ns, hint.class, &n) != 10 ||
	    text[n] != ' ' || !statefile_unescape(text + n + 1, hint.comm, sizeof(hint.comm)) ||
	    !hint.pid)
		return false;
	hint.is_thread = is_thread;
	hint.children = children;
	hint.any_user = any_user;
	if (hint.end_ns > now_ns && !hints_find(hints, hint.pid))
		hints_add(hints, &hint);
	return true;
}

/* Parses what follows "heir "; leaves out heirs of a hint that has ended. */
static bool parse_heir(const char *text, struct rules *rules)
{
	const struct hint *hint;
	uint64_t start_ns;
	uint32_t pid, of;
	int n = 0;

	if (sscanf(text, "%u %" SCNu64 " %u%n", &pid, &start_ns, &of, &n) != 3 || text[n] || !pid)
		return false;
	hint = hints_find(rules_hints(rules), of);
	if (hint)
		rules_add_heir(rules, pid, start_ns, hint);
	return true;
}

static bool parse_line(const char *line, uint64_t now_ns, const struct grant_tables *ret)
{
	static const char *const overrides[] = { "domain ", "task ", "rule " };

	if (!strncmp(line, "hint ", 5))
		return parse_hint(line + 5, now_ns, rules_hints(ret->rules));
	if (!strncmp(line, "heir ", 5))
		return parse_heir(line + 5, ret->rules);
	for (size_t i = 0; i < ARRAY_SIZE(overrides); i++)
		if (!strncmp(line, overrides[i], strlen(overrides[i])))
			return parse_override(line + strlen(overrides[i]), *line, now_ns, ret);
	return false;
}

static int load_file(const char *directory, uint64_t now_ns, const struct grant_tables *ret)
{
	_cleanup_(statefile_close) struct statefile_reader reader;
	char *line;
	int r = statefile_open(directory, &grant_file, &reader);

	while (r > 0 && (r = statefile_next(&reader, &line)) > 0)
		if (!parse_line(line, now_ns, ret))
			r = -EBADMSG;
	return r;
}

int grant_file_load(const char *directory, uint64_t now_ns, const struct grant_tables *ret)
{
	struct hints *hints = rules_hints(ret->rules);
	int r = load_file(directory, now_ns, ret);
	struct hint *hint;

	if (r == 0)
		return 0;
	ret->overrides->n = 0;
	while ((hint = hints_next(hints, NULL)))
		hints_remove(hints, hint);
	return r;
}

struct grant_tables grants_tables(struct grants *grants)
{
	const struct core *core = grants->core;

	return (struct grant_tables){
		.topology = core->topology,
		.overrides = &grants->overrides,
		.rules = core->rules,
	};
}

void grants_save(struct grants *grants)
{
	const char *run_dir = grants->core->options->run_dir;
	const struct grant_tables tables = grants_tables(grants);
	int r = grant_file_save(run_dir, &tables);

	grants->save_ns = UINT64_MAX;
	if (r < 0 && !grants->unsaved)
		log_warning("overrides and hints are in force, but a restart of wakegovd will end "
			    "them: cannot write %s/" GRANT_FILE ": %s",
			    run_dir, strerror(-r));
	grants->unsaved = r < 0;
}

void grants_save_soon(struct grants *grants)
{
	if (grants->save_ns == UINT64_MAX)
		grants->save_ns = time_now_ns() + SAVE_AFTER_NS;
}
