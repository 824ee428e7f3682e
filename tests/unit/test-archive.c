// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/history/past.h"
#include "fake-files.h"
#include "made-line.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define DOMAINS 2
#define DAY_S	86400ULL

static uint64_t total_bytes(uint32_t *ret_files)
{
	char pattern[96];
	uint64_t sum = 0;
	struct stat st;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", fake_root);
	*ret_files = 0;
	if (glob(pattern, 0, NULL, &found) == 0)
		for (; *ret_files < found.gl_pathc; ++*ret_files) {
			assert_int_equal(stat(found.gl_pathv[*ret_files], &st), 0);
			sum += (uint64_t)st.st_size;
		}
	globfree(&found);
	return sum;
}

static struct archive *open_archive_of(uint32_t n_domains)
{
	struct archive *archive;

	assert_int_equal(archive_open(fake_root, n_domains, &archive), 0);
	return archive;
}

static struct archive *open_archive(void)
{
	return open_archive_of(DOMAINS);
}

/* The wall clock differs from the other one by this; a clock that is set changes it. */
static int64_t wall_us;

static int begin_clock(void **state)
{
	wall_us = (int64_t)((time_of_clock_ns(CLOCK_REALTIME) - time_now_ns()) / NS_PER_US);
	return fake_files_set_up(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, begin_clock, fake_files_tear_down)

static void add(struct archive *archive, uint32_t domain, uint64_t now_ns, uint32_t khz)
{
	char line[MADE_LINE_SIZE], name[16];
	uint64_t now_us = now_ns / NS_PER_US;

	snprintf(name, sizeof(name), "policy%u", domain);
	made_line(line, name, now_us, now_us + (uint64_t)wall_us, khz);
	if (archive_has_room(archive, domain, now_ns))
		archive_add(archive, domain, now_ns, line);
}

static uint32_t khz_of(const char *line)
{
	const char *khz = line ? strstr(line, "\"target_khz\":") : NULL;

	return khz ? (uint32_t)strtoul(khz + strlen("\"target_khz\":"), NULL, 10) : 0;
}

struct seen {
	uint32_t n;
	uint64_t first_us, last_us, longest_us; /* between two of a domain */
	uint64_t of_domain_us[DOMAINS];
	uint32_t khz;
};

static void see(void *context, const struct archive_line *entry)
{
	struct seen *seen = context;
	uint32_t domain = (uint32_t)(entry->domain[6] - '0');
	uint64_t *before_us = &seen->of_domain_us[domain];

	if (!seen->n++)
		seen->first_us = entry->realtime_us;
	if (*before_us && entry->realtime_us - *before_us > seen->longest_us)
		seen->longest_us = entry->realtime_us - *before_us;
	*before_us = seen->last_us = entry->realtime_us;
	seen->khz = khz_of(entry->text);
}

static struct seen list(struct archive *archive, uint64_t since_us, uint32_t *ret_pages)
{
	struct seen seen = { 0 };
	uint64_t from = 0;

	*ret_pages = 0;
	do {
		from = archive_list(archive, from, since_us, see, &seen);
		++*ret_pages;
	} while (from);
	return seen;
}

/* A machine that decides every second for nine days, for each of its domains. */
FIXTURE_TEST(test_a_week_fits)
{
	struct archive *archive = open_archive();
	uint64_t start_ns = time_now_ns(), n = 0, bytes;
	struct seen seen;
	uint32_t files, pages;

	for (uint64_t s = 0; s < 9 * DAY_S; s++, n += DOMAINS)
		for (uint32_t domain = 0; domain < DOMAINS; domain++) {
			add(archive, domain, start_ns + s * NS_PER_S + domain,
			    400000 + s % 7 * 100000);
			archive_keep(archive, start_ns + s * NS_PER_S);
		}
	bytes = total_bytes(&files);
	assert_true(bytes <= ARCHIVE_FILES * ARCHIVE_FILE_BYTES);
	assert_true(files <= ARCHIVE_FILES);
	seen = list(archive, 0, &pages);
	print_message("%" PRIu64 " decisions; %u kept in %" PRIu64
		      " KiB, %.1f bytes each; %.2f days, %.0f s apart "
		      "at most, %u pages\n",
		      n, seen.n, bytes / 1024, (double)bytes / seen.n,
		      (double)(seen.last_us - seen.first_us) / US_PER_S / DAY_S,
		      (double)seen.longest_us / US_PER_S, pages);
	assert_true(seen.last_us - seen.first_us >= 7 * DAY_S * US_PER_S);
	assert_true(seen.longest_us <= 60 * US_PER_S);
	assert_false(archive_has_failed(archive));
	assert_true(pages > 1 && pages < seen.n / 500);
	archive_close(archive);
}

/* Once, a minute after the oldest: a daemon that is killed loses no more. */
FIXTURE_TEST(test_written_after_a_minute)
{
	struct archive *archive = open_archive();
	uint64_t before, now_ns = time_now_ns();
	uint32_t files;

	assert_int_equal(archive_keep(archive, now_ns), UINT64_MAX);
	before = total_bytes(&files);
	add(archive, 0, now_ns, 400000);
	add(archive, 0, now_ns + 30 * NS_PER_S, 800000);
	assert_int_equal(archive_keep(archive, now_ns + 59 * NS_PER_S), now_ns + 60 * NS_PER_S);
	assert_int_equal(total_bytes(&files), before);
	assert_int_equal(archive_keep(archive, now_ns + 60 * NS_PER_S), UINT64_MAX);
	assert_true(total_bytes(&files) > before);
	archive_close(archive);
}

FIXTURE_TEST(test_finds)
{
	struct archive *archive = open_archive();
	uint64_t now_ns = time_now_ns(), begin_us = now_ns / NS_PER_US + (uint64_t)wall_us;
	uint32_t left_out;
	char *found;

	for (uint32_t i = 0; i < 50; i++)
		add(archive, i % 2, now_ns + i * NS_PER_S, 100000 + i);
	found = archive_find(archive, "policy0", UINT64_MAX, &left_out);
	assert_int_equal(khz_of(found), 100048);
	free(found);
	found = archive_find(archive, "policy1", begin_us + 20500000, &left_out);
	assert_int_equal(khz_of(found), 100019);
	assert_int_equal(left_out, 0);
	free(found);
	assert_null(archive_find(archive, "policy1", begin_us, &left_out));
	assert_null(archive_find(archive, "policy7", UINT64_MAX, &left_out));
	archive_close(archive);
}

#define SEARCHED 5 /* domains of these entries; the last has none */
#define ENTRIES	 500000
#define QUERIES	 100 /* of a domain */

struct listed {
	uint32_t n;
	struct {
		uint64_t realtime_us;
		uint32_t khz;
	} entries[ENTRIES];
};

static void list_one(void *context, const struct archive_line *entry)
{
	struct listed *listed = (struct listed *)context + (entry->domain[6] - '0');

	assert_true(listed->n < ENTRIES);
	listed->entries[listed->n].realtime_us = entry->realtime_us;
	listed->entries[listed->n++].khz = khz_of(entry->text);
}

/* As whoever reads all of them finds it. */
static void compare(struct archive *archive, const struct listed *listed, const char *domain,
		    uint64_t realtime_us)
{
	uint32_t last = listed->n, left_out;
	char *found;

	while (last && listed->entries[last - 1].realtime_us > realtime_us)
		last--;
	found = archive_find(archive, domain, realtime_us, &left_out);
	assert_int_equal(khz_of(found), last ? listed->entries[last - 1].khz : 0);
	free(found);
}

/* At some entries and right before them, and wherever the clock was set back. */
static void compare_all(struct archive *archive)
{
	struct listed *listed = calloc(SEARCHED, sizeof(*listed));
	uint64_t from = 0;

	assert_non_null(listed);
	do {
		from = archive_list(archive, from, 0, list_one, listed);
	} while (from);
	assert_true(listed[0].n > ENTRIES / 4 && listed[1].n > QUERIES && listed[2].n == 1);
	for (uint32_t domain = 0; domain < SEARCHED; domain++) {
		const struct listed *of = &listed[domain];
		uint32_t step = of->n / QUERIES + 1;
		char name[16];

		snprintf(name, sizeof(name), "policy%u", domain);
		compare(archive, of, name, listed[0].entries[ENTRIES / 8].realtime_us);
		for (uint32_t i = 0; i < of->n; i++) {
			uint64_t at_us = of->entries[i].realtime_us;

			if (i % step && i && at_us >= of->entries[i - 1].realtime_us)
				continue;
			compare(archive, of, name, at_us);
			compare(archive, of, name, at_us - 1);
		}
	}
	free(listed);
}

/*
 * Nine days of one domain that decides all the time, one that does so now and then, one that did it
 * once and one on the first day; daemons that end, and for one of them a clock that is a day late.
 */
FIXTURE_TEST(test_finds_as_a_list)
{
	struct archive *archive = open_archive_of(SEARCHED);
	uint64_t start_ns = time_now_ns(), seed = 1;
	uint32_t files;

	for (uint64_t s = 0; s < 9 * DAY_S; s++) {
		bool is_late = s / DAY_S == 5;
		uint64_t now_ns = start_ns + (s - (is_late ? DAY_S : 0)) * NS_PER_S;

		if (s % (DAY_S / 3) == 0 || (s + 100) % DAY_S == 0 || (s < 2000 && s % 50 == 0)) {
			archive_close(archive);
			archive = open_archive_of(SEARCHED);
		}
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		if (seed >> 63)
			add(archive, 0, now_ns, 400000 + (uint32_t)(s % 100000));
		if (seed >> 54 == 0)
			add(archive, 1, now_ns + 1, 500000 + (uint32_t)(s % 100000));
		if (s == 4 * DAY_S + 4321)
			add(archive, 2, now_ns + 2, 600000);
		if (s < DAY_S)
			add(archive, 3, now_ns + 3, 700000 + (uint32_t)s);
	}
	total_bytes(&files);
	assert_true(files > 2);
	compare_all(archive);
	archive_close(archive);
	archive = open_archive_of(SEARCHED);
	compare_all(archive);
	archive_close(archive);
}

static void damage(off_t at, bool cut)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/history.1", fake_root);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	if (cut)
		assert_int_equal(ftruncate(fd, at), 0);
	else
		assert_int_equal(pwrite(fd, "\x5a\xa5", 2, at), 2);
	close(fd);
}

