/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Numbers and texts as bytes. A varint has seven bits per byte, the lowest first; all but its last
 * byte have the top bit set. A difference is taken modulo 2^64 and folded (0, −1, 1, −2, …) so that
 * small ones of either sign are short.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer to write to. Bytes that do not fit are left out, and set `full`. */
struct record_out {
	uint8_t *data;
	size_t size;
	size_t n;
	bool full;
};

void record_put_bytes(struct record_out *out, const void *data, size_t n);
void record_put_varint(struct record_out *out, uint64_t number);
void record_put_difference(struct record_out *out, uint64_t difference);
void record_put_u32(struct record_out *out, uint32_t number); /* four bytes, little-endian */
void record_put_text(struct record_out *out, const char *text);

/* A buffer to read from. Reading past the end, or an invalid number, gives 0 and sets `bad`. */
struct record_in {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

uint64_t record_get_varint(struct record_in *in);
/* A varint, at most `most`. */
uint64_t record_get_number(struct record_in *in, uint64_t most);
uint64_t record_get_difference(struct record_in *in);
uint32_t record_get_u32(struct record_in *in);
/* A text of fewer than size bytes without a NUL inside; ret is always terminated. */
void record_get_text(struct record_in *in, char *ret, size_t size);

uint8_t record_get_byte(struct record_in *in);

/* CRC-32 as of zlib and Ethernet. */
uint32_t record_crc(const void *data, size_t n);

/* Before the bytes of a block stand its length, the length's complement, and their CRC. */
#define RECORD_BLOCK_HEADER 8

/* Writes the header of the n bytes that follow it in block. */
void record_block_seal(uint8_t *block, size_t n);
/* The length that a header says; 0: it is damaged. */
size_t record_block_length(const uint8_t header[static RECORD_BLOCK_HEADER]);
/* Whether the CRC of the n bytes behind the header is right. */
bool record_block_is_whole(const uint8_t header[static RECORD_BLOCK_HEADER], const void *data,
			   size_t n);
