// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include "wakegov/util_acct.h"

#define FULL_Q	 DECAY_Q(1024)
#define START_NS NS_PER_S

static struct account_cpu a_cpu(void)
{
	return (struct account_cpu){
		.updated_ns = START_NS,
		.moved_ns = START_NS,
		.level_q = FULL_Q,
		.capacity = 1024,
	};
}

static struct account_task a_task(uint32_t cap)
{
	return (struct account_task){ .updated_ns = START_NS, .util_q = DECAY_Q(cap) };
}

/* A task that runs on without a switch is seen whenever somebody looks. */
TEST(test_long_run)
{
	struct account_cpu cpu = a_cpu();

	account_switch(&cpu, 1, START_NS);
	for (uint64_t ms = 1; ms <= 200; ms++) {
		account_cpu(&cpu, START_NS + ms * NS_PER_MS);
		assert_in_range(abs((int)(cpu.util_q - decay_toward(0, FULL_Q, ms * NS_PER_MS))), 0,
				300);
	}
	assert_int_equal(account_burst_ns(&cpu, START_NS + 200 * NS_PER_MS), 200 * NS_PER_MS);
}

/* Tasks that take turns are one load, and it is brought up to date now and then, not each time. */
TEST(test_turns)
{
	struct account_cpu turns = a_cpu(), one = a_cpu();
	uint64_t now_ns = START_NS, last_ns;
	int n_updates = 0;

	account_switch(&one, 1, now_ns);
	for (uint32_t i = 0; i < 1000; i++) {
		last_ns = turns.updated_ns;
		account_switch(&turns, 1 + i % 2, now_ns);
		n_updates += turns.updated_ns != last_ns;
		assert_true(now_ns - turns.updated_ns <= ACCOUNT_LATE_NS);
		assert_int_equal(turns.switched_ns, now_ns);
		now_ns += 20 * NS_PER_US;
	}
	assert_in_range(n_updates, 1, 20 * NS_PER_MS / ACCOUNT_LATE_NS);
	account_cpu(&turns, now_ns);
	account_cpu(&one, now_ns);
	assert_in_range(abs((int)(turns.util_q - one.util_q)), 0, 1000);
	assert_int_equal(account_burst_ns(&turns, now_ns), account_burst_ns(&one, now_ns));
}

/* How long a task has run at the end of this turn, the first one of the two from turn 0 on. */
static uint64_t ran_ns(uint32_t turn, uint32_t task)
{
	return (turn / 2 + (turn % 2 || !task)) * 200 * NS_PER_US;
}

/*
 * Two tasks take turns of 200 us that pass unseen, but for two in 4 ms: what each did until then
 * counts when it leaves, or comes. Each is half a load, and the CPU that they share a whole one.
 */
TEST(test_passes)
{
	struct account_cpu cpu = a_cpu();
	struct account_task tasks[2] = { a_task(0), a_task(0) };
	uint64_t now_ns = START_NS;

	account_switch(&cpu, 1, now_ns);
	for (uint32_t i = 0; i < 2000; i++) {
		struct account_task *task = &tasks[i % 2];

		now_ns += 200 * NS_PER_US;
		if (i % 20 < 18) {
			account_pass(&cpu, 1 + (i + 1) % 2, tasks[(i + 1) % 2].est_q);
			assert_int_equal(cpu.est_q, tasks[(i + 1) % 2].est_q);
			continue;
		}
		account_task_leaves(task, &cpu, now_ns - (ran_ns(i, i % 2) - task->ran_ns), true,
				    now_ns);
		task->ran_ns = ran_ns(i, i % 2);
		task = &tasks[(i + 1) % 2];
		account_task_did(task, &cpu, ran_ns(i, (i + 1) % 2), now_ns);
		account_task_comes(task, &cpu, 1 + (i + 1) % 2, now_ns);
		account_switch(&cpu, 1 + (i + 1) % 2, now_ns);
	}
	account_cpu(&cpu, now_ns);
	for (int i = 0; i < 2; i++)
		assert_in_range(DECAY_CAP(tasks[i].util_q), 490, 545);
	assert_true(DECAY_CAP(cpu.util_q) > 1020);
	assert_int_equal(account_burst_ns(&cpu, now_ns), now_ns - START_NS);
}

