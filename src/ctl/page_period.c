// SPDX-License-Identifier: GPL-2.0-only
/* One stretch of time on the page: pictures of domains and tasks, and what they add up to. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/format.h"
#include "ctl/page.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define LABELS_MAX 8
#define S_PER_DAY  86400

enum time_form { TIME_DAY, TIME_OF_DAY, TIME_WITH_SECONDS, TIME_WHOLE };

/* A time of the page, for people. */
static void print_time(char *ret, size_t size, const struct page *page, uint64_t at_ns,
		       enum time_form form)
{
	time_t s = (time_t)(at_ns / NS_PER_S);
	struct tm parts;

	if (page->is_recording)
		snprintf(ret, size, "%g s",
			 (double)(at_ns - page->periods[0].columns.begin_ns) / 1e9);
	else if (!localtime_r(&s, &parts) || !strftime(ret, size,
						       form == TIME_DAY		   ? "%a %d"
						       : form == TIME_OF_DAY	   ? "%H:%M"
						       : form == TIME_WITH_SECONDS ? "%H:%M:%S"
										   : "%a %H:%M:%S",
						       &parts))
		snprintf(ret, size, "?");
}

static double share_of(const struct columns *columns, uint64_t at_ns)
{
	uint64_t span_ns = columns->end_ns - columns->begin_ns;

	return span_ns ? 100.0 * (double)(at_ns - columns->begin_ns) / (double)span_ns : 0;
}

/* The distance of labels in seconds: the smallest that leaves them room. */
static uint64_t label_step_s(uint64_t span_s)
{
	static const uint32_t steps_s[] = { 1,	 2,   5,    10,	  20,	30,    60,    120,
					    300, 600, 1200, 1800, 3600, 10800, 21600, 86400 };
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(steps_s) && span_s / steps_s[i] > LABELS_MAX)
		i++;
	return steps_s[i];
}

/* At full steps of the local time, such as midnights. */
static void put_times(FILE *out, const struct page *page, const struct columns *columns)
{
	uint64_t span_ns = columns->end_ns - columns->begin_ns;
	uint64_t step_s = label_step_s(span_ns / NS_PER_S);
	uint64_t step_ns = page->is_recording
				   ? (uint64_t)(picture_time_step((double)span_ns / 1e9) * 1e9)
				   : step_s * NS_PER_S;
	time_t begin_s = (time_t)(columns->begin_ns / NS_PER_S);
	uint64_t at_ns = columns->begin_ns;
	struct tm parts = { 0 };
	char text[32];

	if (!page->is_recording && localtime_r(&begin_s, &parts))
		at_ns = ((uint64_t)begin_s + step_s -
			 (uint64_t)(begin_s + parts.tm_gmtoff) % step_s) *
			NS_PER_S;
	fputs("<div class=\"times\" aria-hidden=\"true\">", out);
	for (int i = 0; i <= LABELS_MAX && at_ns <= columns->end_ns; i++, at_ns += step_ns) {
		double share = share_of(columns, at_ns);

		print_time(text, sizeof(text), page, at_ns,
			   step_s >= S_PER_DAY ? TIME_DAY
			   : step_s >= 60      ? TIME_OF_DAY
					       : TIME_WITH_SECONDS);
		fprintf(out, "<span%s style=\"left:%.2f%%\">%s</span>",
			share < 3    ? " class=\"begin\""
			: share > 97 ? " class=\"end\""
				     : "",
			share, text);
	}
	fputs("</div>\n", out);
}

/* "14:03:07: 800 MHz -> 1400 MHz, io-boost (fio, pid 812)" */
static char *describe(const struct page *page, const struct domain_column *column)
{
	const struct decision *decision = &column->decision;
	_cleanup_free_ char *from = format_frequency(decision->previous_khz);
	_cleanup_free_ char *to = format_frequency(decision->target_khz);
	_cleanup_free_ char *reason = format_reason(
		reason_name(decision->reason), decision->comm[0] ? decision->comm : NULL,
		decision->pid, limiter_name(decision->limiter), timing_name(decision->timing));
	char at[32], others[48] = "";

	print_time(at, sizeof(at), page, decision->now_ns, TIME_WHOLE);
	if (column->n_decisions > 1)
		snprintf(others, sizeof(others), "; the last of %" PRIu32 " here",
			 column->n_decisions);
	return format_print("%s: %s → %s, %s%s", at, from, to, reason ?: "?", others);
}

