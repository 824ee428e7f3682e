// SPDX-License-Identifier: GPL-2.0-only
/* Fills page.html, which the build embeds, with the data of the report. */
#include "ctl/page.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "shared/cleanup.h"

static const char template[] =
#include "page.html.inc"
	;

static void put_about(FILE *out, struct page *page)
{
	const json_t *note;
	size_t i;

	json_array_foreach(page->notes, i, note)
		html_paragraph(out, "%s", json_string_value(note));
}

static void put_periods(FILE *out, struct page *page)
{
	/* Style shows the only one without a choice. */
	for (uint32_t i = 0; page->n_periods > 1 && i < page->n_periods; i++)
		fprintf(out,
			"<input class=\"choice\" type=\"radio\" name=\"period\" id=\"choice-%u\"%s>"
			"<label for=\"choice-%u\">%s</label>\n",
			i, i ? "" : " checked", i, page->periods[i].title);
	for (uint32_t i = 0; i < page->n_periods; i++)
		page_put_period(out, page, i);
}

static void put_rest(FILE *out, struct page *page)
{
	static const struct table_column columns[] = {
		{ "DOMAIN", "domain" },
		{ "WHO", "who" },
		{ "WHAT", "text" },
	};

	static const struct table_column machine[] = {
		{ "MACHINE", "name" },
		{ "NOW", "text" },
	};

	if (page->is_recording)
		return;
	fputs("<h2>Limits and heat, now</h2>\n", out);
	html_table(out, TABLE(machine), page->machine,
		   "This machine shows no turbo, no temperature, no throttling and no power.");
	html_table(out, TABLE(columns), page->limiters,
		   "Nothing beside wakegov limits a domain now: no heat, no firmware, no other "
		   "program.");
	fputs("<h2>What boosts gained</h2>\n", out);
	html_table(out, &stats_gains_table, json_object_get(page->stats, "gains"),
		   "No boost was tried since wakegovd started.");
}

static void put_title(FILE *out, struct page *page)
{
	svg_escape(out, page->title);
}

void page_write(FILE *out, struct page *page)
{
	static const struct {
		const char *mark;
		void (*put)(FILE *out, struct page *page);
	} parts[] = {
		{ "{{title}}", put_title },
		{ "{{about}}", put_about },
		{ "{{periods}}", put_periods },
		{ "{{rest}}", put_rest },
	};
	const char *at = template, *mark;

	while ((mark = strstr(at, "{{"))) {
		fwrite(at, 1, (size_t)(mark - at), out);
		at = strstr(mark, "}}") + strlen("}}");
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
			if (!strncmp(mark, parts[i].mark, strlen(parts[i].mark)))
				parts[i].put(out, page);
	}
	fputs(at, out);
}

void page_deinit(struct page *page)
{
	for (uint32_t i = 0; i < page->n_periods; i++)
		columns_deinit(&page->periods[i].columns);
	free(page->title);
	json_decref(page->notes);
	json_decref(page->domains);
	json_decref(page->machine);
	json_decref(page->limiters);
	json_decref(page->stats);
}
