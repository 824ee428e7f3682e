// SPDX-License-Identifier: GPL-2.0-only
/* What --record writes is what --replay reads, and what it says about each kind of file. */
#include "test-core.h"

#include <errno.h>
#include <stdio.h>

#include "shared/cleanup.h"
#include "sim/recording.h"

static void new_path(char ret[static 40])
{
	strcpy(ret, "/tmp/wakegov-recording-XXXXXX");
	close(mkstemp(ret));
}

/* One CPU, busy for a second at full capacity. Told of secret_policy, the recording is not. */
static void record(const char *path, const struct policy *secret_policy)
{
	struct topology *topology = test_topology_usual(1, 1);
	struct input active = { .type = INPUT_DOMAIN, .domain = { .active = true } };
	struct input input = { .type = INPUT_CPU, .cpu = { .running = true } };
	struct recording recording;
	struct policy policy;
	struct engine *engine;

	assert_int_equal(recording_open(&recording, path), 0);
	policy_init(&policy);
	engine = record_engine_new(recording.recorder, topology, &policy);
	if (secret_policy)
		engine_set_policy(engine, secret_policy);
	record_engine_apply(recording.recorder, engine, &active);
	for (int i = 0; i < 1000; i++) {
		input.now_ns = i * NS_PER_MS;
		input.cpu.util_q = (i % 2 ? 100U : 900U) << 20;
		record_engine_apply(recording.recorder, engine, &input);
		record_engine_decide(recording.recorder, engine, 0, input.now_ns);
	}
	engine_free(engine);
	assert_int_equal(recording_close(&recording), 0);
	free(topology);
}

static int replay(const char *path, char **ret_text)
{
	size_t size;
	FILE *out = open_memstream(ret_text, &size);
	int r = recording_replay(path, out);

	fclose(out);
	return r;
}

static void test_same(void **state)
{
	_cleanup_free_ char *text = NULL;
	char path[40];

	new_path(path);
	record(path, NULL);
	assert_int_equal(replay(path, &text), 0);
	assert_string_equal(text, "1001 inputs, 1000 decisions, all the same\n");
	unlink(path);
}

static void test_differs(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct policy policy;
	char path[40];

	new_path(path);
	policy_init(&policy);
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1600000 };
	record(path, &policy);
	assert_int_equal(replay(path, &text), 1);
	assert_non_null(strstr(text, "2 inputs, 1 decisions; the first that differs is at byte "));
	assert_non_null(strstr(text, "\nrecorded: 0.000000 s a: 0 -> 1600000 kHz"));
	assert_non_null(strstr(text, "policy-max"));
	assert_non_null(strstr(text, "\nreplayed: 0.000000 s a: 0 -> 2400000 kHz"));
	unlink(path);
}

static void test_cut(void **state)
{
	_cleanup_free_ char *text = NULL;
	char path[40];

	new_path(path);
	record(path, NULL);
	assert_int_equal(truncate(path, 6000), 0);
	assert_int_equal(replay(path, &text), 0);
	assert_non_null(strstr(text, "decisions, all the same\n"));
	assert_null(strstr(text, "1000 decisions"));
	unlink(path);
}

static void test_unreadable(void **state)
{
	_cleanup_free_ char *text = NULL, *other = NULL;
	char path[40];

	new_path(path);
	assert_int_equal(replay(path, &text), -ENODATA);
	unlink(path);
	assert_int_equal(replay(path, &other), -ENOENT);
	assert_string_equal(text, "");
}

static void test_unwritable(void **state)
{
	struct topology *topology = test_topology_usual(1, 1);
	struct recording recording;
	struct policy policy;

	policy_init(&policy);
	assert_int_equal(recording_open(&recording, "/nonexistent/recording"), -ENOENT);
	assert_int_equal(recording_open(&recording, "/dev/full"), 0);
	engine_free(record_engine_new(recording.recorder, topology, &policy));
	assert_int_equal(recording_close(&recording), -ENOSPC);
	free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	   cmocka_unit_test(test_differs),
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
