// SPDX-License-Identifier: GPL-2.0-only
#include "record/codec.h"
#include "record/export.h"
#include "shared/text.h"

#define PROTOBUF_TEXT_SIZE 256

#define WIRE_VARINT	   0
#define WIRE_LENGTH	   2

/* The part of protocol buffers' encoding that a trace needs. */
static void protobuf_put_number(struct record_out *out, uint32_t field, uint64_t number)
{
	record_put_varint(out, field << 3 | WIRE_VARINT);
	record_put_varint(out, number);
}

static void protobuf_put_text(struct record_out *out, uint32_t field, const char *text)
{
	char clean[PROTOBUF_TEXT_SIZE];

	text_copy(clean, sizeof(clean), text);
	record_put_varint(out, field << 3 | WIRE_LENGTH);
	record_put_text(out, clean);
}

static void protobuf_put_message(struct record_out *out, uint32_t field,
				 const struct record_out *message)
{
	record_put_varint(out, field << 3 | WIRE_LENGTH);
	record_put_varint(out, message->n);
	record_put_bytes(out, message->data, message->n);
}

/* Field numbers of perfetto/protos/perfetto/trace. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	COUNTER_UNIT_NAME = 6,
	EVENT_ANNOTATION = 4, /* debug_annotations */
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	ANNOTATION_UINT = 3,
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
};

enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };

#define SEQUENCE       1
#define SEQUENCE_BEGIN 1 /* SEQ_INCREMENTAL_STATE_CLEARED */

/* Tracks; those of domains and tasks are numbered from their group's on. */
enum track_group { TRACK_DOMAINS = 1, TRACK_REASON, TRACK_FREQUENCY, TRACK_TASKS, TRACK_TASK };

/* A message under construction. */
struct message {
	uint8_t bytes[512];
	struct record_out out;
};

static void message_init(struct message *message)
{
	message->out = (struct record_out){ .data = message->bytes,
					    .size = sizeof(message->bytes) };
}

static uint64_t track(enum track_group group, uint32_t i)
{
	return (uint64_t)group << 32 | i;
}

static void write_packet(FILE *out, struct message *packet)
{
	struct message head;

	message_init(&head);
	protobuf_put_number(&packet->out, PACKET_SEQUENCE, SEQUENCE);
	record_put_varint(&head.out, TRACE_PACKET << 3 | 2);
	record_put_varint(&head.out, packet->out.n);
	fwrite(head.bytes, 1, head.out.n, out);
	fwrite(packet->bytes, 1, packet->out.n, out);
}

static void write_track(FILE *out, uint64_t uuid, uint64_t parent, const char *name,
			const char *unit)
{
	struct message packet, descriptor, counter;

	message_init(&packet);
	message_init(&descriptor);
	protobuf_put_number(&descriptor.out, TRACK_UUID, uuid);
	protobuf_put_text(&descriptor.out, TRACK_NAME, name);
	if (parent)
		protobuf_put_number(&descriptor.out, TRACK_PARENT, parent);
	if (unit) {
		message_init(&counter);
		protobuf_put_text(&counter.out, COUNTER_UNIT_NAME, unit);
		protobuf_put_message(&descriptor.out, TRACK_COUNTER, &counter.out);
	}
	protobuf_put_message(&packet.out, PACKET_TRACK_DESCRIPTOR, &descriptor.out);
	if (uuid == track(TRACK_DOMAINS, 0))
		protobuf_put_number(&packet.out, PACKET_SEQUENCE_FLAGS, SEQUENCE_BEGIN);
	write_packet(out, &packet);
}

static void begin_event(struct message *event, enum event_type type, uint64_t uuid)
{
	message_init(event);
	protobuf_put_number(&event->out, EVENT_TYPE, type);
	protobuf_put_number(&event->out, EVENT_TRACK, uuid);
}

/* An annotation of the event with a text, or if that is NULL with a number. */
static void annotate(struct message *event, const char *name, const char *text, uint64_t number)
{
	struct message annotation;

	message_init(&annotation);
	protobuf_put_text(&annotation.out, ANNOTATION_NAME, name);
	if (text)
		protobuf_put_text(&annotation.out, ANNOTATION_STRING, text);
	else
		protobuf_put_number(&annotation.out, ANNOTATION_UINT, number);
	protobuf_put_message(&event->out, EVENT_ANNOTATION, &annotation.out);
}

