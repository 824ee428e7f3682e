/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* As much of protocol buffers' encoding as a trace needs, on the varints of record/codec.h. */

#include "record/codec.h"

void protobuf_put_number(struct record_out *out, uint32_t field, uint64_t number);
void protobuf_put_text(struct record_out *out, uint32_t field, const char *text);
void protobuf_put_message(struct record_out *out, uint32_t field, const struct record_out *message);
