// SPDX-License-Identifier: GPL-2.0-only
/* SPECs: "psyncx4", "io_uring6x128:cycles=40000", groups joined by '+'. */
#include "sim/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/draft.h"
#include "config/error.h"
#include "shared/cleanup.h"
#include "sim/keys.h"

const char workload_help[] =
	"A SPEC is one or more groups of threads, joined by '+':\n"
	"  psyncxN         N threads, each with one request at a time\n"
	"  io_uringNxD     N threads, each with D requests in flight\n"
	"  libaioNxD       the same, but they never wait in io-wait\n"
	"  busyxN          N threads that only compute\n"
	"  chainNxD        N threads, each of which wakes the next, and the last the first, when it\n"
	"                  has done its turn of a piece of work; D pieces: a client and its servers, or\n"
	"                  a pipeline\n"
	"  forkxN          a thread that forks children, and waits while there are N of them; a child\n"
	"                  does its work and ends: a shell with its commands, or make\n"
	"each with ':' and KEY=VALUE, joined by ',', where wanted:\n"
	"  threads, depth  as above\n"
	"  cycles          of the best CPU per I/O, round of a busy thread, turn of a chain's, or child\n"
	"  first-cycles    of the first of a chain, or before each child, default as the others\n"
	"  batch-cycles    for each return from a wait\n"
	"  think           sleep before each batch, or after each round: 1ms\n"
	"  period          a busy thread's round, or a chain's, begins so long after the last one did\n"
	"  look            a chain's thread that was woken waits so long, and takes the work over while the\n"
	"                  one that woke it goes on, as Go's threads do: 3us\n"
	"  cpus            where they may run: 4-5; joined by '/': 0/2-3\n"
	"  device          its NAME in the platform file, default the first\n"
	"  flush-every, flush-for          the devices start nothing for a time: 1s, 20ms\n"
	"  thermal-every, thermal-for, thermal-limit   frequencies are limited: 5s, 1s, 60%\n";

enum section { SECTION_GROUP, SECTION_WORKLOAD };

#define GROUP(name, units, least, most, field) \
	SIM_KEY(SECTION_GROUP, name, units, least, most, struct workload_group, field)
#define WHOLE(name, units, least, most, field) \
	SIM_KEY(SECTION_WORKLOAD, name, units, least, most, struct workload, field)

/* clang-format off */
static const struct sim_key keys[] = {
	GROUP("threads", &policy_units_none, "1", "1024", threads),
	GROUP("depth", &policy_units_none, "1", "1024", depth),
	GROUP("cycles", &policy_units_none, "1", "1000000000", cycles),
	GROUP("first-cycles", &policy_units_none, "1", "1000000000", first_cycles),
	GROUP("batch-cycles", &policy_units_none, "0", "1000000000", batch_cycles),
	GROUP("think", &policy_units_duration, "0ns", "60s", think_ns),
	GROUP("period", &policy_units_duration, "0ns", "60s", period_ns),
	GROUP("look", &policy_units_duration, "0ns", "60s", look_ns),
	WHOLE("flush-every", &policy_units_duration, "1ms", "60s", flush.every_ns),
	WHOLE("flush-for", &policy_units_duration, "1us", "60s", flush.for_ns),
	WHOLE("thermal-every", &policy_units_duration, "1ms", "60s", thermal.every_ns),
	WHOLE("thermal-for", &policy_units_duration, "1us", "60s", thermal.for_ns),
	WHOLE("thermal-limit", &policy_units_share, "1%", "100%", thermal_percent),
};
/* clang-format on */

static const char *const engine_names[] = {
	[WORKLOAD_PSYNC] = "psync", [WORKLOAD_IO_URING] = "io_uring", [WORKLOAD_LIBAIO] = "libaio",
	[WORKLOAD_BUSY] = "busy",   [WORKLOAD_CHAIN] = "chain",	      [WORKLOAD_FORK] = "fork",
};

static bool has_depth(const struct workload_group *group)
{
	return group->engine == WORKLOAD_IO_URING || group->engine == WORKLOAD_LIBAIO ||
	       group->engine == WORKLOAD_CHAIN;
}

static int store(const char *name, const char *value, struct workload *workload,
		 struct workload_group *group, char **ret_message)
{
	for (int section = SECTION_GROUP; section <= SECTION_WORKLOAD; section++) {
		const struct sim_key *key = sim_key_find(keys, ARRAY_SIZE(keys), section, name);
		void *base = section == SECTION_GROUP ? (void *)group : workload;

		if (key)
			return sim_key_store(key, base, value, ret_message);
	}
	return sim_refuse(
		ret_message,
		"found the key '%s', expected threads, depth, cycles, first-cycles, "
		"batch-cycles, think, period, look, cpus, device, flush-every, flush-for, thermal-every, "
		"thermal-for or thermal-limit",
		name);
}

static int store_cpus(char *value, const struct platform *platform, struct workload_group *group,
		      char **ret_message)
{
	for (char *c = value; *c; c++)
		if (*c == '/')
			*c = ',';
	if (platform_parse_cpus(value, &group->cpus) == 0 &&
	    (platform->n_cpus == PLATFORM_CPUS_MAX || !(group->cpus >> platform->n_cpus)))
		return 0;
	return sim_refuse(ret_message, "cpus: found '%s', expected CPUs from 0 to %u such as 0/2-3",
			  value, platform->n_cpus - 1);
}

