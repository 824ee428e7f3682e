// SPDX-License-Identifier: GPL-2.0-only
/* Many entries a call, into a map of the kernel's: what cannot be taken stops none of the others.
 */
#include "native.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "tracer/batch.h"

#define ENTRIES (2 * BATCH_SIZE + 10)

static int make_map(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(uint32_t), sizeof(uint32_t),
				ENTRIES, NULL);

	assert_true(fd >= 0);
	return fd;
}

/* What is there under the key; 0: nothing. */
static uint32_t get(int fd, uint32_t key)
{
	uint32_t value;

	return bpf_map_lookup_elem(fd, &key, &value) == 0 ? value : 0;
}

static void test_all_arrive(void **state)
{
	struct batch batch = { 0 };
	int fd = make_map();

	for (uint32_t key = 1; key <= ENTRIES; key++)
		batch_add(&batch, fd, BATCH_SET, key, 1000 + key);
	assert_int_equal(batch_send(&batch, fd), 0);
	for (uint32_t key = 1; key <= ENTRIES; key++)
		assert_int_equal(get(fd, key), 1000 + key);
	for (uint32_t key = 1; key <= ENTRIES; key += 2)
		batch_add(&batch, fd, BATCH_DELETE, key, 0);
	assert_int_equal(batch_send(&batch, fd), 0);
	for (uint32_t key = 1; key <= ENTRIES; key++)
		assert_int_equal(get(fd, key), key % 2 ? 0 : 1000 + key);
	close(fd);
}

/* Tasks end at any time, and their entries with them. */
static void test_missing_ones(void **state)
{
	struct batch batch = { 0 };
	int fd = make_map();

	for (uint32_t key = 3; key <= 30; key += 3)
		batch_add(&batch, fd, BATCH_SET, key, 7);
	for (uint32_t key = 1; key < 30; key++)
		batch_add(&batch, fd, BATCH_DELETE, key, 0);
	assert_int_equal(batch_send(&batch, fd), 0);
	assert_int_equal(get(fd, 27), 0);
	assert_int_equal(get(fd, 30), 7);
	close(fd);
}

static void test_order_is_kept(void **state)
{
	struct batch batch = { 0 };
	int fd = make_map();

	batch_add(&batch, fd, BATCH_SET, 1, 5);
	batch_add(&batch, fd, BATCH_DELETE, 1, 0);
	batch_add(&batch, fd, BATCH_SET, 2, 5);
	batch_add(&batch, fd, BATCH_SET, 2, 9);
	assert_int_equal(batch_send(&batch, fd), 0);
	assert_int_equal(get(fd, 1), 0);
	assert_int_equal(get(fd, 2), 9);
	close(fd);
}

/* Those that are there already still can be set. */
static void test_full_map(void **state)
{
	struct batch batch = { 0 };
	int fd = make_map();

	for (uint32_t key = 1; key <= ENTRIES + 5; key++)
		batch_add(&batch, fd, BATCH_SET, key, 1);
	batch_add(&batch, fd, BATCH_SET, 1, 2);
	assert_int_equal(batch_send(&batch, fd), -E2BIG);
	assert_int_equal(get(fd, ENTRIES), 1);
	assert_int_equal(get(fd, ENTRIES + 1), 0);
	assert_int_equal(get(fd, 1), 2);
	assert_int_equal(batch_send(&batch, fd), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive),
		cmocka_unit_test(test_missing_ones),
		cmocka_unit_test(test_order_is_kept),
		cmocka_unit_test(test_full_map),
	};

	return native_run(tests);
}
