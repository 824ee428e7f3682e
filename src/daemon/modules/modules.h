/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The modules that are one file each: their states, and what the methods of the socket ask of them.
 * Each file begins with what its module does.
 */

#include "actuator/affinities.h"
#include "actuator/discovery.h"
#include "actuator/uclamps.h"
#include "core/pid_index.h"
#include "core/placement.h"
#include "daemon/module.h"
#include "record/record.h"

struct call;
struct reply;

/* clamps.c */
struct clamps {
	struct core *core;
	struct uclamps *tasks;
	uint64_t n_escapes;	  /* of tasks that set their clamps above their cap */
	uint64_t escaped_ns;	  /* when a task last did so */
	uint32_t classes_version; /* of the clamp classes that the tracer has */
	uint64_t refused_rules;	  /* those of which a kernel thread's refusal was logged */
	bool goes_on;		  /* more tasks' clamps have changed than one round applies */
};

/* hand_back.c */
struct hand_back {
	struct core *core; /* which has the end, handed_back_until_ns */
	struct channel channel;
	char governor[CONTROL_VALUE_SIZE]; /* "": the governor of before */
};

/* The longest time: a client that hangs must not leave the machine ungoverned. */
#define HAND_BACK_MAX_US (3600ULL * 1000000)

/*
 * governor NULL means those from before us. Returns 0; -ENODEV where no domain is driven; -EINVAL
 * where one does not offer the governor; or another negative errno. On failure nothing is changed.
 */
int hand_back_start(struct hand_back *hand_back, const char *governor, uint64_t for_us);

/* idle_latency.c */
struct idle_latency {
	struct core *core;
	bool wanted;	  /* a rule gives one */
	bool warned;	  /* the warning that it has no effect here was given */
	int error;	  /* why the device could not be held, as a negative errno; 0: it could */
	int fd;		  /* of the device, while held_us is held; 0: it is not open */
	uint32_t held_us; /* POLICY_IDLE_LATENCY_NONE: nothing is held */
	uint64_t next_ns; /* when to see whether such tasks still work */
};

#define IDLE_LATENCY_DEVICE "/dev/cpu_dma_latency"

/* The reason why an idle latency has no effect here, as a clause; NULL: it may have one. */
const char *idle_latency_why_not(const struct idle_latency *idle);

/* own_clock.c */
struct own_clock {
	struct core *core;
	uint32_t n_seen;	/* measurements of this trial that say so */
	uint64_t trial_ends_ns; /* 0: nothing was measured in it yet */
	uint64_t length_ns;	/* of the next rest */
	uint64_t again_ns;	/* none begins before */
};

/* Ends a rest, as for a client that wants to hand the domains back itself. */
void own_clock_end(struct own_clock *own);

/*
 * placing.c: placement (core/placement.h). A group has the tasks that one rule places and that have
 * the same hint or, without a hint, are in the same cgroup.
 */
struct placed_group {
	uint64_t key; /* number of the hint or the cgroup; 0: free */
	char rule[POLICY_NAME_SIZE];
	uint32_t n_tasks;
	uint32_t n_in[PLACEMENT_CACHES_MAX]; /* number of tasks by their cache */
	struct placement placement;
};

struct placed_task {
	uint32_t pid;
	uint32_t group;
	uint32_t cache; /* to which it was spread, until that is released */
};

struct placing {
	struct core *core;
	bool wanted; /* a rule or class places tasks */
	struct caches caches;
	uint32_t n_cpus[PLACEMENT_CACHES_MAX]; /* online, by cache */
	uint64_t online;		       /* caches, as bits, that have any */
	struct affinities *affinities;
	struct pid_index *index;
	struct placed_task *tasks;
	struct placed_group groups[PLACEMENT_GROUPS_MAX];
	bool refused;	      /* the kernel refused, which was logged */
	bool handed_back;     /* so no task is kept now */
	uint64_t stranded_ns; /* when engine_find_stranded() last found none */
};

/* The reason why no task can be placed here, as a clause; NULL: tasks can be placed. */
const char *placing_why_not(const struct placing *placing);

/* Whether tasks of the group are kept to a cache now. */
static inline bool placing_holds(const struct placing *placing, const struct placed_group *group)
{
	return group->placement.held && !placing->handed_back;
}

/* Why they are, or are not, as a clause. */
const char *placing_group_why(const struct placing *placing, const struct placed_group *group);

/* recording.c */
struct recording {
	struct core *core;
	struct channel channel;	   /* blocks, to the client of Record */
	struct recorder *recorder; /* NULL while nothing is recorded */
	uint64_t max_bytes;
	uint64_t flushed_ns;
};

#define RECORDING_BYTES_LEAST	(1ULL << 20)
#define RECORDING_BYTES_DEFAULT (64ULL << 20)

/*
 * Starts a recording of up to max_bytes: replaces the engine by one that continues its state. The
 * channel must have its subscriber. Writes the first reply of io.wakegov.Record. Returns 0, or a
 * negative errno with nothing changed.
 */
int recording_start(struct recording *recording, uint64_t max_bytes, struct reply *reply);

/* Ends the recording, if any. why: a word for the client. */
void recording_stop(struct recording *recording, const char *why);

/* saturation.c */
struct saturation {
	struct core *core;
	uint64_t next_ns;  /* next look; 0: no domain, or not every one, is kept full */
	uint64_t again_ns; /* after an end: when it may begin again */
	uint64_t round_ns; /* when a round is due for it */
};

/* watching.c */
struct watching {
	struct core *core;
	uint64_t until_ns; /* a client asked: it is traced until then … */
	uint64_t since_ns; /* … and since then; 0: it is not */
};

/* A client asks for what is traced now. Attaches the programs, if they are not. */
void watching_ask(struct watching *watching);

/* ../api/monitor.c */
struct monitor {
	struct core *core;
	struct channel channel;
	bool has_listener; /* at the last round */
};

/* The method. */
int monitor_subscribe(const struct call *call, struct reply *reply);

extern const struct module clamps_module, hand_back_module, idle_latency_module, monitor_module,
	own_clock_module, placing_module, recording_module, saturation_module, watching_module;
