// SPDX-License-Identifier: GPL-2.0-only
/* Counters of recorded values, since machines that build this have none; and those of a made-up
 * /sys. */
#include "fake-cpufreq.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "frequency/frequency.h"
#include "shared/cleanup.h"

#define CPUS	 4
#define MS	 1000000ULL
#define BASE_KHZ 2000000u
#define PER_MS	 ((uint64_t)BASE_KHZ)

/* One reading after the other; past the last there are none. */
struct recording {
	bool absent;
	uint32_t n;
	struct counts counts[16];
	uint32_t next;
	uint32_t forgotten;
	uint32_t closed;
};

static struct recording first, second;
static uint32_t kernel_khz;

static int open_recording(struct recording *recording, void **ret, const char **ret_why)
{
	*ret_why = "absent";
	if (recording->absent)
		return -ENOENT;
	*ret = recording;
	return 0;
}

static int open_first(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why)
{
	return open_recording(&first, ret, ret_why);
}

static int open_second(uint32_t n_cpus, uint32_t base_khz, void **ret, const char **ret_why)
{
	return open_recording(&second, ret, ret_why);
}

static int read_recording(void *state, uint32_t cpu, struct counts *ret, uint32_t *ret_khz)
{
	struct recording *recording = state;

	if (recording->next == recording->n)
		return -EIO;
	*ret = recording->counts[recording->next++];
	*ret_khz = BASE_KHZ;
	return 0;
}

static void forget_recording(void *state, uint32_t cpu)
{
	((struct recording *)state)->forgotten |= 1u << cpu;
}

static void close_recording(void *state)
{
	((struct recording *)state)->closed++;
}

static const struct counter_reader reader_first = { "first", open_first, read_recording,
						    forget_recording, close_recording };
static const struct counter_reader reader_second = { "second", open_second, read_recording, NULL,
						     close_recording };
static const struct counter_reader *const readers[] = { &reader_first, &reader_second, NULL };

static uint32_t ask_kernel(void *userdata, uint32_t cpu)
{
	return kernel_khz;
}

static struct frequency *frequency;
static uint32_t measured_khz; /* the last time */

static void make(void)
{
	frequency = frequency_free(frequency);
	frequency = frequency_new(CPUS, 0, readers, ask_kernel, NULL);
}

/* A measurement where a frequency was set, and when. */
static void measure_set(uint64_t at_ms, uint32_t set_khz, uint64_t set_ms, int expected)
{
	assert_int_equal(
		frequency_measure(frequency, 0, at_ms * MS, set_khz, set_ms * MS, &measured_khz),
		expected);
}

/* Where none was. */
static void measure(uint32_t cpu, uint64_t at_ms, int expected)
{
	assert_int_equal(frequency_measure(frequency, cpu, at_ms * MS, 0, 0, &measured_khz),
			 expected);
}

/* So many milliseconds of work, of which so much at each rate. */
static void record(struct recording *recording, uint64_t actual_ms, uint64_t khz)
{
	struct counts before = recording->n ? recording->counts[recording->n - 1]
					    : (struct counts){ 1000, 5000 };

	recording->counts[recording->n++] = (struct counts){
		before.actual + actual_ms * khz, before.reference + actual_ms * PER_MS
	};
}

static int set_up(void **state)
{
	first = second = (struct recording){ 0 };
	kernel_khz = 0;
	make();
	return 0;
}

