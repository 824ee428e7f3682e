// SPDX-License-Identifier: GPL-2.0-only
/* A state that is loaded may say anything: what no engine can have had is refused. */
#include "test-core.h"

#include <errno.h>
#include <stddef.h>

#include "config/keys.h"
#include "core/engine_state.h"
#include "wakegov/abi.h"

#define PID	  100
#define OTHER_PID 101

static struct topology *topology;
static struct policy policy;
static struct engine *engine; /* that knows something of everything */
static size_t size;
static unsigned char *bytes; /* its state */

static void tell_task(uint32_t pid, uint32_t handle)
{
	struct input input = {
		.now_ns = NS_PER_S,
		.type = INPUT_TASK,
		.task = {
			.pid = pid,
			.tgid = pid,
			.handle = handle,
			.io_waits = 10,
			.io_starts = 10,
			.last_io_ns = NS_PER_S,
			.n_ios = 1,
			.comm = "state",
		},
	};

	engine_apply(engine, &input);
}

static int set_up(void **state)
{
	struct input active = { .type = INPUT_DOMAIN, .domain = { 0, true, true, false } };
	struct input own = { .type = INPUT_OWN_CLAMPS };

	topology = test_topology_usual(2, 2);
	policy_init(&policy);
	policy.max_tasks = 16;
	policy.domain.max = (struct policy_frequency){ POLICY_FREQUENCY_KHZ, 1000000 };
	policy.max_ruled_tasks = 16;
	policy.caps.application_clamps = true;
	engine = engine_new(topology, &policy);
	engine_apply(engine, &active);
	own.own_clamps = (struct input_own_clamps){ PID, wakegov_own(128, 512) };
	engine_apply(engine, &own);
	tell_task(PID, 0);
	tell_task(OTHER_PID, 1);
	engine_advance(engine, NS_PER_S);
	engine_decide(engine, 0, NS_PER_S);
	engine_commit(engine, 0, ENGINE_SET);
	size = engine_state_size(topology, &policy);
	bytes = malloc(size);
	memcpy(bytes, engine_state(engine), size);
	return 0;
}

