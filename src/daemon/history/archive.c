// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/past.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

#define DAY_US	      (24 * 3600 * US_PER_S)
#define KEEP_NS	      (60 * NS_PER_S)
#define BURST_BYTES   65536 /* saved up in a quiet time: what an hour and a half earns */
#define RESERVE_BYTES (BURST_BYTES / 4) /* with less, entries of one domain are spaced */
#define ENTRY_BYTES   64		/* size of a spaced entry, with its share of a block */

struct archive {
	char *directory;
	int fd;	     /* of the newest file */
	size_t size; /* size of the newest file */
	bool failed;
	int64_t balance;       /* bytes that may be kept … */
	uint64_t paid_us;      /* … at this time */
	int64_t offset_us;     /* from time_now_ns() to the wall clock */
	uint64_t unwritten_ns; /* time of the oldest unwritten entry; 0: none */
	struct history_writer writer;
	uint64_t chain; /* place of the chain that is being written */
	struct archive_index index;
	uint32_t n_domains;
	struct ration {
		uint64_t kept_us;
		uint32_t left_out;
	} rations[];
};

/* Also removes files that a crash left after a new one was begun. */
static void remove_old(struct archive *archive)
{
	char name[ARCHIVE_NAME_SIZE];

	for (; archive->index.first + ARCHIVE_FILES <= archive->index.last;
	     archive->index.first++) {
		archive_index_name(archive->index.first, name);
		unlinkat(archive->index.directory_fd, name, 0);
	}
}

