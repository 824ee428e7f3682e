// SPDX-License-Identifier: GPL-2.0-only
/* The totals of block devices; compares their depth with the kernel's own count. */
#include <errno.h>
#include <string.h>

#include "shared/time.h"
#include "tracer/disk.h"
#include "tracer/tracer_private.h"

#define LOST_IDLE_NS NS_PER_S	     /* for a device that the kernel reports as idle */
#define LOST_NS	     (10 * NS_PER_S) /* for a busy device */
#define LOST_MAX     64		     /* requests per search */

_Static_assert((int)INPUT_DEVICES_MAX == WAKEGOV_DEVICES, "devices in all");

static uint64_t flow_of(const struct wakegov_device *device)
{
	return __atomic_load_n(&device->flow, __ATOMIC_ACQUIRE);
}

static uint64_t idle_until(const volatile struct wakegov_device *device, uint64_t now_ns)
{
	uint64_t idle_ns, since_ns;

	/* If an idle time ends during the read, it would be counted twice or not at all. */
	do {
		since_ns = device->idle_since_ns;
		idle_ns = device->idle_ns;
	} while (since_ns != device->idle_since_ns);
	if (since_ns && wakegov_flow_depth(device->flow) <= 0 && now_ns > since_ns)
		idle_ns += now_ns - since_ns;
	return idle_ns;
}

bool device_is_followed(const struct tracer *tracer, uint32_t index)
{
	return index < WAKEGOV_DEVICES && tracer->devices[index].seq &&
	       !tracer->devices[index].ignored;
}

int tracer_read_device(struct tracer *tracer, uint32_t index, uint64_t now_ns, struct input *ret)
{
	const volatile struct wakegov_device *device;
	uint64_t flow;
	int32_t depth;

	if (!device_is_followed(tracer, index))
		return -ENOENT;
	device = &tracer->devices[index];
	flow = device->flow;
	depth = wakegov_flow_depth(flow);
	*ret = (struct input){
		.now_ns = now_ns,
		.type = INPUT_DEVICE,
		.device = {
			.device = index,
			.completions = wakegov_flow_completions(flow),
			.idle_ns = idle_until(device, now_ns),
			.depth = depth > 0 ? depth : 0,
			.completion_cpu = device->completion_cpu,
		},
	};
	tracer->known_devices |= 1ULL << index;
	return 0;
}

int tracer_device_name(const struct tracer *tracer, uint32_t index, char ret[TRACER_DISK_SIZE])
{
	if (index >= WAKEGOV_DEVICES || !tracer->devices[index].seq)
		return -ENOENT;
	disk_sysfs_name(tracer->devices[index].name, ret);
	return 0;
}

