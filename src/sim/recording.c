// SPDX-License-Identifier: GPL-2.0-only
#include "sim/recording.h"

#include <errno.h>
#include <string.h>

#include "record/replay.h"
#include "shared/cleanup.h"

int recording_open(struct recording *recording, const char *path)
{
	struct record_sink sink = { .write = record_write_file };
	_cleanup_fclose_ FILE *file = fopen(path, "we");
	int r = -errno;

	if (!file) {
		fprintf(stderr, "wakegov-sim: --record: cannot write %s: %s\n", path, strerror(-r));
		return r;
	}
	sink.userdata = file;
	*recording = (struct recording){ .path = path, .recorder = recorder_new(&sink) };
	if (!recording->recorder) {
		fprintf(stderr, "wakegov-sim: --record: %s\n", strerror(ENOMEM));
		return -ENOMEM;
	}
	recording->file = take_ptr(file);
	return 0;
}

int recording_close(struct recording *recording)
{
	int r = recorder_end(recording->recorder);

	if (fclose(recording->file) != 0 && r == 0)
		r = -errno;
	recording->recorder = recorder_free(recording->recorder);
	if (r < 0)
		fprintf(stderr, "wakegov-sim: --record: %s is not whole: %s\n", recording->path,
			strerror(-r));
	return r;
}

static void print_difference(FILE *out, const struct topology *topology, uint64_t offset,
			     const struct replay *replay)
{
	fprintf(out, "%llu inputs, %llu decisions; the first that differs is at byte %llu\n",
		(unsigned long long)replay->n_inputs, (unsigned long long)replay->n_decisions,
		(unsigned long long)offset);
	if (replay->other_end) {
		fprintf(out, "recorded: the boost of task %u ended\n", replay->recorded_handle);
		if (replay->replayed_handle == UINT32_MAX)
			fprintf(out, "replayed: none did\n");
		else
			fprintf(out, "replayed: that of task %u did\n", replay->replayed_handle);
		return;
	}
	fputs("recorded: ", out);
	replay_print_decision(out, topology, &replay->recorded);
	fputs("\nreplayed: ", out);
	replay_print_decision(out, topology, &replay->replayed);
	fputc('\n', out);
}

static int replay_reader(struct record_reader *reader, const char *path, FILE *out)
{
	struct replay replay;
	int r = record_reader_begin(reader);

	if (r == 0)
		r = replay_run(reader, NULL, NULL, &replay);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", path,
			r == -ENOMEM ? strerror(ENOMEM) : record_reader_why(reader));
		return r;
	}
	if (r == REPLAY_DIFFERS) {
		print_difference(out, record_reader_topology(reader), record_reader_offset(reader),
				 &replay);
		return 1;
	}
	fprintf(out, "%llu inputs, %llu decisions, all the same\n",
		(unsigned long long)replay.n_inputs, (unsigned long long)replay.n_decisions);
	if (r == REPLAY_CUT)
		fprintf(stderr, "%s: %s\n", path, record_reader_why(reader));
	return 0;
}

int recording_replay(const char *path, FILE *out)
{
	struct record_source source = { .read = record_read_file };
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct record_reader *reader;
	int r = -errno;

	if (!file) {
		fprintf(stderr, "wakegov-sim: --replay: cannot read %s: %s\n", path, strerror(-r));
		return r;
	}
	source.userdata = file;
	reader = record_reader_new(&source);
	if (!reader) {
		fprintf(stderr, "wakegov-sim: --replay: %s\n", strerror(ENOMEM));
		return -ENOMEM;
	}
	r = replay_reader(reader, path, out);
	record_reader_free(reader);
	return r;
}
