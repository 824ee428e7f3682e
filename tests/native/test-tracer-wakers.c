// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who wakes whom, on the kernel that runs here: for each mode of tests/lab/chainload, what share of
 * a CPU its tasks have by those who work for them. In the lab, for other kernels:
 * tests/lab/lab run -- build/tests/native/test-tracer-wakers
 */
#include "native.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chains.h"
#include "work.h"

#define THREADS_MAX 16
#define SETTLE_US   400000 /* twelve half-lives */
#define LOOKS	    40
#define LOOK_US	    10000
#define TRIES	    8 /* beside other work */
#define SKIPPED	    77

/* A way to wake, or what only looks like one. */
struct way {
	const char *mode;
	int least, most;    /* of 1024: the share of the task to whom others give most */
	int given;	    /* what they may give it of this; 0: all */
	const char *worker; /* what the comm of one that works for it begins with */
	bool realtime;	    /* several wait for a CPU at a time */
	bool at_once;	    /* one look says it */
	bool settled;	    /* it is taken for one that does not change, and followed in part */
};

static const struct way ways[] = {
	/* The one works, or the other. */
	{ "token", 900, 1024 },
	{ "futex", 900, 1024 },
	{ "looking", 950, 1024, .at_once = true },
	{ "long-turns", 940, 1024, .at_once = true, .settled = true },
	{ "requeue", 900, 1024 },
	{ "mutex", 900, 1024 },
	{ "pi-mutex", 900, 1024 },
	{ "signal", 900, 1024 },
	{ "pipe", 900, 1024 },
	{ "unix", 900, 1024 },
	{ "eventfd", 900, 1024 },
	{ "epoll", 900, 1024 },
	{ "udp", 900, 1024 },
	{ "tcp", 900, 1024 },
	{ "veth", 900, 1024 },
	{ "napi-thread", 900, 1024, 0, "napi/here" },
	{ "wait4", 900, 1024 },
	{ "vfork", 900, 1024 },
	{ "io_uring", 900, 1024 },
	{ "aio-poll", 900, 1024 },
	{ "fuse", 900, 1024, 0, "chainload" },
	/* Some requests end in an interrupt, or by a worker that no tick has met yet. */
	{ "fsync", 700, 1024, 0, "jbd2/loop" },
	{ "nbd", 600, 1024, 0, "kworker" },
	{ "aio-loop", 600, 1024 },
	{ "io_uring-workers", 500, 1024, 0, "iou-wrk" },
	{ "io_uring-sqpoll", 500, 1024, 0, "iou-sqp" },
	/* A program is looked for, and its pages, which can be on another machine. */
	{ "posix_spawn", 600, 1024 },
	/* A part of the time they wait for a timer. */
	{ "late-child", 400, 1000 },
	{ "rpc", 15, 1024 },
	{ "dispatcher", 0, 300, .realtime = true },
	{ "compositor", 15, 400, .realtime = true },
	/* It waits for one that does not wait for it. */
	{ "logger", 900, 1024 },
	/* No task works for them. */
	{ "timers", 0, 1024, 20 },
	{ "timers-crowded", 0, 1024, 20 },
	{ "disk", 0, 1024, 20 },
	{ "paced-packets", 0, 1024, 20 },
	{ "spinner", 0, 1024, 20 },
};

struct thread {
	uint32_t pid;
	uint32_t sum;		     /* of its share at each look, where it has a waker */
	uint64_t began_ns, ran_ns;   /* the first look, and how long it had a CPU until then */
	uint64_t end_ns, end_ran_ns; /* of the last one */
	uint64_t updated_ns;
	bool on; /* at work since the first look */
};

struct seen {
	pid_t process;
	struct thread threads[THREADS_MAX];
	uint32_t n;
	const char *worker; /* see struct way */
	bool worker_seen;
};

/* How long a thread had a CPU, or waited for one. */
static uint64_t ran_ns(pid_t process, uint32_t pid)
{
	unsigned long long ran = 0, waited = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", process, pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &ran, &waited) != 2)
		ran = 0;
	fclose(file);
	return ran + waited;
}

static bool is_worker(uint32_t pid, const char *comm)
{
	char path[64], line[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	return !strncmp(line, comm, strlen(comm));
}

static void see(uint32_t pid, const struct chain_task *chain, void *userdata)
{
	struct seen *seen = userdata;
	struct thread *thread = seen->threads;

	while (thread < seen->threads + seen->n && thread->pid != pid)
		thread++;
	if (thread == seen->threads + THREADS_MAX)
		return;
	thread->end_ns = native_now_ns();
	thread->end_ran_ns = ran_ns(seen->process, pid);
	if (thread == seen->threads + seen->n) {
		seen->n++;
		thread->pid = pid;
		thread->began_ns = thread->end_ns;
		thread->ran_ns = thread->end_ran_ns;
		thread->updated_ns = chain->updated_ns;
	}
	if (chain->updated_ns != thread->updated_ns)
		thread->on = true;
	if (!chain->waker.pid)
		return;
	thread->sum += DECAY_CAP(chain->util_q);
	if (seen->worker && is_worker(chain->waker.pid, seen->worker))
		seen->worker_seen = true;
}

/* What it has by itself, of 1024. */
static int own_share(const struct thread *thread)
{
	uint64_t ran = thread->end_ran_ns - thread->ran_ns;

	return thread->end_ns > thread->began_ns ? ran * 1024 / (thread->end_ns - thread->began_ns)
						 : 0;
}

static bool look(const struct native *native, const struct way *way, pid_t pid)
{
	struct seen seen = { .worker = way->worker, .process = pid };
	int share = 0, given = -1024;

	for (int i = 0; i < LOOKS; i++) {
		chains_look(native, pid, see, &seen);
		chains_settle(native, way->settled);
		usleep(LOOK_US);
	}
	for (uint32_t i = 0; i < seen.n; i++) {
		int has = seen.threads[i].sum / LOOKS, own = own_share(&seen.threads[i]);

		if (!seen.threads[i].on || has - own <= given)
			continue;
		share = has > own ? has : own;
		given = has - own;
	}
	print_message("%s: %d of 1024, given %d%s%s\n", way->mode, share, given,
		      seen.worker_seen ? ", also by " : "", seen.worker_seen ? way->worker : "");
	if (!seen.n || share < way->least || share > way->most)
		return false;
	return (!way->given || given <= way->given) && (!way->worker || seen.worker_seen);
}

/* Returns whether it passes, as where this kernel lacks it. */
static bool passes(const struct native *native, const struct way *way)
{
	pid_t pid = chains_start(way->mode, way->realtime);
	bool passed = false;
	int status;

	for (int i = 0; i < SETTLE_US / LOOK_US; i++) {
		chains_settle(native, false);
		usleep(LOOK_US);
	}
	for (int i = 0; i < (way->at_once ? 1 : TRIES) && !passed; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			print_message("%s: not here\n", way->mode);
			return WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
		}
		passed = look(native, way, pid);
	}
	work_end(pid);
	return passed;
}

NATIVE_TEST(test_ways)
{
	struct native *native = *state;
	uint32_t n_wrong = 0;

	chains_follow(native);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (passes(native, &ways[i]))
			continue;
		print_error("%s: not within %d and %d\n", ways[i].mode, ways[i].least,
			    ways[i].most);
		n_wrong++;
	}
	tracer_follow_chains(native->tracer, false);
	assert_int_equal(n_wrong, 0);
}
