// SPDX-License-Identifier: GPL-2.0-only
#include "test-record-drive.h"

#include <zstd.h>

#include "config/keys.h"
#include "wakegov/abi.h"

#define DOMAINS 2
#define CPUS	4
#define TASKS	12
#define RULES	2

struct drive {
	struct test_random random;
	struct recorder *recorder;
	struct engine *engine;
	struct engine *shadow; /* that loaded the state of the first; NULL: none did */
	struct topology *topology;
	struct policy policy;
	uint64_t now_ns;
	uint64_t decisions, by_chains;
	bool active[DOMAINS];
};

static uint64_t below(struct drive *drive, uint64_t limit)
{
	return test_random_below(&drive->random, limit);
}

static void apply(struct drive *drive, struct input input)
{
	input.now_ns = drive->now_ns;
	engine_apply(drive->engine, &input);
	if (drive->shadow)
		engine_apply(drive->shadow, &input);
}

static void do_task(struct drive *drive)
{
	uint32_t i = below(drive, TASKS);
	uint64_t total = drive->now_ns / (20000 + 10000 * i);
	struct input input = {
		.type = INPUT_TASK,
		.task = {
			.pid = 1 + i,
			.tgid = 1,
			.handle = i,
			.cpu = below(drive, CPUS),
			.level_q = below(drive, 1 << 30),
			.in_flight_ns = drive->now_ns / 2 + total,
			.worked_ns = drive->now_ns / 3,
			.waited_ns = drive->now_ns / 4,
			.comm = "drive",
			.io_waits = total,
			.io_starts = total + 3,
			.last_io_ns = drive->now_ns - below(drive, 20000000),
			.n_ios = below(drive, TASK_IOS_MAX + 1),
		},
	};

	for (int j = 0; j < TASK_IOS_MAX; j++)
		input.task.ios[j] = (struct input_task_io){
			.device = below(drive, INPUT_DEVICES_MAX),
			.ios = total,
		};
	apply(drive, input);
}

static void do_device(struct drive *drive)
{
	struct input input = {
		.type = INPUT_DEVICE,
		.device = {
			.device = below(drive, INPUT_DEVICES_MAX),
			.completions = drive->now_ns / 10000,
			.in_flight_ns = drive->now_ns / 2,
			.depth = below(drive, 100),
			.completion_cpu = below(drive, CPUS),
		},
	};

	apply(drive, input);
}

static void do_cpu(struct drive *drive)
{
	struct input input = {
		.type = INPUT_CPU,
		.cpu = {
			.cpu = below(drive, CPUS),
			.util_q = below(drive, 1 << 30),
			.est_q = below(drive, 1 << 30),
			.burst_ns = below(drive, 50000000),
			.running = below(drive, 2),
			.idle_since_ns = drive->now_ns - below(drive, 30000000),
			.chain = {
				.util_q = below(drive, 1 << 30),
				.seen_ns = drive->now_ns - below(drive, 60000000),
				.pid = 1 + below(drive, TASKS),
				.waker = 1 + below(drive, TASKS),
			},
		},
	};

	apply(drive, input);
}

static void do_limits(struct drive *drive, uint32_t domain)
{
	struct input input = {
		.type = INPUT_LIMITS,
		.limits = { domain, 800000 + below(drive, 800000), 1600000 + below(drive, 800000) },
	};

	apply(drive, input);
}

static void set_policy(struct drive *drive)
{
	engine_set_policy(drive->engine, &drive->policy, drive->now_ns);
	if (drive->shadow)
		engine_set_policy(drive->shadow, &drive->policy, drive->now_ns);
}

static void do_override(struct drive *drive, uint32_t domain)
{
	struct policy_domain_section *section = &drive->policy.domain_overrides[0];

	drive->policy.n_domain_overrides = below(drive, 4) != 0;
	strcpy(section->name, drive->topology->domains[domain].name);
	section->given = POLICY_DOMAIN_BIT(min);
	section->values.min = (struct policy_frequency){ POLICY_FREQUENCY_KHZ,
							 1000000 + below(drive, 2) * 600000,
							 1 + below(drive, 8) };
	set_policy(drive);
}

