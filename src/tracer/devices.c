// SPDX-License-Identifier: GPL-2.0-only
/* The block devices that receive tasks' requests, and the kernel's totals of each in /sys. */
#include <errno.h>
#include <string.h>

#include "shared/time.h"
#include "tracer/disk.h"
#include "tracer/tracer_private.h"

_Static_assert((int)INPUT_DEVICES_MAX == WAKEGOV_DEVICES, "devices in all");

bool device_is_followed(const struct tracer *tracer, uint32_t index)
{
	return index < WAKEGOV_DEVICES && tracer->devices[index].seq &&
	       !tracer->devices[index].ignored;
}

int device_read(struct tracer *tracer, uint32_t index, uint64_t now_ns,
		const struct seen_device **ret)
{
	struct seen_device *seen = &tracer->seen_devices[index % WAKEGOV_DEVICES];
	char name[TRACER_DISK_SIZE];
	int r;

	if (!device_is_followed(tracer, index))
		return -ENOENT;
	if (seen->at_ns != now_ns) {
		r = tracer_device_name(tracer, index, name);
		if (r == 0)
			r = disk_read_totals(name, &seen->totals);
		if (r < 0)
			return r;
		seen->at_ns = now_ns;
	}
	*ret = seen;
	return 0;
}

static void begin_period(struct tracer *tracer, uint32_t index, uint64_t now_ns)
{
	const struct seen_device *seen;

	if (device_read(tracer, index, now_ns, &seen) == 0)
		tracer->seen_devices[index].first = seen->totals;
}

void devices_begin_period(struct tracer *tracer)
{
	tracer->period++;
	tracer->period_ns = time_now_ns();
	for (uint32_t index = 0; index < WAKEGOV_DEVICES; index++)
		begin_period(tracer, index, tracer->period_ns);
}

int tracer_read_device(struct tracer *tracer, uint32_t index, uint64_t now_ns, struct input *ret)
{
	static const struct seen_device uncounted;
	const struct disk_requests *reads, *writes;
	const struct seen_device *seen;

	if (!device_is_followed(tracer, index))
		return -ENOENT;
	if (device_read(tracer, index, now_ns, &seen) < 0)
		seen = &uncounted;
	reads = &seen->totals.of[DISK_READS];
	writes = &seen->totals.of[DISK_WRITES];
	*ret = (struct input){
		.now_ns = now_ns,
		.type = INPUT_DEVICE,
		.device = {
			.device = index,
			.completions = reads->done + writes->done,
			.in_flight_ns = reads->time_ns + writes->time_ns,
			.depth = seen->totals.in_flight,
			.completion_cpu = tracer->devices[index].completion_cpu,
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

/* Another device may get the index: removes everything that was counted for this one. */
static void forget(struct tracer *tracer, uint32_t index)
{
	struct wakegov_device *device = &tracer->devices[index];

	device->ignored = 1; /* the kernel side counts no further starts */
	for (uint32_t i = 0; i < WAKEGOV_SLOTS; i++)
		for (uint32_t j = 0; j < WAKEGOV_SLOT_IOS; j++)
			if (tracer->slots[i].ios[j].device == index)
				tracer->slots[i].ios[j].device = WAKEGOV_NO_DEVICE;
	device->queue = 0;
	device->ignored = 0;
	memset(device->name, 0, sizeof(device->name));
	__atomic_store_n(&device->seq, 0, __ATOMIC_RELEASE);
}

void tracer_classify_device(struct tracer *tracer, uint32_t index)
{
	char name[TRACER_DISK_SIZE];

	if (tracer_device_name(tracer, index, name) < 0)
		return;
	if (disk_is_stacked(name))
		tracer->devices[index].ignored = 1;
	tracer->seen_devices[index] = (struct seen_device){ 0 };
	begin_period(tracer, index, time_now_ns());
}

void tracer_check_devices(struct tracer *tracer, tracer_handler_t handler, void *userdata)
{
	volatile uint64_t *unplaced = (volatile uint64_t *)tracer->programs.bss->unplaced;
	char name[TRACER_DISK_SIZE];

	for (uint32_t index = 0; index < WAKEGOV_DEVICES; index++) {
		struct wakegov_record end = { .type = WAKEGOV_RECORD_DEVICE_END, .device = index };

		if (tracer_device_name(tracer, index, name) < 0 ||
		    disk_is_there(name, tracer->devices[index].seq))
			continue;
		forget(tracer, index);
		if (!(tracer->known_devices & 1ULL << index))
			continue;
		tracer->known_devices &= ~(1ULL << index);
		handler(userdata, &end);
	}
	for (uint32_t i = 0; i < WAKEGOV_UNPLACED; i++)
		unplaced[i] = 0;
}