/* Two tasks that come unseen to an idle CPU, one after the other, each with what it needs. */
TEST(test_comes_unseen)
{
	struct account_cpu cpu = a_cpu();
	uint64_t now_ns = START_NS;

	for (uint32_t i = 0; i < 2000; i++) {
		account_come_unseen(&cpu, 1 + i % 2, DECAY_Q(100 + i % 2));
		assert_int_equal(DECAY_CAP(cpu.est_q), 100 + i % 2);
		assert_true(account_is_back(&cpu, 1 + i % 2, now_ns));
		assert_int_equal(account_burst_ns(&cpu, now_ns), 0);
		now_ns += 100 * NS_PER_US;
		/* It is accounted from when it came, or leaves unseen. */
		if (i % 20 == 0) {
			account_came(&cpu, 50 * NS_PER_US, now_ns);
			account_switch(&cpu, 0, now_ns);
			continue;
		}
		cpu.worked_ns += 50 * NS_PER_US;
		cpu.running = 0;
	}
	account_cpu(&cpu, now_ns);
	assert_in_range(DECAY_CAP(cpu.util_q), 490, 535);
}

TEST(test_clock)
{
	struct account_cpu cpu = a_cpu();
	uint32_t before_q;

	account_switch(&cpu, 1, START_NS);
	account_cpu(&cpu, START_NS + 20 * NS_PER_MS);
	before_q = cpu.util_q;
	/* Back: no time has passed, and none passes until it is where it was. */
	account_cpu(&cpu, START_NS);
	account_cpu(&cpu, START_NS + 20 * NS_PER_MS);
	assert_int_equal(cpu.util_q, before_q);
	assert_int_equal(account_burst_ns(&cpu, START_NS - NS_PER_S), 0);
	/* Ahead, by years: as busy as can be, and as idle. */
	account_cpu(&cpu, UINT64_MAX / 2);
	assert_int_equal(cpu.util_q, FULL_Q);
	account_switch(&cpu, 0, UINT64_MAX / 2);
	account_cpu(&cpu, UINT64_MAX);
	assert_int_equal(cpu.util_q, 0);
}