static void do_rules(struct drive *drive)
{
	struct input input = {
		.type = INPUT_TASK_RULES,
		.task_rules = { .pid = 1 + below(drive, TASKS),
				.tgid = 1,
				.comm = "drive",
				.matched = below(drive, 1 << RULES) },
	};

	apply(drive, input);
}

static void do_own_clamps(struct drive *drive)
{
	uint32_t own = below(drive, 2) ? wakegov_own(below(drive, 512), 512 + below(drive, 512))
				       : 0;
	struct input input = {
		.type = INPUT_OWN_CLAMPS,
		.own_clamps = { 1 + below(drive, TASKS), own },
	};

	apply(drive, input);
	input = (struct input){ .type = INPUT_WAITED,
				.waited = { 1 + below(drive, TASKS), below(drive, 2) } };
	apply(drive, input);
}

static void do_active(struct drive *drive, uint32_t domain, bool active)
{
	struct input input = { .type = INPUT_DOMAIN,
			       .domain = { domain, active, below(drive, 8), below(drive, 2) } };

	drive->active[domain] = active;
	apply(drive, input);
}

static void do_policy(struct drive *drive)
{
	drive->policy.io_boost.min_rate_per_s = 1 + below(drive, 40000);
	drive->policy.domain.down_hold_ns = 1000000 + below(drive, 30000000);
	set_policy(drive);
}

static void decide(struct drive *drive, uint32_t domain)
{
	const struct decision *decision, *other;
	enum engine_outcome outcome = below(drive, 8) ? ENGINE_SET : ENGINE_NOT_SET;

	decision = engine_decide(drive->engine, domain, drive->now_ns);
	drive->decisions++;
	drive->by_chains += decision->reason == REASON_CHAIN;
	if (drive->shadow) {
		other = engine_decide(drive->shadow, domain, drive->now_ns);
		assert_memory_equal(decision, other, sizeof(*other));
		engine_commit(drive->shadow, domain, outcome);
	}
	engine_commit(drive->engine, domain, outcome);
}

static void take_ended(struct drive *drive)
{
	uint32_t handle, other;

	while (engine_pop_ended(drive->engine, &handle)) {
		assert_in_range(handle, 0, TASKS - 1);
		if (!drive->shadow)
			continue;
		assert_true(engine_pop_ended(drive->shadow, &other));
		assert_int_equal(handle, other);
	}
}

static void take_classes(struct drive *drive)
{
	struct task_class class, other;

	while (engine_pop_class(drive->engine, &class)) {
		if (!drive->shadow)
			continue;
		assert_true(engine_pop_class(drive->shadow, &other));
		assert_memory_equal(&class, &other, sizeof(other));
	}
	if (drive->shadow)
		assert_false(engine_pop_class(drive->shadow, &other));
}

static void take_clamps(struct drive *drive)
{
	struct task_clamp clamp, other;

	while (engine_pop_clamp(drive->engine, &clamp)) {
		if (!drive->shadow)
			continue;
		assert_true(engine_pop_clamp(drive->shadow, &other));
		assert_memory_equal(&clamp, &other, sizeof(other));
	}
	if (drive->shadow)
		assert_false(engine_pop_clamp(drive->shadow, &other));
}

static void round_of(struct drive *drive)
{
	engine_advance(drive->engine, drive->now_ns);
	if (drive->shadow)
		engine_advance(drive->shadow, drive->now_ns);
	for (uint32_t i = 0; i < DOMAINS; i++)
		if (engine_is_due(drive->engine, i, drive->now_ns))
			decide(drive, i);
	take_ended(drive);
	take_classes(drive);
	take_clamps(drive);
}

static void step(struct drive *drive)
{
	uint32_t domain = below(drive, DOMAINS);
	struct input input = { .type = INPUT_TASK_END, .ended_pid = 1 + below(drive, TASKS) };

	switch (below(drive, 24)) {
	case 0:
		apply(drive, input);
		break;
	case 1:
		input = (struct input){ .type = INPUT_DEVICE_END };
		input.ended_device = below(drive, INPUT_DEVICES_MAX);
		apply(drive, input);
		break;
	case 2:
		do_limits(drive, domain);
		break;
	case 3:
		do_active(drive, domain, below(drive, 4));
		break;
	case 4:
		engine_forget_target(drive->engine, domain);
		if (drive->shadow)
			engine_forget_target(drive->shadow, domain);
		break;
	case 5:
		if (!below(drive, 4))
			do_policy(drive);
		break;
	case 6 ... 7:
		do_device(drive);
		break;
	case 8:
		do_override(drive, domain);
		break;
	case 9 ... 13:
		do_task(drive);
		break;
	case 14 ... 16:
		do_rules(drive);
		break;
	case 17:
		do_own_clamps(drive);
		break;
	default:
		do_cpu(drive);
	}
	if (below(drive, 2))
		round_of(drive);
	drive->now_ns += below(drive, 2) * below(drive, 3000000);
}

