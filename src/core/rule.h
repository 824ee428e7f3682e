/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The properties that rules give a task. For each property the newest override wins, or else the
 * first rule that the task matches; one that does not give the property, or is for another domain,
 * is passed over.
 */

#include <stdint.h>

#include "core/settings.h"
#include "core/topology.h"
#include "wakegov/record.h"

/* All rules, and the overrides among them, as bits. */
uint64_t rule_all(const struct policy *policy);
uint64_t rule_overrides(const struct policy *policy);

/* Whether any number i is that of a rule, and of an override. */
bool rule_exists(const struct policy *policy, int64_t i);
bool rule_is_override(const struct policy *policy, int64_t i);

/* The rule or class with this name, as an index; -1: none. */
int rule_named(const struct policy *policy, const char *name);
int rule_class_named(const struct policy *policy, const char *name);

enum rule_property {
	RULE_CAP,
	RULE_FLOOR,
	RULE_IO_BOOST,
	RULE_WAITING,
	RULE_PLACEMENT,
	RULE_IDLE_LATENCY,
	RULE_PROPERTIES,
};

/*
 * The rule among `matched` (bit i: policy->rules[i]) that gives the property in the domain, as an
 * index; -1: none.
 */
int rule_that_gives(const struct policy *policy, uint64_t matched, enum rule_property property,
		    const struct topology_domain *domain);
/* The same for properties that do not depend on a domain; rules for one domain are passed over. */
int rule_that_gives_anywhere(const struct policy *policy, uint64_t matched,
			     enum rule_property property);

/* Whether a rule gives tasks an I/O boost, a placement and the like; "none" and "off" do not. */
bool rule_any_gives(const struct policy *policy, enum rule_property property);

/* The level of a property; kind POLICY_LEVEL_NONE: not given. Borrowed. */
const struct policy_level *rule_level(const struct policy_properties *properties,
				      enum rule_property property);

/*
 * A given level as capacity in the domain: 0…1024. A frequency stands for the capacity at it, at
 * most that of the highest OPP. A response time has 0, as its bursts are not known here.
 */
uint32_t rule_level_cap(const struct policy_level *level, const struct topology_domain *domain);

/* What rules match: the facts of tasks and processes, at one moment. */
typedef void (*facts_handler_t)(void *userdata, const struct task_facts *facts);

/* The program of a process. If a text is unknown, its second field gives the reason, for people. */
struct process_facts {
	char exe[768];
	const char *exe_unknown; /* NULL: it is known */
	char command[3072];	 /* arguments with a blank between them, cut to fit */
	const char *command_unknown;
};

typedef void (*process_facts_t)(void *userdata, uint32_t tgid, struct process_facts *ret);