/* Ends a request that the kernel side has in flight, unless the kernel side has just done so. */
static void end_flight(struct tracer *tracer, struct wakegov_flight *flight, uint64_t start_ns)
{
	struct wakegov_device *device = &tracer->devices[flight->device % WAKEGOV_DEVICES];
	struct wakegov_slot *slot = &tracer->slots[flight->owner % WAKEGOV_SLOTS];
	bool owned = flight->owner && slot->id == flight->owner;
	__u64 expected = start_ns, flow;

	if (!__atomic_compare_exchange_n(&flight->start_ns, &expected, 0, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	flow = __atomic_add_fetch(&device->flow, WAKEGOV_COMPLETED, __ATOMIC_ACQ_REL);
	if (wakegov_flow_depth(flow) <= 0)
		device->idle_since_ns = time_now_ns();
	__atomic_fetch_add(&device->anomalies, 1, __ATOMIC_RELAXED);
	if (!owned)
		return;
	__atomic_fetch_add(&slot->completions_ns, start_ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->completed, 1, __ATOMIC_ACQ_REL);
}

/* A snapshot of a request. */
struct seen {
	struct wakegov_flight *flight;
	struct wakegov_flight as;
};

/* A search for requests of a device that started before a time. */
struct search {
	uint32_t device;
	uint64_t then_ns;
	struct seen found[LOST_MAX];
	size_t n;
};

static void look_at(struct search *search, struct wakegov_flight *flight)
{
	struct wakegov_flight as = *(volatile struct wakegov_flight *)flight;

	if (as.start_ns > WAKEGOV_TAKING && as.device == search->device &&
	    as.start_ns < search->then_ns && search->n < LOST_MAX)
		search->found[search->n++] = (struct seen){ flight, as };
}

static void find_older(const struct tracer *tracer, uint32_t device, uint64_t then_ns,
		       struct search *ret)
{
	ret->device = device;
	ret->then_ns = then_ns;
	ret->n = 0;
	for (uint32_t i = 0; i < WAKEGOV_FLIGHT_SETS; i++)
		for (uint32_t j = 0; j < WAKEGOV_FLIGHT_WAYS; j++)
			look_at(ret, &tracer->flights[i].ways[j]);
}

/* Ends every request of a device that is gone or ignored. */
static void end_all(struct tracer *tracer, uint32_t index)
{
	struct search search;

	do {
		find_older(tracer, index, UINT64_MAX, &search);
		for (size_t i = 0; i < search.n; i++)
			end_flight(tracer, search.found[i].flight, search.found[i].as.start_ns);
	} while (search.n == LOST_MAX);
}

/*
 * The age at which a request counts as lost. It depends on the number of requests that the driver
 * has by the kernel's count: a request in a scheduler's queue or in a flush is not in that count.
 */
static uint64_t lost_after_ns(const struct wakegov_device *device, const char *name)
{
	uint32_t in_flight;

	if (disk_read_in_flight(name, &in_flight) < 0 ||
	    (int64_t)in_flight >= wakegov_flow_depth(flow_of(device)))
		return UINT64_MAX;
	return in_flight ? LOST_NS : LOST_IDLE_NS;
}

/*
 * A request whose completion no program saw ends when the kernel uses its struct again, which is
 * soon on a busy device. One that is not used again, or only on another CPU, would keep the depth
 * too high: it is ended here.
 */
static void resync(struct tracer *tracer, uint32_t index, const char *name)
{
	const struct wakegov_device *device = &tracer->devices[index];
	uint64_t now_ns = time_now_ns();
	uint64_t after_ns = UINT64_MAX;
	struct search search;

	if (wakegov_flow_depth(flow_of(device)) > 0)
		after_ns = lost_after_ns(device, name);
	if (after_ns >= now_ns)
		return;
	find_older(tracer, index, now_ns - after_ns, &search);
	/*
	 * The device must be idle after the search as well: requests that completed meanwhile are
	 * gone then.
	 */
	if (!search.n || lost_after_ns(device, name) > after_ns)
		return;
	for (size_t i = 0; i < search.n; i++)
		end_flight(tracer, search.found[i].flight, search.found[i].as.start_ns);
}

/* The index may be used for another device: removes everything that was counted for this one. */
static void forget(struct tracer *tracer, uint32_t index)
{
	struct wakegov_device *device = &tracer->devices[index];
	uint64_t anomalies = device->anomalies;

	device->ignored = 1; /* the kernel side counts no further starts */
	end_all(tracer, index);
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		for (uint32_t j = 0; j < WAKEGOV_SLOT_IOS; j++)
			if (tracer->slots[i].ios[j].device == index)
				tracer->slots[i].ios[j].device = WAKEGOV_NO_DEVICE;
	tracer->past_anomalies += anomalies;
	device->queue = 0;
	device->flow = 0;
	device->idle_since_ns = 0;
	device->idle_ns = 0;
	device->anomalies = 0;
	device->ignored = 0;
	memset(device->name, 0, sizeof(device->name));
	__atomic_store_n(&device->seq, 0, __ATOMIC_RELEASE);
}

void tracer_classify_device(struct tracer *tracer, uint32_t index)
{
	char name[TRACER_DISK_SIZE];

	if (tracer_device_name(tracer, index, name) < 0 || !disk_is_stacked(name))
		return;
	tracer->devices[index].ignored = 1;
	end_all(tracer, index);
}

void tracer_resync_devices(struct tracer *tracer, tracer_handler_t handler, void *userdata)
{
	volatile uint64_t *unplaced = (volatile uint64_t *)tracer->programs.bss->unplaced;
	char name[TRACER_DISK_SIZE];

	for (uint32_t index = 0; index < WAKEGOV_DEVICES; index++) {
		struct wakegov_record end = { .type = WAKEGOV_RECORD_DEVICE_END, .device = index };

		if (tracer_device_name(tracer, index, name) < 0)
			continue;
		if (disk_is_there(name, tracer->devices[index].seq)) {
			if (!tracer->devices[index].ignored && !tracer_counts_only(tracer))
				resync(tracer, index, name);
			continue;
		}
		forget(tracer, index);
		if (!(tracer->known_devices & 1ULL << index))
			continue;
		tracer->known_devices &= ~(1ULL << index);
		handler(userdata, &end);
	}
	for (uint32_t i = 0; i < WAKEGOV_UNPLACED; i++)
		unplaced[i] = 0;
}
