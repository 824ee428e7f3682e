// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who wakes whom, on the kernel that runs here: each way to hand over, by tests/lab/chainload, and
 * what is no chain.
 */
#include "native.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/tracer_private.h"
#include "work.h"

#define LOOKS	500
#define LOOK_US 10000

static pid_t start(const char *mode)
{
	char path[256];
	const char *build = getenv("WAKEGOV_BUILD");
	const char *argv[] = { path, mode, "30", NULL };

	snprintf(path, sizeof(path), "%s/tests/lab/chainload", build ? build : ".");
	return work_exec(argv);
}

/*
 * Follows chains also where other work keeps all CPUs full: of one without a domain it is not known
 * that chains could ask for no more.
 */
static void follow(const struct native *native)
{
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		native->tracer->cpus[cpu].domain = WAKEGOV_NO_DOMAIN;
	tracer_follow_chains(native->tracer, true);
}

/* What the kernel side has of a thread. */
static bool read_chain(const struct native *native, uint32_t pid, struct chain_task *ret)
{
	uint32_t index = pid % WAKEGOV_CHAIN_PAIRS;
	struct wakegov_chain_pair pair;

	if (bpf_map_lookup_elem(native->tracer->programs.maps[MAP_CHAINS], &index, &pair))
		return false;
	for (int i = 0; i < 2; i++) {
		if (pair.pids[i] != pid)
			continue;
		*ret = pair.chains[i];
		return true;
	}
	return false;
}

/* Looks at the chains of the process's threads that are known. */
static void look(const struct native *native, pid_t process,
		 void (*see)(uint32_t pid, const struct chain_task *chain, void *userdata),
		 void *userdata)
{
	char path[64];
	struct dirent *entry;
	struct chain_task chain;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	threads = opendir(path);
	while (threads && (entry = readdir(threads)))
		if (read_chain(native, atoi(entry->d_name), &chain))
			see(atoi(entry->d_name), &chain, userdata);
	if (threads)
		closedir(threads);
}

/* The highest share of a thread that has a waker, 0 to 1024. */
static void see_share(uint32_t pid, const struct chain_task *chain, void *userdata)
{
	int *most = userdata, cap = DECAY_CAP(chain->util_q);

	if (chain->waker && cap > *most)
		*most = cap;
}

/* The highest share within some seconds, or the first that is enough; -1: none has a waker. */
static int find_in(const struct native *native, const char *mode, pid_t process, int enough)
{
	int most = -1;

	for (int i = 0; i < LOOKS && most < enough; i++) {
		look(native, process, see_share, &most);
		usleep(LOOK_US);
	}
	work_end(process);
	print_message("%s: %d of 1024\n", mode, most);
	return most;
}

static int find(const struct native *native, const char *mode, int enough)
{
	return find_in(native, mode, start(mode), enough);
}

/* A shell's work: children that live for a moment, one after the other; who waits, does so first.
 */
static pid_t start_children(uint32_t wait_us)
{
	pid_t pid = work_start(), child;

	if (pid)
		return pid;
	for (;;) {
		child = fork();
		if (!child) {
			uint64_t end_ns;

			if (wait_us)
				usleep(wait_us);
			end_ns = native_now_ns() + 2 * NS_PER_MS;
			while (native_now_ns() < end_ns)
				;
			_exit(EXIT_SUCCESS);
		}
		waitpid(child, NULL, 0);
	}
}

/* A child goes on where its parent is, which waits for its end. */
static void test_children(void **state)
{
	struct native *native = *state;

	follow(native);
	assert_in_range(find_in(native, "children", start_children(0), 900), 900, 1024);
	/* With a wait of its own a child has another on-time than its parent. */
	assert_in_range(find_in(native, "children that wait", start_children(200), 700), 700, 1000);
	tracer_follow_chains(native->tracer, false);
}

static void test_hands_over(void **state)
{
	static const char *const modes[] = { "token",	"futex", "pipe", "unix",
					     "eventfd", "udp",	 "tcp" };
	struct native *native = *state;

	follow(native);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		assert_in_range(find(native, modes[i], 900), 900, 1024);
	tracer_follow_chains(native->tracer, false);
}

struct wakers {
	uint32_t pids[3], of[3]; /* threads, and who woke each when it was last looked at */
	uint32_t n, n_looks, n_new;
};

static void see_waker(uint32_t pid, const struct chain_task *chain, void *userdata)
{
	struct wakers *wakers = userdata;
	uint32_t i = 0;

	while (i < wakers->n && wakers->pids[i] != pid)
		i++;
	if (i == 3)
		return;
	if (i < wakers->n)
		wakers->n_new += chain->waker && chain->waker != wakers->of[i];
	else
		wakers->n++;
	wakers->pids[i] = pid;
	wakers->of[i] = chain->waker;
	wakers->n_looks++;
}

/*
 * A task that its own timer wakes was woken by no task, also where another one is running when the
 * timer expires.
 */
