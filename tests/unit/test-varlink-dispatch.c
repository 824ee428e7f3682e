// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <errno.h>
#include <string.h>

#include "canned_source.h"
#include "shared/cleanup.h"
#include "varlink/dispatch.h"

#define MAX_BYTES (64 * 1024)

enum who { STRANGER, READER, OWNER };

static int dispatch(struct canned_source *canned, enum who who, const char *message,
		    struct buffer *output)
{
	const struct query_peer peer = {
		.may_read = who >= READER,
		.sees_all = who == OWNER,
		.may_change = who == OWNER,
	};
	struct subscription subscription = { 0 };
	struct channel monitor = { 0 };
	const struct query_context context = {
		.source = &canned->source,
		.peer = &peer,
		.monitor = &monitor,
		.subscription = &subscription,
	};
	int r;

	canned_source_init(canned);
	r = query_dispatch(&context, message, strlen(message), output);
	channel_unsubscribe(&subscription);
	return r;
}

static void assert_reply(struct canned_source *canned, enum who who, const char *message,
			 const char *expected)
{
	struct buffer output = { .max = MAX_BYTES };

	assert_int_equal(dispatch(canned, who, message, &output), 0);
	if (*expected) {
		/* One message, with its NUL, and nothing else. */
		assert_int_equal(output.length, strlen(buffer_bytes(&output)) + 1);
		assert_string_equal(buffer_bytes(&output), expected);
	} else {
		assert_int_equal(output.length, 0);
	}
	buffer_deinit(&output);
}

#define ERROR(name, key, value) \
	"{\"error\":\"" name "\",\"parameters\":{\"" key "\":\"" value "\"}}"
#define INVALID(parameter) ERROR("org.varlink.service.InvalidParameter", "parameter", parameter)
#define DENIED		   "{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{}}"

