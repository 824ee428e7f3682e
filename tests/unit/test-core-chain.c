// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that work for each other: what share each has, by hand-made schedules. */
#include "test-core.h"

#include "wakegov/chain.h"

#define US	 1000ULL
#define MS	 1000000ULL
#define PERMILLE (CHAIN_ONE / 1000)

struct scene {
	uint64_t now_ns;
	uint32_t level; /* of all CPUs */
};

static struct chain_task new_task(const struct scene *scene)
{
	struct chain_task task = { 0 };

	chain_start(&task, 1, scene->now_ns, scene->level);
	return task;
}

/* One that has always slept until now. */
static struct chain_task new_sleeper(const struct scene *scene)
{
	struct chain_task task = new_task(scene);

	chain_sleep(&task, scene->now_ns, scene->level);
	return task;
}

static void go_to_sleep(const struct scene *scene, struct chain_task *task)
{
	chain_sleep(task, scene->now_ns, scene->level);
}

/* By a waker, or by a timer: NULL. */
static void wake(const struct scene *scene, struct chain_task *task, const struct chain_task *waker)
{
	if (waker && !chain_wake(task, waker->since.at_ns, 7))
		chain_follow(task, waker, scene->level);
	chain_come(task, scene->now_ns, scene->level);
}

static uint32_t permille(const struct scene *scene, struct chain_task *task)
{
	if (!task->slept_ns)
		chain_was_on(task, scene->now_ns, scene->level);
	return (task->util_q + PERMILLE / 2) / PERMILLE;
}

/* The one hands over to the other, which it has woken. */
static void hand_over(struct scene *scene, struct chain_task *from, struct chain_task *to,
		      uint64_t worked_ns)
{
	scene->now_ns += worked_ns;
	wake(scene, to, from);
	scene->now_ns += US;
	go_to_sleep(scene, from);
}

/* Two tasks in turn are one that always runs: 1 − 2^(−t / half-life), at a slow clock as much
 * later. */
TEST(test_pair)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task client = new_task(&scene), server = new_sleeper(&scene);
	uint64_t began_ns = scene.now_ns;

	while (scene.now_ns < began_ns + DECAY_HALF_LIFE_NS) {
		hand_over(&scene, &client, &server, 50 * US);
		hand_over(&scene, &server, &client, 20 * US);
	}
	assert_in_range(permille(&scene, &client), 490, 510);
	assert_in_range(permille(&scene, &server), 490, 512);
	scene.level = 256;
	began_ns = scene.now_ns;
	while (scene.now_ns < began_ns + 4 * DECAY_HALF_LIFE_NS) {
		hand_over(&scene, &client, &server, 200 * US);
		hand_over(&scene, &server, &client, 80 * US);
	}
	assert_in_range(permille(&scene, &client), 735, 765);
	assert_in_range(permille(&scene, &server), 735, 765);
	assert_int_not_equal(client.waker.pid, 0);
}

/* A request by a timer: both have the share that the work takes of a CPU, at any speed. */
static uint32_t share_of_requests(uint32_t level, uint64_t work_ns, uint64_t period_ns,
				  struct chain_task *client, struct chain_task *server)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = level };
	uint64_t sum = 0;
	int n = 200;

	*client = new_task(&scene);
	*server = new_sleeper(&scene);
	for (int i = 0; i < n; i++) {
		uint64_t began_ns = scene.now_ns;

		hand_over(&scene, client, server, work_ns / 8 * 1024 / level);
		hand_over(&scene, server, client, work_ns / 8 * 7 * 1024 / level);
		go_to_sleep(&scene, client);
		scene.now_ns = began_ns + period_ns;
		wake(&scene, client, NULL);
		if (i >= n / 2)
			sum += permille(&scene, client);
	}
	return sum / (n / 2);
}

TEST(test_requests)
{
	static const uint32_t levels[] = { 1024, 700, 512 };
	struct chain_task client, server;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		/* at the end of the wait, where it is least: 4 of 12 ms are 333 on average */
		assert_in_range(share_of_requests(levels[i], 4 * MS, 12 * MS, &client, &server),
				270, 360);
		assert_in_range(server.util_q / PERMILLE, 300, 420);
	}
}

