// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a platform file of the simulator holds, and then SPECs for the platform, one a line:
 * each is read whole or refused with a sentence. The two are in one input, with a line "---"
 * between.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "sim/platform.h"
#include "sim/workload.h"

#define BORDER "\n---\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static int make_file(const uint8_t *data, size_t size, char ret_path[static 32])
{
	int fd = memfd_create("model", MFD_CLOEXEC);

	check(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(ret_path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* One SPEC a line. */
static void read_workloads(const uint8_t *data, size_t size, const struct platform *platform)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	char *next = text, *line;

	check(text);
	while ((line = strsep(&next, "\n"))) {
		_cleanup_free_ char *message = NULL;
		static struct workload workload;

		if (workload_parse(line, platform, &workload, &message) < 0)
			check(message && message[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *border = memmem(data, size, BORDER, strlen(BORDER));
	size_t platform_size = border ? (size_t)(border - data) : size;
	static struct platform platform;
	_cleanup_free_ char *message = NULL;
	char path[32];
	_cleanup_close_ int fd = -1;

	fd = make_file(data, platform_size, path);
	if (platform_load(path, &platform, &message) < 0) {
		check(message && message[0]);
		return 0;
	}
	check(platform.n_cpus >= 1 && platform.n_cpus <= PLATFORM_CPUS_MAX);
	check(platform.n_domains >= 1 && platform.n_domains <= PLATFORM_DOMAINS_MAX);
	check(platform.n_devices <= PLATFORM_DEVICES_MAX);
	if (border)
		read_workloads(border + strlen(BORDER), data + size - border - strlen(BORDER),
			       &platform);
	return 0;
}
