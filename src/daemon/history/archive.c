// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decisions of a week on disk. A balance says how many bytes may be kept now: a day earns one
 * file, and a quiet time saves up for a burst. Lines are passed on as they are.
 */
#include "daemon/history/past.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/time.h"

#define DAY_US	      (24 * 3600 * US_PER_S)
#define KEEP_NS	      (60 * NS_PER_S)
#define BURST_BYTES   65536 /* saved up in a quiet time: what an hour and a half earns */
#define RESERVE_BYTES (BURST_BYTES / 4) /* with less, lines of one domain are spaced */
#define LINE_BYTES    128		/* of a line on disk, before the first block */
#define PAGE_LINES    1000
/* A place is the number of a file and the offset of a block in it. */
#define PLACE_BITS 21

_Static_assert(ARCHIVE_FILE_BYTES < 1 << PLACE_BITS, "an offset fits in");

struct archive {
	char *directory;
	int directory_fd;
	int fd;		      /* of the newest file */
	size_t size;	      /* of the newest file */
	uint32_t first, last; /* numbers of the files; 0: none */
	bool has_failed;
	int64_t balance;       /* bytes that may be kept … */
	uint64_t earned_us;    /* … at this time */
	uint32_t line_bytes;   /* what a line of the last block took */
	uint64_t unwritten_ns; /* time of the oldest line in text; 0: none */
	uint32_t n_unwritten;
	struct archive_text text;
	uint32_t n_domains;
	struct ration {
		uint64_t kept_us;
		uint32_t left_out;
	} rations[];
};

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