/* A dispatcher works for a twentieth of the time and wakes forty: none is hotter than that. */
TEST(test_dispatcher)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task dispatcher = new_task(&scene), workers[40];

	for (int i = 0; i < 40; i++)
		workers[i] = new_sleeper(&scene);
	for (int round = 0; round < 400; round++) {
		struct chain_task *worker = &workers[round % 40];

		scene.now_ns += 500 * US;
		wake(&scene, worker, &dispatcher);
		go_to_sleep(&scene, &dispatcher);
		scene.now_ns += 100 * US;
		go_to_sleep(&scene, worker);
		scene.now_ns += 9400 * US;
		wake(&scene, &dispatcher, NULL);
	}
	assert_in_range(permille(&scene, &dispatcher), 40, 60);
	for (int i = 0; i < 40; i++)
		assert_in_range(workers[i].util_q / PERMILLE, 0, 60);
}

/* One that waits for another, which waits for a disk, loses no more than a slow clock takes. */
TEST(test_lost)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 256 };
	struct chain_task client = new_sleeper(&scene), server = client;

	scene.now_ns += MS;
	wake(&scene, &server, NULL);
	scene.now_ns += 8 * MS;
	chain_was_on(&server, scene.now_ns, scene.level);
	wake(&scene, &client, &server);
	assert_int_equal(client.lost_ns, 6 * MS);
}

/* What is inherited goes towards the waker's share, and a long sleep has all of it. */
TEST(test_long_sleep)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task waker = new_task(&scene), sleeper = new_sleeper(&scene);

	for (int i = 0; i < 60; i++) {
		scene.now_ns += 4 * MS;
		go_to_sleep(&scene, &waker);
		scene.now_ns += 6 * MS;
		wake(&scene, &waker, NULL);
	}
	wake(&scene, &sleeper, &waker);
	assert_in_range(permille(&scene, &sleeper), 340, 460);
	assert_in_range(permille(&scene, &waker), 340, 460);
}

/* No more than as if it had been on for its whole sleep, whatever the waker has. */
TEST(test_bounds)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task waker = new_task(&scene), sleeper;

	scene.now_ns += 1000 * MS;
	go_to_sleep(&scene, &waker);
	sleeper = new_sleeper(&scene);
	scene.now_ns += 3 * MS;
	wake(&scene, &waker, NULL);
	wake(&scene, &sleeper, &waker);
	assert_in_range(permille(&scene, &waker), 930, 940);
	assert_in_range(permille(&scene, &sleeper), 0, 63); /* 1 − 2^(−3 / 32) */
}

/*
 * One works, wakes another now and then, and that one looks after a while what has become of it: it
 * is on all the while, but of several such waits after a wake-up only in the first. Where the
 * worker slept meanwhile, the wait is external.
 */
TEST(test_looks)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task worker = new_task(&scene), looker = new_sleeper(&scene);

	for (int i = 0; i < 200; i++) {
		wake(&scene, &looker, &worker);
		for (int wait = 0; wait < 1 + i % 2; wait++) {
			go_to_sleep(&scene, &looker);
			scene.now_ns += MS;
			assert_int_equal(chain_credit_waker(&looker, worker.since.at_ns), !wait);
			wake(&scene, &looker, NULL);
		}
		go_to_sleep(&scene, &looker);
		scene.now_ns += MS;
	}
	/* a fifth of the time is a second wait */
	assert_in_range(permille(&scene, &looker), 770, 830);

	wake(&scene, &looker, &worker);
	go_to_sleep(&scene, &looker);
	go_to_sleep(&scene, &worker);
	scene.now_ns += MS;
	wake(&scene, &worker, NULL);
	scene.now_ns += MS;
	assert_false(chain_credit_waker(&looker, worker.since.at_ns));
}

/*
 * Chains are not followed for a while, and their clock stands still: a task goes on with what it
 * had, and wakes one that slept meanwhile. After a second in which it was not seen nothing is
 * known of it.
 */