/* What the script shows at the pointer: the column, and the decision as text. */
static void put_decisions(FILE *out, const struct page *page, const struct domain_column *columns)
{
	bool is_first = true;

	fputs("<script type=\"application/json\">[", out);
	for (uint32_t i = 0; i < COLUMNS_N; i++) {
		_cleanup_free_ char *text = NULL, *clean = NULL, *json = NULL;
		json_auto_t *string = NULL;

		if (!columns[i].decision.target_khz)
			continue;
		text = describe(page, &columns[i]);
		clean = format_clean(text);
		string = json_string(clean);
		json = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
		fprintf(out, "%s[%u,", is_first ? "" : ",\n", i);
		/* No tag can end the script. */
		for (const char *c = json ?: "\"?\""; *c; c++)
			fputs(*c == '<' ? "\\u003c" : (const char[]){ *c, 0 }, out);
		fputc(']', out);
		is_first = false;
	}
	fputs("]</script>", out);
}

/* The picture in words: its range, and the reasons with their shares of the known time. */
static void put_summary(FILE *out, const struct domain_column *columns)
{
	uint32_t n[REASON_LAST + 1] = { 0 }, known = 0, least_khz = UINT32_MAX, most_khz = 0;

	for (uint32_t i = 0; i < COLUMNS_N; i++) {
		if (!columns[i].least_khz || columns[i].reason > REASON_LAST)
			continue;
		n[columns[i].reason]++;
		known++;
		least_khz = columns[i].least_khz < least_khz ? columns[i].least_khz : least_khz;
		most_khz = columns[i].most_khz > most_khz ? columns[i].most_khz : most_khz;
	}
	if (!known) {
		fputs("nothing is known of this time", out);
		return;
	}
	fprintf(out, "%u to %u MHz", least_khz / 1000, most_khz / 1000);
	for (int i = 0; i <= REASON_LAST; i++)
		if (n[i])
			fprintf(out, ", %s %u %%", reason_name(i),
				(n[i] * 100 + known / 2) / known);
}

static void put_domain(FILE *out, const struct page *page, const struct columns *columns,
		       uint32_t i)
{
	const struct topology_domain *info = &page->topology->domains[i];
	const json_t *domain = json_array_get(page->domains, i);

	fputs("<figure>\n<h3>", out);
	svg_escape(out, info->name);
	fputs(" <small>", out);
	svg_escape(out, field_text(domain, "note") ?: "");
	fputs("</small></h3>\n<div class=\"panel\"><div class=\"scale\">", out);
	fprintf(out, "<span>%u MHz</span><span>0</span></div>\n<div class=\"picture domain\">",
		topology_domain_max_khz(info) / 1000);
	fprintf(out,
		"<svg role=\"img\" viewBox=\"0 0 %d %d\" height=\"%d\" "
		"preserveAspectRatio=\"none\" aria-label=\"",
		COLUMNS_N, PICTURE_DOMAIN, PICTURE_DOMAIN);
	svg_escape(out, info->name);
	fputs(": ", out);
	put_summary(out, columns->domains[i]);
	fputs("\">\n", out);
	picture_domain(out, info, columns->domains[i]);
	fputs("</svg>\n", out);
	put_decisions(out, page, columns->domains[i]);
	fputs("</div></div>\n", out);
	put_times(out, page, columns);
	fputs("<p class=\"said\">", out);
	put_summary(out, columns->domains[i]);
	fputs("</p>\n</figure>\n", out);
}

static void put_swatch(FILE *out, struct picture_colour colour)
{
	fprintf(out, "<li><span class=\"swatch\" style=\"background:var(--%s)\"></span>%s</li>\n",
		colour.name, colour.name);
}

