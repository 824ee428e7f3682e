// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/topology.h"
#include "record/format.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

#define NAME_SIZE     32
#define DAY_US	      (24 * 3600 * US_PER_S)
#define KEEP_NS	      (60 * NS_PER_S)
#define BURST_BYTES   65536 /* saved up in a quiet time: what an hour and a half earns */
#define RESERVE_BYTES (BURST_BYTES / 4) /* with less, entries of one domain are spaced */
#define ENTRY_BYTES   64		/* size of a spaced entry, with its share of a block */
#define PAGE_ENTRIES  1000
#define PARTS	      64 /* parts of a file; about one chain begins in each */
#define PART_BYTES    (ARCHIVE_FILE_BYTES / PARTS)
#define NUMBERS	      TOPOLOGY_CPUS_MAX /* numbers N of policyN, as of CPUs */

/* A place is the number of a file and the offset of a block in it. */
#define PLACE_BITS 20

_Static_assert(ARCHIVE_FILE_BYTES <= 1 << PLACE_BITS, "an offset fits in");

/* The chains that begin in a part of a file. */
struct part {
	uint64_t earliest_us; /* earliest time of their entries */
	uint64_t place;	      /* of the first chain; 0: none */
};

struct archive {
	char *directory;
	int directory_fd;
	int fd;		      /* of the newest file */
	uint32_t first, last; /* numbers of the files; 0: none */
	size_t size;	      /* size of the newest file */
	bool failed;
	int64_t balance;       /* bytes that may be kept … */
	uint64_t paid_us;      /* … at this time */
	int64_t offset_us;     /* from time_now_ns() to the wall clock */
	uint64_t unwritten_ns; /* time of the oldest unwritten entry; 0: none */
	struct history_writer writer;
	uint64_t chain; /* place of the chain that is being written */
	struct part parts[ARCHIVE_FILES][PARTS];
	uint64_t has[ARCHIVE_FILES][NUMBERS]; /* a bit for each part with entries of policyN */
	uint32_t n_domains;
	struct ration {
		uint64_t kept_us;
		uint32_t left_out;
	} rations[];
};

static void file_name(uint32_t number, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "history.%" PRIu32, number);
}

static void find_files(struct archive *archive)
{
	int fd = dup(archive->directory_fd);
	_cleanup_closedir_ DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint32_t number;
	int end;

	while (entries && (entry = readdir(entries))) {
		end = 0;
		if (sscanf(entry->d_name, "history.%" SCNu32 "%n", &number, &end) != 1 ||
		    entry->d_name[end] || !number)
			continue;
		if (!archive->first || number < archive->first)
			archive->first = number;
		if (number > archive->last)
			archive->last = number;
	}
}

/* Also removes files that a crash left after a new one was begun. */
static void remove_old(struct archive *archive)
{
	char name[NAME_SIZE];

	for (; archive->first + ARCHIVE_FILES <= archive->last; archive->first++) {
		file_name(archive->first, name);
		unlinkat(archive->directory_fd, name, 0);
	}
}