/* Cut in the middle of a write, or changed by an editor: the whole blocks are kept. */
FIXTURE_TEST(test_goes_on_after_damage)
{
	uint64_t now_ns = time_now_ns(), bytes, ends[10];
	struct archive *archive = NULL;
	uint32_t files, pages;
	struct seen seen;

	for (uint32_t i = 0; i < 10; i++) {
		archive = open_archive();
		add(archive, 0, now_ns + i * NS_PER_S, 100000 + i);
		archive_close(archive);
		ends[i] = total_bytes(&files);
	}
	bytes = ends[9];
	damage((off_t)bytes - 3, true);
	archive = open_archive();
	assert_int_equal(list(archive, 0, &pages).n, 9);
	add(archive, 0, now_ns + 20 * NS_PER_S, 200000);
	seen = list(archive, 0, &pages);
	assert_int_equal(seen.n, 10);
	assert_int_equal(seen.khz, 200000);
	archive_close(archive);
	/* In a head and in a frame: only these blocks are lost. */
	damage((off_t)ends[3] + 20, false);
	damage((off_t)ends[6] - 20, false);
	archive = open_archive();
	seen = list(archive, 0, &pages);
	assert_int_equal(seen.n, 8);
	assert_int_equal(seen.khz, 200000);
	archive_close(archive);
	/* Not ours: another file is begun. */
	for (off_t at = 0; at < (off_t)bytes + 1000; at += 2)
		damage(at, false);
	archive = open_archive();
	add(archive, 0, now_ns + 30 * NS_PER_S, 300000);
	assert_int_equal(list(archive, 0, &pages).n, 1);
	total_bytes(&files);
	assert_int_equal(files, 2);
	archive_close(archive);
}

