// SPDX-License-Identifier: GPL-2.0-only
/* The list of governors, and those that only set a frequency once. */
#include "sim/governor.h"

#include <string.h>

#include "sim/schedutil.h"

static int start_performance(struct sim *sim, const uint32_t *fixed_khz)
{
	for (uint32_t i = 0; i < sim->platform->n_domains; i++)
		sim_request_khz(sim, i, platform_max_khz(&sim->platform->domains[i]));
	return 0;
}

static int start_powersave(struct sim *sim, const uint32_t *fixed_khz)
{
	return 0; /* a machine starts at its lowest OPPs */
}

static int start_fixed(struct sim *sim, const uint32_t *fixed_khz)
{
	for (uint32_t i = 0; i < sim->platform->n_domains; i++)
		sim_request_khz(sim, i, fixed_khz[i]);
	return 0;
}

static const struct sim_governor performance = {
	.name = "performance",
	.summary = "the highest OPPs",
	.start = start_performance,
};

static const struct sim_governor powersave = {
	.name = "powersave",
	.summary = "the lowest OPPs",
	.start = start_powersave,
};

const struct sim_governor sim_governor_fixed = {
	.name = "best-fixed",
	.summary = "an oracle: of all fixed OPPs the slowest that give 98 % of the most I/O",
	.start = start_fixed,
};

const struct sim_governor *const sim_governors[] = {
	&performance,
	&powersave,
	&sim_governor_schedutil,
	&sim_governor_schedutil_no_boost,
	&sim_governor_schedutil_raw,
	&sim_governor_wakegov,
	&sim_governor_fixed,
	NULL,
};

const struct sim_governor *sim_governor_find(const char *name)
{
	for (int i = 0; sim_governors[i]; i++)
		if (!strcmp(sim_governors[i]->name, name))
			return sim_governors[i];
	return NULL;
}