TEST(test_followed_again)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task client = new_task(&scene), server = new_sleeper(&scene);

	for (int i = 0; i < 100; i++) {
		hand_over(&scene, &client, &server, MS);
		hand_over(&scene, &server, &client, MS);
	}
	assert_in_range(permille(&scene, &client), 980, 1000);
	chain_start(&client, 2, scene.now_ns, scene.level);
	chain_start(&server, 2, scene.now_ns, scene.level);
	assert_int_equal(server.waker.pid, 7);
	assert_in_range(permille(&scene, &client), 980, 1000);
	hand_over(&scene, &client, &server, MS);
	hand_over(&scene, &server, &client, MS);
	assert_in_range(permille(&scene, &client), 980, 1000);

	chain_start(&client, 4, scene.now_ns, scene.level);
	assert_in_range(permille(&scene, &client), 980, 1000);

	scene.now_ns += 1000 * MS;
	chain_start(&client, 6, scene.now_ns, scene.level);
	assert_int_equal(client.waker.pid, 0);
	assert_int_equal(permille(&scene, &client), 0);
}

/* As the kernel side has a waker, and wakes who may have slept since before. */
static void wake_unseen(const struct scene *scene, struct chain_task *task,
			struct chain_task *waker, uint32_t generation)
{
	chain_know(waker, generation, 1, scene->now_ns, scene->level);
	if (task->generation == generation || chain_know_asleep(task, generation, 1))
		wake(scene, task, waker);
	else
		chain_know(task, generation, 1, scene->now_ns, scene->level);
}

/*
 * Two in turn, of whom one works and the other sleeps each time that chains are followed again, are
 * on all the while: as well as if the one that works had only just begun, of whom less is known.
 */
TEST(test_pauses_between_turns)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task tasks[] = { new_task(&scene), new_sleeper(&scene) };

	for (uint32_t turn = 0; turn < 400; turn++) {
		struct chain_task *works = &tasks[turn % 2], *sleeps = &tasks[1 - turn % 2];

		scene.now_ns += 3 * MS;
		wake_unseen(&scene, sleeps, works, 2 + turn / 3);
		assert_int_equal(sleeps->waker.pid, 7);
		go_to_sleep(&scene, works);
	}
	assert_in_range(permille(&scene, &tasks[0]), 980, 1000);
	assert_in_range(tasks[1].util_q / PERMILLE, 980, 1000);
}

/*
 * Of one that was never seen, or has ended, or slept when longer than a pause began, it is not
 * known that it slept all the while; of the last one it is not even known that it slept.
 */
TEST(test_unknown_sleepers)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task unseen = { 0 }, ended = new_sleeper(&scene), before, after;

	ended.flags = CHAIN_EXITED;
	before = after = new_task(&scene);
	scene.now_ns += 32 * MS;
	go_to_sleep(&scene, &before);
	after = before;
	assert_false(chain_know_asleep(&unseen, 3, 0));
	assert_false(chain_know_asleep(&ended, 3, 1));
	assert_false(chain_know_asleep(&before, 3, 2));
	assert_true(chain_know_asleep(&after, 3, 1));

	scene.now_ns += 32 * MS;
	assert_false(chain_know(&before, 3, 2, scene.now_ns, scene.level));
	assert_in_range(permille(&scene, &before), 490, 510);
	assert_true(chain_know(&after, 3, 2, scene.now_ns, scene.level));
	assert_int_not_equal(after.slept_ns, 0);
	assert_false(chain_know(&after, 4, 2, scene.now_ns, scene.level));
	assert_in_range(permille(&scene, &after), 240, 260); /* an external wait */
}

/* A need is compared again when it is higher, or after a while, or nothing was compared before. */
TEST(test_compared)
{
	struct chain_compared compared = { 0 };

	assert_false(chain_is_compared(&compared, 1, 2 * MS, MS));
	chain_compare(&compared, DECAY_Q(480), MS);
	assert_true(chain_is_compared(&compared, DECAY_Q(480), 2 * MS, 3 * MS));
	assert_true(chain_is_compared(&compared, DECAY_Q(240), 2 * MS, 3 * MS));
	assert_true(chain_is_compared(&compared, DECAY_Q(511), 2 * MS, 3 * MS));
	assert_false(chain_is_compared(&compared, DECAY_Q(513), 2 * MS, 3 * MS));
	assert_false(chain_is_compared(&compared, DECAY_Q(480), 2 * MS, 3 * MS + 1));
	/* near by either measure */
	assert_true(chain_compared_q(DECAY_Q(511), 1024) <= DECAY_Q(480));
	assert_true(chain_compared_q(DECAY_Q(513), 1024) > DECAY_Q(480));
}

