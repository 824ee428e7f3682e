// SPDX-License-Identifier: GPL-2.0-only
/* More than there is room for: it is counted, and afterwards everything works as before. */
#include "native.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "wakegov/abi.h"
#include "work.h"

#define RING_RECORDS (WAKEGOV_RING_BYTES / (sizeof(struct wakegov_record) + 8))

static struct tracer_drops drops_of(const struct native *native)
{
	struct tracer_drops drops;

	tracer_drops(native->tracer, &drops);
	return drops;
}

static void arm_all(const struct native *native)
{
	/* Nothing is within this band. */
	static const struct engine_band band = { .low_q = 1, .watch = true, .watch_idle = true };

	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		tracer_arm(native->tracer, cpu, &band);
}

static uint64_t switches_of(const struct native *native)
{
	return native_program_events(native, "sched_switch");
}

/* More than it takes to drop records, of which each switch may cause one, however slow it is. */
#define SWITCHES_MOST (100ULL * RING_RECORDS)

/* Nobody takes the records of thousands of events. */
NATIVE_TEST(test_full_ring)
{
	struct native *native = *state;
	uint64_t before = drops_of(native).ring, dropped, switches;
	pid_t readers[2];
	uint32_t cpu_events = 0;

	native_watch(native, 0);
	switches = switches_of(native);
	for (uint32_t i = 0; i < 2; i++)
		readers[i] = work_read("native-reader", i, native->file, 0, 0);
	while (drops_of(native).ring < before + 1000 &&
	       switches_of(native) < switches + SWITCHES_MOST)
		for (int i = 0; i < 1000; i++)
			arm_all(native);
	for (uint32_t i = 0; i < 2; i++)
		work_end(readers[i]);
	dropped = drops_of(native).ring - before;
	switches = switches_of(native) - switches;
	print_message("%llu records dropped in %llu switches\n", (unsigned long long)dropped,
		      (unsigned long long)switches);
	assert_true(dropped >= 1000);

	/* The ring held what fits, to which some may be added while it is read; then it works on.
	 */
	native_consume(native);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		cpu_events += native->cpu_events[cpu];
	assert_in_range(cpu_events + native->task_events, RING_RECORDS - 2, RING_RECORDS + 200);
	native_watch(native, 0);
	before = drops_of(native).ring;
	arm_all(native);
	readers[0] = work_read("native-reader", NATIVE_OTHER, native->file, 0, 100);
	assert_true(native_wait(native, &native->cpu_events[NATIVE_OTHER], 1, PATIENCE_MS));
	work_end(readers[0]);
	assert_int_equal(drops_of(native).ring, before);
}

/*
 * Fills the ring with records of that CPU alone. The first that finds no room may be a long one,
 * of a task that begins; those of CPUs are short, and fit for some time yet.
 */
static void fill_ring(struct native *native, uint32_t cpu)
{
	static const struct engine_band band = { .low_q = 1, .watch = true, .watch_idle = true };
	uint64_t before = drops_of(native).ring, switches = switches_of(native);
	pid_t sleeper = work_nap("native-nap", cpu);

	while (drops_of(native).ring < before + 100 &&
	       switches_of(native) < switches + SWITCHES_MOST)
		tracer_arm(native->tracer, cpu, &band);
	work_end(sleeper);
	assert_true(drops_of(native).ring >= before + 100);
}

/* What a lost record would have told of a CPU is told with the next that are taken, once. */
NATIVE_TEST(test_lost_look_is_kept)
{
	static const struct engine_band band = { .low_q = 1, .watch = true };
	struct native *native = *state;
	uint64_t before;
	pid_t reader;

	native_watch(native, 0);
	fill_ring(native, NATIVE_CPU);
	before = drops_of(native).ring;
	tracer_arm(native->tracer, NATIVE_OTHER, &band);
	reader = work_read("native-reader", NATIVE_OTHER, native->file, 100, 0);
	assert_int_equal(work_wait(reader), 0);
	assert_true(drops_of(native).ring > before);
	native_consume(native);
	assert_int_equal(native->cpu_events[NATIVE_OTHER], 1);
	native_consume(native);
	assert_int_equal(native->cpu_events[NATIVE_OTHER], 1);
}

/* The handler causes a record for each that it takes, as a task on another CPU could. */
static void take_and_cause(void *userdata, const struct wakegov_record *record)
{
	uint32_t *n = userdata;

	if (++*n < 100 * RING_RECORDS)
		prctl(PR_SET_NAME, "native-name");
}

NATIVE_TEST(test_ends_in_a_flood)
{
	struct native *native = *state;
	uint32_t n;
	int r;

	tracer_follow_tasks(native->tracer,
			    &(struct tracer_follow){ .tasks = true, .renames = true });
	/* A record that the other CPU has begun and not yet ended stops the reader early. */
	for (uint32_t attempt = 0; attempt < 20; attempt++) {
		n = 0;
		prctl(PR_SET_NAME, "native-name");
		r = tracer_consume(native->tracer, take_and_cause, &n);
		if (r != 0 || n >= RING_RECORDS)
			break;
	}
	assert_int_equal(r, 1);
	assert_in_range(n, 100, RING_RECORDS);
	tracer_follow_tasks(native->tracer, &(struct tracer_follow){ 0 });
	native_consume(native);
	n = 100 * RING_RECORDS;
	assert_int_equal(tracer_consume(native->tracer, take_and_cause, &n), 0);
}

static void release_all(const struct native *native)
{
	for (uint32_t handle = 0; handle < WAKEGOV_SLOTS; handle++)
		tracer_release_task(native->tracer, handle);
}

/* Tasks that come and go, and nobody gives their slots back. */
NATIVE_TEST(test_full_slots)
{
	/* Five I/Os within 50 ms, and each child lives for longer. */
	const struct policy_io_boost easy = {
		.enabled = true,
		.min_rate_per_s = 100,
		.window_ns = 50 * NS_PER_MS / IO_BOOST_ENTRY_WINDOWS,
	};
	struct native *native = *state;
	uint64_t before = drops_of(native).slots;
	uint32_t children = 0;
	pid_t pids[32], pid;

	release_all(native);
	tracer_set_policy(native->tracer, &easy);
	while (drops_of(native).slots == before && children < 4 * WAKEGOV_SLOTS) {
		for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
			pids[i] = work_read("native-short", i % 2, native->file, 60, 2000);
		for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
			work_wait(pids[i]);
		children += ARRAY_SIZE(pids);
		native_consume(native);
	}
	print_message("the first task without a slot after %u children\n", children);
	assert_true(drops_of(native).slots > before);
	assert_true(children > WAKEGOV_SLOTS / 2);

	release_all(native);
	tracer_set_policy(native->tracer, &native->policy);
	native_watch(native, 0);
	pid = work_read("native-reader", NATIVE_CPU, native->file, 0, 0);
	native->watched_pid = pid;
	assert_true(native_wait(native, &native->watched_events, 1, PATIENCE_MS));
	work_end(pid);
}
