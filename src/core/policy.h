/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The administrator's policy as plain data. src/policy reads it from files; src/core only obeys
 * it. A struct policy holds no pointers: it is copied and swapped whole.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"

#define POLICY_OVERRIDES_MAX 64

enum policy_backend {
	POLICY_BACKEND_AUTO,
	POLICY_BACKEND_SETSPEED,
	POLICY_BACKEND_OBSERVE,
};

/* A frequency in the policy: not given, absolute, or a share of the domain's highest OPP. */
struct policy_frequency {
	enum {
		POLICY_FREQUENCY_NONE,
		POLICY_FREQUENCY_KHZ,
		POLICY_FREQUENCY_PERCENT,
	} kind;
	uint32_t value; /* kHz or per cent */
};

/* What [domain] sets for every domain, and [domain policyN] for one. */
struct policy_domain {
	struct policy_frequency min;
	struct policy_frequency max;
	uint32_t headroom_percent; /* 125: ask for a quarter more than is used */
	uint64_t rate_limit_ns;	   /* least time between two writes; 0: from the driver's latency */
	uint64_t down_hold_ns;	   /* how long less must be wanted before less is given */
};

/* Which fields a [domain policyN] section gives; the others come from [domain]. */
enum policy_domain_field {
	POLICY_DOMAIN_MIN = 1 << 0,
	POLICY_DOMAIN_MAX = 1 << 1,
	POLICY_DOMAIN_HEADROOM = 1 << 2,
	POLICY_DOMAIN_RATE_LIMIT = 1 << 3,
	POLICY_DOMAIN_DOWN_HOLD = 1 << 4,
};

struct policy_domain_override {
	char name[DOMAIN_NAME_SIZE];
	uint32_t given; /* enum policy_domain_field */
	struct policy_domain values;
};

struct policy_io_boost {
	bool enabled;
	uint32_t min_rate_per_s; /* I/O waits or requests per second that make a task eligible */
	uint64_t window_ns;	 /* over which the rate is taken */
	uint64_t hold_ns;	 /* the lease: how long after its last I/O a task keeps its boost */
	uint32_t slack_percent;	 /* of the throughput at the highest OPP that may be given up */
	uint32_t min_host_percent; /* of the time of an I/O: with less, the device is what it waits
				      for */
	uint64_t check_window_ns;  /* the longest time to tell whether a boost pays */
	uint64_t backoff_min_ns;   /* the pause after a boost that did not pay; doubles … */
	uint64_t backoff_max_ns;   /* … up to this */
};

/* Whom the query socket answers. */
enum policy_readers {
	POLICY_READERS_EVERYONE,
	POLICY_READERS_GROUP, /* of read_group and change_group, and root */
};

#define POLICY_GROUP_NONE UINT32_MAX /* as a gid */

struct policy_query {
	enum policy_readers readers;
	uint32_t read_group;   /* gid: sees other users' command lines */
	uint32_t change_group; /* gid: may change what the daemon does, and sees everything */
	uint32_t max_clients;
	uint32_t max_message_bytes;
	uint64_t client_timeout_ns; /* to complete a request, or to read a reply */
};

struct policy {
	enum policy_backend backend;
	uint32_t max_tasks;	/* size of the task table; takes effect at start */
	uint32_t max_decisions; /* remembered decisions; takes effect at start */
	struct policy_domain domain;
	struct policy_domain_override overrides[POLICY_OVERRIDES_MAX];
	uint32_t n_overrides;
	struct policy_io_boost io_boost;
	struct policy_query query;
};

/* The built-in policy: what an empty file means. */
void policy_init(struct policy *policy);

/* What holds for the domain called name: its own section over [domain]. */
void policy_domain_for(const struct policy *policy, const char *name, struct policy_domain *ret);
