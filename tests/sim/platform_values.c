// SPDX-License-Identifier: GPL-2.0-only
#include "sim/platform_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/error.h"
#include "shared/cleanup.h"
#include "sim/keys.h"

#define OPP_KHZ_MAX 10000000
#define OPP_MV_MAX  3000

int platform_store_order(struct platform_scheduler *scheduler, const char *text, char **ret_message)
{
	scheduler->small_first = !strcmp(text, "small-first");
	if (scheduler->small_first || !strcmp(text, "best-first"))
		return 0;
	return sim_refuse(ret_message,
			  "new-threads: found '%s', expected best-first or small-first", text);
}

/* A number below PLATFORM_CPUS_MAX; *text is moved behind it. */
static int read_cpu(const char **text, uint32_t *ret)
{
	uint32_t cpu = 0;
	const char *c;

	for (c = *text; *c >= '0' && *c <= '9'; c++) {
		cpu = cpu * 10 + *c - '0';
		if (cpu >= PLATFORM_CPUS_MAX)
			return -EINVAL;
	}
	if (c == *text)
		return -EINVAL;
	*text = c;
	*ret = cpu;
	return 0;
}

int platform_parse_cpus(const char *text, uint64_t *ret)
{
	uint64_t cpus = 0;

	for (;;) {
		uint32_t first, last;

		if (read_cpu(&text, &first) < 0)
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (read_cpu(&text, &last) < 0 || last < first)
				return -EINVAL;
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			cpus |= 1ULL << cpu;
		if (!*text)
			break;
		if (*text++ != ',')
			return -EINVAL;
	}
	*ret = cpus;
	return 0;
}

int platform_store_cpus(struct platform *platform, struct platform_domain *domain, const char *text,
			char **ret_message)
{
	if (platform_parse_cpus(text, &domain->cpus) < 0)
		return sim_refuse(ret_message,
				  "cpus: found '%s', expected CPUs from 0 to %d such as 0-3 or 0,2",
				  text, PLATFORM_CPUS_MAX - 1);
	for (uint32_t i = 0; i < platform->n_domains; i++)
		if (&platform->domains[i] != domain && platform->domains[i].cpus & domain->cpus)
			return sim_refuse(ret_message,
					  "cpus: found '%s', expected CPUs that are not in [domain "
					  "%s] already",
					  text, platform->domains[i].name);
	return 0;
}

static int parse_opp(const char *text, struct platform_opp *ret)
{
	_cleanup_free_ char *khz_text = strndup(text, strcspn(text, " \t"));
	uint64_t khz, mv;

	if (!khz_text)
		return -ENOMEM;
	text += strlen(khz_text);
	text += strspn(text, " \t");
	if (policy_units_parse(&policy_units_frequency, khz_text, &khz) < 0 ||
	    policy_units_parse(&sim_units_voltage, text, &mv) < 0 || khz == 0 ||
	    khz > OPP_KHZ_MAX || mv == 0 || mv > OPP_MV_MAX)
		return -EINVAL;
	*ret = (struct platform_opp){ .khz = khz, .mv = mv };
	return 0;
}

int platform_store_opp(struct platform_domain *domain, const char *text, char **ret_message)
{
	struct platform_opp opp;
	if (parse_opp(text, &opp) < 0)
		return sim_refuse(ret_message,
				  "opp: found '%s', expected a frequency up to 10GHz and a voltage "
				  "up to 3V, such as 408MHz 825mV",
				  text);
	if (domain->n_opps && opp.khz <= platform_max_khz(domain))
		return sim_refuse(
			ret_message,
			"opp: found '%s', expected a frequency over that of the OPP before", text);
	if (domain->n_opps == DOMAIN_OPPS_MAX)
		return sim_refuse(ret_message, "opp: found one more, expected at most %d",
				  DOMAIN_OPPS_MAX);
	domain->opps[domain->n_opps++] = opp;
	return 0;
}

