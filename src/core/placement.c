// SPDX-License-Identifier: GPL-2.0-only
#include "core/placement.h"

#include <string.h>

#include "core/experiment_params.h"

#define FULL_CPU	 1024
#define BACK_OFF_MOST_NS 64000000000ULL
/* After a hold of this length the back-off starts again at its least. */
#define LASTED_NS 60000000000ULL
/* A p99 of fewer wake-ups is a matter of chance: of 200, two are above it. */
#define WAKEUPS_LEAST 200
/* Measurements of waits that take longer than this are discarded. */
#define WAITS_MOST_NS 20000000000ULL
/* In buckets of p99: a doubling. One or two can be chance; the experiment finds smaller losses. */
#define RISE 4
/* A placement that has lasted this long is tested; shorter loads are not disturbed. */
#define TEST_AFTER_NS 10000000000ULL
/* A window with less work than this says nothing. */
#define WORK_LEAST 20

static const struct experiment_params params = {
	.half_ns = PLACEMENT_LOOK_NS,
	.settle_ns = PLACEMENT_LOOK_NS / PLACEMENT_SETTLE_LOOKS,
	.half_life_ns = PLACEMENT_EVIDENCE_LOOKS * PLACEMENT_LOOK_NS,
	.slack_ppm = PLACEMENT_SLACK_PPM,
};

void placement_init(struct placement *placement, uint64_t seed)
{
	*placement = (struct placement){ .back_off_ns = PLACEMENT_LOOK_NS };
	experiment_init(&placement->experiment, seed);
}

static void release(struct placement *placement, uint64_t caches, enum placement_why why,
		    uint64_t now_ns)
{
	if (now_ns - placement->held_since_ns >= LASTED_NS)
		placement->back_off_ns = PLACEMENT_LOOK_NS;
	placement->held &= ~caches;
	placement->why = why;
	placement->changed = true;
	placement->retry_ns = now_ns + placement->back_off_ns;
	if (placement->back_off_ns < BACK_OFF_MOST_NS)
		placement->back_off_ns *= 2;
}

static void hold(struct placement *placement, uint64_t caches, uint64_t now_ns)
{
	placement->held |= caches;
	placement->why = PLACEMENT_HOLDS;
	placement->changed = true;
	placement->held_since_ns = now_ns;
	placement->retry_ns = now_ns + PLACEMENT_LOOK_NS;
}

bool placement_full(struct placement *placement, uint32_t cache, uint64_t now_ns)
{
	if (!placement_holds(placement, cache))
		return false;
	release(placement, 1ULL << cache, PLACEMENT_FULL, now_ns);
	return true;
}

static void drop_offline(struct placement *placement, const struct placement_machine *machine,
			 uint64_t now_ns)
{
	uint64_t offline = 0;

	for (uint32_t i = 0; i < PLACEMENT_CACHES_MAX; i++)
		if (i >= machine->n_caches || !machine->caches[i].n_cpus)
			offline |= 1ULL << i;
	placement->aside &= ~offline;
	if (placement->held & offline)
		release(placement, placement->held & offline, PLACEMENT_OFFLINE, now_ns);
}

/* The bucket of the 99th percentile of wake-ups since the mark, and their number. */
static uint32_t find_p99(const struct placement *placement, const struct placement_counts *counts,
			 uint64_t *ret_n)
{
	uint64_t n = 0, above = 0;
	uint32_t bucket = WAKEGOV_LATENCIES;

	for (uint32_t i = 0; i < WAKEGOV_LATENCIES; i++)
		n += counts->latencies[i] - placement->mark_latencies[i];
	*ret_n = n;
	while (bucket > 1 && above * 100 <= n) {
		bucket--;
		above += counts->latencies[bucket] - placement->mark_latencies[bucket];
	}
	return bucket;
}

/* Whether p99 has risen against that without a cache, or else against the last one. */
static bool has_risen(const struct placement *placement, uint32_t p99)
{
	uint32_t before = placement->p99[false] ?: placement->p99[true];

	return before && p99 >= before + RISE;
}

/*
 * Judges the waits. Returns whether to start a new measurement: there were enough wake-ups, or the
 * old ones say nothing.
 */
static bool judge_latency(struct placement *placement, const struct placement_counts *counts,
			  uint64_t now_ns)
{
	bool with = placement->held, risen;
	uint64_t n;
	uint32_t p99 = find_p99(placement, counts, &n);

	if (placement->changed || now_ns - placement->waits_ns >= WAITS_MOST_NS)
		return true;
	if (n < WAKEUPS_LEAST)
		return false;
	risen = with && has_risen(placement, p99);
	placement->p99[with] = p99;
	if (risen)
		release(placement, placement->held, PLACEMENT_SLOWER, now_ns);
	return true;
}

/*
 * The caches whose CPUs were idle for a quarter of the window: room for tasks that are kept there.
 * Before the first window, all.
 */
static uint64_t find_idle_caches(const struct placement *placement,
				 const struct placement_machine *machine, uint64_t now_ns)
{
	uint64_t window_ns = now_ns - placement->window_ns, found = 0;

	for (uint32_t i = 0; i < machine->n_caches; i++) {
		const struct placement_cache *cache = &machine->caches[i];
		uint64_t mark_ns = placement->mark_busy_ns[i];
		uint64_t busy_ns = cache->busy_ns > mark_ns ? cache->busy_ns - mark_ns : 0;

		if (cache->n_cpus &&
		    (!placement->window_ns || busy_ns * 4 <= cache->n_cpus * window_ns * 3))
			found |= 1ULL << i;
	}
	return found;
}

