// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a file of /run holds, read as each of its kinds: as it is, and with this boot's head and
 * the right end, without which nearly everything ends there. What was read and saved is read again
 * and saved as the same bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/affinities.h"
#include "actuator/saved.h"
#include "actuator/uclamps.h"
#include "config/keys.h"
#include "daemon/modules/hinting.h"
#include "daemon/modules/overrides.h"
#include "shared/cleanup.h"
#include "shared/statefile.h"

#define TEXT_SIZE (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[64];

/* Each reads its file, and saves what it read. Returns what the reader did. */
static int use_originals(void)
{
	struct saved_values *saved;
	int r = saved_open(directory, &saved);

	if (r < 0)
		return r;
	if (saved_save(saved) < 0)
		abort();
	saved_free(saved);
	return 0;
}

static int use_log(const struct task_log_kind *kind)
{
	struct task_log log;
	int r = task_log_load(&log, kind, directory);

	if (r == 0 && task_log_begin(&log) < 0)
		abort();
	task_log_deinit(&log);
	return r;
}

static int use_clamps(void)
{
	return use_log(&uclamps_log);
}

static int use_affinities(void)
{
	return use_log(&affinities_log);
}

static int use_hints(void)
{
	struct rules *rules = rules_new(64, NULL, NULL);
	int r = rules ? hint_file_load(directory, 0, rules) : -ENOMEM;

	if (r == 0 && hint_file_save(directory, rules) < 0)
		abort();
	rules_free(rules);
	return r;
}

static int use_overrides(void)
{
	static struct overrides overrides;
	static struct policy policy;
	int r = overrides_load(&overrides, directory, 0);

	policy_init(&policy);
	overrides_fill(&overrides, &policy);
	if (r == 0 && overrides_save(&overrides, directory) < 0)
		abort();
	overrides_clear(&overrides);
	return r;
}

static const struct {
	struct statefile file;
	int (*use)(void);
} kinds[] = {
	{ { .name = "originals", .version = 2 }, use_originals },
	{ { .name = "clamps", .version = 1, .is_log = true }, use_clamps },
	{ { .name = "affinities", .version = 2, .is_log = true }, use_affinities },
	{ { .name = HINT_FILE, .version = 2 }, use_hints },
	{ { .name = OVERRIDE_FILE, .version = 1 }, use_overrides },
};

static void path_of(const char *name, char ret[128])
{
	snprintf(ret, 128, "%s/%s", directory, name);
}

/* Returns the length; 0 without a file. */
static size_t read_file(const char *name, char ret_text[TEXT_SIZE])
{
	char path[128];
	FILE *file;
	size_t n;

	path_of(name, path);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(ret_text, 1, TEXT_SIZE, file);
	fclose(file);
	return n;
}

/* What was read once is saved the same way every time. */
static void check(size_t kind)
{
	static char first[TEXT_SIZE], second[TEXT_SIZE];
	const char *name = kinds[kind].file.name;
	size_t n_first, n_second;
	int r = kinds[kind].use();

	if (r < 0 && !statefile_refusal(r))
		abort();
	if (r < 0)
		return;
	n_first = read_file(name, first);
	if (kinds[kind].use() < 0)
		abort();
	n_second = read_file(name, second);
	if (n_first != n_second || memcmp(first, second, n_first) != 0)
		abort();
}

struct bytes {
	const uint8_t *data;
	size_t size;
};

static void print_lines(FILE *out, const void *data)
{
	const struct bytes *bytes = data;

	fwrite(bytes->data, 1, bytes->size, out);
	if (bytes->size && bytes->data[bytes->size - 1] != '\n')
		fputc('\n', out);
}

static void write_plain(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	FILE *file;

	path_of(name, path);
	file = fopen(path, "we");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes bytes = { data, size };

	if (!*directory) {
		strcpy(directory, "/dev/shm/wakegov-fuzz-XXXXXX");
		if (!mkdtemp(directory))
			abort();
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		write_plain(kinds[i].file.name, data, size);
		check(i);
		if (statefile_write(directory, &kinds[i].file, print_lines, &bytes) < 0)
			abort();
		check(i);
		statefile_remove(directory, &kinds[i].file);
	}
	return 0;
}
