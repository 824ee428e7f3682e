// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/past.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define PAGE_ENTRIES 1000
#define PART_BYTES   (ARCHIVE_FILE_BYTES / ARCHIVE_PARTS)

void archive_index_name(uint32_t number, char ret[static ARCHIVE_NAME_SIZE])
{
	snprintf(ret, ARCHIVE_NAME_SIZE, "history.%" PRIu32, number);
}

void archive_index_find_files(struct archive_index *index)
{
	int fd = dup(index->directory_fd);
	_cleanup_closedir_ DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint32_t number;
	int end;

	while (entries && (entry = readdir(entries))) {
		end = 0;
		if (sscanf(entry->d_name, "history.%" SCNu32 "%n", &number, &end) != 1 ||
		    entry->d_name[end] || !number)
			continue;
		if (!index->first || number < index->first)
			index->first = number;
		if (number > index->last)
			index->last = number;
	}
}

uint8_t *archive_index_read(const struct archive_index *index, uint32_t number, size_t *ret_size)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ uint8_t *data = malloc(ARCHIVE_FILE_BYTES);
	char name[ARCHIVE_NAME_SIZE];
	struct stat st;
	ssize_t n;

	archive_index_name(number, name);
	fd = openat(index->directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !data || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	*ret_size = 0;
	while (*ret_size < ARCHIVE_FILE_BYTES &&
	       (n = read(fd, data + *ret_size, ARCHIVE_FILE_BYTES - *ret_size)) > 0)
		*ret_size += (size_t)n;
	return take_ptr(data);
}

/* A damaged block ends its file. */
static bool open_file(const struct archive_index *index, uint32_t number, uint8_t **ret_data,
		      struct history_reader *ret)
{
	size_t size = 0;

	*ret_data = archive_index_read(index, number, &size);
	return *ret_data && history_read(ret, *ret_data, size) == 0;
}

static uint32_t number_of(const char *domain)
{
	return (uint32_t)strtoul(domain + strcspn(domain, "0123456789"), NULL, 10) %
	       ARCHIVE_NUMBERS;
}

static uint32_t part_of(uint64_t place)
{
	return (uint32_t)(place & ((1 << ARCHIVE_PLACE_BITS) - 1)) / PART_BYTES;
}

void archive_index_clear(struct archive_index *index, uint32_t number)
{
	memset(index->parts[number % ARCHIVE_FILES], 0, sizeof(index->parts[0]));
	memset(index->has[number % ARCHIVE_FILES], 0, sizeof(index->has[0]));
}

void archive_index_note(struct archive_index *index, uint64_t chain,
			const struct history_entry *entry)
{
	uint32_t file = (uint32_t)(chain >> ARCHIVE_PLACE_BITS) % ARCHIVE_FILES;
	struct archive_part *part = &index->parts[file][part_of(chain)];

	if (!part->place)
		*part = (struct archive_part){ entry->realtime_us, chain };
	if (part->earliest_us > entry->realtime_us)
		part->earliest_us = entry->realtime_us;
	index->has[file][number_of(entry->domain)] |= 1ULL << part_of(chain);
}

void archive_index_note_files(struct archive_index *index)
{
	for (uint32_t number = index->first; number && number <= index->last; number++) {
		_cleanup_free_ uint8_t *data = NULL;
		struct history_reader reader;

		if (!open_file(index, number, &data, &reader))
			continue;
		while (history_next(&reader) == 1)
			archive_index_note(index,
					   (uint64_t)number << ARCHIVE_PLACE_BITS | reader.began,
					   &reader.last);
	}
}

/* The entries of a domain in the chains of a part. */
struct found {
	bool is_there; /* an entry at or before the time: the last one */
	struct history_entry entry;
	bool is_followed;  /* there is a later entry; the first of those … */
	uint32_t left_out; /* … has this number of left-out decisions before it */
};

static void search_part(const struct archive_index *index, uint64_t place, const char *domain,
			uint64_t realtime_us, struct found *ret)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct history_reader reader;

	*ret = (struct found){ 0 };
	if (!open_file(index, (uint32_t)(place >> ARCHIVE_PLACE_BITS), &data, &reader) ||
	    history_seek(&reader, place & ((1 << ARCHIVE_PLACE_BITS) - 1)) < 0)
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
bool archive_index_find(const struct archive_index *index, const char *domain, uint64_t realtime_us,
			struct history_entry *ret, uint32_t *ret_left_out)
{
	struct found found = { 0 }, behind;
	uint64_t next = 0;

	for (uint32_t number = index->last; number && number >= index->first; number--) {
		const struct archive_part *parts = index->parts[number % ARCHIVE_FILES];
		uint64_t has = index->has[number % ARCHIVE_FILES][number_of(domain)];

		for (uint32_t i = ARCHIVE_PARTS; i-- && !found.is_there;) {
			if (!(has >> i & 1))
				continue;
			if (parts[i].earliest_us <= realtime_us)
				search_part(index, parts[i].place, domain, realtime_us, &found);
			if (!found.is_there)
				next = parts[i].place;
		}
	}
	if (found.is_there)
		*ret = found.entry;
	if (found.is_there && !found.is_followed && next) {
		search_part(index, next, domain, 0, &behind);
		found.left_out = behind.left_out;
	}
	*ret_left_out = found.left_out;
	return found.is_there;
}

uint64_t archive_index_list(const struct archive_index *index, uint64_t from, uint64_t realtime_us,
			    void (*take)(void *context, const struct history_entry *entry),
			    void *context)
{
	uint32_t number = from >> ARCHIVE_PLACE_BITS, n = 0;
	size_t at = from & ((1 << ARCHIVE_PLACE_BITS) - 1);

	if (number < index->first)
		number = index->first;
	for (; number && number <= index->last; number++, at = 0) {
		_cleanup_free_ uint8_t *data = NULL;
		struct history_reader reader;

		if (!open_file(index, number, &data, &reader) ||
		    (at && history_seek(&reader, at) < 0))
			continue;
		if (!at)
			history_seek_time(&reader, realtime_us);
		while (history_next(&reader) == 1) {
			if (n >= PAGE_ENTRIES && reader.began != at && reader.is_first)
				return (uint64_t)number << ARCHIVE_PLACE_BITS | reader.began;
			if (reader.last.realtime_us < realtime_us)
				continue;
			take(context, &reader.last);
			n++;
		}
	}
	return 0;
}
