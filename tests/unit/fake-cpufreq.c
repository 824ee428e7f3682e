// SPDX-License-Identifier: GPL-2.0-only
#include "fake-cpufreq.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define RUN_DIR "/run"

int fake_reset(void **state)
{
	struct stat st;

	/* Above the real one lies at most one of ours. */
	if (stat(FAKE_CPU "/fake", &st) == 0)
		umount2(FAKE_CPU, MNT_DETACH);
	if (mount("fake", FAKE_CPU, "tmpfs", 0, "mode=755") < 0)
		return -1;
	strcpy(fake_root, FAKE_CPU);
	fake_write("fake", "yes");
	return 0;
}

void fake_assert(const char *path, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	char full[256];

	snprintf(full, sizeof(full), FAKE_CPU "/%s", path);
	text = test_read(full);
	assert_non_null(text);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, expected);
}

static void link_cpu(uint32_t cpu, uint32_t policy)
{
	char path[64], target[64];

	snprintf(path, sizeof(path), FAKE_CPU "/cpu%u", cpu);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), FAKE_CPU "/cpu%u/cpufreq", cpu);
	snprintf(target, sizeof(target), "../cpufreq/policy%u", policy);
	assert_int_equal(symlink(target, path), 0);
}

void fake_policy(uint32_t first, uint32_t last)
{
	static const char *const files[][2] = {
		{ "scaling_available_frequencies", "1800000 1400000 1000000 600000 400000 " },
		{ "scaling_available_governors", "performance schedutil userspace" },
		{ "scaling_cur_freq", "1000000" },
		{ "scaling_driver", "acpi-cpufreq" },
		{ "scaling_governor", "schedutil" },
		{ "scaling_min_freq", "400000" },
		{ "scaling_max_freq", "1800000" },
		{ "scaling_setspeed", "1000000" },
		{ "cpuinfo_min_freq", "400000" },
		{ "cpuinfo_max_freq", "1800000" },
		{ "cpuinfo_transition_latency", "10000" },
	};
	char path[128], cpus[512] = "";

	for (uint32_t cpu = first; cpu <= last; cpu++) {
		snprintf(cpus + strlen(cpus), sizeof(cpus) - strlen(cpus), "%u ", cpu);
		link_cpu(cpu, first);
	}
	snprintf(path, sizeof(path), "cpufreq/policy%u/related_cpus", first);
	fake_write(path, "%s", cpus);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "cpufreq/policy%u/%s", first, files[i][0]);
		fake_write(path, "%s", files[i][1]);
	}
}

void fake_break(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), FAKE_CPU "/%s", path);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(mkdir(full, 0755), 0);
}

const char *fake_run_dir(const char *size)
{
	char options[64];

	snprintf(options, sizeof(options), "mode=755,size=%s", size);
	umount2(RUN_DIR, MNT_DETACH);
	assert_int_equal(mount("run", RUN_DIR, "tmpfs", 0, options), 0);
	return RUN_DIR;
}

void fake_fill(const char *directory)
{
	_cleanup_close_ int fd = -1;
	char path[128], page[4096] = { 0 };

	snprintf(path, sizeof(path), "%s/filler", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	while (write(fd, page, sizeof(page)) > 0)
		;
	assert_int_equal(errno, ENOSPC);
}

void fake_empty(const char *directory)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/filler", directory);
	assert_int_equal(unlink(path), 0);
}

/* Ends the program with 77 (skipped) where there is no right to mount. */
int main(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 || fake_reset(NULL) < 0) {
		fprintf(stderr, "skipped: needs root, to mount a tree of its own over %s\n",
			FAKE_CPU);
		return 77;
	}
	return tests_run(NULL, NULL);
}
