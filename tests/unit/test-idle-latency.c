// SPDX-License-Identifier: GPL-2.0-only
/* Which CPUs are limited, for whom, how long, and how often that is looked at. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actuator/power_controls.h"
#include "actuator/restore.h"
#include "config/keys.h"
#include "core/rule.h"
#include "daemon/journal.h"
#include "daemon/modules/idle_latency.h"
#include "shared/time.h"
#include "tracer/idle_latency.h"

#define NONE   POLICY_IDLE_LATENCY_NONE
#define N_CPUS 4
#define MS(_n) ((_n)*NS_PER_MS)

/* The kernel's side, and the files. */
static struct world {
	uint64_t now_ns;
	bool follows;
	uint32_t task_us[16]; /* by pid */
	uint32_t limit_us[N_CPUS];
	uint32_t seen_us[N_CPUS];
	uint32_t file_us[N_CPUS];
	int outcome; /* of the next writes; 0: they go well */
	struct rules_task tasks[16];
} world;

static const struct daemon_options options;
static struct core core;
static struct idle_latency idle;
static const struct module *const module = &idle_latency_module;

void tracer_follow_idle_latencies(struct tracer *tracer, bool follow)
{
	world.follows = follow;
}

int tracer_set_idle_latency(struct tracer *tracer, uint32_t pid, uint32_t us)
{
	world.task_us[pid] = us;
	return 0;
}

void tracer_set_idle_limit(struct tracer *tracer, uint32_t cpu, uint32_t us)
{
	world.limit_us[cpu] = us;
}

uint32_t tracer_pop_idle_latency(struct tracer *tracer, uint32_t cpu, uint32_t *ret_pid)
{
	uint32_t us = world.seen_us[cpu];

	*ret_pid = us == 50 ? 5 : 1;
	world.seen_us[cpu] = NONE;
	return us;
}

int resume_latency_limit(struct saved_values *saved, uint32_t cpu, uint32_t us)
{
	if (!world.outcome)
		world.file_us[cpu] = us;
	return world.outcome;
}

enum restore_outcome restore_resume_latency(struct saved_values *saved, uint32_t cpu)
{
	world.file_us[cpu] = NONE;
	return world.outcome ? RESTORE_TAKEN_OVER : RESTORE_DONE;
}

int restore_resume_latencies(struct saved_values *saved, restore_report_t report, void *userdata)
{
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		world.file_us[cpu] = NONE;
	return 0;
}

int saved_save(const struct saved_values *saved)
{
	return 0;
}

void journal_report_restore(void *userdata, const struct restore_result *result)
{
}

void journal_log_left(int r, const char *what, const char *run_dir, const char *file)
{
}

int control_load(enum control control, uint32_t number, char *ret_value, size_t size)
{
	return 0;
}

/* Tasks whose I/O boost asks for it, by pid. */
static struct io_task boosted[16];
static uint32_t n_idle_changes;

const struct task_table *engine_tasks(const struct engine *engine)
{
	return NULL;
}

uint32_t engine_idle_changes(const struct engine *engine)
{
	return n_idle_changes;
}

struct io_task *io_task_find(const struct task_table *table, uint32_t pid)
{
	return boosted[pid].pid ? &boosted[pid] : NULL;
}

struct io_task *io_task_next(const struct task_table *table, const struct io_task *after)
{
	struct io_task *task = after ? boosted + (after - boosted) + 1 : boosted;

	while (task < boosted + 16 && !task->pid)
		task++;
	return task < boosted + 16 ? task : NULL;
}

const struct rules_task *rules_find(const struct rules *rules, uint32_t pid)
{
	return world.tasks[pid].pid ? &world.tasks[pid] : NULL;
}

/* A task of these rules. */
static void take(uint32_t pid, uint64_t matched)
{
	world.tasks[pid] = (struct rules_task){ .pid = pid, .matched = matched };
	module->task_rehinted(&idle, pid);
}

static void tell_of(uint32_t cpu)
{
	const struct wakegov_record event = { .type = WAKEGOV_RECORD_IDLE_LATENCY, .cpu = cpu };

	module->on_event(&idle, &event, world.now_ns);
}

/* One with that idle latency begins to run there, as the kernel side tells of it. */
static void run(uint32_t cpu, uint32_t us)
{
	if (us < world.seen_us[cpu])
		world.seen_us[cpu] = us;
	if (us < world.limit_us[cpu]) {
		world.limit_us[cpu] = us;
		tell_of(cpu);
	}
}

