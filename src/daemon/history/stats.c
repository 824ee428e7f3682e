// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/stats.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frequency/power.h"
#include "shared/time.h"

#define REASONS (REASON_LAST + 1)

struct held {
	uint32_t khz; /* 0: no time is counted */
	uint32_t opp; /* index of the OPP, or that for "no OPP" */
	uint64_t since_ns;
	struct stats_cause cause;
	double highest_w; /* power of a busy CPU at its highest OPP */
};

struct stats_period {
	int32_t day;
	uint32_t n_rows;
	struct stats_row rows[STATS_ROWS_MAX];
	uint64_t *opp_ns; /* by domain, OPP and reason */
};

struct stats {
	const struct topology *topology;
	uint64_t decisions[REASONS];
	uint64_t limits[LIMITER_LAST + 1];
	struct stats_period *start;
	struct stats_period *days[STATS_DAYS];
	uint32_t n_cells;
	uint32_t *first_cell; /* first cell of each domain */
	struct held *domains;
};

static struct stats_period *new_period(const struct stats *stats)
{
	struct stats_period *period = calloc(1, sizeof(*period));

	if (!period)
		return NULL;
	period->opp_ns = calloc(stats->n_cells + 1, sizeof(uint64_t));
	return period->opp_ns ? period : stats_period_free(period);
}

struct stats_period *stats_period_free(struct stats_period *period)
{
	if (period)
		free(period->opp_ns);
	free(period);
	return NULL;
}

struct stats *stats_new(const struct topology *topology)
{
	struct stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return NULL;
	stats->topology = topology;
	stats->domains = calloc(topology->n_domains + 1, sizeof(*stats->domains));
	stats->first_cell = calloc(topology->n_domains + 1, sizeof(*stats->first_cell));
	if (!stats->domains || !stats->first_cell)
		return stats_free(stats);
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		stats->domains[i].highest_w = 1;
		stats->first_cell[i] = stats->n_cells;
		stats->n_cells += topology->domains[i].n_opps * REASONS;
	}
	stats->start = new_period(stats);
	for (uint32_t i = 0; i < STATS_DAYS; i++) {
		stats->days[i] = new_period(stats);
		if (!stats->start || !stats->days[i])
			return stats_free(stats);
	}
	return stats;
}

struct stats *stats_free(struct stats *stats)
{
	if (!stats)
		return NULL;
	stats_period_free(stats->start);
	for (uint32_t i = 0; i < STATS_DAYS; i++)
		stats_period_free(stats->days[i]);
	free(stats->domains);
	free(stats->first_cell);
	free(stats);
	return NULL;
}

