// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io_model.h"
#include "core/opp.h"
#include "daemon/history/past.h"
#include "daemon/process.h"
#include "shared/time.h"

#define CLOCK_READ_NS (60 * NS_PER_S)
#define DAY_NS	      (24 * 3600 * NS_PER_S)
#define DAY_LEAST     (STATS_DAYS + 1) /* before this day the clock was never set */

/* The boost of a domain of which the I/Os are counted. */
struct boosted {
	struct stats_key key;
	uint32_t group; /* IO_BOOST_NO_GROUP: none */
	uint64_t ios;	/* I/Os of the group at the last count */
	struct experiment_estimate found;
};

struct account {
	struct stats_time read;		 /* the clocks at the last read */
	uint64_t counted[IO_GROUPS_MAX]; /* I/Os of each group that were counted, for all domains */
	struct boosted domains[];
};

static void read_clock(struct stats_time *ret, uint64_t now_ns)
{
	struct tm here, date = { 0 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &here);
	date.tm_year = here.tm_year;
	date.tm_mon = here.tm_mon;
	date.tm_mday = here.tm_mday;
	ret->now_ns = now_ns;
	ret->day = (int32_t)(timegm(&date) * NS_PER_S / DAY_NS);
	if (ret->day < DAY_LEAST)
		ret->day = DAY_LEAST;
	ret->of_day_ns = (here.tm_hour * 3600ULL + here.tm_min * 60ULL + here.tm_sec) * NS_PER_S +
			 now.tv_nsec;
}

struct account *account_new(const struct topology *topology)
{
	struct account *account =
		calloc(1, sizeof(*account) + topology->n_domains * sizeof(account->domains[0]));

	if (!account)
		return NULL;
	read_clock(&account->read, time_now_ns());
	for (uint32_t i = 0; i < topology->n_domains; i++)
		account->domains[i].group = IO_BOOST_NO_GROUP;
	return account;
}

struct account *account_free(struct account *account)
{
	free(account);
	return NULL;
}

struct stats_time account_time(struct account *account, uint64_t now_ns)
{
	struct stats_time time = account->read;
	uint64_t since_ns = now_ns - time.now_ns;

	if (since_ns >= CLOCK_READ_NS || time.of_day_ns + since_ns >= DAY_NS) {
		read_clock(&account->read, now_ns);
		return account->read;
	}
	time.now_ns = now_ns;
	time.of_day_ns += since_ns;
	return time;
}

/* Counts the I/Os of the group's tasks since the last count, if it is still the same group. */
static void count_ios(struct past *past, uint32_t domain, const struct stats_time *time)
{
	struct account *account = past->account;
	struct boosted *boosted = &account->domains[domain];
	const struct io_group *group = engine_group(past->core->engine, boosted->group);
	uint64_t from, n, whole;

	if (!group)
		return;
	/* Another group has this index now. */
	if (account->counted[boosted->group] > group->tally.ios)
		account->counted[boosted->group] = 0;
	from = boosted->ios;
	if (account->counted[boosted->group] > from)
		from = account->counted[boosted->group];
	n = group->tally.ios > from ? group->tally.ios - from : 0;
	account->counted[boosted->group] = boosted->ios = group->tally.ios;
	if (!n)
		return;
	/* Of 1 + gain, this part is the gain. */
	whole = IO_PPM + (boosted->found.gain_ppm > 0 ? (uint32_t)boosted->found.gain_ppm : 0);
	stats_add_ios(past->stats, &boosted->key,
		      &(struct stats_sums){
			      .ios = n,
			      .gained = n * (whole - IO_PPM) / whole,
			      .gained_error = n * boosted->found.error_ppm / whole,
		      },
		      time);
}

/* The highest demand by that reason (is), or by any other; 0: none. */
static uint32_t highest_cap(const struct explanation *rests_on, enum reason reason, bool is)
{
	for (uint32_t i = 0; i < rests_on->n_contenders && i < EXPLANATION_CONTENDERS_MAX; i++)
		if ((rests_on->contenders[i].reason == reason) == is)
			return rests_on->contenders[i].cap;
	return 0;
}

static uint32_t khz_for(const struct core *core, uint32_t domain, uint32_t cap)
{
	const struct topology_domain *info = &core->topology->domains[domain];
	uint32_t min_khz, max_khz;

	engine_limits(core->engine, domain, &min_khz, &max_khz);
	return opp_at_or_above(info, opp_khz_for_cap(info, cap), min_khz, max_khz);
}

static void explain_boost(struct past *past, const struct decision *decision,
			  struct stats_effect *ret)
{
	const struct core *core = past->core;
	const struct explanation *rests_on = engine_explanation(core->engine, decision->domain);
	const struct io_task *task = io_task_find(engine_tasks(core->engine), decision->pid);
	struct boosted *boosted = &past->account->domains[decision->domain];
	const struct io_group *group = task ? engine_group(core->engine, task->io_boost.group)
					    : NULL;