static void put_tasks(FILE *out, struct page *page, struct columns *columns)
{
	uint32_t n = picture_sort_tasks(columns);

	if (!n)
		return;
	fputs("<h3>Tasks and the states of their I/O boosts</h3>\n<ul class=\"legend\">\n", out);
	for (int i = 0; i <= IO_BOOST_CANT_TELL; i++)
		put_swatch(out, picture_state(i));
	fputs("</ul>\n", out);
	for (uint32_t i = 0; i < n; i++) {
		_cleanup_free_ char *task = format_task(columns->tasks[i].comm,
							columns->tasks[i].pid);

		fputs("<p class=\"small\">", out);
		svg_escape(out, task ?: "?");
		fprintf(out,
			"</p>\n<div class=\"panel\"><div class=\"scale\"></div><div "
			"class=\"picture\">"
			"<svg role=\"img\" viewBox=\"0 0 %d %d\" height=\"%d\" "
			"preserveAspectRatio=\"none\" aria-label=\"boosted in %u %% of the time\">\n",
			COLUMNS_N, PICTURE_TASK, PICTURE_TASK,
			columns->tasks[i].boosted * 100 / COLUMNS_N);
		picture_task(out, &columns->tasks[i]);
		fputs("</svg></div></div>\n", out);
	}
}

static int compare_uses(const void *a, const void *b)
{
	const struct column_use *first = a, *second = b;

	return (first->ns < second->ns) - (first->ns > second->ns);
}

static void put_uses(FILE *out, struct columns *columns)
{
	static const struct table_column table[] = {
		{ "TASK", "comm" },
		{ "BY", "reason" },
		{ "TIME", "us", cell_duration },
		{ "MEAN MHZ", "mhz" },
	};
	json_auto_t *rows = json_array();

	qsort(columns->uses, columns->n_uses, sizeof(columns->uses[0]), compare_uses);
	for (uint32_t i = 0; i < columns->n_uses && i < 16; i++) {
		const struct column_use *use = &columns->uses[i];
		json_t *row;

		if (!use->ns)
			continue;
		row = json_pack("{so ss sI sI}", "comm", format_json(use->comm), "reason",
				reason_name(use->reason), "us", (json_int_t)(use->ns / NS_PER_US),
				"mhz", (json_int_t)(use->khz_s / ((double)use->ns / 1e9) / 1000));
		json_array_append_new(rows, row);
	}
	if (columns->unlisted_ns)
		json_array_append_new(rows,
				      json_pack("{ss ss sI}", "comm", "others", "reason", "-", "us",
						(json_int_t)(columns->unlisted_ns / NS_PER_US)));
	fputs("<h3>Tasks that decided a frequency</h3>\n", out);
	html_table(out, TABLE(table), rows, "No task did: only the utilisation of CPUs.");
}

static void put_sums(FILE *out, const struct columns *columns)
{
	static const struct table_column table[] = {
		{ "LIMITED BY", "by" },
		{ "TIME OF ALL DOMAINS", "us", cell_duration },
	};
	json_auto_t *rows = json_array();

	for (int i = LIMITER_NONE + 1; i <= LIMITER_LAST; i++)
		if (columns->limiter_ns[i])
			json_array_append_new(
				rows, json_pack("{ss sI}", "by", limiter_name(i), "us",
						(json_int_t)(columns->limiter_ns[i] / NS_PER_US)));
	fputs("<h3>Limits that changed the outcome</h3>\n", out);
	html_table(out, TABLE(table), rows, "None: wakegov got each frequency that it wanted.");
}

void page_put_period(FILE *out, struct page *page, uint32_t i)
{
	struct columns *columns = &page->periods[i].columns;

	fprintf(out, "<section class=\"period\" id=\"period-%u\">\n<h2>Frequency, %s</h2>\n", i,
		page->periods[i].title);
	fputs("<ul class=\"legend\" aria-label=\"Colours: the reason for the frequency\">\n", out);
	for (int reason = 0; reason <= REASON_LAST; reason++)
		put_swatch(out, picture_reason(reason));
	fputs("</ul>\n", out);
	for (uint32_t domain = 0; domain < columns->n_domains; domain++)
		put_domain(out, page, columns, domain);
	put_tasks(out, page, columns);
	put_uses(out, columns);
	put_sums(out, columns);
	fputs("</section>\n", out);
}