static int begin_file(struct archive *archive)
{
	uint8_t header[HISTORY_FILE_HEADER];
	char name[ARCHIVE_NAME_SIZE];

	archive_index_name(archive->index.last + 1, name);
	close_fdp(&archive->fd);
	archive->fd = openat(archive->index.directory_fd, name,
			     O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (archive->fd < 0)
		return -errno;
	archive->index.last++;
	if (!archive->index.first)
		archive->index.first = archive->index.last;
	archive_index_clear(&archive->index, archive->index.last);
	history_put_header(header);
	archive->size = sizeof(header);
	if (write(archive->fd, header, sizeof(header)) != sizeof(header))
		return errno ? -errno : -ENOSPC;
	remove_old(archive);
	return 0;
}

/*
 * What a quiet time saves up, less what was kept in that time: a daemon that restarts often may
 * keep no more than one that runs on.
 */
static void find_balance(struct archive *archive, const uint8_t *data, size_t size)
{
	uint64_t burst_us = BURST_BYTES * DAY_US / ARCHIVE_FILE_BYTES;
	struct history_reader reader;

	archive->balance = BURST_BYTES;
	if (history_read(&reader, data, size) < 0)
		return;
	history_seek_time(&reader, time_of_clock_ns(CLOCK_REALTIME) / NS_PER_US - burst_us);
	if (history_next(&reader) != 1)
		return;
	archive->balance -= (int64_t)(size - reader.began);
	if (archive->balance < 0)
		archive->balance = 0;
}

/*
 * Continues the newest file behind its last good block. A file without a good block is left alone.
 */
static int go_on(struct archive *archive)
{
	_cleanup_free_ uint8_t *data = NULL;
	char name[ARCHIVE_NAME_SIZE];
	size_t size = 0, good;

	if (!archive->index.last)
		return begin_file(archive);
	archive_index_name(archive->index.last, name);
	data = archive_index_read(&archive->index, archive->index.last, &size);
	good = data ? history_good_bytes(data, size) : 0;
	if (good < size || !good)
		log_warning("%s/%s is %s: everything after byte %zu is ignored", archive->directory,
			    name, good ? "damaged or cut" : "not of this version of wakegovd",
			    good);
	if (!good)
		return begin_file(archive);
	find_balance(archive, data, good);
	archive->fd = openat(archive->index.directory_fd, name,
			     O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (archive->fd < 0)
		return begin_file(archive);
	archive->size = good;
	return ftruncate(archive->fd, (off_t)good) < 0 ? -errno : 0;
}

static void fail(struct archive *archive, int error)
{
	archive->failed = true;
	log_warning("cannot write to %s: %s; decisions are not kept until wakegovd is "
		    "restarted",
		    archive->directory, strerror(-error));
}

int archive_open(const char *directory, uint32_t n_domains, struct archive **ret)
{
	struct archive *archive =
		calloc(1, sizeof(*archive) + n_domains * sizeof(archive->rations[0]));
	int r = 0;

	if (!archive)
		return -ENOMEM;
	archive->fd = -1;
	archive->n_domains = n_domains;
	archive->balance = BURST_BYTES;
	archive->directory = strdup(directory);
	archive->index.directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!archive->directory)
		r = -ENOMEM;
	else if (archive->index.directory_fd < 0)
		r = -errno;
	if (r == 0) {
		history_begin(&archive->writer);
		archive_index_find_files(&archive->index);
		r = go_on(archive);
	}
	if (r == 0) {
		remove_old(archive);
		archive_index_note_files(&archive->index);
		*ret = archive;
		return 0;
	}
	log_warning("cannot keep decisions in %s: %s; wakegovd runs without", directory,
		    strerror(-r));
	archive->failed = true;
	archive_close(archive);
	return r;
}

static void write_block(struct archive *archive)
{
	size_t n = archive->failed ? 0 : history_close(&archive->writer);
	ssize_t written = n ? write(archive->fd, archive->writer.block, n) : 0;
	int error = written < 0 ? -errno : -ENOSPC;

	archive->unwritten_ns = 0;
	if (written == (ssize_t)n) {
		archive->size += n;
		return;
	}
	/* Takes back a partly written block, so that the file ends with a whole one. */
	if (written > 0 && ftruncate(archive->fd, (off_t)archive->size) < 0)
		error = -errno;
	fail(archive, error);
}

static void earn(struct archive *archive, uint64_t now_us)
{
	uint64_t bytes = (now_us - archive->paid_us) * ARCHIVE_FILE_BYTES / DAY_US;

	if (!archive->paid_us) {
		archive->paid_us = now_us;
		return;
	}
	archive->balance += (int64_t)bytes;
	archive->paid_us += bytes * DAY_US / ARCHIVE_FILE_BYTES;
	if (archive->balance > BURST_BYTES)
		archive->balance = BURST_BYTES;
}

/* The difference of the clocks is updated when the wall clock is set, not at each reading. */
static uint64_t wall_us(struct archive *archive, uint64_t now_us)
{
	int64_t offset_us = (int64_t)(time_of_clock_ns(CLOCK_REALTIME) - time_now_ns()) /
			    (int64_t)NS_PER_US;

	if (llabs(offset_us - archive->offset_us) > 10 * (int64_t)US_PER_MS)
		archive->offset_us = offset_us;
	return now_us + (uint64_t)archive->offset_us;
}

void archive_add(struct archive *archive, uint32_t domain, struct history_entry *entry)
{
	uint64_t apart_us = archive->n_domains * ENTRY_BYTES * DAY_US / ARCHIVE_FILE_BYTES;
	struct ration *ration = &archive->rations[domain];
	uint64_t now_us = entry->entry.decision.now_ns / NS_PER_US;
	size_t n;
	int r = 0;

	if (archive->failed)
		return;
	earn(archive, now_us);
	/* Shares a short balance evenly among the domains. */
	if (archive->balance <= 0 ||
	    (archive->balance <= RESERVE_BYTES && now_us < ration->kept_us + apart_us)) {
		ration->left_out++;
		return;
	}
	/* A new block begins in a file with room for it. */
	if (!archive->writer.n &&
	    archive->size + sizeof(archive->writer.block) > ARCHIVE_FILE_BYTES) {
		history_begin(&archive->writer);
		r = begin_file(archive);
	}
	if (r < 0) {
		fail(archive, r);
		return;
	}
	entry->realtime_us = wall_us(archive, now_us);
	entry->left_out = ration->left_out;
	n = archive->writer.n ? 0 : RECORD_BLOCK_HEADER;
	n += history_put(&archive->writer, entry);
	if (history_begins_anew(&archive->writer))
		archive->chain = (uint64_t)archive->index.last << ARCHIVE_PLACE_BITS |
				 archive->size;
	archive_index_note(&archive->index, archive->chain, entry);
	archive->balance -= (int64_t)n;
	*ration = (struct ration){ .kept_us = now_us };
	if (!archive->unwritten_ns)
		archive->unwritten_ns = entry->entry.decision.now_ns;
	if (history_is_full(&archive->writer))
		write_block(archive);
}

bool archive_keep(struct archive *archive, uint64_t now_ns, bool still)
{
	if (archive->unwritten_ns && (still || now_ns >= archive->unwritten_ns + KEEP_NS))
		write_block(archive);
	return !archive->failed;
}

struct archive *archive_close(struct archive *archive)
{
	if (!archive)
		return NULL;
	write_block(archive);
	close_fdp(&archive->fd);
	close_fdp(&archive->index.directory_fd);
	free(archive->directory);
	free(archive);
	return NULL;
}

bool archive_find(struct archive *archive, const char *domain, uint64_t realtime_us,
		  struct history_entry *ret, uint32_t *ret_left_out)
{
	write_block(archive);
	return archive_index_find(&archive->index, domain, realtime_us, ret, ret_left_out);
}

uint64_t archive_list(struct archive *archive, uint64_t from, uint64_t realtime_us,
		      void (*take)(void *context, const struct history_entry *entry), void *context)
{
	write_block(archive);
	return archive_index_list(&archive->index, from, realtime_us, take, context);
}
