// SPDX-License-Identifier: GPL-2.0-only
/* From pairs of blocks to the answer: statistics, sentences, and a picture. */
#include "ctl/benefit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/format.h"
#include "ctl/print.h"
#include "record/export.h"

/* The picture. */
#define WIDTH	      860
#define LEFT	      150
#define RIGHT	      240
#define TOP	      60
#define PANEL	      90 /* the height of a figure */
#define GAP	      24
#define BOTTOM	      20
#define MARK	      5
#define LEAST_PERCENT 1 /* shown by a panel */

static const struct {
	const char *key;
	const char *name;
	const char *more, *less;
	const char *unit;
} figures[FIGURES] = {
	[FIGURE_OWN] = { "figure", NULL, "more", "less", "" },
	[FIGURE_RUN] = { "run_s", "run time", "longer", "shorter", "s" },
	[FIGURE_IOS] = { "ios_per_s", "I/Os", "more", "fewer", "/s" },
	[FIGURE_IO_TIME] = { "ms_per_io", "time per I/O", "longer", "shorter", "ms" },
	[FIGURE_WAKEUP] = { "wakeup_p99_us", "wake-up latency p99", "longer", "shorter", "us" },
	[FIGURE_WAIT] = { "wait_us", "wait for a CPU", "longer", "shorter", "us" },
	[FIGURE_CPU] = { "cpu_s_per_s", "CPU time", "more", "less", "s/s" },
	[FIGURE_ENERGY] = { "watts", "power", "more", "less", "W" },
	[FIGURE_ESTIMATE] = { "energy_estimate", "estimated energy", "more", "less", "full CPUs" },
	[FIGURE_FREQUENCY] = { "mhz", "frequency", "higher", "lower", "MHz" },
	[FIGURE_CHANGES] = { "changes_per_s", "its changes", "more", "fewer", "/s" },
};

/* A smaller difference counts as none, however certain it is. */
#define NEGLIGIBLE_PERCENT 0.5

/* With a wider interval the two cannot be called equal. */
#define UNSTEADY_PERCENT 50

/* Where no difference is found, the answer says for how long to measure to find one of this size.
 */
#define SMALL_PERCENT 2

/* A figure that has enough pairs for a statement. */
struct finding_of {
	const char *name;
	enum benefit_figure figure;
	struct benefit_ratio ratio;
	double with, without;
};

/* Sebastiano Vigna's splitmix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void benefit_order(uint64_t seed, uint32_t n_pairs, bool *ret_with_first)
{
	/* For an odd number, chance also decides which kind has the additional one. */
	uint32_t n_first = (n_pairs + (next_random(&seed) & 1)) / 2;

	for (uint32_t i = 0; i < n_pairs; i++)
		ret_with_first[i] = i < n_first;
	for (uint32_t i = n_pairs; i > 1; i--) {
		uint32_t j = next_random(&seed) % i;
		bool kept = ret_with_first[i - 1];

		ret_with_first[i - 1] = ret_with_first[j];
		ret_with_first[j] = kept;
	}
}

void benefit_add(struct benefit_sums *sums, double with, double without)
{
	double d = log(with / without);

	sums->n++;
	sums->sum += d;
	sums->squares += d * d;
}

double benefit_student(uint32_t freedom)
{
	const double tails = 0.01, normal = -2.5758293035489;
	double n = freedom, a = 1 / (n - 0.5), b = 48 / (a * a), x = normal, y = x * x;
	double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * n;

	if (freedom == 1)
		return 1 / tan(tails * M_PI_2);
	if (freedom == 2)
		return sqrt(2 / (tails * (2 - tails)) - 2);
	if (pow(d * tails, 2 / n) <= 0.05 + a) {
		y = pow(d * tails, 2 / n);
		y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) *
			     y -
		     1) * (n + 1) /
			    (n + 2) +
		    1 / y;
		return sqrt(n * y);
	}
	if (freedom < 5)
		c += 0.3 * (n - 4.5) * (x + 0.6);
	c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
	y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
	return sqrt(n * expm1(a * y * y));
}

bool benefit_ratio(const struct benefit_sums *sums, struct benefit_ratio *ret)
{
	double n = sums->n, mean = sums->sum / n, variance, half;

	if (sums->n < BENEFIT_PAIRS_LEAST)
		return false;
	variance = (sums->squares - n * mean * mean) / (n - 1);
	half = variance > 0 ? benefit_student(sums->n - 1) * sqrt(variance / n) : 0;
	*ret = (struct benefit_ratio){ exp(mean), exp(mean - half), exp(mean + half) };
	return true;
}