static int tear_down(void **state)
{
	frequency = frequency_free(frequency);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(test_measures)
{
	record(&first, 0, 0);
	record(&first, 10, 3700000);
	record(&first, 1, 800000); /* idle for the rest: only what it works is counted */
	assert_string_equal(frequency_source(frequency), "first");
	assert_string_equal(frequency->why, "");
	measure(1, 100, FREQUENCY_NOTHING);
	assert_int_equal(frequency->measured_ns, 0);
	measure(1, 110, FREQUENCY_MEASURED);
	assert_int_equal(measured_khz, 3700000);
	assert_int_equal(frequency->measured_ns, 110 * MS);
	measure(1, 500, FREQUENCY_MEASURED);
	assert_int_equal(measured_khz, 800000);
	tear_down(NULL);
	assert_int_equal(first.closed, 1);
}

FIXTURE_TEST(test_reads_seldom)
{
	record(&first, 0, 0);
	record(&first, 10, 2000000);
	measure(0, 100, FREQUENCY_NOTHING);
	for (uint64_t us = 1; us < FREQUENCY_LEAST_NS / 1000; us++)
		assert_int_equal(
			frequency_measure(frequency, 0, 100 * MS + us * 1000, 0, 0, &measured_khz),
			FREQUENCY_NOTHING);
	assert_int_equal(first.next, 1);
}

FIXTURE_TEST(test_change_of_clock_is_not_measured)
{
	record(&first, 0, 0);
	record(&first, 10, 1000000);
	record(&first, 10, 2000000);
	record(&first, 10, 600000);
	record(&first, 10, 2000000);
	measure_set(100, 1000000, 0, FREQUENCY_NOTHING);
	measure_set(110, 2000000, 105, FREQUENCY_NOTHING);
	measure_set(120, 2000000, 105, FREQUENCY_MEASURED);
	assert_int_equal(measured_khz, 2000000);
	/* Meanwhile it was another one, and is what it was again. */
	measure_set(130, 2000000, 129, FREQUENCY_NOTHING);
	measure_set(140, 2000000, 129, FREQUENCY_MEASURED);
	assert_int_equal(measured_khz, 2000000);
}

FIXTURE_TEST(test_forgets)
{
	first.counts[0] = (struct counts){ 1ULL << 40, 1ULL << 40 };
	first.n = 1;
	measure(2, 100, FREQUENCY_NOTHING);
	frequency_forget(frequency, 2);
	assert_int_equal(first.forgotten, 1 << 2);
	first.counts[1] = (struct counts){ 1000, 5000 }; /* it has started anew */
	first.n = 2;
	record(&first, 10, 1500000);
	measure(2, 200, FREQUENCY_NOTHING);
	measure(2, 210, FREQUENCY_MEASURED);
	assert_int_equal(measured_khz, 1500000);
}

FIXTURE_TEST(test_wraps_at_32_bits)
{
	first.n = 2;
	first.counts[0] = (struct counts){ UINT32_MAX - 5000000ULL, UINT32_MAX - 1000ULL };
	first.counts[1] = (struct counts){ 30000000ULL - 5000001, 20000000ULL - 1001 };
	measure(0, 100, FREQUENCY_NOTHING);
	measure(0, 110, FREQUENCY_MEASURED);
	assert_int_equal(measured_khz, 3000000);
}

/* Three times; what is told of it, and what is then used. */
FIXTURE_TEST(test_drops_what_is_wrong)
{
	static const struct {
		const char *why;
		int64_t actual, reference; /* counted in each 10 ms */
	} cases[] = {
		{ "stand still", 0, 0 },
		{ "stand still", 0, 10 * PER_MS },
		{ "stand still", 10 * PER_MS, 0 },
		{ "go back", -1000, 10 * PER_MS },
		{ "go back", 10 * PER_MS, -1000 },
		{ "jump", 10 * PER_MS, 13 * PER_MS },
		{ "jump", 1LL << 50, 1LL << 50 },
		{ "twofold", 31 * PER_MS, 10 * PER_MS },
		{ "twofold", 7 * PER_MS, 10 * PER_MS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		RENEW();
		kernel_khz = 3000000;
		first.n = 4;
		for (uint32_t j = 0; j < 4; j++)
			first.counts[j] = (struct counts){ (1LL << 60) + j * cases[i].actual,
							   (1LL << 60) + j * cases[i].reference };
		record(&second, 0, 0);
		record(&second, 10, 2500000);
		for (uint32_t j = 0; j < 3; j++)
			measure_set(100 + j * 10, 3000000, 0, FREQUENCY_NOTHING);
		measure_set(130, 3000000, 0, FREQUENCY_DROPPED);
		assert_string_equal(frequency_source(frequency), "second");
		assert_non_null(strstr(frequency->why, cases[i].why));
		assert_int_equal(first.closed, 1);
		measure_set(140, 3000000, 0, FREQUENCY_NOTHING);
		measure_set(150, 3000000, 0, FREQUENCY_MEASURED);
		assert_int_equal(measured_khz, 2500000);
	}
}

/* A driver may report the frequency before turbo; what the kernel measures itself settles it. */
FIXTURE_TEST(test_turbo_is_no_contradiction)
{
	kernel_khz = 4600000;
	record(&first, 0, 0);
	for (uint32_t i = 0; i < 5; i++)
		record(&first, 10, 4800000);
	measure_set(100, 1400000, 0, FREQUENCY_NOTHING);
	for (uint32_t i = 1; i <= 5; i++) {
		measure_set(100 + 10 * i, 1400000, 0, FREQUENCY_MEASURED);
		assert_int_equal(measured_khz, 4800000);
	}
}

FIXTURE_TEST(test_one_bad_value_is_no_reason)
{
	record(&first, 0, 0);
	for (uint32_t i = 0; i < 6; i++)
		record(&first, i % 2 ? 10 : 0, 2000000);
	measure(0, 100, FREQUENCY_NOTHING);
	for (uint32_t i = 0; i < 6; i++)
		measure(0, 110 + i * 10, i % 2 ? FREQUENCY_MEASURED : FREQUENCY_NOTHING);
	assert_string_equal(frequency_source(frequency), "first");
}

FIXTURE_TEST(test_ends_with_the_kernel)
{
	first.absent = true;
	make(); /* the second has no values */
	assert_string_equal(frequency_source(frequency), "second");
	for (uint32_t i = 0; i < 2; i++)
		measure(0, (1 + i) * 10, FREQUENCY_NOTHING);
	measure(0, 30, FREQUENCY_DROPPED);
	assert_string_equal(frequency_source(frequency), "kernel");
	assert_string_equal(frequency->why,
			    "first: absent; second: its counters cannot be read any more");
	measure(0, 40, FREQUENCY_NOTHING);
	assert_int_equal(frequency->measured_ns, 0);
}

static void write_cppc(uint32_t cpu, const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "cpu%u/acpi_cppc/%s", cpu, file);
	fake_write(path, "%s", value);
}

/* Stays on the CPU that this runs on: the reader is tried there. */
static uint32_t stay_here(cpu_set_t *ret_before)
{
	uint32_t cpu = sched_getcpu();
	cpu_set_t here;

	assert_int_equal(sched_getaffinity(0, sizeof(*ret_before), ret_before), 0);
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
	return cpu;
}

TEST(test_cppc)
{
	cpu_set_t before;
	uint32_t cpu = stay_here(&before), n_cpus = cpu + 1, khz;
	const struct counter_reader *reader = &counter_reader_cppc;
	struct counts counts;
	const char *why;
	void *cppc;

	fake_reset(NULL);
	assert_int_equal(reader->open(n_cpus, 0, &cppc, &why), -ENODATA);
	write_cppc(cpu, "feedback_ctrs", "ref:3000000000 del:4200000001");
	assert_int_equal(reader->open(n_cpus, 0, &cppc, &why), -ENODATA);
	write_cppc(cpu, "reference_perf", "10");
	write_cppc(cpu, "nominal_perf", "24");
	write_cppc(cpu, "nominal_freq", "2400");
	assert_int_equal(reader->open(n_cpus, 0, &cppc, &why), 0);
	assert_int_equal(reader->read(cppc, cpu, &counts, &khz), 0);
	assert_int_equal(khz, 1000000);
	assert_int_equal(counts.reference, 3000000000);
	assert_int_equal(counts.actual, 4200000001);
	assert_int_equal(reader->read(cppc, n_cpus, &counts, &khz), -ENXIO);
	reader->close(cppc);
	write_cppc(cpu, "nominal_freq", "0");
	write_cppc(cpu, "highest_perf", "60");
	fake_policy(0, cpu);
	assert_int_equal(reader->open(n_cpus, 0, &cppc, &why), 0);
	assert_int_equal(reader->read(cppc, cpu, &counts, &khz), 0);
	assert_int_equal(khz, 300000); /* 1800 MHz · 10 / 60 */
	write_cppc(cpu, "feedback_ctrs", "none");
	assert_int_equal(reader->read(cppc, cpu, &counts, &khz), -ENODATA);
	reader->close(cppc);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(test_turbo_switches)
{
	fake_reset(NULL);
	assert_false(reference_turbo_is_off());
	fake_write("intel_pstate/no_turbo", "0");
	assert_false(reference_turbo_is_off());
	fake_write("intel_pstate/no_turbo", "1");
	assert_true(reference_turbo_is_off());
	fake_reset(NULL);
	fake_write("cpufreq/boost", "1");
	assert_false(reference_turbo_is_off());
	fake_write("cpufreq/boost", "0");
	assert_true(reference_turbo_is_off());
	assert_int_equal(reference_base_khz(0), 0);
	fake_write("cpufreq/policy0/base_frequency", "1400000");
	assert_int_equal(reference_base_khz(0), 1400000);
}

/* The time stamp counter goes at the rate that is wanted where nobody names it. */
TEST(test_clock)
{
	struct counter_clock clock;

	counter_clock_start(&clock, 2400000);
	assert_int_equal(counter_clock_khz(&clock), 2400000);
	counter_clock_start(&clock, 0);
	assert_int_equal(counter_clock_khz(&clock), 0);
	usleep(60000);
#ifdef __x86_64__
	assert_in_range(counter_clock_khz(&clock), 100000, 10000000);
#else
	assert_int_equal(counter_clock_khz(&clock), 0);
#endif
}
