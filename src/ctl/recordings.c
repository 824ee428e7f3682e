// SPDX-License-Identifier: GPL-2.0-only
/* replay and export: what is done with a recording, without a daemon. */
#include "ctl/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "ctl/complain.h"
#include "ctl/format.h"
#include "ctl/replay.h"
#include "record/perfetto.h"
#include "record/picture.h"
#include "record/recording_file.h"
#include "shared/cleanup.h"

#define WHY_SIZE 256

/* The one argument: a recording, opened. */
static enum ctl_exit open_recording(const struct ctl *ctl, struct recording_file *ret)
{
	char why[WHY_SIZE];
	int r;

	*ret = (struct recording_file){ 0 };
	if (ctl->n_arguments != 1)
		return ctl_misuse(ctl, "%s takes one recording", ctl->command->name);
	r = recording_file_open(ret, ctl->arguments[0], why);
	if (r == 0)
		return CTL_OK;
	complain("%s%s", why,
		 r == -EPROTONOSUPPORT || r == -ENOMEM
			 ? ""
			 : ". A recording is made by: wakegovctl record -o FILE");
	return CTL_REFUSED;
}

static enum ctl_exit complain_read(const struct recording_file *recording, int error)
{
	char why[WHY_SIZE];

	recording_file_explain(recording, error, why);
	complain("%s", why);
	return CTL_REFUSED;
}

/* Not a failure: everything before the cut is there. */
static void note_cut(const struct recording_file *recording)
{
	complain("%s: %s; all before it was read", recording->path,
		 record_reader_why(recording->reader));
}

/* Consumes json. */
static enum ctl_exit print(const struct ctl *ctl, json_t *json, void (*show)(const json_t *reply))
{
	enum ctl_exit code = ctl_print(ctl, json, show);

	json_decref(json);
	return code;
}

static enum ctl_exit replay(const struct ctl *ctl, struct recording_file *recording)
{
	struct record_reader *reader = recording->reader;
	struct replay replay;
	enum ctl_exit code;
	int r = replay_run(reader, NULL, &replay);

	if (r < 0)
		return complain_read(recording, r);
	code = print(ctl,
		     replay_json(record_reader_topology(reader), r, &replay,
				 record_reader_offset(reader)),
		     replay_show);
	if (r == REPLAY_CUT)
		note_cut(recording);
	return code == CTL_OK && r == REPLAY_DIFFERS ? CTL_DIFFERS : code;
}

static enum ctl_exit replay_under(const struct ctl *ctl, struct recording_file *recording,
				  const char *policy_path)
{
	_cleanup_(what_if_deinit) struct what_if what_if = { 0 };
	_cleanup_free_ char *message = NULL;
	enum ctl_exit code;
	struct policy policy;
	int r = policy_load(policy_path, false, NULL, &policy, &message);

	if (r < 0) {
		complain_lines("", message ? message : strerror(-r));
		return CTL_REFUSED;
	}
	r = what_if_run(recording->reader, &policy, &what_if);
	if (r < 0)
		return complain_read(recording, r);
	code = print(ctl,
		     what_if_json(&what_if, record_reader_topology(recording->reader), policy_path),
		     what_if_show);
	if (what_if.cut)
		note_cut(recording);
	return code;
}

enum ctl_exit command_replay(struct ctl *ctl)
{
	const char *policy_path = ctl_value(ctl, "policy");
	struct recording_file recording;
	enum ctl_exit code = open_recording(ctl, &recording);

	if (code == CTL_OK)
		code = policy_path ? replay_under(ctl, &recording, policy_path)
				   : replay(ctl, &recording);
	recording_file_close(&recording);
	return code;
}

/* Closes out. A file that is not whole is said to be so. */
static enum ctl_exit close_output(FILE *out, const char *path, enum ctl_exit code)
{
	bool failed = ferror(out);

	failed |= fclose(out) != 0;
	if (!failed || code != CTL_OK)
		return code;
	complain("cannot write %s: %s", path, strerror(errno));
	return CTL_REFUSED;
}

static FILE *open_output(const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		complain("cannot write %s: %s", path, strerror(errno));
	return out;
}

static enum ctl_exit export_perfetto(const struct ctl *ctl, const char *path)
{
	struct recording_file recording;
	enum ctl_exit code = open_recording(ctl, &recording);
	struct timeline timeline;
	FILE *out = NULL;
	int r;

	if (code == CTL_OK && !(out = open_output(path)))
		code = CTL_REFUSED;
	if (code == CTL_OK) {
		r = perfetto_write(recording.reader, out, &timeline);
		if (r < 0)
			code = complain_read(&recording, r);
		else if (timeline.cut)
			note_cut(&recording);
	}
	if (out)
		code = close_output(out, path, code);
	recording_file_close(&recording);
	return code;
}

static enum ctl_exit measure(const struct ctl *ctl, struct timeline *ret)
{
	struct recording_file recording;
	enum ctl_exit code = open_recording(ctl, &recording);
	int r;

	if (code == CTL_OK) {
		r = timeline_measure(recording.reader, ret);
		if (r < 0)
			code = complain_read(&recording, r);
		else if (ret->cut)
			note_cut(&recording);
	}
	recording_file_close(&recording);
	return code;
}

static enum ctl_exit draw(struct recording_file *recording, const char *path,
			  const struct timeline *measured)
{
	_cleanup_(columns_deinit) struct columns columns = { 0 };
	const char *slash = strrchr(recording->path, '/');
	_cleanup_free_ char *title = format_clean(slash ? slash + 1 : recording->path);
	int r = columns_fill(recording->reader, measured, &columns);
	FILE *out;

	if (r < 0)
		return complain_read(recording, r);
	out = open_output(path);
	if (!out)
		return CTL_REFUSED;
	picture_write(out, title, record_reader_topology(recording->reader), &columns);
	return close_output(out, path, CTL_OK);
}

/* The file is read twice: how wide a second is in the picture depends on where it ends. */
static enum ctl_exit export_plot(const struct ctl *ctl, const char *path)
{
	struct recording_file recording;
	struct timeline measured;
	enum ctl_exit code = measure(ctl, &measured);

	if (code != CTL_OK)
		return code;
	code = open_recording(ctl, &recording);
	if (code == CTL_OK)
		code = draw(&recording, path, &measured);
	recording_file_close(&recording);
	return code;
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