static int begin_file(struct archive *archive)
{
	char name[ARCHIVE_NAME_SIZE];

	archive_file_name(archive->last + 1, name);
	close_fdp(&archive->fd);
	archive->fd = openat(archive->directory_fd, name,
			     O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (archive->fd < 0)
		return -errno;
	archive->size = 0;
	archive->last++;
	if (!archive->first)
		archive->first = archive->last;
	for (; archive->first + ARCHIVE_FILES <= archive->last; archive->first++) {
		archive_file_name(archive->first, name);
		unlinkat(archive->directory_fd, name, 0);
	}
	return 0;
}

/*
 * Returns the end of the last good block; 0: there is none. What was kept in the time in which a
 * burst is earned is taken from the balance: a daemon that restarts often may keep no more than one
 * that runs on.
 */
static size_t check_newest(struct archive *archive)
{
	uint64_t since_us = time_of_clock_ns(CLOCK_REALTIME) / NS_PER_US -
			    BURST_BYTES * DAY_US / ARCHIVE_FILE_BYTES;
	_cleanup_(archive_file_deinit) struct archive_file file = { 0 };
	size_t end = 0;

	if (!archive_file_read(&file, archive->directory_fd, archive->last))
		return 0;
	while (archive_file_next(&file)) {
		if (archive_file_unpack(&file))
			end = file.next;
		if (file.head.most_us >= since_us)
			archive->balance -= (int64_t)(file.next - file.at);
	}
	if (archive->balance < 0)
		archive->balance = 0;
	if (file.damaged)
		log_warning("%s/history.%" PRIu32 " is %s: %zu of its %zu bytes are ignored",
			    archive->directory, archive->last,
			    end ? "damaged or cut" : "not of this version of wakegovd",
			    file.damaged, file.size);
	return end;
}

/* Continues the newest file behind its last good block, unless it has none. */
static int open_newest(struct archive *archive)
{
	char name[ARCHIVE_NAME_SIZE];

	archive->size = archive->last ? check_newest(archive) : 0;
	if (!archive->size)
		return begin_file(archive);
	archive_file_name(archive->last, name);
	archive->fd = openat(archive->directory_fd, name,
			     O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (archive->fd < 0)
		return begin_file(archive);
	return ftruncate(archive->fd, (off_t)archive->size) < 0 ? -errno : 0;
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
	archive->line_bytes = LINE_BYTES;
	archive->balance = BURST_BYTES;
	archive->directory = strdup(directory);
	archive->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!archive->directory)
		r = -ENOMEM;
	else if (archive->directory_fd < 0)
		r = -errno;
	if (r == 0) {
		find_files(archive);
		r = open_newest(archive);
	}
	if (r == 0) {
		*ret = archive;
		return 0;
	}
	log_warning("cannot keep decisions in %s: %s; wakegovd runs without", directory,
		    strerror(-r));
	archive_close(archive);
	return r;
}

static void write_block(struct archive *archive)
{
	_cleanup_free_ uint8_t *block = NULL;
	ssize_t written;
	size_t size = 0;
	int r = 0;

	if (!archive->n_unwritten || archive->has_failed)
		return;
	block = archive_text_seal(&archive->text, &size);
	if (!block)
		r = -ENOMEM;
	else if (archive->size + size > ARCHIVE_FILE_BYTES)
		r = begin_file(archive);
	written = r == 0 ? write(archive->fd, block, size) : 0;
	if (r == 0 && written != (ssize_t)size)
		r = written < 0 ? -errno : -ENOSPC;
	if (r < 0) {
		archive->has_failed = true;
		log_warning("cannot write to %s: %s; decisions are not kept until wakegovd is "
			    "restarted",
			    archive->directory, strerror(-r));
	}
	archive->size += size;
	archive->line_bytes = (uint32_t)size / archive->n_unwritten;
	archive->n_unwritten = 0;
	archive->unwritten_ns = 0;
}

static void raise_balance(struct archive *archive, uint64_t now_us)
{
	uint64_t bytes = (now_us - archive->earned_us) * ARCHIVE_FILE_BYTES / DAY_US;

	if (!archive->earned_us) {
		archive->earned_us = now_us;
		return;
	}
	archive->balance += (int64_t)bytes;
	archive->earned_us += bytes * DAY_US / ARCHIVE_FILE_BYTES;
	if (archive->balance > BURST_BYTES)
		archive->balance = BURST_BYTES;
}

bool archive_has_room(struct archive *archive, uint32_t domain, uint64_t now_ns)
{
	uint64_t apart_us = archive->n_domains * archive->line_bytes * DAY_US / ARCHIVE_FILE_BYTES;
	struct ration *ration = &archive->rations[domain];
	uint64_t now_us = now_ns / NS_PER_US;

	if (archive->has_failed)
		return false;
	raise_balance(archive, now_us);
	/* Shares a short balance evenly among the domains. */
	if (archive->balance <= 0 ||
	    (archive->balance <= RESERVE_BYTES && now_us < ration->kept_us + apart_us)) {
		ration->left_out++;
		return false;
	}
	return true;
}

void archive_add(struct archive *archive, uint32_t domain, uint64_t now_ns, const char *line)
{
	struct ration *ration = &archive->rations[domain];

	if (!archive_text_add(&archive->text, line, ration->left_out)) {
		write_block(archive);
		archive_text_add(&archive->text, line, ration->left_out);
	}
	archive->n_unwritten++;
	archive->balance -= archive->line_bytes;
	*ration = (struct ration){ .kept_us = now_ns / NS_PER_US };
	if (!archive->unwritten_ns)
		archive->unwritten_ns = now_ns;
}

uint64_t archive_keep(struct archive *archive, uint64_t now_ns)
{
	if (archive->unwritten_ns && now_ns >= archive->unwritten_ns + KEEP_NS)
		write_block(archive);
	return archive->unwritten_ns ? archive->unwritten_ns + KEEP_NS : UINT64_MAX;
}

bool archive_has_failed(const struct archive *archive)
{
	return archive->has_failed;
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

/* The lines of a domain in a block. */
struct found {
	char *line;	   /* the last one at or before the time; allocated; NULL: none */
	bool is_followed;  /* a later one of the block … */
	uint32_t left_out; /* … follows so many that were left out */
};

static struct found search(struct archive_file *file, const char *domain, uint64_t realtime_us)
{
	struct found found = { 0 };
	const char *text = NULL;
	struct archive_line line;
	char *rest = file->text, *at, name[DOMAIN_NAME_SIZE];
	uint32_t left_out = 0, n;

	while ((at = strsep(&rest, "\n"))) {
		if (sscanf(at, "{\"left_out\":%" SCNu32 ",\"domain\":\"%15[^\"]\"}", &n, name) ==
			    2 &&
		    !strcmp(name, domain))
			left_out = n;
		if (!archive_parse(at, &line) || strcmp(line.domain, domain) != 0)
			continue;
		if (line.realtime_us <= realtime_us) {
			text = at;
			found.is_followed = false;
		} else if (!found.is_followed) {
			found.left_out = left_out;
			found.is_followed = true;
		}
		left_out = 0;
	}
	found.line = text ? strdup(text) : NULL;
	return found;
}

/* Goes to the block at a place and searches it. */
static struct found search_at(struct archive_file *file, size_t place, const char *domain,
			      uint64_t realtime_us)
{
	file->next = place;
	if (!archive_file_next(file) || !archive_file_unpack(file))
		return (struct found){ 0 };
	return search(file, domain, realtime_us);
}

/* From the newest block back. The block behind the time is only unpacked for what it follows. */
static void search_file(struct archive_file *file, const char *domain, uint64_t realtime_us,
			struct found *found)
{
	_cleanup_free_ size_t *places = calloc(file->size / sizeof(file->head) + 1,
					       sizeof(*places));
	size_t n = 0, behind = SIZE_MAX;
	struct found here;

	while (places && archive_file_next(file))
		if (archive_head_has(&file->head, domain))
			places[n++] = file->at;
	while (n-- && !found->line) {
		memcpy(&file->head, file->data + places[n], sizeof(file->head));
		if (file->head.least_us > realtime_us) {
			behind = places[n];
			continue;
		}
		here = search_at(file, places[n], domain, realtime_us);
		found->line = here.line;
		if (here.is_followed) {
			found->left_out = here.left_out;
			behind = SIZE_MAX;
		}
	}
	if (behind != SIZE_MAX) {
		here = search_at(file, behind, domain, 0);
		free(here.line);
		found->left_out = here.left_out;
	}
}

char *archive_find(struct archive *archive, const char *domain, uint64_t realtime_us,
		   uint32_t *ret_left_out)
{
	struct found found = { 0 };

	write_block(archive);
	for (uint32_t number = archive->last; number && number >= archive->first && !found.line;
	     number--) {
		_cleanup_(archive_file_deinit) struct archive_file file = { 0 };

		if (archive_file_read(&file, archive->directory_fd, number))
			search_file(&file, domain, realtime_us, &found);
	}
	*ret_left_out = found.left_out;
	return found.line;
}

static uint32_t each_line_of_block(struct archive_file *file, uint64_t realtime_us,
				   void (*take)(void *context, const struct archive_line *line),
				   void *context)
{
	char *rest = file->text, *at;
	struct archive_line line;
	uint32_t n = 0;

	while ((at = strsep(&rest, "\n")))
		if (archive_parse(at, &line) && line.realtime_us >= realtime_us) {
			take(context, &line);
			n++;
		}
	return n;
}

uint64_t archive_list(struct archive *archive, uint64_t from, uint64_t realtime_us,
		      void (*take)(void *context, const struct archive_line *line), void *context)
{
	uint32_t number = from >> PLACE_BITS, n = 0;
	size_t at = from & ((1 << PLACE_BITS) - 1);

	write_block(archive);
	if (number < archive->first) {
		number = archive->first;
		at = 0;
	}
	for (; number && number <= archive->last; number++, at = 0) {
		_cleanup_(archive_file_deinit) struct archive_file file = { .next = at };

		if (!archive_file_read(&file, archive->directory_fd, number))
			continue;
		while (archive_file_next(&file)) {
			if (n >= PAGE_LINES)
				return (uint64_t)number << PLACE_BITS | file.at;
			if (file.head.most_us >= realtime_us && archive_file_unpack(&file))
				n += each_line_of_block(&file, realtime_us, take, context);
		}
	}
	return 0;
}
