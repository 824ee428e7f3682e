// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever the files in /var/lib/wakegov hold, read: as it is, and with checksums made right,
 * without which nearly everything ends there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/history/stats.h"
#include "record/codec.h"
#include "record/format.h"
#include "record/history.h"

#define DAY 20000
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

static void read_account(const uint8_t *data, size_t size)
{
	static struct topology *topology;
	struct stats *stats;
	int r;

	if (!topology)
		topology = calloc(1, sizeof(*topology) + sizeof(topology->domains[0]));
	topology->n_domains = 1;
	topology->domains[0] = (struct topology_domain){
		.name = "policy0", .n_opps = 2, .opp_khz = { 400000, 800000 }, .capacity = 1024
	};
	stats = stats_new(topology);
	r = stats_file_parse(data, size, stats, topology, DAY);
	if (r != 0 && r != -EBADMSG)
		abort();
	stats_free(stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t copy[MAX];

	if (size < 16 || size >= UINT16_MAX)
		return 0;
	read_history(data, size);
	read_account(data, size);
	memcpy(copy, data, size);
	seal_history(copy, size);
	read_history(copy, size);
	memcpy(copy, data, size);
	memcpy(copy, "wakegova\1\0\0", 12);
	put_u32(copy + 12, record_crc(copy + 16, size - 16));
	read_account(copy, size);
	return 0;
}