/* Inside its bucket it lies as the ranks do: the wake-ups there are taken to be spread evenly. */
double benefit_wakeup_p99_us(const uint64_t counts[WAKEGOV_WAKEUP_BUCKETS])
{
	double n = 0, before = 0, rank, begin_ns, end_ns;
	uint32_t i;

	for (i = 0; i < WAKEGOV_WAKEUP_BUCKETS; i++)
		n += (double)counts[i];
	if (n < BENEFIT_WAKEUPS_LEAST)
		return 0;
	rank = 0.99 * n;
	for (i = 0; before + (double)counts[i] < rank; i++)
		before += (double)counts[i];
	begin_ns = (double)wakegov_wakeup_begin_ns(i);
	end_ns = (double)wakegov_wakeup_begin_ns(i + 1);
	return (begin_ns + (end_ns - begin_ns) * (rank - before) / (double)counts[i]) / 1000;
}

void benefit_add_pair(struct benefit_findings *findings, const double with[FIGURES],
		      const double without[FIGURES])
{
	for (int i = 0; i < FIGURES; i++) {
		if (!(with[i] > 0 && without[i] > 0))
			continue;
		benefit_add(&findings->sums[i], with[i], without[i]);
		findings->ratios[findings->n_pairs][i] = (float)(with[i] / without[i]);
		findings->with[i] += with[i];
		findings->without[i] += without[i];
	}
	findings->n_pairs++;
}

static bool find(const struct benefit_findings *findings, enum benefit_figure figure,
		 struct finding_of *ret)
{
	double n = findings->sums[figure].n;

	*ret = (struct finding_of){
		.name = figure == FIGURE_OWN ? findings->own : figures[figure].name,
		.figure = figure,
		.with = findings->with[figure] / n,
		.without = findings->without[figure] / n,
	};
	return benefit_ratio(&findings->sums[figure], &ret->ratio);
}

/* The end of the interval that is farthest from equal, in per cent. */
static double bound(const struct finding_of *finding)
{
	return 100 * fmax(1 - finding->ratio.low, finding->ratio.high - 1);
}

/*
 * The time in minutes after which the half of the interval would be this narrow, also of the pairs
 * that were void. It shrinks by the root of their number, and a little faster while they are few.
 */
static double needed_min(const struct benefit_findings *findings, const struct finding_of *finding,
			 double percent)
{
	double times = log(finding->ratio.high / finding->ratio.low) / 2 / log(1 + percent / 100);

	return ceil((findings->n_pairs + findings->n_void) * 2 * findings->block_s * times * times /
		    60);
}

static bool is_unsteady(const struct finding_of *finding)
{
	return bound(finding) >= UNSTEADY_PERCENT;
}

static bool differs(const struct finding_of *finding)
{
	return (finding->ratio.low > 1 || finding->ratio.high < 1) &&
	       bound(finding) > NEGLIGIBLE_PERCENT;
}

/* Two digits, or all before the decimal point: "0.25", "3.1", "480". */
static int decimals_of(double value)
{
	int decimals = value > 0 ? 1 - (int)floor(log10(value)) : 0;

	return decimals < 0 ? 0 : decimals > 3 ? 3 : decimals;
}

/*
 * "2.1 ± 0.6 W less", or "1.1 to 9.0 W less" for a wide interval, as ratios are not symmetric about
 * their middle. The uncertainty sets the number of decimals.
 */
static void say_difference(const struct finding_of *finding, char *ret, size_t size)
{
	const struct benefit_ratio *ratio = &finding->ratio;
	bool more = ratio->ratio > 1;
	double scale = finding->figure == FIGURE_ENERGY ? finding->without : 100;
	double change = scale * fabs(ratio->ratio - 1);
	double half = scale * (ratio->high - ratio->low) / 2;
	const char *unit = finding->figure == FIGURE_ENERGY ? "W" : "%";
	const char *way = more ? figures[finding->figure].more : figures[finding->figure].less;
	int decimals = half > 0 ? decimals_of(half * 10) : 2;

	if (half < change / 2)
		snprintf(ret, size, "%.*f ± %.*f %s %s", decimals, change, decimals, half, unit,
			 way);
	else
		snprintf(ret, size, "%.*f to %.*f %s %s", decimals,
			 scale * (more ? ratio->low - 1 : 1 - ratio->high), decimals,
			 scale * (more ? ratio->high - 1 : 1 - ratio->low), unit, way);
}

