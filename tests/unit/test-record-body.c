// SPDX-License-Identifier: GPL-2.0-only
/* Every type of record, with every value at its extremes, comes back as it was. */
#include "test-record.h"

#include "record/body.h"

#define ROUNDS 400

/* All fields of what the type has, from next(). */
static void make_task(struct input *input, uint64_t (*next)(void *), void *of)
{
	input->task = (struct input_task){
		.pid = next(of),
		.tgid = next(of),
		.handle = next(of),
		.cpu = next(of),
		.io_waits = next(of),
		.io_starts = next(of),
		.last_io_ns = next(of),
		.level_q = next(of),
		.in_flight_ns = next(of),
		.depth = next(of),
		.max_depth = next(of),
		.busy_ppm = next(of),
		.n_ios = next(of) % (TASK_IOS_MAX + 1),
	};
	memset(input->task.comm, next(of), TASK_COMM_SIZE - 1);
	for (int i = 0; i < TASK_IOS_MAX; i++)
		input->task.ios[i] = (struct input_task_io){
			.device = next(of) % INPUT_DEVICES_MAX,
			.ios = next(of),
			.host_ns = next(of),
			.host_cpu_ns = next(of),
		};
}

static void make_decision(struct decision *decision, uint64_t (*next)(void *), void *of)
{
	*decision = (struct decision){
		.now_ns = next(of),
		.domain = next(of),
		.previous_khz = next(of),
		.target_khz = next(of),
		.wanted_khz = next(of),
		.want_cap = next(of),
		.cpu = next(of),
		.pid = next(of),
		.reason = next(of) % (REASON_LAST + 1),
		.limiter = next(of) % (LIMITER_LAST + 1),
		.timing = next(of) % (TIMING_RATE_LIMITED + 1),
		.rule = next(of),
		.capped_pid = next(of),
	};
	memset(decision->comm, next(of), TASK_COMM_SIZE - 1);
}

static struct record make(enum record_type type, uint64_t (*next)(void *), void *of)
{
	struct record record = { .type = type, .now_ns = next(of) };
	struct input *input = &record.input;

	switch (type) {
	case RECORD_CPU:
		input->cpu = (struct input_cpu){ next(of), next(of), next(of) & 1, next(of) };
		break;
	case RECORD_TASK:
		make_task(input, next, of);
		break;
	case RECORD_TASK_END:
		input->ended_pid = next(of);
		break;
	case RECORD_DEVICE:
		input->device = (struct input_device){
			.device = next(of) % INPUT_DEVICES_MAX,
			.completions = next(of),
			.idle_ns = next(of),
			.depth = next(of),
			.completion_cpu = next(of),
		};
		break;
	case RECORD_DEVICE_END:
		input->ended_device = next(of) % INPUT_DEVICES_MAX;
		break;
	case RECORD_LIMITS:
		input->limits = (struct input_limits){ next(of), next(of), next(of) };
		break;
	case RECORD_DOMAIN:
		input->domain = (struct input_domain){ next(of), next(of) & 1, next(of) & 1,
						       next(of) & 1 };
		break;
	case RECORD_OVERRIDE:
		input->override = (struct input_override){ next(of), next(of), next(of), next(of),
							   next(of), next(of), next(of) };
		break;
	case RECORD_TASK_RULES:
		input->task_rules = (struct input_task_rules){
			.pid = next(of),
			.tgid = next(of),
			.matched = next(of),
		};
		memset(input->task_rules.comm, next(of), TASK_COMM_SIZE - 1);
		break;
	case RECORD_CLASS_RUN:
		input->class_run = (struct input_class_run){ next(of), next(of), next(of), next(of),
							     next(of), next(of), next(of) };
		break;
	case RECORD_REFERENCE:
		input->reference = (struct input_reference){ next(of), next(of) };
		break;
	case RECORD_OPP:
		input->opp = (struct input_opp){ next(of), next(of), next(of) };
		break;
	case RECORD_OWN_CLAMPS:
		input->own_clamps = (struct input_own_clamps){ next(of), next(of) };
		break;
	case RECORD_BURSTS:
		input->bursts = (struct input_bursts){ next(of), next(of), next(of) };
		break;
	case RECORD_CO_RUNNER:
		input->co_runner = (struct input_co_runner){ next(of), next(of), next(of) };
		break;
	case RECORD_DECIDE:
		make_decision(&record.decision, next, of);
		break;
	default:
		record.domain = next(of); /* or handle */
		break;
	case RECORD_ADVANCE:
		break;
	}
	return record;
}

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
	/* Both were zeroed whole, so even what lies between fields is the same. */
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
		cmocka_unit_test(test_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
