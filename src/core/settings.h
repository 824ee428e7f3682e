/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The administrator's policy as plain data, read from files by src/config. A struct policy has no
 * pointers: it is copied and swapped as a whole.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/topology.h"

#define POLICY_DOMAIN_SECTIONS_MAX 64
#define POLICY_OVERRIDES_MAX	   96
#define POLICY_OPP_POWERS_MAX	   256
#define POLICY_RULES_MAX	   64 /* the matches of a task are the bits of one number */
#define POLICY_CLASSES_MAX	   24
#define POLICY_NAME_SIZE	   32  /* of a rule or class, with its NUL */
#define POLICY_PATTERN_SIZE	   160 /* of what a rule matches by, with its NUL */
#define POLICY_RULE_KEYS_MAX	   32  /* half by which it matches, half that it gives */
#define POLICY_FILE_SIZE	   48  /* of the last part of a file's name, with its NUL */

enum policy_backend {
	POLICY_BACKEND_AUTO,
	POLICY_BACKEND_UCLAMP,
	POLICY_BACKEND_SETSPEED,
	POLICY_BACKEND_LIMITS,
	POLICY_BACKEND_OBSERVE,
};

/* A frequency in the policy: not given, absolute, or a share of the domain's highest OPP. */
struct policy_frequency {
	enum {
		POLICY_FREQUENCY_NONE,
		POLICY_FREQUENCY_KHZ,
		POLICY_FREQUENCY_PERCENT,
	} kind : 3;
	uint32_t value : 29; /* kHz or per cent */
	uint32_t override;   /* the number of the override that gives it; 0: the policy does */
};

/* The frequency at which a CPU has its capacity (src/frequency/reference.c); else its kHz. */
enum policy_reference {
	POLICY_REFERENCE_AUTO, /* turbo-4c where it is known, else the highest OPP */
	POLICY_REFERENCE_TURBO_4C,
	POLICY_REFERENCE_TURBO_1C,
	POLICY_REFERENCE_BASE,
};

/* The kernel's words for energy_performance_preference, after the first. */
enum policy_preference {
	POLICY_PREFERENCE_NONE, /* leaves it as it is */
	POLICY_PREFERENCE_DEFAULT,
	POLICY_PREFERENCE_PERFORMANCE,
	POLICY_PREFERENCE_BALANCE_PERFORMANCE,
	POLICY_PREFERENCE_BALANCE_POWER,
	POLICY_PREFERENCE_POWER,
};

/* The settings of [domain] for all domains, and of [domain policyN] for one. */
struct policy_domain {
	struct policy_frequency min;
	struct policy_frequency max;
	uint32_t headroom_percent; /* 125: a quarter above the utilisation */
	uint64_t rate_limit_ns; /* least time between two changes; 0: domain_rate_limit_ns() chooses
				 */
	uint64_t down_hold_ns;	/* how long a lower OPP must be wanted before it is set */
	uint32_t reference;	/* enum policy_reference, or kHz */
	uint64_t rise_time_ns;	/* a burst of this length wants the highest OPP */
	enum policy_preference preference; /* for drivers that choose frequencies themselves */
};

/* A field as a bit. Each field has its own eight bytes, so that the bit says what to copy. */
#define POLICY_DOMAIN_FIELD_BYTES 8
#define POLICY_DOMAIN_BIT(_field) \
	(1u << offsetof(struct policy_domain, _field) / POLICY_DOMAIN_FIELD_BYTES)

/* The power of a busy CPU at an OPP. */
struct policy_opp_power {
	uint32_t section; /* [domain]: 0; else 1 + its place in domain_sections */
	uint32_t khz;
	uint32_t uw;
};

struct policy_domain_section {
	char name[DOMAIN_NAME_SIZE];
	uint32_t given; /* POLICY_DOMAIN_BIT() of its own fields; the others come from [domain] */
	struct policy_domain values;
};

struct policy_io_boost {
	bool enabled;
	uint32_t min_rate_per_s;   /* I/O waits or requests per second that make a task eligible */
	uint64_t window_ns;	   /* over which the rate is taken */
	uint64_t hold_ns;	   /* time after its last I/O for which a task keeps its boost */
	uint32_t slack_percent;	   /* throughput, against the highest OPP, that may be given up */
	uint32_t min_host_percent; /* least share of the host in the time of an I/O at the lowest
				      OPP; below it the task waits for the device */
};