static void test_replies(void **state)
{
	static const struct {
		const char *message;
		const char *expected;
	} cases[] = {
		{ "{\"method\":\"io.wakegov.Tasks\"}",
		  "{\"parameters\":{\"tasks\":[],\"total\":0,\"next_offset\":null,\"min_rate_per_s\":1000}}" },
		{ "{\"method\":\"io.wakegov.Devices\"}", "{\"parameters\":{\"devices\":[]}}" },
		{ "{\"method\":\"io.wakegov.Tasks\",\"parameters\":{}}",
		  "{\"parameters\":{\"tasks\":[],\"total\":0,\"next_offset\":null,\"min_rate_per_s\":1000}}" },
		{ " {\"method\":\"io.wakegov.Domains\",\"more\":true}\n",
		  "{\"parameters\":{\"domains\":[]}}" },
		{ "{\"method\":\"io.wakegov.Decisions\",\"parameters\":{\"after_us\":null}}",
		  "{\"parameters\":{\"decisions\":[]}}" },
		{ "{}", INVALID("method") },
		{ "{\"method\":7}", INVALID("method") },
		{ "{\"method\":\"Tasks\"}", INVALID("method") },
		{ "{\"method\":\"io.wakegov.Tasks\",\"parameters\":7}", INVALID("parameters") },
		{ "{\"method\":\"io.wakegov.Tasks\",\"oneway\":7}", INVALID("oneway") },
		{ "{\"method\":\"io.wakegov.Tasks\",\"more\":7}", INVALID("more") },
		{ "{\"method\":\"io.wakegov.Tasks\",\"upgrade\":true}", INVALID("upgrade") },
		{ "{\"method\":\"io.wakegov.Tasks\",\"parameters\":{\"x\":1}}", INVALID("x") },
		{ "{\"method\":\"io.wakegov.Decisions\",\"parameters\":{\"after_us\":\"1\"}}",
		  INVALID("after_us") },
		{ "{\"method\":\"org.varlink.service.GetInterfaceDescription\"}",
		  INVALID("interface") },
		{ "{\"method\":\"io.wakegov.Nothing\"}",
		  ERROR("org.varlink.service.MethodNotFound", "method", "io.wakegov.Nothing") },
		{ "{\"method\":\"io.other.Tasks\"}",
		  ERROR("org.varlink.service.InterfaceNotFound", "interface", "io.other") },
		{ "{\"method\":\"io.wakegov.Tasks\",\"oneway\":true}", "" },
		{ "{\"method\":\"io.other.Tasks\",\"oneway\":true}", "" },
		{ "{\"oneway\":true}", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct canned_source canned = { 0 };

		assert_reply(&canned, OWNER, cases[i].message, cases[i].expected);
	}
}

static void test_no_calls(void **state)
{
	static const char *const messages[] = {
		"",
		" ",
		"x",
		"[]",
		"\"x\"",
		"7",
		"null",
		"{} {}",
		"{\"method\":\"a\",\"method\":\"a\"}",
		"{\"method\":\"a\xff\"}",
		"{\"method\":\"\\u0000\"}",
		"{\"n\":99999999999999999999}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		struct buffer output = { .max = MAX_BYTES };
		struct canned_source canned = { 0 };

		assert_int_equal(dispatch(&canned, OWNER, messages[i], &output), -EBADMSG);
		assert_int_equal(output.length, 0);
	}
}

static void test_reload_needs_privilege(void **state)
{
	struct canned_source canned = { 0 };

	assert_reply(&canned, READER, "{\"method\":\"io.wakegov.Reload\"}", DENIED);
	assert_reply(&canned, READER, "{\"method\":\"io.wakegov.Reload\",\"oneway\":true}", "");
	assert_int_equal(canned.reloads, 0);
	assert_reply(&canned, OWNER, "{\"method\":\"io.wakegov.Reload\"}",
		     "{\"parameters\":{\"policy\":{\"path\":\"/etc/wakegov.conf\",\"reloads\":1,"
		     "\"last_error\":null},\"warnings\":[\"wakegov.conf:12: [rule games] user = "
		     "joe can never match: there is no such user; add it and reload\",\"a new "
		     "backend takes effect when wakegovd is restarted\"]}}");
	assert_reply(&canned, OWNER, "{\"method\":\"io.wakegov.Reload\",\"oneway\":true}", "");
	assert_int_equal(canned.reloads, 2);
}

static void test_strangers_may_only_introspect(void **state)
{
	struct canned_source canned = { 0 };

	assert_reply(&canned, STRANGER, "{\"method\":\"io.wakegov.Status\"}", DENIED);
	assert_reply(&canned, STRANGER,
		     "{\"method\":\"io.wakegov.Status\",\"parameters\":{\"x\":1}}", DENIED);
	assert_reply(&canned, STRANGER, "{\"method\":\"io.wakegov.Monitor\",\"more\":true}",
		     DENIED);
	assert_reply(&canned, STRANGER, "{\"method\":\"io.wakegov.Reload\"}", DENIED);
	assert_reply(&canned, STRANGER,
		     "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		     "\"parameters\":{\"interface\":\"x\"}}",
		     ERROR("org.varlink.service.InterfaceNotFound", "interface", "x"));
}

#define MONITOR(parameters) \
	"{\"method\":\"io.wakegov.Monitor\",\"more\":true,\"parameters\":{" parameters "}}"
#define LISTENS "{\"parameters\":{\"event\":null},\"continues\":true}"

static void test_monitor(void **state)
{
	static const struct {
		const char *message;
		const char *expected;
	} cases[] = {
		{ "{\"method\":\"io.wakegov.Monitor\"}",
		  "{\"error\":\"org.varlink.service.ExpectedMore\",\"parameters\":{}}" },
		{ "{\"method\":\"io.wakegov.Monitor\",\"more\":true,\"oneway\":true}", "" },
		{ MONITOR(""), LISTENS },
		{ MONITOR("\"kinds\":null,\"domain\":null,\"pid\":null"), LISTENS },
		{ MONITOR("\"kinds\":[]"), LISTENS },
		{ MONITOR("\"kinds\":[\"decision\",\"error\",\"error\"]"), LISTENS },
		{ MONITOR("\"domain\":\"policy2\",\"pid\":812"), LISTENS },
		{ MONITOR("\"kinds\":[\"weather\"]"), INVALID("kinds") },
		{ MONITOR("\"kinds\":[7]"), INVALID("kinds") },
		{ MONITOR("\"kinds\":\"error\""), INVALID("kinds") },
		{ MONITOR("\"pid\":-1"), INVALID("pid") },
		{ MONITOR("\"pid\":4294967296"), INVALID("pid") },
		{ MONITOR("\"domain\":7"), INVALID("domain") },
		{ MONITOR("\"domain\":\"policy3\""),
		  ERROR("io.wakegov.NoSuchDomain", "domain", "policy3") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct canned_source canned = { .n_domains = 3 };

		assert_reply(&canned, READER, cases[i].message, cases[i].expected);
	}
}

static void test_reload_that_fails(void **state)
{
	struct canned_source canned = { .policy_error = "a.conf:3: no such key" };

	assert_reply(&canned, OWNER, "{\"method\":\"io.wakegov.Reload\"}",
		     ERROR("io.wakegov.PolicyInvalid", "message", "a.conf:3: no such key"));
}

static void test_source_that_fails(void **state)
{
	static const char *const messages[] = {
		"{\"method\":\"io.wakegov.Status\"}", "{\"method\":\"io.wakegov.Domains\"}",
		"{\"method\":\"io.wakegov.Tasks\"}",  "{\"method\":\"io.wakegov.Decisions\"}",
		"{\"method\":\"io.wakegov.Reload\"}", "{\"method\":\"io.wakegov.Devices\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		struct canned_source canned = { .error = -ENODEV };

		assert_reply(&canned, OWNER, messages[i],
			     ERROR("io.wakegov.Failed", "message", "No such device"));
	}
}

/* A list that does not fit leaves what was in the output before it, and an error. */
static void test_reply_too_large(void **state)
{
	struct canned_source canned = { .n_tasks = 1000 };
	struct buffer output = { .max = MAX_BYTES };

	assert_int_equal(buffer_append(&output, "before", 7), 0);
	assert_int_equal(dispatch(&canned, OWNER, "{\"method\":\"io.wakegov.Tasks\"}", &output), 0);
	assert_string_equal(buffer_bytes(&output), "before");
	assert_string_equal(buffer_bytes(&output) + 7, "{\"error\":\"io.wakegov.ReplyTooLarge\","
						       "\"parameters\":{\"max_bytes\":65529}}");
	buffer_deinit(&output);
}

static void test_no_room_even_for_an_error(void **state)
{
	struct canned_source canned = { .n_tasks = 1000 };
	struct buffer output = { .max = 50 };

	assert_int_equal(dispatch(&canned, OWNER, "{\"method\":\"io.wakegov.Tasks\"}", &output),
			 -EMSGSIZE);
	buffer_deinit(&output);
}

static void test_elements_and_their_commas(void **state)
{
	struct canned_source canned = { .n_decisions = 2 };

	assert_reply(&canned, OWNER, "{\"method\":\"io.wakegov.Decisions\"}",
		     "{\"parameters\":{\"decisions\":["
		     "{\"monotonic_us\":1000,\"domain\":\"policy0\",\"previous_khz\":null,"
		     "\"target_khz\":2400000,\"read_back_khz\":2400000,\"reason\":\"io-boost\","
		     "\"limiter\":\"policy-max\",\"demand_cap\":341,\"cpu\":2,\"pid\":812,"
		     "\"comm\":\"fio\",\"rule\":null,\"capped_pid\":null},"
		     "{\"monotonic_us\":2000,\"domain\":\"policy0\",\"previous_khz\":1800000,"
		     "\"target_khz\":2400000,\"read_back_khz\":2400000,\"reason\":\"utilisation\","
		     "\"limiter\":\"none\",\"demand_cap\":341,\"cpu\":2,\"pid\":null,"
		     "\"comm\":null,\"rule\":null,\"capped_pid\":null}]}}");
}

/* What is not known is null, and 0 is a number. */
static void test_task(void **state)
{
	struct canned_source canned = { .n_tasks = 1 };

	assert_reply(
		&canned, OWNER, "{\"method\":\"io.wakegov.Tasks\"}",
		"{\"parameters\":{\"tasks\":["
		"{\"pid\":812,\"tgid\":null,\"comm\":\"fio\",\"cpu\":0,\"domain\":\"policy0\","
		"\"state\":\"pays\",\"device\":\"nvme0n1\",\"io_rate_per_s\":25000,"
		"\"host_share_permille\":612,\"predicted_gain_permille\":463,"
		"\"measured_gain_permille\":405,\"gain_error_permille\":21,\"pairs\":14,\"wanted_khz\":1416000,\"boost_cap\":700,"
		"\"lease_left_us\":9500}],\"total\":1,\"next_offset\":null,\"min_rate_per_s\":1000}}");
}

static void test_devices(void **state)
{
	struct canned_source canned = { .n_devices = 3 };

	assert_reply(&canned, OWNER, "{\"method\":\"io.wakegov.Devices\"}",
		     "{\"parameters\":{\"devices\":["
		     "{\"name\":\"nvme0n1\",\"tasks\":3,\"depth\":17,"
		     "\"completions\":9223372036854775807,\"idle_us\":8250000,"
		     "\"completions_per_s\":24817,\"idle_permille\":412,\"completion_cpu\":1,"
		     "\"completion_domain\":\"policy0\",\"boosted\":3,\"trying\":0},"
		     "{\"name\":\"nvme1n1\",\"tasks\":3,\"depth\":17,"
		     "\"completions\":9223372036854775807,\"idle_us\":8250000,"
		     "\"completions_per_s\":24817,\"idle_permille\":412,\"completion_cpu\":1,"
		     "\"completion_domain\":\"policy0\",\"boosted\":0,\"trying\":1},"
		     "{\"name\":\"nvme2n1\",\"tasks\":0,\"depth\":17,"
		     "\"completions\":9223372036854775807,\"idle_us\":8250000,"
		     "\"completions_per_s\":null,\"idle_permille\":null,\"completion_cpu\":1,"
		     "\"completion_domain\":null,\"boosted\":0,\"trying\":0}]}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_no_calls),
		cmocka_unit_test(test_reload_needs_privilege),
		cmocka_unit_test(test_strangers_may_only_introspect),
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_reload_that_fails),
		cmocka_unit_test(test_source_that_fails),
		cmocka_unit_test(test_reply_too_large),
		cmocka_unit_test(test_no_room_even_for_an_error),
		cmocka_unit_test(test_elements_and_their_commas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
