// SPDX-License-Identifier: GPL-2.0-only
/* Finds rules that cannot match here, or that an earlier rule always precedes. */
#include "rules/rules.h"

#include <fts.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "config/keys.h"
#include "config/match.h"
#include "core/rule.h"
#include "shared/sysfs.h"

struct check {
	uint32_t n_never;
	const struct policy *policy;
	const struct topology *topology;
	const struct policy_rule *rule;
	void (*warn)(void *userdata, const char *line);
	void *userdata;
};

/* key: the key that the warning is about; NULL: the rule as a whole. */
__attribute__((format(printf, 3, 4))) static void say(const struct check *check, const char *key,
						      const char *format, ...)
{
	uint32_t line = key ? policy_rule_key_line(check->rule, key) : 0;
	char text[640];
	va_list args;
	int n = snprintf(text, sizeof(text), "%s:%u: [rule %s] ", check->rule->file,
			 line ?: check->rule->line, check->rule->name);

	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	check->warn(check->userdata, text);
}

/* Whether the pattern matches only one text, itself. */
static bool is_literal(const char *pattern)
{
	for (; *pattern; pattern += match_unit_escape(pattern) ?: 1)
		if (strchr("*?[", *pattern) || (*pattern == '\\' && !match_unit_escape(pattern)))
			return false;
	return true;
}

/* The bytes of the shortest text that matches. */
static size_t least_length(const char *pattern)
{
	size_t length = 0;

	for (; *pattern; pattern++) {
		/* A ']' that comes first is a member. */
		const char *end = *pattern == '[' && pattern[1] ? strchr(pattern + 2, ']') : NULL;

		length += *pattern != '*';
		pattern = end ?: pattern + (*pattern == '\\' && pattern[1]);
	}
	return length;
}

/* No task can have a name of this length. */
static void say_too_long(struct check *check, const char *pattern)
{
	char shorter[TASK_COMM_SIZE];

	snprintf(shorter, sizeof(shorter), "%s", pattern);
	check->n_never++;
	say(check, "comm",
	    "comm = %s can never match: the kernel keeps %d bytes of a name; write %s%s", pattern,
	    TASK_COMM_SIZE - 1, is_literal(shorter) ? shorter : "a shorter one",
	    is_literal(shorter) ? "*" : "");
}

/* Pops the next pattern that matches only one text off *patterns. False: none is left. */
static bool next_literal(const char **patterns, char ret[static POLICY_PATTERN_SIZE])
{
	while (policy_patterns_next(patterns, ret))
		if (is_literal(ret))
			return true;
	return false;
}

static void check_never(struct check *check)
{
	const struct policy_match *match = &check->rule->match;
	const uint32_t of_processes = POLICY_MATCH_EXE | POLICY_MATCH_COMMAND;
	const char *comms = match->comm, *cgroups = match->cgroup;
	char pattern[POLICY_PATTERN_SIZE];

	while (policy_patterns_next(&comms, pattern))
		if (least_length(pattern) >= TASK_COMM_SIZE)
			say_too_long(check, pattern);
	if (match->given & of_processes && match->given & POLICY_MATCH_KERNEL_THREAD &&
	    match->kernel_thread) {
		check->n_never++;
		say(check, "kernel-thread",
		    "it can never match: kernel threads have no exe and no command");
	}
	while (policy_patterns_next(&cgroups, pattern)) {
		if (strlen(pattern) <= 1 || pattern[strlen(pattern) - 1] != '/')
			continue;
		check->n_never++;
		say(check, "cgroup", "cgroup = %s can never match: remove the / at its end",
		    pattern);
	}
}

/* A list may name the units of different machines: one existing unit is enough. */
static bool any_may_be_there(const char *patterns, bool (*is_there)(const char *literal))
{
	char pattern[POLICY_PATTERN_SIZE];
	bool any = false;

	while (!any && policy_patterns_next(&patterns, pattern))
		any = !is_literal(pattern) || is_there(pattern);
	return any;
}

static bool has_path(const char *path)
{
	char directory[4096];
	struct stat st;

	snprintf(directory, sizeof(directory), "%s%s", sysfs_cgroup_mount(), path);
	return stat(directory, &st) == 0;
}

