// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl recommend: a policy for this machine, with the reasons. */

#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define LINE 96 /* of the policies that wakegov comes with */

/* A paragraph as comments. */
static void print_comment(FILE *file, const char *text)
{
	_cleanup_free_ char *clean = format_clean(text);
	size_t used = 0;

	for (char *rest, *word = strtok_r(clean, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		if (used && used + 1 + strlen(word) > LINE) {
			fputc('\n', file);
			used = 0;
		}
		used += (size_t)fprintf(file, "%s%s", used ? " " : "# ", word);
	}
	fputc('\n', file);
}

static void print_notes(FILE *file, const json_t *suggestions)
{
	bool is_first = true;
	const json_t *note;
	size_t i;

	json_array_foreach(suggestions, i, note) {
		if (field_text(note, "section"))
			continue;
		fputs(is_first ? "\n# Worth knowing, and not for a policy:\n#\n" : "#\n", file);
		print_comment(file, field_shown(note, "why"));
		is_first = false;
	}
}

void recommend_print(FILE *file, const json_t *suggestions)
{
	const json_t *suggestion, *line;
	const char *before = "";
	bool is_empty = true;
	size_t i, k;

	fputs("# What wakegovctl recommend suggests for this machine, with the reasons. What is commented "
	      "out is for\n"
	      "# you to decide. Check it by wakegovd --check-config FILE, and copy it to\n"
	      "# /etc/wakegov/wakegov.conf.d/recommended.conf; then: systemctl reload wakegovd\n",
	      file);
	print_notes(file, suggestions);
	json_array_foreach(suggestions, i, suggestion) {
		const char *section = field_text(suggestion, "section");
		const char *mark = field_flag(suggestion, "to_decide") ? "#" : "";

		if (!section)
			continue;
		is_empty = false;
		fputc('\n', file);
		print_comment(file, field_shown(suggestion, "why"));
		/* One that is commented out opens no section for the next. */
		if (*mark || strcmp(before, section) != 0)
			fprintf(file, "%s[%s]\n", mark, section);
		before = *mark ? before : section;
		json_array_foreach(json_object_get(suggestion, "lines"), k, line)
			fprintf(file, "%s%s\n", mark, json_string_value(line));
	}
	if (is_empty)
		fputs("\n# Nothing here speaks for another policy than the built-in one.\n", file);
}

static void show(const json_t *suggestions)
{
	recommend_print(stdout, suggestions);
}

enum ctl_exit command_recommend(struct ctl *ctl)
{
	json_auto_t *findings = NULL, *stats = NULL, *status = NULL, *rules = NULL, *found = NULL;
	bool bad;

	findings = doctor_findings(ctl, &bad);
	if (!findings)
		return CTL_REFUSED;
	ctl_try(ctl, "io.wakegov.Stats", json_pack("{ss}", "period", "week"), &stats);
	ctl_try(ctl, "io.wakegov.Status", NULL, &status);
	ctl_try(ctl, "io.wakegov.Rules", NULL, &rules);
	found = recommend_find(&(struct recommend_sources){ .sys = "/sys",
							    .proc = "/proc",
							    .findings = findings,
							    .stats = stats,
							    .status = status,
							    .rules = rules });
	return ctl_print(ctl, found, show);
}