	ret->key.kind = STATS_IO_BOOST;
	snprintf(ret->key.name, sizeof(ret->key.name), "%s", decision->comm);
	if (tracer_device_name(core->tracer, rests_on->io.device, ret->key.device) < 0)
		ret->key.device[0] = '\0';
	ret->without_khz = khz_for(core, decision->domain,
				   highest_cap(rests_on, REASON_IO_BOOST, false));
	if (!group || !rests_on->io.tried)
		return;
	if (group->experiment.on_level && group->experiment.off_level)
		ret->without_khz = (uint64_t)decision->target_khz * group->experiment.off_level /
				   group->experiment.on_level;
	*boosted = (struct boosted){ .key = ret->key,
				     .group = task->io_boost.group,
				     .ios = group->tally.ios,
				     .found = rests_on->io.found };
}

static void explain_chain(const struct core *core, const struct decision *decision,
			  struct stats_effect *ret)
{
	const struct explanation *rests_on = engine_explanation(core->engine, decision->domain);

	ret->key.kind = STATS_CHAIN;
	snprintf(ret->key.name, sizeof(ret->key.name), "%s", decision->comm);
	ret->without_khz = khz_for(core, decision->domain,
				   highest_cap(rests_on, REASON_CHAIN, false));
}

/* A cap or floor without a rule is a task's own clamp. */
static void explain_clamp(const struct core *core, const struct decision *decision,
			  enum stats_kind kind, uint32_t without_cap, struct stats_effect *ret)
{
	const char *rule = engine_explanation(core->engine, decision->domain)->rule.name;

	ret->key.kind = kind;
	snprintf(ret->key.name, sizeof(ret->key.name), "%s", rule[0] ? rule : "own");
	ret->without_khz = khz_for(core, decision->domain, without_cap);
}

/* The target of the governor before wakegov: the highest, the lowest, or by utilisation. */
static void explain_domain(const struct core *core, const struct decision *decision,
			   struct stats_effect *ret)
{
	const struct explanation *rests_on = engine_explanation(core->engine, decision->domain);
	const struct governed *governed = &core->domains[decision->domain];
	uint32_t cap = highest_cap(rests_on, REASON_UTILISATION, true);

	if (!strcmp(governed->governor_before, "performance"))
		cap = UINT16_MAX;
	else if (!strcmp(governed->governor_before, "powersave") && !governed->driver_chooses)
		cap = 0;
	ret->key.kind = STATS_DOMAIN;
	snprintf(ret->key.name, sizeof(ret->key.name), "%s", governed->actuator.info->name);
	snprintf(ret->key.device, sizeof(ret->key.device), "%s", governed->governor_before);
	ret->without_khz = khz_for(core, decision->domain, cap);
}

void account_decided(void *state, const struct decision *decision)
{
	struct past *past = state;
	const struct explanation *rests_on = engine_explanation(past->core->engine,
								decision->domain);
	struct stats_time time = account_time(past->account, decision->now_ns);
	struct stats_cause cause = { .reason = decision->reason };

	count_ios(past, decision->domain, &time);
	past->account->domains[decision->domain].group = IO_BOOST_NO_GROUP;
	if (decision->reason == REASON_IO_BOOST)
		explain_boost(past, decision, &cause.effects[0]);
	else if (decision->reason == REASON_CHAIN)
		explain_chain(past->core, decision, &cause.effects[0]);
	else if (decision->reason == REASON_FLOOR || decision->reason == REASON_OWN_FLOOR)
		explain_clamp(past->core, decision, STATS_FLOOR,
			      highest_cap(rests_on, decision->reason, false), &cause.effects[0]);
	if (decision->limiter == LIMITER_CAP || decision->limiter == LIMITER_OWN_CAP)
		explain_clamp(past->core, decision, STATS_CAP, decision->want_cap,
			      &cause.effects[1]);
	explain_domain(past->core, decision, &cause.effects[STATS_EFFECTS - 1]);
	/* The past utilisation of an idle CPU would count for as long as it is idle. */
	if (decision->reason != REASON_IDLE)
		cause.work_cap = engine_work_cap(past->core->engine, decision->domain);
	stats_set_cause(past->stats, decision->domain, &cause, &time);
}

void account_target_set(void *state, uint32_t domain, uint32_t khz, uint64_t now_ns)
{
	struct past *past = state;
	struct stats_time time = account_time(past->account, now_ns);

	stats_set_target(past->stats, domain, khz, &time);
}

void account_powers_changed(void *state)
{
	struct past *past = state;
	const struct core *core = past->core;

	for (uint32_t i = 0; i < core->n_domains; i++) {
		const struct topology_domain *info = &core->topology->domains[i];

		/* The unit of the kernel's table is not known. */
		if (core->domains[i].power_source == POWER_POLICY)
			stats_set_power(past->stats, i, info->opp_power[info->n_opps - 1] / 1e6);
	}
}

struct stats_time account_catch_up(struct past *past)
{
	struct stats_time time = account_time(past->account, time_now_ns());

	for (uint32_t i = 0; i < past->core->n_domains; i++)
		count_ios(past, i, &time);
	stats_catch_up(past->stats, &time);
	return time;
}
