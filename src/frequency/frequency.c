// SPDX-License-Identifier: GPL-2.0-only
/* Measures the real frequency of CPUs, and falls back to the next source when one proves wrong. */
#include "frequency/frequency.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"
#include "shared/time.h"

/* This many implausible measurements in a row drop a reader; a firmware interrupt can spoil one. */
#define DOUBTS_MAX 3

/* Appends to frequency->why the reason for not using the reader. */
static void explain(struct frequency *frequency, const char *why)
{
	text_append(frequency->why, sizeof(frequency->why), "%s%s: %s",
		    frequency->why[0] ? "; " : "", (*frequency->reader)->name, why);
}

static void open_next(struct frequency *frequency)
{
	const char *why;

	for (; *frequency->reader; frequency->reader++) {
		if ((*frequency->reader)
			    ->open(frequency->n_cpus, frequency->base_khz, &frequency->state,
				   &why) == 0)
			break;
		explain(frequency, why);
	}
	frequency->doubts = 0;
	frequency->measured_ns = 0;
	memset(frequency->bases, 0, frequency->n_cpus * sizeof(frequency->bases[0]));
}

struct frequency *frequency_new(uint32_t n_cpus, uint32_t base_khz,
				const struct counter_reader *const *readers, frequency_ask_t ask,
				void *userdata)
{
	struct frequency *frequency =
		calloc(1, sizeof(*frequency) + n_cpus * sizeof(frequency->bases[0]));

	if (!frequency)
		return NULL;
	frequency->n_cpus = n_cpus;
	frequency->base_khz = base_khz;
	frequency->reader = readers;
	frequency->ask = ask;
	frequency->userdata = userdata;
	open_next(frequency);
	return frequency;
}

static void close_reader(struct frequency *frequency)
{
	if (*frequency->reader)
		(*frequency->reader)->close(frequency->state);
	frequency->state = NULL;
}

struct frequency *frequency_free(struct frequency *frequency)
{
	if (frequency)
		close_reader(frequency);
	free(frequency);
	return NULL;
}

/* Counters of 32 bits wrap; a decreasing counter of 64 bits did not count. */
static bool count_on(uint64_t from, uint64_t to, uint64_t *ret)
{
	*ret = to >= from ? to - from : (uint32_t)(to - from);
	return to >= from || from <= UINT32_MAX;
}

static bool are_twofold(uint64_t a_khz, uint64_t b_khz)
{
	return b_khz && (a_khz > 2 * b_khz || 2 * a_khz < b_khz);
}

static enum frequency_outcome drop(struct frequency *frequency, const char *why)
{
	explain(frequency, why);
	close_reader(frequency);
	frequency->reader++;
	open_next(frequency);
	return FREQUENCY_DROPPED;
}

/* Three implausible measurements in a row drop the reader. The elapsed time bounds the counts. */
static enum frequency_outcome accept_counts(struct frequency *frequency, uint32_t cpu,
					    const struct frequency_base *from,
					    uint32_t reference_khz, uint32_t *ret_khz)
{
	const struct frequency_base *to = &frequency->bases[cpu];
	double most = (double)(to->ns - from->ns) / NS_PER_MS * reference_khz;
	uint64_t actual, reference, khz = 0;
	const char *why = NULL;

	if (!count_on(from->counts.actual, to->counts.actual, &actual) ||
	    !count_on(from->counts.reference, to->counts.reference, &reference))
		why = "its counters go back";
	else if (!actual || !reference)
		why = "its counters stand still";
	else if (reference > most * 5 / 4)
		why = "its counters jump";
	if (!why) {
		khz = (double)actual / reference * reference_khz;
		if (are_twofold(khz, to->reported_khz) &&
		    are_twofold(khz, frequency->ask(frequency->userdata, cpu)))
			why = "it is off by more than twofold from what the kernel reports";
	}
	if (why)
		return ++frequency->doubts < DOUBTS_MAX ? FREQUENCY_NOTHING : drop(frequency, why);
	frequency->doubts = 0;
	frequency->measured_ns = to->ns;
	*ret_khz = khz;
	return FREQUENCY_MEASURED;
}

enum frequency_outcome frequency_measure(struct frequency *frequency, uint32_t cpu, uint64_t now_ns,
					 uint32_t reported_khz, uint64_t reported_ns,
					 uint32_t *ret_khz)
{
	struct frequency_base from, to = { .ns = now_ns, .reported_khz = reported_khz };
	uint32_t reference_khz;
	bool unchanged;

	if (!*frequency->reader || cpu >= frequency->n_cpus)
		return FREQUENCY_NOTHING;
	from = frequency->bases[cpu];
	unchanged = from.ns && from.ns >= reported_ns;
	if (unchanged && now_ns < from.ns + FREQUENCY_LEAST_NS)
		return FREQUENCY_NOTHING;
	if ((*frequency->reader)->read(frequency->state, cpu, &to.counts, &reference_khz) < 0) {
		frequency->bases[cpu].ns = 0;
		return ++frequency->doubts < DOUBTS_MAX
			       ? FREQUENCY_NOTHING
			       : drop(frequency, "its counters cannot be read any more");
	}
	frequency->bases[cpu] = to;
	if (!unchanged || !reference_khz)
		return FREQUENCY_NOTHING;
	return accept_counts(frequency, cpu, &from, reference_khz, ret_khz);
}

void frequency_forget(struct frequency *frequency, uint32_t cpu)
{
	frequency->bases[cpu].ns = 0;
	if (*frequency->reader && (*frequency->reader)->forget)
		(*frequency->reader)->forget(frequency->state, cpu);
}

const char *frequency_source(const struct frequency *frequency)
{
	return *frequency->reader ? (*frequency->reader)->name : "kernel";
}