static int begin_file(struct archive *archive)
{
	uint8_t header[HISTORY_FILE_HEADER];
	char name[NAME_SIZE];

	file_name(archive->last + 1, name);
	close_fdp(&archive->fd);
	archive->fd = openat(archive->directory_fd, name,
			     O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (archive->fd < 0)
		return -errno;
	archive->last++;
	if (!archive->first)
		archive->first = archive->last;
	memset(archive->parts[archive->last % ARCHIVE_FILES], 0, sizeof(archive->parts[0]));
	memset(archive->has[archive->last % ARCHIVE_FILES], 0, sizeof(archive->has[0]));
	history_put_header(header);
	archive->size = sizeof(header);
	if (write(archive->fd, header, sizeof(header)) != sizeof(header))
		return errno ? -errno : -ENOSPC;
	remove_old(archive);
	return 0;
}

/* Reads a file, up to its longest allowed size. NULL: there is none, or it cannot be read. */
static uint8_t *read_file(struct archive *archive, uint32_t number, size_t *ret_size)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ uint8_t *data = malloc(ARCHIVE_FILE_BYTES);
	char name[NAME_SIZE];
	struct stat st;
	ssize_t n;

	file_name(number, name);
	fd = openat(archive->directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !data || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	*ret_size = 0;
	while (*ret_size < ARCHIVE_FILE_BYTES &&
	       (n = read(fd, data + *ret_size, ARCHIVE_FILE_BYTES - *ret_size)) > 0)
		*ret_size += (size_t)n;
	return take_ptr(data);
}

/* A damaged block ends its file. */
static bool open_file(struct archive *archive, uint32_t number, uint8_t **ret_data,
		      struct history_reader *ret)
{
	size_t size = 0;

	*ret_data = read_file(archive, number, &size);
	return *ret_data && history_read(ret, *ret_data, size) == 0;
}

static uint32_t number_of(const char *domain)
{
	return (uint32_t)strtoul(domain + strcspn(domain, "0123456789"), NULL, 10) % NUMBERS;
}

static uint32_t part_of(uint64_t place)
{
	return (uint32_t)(place & ((1 << PLACE_BITS) - 1)) / PART_BYTES;
}

/* chain is the place of the chain that has the entry. */
static void note_entry(struct archive *archive, uint64_t chain, const struct history_entry *entry)
{
	uint32_t file = (uint32_t)(chain >> PLACE_BITS) % ARCHIVE_FILES;
	struct part *part = &archive->parts[file][part_of(chain)];

	if (!part->place)
		*part = (struct part){ entry->realtime_us, chain };
	if (part->earliest_us > entry->realtime_us)
		part->earliest_us = entry->realtime_us;
	archive->has[file][number_of(entry->domain)] |= 1ULL << part_of(chain);
}

static void note_files(struct archive *archive)
{
	for (uint32_t number = archive->first; number && number <= archive->last; number++) {
		_cleanup_free_ uint8_t *data = NULL;
		struct history_reader reader;

		if (!open_file(archive, number, &data, &reader))
			continue;
		while (history_next(&reader) == 1)
			note_entry(archive, (uint64_t)number << PLACE_BITS | reader.began,
				   &reader.last);
	}
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
	char name[NAME_SIZE];
	size_t size = 0, good;

	if (!archive->last)
		return begin_file(archive);
	file_name(archive->last, name);
	data = read_file(archive, archive->last, &size);
	good = data ? history_good_bytes(data, size) : 0;
	if (good < size || !good)
		log_warning("%s/%s is %s: what stands behind byte %zu is left out",
			    archive->directory, name,
			    good ? "damaged or cut" : "not of this version of wakegovd", good);
	if (!good)
		return begin_file(archive);
	find_balance(archive, data, good);
	archive->fd = openat(archive->directory_fd, name,
			     O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (archive->fd < 0)
		return begin_file(archive);
	archive->size = good;
	return ftruncate(archive->fd, (off_t)good) < 0 ? -errno : 0;
}

static int fail(struct archive *archive, int error)
{
	archive->failed = true;
	log_warning("cannot write to %s: %s; decisions are not kept any more until wakegovd is "
		    "restarted",
		    archive->directory, strerror(-error));
	return error;
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
	archive->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!archive->directory)
		r = -ENOMEM;
	else if (archive->directory_fd < 0)
		r = -errno;
	if (r == 0) {
		history_begin(&archive->writer);
		find_files(archive);
		r = go_on(archive);
	}
	if (r == 0) {
		remove_old(archive);
		note_files(archive);
		*ret = archive;
		return 0;
	}
	log_warning("cannot keep decisions in %s: %s; wakegovd goes on without", directory,
		    strerror(-r));
	archive->failed = true;
	archive_close(archive);
	return r;
}

/* Takes back a partly written block, so that the file ends with a whole one. */
static int append(struct archive *archive, const uint8_t *data, size_t n)
{
	ssize_t written = write(archive->fd, data, n);
	int error = written < 0 ? -errno : -ENOSPC;

	if (written == (ssize_t)n) {
		archive->size += n;
		return 0;
	}
	if (written > 0 && ftruncate(archive->fd, (off_t)archive->size) < 0)
		return -errno;
	return error;
}

/* A new block begins in a file with room for it. */
static int make_room(struct archive *archive)
{
	if (archive->writer.n ||
	    archive->size + sizeof(archive->writer.block) <= ARCHIVE_FILE_BYTES)
		return 0;
	history_begin(&archive->writer);
	return begin_file(archive);
}

static void write_block(struct archive *archive)
{
	size_t n = archive->failed ? 0 : history_close(&archive->writer);
	int r = n ? append(archive, archive->writer.block, n) : 0;

	archive->unwritten_ns = 0;
	if (r < 0)
		fail(archive, r);
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

/* Shares a short balance evenly among the domains. */
static bool may_keep(const struct archive *archive, const struct ration *ration, uint64_t now_us)
{
	uint64_t apart_us = archive->n_domains * ENTRY_BYTES * DAY_US / ARCHIVE_FILE_BYTES;

	return archive->balance > RESERVE_BYTES ||
	       (archive->balance > 0 && now_us >= ration->kept_us + apart_us);
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
	struct ration *ration = &archive->rations[domain];
	uint64_t now_us = entry->entry.decision.now_ns / NS_PER_US;
	size_t n;
	int r;

	if (archive->failed)
		return;
	earn(archive, now_us);
	if (!may_keep(archive, ration, now_us)) {
		ration->left_out++;
		return;
	}
	r = make_room(archive);
	if (r < 0) {
		fail(archive, r);
		return;
	}
	entry->realtime_us = wall_us(archive, now_us);
	entry->left_out = ration->left_out;
	n = archive->writer.n ? 0 : RECORD_BLOCK_HEADER;
	n += history_put(&archive->writer, entry);
	if (history_begins_anew(&archive->writer))
		archive->chain = (uint64_t)archive->last << PLACE_BITS | archive->size;
	note_entry(archive, archive->chain, entry);
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
	close_fdp(&archive->directory_fd);
	free(archive->directory);
	free(archive);
	return NULL;
}

/* The entries of a domain in the chains of a part. */
struct found {
	bool is_there; /* an entry at or before the time: the last one */
	struct history_entry entry;
	bool is_followed;  /* there is a later entry; the first of those … */
	uint32_t left_out; /* … has this number of left-out decisions before it */
};

static void search_part(struct archive *archive, uint64_t place, const char *domain,
			uint64_t realtime_us, struct found *ret)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct history_reader reader;

	*ret = (struct found){ 0 };
	if (!open_file(archive, (uint32_t)(place >> PLACE_BITS), &data, &reader) ||
	    history_seek(&reader, place & ((1 << PLACE_BITS) - 1)) < 0)
		return;
	while (history_next(&reader) == 1 && part_of(reader.began) == part_of(place)) {
		if (strcmp(reader.last.domain, domain) != 0)
			continue;
		if (reader.last.realtime_us <= realtime_us) {
			ret->entry = reader.last;
			ret->is_there = true;
			ret->is_followed = false;
		} else if (!ret->is_followed) {
			ret->left_out = reader.last.left_out;
			ret->is_followed = true;
		}
	}
}

/* From the newest part back, only parts that have entries of the domain. */
static void search(struct archive *archive, const char *domain, uint64_t realtime_us,
		   struct found *ret)
{
	uint64_t next = 0;

	*ret = (struct found){ 0 };
	for (uint32_t number = archive->last; number && number >= archive->first; number--) {
		const struct part *parts = archive->parts[number % ARCHIVE_FILES];
		uint64_t has = archive->has[number % ARCHIVE_FILES][number_of(domain)];

		for (uint32_t i = PARTS; i-- && !ret->is_there;) {
			if (!(has >> i & 1))
				continue;
			if (parts[i].earliest_us <= realtime_us)
				search_part(archive, parts[i].place, domain, realtime_us, ret);
			if (!ret->is_there)
				next = parts[i].place;
		}
	}
	if (ret->is_there && !ret->is_followed && next) {
		struct found behind;

		search_part(archive, next, domain, 0, &behind);
		ret->left_out = behind.left_out;
	}
}

bool archive_find(struct archive *archive, const char *domain, uint64_t realtime_us,
		  struct history_entry *ret, uint32_t *ret_left_out)
{
	struct found found;

	write_block(archive);
	search(archive, domain, realtime_us, &found);
	if (found.is_there)
		*ret = found.entry;
	*ret_left_out = found.left_out;
	return found.is_there;
}

uint64_t archive_list(struct archive *archive, uint64_t from, uint64_t realtime_us,
		      void (*take)(void *context, const struct history_entry *entry), void *context)
{
	uint32_t number = from >> PLACE_BITS, n = 0;
	size_t at = from & ((1 << PLACE_BITS) - 1);

	write_block(archive);
	if (number < archive->first)
		number = archive->first;
	for (; number && number <= archive->last; number++, at = 0) {
		_cleanup_free_ uint8_t *data = NULL;
		struct history_reader reader;

		if (!open_file(archive, number, &data, &reader) ||
		    (at && history_seek(&reader, at) < 0))
			continue;
		if (!at)
			history_seek_time(&reader, realtime_us);
		while (history_next(&reader) == 1) {
			if (n >= PAGE_ENTRIES && reader.began != at && reader.is_first)
				return (uint64_t)number << PLACE_BITS | reader.began;
			if (reader.last.realtime_us < realtime_us)
				continue;
			take(context, &reader.last);
			n++;
		}
	}
	return 0;
}
