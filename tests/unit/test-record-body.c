// SPDX-License-Identifier: GPL-2.0-only
/* Every type of record, with every value at its extremes, comes back as it was. */
#include "test-record.h"

#include "record/body.h"

#define ROUNDS 400

static uint64_t zero(void *of)
{
	return 0;
}

static uint64_t most(void *of)
{
	return UINT64_MAX;
}

/* Small, large and in between, since differences of those are what can go wrong. */
static uint64_t any(void *of)
{
	uint64_t number = test_random_next(of);

	return number >> (test_random_next(of) & 63);
}

/* Each member of what the type has, from next(). */
static struct record make(enum record_type type, uint64_t (*next)(void *), void *of)
{
	const struct record_field *fields = record_layout_of(type)->fields;
	struct record record = { .type = type, .now_ns = next(of) };

	for (int i = 0; fields && fields[i].field.size; i++) {
		uint64_t bound = fields[i].field.most, value = next(of);

		if (value > bound)
			value = next == any ? value % (bound + 1) : bound;
		field_store(&fields[i].field, &record, value);
	}
	return record;
}

struct pair {
	struct record_state *writer, *reader;
	uint8_t bytes[2048];
	struct record_out out;
};

static int put(struct pair *pair, const struct record *record)
{
	pair->out = (struct record_out){ .data = pair->bytes, .size = sizeof(pair->bytes) };
	return record_body_put(pair->writer, &pair->out, record);
}

static int get(struct pair *pair, size_t leave_out, struct record *ret)
{
	struct record_in in = { pair->bytes + 1, pair->bytes + pair->out.n, false };
	uint64_t n = record_get_varint(&in);

	assert_int_equal(n, in.end - in.at);
	in.end -= leave_out;
	*ret = (struct record){ .type = pair->bytes[0] & ~RECORD_FLAG_TIME };
	return record_body_get(pair->reader, &in, pair->bytes[0] & RECORD_FLAG_TIME, ret);
}

static void set_up(struct pair *pair)
{
	pair->writer = record_state_new();
	pair->reader = record_state_new();
	assert_non_null(pair->writer);
	assert_non_null(pair->reader);
}

static void tear_down(struct pair *pair)
{
	assert_null(record_state_free(pair->writer));
	assert_null(record_state_free(pair->reader));
}

static void check(struct pair *pair, const struct record *record)
{
	struct record again;

	assert_int_equal(put(pair, record), 0);
	assert_int_equal(get(pair, 0, &again), 0);
	assert_int_equal(again.type, record->type);
	assert_int_equal(again.now_ns, record->now_ns);
	/* Both were zeroed whole, so even what lies between members is the same. */
	assert_memory_equal(&again, record, sizeof(again));
}

static void test_round_trip(void **state)
{
	struct test_random random = { 1 };
	struct record record;
	struct pair pair;

	set_up(&pair);
	for (enum record_type type = RECORD_CPU; type < RECORD_STATE; type++) {
		assert_true(record_has_fields(type));
		for (int i = 0; i < 3; i++) {
			record = make(type, zero, NULL);
			check(&pair, &record);
			record = make(type, most, NULL);
			check(&pair, &record);
		}
		for (int i = 0; i < ROUNDS; i++) {
			record = make(type, any, &random);
			check(&pair, &record);
		}
	}
	tear_down(&pair);
}

/* A record that says the same as the one before is as short as can be. */
static void test_short(void **state)
{
	struct record record;
	struct pair pair;

	set_up(&pair);
	for (enum record_type type = RECORD_CPU; type < RECORD_STATE; type++) {
		record = make(type, zero, NULL);
		check(&pair, &record);
		check(&pair, &record);
		assert_in_range(pair.out.n, 2, 3);
	}
	tear_down(&pair);
}

#if __has_builtin(__builtin_clear_padding)
#define clear_padding __builtin_clear_padding
#else /* clang 14: nothing is found there */
#define clear_padding(_of) memset(_of, 0, sizeof(*(_of)))
#endif

/* A struct of whose bytes none is 0 but those between its members. */
#define CHECK_ROW(_type, _member)                                                     \
	do {                                                                          \
		struct record record;                                                 \
		memset(&record, 1, sizeof(record));                                   \
		clear_padding(&record._member);                                       \
		check_row(_type, &record, offsetof(struct record, _member),           \
			  offsetof(struct record, _member) + sizeof(record._member)); \
	} while (0)

