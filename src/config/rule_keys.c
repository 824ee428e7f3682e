// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "config/units.h"
#include "core/placement.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define NICE_LEAST (-20)
#define NICE_MOST  19

/* By their numbers in linux/sched.h, also those of newer kernels. */
static const char *const schedulers[POLICY_SCHEDULERS] = {
	[0] = "other", [1] = "fifo",	 [2] = "rr",  [3] = "batch",
	[5] = "idle",  [6] = "deadline", [7] = "ext",
};

const char *policy_scheduler_name(uint32_t scheduler)
{
	return scheduler < POLICY_SCHEDULERS ? schedulers[scheduler] : NULL;
}

/* The length up to the first of `stops` without a backslash before it. */
static size_t length_to(const char *text, const char *stops)
{
	size_t length = 0;

	while (text[length] && !strchr(stops, text[length]))
		length += text[length] == '\\' && text[length + 1] ? 2 : 1;
	return length;
}

bool policy_patterns_next(const char **list, char ret[static POLICY_PATTERN_SIZE])
{
	const char *first = *list + strspn(*list, " \t");
	size_t length = length_to(first, " \t");

	memcpy(ret, first, length);
	ret[length] = '\0';
	*list = first + length;
	return length > 0;
}

static int store_text(char *field, size_t size, const char *text)
{
	if (!text[0] || strlen(text) >= size)
		return -EINVAL;
	memset(field, 0, size);
	strcpy(field, text);
	return 0;
}

static int store_command(struct policy_rule *rule, const char *text)
{
	rule->match.given |= POLICY_MATCH_COMMAND;
	return store_text(rule->match.command, sizeof(rule->match.command), text);
}

static int store_user(struct policy_rule *rule, const char *text)
{
	rule->match.given |= POLICY_MATCH_USER;
	if (strpbrk(text, ", \t"))
		return -EINVAL;
	return store_text(rule->match.user, sizeof(rule->match.user), text);
}

/* Stores patterns that all satisfy is_good. */
static int store_patterns(char *field, const char *text, bool (*is_good)(const char *pattern))
{
	char pattern[POLICY_PATTERN_SIZE];
	int r = store_text(field, POLICY_PATTERN_SIZE, text);

	/* A comma without a backslash before it was probably meant as a divider. */
	if (r < 0 || text[length_to(text, ",")] == ',')
		return -EINVAL;
	while (policy_patterns_next(&text, pattern))
		if (!is_good(pattern))
			return -EINVAL;
	return 0;
}

static bool is_any(const char *pattern)
{
	return true;
}

static bool is_path(const char *pattern)
{
	return pattern[0] == '/' || pattern[0] == '*';
}

static bool is_absolute(const char *pattern)
{
	return pattern[0] == '/';
}

/* A unit has a type behind its last dot, unless the pattern may match one. */
static bool is_unit(const char *pattern)
{
	const char *dot = strrchr(pattern, '.');

	return !strchr(pattern, '/') &&
	       (strpbrk(pattern, "*?[") || (dot && dot[1] && dot != pattern));
}

#define STORE_PATTERNS(_name, _key, _is_good)                                \
	static int store_##_name(struct policy_rule *rule, const char *text) \
	{                                                                    \
		rule->match.given |= (_key);                                 \
		return store_patterns(rule->match._name, text, (_is_good));  \
	}

STORE_PATTERNS(comm, POLICY_MATCH_COMM, is_any)
STORE_PATTERNS(exe, POLICY_MATCH_EXE, is_path)
STORE_PATTERNS(cgroup, POLICY_MATCH_CGROUP, is_absolute)
STORE_PATTERNS(unit, POLICY_MATCH_UNIT, is_unit)
STORE_PATTERNS(user_unit, POLICY_MATCH_USER_UNIT, is_unit)

static int store_scheduler(struct policy_rule *rule, const char *text)
{
	uint32_t found = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t length = strcspn(text, " \t");
		int i = 0;

		while (i < POLICY_SCHEDULERS &&
		       (!schedulers[i] || strlen(schedulers[i]) != length ||
			strncmp(schedulers[i], text, length) != 0))
			i++;
		if (i == POLICY_SCHEDULERS)
			return -EINVAL;
		found |= 1U << i;
		text += length;
	}
	rule->match.given |= POLICY_MATCH_SCHEDULER;
	rule->match.schedulers = found;
	return found ? 0 : -EINVAL;
}