/* The work done, and the energy or time for it; NULL where it is not known. */
static json_t *say_verdict(const struct benefit_findings *findings, const struct finding_of *work,
			   const struct finding_of *cost)
{
	const struct finding_of *known = work ?: cost;
	char worked[96], took[96], longer[64] = "";

	if (!known)
		return NULL;
	if ((!work || !differs(work)) && (!cost || !differs(cost))) {
		/* One that is unsteady has told nothing. */
		if (is_unsteady(known))
			return json_sprintf("too unsteady to tell by %s; --for %.0fm may do",
					    known->name,
					    needed_min(findings, known, UNSTEADY_PERCENT));
		if (bound(known) > SMALL_PERCENT)
			snprintf(longer, sizeof(longer),
				 "; one above %d %% would be by --for %.0fm", SMALL_PERCENT,
				 needed_min(findings, known, SMALL_PERCENT));
		if (work && cost)
			return json_sprintf("no difference found; one above %.*f %% in %s, or "
					    "above %.*f %% in %s, would have been%s",
					    decimals_of(bound(work)), bound(work), work->name,
					    decimals_of(bound(cost)), bound(cost), cost->name,
					    longer);
		return json_sprintf(
			"no difference found; one above %.*f %% in %s would have been%s",
			decimals_of(bound(known)), bound(known), known->name, longer);
	}
	if (work)
		say_difference(work, worked, sizeof(worked));
	if (cost)
		say_difference(cost, took, sizeof(took));
	if (!cost)
		return json_sprintf("%s: %s; what that takes in energy is not known here",
				    work->name, worked);
	if (!work)
		return json_sprintf("%s: %s; whether as much was done is not known", cost->name,
				    took);
	if (!differs(work))
		return json_sprintf("%s: %s, at the same %s (within %.*f %%)", cost->name, took,
				    work->name, decimals_of(bound(work)), bound(work));
	if (!differs(cost))
		return json_sprintf("%s: %s, at the same %s (within %.*f %%)", work->name, worked,
				    cost->name, decimals_of(bound(cost)), bound(cost));
	return json_sprintf("%s: %s; %s: %s", work->name, worked, cost->name, took);
}

static json_t *verdict(const struct benefit_findings *findings)
{
	struct finding_of work, cost;
	bool has_work = find(findings, FIGURE_OWN, &work) ||
			(findings->wakeups_asked && find(findings, FIGURE_WAKEUP, &work)) ||
			find(findings, FIGURE_RUN, &work) || find(findings, FIGURE_IOS, &work);
	bool has_cost = find(findings, FIGURE_ENERGY, &cost) ||
			find(findings, FIGURE_ESTIMATE, &cost);
	json_t *said = say_verdict(findings, has_work ? &work : NULL, has_cost ? &cost : NULL);

	if (said)
		return said;
	if (findings->n_pairs < BENEFIT_PAIRS_LEAST)
		return json_sprintf("too little was measured to say: it takes %d pairs of blocks, "
				    "which is --for %.0fs at least",
				    BENEFIT_PAIRS_LEAST,
				    ceil(BENEFIT_PAIRS_LEAST * 2 * findings->block_s));
	return json_string("nothing to compare: no disk was used and no energy is known; name a "
			   "COMMAND to time");
}

static json_t *finding_json(const struct benefit_findings *findings, enum benefit_figure figure)
{
	struct finding_of finding;
	char words[96];
	json_t *ratios;

	/* A measured energy needs no estimate beside it. */
	if (!find(findings, figure, &finding) ||
	    (figure == FIGURE_ESTIMATE && findings->sums[FIGURE_ENERGY].n >= BENEFIT_PAIRS_LEAST))
		return NULL;
	if (differs(&finding))
		say_difference(&finding, words, sizeof(words));
	else if (is_unsteady(&finding))
		snprintf(words, sizeof(words), "too unsteady to tell; --for %.0fm may do",
			 needed_min(findings, &finding, UNSTEADY_PERCENT));
	else
		snprintf(words, sizeof(words), "same, within %.*f %%", decimals_of(bound(&finding)),
			 bound(&finding));
	/* Those of with to without, in the order of measurement. */
	ratios = json_array();
	for (uint32_t i = 0; i < findings->n_pairs; i++)
		if (findings->ratios[i][figure] > 0)
			json_array_append_new(ratios, json_real(findings->ratios[i][figure]));
	return json_pack("{ss so ss sI sf sf sf sf sf ss ss* so* so}", "name", figures[figure].key,
			 "title", format_json(finding.name), "words", words, "pairs",
			 (json_int_t)findings->sums[figure].n, "ratio", finding.ratio.ratio, "low",
			 finding.ratio.low, "high", finding.ratio.high, "with", finding.with,
			 "without", finding.without, "unit", figures[figure].unit, "source",
			 figure == FIGURE_ENERGY     ? findings->energy_source
			 : figure == FIGURE_ESTIMATE ? findings->estimate
						     : NULL,
			 "of", figure == FIGURE_WAKEUP ? format_json(findings->wakeups_of) : NULL,
			 "ratios", ratios);
}

