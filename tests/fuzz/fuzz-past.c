// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever the files in /var/lib/wakegov hold, read: as it is, and as lines of a block, with a head
 * and a frame that are right, without which nearly everything ends there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/history/past.h"
#include "shared/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/wakegov-fuzz-past-XXXXXX";

static void clean(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		abort();
}

static void see(void *context, const struct archive_line *line)
{
	if (strlen(line->domain) >= sizeof(line->domain) || !line->text)
		abort();
	++*(uint32_t *)context;
}

static void read_file(const uint8_t *data, size_t size)
{
	char path[64];
	struct archive *archive;
	uint64_t from = 0;
	uint32_t left_out, n = 0, pages = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/history.1", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	snprintf(path, sizeof(path), "%s/history.2", directory);
	unlink(path);
	if (archive_open(directory, 2, &archive) < 0)
		abort();
	do {
		from = archive_list(archive, from, 0, see, &n);
	} while (from && ++pages < 100000);
	if (from)
		abort();
	free(archive_find(archive, "policy0", UINT64_MAX, &left_out));
	free(archive_find(archive, "policy1", 1, &left_out));
	archive_close(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct archive_text text;
	uint8_t *block;
	size_t n;

	if (size < 16 || size > sizeof(text.text))
		return 0;
	if (strstr(directory, "XXXXXX")) {
		if (!mkdtemp(directory))
			abort();
		atexit(clean);
	}
	read_file(data, size);
	memcpy(text.text, data, size);
	text.head = (struct archive_head){ .text_bytes = (uint32_t)size,
					   .most_us = UINT64_MAX,
					   .domains = UINT64_MAX };
	block = archive_text_seal(&text, &n);
	if (!block)
		abort();
	read_file(block, n);
	free(block);
	return 0;
}