static void pass(uint64_t ns)
{
	world.now_ns += ns;
	module->run(&idle, world.now_ns);
}

/* Two rules: 50 us and 10 us. */
static int set_up(void **state)
{
	world = (struct world){ .now_ns = time_now_ns() };
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		world.limit_us[cpu] = world.seen_us[cpu] = world.file_us[cpu] = NONE;
	idle = (struct idle_latency){ .core = &core };
	core = (struct core){ .options = &options, .topology = calloc(1, sizeof(struct topology)) };
	policy_init(&core.policy);
	core.topology->n_cpus = N_CPUS;
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
	module->free(&idle);
	free(core.topology);
	return 0;
}

static void test_held_while_it_runs(void **state)
{
	assert_false(world.follows);
	assert_int_equal(module->next_ns(&idle, world.now_ns, UINT64_MAX), UINT64_MAX);
	take(5, 1);
	assert_true(world.follows);
	assert_int_equal(world.task_us[5], 50);
	run(2, 50);
	assert_int_equal(world.file_us[2], 50);
	assert_int_equal(idle.n_limited, 1);
	assert_int_equal(module->next_ns(&idle, world.now_ns, UINT64_MAX), world.now_ns + MS(100));
	pass(MS(99));
	assert_int_equal(world.file_us[2], 50);
	pass(MS(1));
	assert_int_equal(world.file_us[2], NONE);
	assert_int_equal(idle.n_limited, 0);
	assert_int_equal(module->next_ns(&idle, world.now_ns, UINT64_MAX), UINT64_MAX);
	run(2, 50); /* the kernel side emits a record again */
	assert_int_equal(world.file_us[2], 50);
}

/* A steady task is looked at ever more rarely; what changes, ten times a second again. */
static void test_looks(void **state)
{
	static const uint64_t gaps_ms[] = { 100, 200, 400, 800, 1600, 1600, 1600 };

	take(5, 1);
	run(2, 50);
	for (size_t i = 0; i < sizeof(gaps_ms) / sizeof(gaps_ms[0]); i++) {
		assert_int_equal(module->next_ns(&idle, world.now_ns, UINT64_MAX) - world.now_ns,
				 MS(gaps_ms[i]));
		run(2, 50);
		pass(MS(gaps_ms[i]));
		assert_int_equal(world.file_us[2], 50);
	}
	pass(MS(100)); /* not due */
	run(3, 50);
	assert_int_equal(module->next_ns(&idle, world.now_ns, UINT64_MAX) - world.now_ns, MS(100));
}

static void test_moves(void **state)
{
	take(5, 1);
	run(2, 50);
	pass(MS(50));
	run(3, 50);
	assert_int_equal(idle.n_limited, 2);
	run(3, 50);
	pass(MS(50));
	assert_int_equal(world.file_us[2], NONE);
	assert_int_equal(world.file_us[3], 50);
}

/* The shortest one of those that run there, and no longer than that one does. */
static void test_two_levels(void **state)
{
	struct cpu_mask cpus;

	take(5, 1);
	take(1, 2);
	run(2, 50);
	run(2, 10);
	assert_int_equal(world.file_us[2], 10);
	idle_latency_cpus(&idle, 1, &cpus);
	assert_int_equal(cpus.words[0], 4);
	run(2, 50);
	pass(MS(100));
	assert_int_equal(world.file_us[2], 50);
	assert_int_equal(world.limit_us[2], 50);
	idle_latency_cpus(&idle, 0, &cpus);
	assert_int_equal(cpus.words[0], 4);
	idle_latency_cpus(&idle, 1, &cpus);
	assert_int_equal(cpus.words[0], 0);
	idle_latency_cpus(&idle, IDLE_LATENCY_ANY_RULE, &cpus);
	assert_int_equal(cpus.words[0], 4);
}

static void test_the_last_task_ends(void **state)
{
	take(5, 1);
	take(6, 1);
	run(1, 50);
	run(2, 50);
	module->task_ended(&idle, 6);
	pass(1);
	assert_int_equal(idle.n_limited, 2);
	module->task_ended(&idle, 5);
	assert_false(world.follows);
	assert_int_equal(world.task_us[5], NONE);
	pass(1); /* at once, without a timer */
	assert_int_equal(world.file_us[1], NONE);
	assert_int_equal(world.file_us[2], NONE);
}