static void write_event(FILE *out, const struct message *event, uint64_t now_ns)
{
	struct message packet;

	/* A name has at most 15 bytes, so the message fits. */
	message_init(&packet);
	protobuf_put_number(&packet.out, PACKET_TIMESTAMP, now_ns);
	protobuf_put_message(&packet.out, PACKET_TRACK_EVENT, &event->out);
	write_packet(out, &packet);
}

static void end_slice(FILE *out, uint64_t uuid, uint64_t now_ns)
{
	struct message event;

	begin_event(&event, SLICE_END, uuid);
	write_event(out, &event, now_ns);
}

static void end_reason(void *userdata, uint32_t domain, uint64_t now_ns)
{
	end_slice(userdata, track(TRACK_REASON, domain), now_ns);
}

static void write_decision(void *userdata, const struct decision *decision, bool is_first)
{
	FILE *out = userdata;
	uint32_t domain = decision->domain;
	struct message event;

	begin_event(&event, COUNTER, track(TRACK_FREQUENCY, domain));
	protobuf_put_number(&event.out, EVENT_COUNTER_VALUE, decision->target_khz / 1000);
	write_event(out, &event, decision->now_ns);

	if (!is_first)
		end_reason(out, domain, decision->now_ns);
	begin_event(&event, SLICE_BEGIN, track(TRACK_REASON, domain));
	protobuf_put_text(&event.out, EVENT_NAME, reason_name(decision->reason));
	annotate(&event, "target_mhz", NULL, decision->target_khz / 1000);
	annotate(&event, "wanted_mhz", NULL, decision->wanted_khz / 1000);
	annotate(&event, "demand_of_1024", NULL, decision->want_cap);
	annotate(&event, "cpu", NULL, decision->cpu);
	annotate(&event, "limiter", limiter_name(decision->limiter), 0);
	annotate(&event, "timing", timing_name(decision->timing), 0);
	if (decision->pid) {
		annotate(&event, "pid", NULL, decision->pid);
		annotate(&event, "task", decision->comm, 0);
	}
	write_event(out, &event, decision->now_ns);
}

/* At most one task has a pid at a time, so its slices are on the track of the pid. */
static void end_task(void *userdata, uint32_t pid, uint64_t now_ns)
{
	end_slice(userdata, track(TRACK_TASK, pid), now_ns);
}

static void write_task(void *userdata, const struct io_task *task, bool is_first, uint64_t now_ns)
{
	const struct io_boost *boost = &task->io_boost;
	uint64_t uuid = track(TRACK_TASK, task->pid);
	FILE *out = userdata;
	struct message event;
	char title[64];

	snprintf(title, sizeof(title), "%s %u", task->comm, task->pid);
	if (is_first)
		write_track(out, uuid, track(TRACK_TASKS, 0), title, NULL);
	else
		end_slice(out, uuid, now_ns);
	begin_event(&event, SLICE_BEGIN, uuid);
	protobuf_put_text(&event.out, EVENT_NAME, io_boost_state_name(boost->state));
	annotate(&event, "boosted", io_boost_is_held(boost) ? "yes" : "no", 0);
	annotate(&event, "wanted_mhz", NULL, boost->wanted_khz / 1000);
	annotate(&event, "io_per_s", NULL, boost->rate_per_s);
	annotate(&event, "cpu", NULL, task->cpu);
	write_event(out, &event, now_ns);
}

int perfetto_write(struct record_reader *reader, FILE *out, struct timeline *ret)
{
	const struct topology *topology = record_reader_topology(reader);
	struct timeline_sink sink = {
		.decision = write_decision,
		.pause = end_reason,
		.task = write_task,
		.task_end = end_task,
		.userdata = out,
	};

	write_track(out, track(TRACK_DOMAINS, 0), 0, "wakegov: frequency domains", NULL);
	write_track(out, track(TRACK_TASKS, 0), 0, "wakegov: I/O boosts", NULL);
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		char name[DOMAIN_NAME_SIZE + 16];

		snprintf(name, sizeof(name), "%s frequency", topology->domains[i].name);
		write_track(out, track(TRACK_FREQUENCY, i), track(TRACK_DOMAINS, 0), name, "MHz");
		snprintf(name, sizeof(name), "%s reason", topology->domains[i].name);
		write_track(out, track(TRACK_REASON, i), track(TRACK_DOMAINS, 0), name, NULL);
	}
	return timeline_run(reader, &sink, ret);
}
