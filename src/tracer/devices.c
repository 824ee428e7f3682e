// SPDX-License-Identifier: GPL-2.0-only
/* The block devices that receive tasks' requests, and the kernel's totals of each in /sys. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "shared/time.h"
#include "tracer/tracer_private.h"
#include "wakegov/abi.h"

_Static_assert((int)INPUT_DEVICES_MAX == WAKEGOV_DEVICES, "devices in all");

static void path_of(const char *name, const char *attribute, char ret[128])
{
	snprintf(ret, 128, "/sys/block/%.*s/%s", WAKEGOV_DISK_SIZE, name, attribute);
}

/* Reads an attribute's line, cut to size. Returns 0 or a negative errno. */
static int read_text(const char *name, const char *attribute, char *ret, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	path_of(name, attribute, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, ret, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return 0;
}

/* The name under /sys/block of the kernel's disk `name`. Both are WAKEGOV_DISK_SIZE long. */
static void copy_sysfs_name(const char *name, char *ret)
{
	size_t i;

	for (i = 0; i < WAKEGOV_DISK_SIZE - 1 && name[i]; i++)
		ret[i] = name[i] == '/' ? '!' : name[i];
	ret[i] = '\0';
}

static bool has_entries(const char *path)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return false;
	do {
		entry = readdir(dir);
	} while (entry && entry->d_name[0] == '.');
	closedir(dir);
	return entry;
}

/*
 * A loop device on a file in memory has no disk below it. If its file cannot be examined, it counts
 * as on a disk.
 */
static bool is_loop_on_disk(const char *name)
{
	char path[512];
	struct statfs fs;

	if (read_text(name, "loop/backing_file", path, sizeof(path)) < 0)
		return false;
	return statfs(path, &fs) < 0 || (fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC);
}

/*
 * Whether the disk passes its requests on to others: dm, md, any disk with slaves, and a loop
 * device unless its file is in memory.
 */
static bool is_stacked(const char *name)
{
	static const char *const marks[] = { "dm", "md" };
	char path[128];

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		path_of(name, marks[i], path);
		if (access(path, F_OK) == 0)
			return true;
	}
	path_of(name, "slaves", path);
	return has_entries(path) || is_loop_on_disk(name);
}

bool disk_is_there(const char *name, uint64_t seq)
{
	char text[64];

	return read_text(name, "diskseq", text, sizeof(text)) == 0 &&
	       strtoull(text, NULL, 10) == seq;
}

int disk_read_totals(const char *name, struct disk_totals *ret)
{
	char text[256], *at = text;
	int r = read_text(name, "queue/iostats", text, sizeof(text)), used;
	uint64_t ms;

	if (r < 0)
		return r;
	if (text[0] == '0')
		return -ENODATA;
	r = read_text(name, "stat", text, sizeof(text));
	/* Documentation/block/stat.rst: for each requests, merges, sectors and milliseconds. */
	for (int i = 0; r == 0 && i < DISK_DIRECTIONS; i++) {
		if (sscanf(at, "%" SCNu64 " %*u %*u %" SCNu64 "%n", &ret->of[i].done, &ms, &used) !=
		    2)
			return -EINVAL;
		ret->of[i].time_ns = ms * NS_PER_MS;
		at += used;
	}
	if (r == 0 && sscanf(at, "%" SCNu32, &ret->in_flight) != 1)
		r = -EINVAL;
	return r;
}

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
	copy_sysfs_name(tracer->devices[index].name, ret);
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
	if (is_stacked(name))
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