/* While others of the rule live on, what the ended one ran on is given back soon. */
static void test_one_of_them_ends(void **state)
{
	take(5, 1);
	take(6, 1);
	run(2, 50);
	for (int i = 0; i < 6; i++) {
		run(2, 50);
		pass(MS(1600));
	}
	module->task_ended(&idle, 6);
	assert_true(module->next_ns(&idle, world.now_ns, UINT64_MAX) <= world.now_ns + MS(100));
	pass(MS(100));
	assert_int_equal(world.file_us[2], NONE);
}

static void test_another_policy(void **state)
{
	take(5, 1);
	core.policy.rules[0].properties.idle_latency.value = 30;
	take(5, 1);
	assert_int_equal(world.task_us[5], 30);
	core.policy.rules[0].properties.idle_latency.value = NONE; /* given, and none */
	take(5, 3);
	assert_int_equal(world.task_us[5], NONE);
	take(5, 2);
	assert_int_equal(world.task_us[5], 10);
	core.policy.rules[1].domain_cpu = 0;
	take(5, 2);
	assert_int_equal(world.task_us[5], NONE);
}

static void test_left_to_somebody_else(void **state)
{
	struct cpu_mask cpus;

	take(5, 1);
	run(2, 50);
	world.outcome = RESUME_LATENCY_FOREIGN;
	run(2, 50);
	pass(MS(100));
	assert_int_equal(idle.n_limited, 0);
	assert_int_equal(world.limit_us[2], 0); /* never told of again */
	idle_latency_given_up(&idle, &cpus);
	assert_int_equal(cpus.words[0], 4);
	tell_of(2);
	assert_int_equal(idle.n_limited, 0);

	world.outcome = 0;
	run(1, 50); /* the others go on */
	assert_int_equal(idle.n_limited, 1);
	module->reloaded(&idle);
	run(2, 50);
	assert_int_equal(idle.n_limited, 2);
}

static void test_a_write_fails(void **state)
{
	take(5, 1);
	world.outcome = -EACCES;
	run(2, 50);
	assert_int_equal(idle.n_limited, 0);
	assert_int_equal(world.limit_us[2], 0);
}

static void test_handed_back(void **state)
{
	take(5, 1);
	run(2, 50);
	core.handed_back_until_ns = UINT64_MAX;
	pass(1);
	assert_int_equal(world.file_us[2], NONE);
	run(2, 50);
	assert_int_equal(world.file_us[2], NONE);
	core.handed_back_until_ns = 0;
	run(2, 50);
	assert_int_equal(world.file_us[2], 50);
}

static void boost(uint32_t pid, bool limits_idle)
{
	boosted[pid] = (struct io_task){ .pid = pid, .io_boost = { .limits_idle = limits_idle } };
	n_idle_changes++;
	pass(1);
}

/* A boost that asks for it is obeyed while it does, and not longer; a rule comes first. */
static void test_boosts(void **state)
{
	core.policy.io_boost.idle_latency_us = 30;
	boost(1, true);
	assert_int_equal(world.task_us[1], 30);
	run(2, 30);
	assert_int_equal(world.file_us[2], 30);
	world.seen_us[2] = 30; /* it ran there since then */
	boost(1, false);
	assert_int_equal(world.task_us[1], NONE);
	assert_int_equal(world.file_us[2], NONE);
	assert_int_equal(world.limit_us[2], NONE); /* to be told of the next one */

	take(5, 1);
	boost(5, true);
	assert_int_equal(world.task_us[5], 50);
	take(5, 0);
	assert_int_equal(world.task_us[5], 30);
	boosted[5].pid = 0; /* the engine forgot it */
	n_idle_changes++;
	module->run(&idle, world.now_ns);
	assert_int_equal(world.task_us[5], NONE);
	assert_false(world.follows);
	boosted[1].pid = 0;
}

static void test_only_observed(void **state)
{
	core.policy.backend = POLICY_BACKEND_OBSERVE;
	module->rules_changed(&idle);
	assert_string_equal(idle_latency_why_not(&idle), "wakegov only observes");
	take(5, 1);
	assert_false(world.follows);
	for (uint32_t i = 0; i < 2; i++)
		core.policy.rules[i].properties.idle_latency.value = NONE;
	module->rules_changed(&idle);
	assert_null(idle_latency_why_not(&idle));
	core.policy.n_rules = 0;
	module->rules_changed(&idle);
	assert_null(idle_latency_why_not(&idle));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_held_while_it_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_looks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_moves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_levels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_last_task_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_of_them_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_policy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_left_to_somebody_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_write_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_handed_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_boosts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_only_observed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