static void set_up(struct drive *drive, struct test_recording *recording, uint64_t seed)
{
	*drive = (struct drive){
		.random = { seed * 0x9e3779b97f4a7c15ULL },
		.recorder = recording ? test_recorder_new(recording) : NULL,
		.topology = test_topology_usual(DOMAINS, CPUS / DOMAINS),
		.now_ns = 5 * NS_PER_S,
	};
	policy_init(&drive->policy);
	drive->policy.max_tasks = 16;
	drive->policy.max_ruled_tasks = 16;
	drive->policy.n_rules = RULES;
	for (uint32_t i = 0; i < RULES; i++)
		drive->policy.rules[i].domain_cpu = POLICY_ANY_DOMAIN;
	drive->policy.rules[0].properties.cap = (struct policy_level){ POLICY_LEVEL_PERCENT, 60 };
	drive->policy.rules[1].properties.floor = (struct policy_level){ POLICY_LEVEL_PERCENT, 40 };
	drive->engine = engine_new(drive->topology, &drive->policy);
	assert_non_null(drive->engine);
	if (drive->recorder)
		recorder_begin(drive->recorder, drive->engine, drive->now_ns);
	for (uint32_t i = 0; i < DOMAINS; i++)
		do_active(drive, i, true);
}

static uint64_t finish(struct drive *drive, struct test_recording *recording)
{
	assert_int_equal(recorder_end(drive->recorder, drive->now_ns), 0);
	assert_int_equal(drive->recorder->bytes, recording->n);
	assert_true(drive->decisions < 100 || drive->by_chains);
	recorder_free(drive->recorder);
	engine_free(drive->engine);
	engine_free(drive->shadow);
	free(drive->topology);
	return drive->decisions;
}

uint64_t test_drive(struct test_recording *recording, uint64_t seed, int steps, int flush_steps)
{
	struct drive drive;

	set_up(&drive, recording, seed);
	for (int i = 0; i < steps; i++) {
		step(&drive);
		if (flush_steps && i % flush_steps == 0)
			assert_int_equal(recorder_flush(drive.recorder), 0);
	}
	return finish(&drive, recording);
}

uint64_t test_drive_late(struct test_recording *recording, uint64_t seed, int steps_before,
			 int steps)
{
	struct drive drive;

	set_up(&drive, NULL, seed);
	for (int i = 0; i < steps_before; i++)
		step(&drive);
	drive.decisions = 0;
	drive.recorder = test_recorder_new(recording);
	drive.shadow = engine_new(drive.topology, &drive.policy);
	assert_int_equal(engine_load(drive.shadow, engine_state(drive.engine),
				     engine_state_size(drive.topology, &drive.policy)),
			 0);
	recorder_begin(drive.recorder, drive.engine, drive.now_ns);
	for (int i = 0; i < steps; i++)
		step(&drive);
	return finish(&drive, recording);
}

size_t test_recording_unpack(const struct test_recording *recording, uint8_t *ret, size_t size)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = { recording->data, recording->n, sizeof(struct record_head) };
	ZSTD_outBuffer out = { ret, size, 0 };

	while (in.pos < in.size && !ZSTD_isError(ZSTD_decompressStream(zstd, &out, &in)))
		;
	ZSTD_freeDCtx(zstd);
	return out.pos;
}

void test_recording_pack(struct test_recording *recording, const uint8_t *bytes, size_t n)
{
	recording->n = sizeof(struct record_head);
	for (size_t at = 0, size; at < n; at += size) {
		size = n - at < RECORD_FRAME_BYTES ? n - at : RECORD_FRAME_BYTES;
		recording->n += ZSTD_compress(recording->data + recording->n,
					      sizeof(recording->data) - recording->n, bytes + at,
					      size, 1);
	}
}
