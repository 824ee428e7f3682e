// SPDX-License-Identifier: GPL-2.0-only
/* Which idle latency is held, for which tasks, and how long after they last worked. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/keys.h"
#include "core/rule.h"
#include "daemon/modules/modules.h"
#include "shared/time.h"
#include "tracer/tracer.h"

#define NONE   POLICY_IDLE_LATENCY_NONE
#define DEVICE 1000 /* its descriptor */
#define PIDS   16
#define MS(_n) ((_n)*NS_PER_MS)

/* The kernel's side, and the device. */
static struct world {
	uint64_t now_ns;
	uint32_t task_us[PIDS];
	uint32_t told_us; /* what the kernel side knows to be held */
	uint32_t asked_us;
	bool is_open;
	uint32_t request_us; /* NONE: nothing was written yet */
	int open_errno;
	struct rules_task tasks[PIDS];
} world;

static struct core core;
static struct idle_latency idle;
static const struct module *const module = &idle_latency_module;

int __wrap_open64(const char *path, int flags, ...);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __wrap_close(int fd);

int __wrap_open64(const char *path, int flags, ...)
{
	assert_string_equal(path, "/dev/cpu_dma_latency");
	assert_false(world.is_open);
	errno = world.open_errno;
	if (errno)
		return -1;
	world.is_open = true;
	return DEVICE;
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	assert_int_equal(fd, DEVICE);
	assert_int_equal(size, sizeof(int32_t));
	memcpy(&world.request_us, data, size);
	return size;
}

int __wrap_close(int fd)
{
	assert_int_equal(fd, DEVICE);
	assert_true(world.is_open);
	world.is_open = false;
	world.request_us = NONE;
	return 0;
}

void tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us)
{
	world.task_us[pid] = us;
}

void tracer_clear_idle_latencies(struct tracer *tracer)
{
	for (uint32_t pid = 0; pid < PIDS; pid++)
		world.task_us[pid] = NONE;
}

void tracer_set_held_idle_latency(struct tracer *tracer, uint32_t us)
{
	world.told_us = us;
}

uint32_t tracer_pop_idle_latency(struct tracer *tracer)
{
	uint32_t us = world.asked_us;

	world.asked_us = NONE;
	return us;
}

const struct rules_task *rules_find(const struct rules *rules, uint32_t pid)
{
	return world.tasks[pid].pid ? &world.tasks[pid] : NULL;
}

static void match(uint32_t pid, uint64_t matched)
{
	world.tasks[pid] = (struct rules_task){ .pid = pid, .matched = matched };
	module->task_rehinted(&idle, pid);
}

/* One with that idle latency begins to run, as the kernel side reports it. */
static void run(uint32_t us)
{
	const struct wakegov_record event = { .type = WAKEGOV_RECORD_IDLE_LATENCY };

	if (us < world.asked_us)
		world.asked_us = us;
	if (us < world.told_us) {
		world.told_us = us;
		module->on_event(&idle, &event, world.now_ns);
	}
}

static void pass(uint64_t ns)
{
	world.now_ns += ns;
	module->run(&idle, world.now_ns);
}

static uint64_t next_ns(void)
{
	return module->next_ns(&idle, world.now_ns);
}

/* Two rules: 50 us and 10 us. */
static int set_up(void **state)
{
	world = (struct world){
		.now_ns = MS(1), .told_us = NONE, .asked_us = NONE, .request_us = NONE
	};
	idle = (struct idle_latency){ .core = &core };
	core = (struct core){ 0 };
	policy_init(&core.policy);
	core.policy.n_rules = 2;
	for (uint32_t i = 0; i < 2; i++) {
		core.policy.rules[i].domain_cpu = POLICY_ANY_DOMAIN;
		core.policy.rules[i].properties.idle_latency =
			(struct policy_level){ POLICY_LEVEL_IDLE_LATENCY, i ? 10 : 50 };
	}
	if (module->start(&idle) < 0)
		return -1;
	module->rules_changed(&idle);
	return 0;
}