TEST(test_move)
{
	static const struct {
		uint32_t from_cap, to_cap, task_cap, capacity, from_after, to_after;
	} cases[] = {
		{ 500, 100, 300, 1024, 200, 400 },  { 300, 0, 300, 1024, 0, 300 },
		{ 200, 0, 300, 1024, 0, 300 },	    /* its CPU knows less of it than it does */
		{ 900, 900, 300, 1024, 600, 1024 }, /* no CPU is more than busy */
		{ 900, 0, 800, 446, 100, 446 },	    { 0, 0, 0, 1024, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct account_task task = a_task(cases[i].task_cap);
		struct account_cpu from = a_cpu(), to = a_cpu();

		from.util_q = DECAY_Q(cases[i].from_cap);
		to.util_q = DECAY_Q(cases[i].to_cap);
		to.capacity = cases[i].capacity;
		account_move(&task, &from, &to, START_NS);
		account_cpu(&from, START_NS);
		account_cpu(&to, START_NS);
		assert_int_equal(account_util_q(&from), DECAY_Q(cases[i].from_after));
		assert_int_equal(account_util_q(&to), DECAY_Q(cases[i].to_after));
	}
}

/* A full CPU is full while others wait there, and as before when they are gone. */
TEST(test_move_through_a_full_cpu)
{
	struct account_task task = a_task(700);
	struct account_cpu from = a_cpu(), full = a_cpu();

	full.util_q = DECAY_Q(1000);
	account_move(&task, &from, &full, START_NS);
	account_cpu(&full, START_NS);
	assert_int_equal(account_util_q(&full), FULL_Q);
	account_move(&task, &full, &from, START_NS);
	account_cpu(&full, START_NS);
	assert_int_equal(account_util_q(&full), DECAY_Q(1000));
}

/* However many tasks come or leave at once, as for a CPU that goes offline. */
TEST(test_many_move)
{
	uint64_t late_ns = START_NS + 20 * NS_PER_MS;

	for (uint32_t n = 1; n <= 64; n++) {
		struct account_cpu from = a_cpu(), to = a_cpu();

		from.util_q = FULL_Q;
		for (uint32_t i = 0; i < n; i++) {
			struct account_task task = a_task(1024);

			account_move(&task, &from, &to, START_NS);
		}
		account_cpu(&from, late_ns);
		account_cpu(&to, late_ns);
		assert_in_range(from.util_q, 0, 1); /* rounded */
		assert_int_equal(DECAY_CAP(account_util_q(&to)),
				 n > 1 ? 1024 : DECAY_CAP(decay_toward(FULL_Q, 0, 20 * NS_PER_MS)));
	}
}

/* An idle CPU that nobody looks at hears of it late, and comes out where it would have been. */
TEST(test_move_is_heard_late)
{
	struct account_task task = a_task(400);
	struct account_cpu from = a_cpu(), to = a_cpu();
	uint64_t late_ns = START_NS + 50 * NS_PER_MS;

	from.util_q = DECAY_Q(500);
	account_move(&task, &from, &to, START_NS + 10 * NS_PER_MS);
	account_cpu(&from, late_ns);
	account_cpu(&to, late_ns);
	assert_in_range(DECAY_CAP(from.util_q) + 1,
			DECAY_CAP(decay_toward(DECAY_Q(100), 0, 50 * NS_PER_MS)),
			DECAY_CAP(decay_toward(DECAY_Q(100), 0, 50 * NS_PER_MS)) + 2);
	assert_int_equal(DECAY_CAP(to.util_q),
			 DECAY_CAP(decay_toward(DECAY_Q(400), 0, 50 * NS_PER_MS)));
}

/* Up at once, a quarter of the way down with each sleep; preemption is no sleep. */
TEST(test_memory)
{
	struct account_cpu cpu = a_cpu();
	struct account_task task = { 0 };
	uint64_t now_ns = START_NS;
	uint32_t learned_q;

	account_task_comes(&task, &cpu, 1, now_ns);
	account_switch(&cpu, 1, now_ns);
	account_task_ran(&task, &cpu, now_ns + 4 * NS_PER_MS); /* the first tick that met it */
	now_ns += 100 * NS_PER_MS;
	account_task_leaves(&task, &cpu, cpu.switched_ns, false, now_ns);
	account_switch(&cpu, 2, now_ns);
	assert_int_equal(task.est_q, 0);
	account_task_comes(&task, &cpu, 1, now_ns);
	account_switch(&cpu, 1, now_ns);
	account_task_leaves(&task, &cpu, cpu.switched_ns, true, now_ns);
	account_switch(&cpu, 0, now_ns);
	learned_q = task.est_q;
	assert_in_range(DECAY_CAP(learned_q), 897, 907); /* 1024 · (1 − 2^(−100/32.768)) */

	/* After half a second it would start from nothing, but for that. */
	now_ns += ACCOUNT_MEMORY_NS;
	account_task_comes(&task, &cpu, 1, now_ns);
	account_switch(&cpu, 1, now_ns);
	assert_int_equal(cpu.est_q, learned_q);
	assert_int_equal(DECAY_CAP(task.util_q), 0);
	assert_int_equal(account_need_q(cpu.util_q, cpu.est_q), learned_q);
	account_task_leaves(&task, &cpu, cpu.switched_ns, true, now_ns + 1);
	account_switch(&cpu, 0, now_ns + 1);
	assert_int_equal(cpu.est_q, 0);
	assert_in_range(task.est_q, learned_q / 4 * 3, learned_q / 4 * 3 + DECAY_Q(1));

	/* After a longer one it does. */
	now_ns += ACCOUNT_MEMORY_NS + 2;
	account_task_comes(&task, &cpu, 1, now_ns);
	account_switch(&cpu, 1, now_ns);
	assert_int_equal(cpu.est_q, 0);
	assert_int_equal(task.est_q, 0);
}

/* Half of what the CPU has to spare, as the kernel gives a new task; its age takes that away. */
TEST(test_new_task)
{
	struct account_cpu cpu = a_cpu();
	uint64_t now_ns = START_NS + 100 * NS_PER_MS;

	account_task_comes(NULL, &cpu, 1, now_ns);
	account_new_task(&cpu, 0, now_ns);
	account_switch(&cpu, 1, now_ns);
	assert_int_equal(DECAY_CAP(cpu.est_q), 512);
	account_task_comes(NULL, &cpu, 2, now_ns + DECAY_HALF_LIFE_NS);
	account_new_task(&cpu, 0, now_ns + DECAY_HALF_LIFE_NS);
	assert_in_range(DECAY_CAP(cpu.last_est_q), 767, 768); /* it is half busy */
	cpu.last_est_q = 0;
	account_new_task(&cpu, DECAY_HALF_LIFE_NS, now_ns + DECAY_HALF_LIFE_NS);
	assert_in_range(DECAY_CAP(cpu.last_est_q), 767,
			768); /* its work was that of the new task */
	cpu.level_q = FULL_Q / 2;
	cpu.last_est_q = 0;
	account_new_task(&cpu, DECAY_HALF_LIFE_NS, now_ns + DECAY_HALF_LIFE_NS);
	assert_in_range(DECAY_CAP(cpu.last_est_q), 639, 640);
	cpu.last_est_q = DECAY_Q(700);
	account_new_task(&cpu, DECAY_HALF_LIFE_NS, now_ns + DECAY_HALF_LIFE_NS);
	assert_int_equal(DECAY_CAP(cpu.last_est_q), 700); /* more is known of it */
	cpu.last_est_q = 0;
	account_new_task(&cpu, ACCOUNT_NEW_NS + 1, now_ns + DECAY_HALF_LIFE_NS);
	assert_int_equal(cpu.last_est_q, 0);
}

/* A burst is as long as the CPU has no idle moment, whatever the task is known to need. */
TEST(test_burst_of_known_task)
{
	struct account_task task = a_task(0);
	struct account_cpu cpu = a_cpu();

	task.est_q = DECAY_Q(500);
	account_task_comes(&task, &cpu, 1, START_NS);
	account_switch(&cpu, 1, START_NS);
	account_cpu(&cpu, START_NS + 30 * NS_PER_MS); /* 481 */
	assert_false(account_is_news(account_util_q(&cpu), cpu.est_q));
	assert_int_equal(account_burst_ns(&cpu, START_NS + 30 * NS_PER_MS), 30 * NS_PER_MS);
	account_cpu(&cpu, START_NS + 36 * NS_PER_MS); /* 545 */
	assert_true(account_is_news(account_util_q(&cpu), cpu.est_q));
	assert_int_equal(account_burst_ns(&cpu, START_NS + 36 * NS_PER_MS), 36 * NS_PER_MS);
	account_switch(&cpu, 0, START_NS + 40 * NS_PER_MS);
	assert_int_equal(account_burst_ns(&cpu, START_NS + 41 * NS_PER_MS), 0);
}

/* Processes of 6 ms, one after the other on four CPUs in turn, are as one long task. */
TEST(test_chain)
{
	struct account_task shell = { 0 };
	struct account_cpu cpus[4];
	uint64_t now_ns = START_NS;

	for (int i = 0; i < 4; i++)
		cpus[i] = a_cpu();
	shell.updated_ns = now_ns;
	for (int i = 0; i < 40; i++) {
		struct account_task child = { 0 };
		struct account_cpu *cpu = &cpus[i % 4];

		account_task_hands_on(&shell, &child);
		account_task_comes(&child, cpu, 1, now_ns);
		account_switch(cpu, 1, now_ns);
		now_ns += 6 * NS_PER_MS;
		account_task_ran(&child, cpu, now_ns);
		account_task_hands_on(&child, &shell);
		account_task_leaves(&child, cpu, cpu->switched_ns, true, now_ns);
		account_switch(cpu, 0, now_ns);
		now_ns += 200 * NS_PER_US;
	}
	assert_in_range(DECAY_CAP(shell.est_q), 940, 1024);
	for (int i = 0; i < 4; i++)
		assert_true(DECAY_CAP(cpus[i].util_q) < 450);
}

/* Time that was stolen passes for nobody: neither work nor idleness, and no burst. */
TEST(test_stolen)
{
	uint64_t now_ns = START_NS + 34 * NS_PER_MS;
	struct account_cpu cpu = a_cpu();
	struct account_task task = { 0 };
	uint32_t worked_q;

	account_switch(&cpu, 7, START_NS);
	worked_q = decay_toward(cpu.util_q, FULL_Q, 4 * NS_PER_MS);
	account_task_ran(&task, &cpu, START_NS);
	account_stolen(&cpu, &task, 30 * NS_PER_MS, now_ns);
	account_cpu(&cpu, now_ns);
	account_task_ran(&task, &cpu, now_ns);
	assert_int_equal(account_util_q(&cpu), worked_q);
	assert_int_equal(task.util_q, decay_toward(0, FULL_Q, 4 * NS_PER_MS));
	assert_int_equal(account_burst_ns(&cpu, now_ns), 4 * NS_PER_MS);
	/* Never more than there was, whatever a timer says. */
	account_stolen(&cpu, NULL, NS_PER_S, now_ns + NS_PER_MS);
	account_cpu(&cpu, now_ns + NS_PER_MS);
	assert_int_equal(account_util_q(&cpu), worked_q);
	account_stolen(&cpu, NULL, NS_PER_S, now_ns);
	assert_int_equal(account_burst_ns(&cpu, now_ns + NS_PER_MS), 4 * NS_PER_MS);
}
