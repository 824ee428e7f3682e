// SPDX-License-Identifier: GPL-2.0-only
#include "record/reader.h"

#include <errno.h>
#include <stdlib.h>

int lookahead_init(struct lookahead *ahead, struct record_reader *reader)
{
	*ahead = (struct lookahead){
		.reader = reader,
		.records = calloc(LOOKAHEAD_RECORDS, sizeof(*ahead->records)),
		.result = RECORD_READ,
	};
	return ahead->records ? 0 : -ENOMEM;
}

void lookahead_deinit(struct lookahead *ahead)
{
	free(ahead->records);
	*ahead = (struct lookahead){ 0 };
}

static struct record *record_at(const struct lookahead *ahead, uint32_t i)
{
	return &ahead->records[(ahead->first + i) % LOOKAHEAD_RECORDS];
}

int lookahead_next(struct lookahead *ahead, struct record *ret)
{
	/* Reads on until the records span LOOKAHEAD_NS. */
	while (ahead->result == RECORD_READ && ahead->n < LOOKAHEAD_RECORDS &&
	       (!ahead->n || record_at(ahead, ahead->n - 1)->now_ns <
				     record_at(ahead, 0)->now_ns + LOOKAHEAD_NS)) {
		ahead->result = record_reader_next(ahead->reader, record_at(ahead, ahead->n));
		ahead->n += ahead->result == RECORD_READ;
	}
	if (!ahead->n)
		return ahead->result;
	*ret = *record_at(ahead, 0);
	ahead->first = (ahead->first + 1) % LOOKAHEAD_RECORDS;
	ahead->n--;
	return RECORD_READ;
}

/* The next sample of a task or of a device; NULL: it ends before that, or there is none yet. */
static const struct input *find_next(const struct lookahead *ahead, enum record_type type,
				     uint32_t number)
{
	bool is_task = type == RECORD_TASK;

	for (uint32_t i = 0; i < ahead->n; i++) {
		const struct record *record = record_at(ahead, i);
		const struct input *input = &record->input;

		if (record->type == type &&
		    (is_task ? input->task.pid : input->device.device) == number)
			return input;
		if (record->type == (is_task ? RECORD_TASK_END : RECORD_DEVICE_END) &&
		    (is_task ? input->ended_pid : input->ended_device) == number)
			return NULL;
	}
	return NULL;
}

/* The position of now_ns between two samples: 0…1. */
static double share_of_way(const struct input *before, const struct input *after, uint64_t now_ns)
{
	if (now_ns <= before->now_ns || after->now_ns <= before->now_ns)
		return 0;
	if (now_ns >= after->now_ns)
		return 1;
	return (double)(now_ns - before->now_ns) / (double)(after->now_ns - before->now_ns);
}

/* Interpolates a total. One that decreased belongs to another subject: the earlier value stays. */
static uint64_t between(uint64_t before, uint64_t after, double share)
{
	return after > before ? before + (uint64_t)((double)(after - before) * share) : before;
}

bool lookahead_task(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		    struct input *ret)
{
	const struct input *after = find_next(ahead, RECORD_TASK, before->task.pid);
	uint64_t last_io_ns;
	double share;

	if (!after)
		return false;
	share = share_of_way(before, after, now_ns);
	*ret = *before;
	ret->now_ns = now_ns;
	ret->task.io_waits = between(before->task.io_waits, after->task.io_waits, share);
	ret->task.io_starts = between(before->task.io_starts, after->task.io_starts, share);
	ret->task.in_flight_ns = between(before->task.in_flight_ns, after->task.in_flight_ns,
					 share);
	ret->task.worked_ns = between(before->task.worked_ns, after->task.worked_ns, share);
	ret->task.waited_ns = between(before->task.waited_ns, after->task.waited_ns, share);
	for (uint32_t i = 0; i < before->task.n_ios && i < after->task.n_ios; i++) {
		const struct input_task_io *from = &before->task.ios[i], *to = &after->task.ios[i];

		if (from->device != to->device)
			continue;
		ret->task.ios[i].ios = between(from->ios, to->ios, share);
	}
	/* The task did I/O continuously up to its last. */
	last_io_ns = after->task.last_io_ns < now_ns ? after->task.last_io_ns : now_ns;
	if (last_io_ns > before->task.last_io_ns)
		ret->task.last_io_ns = last_io_ns;
	return true;
}

bool lookahead_device(const struct lookahead *ahead, const struct input *before, uint64_t now_ns,
		      struct input *ret)
{
	const struct input *after = find_next(ahead, RECORD_DEVICE, before->device.device);
	double share;

	if (!after)
		return false;
	share = share_of_way(before, after, now_ns);
	*ret = *before;
	ret->now_ns = now_ns;
	ret->device.completions = between(before->device.completions, after->device.completions,
					  share);
	ret->device.in_flight_ns = between(before->device.in_flight_ns, after->device.in_flight_ns,
					   share);
	return true;
}
