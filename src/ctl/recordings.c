// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl replay and export: read a recording, without a daemon. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "ctl/command.h"
#include "ctl/format.h"
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
	const char *reason = recording->reader ? record_reader_why(recording->reader) : "";

	complain("%s: %s%s", recording->path,
		 error == -ENOMEM || !reason[0] ? strerror(-error) : reason, advice);
	return CTL_REFUSED;
}

/* Opens the recording that is the only argument. The caller closes it in any case. */
static enum ctl_exit open_recording(const struct ctl *ctl, struct recording *ret)
{
	struct record_source source = { .read = record_read_file };
	int r = 0;

	*ret = (struct recording){ 0 };
	if (ctl->n_arguments != 1) {
		ctl_misuse(ctl, "%s takes one recording", ctl->command->name);
		return CTL_USAGE;
	}
	ret->path = ctl->arguments[0];
	source.userdata = ret->file = fopen(ret->path, "re");
	if (!ret->file)
		r = -errno;
	else if (!(ret->reader = record_reader_new(&source)))
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
	complain("%s: %s; all before it was read", recording->path,
		 record_reader_why(recording->reader));
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
	json = replay_json(record_reader_topology(reader), r, &replay,
			   record_reader_offset(reader));
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
	json = what_if_json(&what_if, record_reader_topology(recording->reader), policy_path);
	code = ctl_print(ctl, json, what_if_show);
	if (what_if.cut)
		note_cut(recording);
	return code;
}

enum ctl_exit command_replay(struct ctl *ctl)
{
	_cleanup_(close_recording) struct recording recording;
	const char *policy_path = ctl_value(ctl, "policy");
	enum ctl_exit code = open_recording(ctl, &recording);

	if (code != CTL_OK)
		return code;
	return policy_path ? replay_under(ctl, &recording, policy_path) : replay(ctl, &recording);
}

static enum ctl_exit export_perfetto(const struct ctl *ctl, const char *path)
{
	_cleanup_(close_recording) struct recording recording;
	enum ctl_exit code = open_recording(ctl, &recording);
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

/* Reads the file twice, as the width of a second in the picture depends on the end. */
static enum ctl_exit export_plot(const struct ctl *ctl, const char *path)
{
	_cleanup_(close_recording) struct recording first, recording = { 0 };
	_cleanup_(columns_deinit) struct columns columns = { 0 };
	enum ctl_exit code = open_recording(ctl, &first);
	_cleanup_free_ char *title = NULL;
	struct timeline measured;
	const char *slash;
	FILE *out;
	int r;

	if (code != CTL_OK)
		return code;
	r = timeline_measure(first.reader, &measured);
	if (r < 0)
		return complain_file(&first, r, "");
	if (measured.cut)
		note_cut(&first);
	code = open_recording(ctl, &recording);
	if (code != CTL_OK)
		return code;
	r = columns_fill(recording.reader, &measured, &columns);
	if (r < 0)
		return complain_file(&recording, r, "");
	out = ctl_open_output(path);
	if (!out)
		return CTL_REFUSED;
	slash = strrchr(recording.path, '/');
	title = format_clean(slash ? slash + 1 : recording.path);
	picture_write(out, title, record_reader_topology(recording.reader), &columns);
	return ctl_close_output(out, path, CTL_OK);
}

enum ctl_exit command_export(struct ctl *ctl)
{
	const char *trace_path = ctl_value(ctl, "perfetto"), *plot_path = ctl_value(ctl, "plot");
	enum ctl_exit code = CTL_OK;

	if (!trace_path && !plot_path)
		return ctl_misuse(ctl, "expected --perfetto FILE, --plot FILE, or both");
	if (trace_path)
		code = export_perfetto(ctl, trace_path);
	if (code == CTL_OK && plot_path)
		code = export_plot(ctl, plot_path);
	return code;
}
