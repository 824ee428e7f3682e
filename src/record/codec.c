// SPDX-License-Identifier: GPL-2.0-only
#include "record/codec.h"

#include <string.h>

void record_put_bytes(struct record_out *out, const void *data, size_t n)
{
	if (n > out->size - out->n) {
		out->full = true;
		return;
	}
	memcpy(out->data + out->n, data, n);
	out->n += n;
}

void record_put_varint(struct record_out *out, uint64_t number)
{
	uint8_t bytes[10];
	size_t n = 0;

	while (number >= 0x80) {
		bytes[n++] = number | 0x80;
		number >>= 7;
	}
	bytes[n++] = number;
	record_put_bytes(out, bytes, n);
}

void record_put_difference(struct record_out *out, uint64_t difference)
{
	record_put_varint(out, difference >> 63 ? ~(difference << 1) : difference << 1);
}

void record_put_u32(struct record_out *out, uint32_t number)
{
	uint8_t bytes[] = { number, number >> 8, number >> 16, number >> 24 };

	record_put_bytes(out, bytes, sizeof(bytes));
}

void record_put_text(struct record_out *out, const char *text)
{
	record_put_varint(out, strlen(text));
	record_put_bytes(out, text, strlen(text));
}

uint8_t record_get_byte(struct record_in *in)
{
	if (in->at < in->end)
		return *in->at++;
	in->bad = true;
	return 0;
}

uint64_t record_get_varint(struct record_in *in)
{
	uint64_t number = 0;
	uint8_t byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		byte = record_get_byte(in);
		if (shift == 63 && byte > 1)
			break;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return in->bad ? 0 : number;
	}
	in->bad = true;
	return 0;
}

uint64_t record_get_number(struct record_in *in, uint64_t most)
{
	uint64_t number = record_get_varint(in);

	if (number <= most)
		return number;
	in->bad = true;
	return 0;
}

uint64_t record_get_difference(struct record_in *in)
{
	uint64_t folded = record_get_varint(in);

	return folded & 1 ? ~(folded >> 1) : folded >> 1;
}

uint32_t record_get_u32(struct record_in *in)
{
	uint32_t number = 0;

	for (unsigned int shift = 0; shift < 32; shift += 8)
		number |= (uint32_t)record_get_byte(in) << shift;
	return number;
}

void record_get_text(struct record_in *in, char *ret, size_t size)
{
	size_t n = record_get_number(in, size - 1);

	if (n > (size_t)(in->end - in->at) || memchr(in->at, 0, n)) {
		in->bad = true;
		n = 0;
	}
	memcpy(ret, in->at, n);
	ret[n] = 0;
	in->at += n;
}

uint32_t record_crc(const void *data, size_t n)
{
	/* The CRC remainders of the sixteen values of each half of a byte. */
	static const uint32_t high[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	static const uint32_t low[16] = {
		0x00000000, 0x77073096, 0xee0e612c, 0x990951ba, 0x076dc419, 0x706af48f,
		0xe963a535, 0x9e6495a3, 0x0edb8832, 0x79dcb8a4, 0xe0d5e91e, 0x97d2d988,
		0x09b64c2b, 0x7eb17cbd, 0xe7b82d07, 0x90bf1d91,
	};
	const uint8_t *bytes = data;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		crc = crc >> 8 ^ low[crc & 15] ^ high[crc >> 4 & 15];
	}
	return ~crc;
}

void record_block_seal(uint8_t *block, size_t n)
{
	struct record_out header = { .data = block, .size = RECORD_BLOCK_HEADER };

	record_put_u32(&header, (uint32_t)n | (uint32_t)(~n & UINT16_MAX) << 16);
	record_put_u32(&header, record_crc(block + RECORD_BLOCK_HEADER, n));
}

size_t record_block_length(const uint8_t header[static RECORD_BLOCK_HEADER])
{
	struct record_in in = { header, header + RECORD_BLOCK_HEADER, false };
	uint32_t lengths = record_get_u32(&in), n = lengths & UINT16_MAX;

	return lengths >> 16 == (~n & UINT16_MAX) ? n : 0;
}

bool record_block_is_whole(const uint8_t header[static RECORD_BLOCK_HEADER], const void *data,
			   size_t n)
{
	struct record_in in = { header + 4, header + RECORD_BLOCK_HEADER, false };

	return record_get_u32(&in) == record_crc(data, n);
}