static int store_device(const char *value, const struct platform *platform,
			struct workload_group *group, char **ret_message)
{
	for (uint32_t i = 0; i < platform->n_devices; i++)
		if (!strcmp(platform->devices[i].name, value)) {
			group->device = i;
			return 0;
		}
	return sim_refuse(ret_message,
			  "device: found '%s', expected one of the platform file, such as %s",
			  value, platform->devices[0].name);
}

static int parse_option(char *option, const struct platform *platform, struct workload *workload,
			struct workload_group *group, char **ret_message)
{
	char *value = strchr(option, '=');

	if (!value)
		return sim_refuse(ret_message, "found '%s', expected KEY=VALUE", option);
	*value++ = '\0';
	if (!strcmp(option, "cpus"))
		return store_cpus(value, platform, group, ret_message);
	if (!strcmp(option, "device"))
		return store_device(value, platform, group, ret_message);
	return store(option, value, workload, group, ret_message);
}

/* The numbers behind the engine's name: "x4" or "6x128". */
static int parse_numbers(char *text, struct workload_group *group, char **ret_message)
{
	char *x = strchr(text, 'x');
	struct workload whole;
	int r;

	if (!*text)
		return 0;
	if (!x || (x == text) == has_depth(group))
		return sim_refuse(ret_message, "found '%s%s', expected %s%s",
				  engine_names[group->engine], text, engine_names[group->engine],
				  has_depth(group) ? "THREADSxDEPTH" : "xTHREADS");
	*x++ = '\0';
	if (!has_depth(group))
		return store("threads", x, &whole, group, ret_message);
	r = store("threads", text, &whole, group, ret_message);
	if (r < 0)
		return r;
	return store("depth", x, &whole, group, ret_message);
}

static int parse_engine(char *text, struct workload_group *group, char **ret_message)
{
	for (size_t i = 0; i < ARRAY_SIZE(engine_names); i++) {
		size_t length = strlen(engine_names[i]);

		if (strncmp(text, engine_names[i], length) != 0)
			continue;
		group->engine = i;
		return parse_numbers(text + length, group, ret_message);
	}
	return sim_refuse(ret_message,
			  "found '%s', expected psync, io_uring, libaio, busy, chain or fork",
			  text);
}

static int check_group(struct workload_group *group, char **ret_message)
{
	if (!has_depth(group) && group->depth != 1)
		return sim_refuse(ret_message, "depth: found %u, expected 1 for %s", group->depth,
				  engine_names[group->engine]);
	if (group->engine == WORKLOAD_BUSY || group->engine == WORKLOAD_FORK)
		group->depth = 0;
	if (group->engine == WORKLOAD_FORK)
		group->threads++; /* who waits for them */
	if (!group->first_cycles)
		group->first_cycles = group->cycles;
	return 0;
}

static int parse_group(char *text, const struct platform *platform, struct workload *workload,
		       char **ret_message)
{
	struct workload_group *group = &workload->groups[workload->n_groups];
	char *options = strchr(text, ':'), *option;
	int r;

	if (workload->n_groups == WORKLOAD_GROUPS_MAX)
		return sim_refuse(ret_message, "found one more group, expected at most %d",
				  WORKLOAD_GROUPS_MAX);
	*group = (struct workload_group){
		.threads = 1,
		.depth = 1,
		.cpus = UINT64_MAX >> (PLATFORM_CPUS_MAX - platform->n_cpus),
		.cycles = platform->costs.io_cycles,
		.batch_cycles = platform->costs.batch_cycles,
	};
	workload->n_groups++;
	if (options)
		*options++ = '\0';
	r = parse_engine(text, group, ret_message);
	while (r == 0 && (option = strsep(&options, ",")))
		r = parse_option(option, platform, workload, group, ret_message);
	if (r < 0)
		return r;
	return check_group(group, ret_message);
}

static int check_whole(const struct workload *workload, char **ret_message)
{
	uint32_t threads = 0;
	int r;

	for (uint32_t i = 0; i < workload->n_groups; i++)
		threads += workload->groups[i].threads;
	if (threads > WORKLOAD_THREADS_MAX)
		return sim_refuse(ret_message, "found %u threads, expected at most %d", threads,
				  WORKLOAD_THREADS_MAX);
	r = platform_check_spell("flush", &workload->flush, ret_message);
	if (r < 0)
		return r;
	return platform_check_spell("thermal", &workload->thermal, ret_message);
}

int workload_parse(const char *text, const struct platform *platform, struct workload *ret,
		   char **ret_message)
{
	struct workload workload = { .thermal_percent = 60 };
	char copy[WORKLOAD_TEXT_SIZE], *groups = copy, *group;
	int r = 0;

	if (strlen(text) >= sizeof(copy) || policy_text_find_bad_byte(text, strlen(text)))
		return sim_refuse(ret_message, "expected a SPEC of at most %d characters",
				  WORKLOAD_TEXT_SIZE - 1);
	strcpy(workload.text, text);
	strcpy(copy, text);
	while (r == 0 && (group = strsep(&groups, "+")))
		r = parse_group(group, platform, &workload, ret_message);
	if (r == 0)
		r = check_whole(&workload, ret_message);
	if (r == 0)
		*ret = workload;
	return r;
}
