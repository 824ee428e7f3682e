// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl replay, export and report --from: read a recording, without a daemon. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/page.h"
#include "record/export.h"
#include "record/reader.h"
#include "record/replay.h"
#include "shared/cleanup.h"

struct recording {
	const char *path; /* borrowed */
	FILE *file;
	struct record_reader *reader; /* position after record_reader_begin() */
};

static void close_recording(struct recording *recording)
{
	record_reader_free(recording->reader);
	if (recording->file)
		fclose(recording->file);
}

/* Says what is wrong with the file and where, or why it cannot be read, and what to do. */
static enum ctl_exit complain_file(const struct recording *recording, int error, const char *advice)
{
	const char *reason = recording->reader ? recording->reader->why : "";

	complain("%s: %s%s", recording->path,
		 error == -ENOMEM || !reason[0] ? strerror(-error) : reason, advice);
	return CTL_REFUSED;
}

/* The caller closes it in any case. */
static enum ctl_exit open_file(const char *path, struct recording *ret)
{
	int r = 0;

	*ret = (struct recording){ .path = path };
	ret->file = fopen(ret->path, "re");
	if (!ret->file)
		r = -errno;
	else if (!(ret->reader = record_reader_new(ret->file)))
		r = -ENOMEM;
	else
		r = record_reader_begin(ret->reader);
	if (r == 0)
		return CTL_OK;
	return complain_file(ret, r,
			     r == -EPROTONOSUPPORT || r == -ENOMEM
				     ? ""
				     : ". A recording is made by: wakegovctl record -o FILE");
}

/* No failure: everything before the cut is valid. */
static void note_cut(const struct recording *recording)
{
	complain("%s: %s; all before it was read", recording->path, recording->reader->why);
}

static enum ctl_exit replay(const struct ctl *ctl, struct recording *recording)
{
	struct record_reader *reader = recording->reader;
	json_auto_t *json = NULL;
	struct replay replay;
	enum ctl_exit code;
	int r = replay_run(reader, NULL, &replay);

	if (r < 0)
		return complain_file(recording, r, "");
	json = replay_json(reader, r, &replay);
	code = ctl_print(ctl, json, replay_show);
	if (r == REPLAY_CUT)
		note_cut(recording);
	return code == CTL_OK && r == REPLAY_DIFFERS ? CTL_DIFFERS : code;
}

static enum ctl_exit replay_under(const struct ctl *ctl, struct recording *recording,
				  const char *policy_path)
{
	_cleanup_(what_if_deinit) struct what_if what_if = { 0 };
	_cleanup_free_ char *message = NULL;
	json_auto_t *json = NULL;
	enum ctl_exit code;
	struct policy policy;
	int r = policy_load(policy_path, false, NULL, &policy, &message);

	if (r < 0) {
		complain_lines("", message ? message : strerror(-r));
		return CTL_REFUSED;
	}
	r = what_if_run(recording->reader, &policy, &what_if);
	if (r < 0)
		return complain_file(recording, r, "");
	json = what_if_json(&what_if, recording->reader, policy_path);
	code = ctl_print(ctl, json, what_if_show);
	if (what_if.cut)
		note_cut(recording);
	return code;
}

enum ctl_exit command_replay(struct ctl *ctl)
{
	_cleanup_(close_recording) struct recording recording = { 0 };
	const char *policy_path = ctl_value(ctl, "policy");
	enum ctl_exit code;

	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl, "replay takes one recording");
	code = open_file(ctl->arguments[0], &recording);
	if (code != CTL_OK)
		return code;
	return policy_path ? replay_under(ctl, &recording, policy_path) : replay(ctl, &recording);
}

static enum ctl_exit export_perfetto(const struct ctl *ctl, const char *path)
{
	_cleanup_(close_recording) struct recording recording;
	enum ctl_exit code = open_file(ctl->arguments[0], &recording);
	struct timeline timeline;
	FILE *out;
	int r;

