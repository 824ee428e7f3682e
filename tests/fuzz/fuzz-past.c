// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever the files in /var/lib/wakegov hold, read: as it is, and with checksums made right,
 * without which nearly everything ends there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/codec.h"
#include "record/format.h"
#include "record/history.h"

#define MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u32(uint8_t *at, uint32_t number)
{
	struct record_out out = { .data = at, .size = 4 };

	record_put_u32(&out, number);
}

static void read_history(const uint8_t *data, size_t size)
{
	struct history_reader reader;
	uint32_t n = 0;

	if (history_good_bytes(data, size) > size)
		abort();
	if (history_read(&reader, data, size) < 0)
		return;
	while (history_next(&reader) == 1) {
		const struct explanation *rests_on = &reader.last.entry.explanation;

		if (reader.last.entry.decision.reason > REASON_LAST ||
		    strlen(reader.last.domain) >= sizeof(reader.last.domain) ||
		    strlen(rests_on->rule.file) >= sizeof(rests_on->rule.file))
			abort();
		n++;
	}
	history_seek_time(&reader, reader.last.realtime_us);
	while (n && history_next(&reader) == 1 && n--)
		;
}

/* Lengths stay as they are: what they say of the rest is found out. */
static void seal_history(uint8_t *data, size_t size)
{
	size_t at = HISTORY_FILE_HEADER, length;

	for (; at + RECORD_BLOCK_HEADER < size; at += RECORD_BLOCK_HEADER + length) {
		length = data[at] | (size_t)data[at + 1] << 8;
		if (!length || length > size - at - RECORD_BLOCK_HEADER)
			length = size - at - RECORD_BLOCK_HEADER;
		put_u32(data + at, (uint32_t)length | (uint32_t)(~length & UINT16_MAX) << 16);
		put_u32(data + at + 4, record_crc(data + at + RECORD_BLOCK_HEADER, length));
	}
	history_put_header(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t copy[MAX];

	if (size < 16 || size >= UINT16_MAX)
		return 0;
	read_history(data, size);
	memcpy(copy, data, size);
	seal_history(copy, size);
	read_history(copy, size);
	return 0;
}