static void try_to_hold(struct placement *placement, const struct placement_machine *machine,
			uint64_t now_ns)
{
	uint64_t caches;

	if (placement->aside || now_ns < placement->retry_ns)
		return;
	caches = find_idle_caches(placement, machine, now_ns) & ~placement->held;
	if (caches)
		hold(placement, caches, now_ns);
}

static void begin_waits(struct placement *placement, const struct placement_counts *counts,
			bool changed, uint64_t now_ns)
{
	placement->waits_ns = now_ns;
	placement->changed = changed;
	memcpy(placement->mark_latencies, counts->latencies, sizeof(placement->mark_latencies));
}

static void begin_window(struct placement *placement, const struct placement_machine *machine,
			 const struct placement_counts *counts, uint64_t now_ns)
{
	placement->window_ns = now_ns;
	placement->mark_work = counts->work;
	for (uint32_t i = 0; i < machine->n_caches; i++)
		placement->mark_busy_ns[i] = machine->caches[i].busy_ns;
}

/* Adds what the tasks got done, in how much of their time, and how long they were released. */
static void count_work(struct placement *placement, const struct placement_counts *counts)
{
	uint64_t time_ns = counts->run_ns + counts->wait_ns;
	uint64_t since_ns = time_ns - placement->tally.time_ns;

	placement->tally.ios = counts->work;
	placement->tally.time_ns = time_ns;
	if (!placement->held)
		placement->tally.level_ns += since_ns * FULL_CPU;
}

/* Follows the arm of the experiment: released, or kept. */
static void follow_arm(struct placement *placement, uint64_t now_ns)
{
	uint64_t caches = placement->aside;

	if (placement->experiment.arm && placement->held) {
		placement->aside |= placement->held;
		placement->held = 0;
		placement->changed = true;
	} else if (!placement->experiment.arm && caches) {
		placement->aside = 0;
		hold(placement, caches, now_ns);
	}
	if (placement->aside)
		placement->why = placement->experiment.rest ? PLACEMENT_LOSES : PLACEMENT_COMPARES;
}

/* Tests a placement. A cache that was released for another reason ends the pair under way. */
static void test(struct placement *placement, uint64_t now_ns)
{
	struct experiment *experiment = &placement->experiment;

	if (!placement->held && !placement->aside) {
		experiment_void(experiment, &params, now_ns);
		return;
	}
	experiment_update(experiment, &params, &placement->tally, now_ns);
	follow_arm(placement, now_ns);
}

static bool is_to_test(const struct placement *placement, const struct placement_counts *counts,
		       uint64_t now_ns)
{
	return placement->experiment.verdict == EXPERIMENT_NONE && placement->held &&
	       now_ns - placement->held_since_ns >= TEST_AFTER_NS &&
	       counts->work - placement->mark_work >= WORK_LEAST;
}

/* Looks once a window. */
static void look_at_window(struct placement *placement, const struct placement_machine *machine,
			   const struct placement_counts *counts, uint64_t now_ns)
{
	uint64_t before = placement->held;
	bool over = true;

	if (placement->window_ns)
		over = judge_latency(placement, counts, now_ns);
	if (is_to_test(placement, counts, now_ns))
		experiment_begin(&placement->experiment, now_ns);
	try_to_hold(placement, machine, now_ns);
	if (over || placement->held != before)
		begin_waits(placement, counts, placement->held != before, now_ns);
	begin_window(placement, machine, counts, now_ns);
}

bool placement_look(struct placement *placement, const struct placement_machine *machine,
		    const struct placement_counts *counts, uint64_t now_ns)
{
	uint64_t before = placement->held;

	count_work(placement, counts);
	drop_offline(placement, machine, now_ns);
	if (!placement->window_ns || now_ns - placement->window_ns >= PLACEMENT_LOOK_NS)
		look_at_window(placement, machine, counts, now_ns);
	test(placement, now_ns);
	return placement->held != before;
}

uint64_t placement_next_ns(const struct placement *placement)
{
	uint64_t window_ns = placement->window_ns + PLACEMENT_LOOK_NS;
	uint64_t test_ns = placement->held || placement->aside ? placement->experiment.next_ns
							       : UINT64_MAX;

	return test_ns < window_ns ? test_ns : window_ns;
}

bool placement_tested(const struct placement *placement, struct experiment_estimate *ret)
{
	*ret = experiment_estimate(&placement->experiment, &params);
	return placement->experiment.tried;
}

uint64_t placement_p99_ns(const struct placement *placement, bool with)
{
	return placement->p99[with] ? wakegov_latency_end_ns(placement->p99[with]) : 0;
}

const char *placement_why_text(enum placement_why why)
{
	static const char *const texts[] = {
		[PLACEMENT_BEGINS] = "it begins",
		[PLACEMENT_HOLDS] = "it is kept",
		[PLACEMENT_FULL] = "released: no CPU of the cache was idle",
		[PLACEMENT_SLOWER] = "released: its tasks waited longer after wake-ups",
		[PLACEMENT_OFFLINE] = "released: the CPUs of the cache are offline",
		[PLACEMENT_COMPARES] = "released for a moment, to compare what its tasks get done",
		[PLACEMENT_LOSES] = "released: its tasks get more done without",
	};

	return texts[why];
}
