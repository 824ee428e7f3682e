// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl replay and report --from: read a recording, without a daemon. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/load.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "record/record.h"
#include "shared/cleanup.h"
#include "shared/cpu_mask.h"
#include "shared/time.h"

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

/* A cut is no failure: everything before it is valid. */
static void say_cut(const struct recording *recording)
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
	code = ctl_print(ctl, json, "replay", NULL);
	if (r == REPLAY_CUT)
		say_cut(recording);
	return code == CTL_OK && r == REPLAY_DIFFERS ? CTL_DIFFERS : code;
}

static enum ctl_exit end_events(const struct recording *recording, int r)
{
	if (r < 0)
		return complain_file(recording, r, "");
	if (r == RECORD_CUT)
		say_cut(recording);
	return CTL_OK;
}

static void print_event(FILE *out, const char *line)
{
	fprintf(out, "%s\n", line);
}

static enum ctl_exit print_events(const struct recording *recording)
{
	enum ctl_exit code = end_events(recording,
					events_put(recording->reader, false, print_event, stdout));

	return code == CTL_OK ? ctl_flush() : code;
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
	code = ctl_print(ctl, json, "what_if", what_if_add);
	if (what_if.cut)
		say_cut(recording);
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
	if (ctl_value(ctl, "events"))
		return print_events(&recording);
	return policy_path ? replay_under(ctl, &recording, policy_path) : replay(ctl, &recording);
}

/* What all of the page is about: the domains, as Status has them, and the beginning. */
static void put_head(FILE *out, const struct recording *recording)
{
	const struct topology *topology = recording->reader->topology;
	const char *slash = strrchr(recording->path, '/');
	json_t *domains = json_array();

	for (uint32_t i = 0; i < topology->n_domains; i++) {
		const struct topology_domain *info = &topology->domains[i];
		struct cpu_mask mask = { 0 };
		char cpus[CPU_MASK_TEXT_SIZE];

		topology_for_each_cpu(topology, cpu, i)
			cpu_mask_add(&mask, cpu);
		cpu_mask_print_list(&mask, cpus, sizeof(cpus));
		json_array_append_new(domains,
				      json_pack("{so ss sI sI}", "name", format_json(info->name),
						"cpus", cpus, "lowest_opp_khz",
						(json_int_t)info->opp_khz[0], "highest_opp_khz",
						(json_int_t)topology_domain_max_khz(info)));
	}
	page_put_object(out, json_pack("{so sI so sO}", "title",
				       format_json(slash ? slash + 1 : recording->path), "begin_us",
				       (json_int_t)(recording->reader->begin_ns / NS_PER_US),
				       "domains", domains, "words", words_all()));
}

enum ctl_exit report_html_of_recording(const struct ctl *ctl, const char *path)
{
	_cleanup_(close_recording) struct recording recording = { 0 };
	enum ctl_exit code = open_file(ctl_value(ctl, "from"), &recording);
	FILE *out;
	int r;

	if (code != CTL_OK)
		return code;
	out = page_open(path);
	if (!out)
		return CTL_REFUSED;
	put_head(out, &recording);
	r = events_put(recording.reader, true, page_put, out);
	page_put_object(out, json_pack("{sI}", "end_us",
				       (json_int_t)(recording.reader->end_ns / NS_PER_US)));
	return page_close(out, path, end_events(&recording, r));
}
