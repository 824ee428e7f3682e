// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "varlink/tasks.h"

#define N_TASKS 5

/* The device's name is gone after each, as the tracer's is. */
static int list(void *userdata, task_emit_t emit, void *context)
{
	static const struct task_view tasks[N_TASKS] = {
		{ .pid = 30,
		  .tgid = 30,
		  .comm = "fio",
		  .domain = "policy0",
		  .state = "pays",
		  .io_rate_per_s = 900,
		  .predicted_gain_permille = 200,
		  .boost_cap = 700 },
		{ .pid = 10,
		  .tgid = 10,
		  .comm = "dd",
		  .domain = "policy4",
		  .state = "device-busy",
		  .io_rate_per_s = 5000,
		  .predicted_gain_permille = VIEW_UNKNOWN },
		{ .pid = 31,
		  .tgid = 30,
		  .comm = "fio",
		  .domain = "policy4",
		  .state = "pays",
		  .io_rate_per_s = 900,
		  .predicted_gain_permille = 500,
		  .boost_cap = 1024 },
		{ .pid = 20,
		  .comm = NULL,
		  .domain = NULL,
		  .state = "measuring",
		  .io_rate_per_s = 1000 },
		{ .pid = 40,
		  .tgid = 40,
		  .comm = "cp",
		  .domain = "policy0",
		  .state = "does-not-pay",
		  .io_rate_per_s = 1200,
		  .predicted_gain_permille = 300 },
	};
	int r = 0;

	for (int i = 0; i < N_TASKS && !r; i++) {
		struct task_view view = tasks[i];
		char device[8];

		snprintf(device, sizeof(device), "sd%c", "aabcb"[i]);
		view.device = device;
		r = emit(context, &view);
		memset(device, 'x', sizeof(device) - 1);
	}
	return r;
}

static bool knows(void *userdata, const char *name)
{
	return !strcmp(name, "policy0") || !strcmp(name, "policy4");
}

static json_t *ask(const struct query_source *source, const struct query_peer *peer,
		   const char *parameters)
{
	json_t *asked = json_loads(parameters, 0, NULL), *answer;
	struct buffer output = { .max = 1 << 20 };
	const struct call call = { .parameters = asked, .source = source, .peer = peer };
	struct reply reply;

	reply_init(&reply, &output, false);
	assert_int_equal(tasks_list(&call, &reply), 0);
	answer = json_loads(buffer_bytes(&output), 0, NULL);
	assert_non_null(answer);
	buffer_deinit(&output);
	json_decref(asked);
	return answer;
}

static uint32_t min_rate(void *userdata)
{
	return 1000;
}

static const struct query_source source = {
	.tasks = list,
	.knows_domain = knows,
	.io_min_rate = min_rate,
};

static json_t *ask_here(const char *parameters)
{
	static const struct query_peer peer = { .uid = 1 };

	return ask(&source, &peer, parameters);
}

/* "30 10 31 of 5, next 3" */
static void describe(const json_t *answer, char *ret, size_t size)
{
	const json_t *parameters = json_object_get(answer, "parameters");
	const json_t *next = json_object_get(parameters, "next_offset"), *task;
	size_t i, used = 0;

	ret[0] = '\0';
	json_array_foreach(json_object_get(parameters, "tasks"), i, task)
		used += snprintf(ret + used, size - used, "%d ",
				 (int)json_integer_value(json_object_get(task, "pid")));
	used += snprintf(ret + used, size - used, "of %d",
			 (int)json_integer_value(json_object_get(parameters, "total")));
	if (json_is_integer(next))
		snprintf(ret + used, size - used, ", next %d", (int)json_integer_value(next));
}

static void test_pages(void **state)
{
	static const struct {
		const char *parameters;
		const char *expected;
	} cases[] = {
		{ "{}", "30 10 31 20 40 of 5" },
		{ "{\"sort\":\"pid\"}", "10 20 30 31 40 of 5" },
		{ "{\"sort\":\"comm\"}", "20 40 10 30 31 of 5" },
		{ "{\"sort\":\"rate\"}", "10 40 20 30 31 of 5" },
		{ "{\"sort\":\"gain\"}", "31 40 30 10 20 of 5" },
		{ "{\"sort\":\"boost\"}", "31 30 10 20 40 of 5" },
		{ "{\"domain\":\"policy4\"}", "10 31 of 2" },
		{ "{\"state\":\"pays\"}", "30 31 of 2" },
		{ "{\"device\":\"sdb\"}", "31 40 of 2" },
		{ "{\"pid\":30}", "30 31 of 2" },
		{ "{\"pid\":31}", "31 of 1" },
		{ "{\"pid\":99}", "of 0" },
		{ "{\"state\":\"flying\"}", "of 0" },
		{ "{\"state\":\"pays\",\"domain\":\"policy4\",\"device\":\"sdb\"}", "31 of 1" },
		{ "{\"limit\":2}", "30 10 of 5, next 2" },
		{ "{\"limit\":2,\"offset\":2}", "31 20 of 5, next 4" },
		{ "{\"limit\":2,\"offset\":4}", "40 of 5" },
		{ "{\"limit\":5}", "30 10 31 20 40 of 5" },
		{ "{\"offset\":5}", "of 5" },
		{ "{\"offset\":9223372036854775807,\"limit\":9223372036854775807}", "of 5" },
		{ "{\"sort\":\"rate\",\"limit\":1,\"offset\":1}", "40 of 5, next 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *answer = ask_here(cases[i].parameters);
		char found[256];

		describe(answer, found, sizeof(found));
		assert_string_equal(found, cases[i].expected);
		json_decref(answer);
	}
}

static void test_wrong_values(void **state)
{
	static const struct {
		const char *parameters;
		const char *field;
	} cases[] = {
		{ "{\"sort\":\"colour\"}", "sort" }, { "{\"sort\":\"\"}", "sort" },
		{ "{\"limit\":0}", "limit" },	     { "{\"limit\":-1}", "limit" },
		{ "{\"offset\":-1}", "offset" },     { "{\"pid\":-1}", "pid" },
		{ "{\"pid\":4294967297}", "pid" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *answer = ask_here(cases[i].parameters);
		const json_t *parameters = json_object_get(answer, "parameters");

		assert_string_equal(json_string_value(json_object_get(parameters, "parameter")),
				    cases[i].field);
		json_decref(answer);
	}
}

static void test_no_such_domain(void **state)
{
	json_t *answer = ask_here("{\"domain\":\"policy9\"}");

	assert_string_equal(json_string_value(json_object_get(answer, "error")),
			    "io.wakegov.NoSuchDomain");
	json_decref(answer);
}

static void test_strings_outlive_the_list(void **state)
{
	json_t *answer = ask_here("{\"sort\":\"pid\",\"limit\":1}"), *task;

	task = json_array_get(json_object_get(json_object_get(answer, "parameters"), "tasks"), 0);
	assert_string_equal(json_string_value(json_object_get(task, "device")), "sda");
	assert_string_equal(json_string_value(json_object_get(task, "comm")), "dd");
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_no_such_domain),
		cmocka_unit_test(test_strings_outlive_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
