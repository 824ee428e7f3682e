// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/history/stats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/codec.h"
#include "shared/cleanup.h"
#include "shared/time.h"

#define MAGIC	   "wakegova"
#define MAGIC_SIZE 8
#define VERSION	   1
#define HEAD_SIZE  (MAGIC_SIZE + 8)
#define PATH_SIZE  4096
#define REASONS	   (REASON_LAST + 1)

static void put_domain(struct record_out *out, const struct stats *stats,
		       const struct stats_period *period, const struct topology_domain *info,
		       uint32_t domain)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < info->n_opps * REASONS; i++)
		n += stats_ns(stats, period, domain, i / REASONS, i % REASONS) >= NS_PER_MS;
	record_put_text(out, info->name);
	record_put_varint(out, n);
	for (uint32_t i = 0; i < info->n_opps * REASONS; i++) {
		uint64_t ns = stats_ns(stats, period, domain, i / REASONS, i % REASONS);

		if (ns < NS_PER_MS)
			continue;
		record_put_varint(out, info->opp_khz[i / REASONS]);
		record_put_varint(out, i % REASONS);
		record_put_varint(out, ns / NS_PER_MS);
	}
}

static void put_row(struct record_out *out, const struct stats_row *row)
{
	const struct stats_sums *sums = &row->sums;
	const uint64_t numbers[] = {
		sums->ns / NS_PER_MS,
		sums->spent_khz_ms,
		sums->saved_khz_ms,
		(uint64_t)(sums->spent_j * US_PER_S),
		(uint64_t)(sums->saved_j * US_PER_S),
		sums->ios,
		sums->gained,
		sums->gained_error,
	};

	record_put_varint(out, row->key.kind);
	record_put_text(out, row->key.name);
	record_put_text(out, row->key.device);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		record_put_varint(out, numbers[i]);
}

static int write_file(const char *directory, int32_t day, const uint8_t *data, size_t n)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_SIZE], temporary[PATH_SIZE];
	ssize_t written;
	int r = 0;

	snprintf(path, sizeof(path), "%s/account.%" PRId32, directory, day);
	snprintf(temporary, sizeof(temporary), "%s/account.new", directory);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	written = write(fd, data, n);
	if (written != (ssize_t)n)
		r = written < 0 ? -errno : -ENOSPC;
	else if (rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}

int stats_file_save(const char *directory, const struct stats *stats,
		    const struct topology *topology, int32_t day)
{
	const struct stats_period *period = stats_of_day(stats, day);
	_cleanup_free_ uint8_t *data = malloc(STATS_FILE_BYTES);
	struct record_out head = { .data = data, .size = HEAD_SIZE };
	struct record_out body = { .size = STATS_FILE_BYTES - HEAD_SIZE };
	const struct stats_row *row;
	uint32_t n_rows = 0;

	if (!period)
		return 0;
	if (!data)
		return -ENOMEM;
	body.data = data + HEAD_SIZE;
	record_put_varint(&body, topology->n_domains);
	for (uint32_t i = 0; i < topology->n_domains; i++)
		put_domain(&body, stats, period, &topology->domains[i], i);
	while (stats_row(period, n_rows))
		n_rows++;
	record_put_varint(&body, n_rows);
	for (uint32_t i = 0; (row = stats_row(period, i)); i++)
		put_row(&body, row);
	if (body.full)
		return -E2BIG;
	record_put_bytes(&head, MAGIC, MAGIC_SIZE);
	record_put_u32(&head, VERSION);
	record_put_u32(&head, record_crc(body.data, body.n));
	return write_file(directory, day, data, HEAD_SIZE + body.n);
}

static void get_domain(struct record_in *in, struct stats *stats, const struct topology *topology,
		       int32_t day)
{
	char name[DOMAIN_NAME_SIZE];
	uint64_t n_times;
	uint32_t domain;

	record_get_text(in, name, sizeof(name));
	n_times = record_get_number(in, DOMAIN_OPPS_MAX * REASONS);
	domain = topology_find(topology, name);
	for (uint64_t i = 0; i < n_times && !in->bad; i++) {
		uint64_t khz = record_get_varint(in);
		uint64_t reason = record_get_number(in, REASON_LAST);
		uint64_t ms = record_get_number(in, UINT32_MAX);
		uint32_t opp;

		if (in->bad || domain == TOPOLOGY_NO_DOMAIN || khz > UINT32_MAX)
			continue;
		opp = stats_find_opp(&topology->domains[domain], (uint32_t)khz);
		if (opp < topology->domains[domain].n_opps)
			stats_add_ns(stats, day, domain, opp, (enum reason)reason, ms * NS_PER_MS);
	}
}

static void get_row(struct record_in *in, struct stats *stats, int32_t day)
{
	struct stats_row row = { .key = { .kind = record_get_number(in, STATS_KINDS - 1) } };

	record_get_text(in, row.key.name, sizeof(row.key.name));
	record_get_text(in, row.key.device, sizeof(row.key.device));
	row.sums.ns = record_get_number(in, UINT32_MAX) * NS_PER_MS;
	row.sums.spent_khz_ms = record_get_varint(in);
	row.sums.saved_khz_ms = record_get_varint(in);
	row.sums.spent_j = (double)record_get_varint(in) / US_PER_S;
	row.sums.saved_j = (double)record_get_varint(in) / US_PER_S;
	row.sums.ios = record_get_varint(in);
	row.sums.gained = record_get_varint(in);
	row.sums.gained_error = record_get_varint(in);
	if (!in->bad)
		stats_add_row(stats, day, &row);
}

int stats_file_parse(const void *data, size_t size, struct stats *stats,
		     const struct topology *topology, int32_t day)
{
	struct record_in in = { data, (const uint8_t *)data + size, false };
	uint32_t version, crc;
	uint64_t n;

	if (size < HEAD_SIZE || memcmp(data, MAGIC, MAGIC_SIZE) != 0)
		return -EBADMSG;
	in.at += MAGIC_SIZE;
	version = record_get_u32(&in);
	crc = record_get_u32(&in);
	if (version != VERSION || record_crc(in.at, (size_t)(in.end - in.at)) != crc)
		return -EBADMSG;
	n = record_get_number(&in, TOPOLOGY_DOMAINS_MAX);
	for (uint64_t i = 0; i < n && !in.bad; i++)
		get_domain(&in, stats, topology, day);
	n = record_get_number(&in, STATS_ROWS_MAX);
	for (uint64_t i = 0; i < n && !in.bad; i++)
		get_row(&in, stats, day);
	return in.bad || in.at != in.end ? -EBADMSG : 0;
}

int stats_file_load(const char *directory, struct stats *stats, const struct topology *topology,
		    int32_t day)
{
	_cleanup_free_ uint8_t *data = malloc(STATS_FILE_BYTES);
	_cleanup_close_ int fd = -1;
	char path[PATH_SIZE];
	ssize_t n;

	if (!data)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/account.%" PRId32, directory, day);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, data, STATS_FILE_BYTES);
	return n < 0 ? -errno : stats_file_parse(data, (size_t)n, stats, topology, day);
}

void stats_file_remove_before(const char *directory, int32_t day)
{
	_cleanup_closedir_ DIR *entries = opendir(directory);
	const struct dirent *entry;
	int32_t of;
	int end;

	while (entries && (entry = readdir(entries))) {
		end = 0;
		if (sscanf(entry->d_name, "account.%" SCNd32 "%n", &of, &end) == 1 &&
		    !entry->d_name[end] && of < day)
			unlinkat(dirfd(entries), entry->d_name, 0);
	}
}
