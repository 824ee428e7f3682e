// SPDX-License-Identifier: GPL-2.0-only
#include "record/protobuf.h"

#include "shared/text.h"

#define PROTOBUF_TEXT_SIZE 256

#define WIRE_VARINT	   0
#define WIRE_LENGTH	   2

void protobuf_put_number(struct record_out *out, uint32_t field, uint64_t number)
{
	record_put_varint(out, field << 3 | WIRE_VARINT);
	record_put_varint(out, number);
}

void protobuf_put_text(struct record_out *out, uint32_t field, const char *text)
{
	char clean[PROTOBUF_TEXT_SIZE];

	text_copy(clean, sizeof(clean), text);
	record_put_varint(out, field << 3 | WIRE_LENGTH);
	record_put_text(out, clean);
}

void protobuf_put_message(struct record_out *out, uint32_t field, const struct record_out *message)
{
	record_put_varint(out, field << 3 | WIRE_LENGTH);
	record_put_varint(out, message->n);
	record_put_bytes(out, message->data, message->n);
}
