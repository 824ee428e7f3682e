// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task's requests in flight, computed from the kernel's totals of each disk: the task's part of
 * the duration of all requests that ended there. No single request is followed.
 */
#include "tracer/tracer_private.h"

/*
 * The time in flight since the last sample; the kernel counts it at the end of a request. Until one
 * ends, this assumes the former number in flight, and the requests that the task has sent since.
 */
static uint64_t add_requests(struct seen_requests *seen, uint64_t sent,
			     const struct disk_requests *now, uint64_t now_ns)
{
	uint64_t n = sent - seen->sent, ended = now->done - seen->total.done;
	uint64_t passed_ns = now_ns - seen->since_ns, ended_ns = now->time_ns - seen->total.time_ns;
	uint64_t own_ns = (seen->depth + n) * passed_ns, grown_ns;

	/* Its part, at most all of it: more may have started than ended. */
	if (ended)
		own_ns = n < ended ? ended_ns * n / ended : ended_ns;
	grown_ns = own_ns > seen->told_ns ? own_ns - seen->told_ns : 0;
	if (ended)
		*seen = (struct seen_requests){
			.sent = sent,
			.total = *now,
			.depth = passed_ns ? (own_ns + passed_ns / 2) / passed_ns : 0,
			.each_ns = n ? own_ns / n : seen->each_ns,
			.since_ns = now_ns,
		};
	else
		seen->told_ns += grown_ns;
	return grown_ns;
}

/* The same for all its requests to one device, which learning periods tell apart. */
static uint64_t add_io(struct tracer *tracer, struct seen_io *seen,
		       const struct wakegov_slot_io *io, uint64_t now_ns)
{
	const uint64_t sent[DISK_DIRECTIONS] = { io->ios - io->writes, io->writes };
	const struct seen_device *device;
	bool known = tracer->learns && device_read(tracer, io->device, now_ns, &device) == 0;
	uint64_t grown_ns = 0;

	if (seen->device != io->device) /* it has sent all of them since */
		*seen = (struct seen_io){ .device = io->device };
	for (int i = 0; i < DISK_DIRECTIONS; i++) {
		if (!known) {
			seen->of[i].sent = sent[i];
			continue;
		}
		/* A learning period begins with the device's totals at that time. */
		if (seen->period != tracer->period) {
			seen->of[i].total = device->first.of[i];
			seen->of[i].told_ns = 0;
			seen->of[i].since_ns = tracer->period_ns;
		}
		grown_ns += add_requests(&seen->of[i], sent[i], &device->totals.of[i], now_ns);
	}
	if (known)
		seen->period = tracer->period;
	return grown_ns;
}

/*
 * An uninterruptible wait is for a request that the task has just sent: between two such waits the
 * task has no more in flight than it sends there. (Others' requests may take much longer than its
 * own, whatever their size.)
 */
static uint64_t most_ns(const struct seen_slot *seen, const struct wakegov_slot *slot,
			uint64_t starts, uint64_t now_ns)
{
	uint64_t waits = slot->sync_waits - seen->sync_waits, sent = starts - seen->starts;

	if (!seen->at_ns || !waits)
		return UINT64_MAX;
	return (now_ns - seen->at_ns) * (sent > waits ? sent : waits) / waits;
}

/* The duration of its slowest requests, in learning periods; 0 outside them. */
static uint64_t longest_ns(const struct tracer *tracer, const struct seen_slot *seen)
{
	uint64_t ret = 0;

	for (uint32_t i = 0; tracer->learns && i < WAKEGOV_SLOT_IOS; i++)
		for (int j = 0; j < DISK_DIRECTIONS; j++)
			if (seen->ios[i].device != WAKEGOV_NO_DEVICE &&
			    seen->ios[i].of[j].each_ns > ret)
				ret = seen->ios[i].of[j].each_ns;
	return ret;
}

void in_flight_add(struct tracer *tracer, struct seen_slot *seen, struct wakegov_slot *slot,
		   uint64_t starts, uint64_t now_ns)
{
	uint64_t most = most_ns(seen, slot, starts, now_ns), grown_ns = 0;

	for (uint32_t i = 0; i < WAKEGOV_SLOT_IOS; i++) {
		struct wakegov_slot_io io = *(const volatile struct wakegov_slot_io *)&slot->ios[i];

		if (device_is_followed(tracer, io.device))
			grown_ns += add_io(tracer, &seen->ios[i], &io, now_ns);
	}
	seen->in_flight_ns += grown_ns < most ? grown_ns : most;
	seen->at_ns = now_ns;
	seen->starts = starts;
	seen->sync_waits = slot->sync_waits;
	slot->request_ns = longest_ns(tracer, seen);
}