/* Whether the unit has a directory. */
static bool has_unit(const char *unit)
{
	char *paths[] = { (char *)sysfs_cgroup_mount(), NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool found = false;
	FTSENT *entry;

	while (tree && !found && (entry = fts_read(tree)))
		found = entry->fts_info == FTS_D &&
			match_unit(unit, entry->fts_path + strlen(sysfs_cgroup_mount()));
	if (tree)
		fts_close(tree);
	return found;
}

static void check_machine(struct check *check)
{
	const struct policy_match *match = &check->rule->match;
	const struct topology *topology = check->topology;
	const char *units = match->unit, *cgroups = match->cgroup;
	bool has_domain = check->rule->domain_cpu == POLICY_ANY_DOMAIN;
	bool is_number = match->user[strspn(match->user, "0123456789")] == '\0';
	const char *why_not = *units || *cgroups ? sysfs_cgroup_why_not() : NULL;
	char pattern[POLICY_PATTERN_SIZE];

	if (why_not) {
		check->n_never++;
		say(check, *units ? "unit" : "cgroup", "it cannot match here: %s", why_not);
	}
	if (match->given & POLICY_MATCH_USER && !is_number && !getpwnam(match->user))
		say(check, "user", "user = %s does not exist here: add the user and reload",
		    match->user);
	if (!why_not && !any_may_be_there(units, has_unit))
		while (next_literal(&units, pattern))
			say(check, "unit",
			    "unit = %s has no cgroup now: the unit is not running or unknown (see "
			    "systemctl status %s); the rule holds as soon as it starts",
			    pattern, pattern);
	if (!why_not && !any_may_be_there(cgroups, has_path))
		while (next_literal(&cgroups, pattern))
			say(check, "cgroup",
			    "cgroup = %s does not exist now; the rule holds as soon as it does",
			    pattern);
	for (uint32_t i = 0; i < topology->n_domains; i++)
		has_domain |= topology->domains[i].first_cpu == check->rule->domain_cpu;
	if (!has_domain)
		say(check, "domain",
		    "domain = policy%u has no effect: this machine has no such domain",
		    check->rule->domain_cpu);
}

static bool gives(const struct policy_rule *rule, enum rule_property property)
{
	return rule_level(&rule->properties, property)->kind != POLICY_LEVEL_NONE;
}

static void check_itself(const struct check *check)
{
	bool gives_any = false;

	for (int i = 0; i < RULE_PROPERTIES; i++)
		gives_any |= gives(check->rule, i);
	if (!check->rule->is_condition && !check->rule->is_filled && !gives_any)
		say(check, NULL,
		    "it has no effect: set cap, floor, response, io-boost, waiting, "
		    "placement, idle-latency or class");
	if (check->rule->domain_cpu == POLICY_ANY_DOMAIN)
		return;
	if (gives(check->rule, RULE_PLACEMENT))
		say(check, "placement", "placement is global: with domain = it has no effect");
	if (gives(check->rule, RULE_IDLE_LATENCY))
		say(check, "idle-latency",
		    "idle-latency is global: with domain = it has no effect");
}

/* Warns if an earlier rule matches every task and gives all that this one gives. */
static void check_reached(const struct check *check)
{
	for (const struct policy_rule *before = check->policy->rules; before < check->rule;
	     before++) {
		bool all = !before->match.given && !before->when[0] &&
			   (before->domain_cpu == POLICY_ANY_DOMAIN ||
			    before->domain_cpu == check->rule->domain_cpu);

		for (int i = 0; i < RULE_PROPERTIES; i++)
			all &= gives(before, i) || !gives(check->rule, i);
		if (!all)
			continue;
		say(check, NULL,
		    "it is never reached: [rule %s] at %s:%u matches every task and gives "
		    "the same; put this one before it",
		    before->name, before->file, before->line);
		return;
	}
}

/* Warns of the first such domain. */
static void check_levels(const struct check *check)
{
	const struct policy_level *cap = rule_level(&check->rule->properties, RULE_CAP);
	const struct policy_level *floor = rule_level(&check->rule->properties, RULE_FLOOR);
	bool low = false, crossed = false;

	/* Without a machine only levels of the same kind can be compared. */
	if (!check->topology || !check->topology->n_domains) {
		if (cap->kind != POLICY_LEVEL_NONE && cap->kind == floor->kind &&
		    floor->value > cap->value)
			say(check, "floor", "floor is above cap: the cap wins");
		return;
	}
	for (uint32_t i = 0; i < check->topology->n_domains; i++) {
		const struct topology_domain *domain = &check->topology->domains[i];
		struct policy_level lowest = { POLICY_LEVEL_KHZ, domain->opp_khz[0] };

		if (cap->kind == POLICY_LEVEL_NONE ||
		    (check->rule->domain_cpu != POLICY_ANY_DOMAIN &&
		     check->rule->domain_cpu != domain->first_cpu))
			continue;
		if (!low && rule_level_cap(cap, domain) < rule_level_cap(&lowest, domain)) {
			low = true;
			say(check, "cap",
			    "cap is below the lowest frequency of %s, %u MHz: that one is "
			    "used",
			    domain->name, domain->opp_khz[0] / 1000);
		}
		if (!crossed && floor->kind != POLICY_LEVEL_NONE &&
		    rule_level_cap(floor, domain) > rule_level_cap(cap, domain)) {
			crossed = true;
			say(check, "floor", "floor is above cap in %s: the cap wins", domain->name);
		}
	}
}

uint32_t rules_check(const struct policy *policy, const struct topology *topology,
		     void (*warn)(void *userdata, const char *line), void *userdata)
{
	struct check check = {
		.policy = policy,
		.topology = topology,
		.warn = warn,
		.userdata = userdata,
	};

	for (uint32_t i = 0; i < policy->n_rules; i++) {
		if (policy->rules[i].is_hint)
			continue;
		check.rule = &policy->rules[i];
		check_itself(&check);
		check_never(&check);
		check_reached(&check);
		if (topology)
			check_machine(&check);
		check_levels(&check);
	}
	return check.n_never;
}

int rules_find_crossed(const struct policy *policy, const struct topology *topology,
		       uint64_t matched, uint32_t *ret_cap)
{
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		const struct topology_domain *domain = &topology->domains[i];
		int cap = rule_that_gives(policy, matched, RULE_CAP, domain);
		int floor = rule_that_gives(policy, matched, RULE_FLOOR, domain);

		if (cap < 0 || floor < 0 || cap == floor || rule_is_override(policy, cap) ||
		    rule_is_override(policy, floor) || policy->rules[cap].is_hint ||
		    policy->rules[floor].is_hint ||
		    rule_level_cap(&policy->rules[floor].properties.floor, domain) <=
			    rule_level_cap(&policy->rules[cap].properties.cap, domain))
			continue;
		*ret_cap = cap;
		return floor;
	}
	return -1;
}