json_t *benefit_answer(const struct benefit_findings *findings)
{
	json_t *found = json_array();

	for (int i = 0; i < FIGURES; i++) {
		json_t *figure = finding_json(findings, i);

		if (figure)
			json_array_append_new(found, figure);
	}
	return json_pack("{ss? sI sI sI sf so so}", "against", findings->against, "pairs",
			 (json_int_t)findings->n_pairs, "void", (json_int_t)findings->n_void,
			 "seed", (json_int_t)findings->seed, "block_s", findings->block_s,
			 "figures", found, "verdict", verdict(findings));
}

void benefit_show_answer(const json_t *answer)
{
	const json_t *figure;
	size_t i;

	print_line(stdout, "With wakegov, against %s, in %d pairs of blocks (%d more were void):",
		   field_text(answer, "against") ?: "the former governor",
		   (int)field_number(answer, "pairs"), (int)field_number(answer, "void"));
	json_array_foreach(json_object_get(answer, "figures"), i, figure) {
		double with = json_number_value(json_object_get(figure, "with"));
		double without = json_number_value(json_object_get(figure, "without"));
		const char *unit = field_text(figure, "unit"), *of = field_text(figure, "of");
		const char *source = field_text(figure, "source");
		const char *words = field_text(figure, "words");
		int decimals = decimals_of(without / 100);
		/* printf() pads by bytes, and this character has two. */
		int width = 24 + (strstr(words, "±") != NULL);

		print_line(stdout, "  %-19s %-*s %.*f, without %.*f%s%s%s%s%s%s",
			   field_shown(figure, "title"), width, words, decimals, with, decimals,
			   without, *unit ? " " : "", unit, source ? ", by " : "", source ?: "",
			   of ? ", of " : "", of ?: "");
	}
	print_line(stdout, "Verdict: %s.", field_shown(answer, "verdict"));
}

/* Per cent more or less; ratios are not symmetric about 1. */
static double percent_of(const json_t *ratio)
{
	return 100 * (json_number_value(ratio) - 1);
}

static void draw_figure(FILE *out, double top, const json_t *figure)
{
	const json_t *ratios = json_object_get(figure, "ratios"), *ratio;
	double high = percent_of(json_object_get(figure, "high"));
	double low = percent_of(json_object_get(figure, "low"));
	double step = (double)(WIDTH - RIGHT - LEFT) / (double)json_array_size(ratios);
	double most = fmax(LEAST_PERCENT, fmax(fabs(low), fabs(high)));
	double middle = top + PANEL / 2., pixels;
	char text[32];
	size_t i;

	json_array_foreach(ratios, i, ratio)
		most = fmax(most, fabs(percent_of(ratio)));
	most *= 1.1;
	pixels = PANEL / 2. / most;
	svg_box(out, LEFT, middle - high * pixels, WIDTH - RIGHT - LEFT, (high - low) * pixels,
		"#c6dbef");
	svg_line(out, LEFT, middle, WIDTH - RIGHT, middle, "#555555");
	snprintf(text, sizeof(text), "+%.3g %%", most);
	svg_label(out, LEFT - 6, middle - PANEL / 2. + 8, "end", text);
	snprintf(text, sizeof(text), "-%.3g %%", most);
	svg_label(out, LEFT - 6, middle + PANEL / 2., "end", text);
	json_array_foreach(ratios, i, ratio)
		svg_box(out, LEFT + (double)i * step + (step - MARK) / 2,
			middle - percent_of(ratio) * pixels - MARK / 2., MARK, MARK, "#08519c");
	svg_text(out, 8, middle + 4, "start", field_text(figure, "title"));
	svg_text(out, WIDTH - RIGHT + 10, middle + 4, "start", field_text(figure, "words"));
}

void benefit_plot(FILE *out, const json_t *answer)
{
	const json_t *shown = json_object_get(answer, "figures"), *figure;
	const char *against = field_text(answer, "against");
	char title[256];
	size_t i;

	svg_begin(out, WIDTH, TOP + (int)json_array_size(shown) * (PANEL + GAP) + BOTTOM);
	snprintf(title, sizeof(title), "With wakegov, against %s: %d pairs of blocks",
		 against ? against : "the former governor", (int)field_number(answer, "pairs"));
	svg_text(out, 8, 20, "start", title);
	svg_label(out, 8, 40, "start", field_text(answer, "verdict"));
	json_array_foreach(shown, i, figure)
		draw_figure(out, TOP + (double)i * (PANEL + GAP), figure);
	svg_end(out);
}