	if (code != CTL_OK)
		return code;
	out = ctl_open_output(path);
	if (!out)
		return CTL_REFUSED;
	r = perfetto_write(recording.reader, out, &timeline);
	if (r < 0)
		code = complain_file(&recording, r, "");
	else if (timeline.cut)
		note_cut(&recording);
	return ctl_close_output(out, path, code);
}

/*
 * Opens the recording and cuts it into columns. Reads it twice, as the width of a second depends on
 * the end. The caller closes both in any case.
 */
static enum ctl_exit read_columns(const char *path, struct recording *ret, struct columns *columns)
{
	_cleanup_(close_recording) struct recording first;
	enum ctl_exit code = open_file(path, &first);
	struct timeline measured;
	int r;

	if (code != CTL_OK)
		return code;
	r = timeline_measure(first.reader, &measured);
	if (r < 0)
		return complain_file(&first, r, "");
	if (measured.cut)
		note_cut(&first);
	code = open_file(path, ret);
	if (code != CTL_OK)
		return code;
	r = columns_fill(ret->reader, &measured, columns);
	return r < 0 ? complain_file(ret, r, "") : CTL_OK;
}

static char *recording_title(const char *path)
{
	const char *slash = strrchr(path, '/');

	return format_clean(slash ? slash + 1 : path);
}

static enum ctl_exit export_plot(const struct ctl *ctl, const char *path)
{
	_cleanup_(close_recording) struct recording recording = { 0 };
	_cleanup_(columns_deinit) struct columns columns = { 0 };
	enum ctl_exit code = read_columns(ctl->arguments[0], &recording, &columns);
	_cleanup_free_ char *title = NULL;
	FILE *out;

	if (code != CTL_OK)
		return code;
	out = ctl_open_output(path);
	if (!out)
		return CTL_REFUSED;
	title = recording_title(recording.path);
	picture_write(out, title, recording.reader->topology, &columns);
	return ctl_close_output(out, path, CTL_OK);
}

/* Of a domain of a recording, for a page. */
static json_t *page_domain(const struct topology *topology, uint32_t i)
{
	const struct topology_domain *info = &topology->domains[i];
	uint32_t n_cpus = 0;

	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		n_cpus += topology->cpu_domain[cpu] == i;
	return json_pack("{so}", "note",
			 json_sprintf("%u CPU%s, %u–%u MHz", n_cpus, n_cpus == 1 ? "" : "s",
				      info->opp_khz[0] / 1000,
				      topology_domain_max_khz(info) / 1000));
}

enum ctl_exit report_html_of_recording(const struct ctl *ctl, const char *path)
{
	_cleanup_(close_recording) struct recording recording = { 0 };
	_cleanup_(page_deinit) struct page page = {
		.is_recording = true,
		.notes = json_pack("[s]", "A recording, without the daemon's sums of gains: "
					  "wakegovctl stats has them on the machine."),
		.domains = json_array(),
		.periods = { { .title = "whole recording" } },
		.n_periods = 1,
	};
	enum ctl_exit code = read_columns(ctl_value(ctl, "from"), &recording,
					  &page.periods[0].columns);
	const struct topology *topology;
	FILE *out;

	if (code != CTL_OK)
		return code;
	page.title = recording_title(recording.path);
	page.topology = topology = recording.reader->topology;
	for (uint32_t i = 0; i < topology->n_domains; i++)
		json_array_append_new(page.domains, page_domain(topology, i));
	out = ctl_open_output(path);
	if (!out)
		return CTL_REFUSED;
	page_write(out, &page);
	return ctl_close_output(out, path, CTL_OK);
}

enum ctl_exit command_export(struct ctl *ctl)
{
	const char *trace_path = ctl_value(ctl, "perfetto"), *plot_path = ctl_value(ctl, "plot");
	enum ctl_exit code = CTL_OK;

	if (!trace_path && !plot_path)
		return ctl_misuse(ctl, "expected --perfetto FILE, --plot FILE, or both");
	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl, "export takes one recording");
	if (trace_path)
		code = export_perfetto(ctl, trace_path);
	if (code == CTL_OK && plot_path)
		code = export_plot(ctl, plot_path);
	return code;
}