int platform_store_interrupt(struct platform_device *device, const char *text, char **ret_message)
{
	const char *end = text;
	device->interrupt_cpu = PLATFORM_SUBMITTER;
	if (!strcmp(text, "submitter"))
		return 0;
	if (read_cpu(&end, &device->interrupt_cpu) == 0 && !*end)
		return 0;
	return sim_refuse(ret_message,
			  "interrupt: found '%s', expected submitter or a CPU from 0 to %d", text,
			  PLATFORM_CPUS_MAX - 1);
}

int platform_check_spell(const char *name, const struct platform_spell *spell, char **ret_message)
{
	if (!spell->every_ns == !spell->for_ns &&
	    (!spell->every_ns || spell->for_ns < spell->every_ns))
		return 0;
	return sim_refuse(ret_message, "expected both %s-every and %s-for, and %s-for to be less",
			  name, name, name);
}

static uint64_t speed_of(const struct platform_domain *domain)
{
	return (uint64_t)platform_max_khz(domain) * domain->work_permille;
}

/* Where none is given: 1024 for the CPU that does the most work at its highest OPP. */
static void set_capacities(struct platform *platform)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < platform->n_domains; i++)
		if (speed_of(&platform->domains[i]) > most)
			most = speed_of(&platform->domains[i]);
	for (uint32_t i = 0; i < platform->n_domains; i++) {
		struct platform_domain *domain = &platform->domains[i];

		if (!domain->capacity)
			domain->capacity = speed_of(domain) * TOPOLOGY_CAPACITY_MAX / most;
		if (!domain->capacity)
			domain->capacity = 1;
	}
}

static void set_rate_limits(struct platform *platform)
{
	for (uint32_t i = 0; i < platform->n_domains; i++) {
		struct platform_domain *domain = &platform->domains[i];

		if (domain->schedutil_rate_limit_ns)
			continue;
		/* The kernel's default: 1.5 times the transition latency, else 1 ms. */
		domain->schedutil_rate_limit_ns = domain->transition_latency_ns * 3 / 2;
		if (!domain->schedutil_rate_limit_ns)
			domain->schedutil_rate_limit_ns = 1000000;
	}
}

int platform_complete(struct platform *platform, const char *path, char **ret_message)
{
	struct policy_place place = { .file = path };
	uint64_t cpus = 0;

	if (!platform->costs.io_cycles || !platform->n_domains || !platform->n_devices)
		return policy_error_set(ret_message, -EINVAL, place,
					"expected io-cycles, a [domain NAME] and a [device NAME]");
	for (uint32_t i = 0; i < platform->n_domains; i++)
		if (!platform->domains[i].cpus || !platform->domains[i].n_opps)
			return policy_error_set(ret_message, -EINVAL, place,
						"[domain %s]: expected cpus and opp",
						platform->domains[i].name);
	for (uint32_t i = 0; i < platform->n_devices; i++)
		if (!platform->devices[i].channels)
			return policy_error_set(ret_message, -EINVAL, place,
						"[device %s]: expected channels",
						platform->devices[i].name);
	for (uint32_t i = 0; i < platform->n_domains; i++) {
		cpus |= platform->domains[i].cpus;
		for (uint32_t cpu = 0; cpu < PLATFORM_CPUS_MAX; cpu++)
			if (platform->domains[i].cpus >> cpu & 1)
				platform->cpu_domain[cpu] = i;
	}
	platform->n_cpus = __builtin_popcountll(cpus);
	if (cpus & (cpus + 1))
		return policy_error_set(ret_message, -EINVAL, place,
					"CPU %d is in no domain, expected CPUs without a gap from "
					"0 on",
					__builtin_ctzll(~cpus));
	for (uint32_t i = 0; i < platform->n_devices; i++)
		if (platform->devices[i].interrupt_cpu != PLATFORM_SUBMITTER &&
		    platform->devices[i].interrupt_cpu >= platform->n_cpus)
			return policy_error_set(ret_message, -EINVAL, place,
						"[device %s] interrupt: found CPU %u, expected one "
						"of 0 to %u",
						platform->devices[i].name,
						platform->devices[i].interrupt_cpu,
						platform->n_cpus - 1);
	set_capacities(platform);
	set_rate_limits(platform);
	return 0;
}
