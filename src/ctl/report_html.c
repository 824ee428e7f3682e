// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl report --html: the page is page.html, which the build embeds, with the replies as
 * lines of JSON in its place for data. Its script draws them. As "<" is escaped, no name can end
 * the script element. Decisions of a week come without what they rest on, which explain --at shows:
 * the page would be five times as long.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "shared/version.h"

#define WEEK_US (7 * 24 * 3600 * US_PER_S)
#define MARK	"{{data}}"

static const char template[] =
#include "page.html.inc"
	;

FILE *page_open(const char *path)
{
	FILE *out = ctl_open_output(path);

	if (out)
		fwrite(template, 1, (size_t)(strstr(template, MARK) - template), out);
	return out;
}

void page_put(FILE *out, const char *json)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
	fputc('\n', out);
}

void page_put_object(FILE *out, json_t *object)
{
	_cleanup_free_ char *json = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);

	page_put(out, json ?: "{}");
	json_decref(object);
}

enum ctl_exit page_close(FILE *out, const char *path, enum ctl_exit code)
{
	fputs(strstr(template, MARK) + strlen(MARK), out);
	return ctl_close_output(out, path, code);
}

static void put_decision(FILE *out, json_t *decision)
{
	static const char *const left_out[] = { "monotonic_us", "n_contenders", "contenders",
						"io",		"clamps",	"skipped",
						"read_back_khz" };

	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		json_object_del(decision, left_out[i]);
	page_put_object(out, json_incref(decision));
}

/* Puts page after page of the replies, and then what holds for all. */
static enum ctl_exit put_decisions(const struct ctl *ctl, FILE *out, uint64_t now_us)
{
	/* The clock may be in the first week of 1970. */
	uint64_t since_us = now_us > WEEK_US ? now_us - WEEK_US : 0, from = 0;
	bool is_complete = true;

	do {
		json_auto_t *reply = NULL;
		json_t *decision;
		enum ctl_exit code = ctl_call(ctl, "io.wakegov.Decisions",
					      json_pack("{sI so*}", "since_realtime_us",
							(json_int_t)since_us, "from",
							ctl_nonzero(from)),
					      &reply);
		size_t i;

		if (code != CTL_OK)
			return code;
		json_array_foreach(json_object_get(reply, "decisions"), i, decision)
			put_decision(out, decision);
		from = field_number(reply, "next");
		is_complete = !json_is_false(json_object_get(reply, "is_complete"));
	} while (from);
	page_put_object(out, json_pack("{sI sb}", "end_us", (json_int_t)now_us, "is_complete",
				       is_complete));
	return CTL_OK;
}

enum ctl_exit report_html(const struct ctl *ctl, const char *path)
{
	json_auto_t *status = NULL, *stats = NULL, *explanations = json_array();
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Status", NULL, &status);
	struct moment now = moment_now();
	char host[65] = "this machine";
	FILE *out;

	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Stats", NULL, &stats);
	if (code == CTL_OK)
		code = explain_domains(ctl, json_object_get(status, "domains"), NULL, explanations);
	if (code != CTL_OK)
		return code;
	out = page_open(path);
	if (!out)
		return CTL_REFUSED;
	gethostname(host, sizeof(host) - 1);
	page_put_object(out,
			json_pack("{so ss sO so sO sO sO}", "title",
				  json_sprintf("wakegov on %s", host), "version", wakegov_version,
				  "words", words_all(), "machine", machine_find("/sys"), "status",
				  status, "stats", stats, "explanations", explanations));
	return page_close(out, path, put_decisions(ctl, out, now.realtime_us));
}