/* Who may use the query socket. */
enum policy_readers {
	POLICY_READERS_EVERYONE,
	POLICY_READERS_GROUP, /* members of read_group and change_group, and root */
};

#define POLICY_GROUP_NONE	 UINT32_MAX /* as a gid */

#define POLICY_IDLE_LATENCY_NONE UINT32_MAX /* the CPUs may sleep as deeply as they like */

/* Of the tasks of a rule, among the last-level caches: core/placement.h. */
enum policy_placement {
	POLICY_PLACEMENT_NONE,
	POLICY_PLACEMENT_FORK_SPREAD,
};

/*
 * A level of performance in a rule: on the machine's capacity scale, as a frequency of the task's
 * domain, or, for a floor, as a response time of its bursts (core/clamp_class.h). Not given:
 * another rule may give it.
 */
struct policy_level {
	enum {
		POLICY_LEVEL_NONE,
		POLICY_LEVEL_CAPACITY, /* 0…1024 */
		POLICY_LEVEL_PERCENT,  /* of 1024 */
		POLICY_LEVEL_KHZ,
		POLICY_LEVEL_RESPONSE,	   /* us, for a floor */
		POLICY_LEVEL_PLACEMENT,	   /* enum policy_placement */
		POLICY_LEVEL_IDLE_LATENCY, /* us; POLICY_IDLE_LATENCY_NONE */
	} kind;
	uint32_t value;
};

/* The highest value of a level of this kind. */
static inline uint32_t policy_level_most(int kind)
{
	static const uint32_t most[] = {
		[POLICY_LEVEL_NONE] = 0,
		[POLICY_LEVEL_CAPACITY] = TOPOLOGY_CAPACITY_MAX,
		[POLICY_LEVEL_PERCENT] = 100,
		[POLICY_LEVEL_KHZ] = UINT32_MAX,
		[POLICY_LEVEL_RESPONSE] = UINT32_MAX,
		[POLICY_LEVEL_PLACEMENT] = UINT32_MAX,
		[POLICY_LEVEL_IDLE_LATENCY] = UINT32_MAX,
	};

	return most[kind];
}

/* The properties that a rule gives the tasks that it matches. */
struct policy_properties {
	struct policy_level cap;	  /* 1024: no cap, whatever later rules give */
	struct policy_level floor;	  /* 0: no floor, whatever later rules give */
	struct policy_level io_boost;	  /* highest I/O boost; 0: no boost */
	struct policy_level waiting;	  /* most for work that is waited for; 0: nothing */
	struct policy_level placement;	  /* for the group of the rule's tasks */
	struct policy_level idle_latency; /* time that CPUs may take to wake up from idle */
	bool not_inherited;		  /* for a class: a hint does not extend to children */
};

enum policy_match_key {
	POLICY_MATCH_COMM = 1 << 0,
	POLICY_MATCH_EXE = 1 << 1,
	POLICY_MATCH_COMMAND = 1 << 2,
	POLICY_MATCH_USER = 1 << 3,
	POLICY_MATCH_CGROUP = 1 << 4,
	POLICY_MATCH_UNIT = 1 << 5,
	POLICY_MATCH_USER_UNIT = 1 << 6,
	POLICY_MATCH_SCHEDULER = 1 << 7,
	POLICY_MATCH_NICE = 1 << 8,
	POLICY_MATCH_KERNEL_THREAD = 1 << 9,
};

/* Which tasks a rule matches: those that meet everything given. Patterns are globs. */
struct policy_match {
	uint32_t given; /* enum policy_match_key */
	char comm[POLICY_PATTERN_SIZE];
	char exe[POLICY_PATTERN_SIZE];
	char command[POLICY_PATTERN_SIZE];   /* the arguments with blanks between */
	char user[POLICY_NAME_SIZE];	     /* a name or a number */
	char cgroup[POLICY_PATTERN_SIZE];    /* a path from the root of the hierarchy on */
	char unit[POLICY_PATTERN_SIZE];	     /* of the system's manager */
	char user_unit[POLICY_PATTERN_SIZE]; /* of a user's manager */
	char scheduler[POLICY_PATTERN_SIZE]; /* names such as batch */
	struct policy_nice {
		int32_t least, most;
	} nice;
	bool kernel_thread;
};

#define POLICY_ANY_DOMAIN UINT32_MAX