/* How many were left out is said of the decision before them. */
FIXTURE_TEST(test_left_out)
{
	struct archive *archive = open_archive();
	uint64_t now_ns = time_now_ns();
	uint32_t left_out, n = 5000, pages, kept;
	char *found;

	for (uint32_t i = 0; i < n; i++)
		add(archive, 0, now_ns + i * 1000, 100000 + i);
	kept = list(archive, 0, &pages).n;
	assert_in_range(kept, 100, n - 1);
	add(archive, 0, now_ns + 1000 * NS_PER_S, 900000);
	found = archive_find(archive, "policy0", now_ns / NS_PER_US + (uint64_t)wall_us + US_PER_S,
			     &left_out);
	assert_int_equal(khz_of(found), 100000 + kept - 1);
	assert_int_equal(left_out, n - kept);
	free(found);
	archive_close(archive);
}

/* As if the disk were full: said once, and nothing of it is in the way. */
FIXTURE_TEST(test_full_disk)
{
	const struct rlimit full = { 2000, RLIM_INFINITY };
	struct rlimit before;
	struct archive *archive = open_archive();
	uint64_t now_ns = time_now_ns();
	uint32_t files, pages;

	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &full);
	for (uint32_t i = 0; i < 50; i++) {
		add(archive, 0, now_ns + i * NS_PER_S, 100000 + i * 1000);
		archive_keep(archive, now_ns + (i + 100) * NS_PER_S);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	assert_true(archive_has_failed(archive));
	assert_true(total_bytes(&files) <= 2000);
	archive_close(archive);
	archive = open_archive();
	assert_in_range(list(archive, 0, &pages).n, 1, 10);
	archive_close(archive);
}