static int tear_down(void **state)
{
	module->released(&idle);
	return world.is_open ? -1 : 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(test_held_while_it_works)
{
	assert_int_equal(next_ns(), UINT64_MAX);
	match(5, 1);
	assert_int_equal(world.task_us[5], 50);
	assert_false(world.is_open);
	run(50);
	assert_int_equal(world.request_us, 50);
	assert_int_equal(next_ns(), world.now_ns + MS(500));
	run(50);
	pass(MS(500));
	assert_int_equal(world.request_us, 50);
	pass(MS(499));
	assert_true(world.is_open);
	pass(MS(1));
	assert_false(world.is_open);
	assert_int_equal(next_ns(), UINT64_MAX);
	run(50); /* is reported again */
	assert_int_equal(world.request_us, 50);
}

/* The shortest one of those that work, and no longer than that one does: one descriptor. */
FIXTURE_TEST(test_two_levels)
{
	match(5, 1);
	match(1, 2);
	run(50);
	run(10);
	assert_int_equal(world.request_us, 10);
	run(50); /* no record */
	assert_int_equal(world.request_us, 10);
	pass(MS(500));
	assert_int_equal(world.request_us, 50);
	assert_int_equal(world.told_us, 50);
	run(10);
	assert_int_equal(world.request_us, 10);
}

FIXTURE_TEST(test_ends)
{
	match(5, 1);
	match(6, 1);
	run(50);
	world.tasks[5].pid = 0;
	module->task_ended(&idle, 5);
	assert_int_equal(world.task_us[5], NONE);
	assert_int_equal(world.task_us[6], 50);
	pass(MS(500));
	assert_false(world.is_open);
}

FIXTURE_TEST(test_another_policy)
{
	match(5, 1);
	run(50);
	core.policy.rules[0].properties.idle_latency.value = 30;
	module->rules_changed(&idle);
	assert_int_equal(world.task_us[5], NONE);
	assert_true(world.is_open); /* until its tasks are seen again */
	match(5, 1);
	assert_int_equal(world.task_us[5], 30);
	core.policy.rules[0].properties.idle_latency.value = NONE; /* given, and none */
	match(5, 3);
	assert_int_equal(world.task_us[5], NONE);
	match(5, 2);
	assert_int_equal(world.task_us[5], 10);
	core.policy.rules[1].domain_cpu = 0;
	match(5, 2);
	assert_int_equal(world.task_us[5], NONE);
	core.policy.n_rules = 0;
	module->rules_changed(&idle);
	assert_false(world.is_open);
	assert_null(idle_latency_why_not(&idle));
}

FIXTURE_TEST(test_a_failure)
{
	match(5, 1);
	world.open_errno = EACCES;
	run(50);
	assert_int_equal(world.told_us, 0); /* not reported again */
	run(50);
	assert_int_equal(next_ns(), UINT64_MAX);
	assert_non_null(idle_latency_why_not(&idle));
	world.open_errno = 0;
	module->rules_changed(&idle);
	match(5, 1);
	run(50);
	assert_int_equal(world.request_us, 50);
}

FIXTURE_TEST(test_handed_back)
{
	match(5, 1);
	run(50);
	core.handed_back_until_ns = UINT64_MAX;
	pass(1);
	assert_false(world.is_open);
	run(50);
	assert_false(world.is_open);
	core.handed_back_until_ns = 0;
	run(50);
	assert_int_equal(world.request_us, 50);
}

FIXTURE_TEST(test_only_observed)
{
	core.policy.backend = POLICY_BACKEND_OBSERVE;
	module->rules_changed(&idle);
	assert_string_equal(idle_latency_why_not(&idle), "wakegov only observes");
	match(5, 1);
	assert_int_equal(world.task_us[5], NONE);
}

/* A start that failed before this one's: there is nothing to release. */
FIXTURE_TEST(test_not_started)
{
	idle = (struct idle_latency){ .core = &core };
	module->released(&idle);
}