static int grow_period(struct stats_period *period, uint32_t n_cells)
{
	uint64_t *cells = realloc(period->opp_ns, n_cells * sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	period->opp_ns = cells;
	return 0;
}

static void insert_cells(struct stats_period *period, uint32_t at, uint32_t n_cells)
{
	uint64_t *cell = &period->opp_ns[at];

	memmove(cell + REASONS, cell, (n_cells - at) * sizeof(*cell));
	memset(cell, 0, REASONS * sizeof(*cell));
}

int stats_add_opp(struct stats *stats, uint32_t domain)
{
	uint32_t n_opps = stats->topology->domains[domain].n_opps;
	uint32_t at = stats->first_cell[domain] + n_opps * REASONS;
	struct held *held = &stats->domains[domain];
	int r = grow_period(stats->start, stats->n_cells + REASONS);

	for (uint32_t i = 0; i < STATS_DAYS && r == 0; i++)
		r = grow_period(stats->days[i], stats->n_cells + REASONS);
	if (r < 0)
		return r;
	insert_cells(stats->start, at, stats->n_cells);
	for (uint32_t i = 0; i < STATS_DAYS; i++)
		insert_cells(stats->days[i], at, stats->n_cells);
	for (uint32_t i = domain + 1; i < stats->topology->n_domains; i++)
		stats->first_cell[i] += REASONS;
	stats->n_cells += REASONS;
	if (held->opp == n_opps) /* no OPP */
		held->opp++;
	return 0;
}

double stats_power_share(const struct topology_domain *domain, uint32_t khz, uint32_t work_cap)
{
	double highest_khz = topology_domain_max_khz(domain);
	double work = (double)work_cap / domain->capacity; /* in CPUs at the highest OPP */

	/* The same work takes longer at a lower frequency, in this ratio. */
	return work * highest_khz / khz * energy_share_in(domain, khz);
}

/* The last row takes everything for which there is no room. */
static struct stats_row *find_row(struct stats_period *period, const struct stats_key *key)
{
	static const struct stats_key others = { STATS_OTHERS, "others", "" };
	struct stats_row *row;

	for (uint32_t i = 0; i < period->n_rows; i++) {
		const struct stats_key *other = &period->rows[i].key;

		if (other->kind == key->kind && !strcmp(other->name, key->name) &&
		    !strcmp(other->device, key->device))
			return &period->rows[i];
	}
	if (period->n_rows == STATS_ROWS_MAX)
		return &period->rows[STATS_ROWS_MAX - 1];
	row = &period->rows[period->n_rows++];
	row->key = period->n_rows == STATS_ROWS_MAX ? others : *key;
	return row;
}

void stats_add_sums(struct stats_sums *sums, const struct stats_sums *more)
{
	sums->ns += more->ns;
	sums->spent_khz_ms += more->spent_khz_ms;
	sums->saved_khz_ms += more->saved_khz_ms;
	sums->spent_j += more->spent_j;
	sums->saved_j += more->saved_j;
	sums->ios += more->ios;
	sums->gained += more->gained;
	sums->gained_error += more->gained_error;
}

/* The period of the day, emptied if it held another day. */
static struct stats_period *period_of(struct stats *stats, int32_t day)
{
	struct stats_period *period = stats->days[day % STATS_DAYS];
	uint64_t *opp_ns = period->opp_ns;

	if (period->day == day)
		return period;
	memset(opp_ns, 0, stats->n_cells * sizeof(*opp_ns));
	*period = (struct stats_period){ .day = day, .opp_ns = opp_ns };
	return period;
}

static struct stats_sums sums_of(const struct stats *stats, uint32_t domain,
				 const struct stats_effect *effect, uint64_t ns)
{
	const struct topology_domain *info = &stats->topology->domains[domain];
	const struct held *held = &stats->domains[domain];
	struct stats_sums sums = { .ns = ns };
	double s = (double)ns / NS_PER_S;
	double change_w = held->highest_w *
			  (stats_power_share(info, held->khz, held->cause.work_cap) -
			   stats_power_share(info, effect->without_khz, held->cause.work_cap));

	if (held->khz > effect->without_khz)
		sums.spent_khz_ms = (held->khz - effect->without_khz) * (ns / NS_PER_US) / 1000;
	else
		sums.saved_khz_ms = (effect->without_khz - held->khz) * (ns / NS_PER_US) / 1000;
	if (change_w > 0)
		sums.spent_j = change_w * s;
	else
		sums.saved_j = -change_w * s;
	return sums;
}

static void add_interval(struct stats *stats, struct stats_period *period, uint32_t domain,
			 uint64_t ns)
{
	const struct held *held = &stats->domains[domain];
	const struct stats_effect *effect = held->cause.effects;

	if (held->opp < stats->topology->domains[domain].n_opps)
		period->opp_ns[stats->first_cell[domain] + held->opp * REASONS +
			       held->cause.reason] += ns;
	for (; effect < held->cause.effects + STATS_EFFECTS; effect++) {
		struct stats_sums sums;

		if (!effect->without_khz)
			continue;
		sums = sums_of(stats, domain, effect, ns);
		stats_add_sums(&find_row(period, &effect->key)->sums, &sums);
	}
}

/* Splits an interval at midnight. */
static void close_interval(struct stats *stats, uint32_t domain, const struct stats_time *time)
{
	struct held *held = &stats->domains[domain];
	uint64_t ns = time->now_ns > held->since_ns ? time->now_ns - held->since_ns : 0;
	uint64_t today_ns = ns < time->of_day_ns ? ns : time->of_day_ns;

	if (held->khz && ns) {
		add_interval(stats, stats->start, domain, ns);
		if (ns > today_ns)
			add_interval(stats, period_of(stats, time->day - 1), domain, ns - today_ns);
		add_interval(stats, period_of(stats, time->day), domain, today_ns);
	}
	held->since_ns = time->now_ns;
}

void stats_set_power(struct stats *stats, uint32_t domain, double highest_w)
{
	stats->domains[domain].highest_w = highest_w;
}

void stats_set_target(struct stats *stats, uint32_t domain, uint32_t khz,
		      const struct stats_time *time)
{
	struct held *held = &stats->domains[domain];

	close_interval(stats, domain, time);
	held->khz = khz;
	held->opp = stats_find_opp(&stats->topology->domains[domain], khz);
}

void stats_set_cause(struct stats *stats, uint32_t domain, const struct stats_cause *cause,
		     const struct stats_time *time)
{
	close_interval(stats, domain, time);
	stats->domains[domain].cause = *cause;
}

void stats_add_ios(struct stats *stats, const struct stats_key *key, const struct stats_sums *ios,
		   const struct stats_time *time)
{
	stats_add_sums(&find_row(stats->start, key)->sums, ios);
	stats_add_sums(&find_row(period_of(stats, time->day), key)->sums, ios);
}

void stats_catch_up(struct stats *stats, const struct stats_time *time)
{
	for (uint32_t i = 0; i < stats->topology->n_domains; i++)
		close_interval(stats, i, time);
	period_of(stats, time->day);
}

void stats_add_decision(struct stats *stats, const struct decision *decision)
{
	assert(decision->reason <= REASON_LAST && decision->limiter <= LIMITER_LAST);
	stats->decisions[decision->reason]++;
	stats->limits[decision->limiter]++;
}

uint64_t stats_limits(const struct stats *stats, enum limiter limiter)
{
	return stats->limits[limiter];
}

uint64_t stats_decisions(const struct stats *stats, enum reason reason)
{
	return stats->decisions[reason];
}

const struct stats_period *stats_since_start(const struct stats *stats)
{
	return stats->start;
}

const struct stats_period *stats_of_day(const struct stats *stats, int32_t day)
{
	const struct stats_period *period = stats->days[day % STATS_DAYS];

	return period->day == day ? period : NULL;
}

void stats_add_ns(struct stats *stats, int32_t day, uint32_t domain, uint32_t opp,
		  enum reason reason, uint64_t ns)
{
	period_of(stats, day)->opp_ns[stats->first_cell[domain] + opp * REASONS + reason] += ns;
}

void stats_add_row(struct stats *stats, int32_t day, const struct stats_row *row)
{
	stats_add_sums(&find_row(period_of(stats, day), &row->key)->sums, &row->sums);
}

struct stats_period *stats_sum_days(const struct stats *stats, int32_t from, int32_t to)
{
	struct stats_period *sum = new_period(stats);

	for (uint32_t i = 0; sum && i < STATS_DAYS; i++) {
		const struct stats_period *day = stats->days[i];

		if (day->day < from || day->day > to)
			continue;
		for (uint32_t cell = 0; cell < stats->n_cells; cell++)
			sum->opp_ns[cell] += day->opp_ns[cell];
		for (uint32_t row = 0; row < day->n_rows; row++)
			stats_add_sums(&find_row(sum, &day->rows[row].key)->sums,
				       &day->rows[row].sums);
	}
	return sum;
}

uint64_t stats_ns(const struct stats *stats, const struct stats_period *period, uint32_t domain,
		  uint32_t opp, enum reason reason)
{
	return period->opp_ns[stats->first_cell[domain] + opp * REASONS + reason];
}

const struct stats_row *stats_row(const struct stats_period *period, uint32_t i)
{
	return i < period->n_rows ? &period->rows[i] : NULL;
}
