// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/benefit_plot.h"

#include <math.h>
#include <string.h>

#include "ctl/show.h"
#include "record/svg.h"

#define WIDTH	      860
#define LEFT	      150
#define RIGHT	      240
#define TOP	      60
#define PANEL	      90 /* the height of a figure */
#define GAP	      24
#define BOTTOM	      20
#define MARK	      5
#define LEAST_PERCENT 1 /* shown by a panel */

/* Per cent more or less; ratios are not symmetric about 1. */
static double percent_of(const json_t *ratio)
{
	return 100 * (json_number_value(ratio) - 1);
}

static double find_scale(const json_t *figure)
{
	double most = LEAST_PERCENT;
	const json_t *ratio;
	size_t i;

	json_array_foreach(json_object_get(figure, "ratios"), i, ratio)
		most = fmax(most, fabs(percent_of(ratio)));
	most = fmax(most, fabs(percent_of(json_object_get(figure, "low"))));
	return fmax(most, fabs(percent_of(json_object_get(figure, "high")))) * 1.1;
}

static void draw_scale(FILE *out, double middle, double scale)
{
	char text[32];

	svg_line(out, LEFT, middle, WIDTH - RIGHT, middle, "#555555");
	snprintf(text, sizeof(text), "+%.3g %%", scale);
	svg_label(out, LEFT - 6, middle - PANEL / 2. + 8, "end", text);
	snprintf(text, sizeof(text), "-%.3g %%", scale);
	svg_label(out, LEFT - 6, middle + PANEL / 2., "end", text);
}

static void draw_figure(FILE *out, double top, const json_t *figure)
{
	const json_t *ratios = json_object_get(figure, "ratios"), *ratio;
	double scale = find_scale(figure), middle = top + PANEL / 2.;
	double high = percent_of(json_object_get(figure, "high"));
	double low = percent_of(json_object_get(figure, "low"));
	double step = (double)(WIDTH - RIGHT - LEFT) / (double)json_array_size(ratios);
	double pixels = PANEL / 2. / scale;
	size_t i;

	svg_box(out, LEFT, middle - high * pixels, WIDTH - RIGHT - LEFT, (high - low) * pixels,
		"#c6dbef");
	draw_scale(out, middle, scale);
	json_array_foreach(ratios, i, ratio)
		svg_box(out, LEFT + (double)i * step + (step - MARK) / 2,
			middle - percent_of(ratio) * pixels - MARK / 2., MARK, MARK, "#08519c");
	svg_text(out, 8, middle + 4, "start", field_text(figure, "title"));
	svg_text(out, WIDTH - RIGHT + 10, middle + 4, "start", field_text(figure, "words"));
}

void benefit_plot(FILE *out, const json_t *answer)
{
	const json_t *figures = json_object_get(answer, "figures"), *figure;
	const char *against = field_text(answer, "against");
	char title[256];
	size_t i;

	svg_begin(out, WIDTH, TOP + (int)json_array_size(figures) * (PANEL + GAP) + BOTTOM);
	snprintf(title, sizeof(title), "With wakegov, against %s: %d pairs of blocks",
		 against ? against : "the governor before it", (int)field_number(answer, "pairs"));
	svg_text(out, 8, 20, "start", title);
	svg_label(out, 8, 40, "start", field_text(answer, "verdict"));
	json_array_foreach(figures, i, figure)
		draw_figure(out, TOP + (double)i * (PANEL + GAP), figure);
	svg_end(out);
}