/* The mean utilisation of a task that works a third of each period, where it is followed in part.
 */
static uint32_t mean_of_a_third(uint64_t period_us, uint64_t followed_us, uint64_t cycle_us)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task task = new_task(&scene);
	uint64_t third_us = period_us / 3, sum = 0;
	uint32_t generation = 1, n = 0;

	for (uint64_t us = 0; us < 8000000; us += 100) {
		uint64_t past_us = us % period_us;

		if (us % cycle_us >= followed_us)
			continue;
		scene.now_ns += 100 * US;
		generation = us / cycle_us + 2;
		if (past_us && past_us != third_us)
			continue;
		if (task.generation != generation)
			chain_start(&task, generation, scene.now_ns, scene.level);
		if (past_us == 0)
			wake(&scene, &task, NULL);
		if (past_us != third_us)
			continue;
		go_to_sleep(&scene, &task);
		if (us < 4000000)
			continue;
		sum += task.util_q / PERMILLE;
		n++;
	}
	return sum / n;
}

/*
 * Neither its work nor its waits count while it is not followed, and a wait over the end of such a
 * time does: else the third of a task with a period of 6 ms is 437 of 1000.
 */
TEST(test_followed_in_part)
{
	static const uint64_t periods_us[] = { 300, 3000, 6000 };

	for (size_t i = 0; i < sizeof(periods_us) / sizeof(periods_us[0]); i++) {
		uint32_t whole = mean_of_a_third(periods_us[i], 8000, 8000);
		uint32_t part = mean_of_a_third(periods_us[i], 8000, 40768);

		print_message("%u of 1000, followed in part %u\n", whole, part);
		assert_in_range(whole, 270, 345);
		assert_in_range(part, 270, 345);
	}
}

/*
 * A shell waits for one child after the other, each of which waits for a page or a file several
 * times. Only the waits are external: 200 us of each 4.2 ms.
 */
static void run_children(struct scene *scene, struct chain_task *shell, int n)
{
	for (int i = 0; i < n; i++) {
		struct chain_task child;

		scene->now_ns += 300 * US;
		chain_was_on(shell, scene->now_ns, scene->level);
		chain_fork(shell, &child, 7);
		go_to_sleep(scene, shell);
		for (int wait = 0; wait < 4; wait++) {
			scene->now_ns += 800 * US * 1024 / scene->level;
			go_to_sleep(scene, &child);
			scene->now_ns += 50 * US;
			wake(scene, &child, NULL);
		}
		scene->now_ns += 500 * US * 1024 / scene->level;
		wake(scene, shell, &child);
	}
}

TEST(test_children)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task shell = new_task(&scene);

	run_children(&scene, &shell, 12); /* 50 ms */
	assert_in_range(permille(&scene, &shell), 560, 690);
	run_children(&scene, &shell, 60);
	assert_in_range(permille(&scene, &shell), 920, 975);

	shell = new_task(&scene);
	scene.level = 256;
	run_children(&scene, &shell, 40); /* 630 ms */
	/* a wait of 200 us catches up with 800: 3.7 of 4.7 ms */
	assert_in_range(permille(&scene, &shell), 770, 830);
}

/* A wait that ends while its waker's clock seems to be behind is none. */
TEST(test_clock_goes_back)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task task = new_task(&scene);

	scene.now_ns += 10 * MS;
	go_to_sleep(&scene, &task);
	scene.now_ns -= US;
	wake(&scene, &task, NULL);
	assert_in_range(permille(&scene, &task), 185, 200);
	assert_int_equal(task.slept_ns, 0);
}

/* An event's work goes on where chains are followed again, and its task's end does not. */
TEST(test_input)
{
	struct scene scene = { .now_ns = 1000 * MS, .level = 1024 };
	struct chain_task task = new_task(&scene);

	task.flags = CHAIN_INPUT | CHAIN_EXITED;
	task.input_ns = scene.now_ns + 100 * MS;
	chain_start(&task, task.generation + 1, scene.now_ns, scene.level);
	assert_int_equal(task.flags, CHAIN_INPUT);
	assert_int_equal(task.input_ns, 1100 * MS);
}
