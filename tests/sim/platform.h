/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The machine that is simulated: plain data, read from a file of conf/platforms. */

#include <stdbool.h>
#include <stdint.h>

#include "core/topology.h"

#define PLATFORM_CPUS_MAX    64
#define PLATFORM_DOMAINS_MAX 16
#define PLATFORM_DEVICES_MAX 4
#define PLATFORM_NAME_SIZE   16

struct platform_opp {
	uint32_t khz;
	uint32_t mv;
};

struct platform_domain {
	char name[DOMAIN_NAME_SIZE];
	uint64_t cpus; /* a bit per CPU */
	uint32_t n_opps;
	struct platform_opp opps[DOMAIN_OPPS_MAX]; /* ascending */
	uint32_t work_permille;			   /* work per cycle; 1000 on the best CPU */
	uint32_t capacitance_pf;		   /* κ of P = κ · V² · f, of one busy CPU */
	uint32_t static_uw;			   /* of one CPU at the highest voltage */
	uint64_t transition_latency_ns;		   /* until a new frequency is there */
	uint64_t schedutil_rate_limit_ns;
	uint32_t capacity; /* 1…1024 at the highest OPP, as the scheduler believes */
};

/* Comes once in each every_ns and lasts for_ns; every_ns 0: never. */
struct platform_spell {
	uint64_t every_ns;
	uint64_t for_ns;
};

struct platform_device {
	char name[PLATFORM_NAME_SIZE];
	uint64_t latency_ns; /* of each request, in parallel with others */
	uint64_t service_ns; /* of each request in its channel, one at a time */
	uint32_t channels;
	uint32_t variation_permille; /* coefficient of variation of service_ns */
	uint32_t max_rate_per_s;     /* 0: only the channels limit it */
	uint32_t interrupt_cpu;	     /* PLATFORM_SUBMITTER: where the request came from */
};

#define PLATFORM_SUBMITTER UINT32_MAX

/* What I/O costs a CPU, in cycles of the best CPU; a workload can give its own. */
struct platform_costs {
	uint32_t io_cycles;	     /* of each request: submission, completion, interrupt */
	uint32_t batch_cycles;	     /* of each return from a wait: system call, switch */
	uint32_t idle_exit_cycles;   /* of each end of idleness of a CPU */
	uint32_t interrupt_permille; /* of io_cycles: in the interrupt, the task may be off */
};

struct platform_scheduler {
	uint64_t tick_ns;
	uint64_t slice_ns;
	uint64_t wakeup_granularity_ns;
	bool small_first; /* new threads go to the CPUs of least capacity first */
};

struct platform {
	char name[PLATFORM_NAME_SIZE];
	uint32_t n_cpus;
	uint32_t n_domains;
	uint32_t n_devices;
	uint16_t cpu_domain[PLATFORM_CPUS_MAX];
	struct platform_domain domains[PLATFORM_DOMAINS_MAX];
	struct platform_device devices[PLATFORM_DEVICES_MAX];
	struct platform_costs costs;
	struct platform_scheduler scheduler;
};

/*
 * Reads a platform. Returns 0, or a negative errno with *ret untouched and *ret_message set to
 * "file:line: what was found, what was expected", which the caller frees; NULL if memory is short.
 */
int platform_load(const char *path, struct platform *ret, char **ret_message);

/* Reads "0-3" or "0,2,4-5" into a bit per CPU. Returns 0, or -EINVAL. */
int platform_parse_cpus(const char *text, uint64_t *ret);

/* Refuses one that is given in part, or that fills its period; name is that of its keys. */
int platform_check_spell(const char *name, const struct platform_spell *spell, char **ret_message);

static inline uint32_t platform_max_khz(const struct platform_domain *domain)
{
	return domain->opps[domain->n_opps - 1].khz;
}

/* Of a busy CPU at an OPP, as energy models have it: κ · V² · f, without the static power. */
static inline uint32_t platform_busy_uw(const struct platform_domain *domain, uint32_t opp)
{
	uint64_t mv = domain->opps[opp].mv;

	return domain->capacitance_pf * mv * mv / 1000 * domain->opps[opp].khz / 1000000;
}

static inline uint32_t platform_opp_at_or_above(const struct platform_domain *domain, uint32_t khz)
{
	uint32_t opp = 0;

	while (opp < domain->n_opps - 1 && domain->opps[opp].khz < khz)
		opp++;
	return opp;
}
