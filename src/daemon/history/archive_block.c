// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blocks of the archive's files. A head says of which times and domains the lines are, so that
 * only the block of an answer is unpacked. zstd's checksum finds what is damaged in a frame, the
 * head's own check what is damaged in the head.
 */
#include "daemon/history/past.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "shared/cleanup.h"

#define MAGIC	   "wakegov1"
#define MAGIC_SIZE 8
/* Takes twice the time of level 1 for the largest text, and makes two thirds of its size. */
#define LEVEL 3

/* FNV-1a. */
static uint64_t check_of(const struct archive_head *head)
{
	const uint8_t *bytes = (const uint8_t *)head;
	uint64_t check = 0xcbf29ce484222325;

	for (size_t i = 0; i < offsetof(struct archive_head, check); i++)
		check = (check ^ bytes[i]) * 0x100000001b3;
	return check;
}

static uint64_t bit_of(const char *domain)
{
	return 1ULL << strtoul(domain + strcspn(domain, "0123456789"), NULL, 10) % 64;
}

bool archive_head_has(const struct archive_head *head, const char *domain)
{
	return head->domains & bit_of(domain);
}

bool archive_parse(const char *text, struct archive_line *ret)
{
	_Static_assert(sizeof(ret->domain) == 16, "the width below");
	ret->text = text;
	return sscanf(text,
		      "{\"domain\":\"%15[^\"]\",\"monotonic_us\":%" SCNu64
		      ",\"realtime_us\":%" SCNu64,
		      ret->domain, &ret->monotonic_us, &ret->realtime_us) == 3;
}

static bool append(struct archive_text *text, const char *line, size_t length)
{
	struct archive_head *head = &text->head;

	if (length + 1 > sizeof(text->text) - head->text_bytes)
		return false;
	memcpy(text->text + head->text_bytes, line, length);
	head->text_bytes += (uint32_t)length;
	text->text[head->text_bytes++] = '\n';
	return true;
}

bool archive_text_add(struct archive_text *text, const char *line, uint32_t left_out)
{
	struct archive_head before = text->head, *head = &text->head;
	struct archive_line parsed;
	char marker[64];
	int n = 0;

	if (!archive_parse(line, &parsed))
		return true;
	if (left_out)
		n = snprintf(marker, sizeof(marker), "{\"left_out\":%" PRIu32 ",\"domain\":\"%s\"}",
			     left_out, parsed.domain);
	if ((left_out && !append(text, marker, (size_t)n)) || !append(text, line, strlen(line))) {
		*head = before;
		return false;
	}
	if (!before.text_bytes || parsed.realtime_us < head->least_us)
		head->least_us = parsed.realtime_us;
	if (parsed.realtime_us > head->most_us)
		head->most_us = parsed.realtime_us;
	head->domains |= bit_of(parsed.domain);
	return true;
}

uint8_t *archive_text_seal(struct archive_text *text, size_t *ret_size)
{
	size_t room = ZSTD_compressBound(text->head.text_bytes), n = 0;
	uint8_t *block = malloc(sizeof(text->head) + room);
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (block && context) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
		n = ZSTD_compress2(context, block + sizeof(text->head), room, text->text,
				   text->head.text_bytes);
	}
	ZSTD_freeCCtx(context);
	if (!n || ZSTD_isError(n)) {
		free(block);
		block = NULL;
	} else {
		memcpy(text->head.magic, MAGIC, MAGIC_SIZE);
		text->head.frame_bytes = (uint32_t)n;
		text->head.check = check_of(&text->head);
		memcpy(block, &text->head, sizeof(text->head));
		*ret_size = sizeof(text->head) + n;
	}
	text->head = (struct archive_head){ 0 };
	return block;
}

void archive_file_name(uint32_t number, char ret[static ARCHIVE_NAME_SIZE])
{
	snprintf(ret, ARCHIVE_NAME_SIZE, "history.%" PRIu32, number);
}

bool archive_file_read(struct archive_file *file, int directory_fd, uint32_t number)
{
	_cleanup_close_ int fd = -1;
	char name[ARCHIVE_NAME_SIZE];
	struct stat st;
	ssize_t n;

	archive_file_name(number, name);
	fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	file->data = malloc(ARCHIVE_FILE_BYTES);
	while (file->data && file->size < ARCHIVE_FILE_BYTES &&
	       (n = read(fd, file->data + file->size, ARCHIVE_FILE_BYTES - file->size)) > 0)
		file->size += (size_t)n;
	return file->data;
}

void archive_file_deinit(struct archive_file *file)
{
	free(file->data);
	free(file->text);
	*file = (struct archive_file){ 0 };
}

bool archive_file_next(struct archive_file *file)
{
	const uint8_t *found;
	size_t left;

	for (size_t at = file->next;; at++) {
		found = at < file->size
				? memmem(file->data + at, file->size - at, MAGIC, MAGIC_SIZE)
				: NULL;
		at = found ? (size_t)(found - file->data) : file->size;
		left = file->size - at;
		if (!found || left < sizeof(file->head)) {
			file->damaged += file->size - file->next;
			file->next = file->size;
			return false;
		}
		memcpy(&file->head, found, sizeof(file->head));
		if (file->head.check == check_of(&file->head) &&
		    file->head.text_bytes <= ARCHIVE_BLOCK_BYTES &&
		    file->head.frame_bytes <= left - sizeof(file->head)) {
			file->damaged += at - file->next;
			file->at = at;
			file->next = at + sizeof(file->head) + file->head.frame_bytes;
			return true;
		}
	}
}

bool archive_file_unpack(struct archive_file *file)
{
	size_t n;

	file->text = file->text ?: malloc(ARCHIVE_BLOCK_BYTES + 1);
	if (!file->text)
		return false;
	n = ZSTD_decompress(file->text, ARCHIVE_BLOCK_BYTES,
			    file->data + file->at + sizeof(file->head), file->head.frame_bytes);
	if (ZSTD_isError(n) || n != file->head.text_bytes) {
		file->damaged += file->next - file->at;
		return false;
	}
	file->text[n] = '\0';
	return true;
}
