// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl record: the daemon sends the recording, and the client writes the file with its own
 * rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/caller.h"

#define BYTES_PER_MIB (1ULL << 20)

struct session {
	const struct ctl *ctl;
	const char *path;
	FILE *out; /* NULL until the daemon records, so that a refusal leaves an existing file */
	uint64_t for_us; /* 0: until a signal */
	char *ended;	 /* why it stopped; NULL: it has not */
	uint64_t bytes;
};

/*
 * Writes one block of the recording. Only the file's owner may read it, as it holds names and I/O
 * of other users' tasks.
 */
static int write_data(struct session *session, const char *data)
{
	size_t room = strlen(data);
	_cleanup_free_ uint8_t *block = malloc(room + 1);
	int fd, size = block ? b64_pton(data, block, room + 1) : -1;

	if (size < 0)
		return -EBADMSG;
	if (!session->out) {
		fd = open(session->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		session->out = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (session->out && fwrite(block, 1, (size_t)size, session->out) == (size_t)size &&
	    !fflush(session->out))
		return 0;
	complain("cannot write %s: %s", session->path, strerror(errno));
	return -ECANCELED;
}

/* Returns 0 to continue, 1 at the end, -ECANCELED for a failure that was printed. */
static int on_reply(void *context, const json_t *reply)
{
	struct session *session = context;
	const json_t *parameters = json_object_get(reply, "parameters");
	const char *data = field_text(parameters, "data");
	const char *ended = field_text(parameters, "ended");
	int r;

	if (field_text(reply, "error")) {
		complain_refusal(ctl_name(session->ctl), reply);
		return -ECANCELED;
	}
	if (!data)
		return -EBADMSG;
	r = write_data(session, data);
	session->bytes = field_number(parameters, "bytes");
	session->ended = ended ? strdup(ended) : NULL;
	return r ?: session->ended != NULL;
}

static void fill_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
}

/*
 * A thread: waits for the end of the time or a signal, and stops the recording, by a connection of
 * its own. The last reply then ends the program.
 */
static void *stop(void *context)
{
	const struct session *session = context;
	const struct timespec time = {
		.tv_sec = (time_t)(session->for_us / US_PER_S),
		.tv_nsec = (long)(session->for_us % US_PER_S * 1000),
	};
	sigset_t signals;

	fill_signals(&signals);
	while (sigtimedwait(&signals, NULL, session->for_us ? &time : NULL) < 0 && errno == EINTR)
		;
	ctl_call(session->ctl, "io.wakegov.StopRecording", NULL, NULL);
	return NULL;
}

static enum ctl_exit record(struct session *session, uint64_t max_bytes)
{
	const struct ctl *ctl = session->ctl;
	_cleanup_close_ int fd = caller_open(ctl->path, caller_deadline(ctl->timeout_ns));
	_cleanup_free_ char *size = NULL;
	sigset_t signals;
	pthread_t thread;
	int r;

	if (fd < 0)
		return complain_open(ctl->path, fd);
	fill_signals(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	r = -pthread_create(&thread, NULL, stop, session);
	if (r == 0)
		r = caller_stream(fd, "io.wakegov.Record",
				  json_pack("{sI}", "max_bytes", (json_int_t)max_bytes), on_reply,
				  session);
	if (r == -ECANCELED)
		return CTL_REFUSED;
	if (r < 0 || !strcmp(session->ended, "failed")) {
		complain("%s: %s; what is there can be replayed up to where it ends", session->path,
			 r > 0		    ? "wakegovd could not go on"
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
	struct session session = { .ctl = ctl, .path = ctl_value(ctl, "output") };
	uint64_t mib = 64;
	enum ctl_exit code;

	if (!session.path)
		return ctl_misuse(ctl, "expected -o FILE: where to write the recording");
	if (!ctl_duration(ctl, "for", &session.for_us))
		return CTL_USAGE;
	if (size && (!quantity_number(size, &mib) || !mib || mib > 1 << 20))
		return ctl_misuse(ctl, "--max-size %s: expected a number of MiB, such as 64", size);
	code = record(&session, mib * BYTES_PER_MIB);
	if (session.out)
		code = ctl_close_output(session.out, session.path, code);
	free(session.ended);
	return code;
}