static int tear_down(void **state)
{
	engine_free(engine);
	free(topology);
	free(bytes);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static int load(void)
{
	struct engine *other = engine_new(topology, &policy);
	int r = engine_load(other, bytes, size);

	if (r == 0)
		assert_ptr_equal(task_find(engine_tasks(other), PID),
				 task_next(engine_tasks(other), NULL));
	engine_free(other);
	return r;
}

FIXTURE_TEST(test_as_it_was)
{
	assert_int_equal(load(), 0);
}

FIXTURE_TEST(test_others)
{
	struct engine_state_header *header = (void *)bytes;

	header->version++;
	assert_int_equal(load(), -EPROTONOSUPPORT);
	header->version--;
	header->layout ^= 1;
	assert_int_equal(load(), -EPROTONOSUPPORT);
	header->layout ^= 1;
	header->size++;
	assert_int_equal(load(), -EPROTONOSUPPORT);
	header->size--;
	size--;
	assert_int_equal(load(), -EPROTONOSUPPORT);
	size++;
	policy.max_tasks++;
	assert_int_equal(load(), -EPROTONOSUPPORT);
}

/* Where a part of the engine lies in its state. */
#define AT(_of) ((const char *)&(_of) - (const char *)engine_state(engine))

static void spoil(ptrdiff_t at, size_t n, uint64_t value)
{
	unsigned char before[8];

	memcpy(before, bytes + at, n);
	memcpy(bytes + at, &value, n);
	assert_int_equal(load(), -EBADMSG);
	memcpy(bytes + at, before, n);
	assert_int_equal(load(), 0);
}

#define SPOIL(_of, _value) spoil(AT(_of), sizeof(_of), (_value))

FIXTURE_TEST(test_fixed_part)
{
	SPOIL(engine->tracing.on, 2);
	SPOIL(engine->needs_own, 2);
	SPOIL(engine->group_turn, IO_GROUPS_MAX);
	SPOIL(engine->clamp_classes.n, 0);
	SPOIL(engine->clamp_classes.n, CLAMP_CLASSES_MAX + 1);
	SPOIL(engine->devices[3].present, 2);
	SPOIL(engine->devices[63].rates.known, 2);
	SPOIL(engine->groups[0].used, 2);
	/* One that is used has to be one. */
	SPOIL(engine->groups[63].used, 1);
}

FIXTURE_TEST(test_cpus_and_domains)
{
	struct domain *domain = &engine->domains[0];

	SPOIL(engine->cpus[3].running, 2);
	SPOIL(domain->active, 2);
	SPOIL(domain->falls_at_once, 2);
	SPOIL(domain->trial, IO_GROUPS_MAX + 1);
	SPOIL(domain->last.domain, 1);
	SPOIL(domain->last.cpu, 4);
	SPOIL(domain->last.reason, REASON_LAST + 1);
	SPOIL(domain->last.limiter, LIMITER_LAST + 1);
	SPOIL(domain->last.timing, TIMING_RATE_LIMITED + 1);
	SPOIL(domain->last.comm[TASK_COMM_SIZE - 1], 'x');
}

FIXTURE_TEST(test_tasks)
{
	struct task *task = task_find(engine->tasks, PID);
	struct io_task *io = io_task_find(engine->tasks, PID);

	/* Another than its place is found by, or none. */
	SPOIL(task->pid, OTHER_PID);
	SPOIL(task->pid, 0);
	SPOIL(task->class, 64);
	SPOIL(task->co_runner_class, 64);
	SPOIL(task->clamped, 2);
	SPOIL(task->waits, 1 << TASK_WAITS);
	SPOIL(task->comm[TASK_COMM_SIZE - 1], 'x');
	/* I/O of a task that another has, or of none that is known. */
	SPOIL(io->pid, OTHER_PID);
	SPOIL(io->pid, 7);
	SPOIL(io->released, 2);
	SPOIL(io->io_boost.state, IO_BOOST_LAPSED + 1);
	SPOIL(io->pid, PID + 1);
	SPOIL(io->io_boost.granted, 2);
	SPOIL(io->io_boost.device, INPUT_DEVICES_MAX);
	SPOIL(io->io_boost.group, IO_GROUPS_MAX);
	SPOIL(io->io_boost.seen_ns, 0);
	io->flip.domain = 2;
	memcpy(bytes, engine_state(engine), size);
	SPOIL(io->flip.holds, 1);
}

/* What follows from the rest of the state is not believed. */
FIXTURE_TEST(test_what_follows)
{
	memset(bytes + AT(engine->cpus[0].next), 0xee, sizeof(engine->cpus[0].next));
	memset(bytes + AT(engine->domains[0].info), 0xee, sizeof(engine->domains[0].info));
	memset(bytes + AT(engine->domains[0].policy), 0xee, sizeof(engine->domains[0].policy));
	memset(bytes + AT(engine->domains[0].first_cpu), 0xee, 4);
	memset(bytes + AT(engine->n_clamping), 0xee, sizeof(engine->n_clamping));
	assert_int_equal(load(), 0);
}

/* Whatever bytes are others: refused, or an engine that can go on. */
FIXTURE_TEST(test_any_byte)
{
	struct test_random random = { 5 };
	int refused = 0;

	for (int i = 0; i < 4000; i++) {
		size_t at = sizeof(struct engine_state_header) +
			    test_random_below(&random, size - sizeof(struct engine_state_header));
		unsigned char before = bytes[at];
		struct engine *other = engine_new(topology, &policy);
		uint32_t handle;

		bytes[at] = test_random_next(&random);
		if (engine_load(other, bytes, size) < 0) {
			refused++;
		} else {
			engine_advance(other, 2 * NS_PER_S);
			for (uint32_t domain = 0; domain < 2; domain++) {
				if (!engine_is_due(other, domain, 2 * NS_PER_S))
					continue;
				engine_decide(other, domain, 2 * NS_PER_S);
				engine_commit(other, domain, ENGINE_SET);
			}
			engine_pop_ended(other, &handle);
		}
		engine_free(other);
		bytes[at] = before;
	}
	assert_true(refused > 10);
}
