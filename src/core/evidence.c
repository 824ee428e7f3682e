// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums of a switchback experiment, and the sequential test on them (the formulas are in
 * wakegov-algorithms(7)).
 */
#include "core/experiment.h"

#include "core/experiment_params.h"

/* The bits of log2 by repeated squaring. */
int32_t evidence_ln(uint64_t x)
{
	int msb = 63 - __builtin_clzll(x);
	uint64_t m = x << (63 - msb) >> 32, log2 = msb;

	for (int i = 0; i < 20; i++) {
		m = m * m >> 31;
		log2 <<= 1;
		if (m >> 32) {
			m >>= 1;
			log2 |= 1;
		}
	}
	return log2 * 726817 >> 20; /* ln 2 · 2^20 */
}

static uint64_t root(uint64_t x)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ULL << 31; bit; bit >>= 1)
		if ((r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

void evidence_clear(struct evidence *e)
{
	*e = (struct evidence){ .scale = e->scale };
}

void evidence_assume(struct evidence *e, int32_t gain)
{
	int64_t u = gain * ONE / e->scale;

	e->pairs = ASSUMED;
	e->sum = ASSUMED * u / ONE;
	e->squares = ASSUMED * (u * u / ONE + ONE) / ONE;
	e->weight = ASSUMED * ((1LL << 32) / e->scale) / ONE;
}

void evidence_shrink(struct evidence *e, int by)
{
	e->sum -= e->sum / by;
	e->squares -= e->squares / by;
	e->weight -= e->weight / by;
	e->pairs -= e->pairs / by;
	e->other_sum -= e->other_sum / by;
	e->other_squares -= e->other_squares / by;
}

void evidence_add(struct evidence *e, int32_t gain, int64_t others)
{
	int64_t u = gain * ONE / e->scale, k = (e->pairs >> Q) + 2, seen;

	u = u > CLIP ? CLIP : u < -CLIP ? -CLIP : u;
	e->sum += u;
	e->squares += u * u / ONE;
	/* The weight is u / gain: clipped values count less (Huber 1964). */
	e->weight += u == CLIP || u == -CLIP ? u * ONE / gain : (1LL << 32) / e->scale;
	e->pairs += ONE;
	others = others > OTHERS_CLIP ? OTHERS_CLIP : others < -OTHERS_CLIP ? -OTHERS_CLIP : others;
	e->other_sum += others;
	e->other_squares += others * others;
	seen = gain < 0 ? -(int64_t)gain : gain;
	seen = seen < 4 * e->scale ? seen : 4 * e->scale;
	e->scale += (seen - e->scale) / (k < MEMORY ? k : MEMORY);
	e->scale = e->scale < SCALE_MIN ? SCALE_MIN : e->scale > SCALE_MAX ? SCALE_MAX : e->scale;
}

int32_t evidence_mean(const struct evidence *e)
{
	return e->weight ? e->sum * ONE / e->weight : 0;
}

int64_t evidence_ln_odds(const struct evidence *e)
{
	int64_t t = RHO + e->squares;

	return e->sum * e->sum / (2 * t) - (evidence_ln(t) - evidence_ln(RHO)) / 32;
}

/* Σ(u − ū)² · 2^16 */
static int64_t squares_about_mean(const struct evidence *e)
{
	int64_t about = e->pairs ? e->sum * e->sum / e->pairs : 0;

	return e->squares > about ? e->squares - about : 0;
}

/* Whether a difference of sums of u is that clear. */
static bool is_clear(const struct evidence *e, int64_t difference, int z2)
{
	return difference > 0 && difference * difference > z2 * (squares_about_mean(e) * ONE / 4);
}

bool evidence_is_above_slack(const struct evidence *e, int z2)
{
	return is_clear(e, e->sum, z2);
}

bool evidence_is_below(const struct evidence *e, int32_t gain, int z2)
{
	return is_clear(e, e->weight * gain / ONE - e->sum, z2);
}

bool evidence_others_lose(const struct evidence *e, int z2)
{
	int64_t mean = e->pairs ? e->other_sum * ONE / e->pairs : 0;
	int64_t about = e->other_squares - e->other_sum * mean;
	int64_t lost = -e->other_sum;

	return lost > 0 && lost * lost > z2 * (about / 4);
}

int64_t evidence_radius(const struct evidence *e)
{
	int64_t t = RHO + squares_about_mean(e);
	int64_t need = evidence_ln(ODDS) / 16 + (evidence_ln(t) - evidence_ln(RHO)) / 32;

	return e->weight ? (int64_t)root(2 * t * need) * ONE / e->weight : SCALE_MAX;
}