static void test_timers(void **state)
{
	struct native *native = *state;
	struct wakers wakers = { 0 };
	pid_t timers, others[2];

	follow(native);
	timers = start("timers");
	for (uint32_t i = 0; i < 2; i++) {
		others[i] = work_start();
		while (!others[i])
			;
	}
	usleep(10 * LOOK_US);
	for (int i = 0; i < LOOKS / 2; i++) {
		look(native, timers, see_waker, &wakers);
		usleep(LOOK_US);
	}
	for (uint32_t i = 0; i < 2; i++)
		work_end(others[i]);
	work_end(timers);
	print_message("timers: %u looks, %u wakers\n", wakers.n_looks, wakers.n_new);
	assert_true(wakers.n_looks > LOOKS / 4);
	/* A busy kernel has a task wait for a page or a lock now and then. */
	assert_true(wakers.n_new < wakers.n_looks / 50);
	tracer_follow_chains(native->tracer, false);
}

/* A child with that number that computes; 0: another has it. */
static pid_t start_as(pid_t number)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	pid_t pid;

	assert_non_null(last);
	fprintf(last, "%d", number - 1);
	fclose(last);
	pid = work_start();
	while (!pid)
		;
	if (pid == number)
		return pid;
	work_end(pid);
	return 0;
}

static pid_t start_with_remainder(pid_t remainder)
{
	for (int i = 0; i < 1000; i++) {
		pid_t number = remainder + (1 + i % 15) * WAKEGOV_CHAIN_PAIRS;
		pid_t pid = kill(number, 0) ? start_as(number) : 0;

		if (pid)
			return pid;
	}
	fail_msg("no number with the remainder %d is free", remainder);
	return 0;
}

static bool has_chain(const struct native *native, pid_t pid, bool expected)
{
	struct chain_task chain;

	for (int i = 0; i < LOOKS && read_chain(native, pid, &chain) != expected; i++)
		usleep(LOOK_US);
	return read_chain(native, pid, &chain);
}

/* Of three tasks at work that share a pair of places the third has one when another has ended. */
static void test_places(void **state)
{
	struct native *native = *state;
	pid_t pids[3];

	follow(native);
	for (int i = 0; i < 3; i++) {
		pids[i] = start_with_remainder(1000);
		assert_int_equal(has_chain(native, pids[i], i < 2), i < 2);
	}
	work_end(pids[0]);
	assert_true(has_chain(native, pids[2], true));
	assert_false(has_chain(native, pids[0], false));
	work_end(pids[1]);
	work_end(pids[2]);
	tracer_follow_chains(native->tracer, false);
}

static void see_update(uint32_t pid, const struct chain_task *chain, void *userdata)
{
	struct chain_task *last = userdata;

	if (chain->updated_ns > last->updated_ns)
		*last = *chain;
}

/* Of the thread of the process whose chain changed last. */
static struct chain_task last_change(const struct native *native, pid_t process)
{
	struct chain_task last = { 0 };

	look(native, process, see_update, &last);
	return last;
}

/* Chains are not followed for longer than a pause of chains that go on as they are. */
static bool is_saturated(const struct native *native)
{
	const volatile struct wakegov__bss *shared = native->tracer->programs.bss;
	uint32_t generation = shared->settings.chains;

	for (int i = 0; i < 10; i++) {
		if (shared->followed_chains || shared->settings.chains != generation)
			return false;
		usleep(LOOK_US);
	}
	return true;
}

static void wait_until_saturated(const struct native *native, bool saturated)
{
	bool is = is_saturated(native);

	for (int ms = 0; ms < PATIENCE_MS && is != saturated; ms += 10) {
		usleep(10000);
		is = is_saturated(native);
	}
	assert_int_equal(is, saturated);
}

/* While all CPUs are full chains stand still; then they go on with what they had. */
static void test_saturation(void **state)
{
	struct native *native = *state;
	const volatile struct wakegov_settings *settings = &native->tracer->programs.bss->settings;
	struct wakegov_cpu *cpus = native->tracer->cpus;
	struct chain_task before, after;
	pid_t token, spinners[TOPOLOGY_CPUS_MAX];
	uint32_t generation;

	tracer_follow_chains(native->tracer, true);
	cpus[0].domain = WAKEGOV_NO_DOMAIN; /* never full, whatever else the machine does */
	token = start("token");
	for (int i = 0; i < LOOKS && last_change(native, token).util_q < DECAY_Q(800); i++)
		usleep(LOOK_US);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		cpus[cpu].load.capacity = 1; /* full by whatever it does */
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		spinners[cpu] = work_spin(cpu);
	cpus[0].domain = NATIVE_CPU;
	wait_until_saturated(native, true);
	generation = settings->chains;
	before = last_change(native, token);
	usleep(10 * LOOK_US);
	after = last_change(native, token);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(settings->chains, generation);
	cpus[0].domain = WAKEGOV_NO_DOMAIN;
	wait_until_saturated(native, false);
	assert_true(settings->chains > generation);
	for (int i = 0; i < LOOKS && after.generation <= generation; i++) {
		usleep(LOOK_US);
		after = last_change(native, token);
	}
	assert_true(after.generation > generation);
	assert_true(after.util_q >= before.util_q / 16 * 15);
	for (uint32_t cpu = 0; cpu < native->topology->n_cpus; cpu++)
		work_end(spinners[cpu]);
	work_end(token);
	tracer_follow_chains(native->tracer, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hands_over), cmocka_unit_test(test_children),
		cmocka_unit_test(test_timers),	   cmocka_unit_test(test_places),
		cmocka_unit_test(test_saturation),
	};

	return native_run(tests);
}