static void check_row(enum record_type type, const struct record *record, size_t begin, size_t end)
{
	const struct record_field *field = record_layout_of(type)->fields;
	uint8_t bytes[sizeof(*record)];

	memcpy(bytes, record, sizeof(bytes));
	for (; field->field.size; field++)
		memset(bytes + field->field.offset, 0, field->field.size);
	for (size_t i = begin; i < end; i++)
		if (bytes[i])
			fail_msg("record type %d has no field for byte %zu", type, i - begin);
}

/* A member that was added to a struct of the core. */
static void test_every_member(void **state)
{
	CHECK_ROW(RECORD_CPU, input.cpu);
	CHECK_ROW(RECORD_TASK, input.task);
	CHECK_ROW(RECORD_DEVICE, input.device);
	CHECK_ROW(RECORD_LIMITS, input.limits);
	CHECK_ROW(RECORD_DOMAIN, input.domain);
	CHECK_ROW(RECORD_OVERRIDE, input.override);
	CHECK_ROW(RECORD_TASK_RULES, input.task_rules);
	CHECK_ROW(RECORD_CLASS_RUN, input.class_run);
	CHECK_ROW(RECORD_CO_RUNNER, input.co_runner);
	CHECK_ROW(RECORD_OWN_CLAMPS, input.own_clamps);
	CHECK_ROW(RECORD_BURSTS, input.bursts);
	CHECK_ROW(RECORD_REFERENCE, input.reference);
	CHECK_ROW(RECORD_OPP, input.opp);
	CHECK_ROW(RECORD_POP_CLASS, class);
	CHECK_ROW(RECORD_POP_CLAMP, clamp);
	CHECK_ROW(RECORD_DECIDE, decision);
}

static void refuse(const struct record *record)
{
	struct pair pair;

	set_up(&pair);
	assert_int_equal(put(&pair, record), -ERANGE);
	tear_down(&pair);
}

static void test_out_of_range(void **state)
{
	struct record record = make(RECORD_TASK, zero, NULL);

	record.input.task.n_ios = TASK_IOS_MAX + 1;
	refuse(&record);
	record = make(RECORD_TASK, zero, NULL);
	record.input.task.ios[3].device = INPUT_DEVICES_MAX;
	refuse(&record);
	record = make(RECORD_TASK, zero, NULL);
	memset(record.input.task.comm, 'a', TASK_COMM_SIZE);
	refuse(&record);
	record = make(RECORD_DEVICE_END, zero, NULL);
	record.input.ended_device = INPUT_DEVICES_MAX;
	refuse(&record);
	record = make(RECORD_DECIDE, zero, NULL);
	record.decision.reason = REASON_LAST + 1;
	refuse(&record);
}

/* Fewer fields than now, as before some were added: the rest is as it was. More: refused. */
static void test_other_versions(void **state)
{
	struct record first = make(RECORD_DEVICE, zero, NULL), again;
	struct pair pair;

	set_up(&pair);
	first.input.device.depth = 3;
	first.input.device.completion_cpu = 5;
	check(&pair, &first);
	first.input.device.depth = 4;
	first.input.device.completion_cpu = 6;
	assert_int_equal(put(&pair, &first), 0);
	/* Key, mask and two differences; without the bit of the last. */
	assert_int_equal(pair.bytes[1], 4);
	assert_int_equal(pair.bytes[3], 4 | 8);
	pair.bytes[3] = 4;
	assert_int_equal(get(&pair, 1, &again), 0);
	assert_int_equal(again.input.device.depth, 4);
	assert_int_equal(again.input.device.completion_cpu, 5);

	/* A bit, or a group, of which nothing is known here. */
	pair.bytes[1] = 3;
	pair.bytes[3] = 16;
	pair.out.n = 5;
	assert_int_equal(get(&pair, 0, &again), -EPROTONOSUPPORT);
	pair.bytes[3] = 0;
	pair.bytes[4] = 1;
	assert_int_equal(get(&pair, 0, &again), -EPROTONOSUPPORT);
	tear_down(&pair);
}

static void test_same(void **state)
{
	struct record record = make(RECORD_DECIDE, most, NULL);
	struct decision other = record.decision;

	assert_true(record_same_decision(&record.decision, &other));
	other.comm[0] = 'x';
	assert_false(record_same_decision(&record.decision, &other));
	other = record.decision;
	other.want_cap--;
	assert_false(record_same_decision(&record.decision, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_short),
		cmocka_unit_test(test_out_of_range), cmocka_unit_test(test_other_versions),
		cmocka_unit_test(test_same),	     cmocka_unit_test(test_every_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
