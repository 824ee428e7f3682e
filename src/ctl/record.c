// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl record: the daemon sends the recording, and the client writes the file with its own
 * rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/buffer.h"
#include "varlink/caller.h"

#define MESSAGE_MAX   (1u << 20)
#define BYTES_PER_MIB (1ULL << 20)

struct session {
	const struct ctl *ctl;
	const char *path;
	FILE *out; /* NULL until the daemon records, so that a refusal leaves an existing file */
	int fd;
	int signals;
	uint64_t until_ns; /* 0: until a signal */
	bool stopped;
	struct frame_reader replies;
	char *ended; /* why it stopped; NULL: it has not */
	uint64_t bytes;
};

/* Four characters are three bytes, fewer before "=". */
static int write_base64(FILE *out, const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	int n = 0;

	for (; *text && *text != '='; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)(digit - digits);
		if (n++ % 4)
			fputc(bits >> (6 - 2 * ((n - 1) % 4)) & 0xff, out);
	}
	return 0;
}

/*
 * Writes one block of the recording. Only the file's owner may read it, as it holds names and I/O
 * of other users' tasks.
 */
static int write_data(struct session *session, const char *data)
{
	int fd, r = 0;

	if (!session->out) {
		fd = open(session->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		session->out = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (session->out)
		r = write_base64(session->out, data);
	if (session->out && !fflush(session->out) && !ferror(session->out))
		return r;
	complain("cannot write %s: %s", session->path, strerror(errno));
	return -ECANCELED;
}

static int on_reply(struct session *session, const char *text, size_t length)
{
	json_auto_t *reply = json_loadb(text, length, 0, NULL);
	const json_t *parameters = json_object_get(reply, "parameters");
	const char *data = field_text(parameters, "data");
	const char *ended = field_text(parameters, "ended");
	int r;

	if (field_text(reply, "error")) {
		complain_refusal(session->ctl->command->name, reply);
		return -ECANCELED;
	}
	if (!data)
		return -EBADMSG;
	r = write_data(session, data);
	session->bytes = field_number(parameters, "bytes");
	session->ended = ended ? strdup(ended) : NULL;
	return r;
}

/* Receives all that has arrived. -ECANCELED: it stops, and the reason was printed. */
static int read_replies(struct session *session)
{
	const char *message;
	size_t length;
	ssize_t n = buffer_receive(&session->replies.input, session->fd);
	int r;

	if (n == 0)
		return -ECONNRESET;
	if (n < 0)
		return n == -EAGAIN || n == -EINTR ? 0 : (int)n;
	while ((r = frame_reader_peek(&session->replies, &message, &length)) > 0) {
		r = on_reply(session, message, length);
		frame_reader_pop(&session->replies, length);
		if (r < 0)
			return r;
	}
	return r;
}

/* Uses a connection of its own: that of the recording takes no other call. */
static void stop(struct session *session)
{
	session->stopped = true;
	session->until_ns = 0;
	ctl_call(session->ctl, "io.wakegov.StopRecording", NULL, NULL);
}

static int follow(struct session *session)
{
	struct pollfd fds[] = { { .fd = session->fd, .events = POLLIN },
				{ .fd = session->signals, .events = POLLIN } };
	int r = 0;

	while (r == 0 && !session->ended) {
		uint64_t now_ns = time_now_ns(), left_ms;
		int n, wait_ms = -1;

		if (session->until_ns && now_ns >= session->until_ns)
			stop(session);
		if (session->until_ns) {
			left_ms = (session->until_ns - now_ns) / NS_PER_MS + 1;
			wait_ms = left_ms < INT_MAX ? (int)left_ms : INT_MAX;
		}
		n = poll(fds, session->stopped ? 1 : 2, wait_ms);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && fds[0].revents)
			r = read_replies(session);
		if (n > 0 && !session->stopped && fds[1].revents)
			stop(session);
	}
	return r;
}

static enum ctl_exit record(struct session *session, uint64_t max_bytes)
{
	const struct ctl *ctl = session->ctl;
	uint64_t deadline_ns = caller_deadline(ctl->timeout_ns);
	_cleanup_free_ char *size = NULL;
	int r;

	session->signals = ctl_catch_signals();
	if (session->signals < 0)
		return CTL_REFUSED;
	session->fd = caller_open(ctl->path, deadline_ns);
	if (session->fd < 0)
		return complain_open(ctl->path, session->fd);
	frame_reader_set_max(&session->replies, MESSAGE_MAX);
	r = caller_send(session->fd, "io.wakegov.Record",
			json_pack("{sI}", "max_bytes", (json_int_t)max_bytes), true, deadline_ns);
	if (r == 0)
		r = follow(session);
	if (r == -ECANCELED)
		return CTL_REFUSED;
	if (r < 0 || !strcmp(session->ended, "failed")) {
		complain("%s: %s; what is there can be replayed up to where it ends", session->path,
			 r == 0		    ? "wakegovd could not go on"
			 : r == -ECONNRESET ? "wakegovd hung up"
					    : strerror(-r));
		return CTL_LOST;
	}
	size = format_size(session->bytes >> 10);
	printf("%s: %s%s\n", session->path, size,
	       !strcmp(session->ended, "size") ? ", ended at its --max-size" : "");
	return ctl_flush();
}

enum ctl_exit command_record(struct ctl *ctl)
{
	const char *size = ctl_value(ctl, "max-size");
	struct session session = {
		.ctl = ctl, .path = ctl_value(ctl, "output"), .fd = -1, .signals = -1
	};
	uint64_t duration_us = 0, mib = 64;
	enum ctl_exit code;

	if (!session.path)
		return ctl_misuse(ctl, "expected -o FILE: where to write the recording");
	if (!ctl_duration(ctl, "for", &duration_us))
		return CTL_USAGE;
	if (size && (!quantity_number(size, &mib) || !mib || mib > 1 << 20))
		return ctl_misuse(ctl, "--max-size %s: expected a number of MiB, such as 64", size);
	if (duration_us)
		session.until_ns = time_now_ns() + duration_us * NS_PER_US;
	code = record(&session, mib * BYTES_PER_MIB);
	if (session.out)
		code = ctl_close_output(session.out, session.path, code);
	frame_reader_deinit(&session.replies);
	close_fdp(&session.fd);
	close_fdp(&session.signals);
	free(session.ended);
	return code;
}