static int store_nice(struct policy_rule *rule, const char *text)
{
	int least, most, n = 0;

	if (sscanf(text, "%3d%n", &least, &n) != 1)
		return -EINVAL;
	most = least;
	if (text[n]) {
		text += n;
		if (sscanf(text, "..%3d%n", &most, &n) != 1 || text[n])
			return -EINVAL;
	}
	if (least < NICE_LEAST || most > NICE_MOST || least > most)
		return -EINVAL;
	rule->match.given |= POLICY_MATCH_NICE;
	rule->match.nice_min = least;
	rule->match.nice_max = most;
	return 0;
}

static int store_kernel_thread(struct policy_rule *rule, const char *text)
{
	rule->match.given |= POLICY_MATCH_KERNEL_THREAD;
	rule->match.kernel_thread = !strcmp(text, "yes");
	return rule->match.kernel_thread || !strcmp(text, "no") ? 0 : -EINVAL;
}

/* word stands for a capacity: the end of the scale at which the property does nothing. */
static int store_level(struct policy_level *level, const char *text, const char *word,
		       uint32_t capacity)
{
	static const struct {
		const struct policy_units *units;
		int kind;
		uint64_t most;
	} kinds[] = {
		{ &policy_units_capacity, POLICY_LEVEL_CAPACITY, TOPOLOGY_CAPACITY_MAX },
		{ &policy_units_share, POLICY_LEVEL_PERCENT, 100 },
		{ &policy_units_frequency, POLICY_LEVEL_KHZ, 100000000 },
	};
	uint64_t number;

	if (!strcmp(text, word)) {
		*level = (struct policy_level){ POLICY_LEVEL_CAPACITY, capacity };
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (policy_units_parse(kinds[i].units, text, &number) == 0) {
			if (number > kinds[i].most)
				return -EINVAL;
			level->kind = kinds[i].kind;
			level->value = number;
			return 0;
		}
	return -EINVAL;
}

static int store_cap(struct policy_rule *rule, const char *text)
{
	return store_level(&rule->own.cap, text, "none", TOPOLOGY_CAPACITY_MAX);
}

static int store_floor(struct policy_rule *rule, const char *text)
{
	return store_level(&rule->own.floor, text, "none", 0);
}

#define RESPONSE_LEAST_US 10
#define RESPONSE_MOST_US  10000000

/*
 * A response is a floor, computed from the tasks' bursts. Of both in one section, the later one
 * wins.
 */
static int store_response(struct policy_rule *rule, const char *text)
{
	uint64_t ns;

	if (!strcmp(text, "none"))
		return store_floor(rule, text);
	if (policy_units_parse(&policy_units_duration, text, &ns) < 0 ||
	    ns < RESPONSE_LEAST_US * NS_PER_US || ns > RESPONSE_MOST_US * NS_PER_US)
		return -EINVAL;
	rule->own.floor = (struct policy_level){ POLICY_LEVEL_RESPONSE, ns / NS_PER_US };
	return 0;
}

static int store_io_boost(struct policy_rule *rule, const char *text)
{
	if (!strcmp(text, "off"))
		return store_level(&rule->own.io_boost, text, "off", 0);
	return store_level(&rule->own.io_boost, text, "on", TOPOLOGY_CAPACITY_MAX);
}

static int store_placement(struct policy_rule *rule, const char *text)
{
	const char *name;

	for (uint32_t kind = 0; (name = placement_kind_name(kind)); kind++)
		if (!strcmp(text, name)) {
			rule->own.placement = (struct policy_level){ POLICY_LEVEL_PLACEMENT, kind };
			return 0;
		}
	return -EINVAL;
}

#define IDLE_LATENCY_MOST_US 1000000

static int store_idle_latency(struct policy_rule *rule, const char *text)
{
	uint64_t ns = POLICY_IDLE_LATENCY_NONE * NS_PER_US;

	if (strcmp(text, "none") != 0 &&
	    (policy_units_parse(&policy_units_duration, text, &ns) < 0 ||
	     ns > IDLE_LATENCY_MOST_US * NS_PER_US))
		return -EINVAL;
	rule->own.idle_latency = (struct policy_level){ POLICY_LEVEL_IDLE_LATENCY, ns / NS_PER_US };
	return 0;
}

static int store_class(struct policy_rule *rule, const char *text)
{
	if (!strcmp(text, "none")) {
		memset(rule->class, 0, sizeof(rule->class));
		return 0;
	}
	return store_text(rule->class, sizeof(rule->class), text);
}

static int store_domain(struct policy_rule *rule, const char *text)
{
	if (!strcmp(text, "all"))
		rule->domain_cpu = POLICY_ANY_DOMAIN;
	else if (!policy_domain_number(text, &rule->domain_cpu))
		return -EINVAL;
	return 0;
}

static int store_when(struct policy_rule *rule, const char *text)
{
	if (strncmp(text, "rule ", 5) != 0)
		return -EINVAL;
	text += 5;
	return store_text(rule->when, sizeof(rule->when), text + strspn(text, " \t"));
}

static int store_inherit(struct policy_rule *rule, const char *text)
{
	rule->own.not_inherited = !strcmp(text, "no");
	return rule->own.not_inherited || !strcmp(text, "yes") ? 0 : -EINVAL;
}

#define PATTERNS "patterns of 1 to 159 bytes in all, with blanks between,"
#define LEVEL                                                                                 \
	"a share from 0% to 100%, a capacity from 0/1024 to 1024/1024, or a frequency up to " \
	"100GHz with its unit (kHz, MHz, GHz)"

/* clang-format off */
static const struct policy_rule_key keys[] = {
	{ "comm", PATTERNS " as in steam wine*", store_comm, .is_list = true },
	{ "exe", PATTERNS " that start with / or *", store_exe, .is_list = true },
	{ "command", "a pattern of 1 to 159 bytes", store_command },
	{ "user", "the name or the number of a user", store_user },
	{ "cgroup", PATTERNS " that start with /", store_cgroup, .is_list = true },
	{ "unit", PATTERNS " for a unit's whole name: foo.service, not foo", store_unit,
	  .is_list = true },
	{ "user-unit", PATTERNS " for a unit's whole name: foo.service, not foo", store_user_unit,
	  .is_list = true },
	{ "scheduler", "some of other batch idle fifo rr deadline ext, with blanks between",
	  store_scheduler, .is_list = true },
	{ "nice", "a number from -20 to 19, or two: 5..19", store_nice },
	{ "kernel-thread", "yes or no", store_kernel_thread },
	{ "when", "rule and the name of another rule", store_when },
	{ "domain", "all, or policyN with N from 0 to 1023", store_domain },
	{ "class", "none or the name of a class", store_class },
	{ "cap", "none, " LEVEL, store_cap, .is_for = POLICY_KEY_OF_BOTH, .is_level = true },
	{ "floor", "none, " LEVEL, store_floor, .is_for = POLICY_KEY_OF_BOTH, .is_level = true },
	{ "response", "none, or a time from 10us to 10s", store_response,
	  .is_for = POLICY_KEY_OF_BOTH },
	{ "io-boost", "on, off, " LEVEL, store_io_boost, .is_for = POLICY_KEY_OF_BOTH, .is_level = true },
	{ "placement", "none, wake-affine, wake-hold, fork-affine or fork-spread", store_placement,
	  .is_for = POLICY_KEY_OF_BOTH },
	{ "idle-latency", "none, or a time from 0us to 1s", store_idle_latency,
	  .is_for = POLICY_KEY_OF_BOTH },
	{ "inherit", "yes or no", store_inherit, .is_for = POLICY_KEY_OF_CLASS },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(keys) <= POLICY_KEYS_MAX, "they share the array of lines");

const struct policy_rule_key *policy_rule_keys_get(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(keys);
	return keys;
}

const struct policy_rule_key *policy_rule_keys_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}