/* The tasks of an override of a task or a rule, instead of a struct policy_match. */
struct policy_override {
	uint32_t id;		     /* 0: no override */
	uint32_t pid;		     /* of a process, or of one of its threads, that … */
	uint64_t start_ns;	     /* … began then, since boot; or */
	bool children;		     /* and its later children */
	char rule[POLICY_NAME_SIZE]; /* the rule whose tasks it overrides */
};

struct policy_rule {
	char name[POLICY_NAME_SIZE];  /* of an override: override-N */
	char class[POLICY_NAME_SIZE]; /* "": none */
	char file[POLICY_FILE_SIZE];  /* its place, for people; an override: "" … */
	uint32_t line;
	uint16_t key_lines[POLICY_RULE_KEYS_MAX]; /* by the key's number; 0: not given there */
	uint32_t domain_cpu; /* the N of the policyN where the rule holds, or POLICY_ANY_DOMAIN */
	bool is_condition; /* a condition of a profile or another rule, which holds while this rule
			      has a task */
	bool is_filled;	   /* a profile sets a key of it */
	char when[POLICY_NAME_SIZE]; /* this rule holds while that one has a task; "": always */
	bool is_hint;		     /* matches the tasks with a hint for … */
	uint32_t hinted_class;	     /* … this class, by its number */
	struct policy_match match;
	struct policy_properties own;	     /* as the rule gives them … */
	struct policy_properties properties; /* … completed by its class */
	struct policy_override override;
};

/* A name for properties that belong together: interactive, background, … */
struct policy_class {
	char name[POLICY_NAME_SIZE];
	struct policy_properties properties;
};

/*
 * Which tasks are long-running: those whose bursts, at full capacity, last at least as long as the
 * domain's rate limit and the margin; see core/effective_cap.c.
 */
struct policy_caps {
	uint64_t burst_margin_ns;
	uint64_t burst_limit_ns; /* real time: a burst of this length is long at any frequency */
	bool application_clamps; /* own clamps of tasks count as a rule's do */
};

struct policy_query {
	enum policy_readers readers;
	uint32_t read_group;   /* gid that sees other users' command lines */
	uint32_t change_group; /* gid that may change what the daemon does, and sees everything */
	uint32_t max_clients;
	uint32_t max_hints; /* hints of a user without the right to change; 0: none */
	uint32_t max_message_bytes;
	uint64_t client_timeout_ns; /* time to complete a request or to read a reply */
};

struct policy {
	enum policy_backend backend;
	uint32_t max_tasks;	  /* size of the task table; takes effect at start */
	uint32_t max_decisions;	  /* remembered decisions; takes effect at start */
	uint32_t max_ruled_tasks; /* number of tasks that match rules; takes effect at start */
	bool history;		  /* decisions are kept on disk */
	struct policy_domain domain;
	struct policy_domain_section domain_sections[POLICY_DOMAIN_SECTIONS_MAX];
	uint32_t n_domain_sections;
	/* Of overrides, the newest last: they win over the sections. */
	struct policy_domain_section domain_overrides[POLICY_OVERRIDES_MAX];
	uint32_t n_domain_overrides;
	/* Those of a section are adjacent and ascending. Takes effect at start. */
	struct policy_opp_power opp_powers[POLICY_OPP_POWERS_MAX];
	uint32_t n_opp_powers;
	bool chains; /* tasks that work for each other in turn count as one: wakegov/chain.h */
	uint64_t waiting_uw; /* what a second of waiting is worth; 0: nothing */
	struct policy_io_boost io_boost;
	struct policy_caps caps;
	struct policy_query query;
	struct policy_class classes[POLICY_CLASSES_MAX];
	uint32_t n_classes;
	uint32_t n_rules;
	/*
	 * Overrides win over all rules, the newest first. They are at the end of `rules`, the
	 * newest last, so that rules of files keep their numbers.
	 */
	uint32_t n_overrides;
	struct policy_rule rules[POLICY_RULES_MAX]; /* the first that matches wins */
};

/* Without the rules that are not used: they are nine tenths, and take no memory while untouched. */
void policy_copy(struct policy *to, const struct policy *from);

/* The settings of the domain called name: its overrides over its own section over [domain]. */
void policy_domain_for(const struct policy *policy, const char *name, struct policy_domain *ret);

/* The section that gives the power of the domain's OPPs, its own or [domain]: opp_powers.section.
 */
uint32_t policy_powers_section(const struct policy *policy, const char *name);

/* Power at the OPP in uW, by the section; 0: not given. */
uint32_t policy_power_at(const struct policy *policy, uint32_t section, uint32_t khz);