/* One that is started again and again must not push a week out. */
FIXTURE_TEST(test_restarts_are_rationed)
{
	uint64_t now_ns = time_now_ns();
	uint32_t files;

	for (uint32_t start = 0; start < 50; start++) {
		struct archive *archive = open_archive();

		for (uint32_t i = 0; i < 5000; i++)
			add(archive, i % 2, now_ns + start * NS_PER_S + i * 1000, i * 77777);
		archive_close(archive);
	}
	assert_true(total_bytes(&files) < 200000);
	assert_int_equal(files, 1);
}

TEST(test_ring)
{
	struct decision_ring *ring = decision_ring_new(4);

	assert_int_equal(ring->total, 0);
	assert_null(decision_ring_at(ring, 0));
	for (uint32_t n = 1; n <= 6; n++) {
		decision_ring_add(ring, &(struct change){ .decision = { .domain = n % 2,
									.now_ns = n * 10,
									.target_khz = n } });
		assert_int_equal(ring->total, n);
	}
	/* 3 to 6 are there. */
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(decision_ring_at(ring, i)->number, i + 2);
		assert_int_equal(decision_ring_at(ring, i)->change.decision.target_khz, 3 + i);
	}
	assert_null(decision_ring_at(ring, 4));
	assert_int_equal(decision_ring_find(ring, 1, 59)->decision.target_khz, 5);
	assert_int_equal(decision_ring_find(ring, 0, UINT64_MAX)->decision.target_khz, 6);
	assert_int_equal(decision_ring_find(ring, 1, 30)->decision.target_khz, 3);
	assert_null(decision_ring_find(ring, 1, 29));
	assert_null(decision_ring_find(ring, 2, UINT64_MAX));
	free(ring);
}

TEST(test_no_directory)
{
	struct archive *archive;

	assert_int_equal(archive_open("/no/such/directory", DOMAINS, &archive), -ENOENT);
}
