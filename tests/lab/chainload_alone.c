// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of which some or all do not wait for each other: their timers, or a kernel's, end their
 * waits.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chainload.h"

#define MS	   1000000ULL
#define TIMED_WORK 400000 /* of a period */
#define RPC_WORK   900000 /* of a request */
#define RPC_NS	   (12 * MS)
#define FRAME_NS   (16 * MS)

static void by_timer(uint32_t me)
{
	chainload_wait(me ? 11 * MS : 8 * MS);
	chainload_compute(TIMED_WORK);
}

/* A client with a timer, and its server. */
static void by_request(uint32_t me)
{
	char message = 0;

	if (me) {
		chainload_transfer(chainload_ends[1][0], &message, 1, false);
		chainload_compute(RPC_WORK);
		chainload_transfer(chainload_ends[1][1], &message, 1, true);
		return;
	}
	chainload_wait(RPC_NS);
	chainload_compute(CHAINLOAD_WORK);
	chainload_transfer(chainload_ends[0][1], &message, 1, true);
	chainload_transfer(chainload_ends[0][0], &message, 1, false);
}

static int events[CHAINLOAD_TASKS];

static void make_events(void)
{
	for (int i = 0; i < CHAINLOAD_TASKS; i++)
		events[i] = eventfd(0, 0);
	chainload_connect_pipes();
}

static void notify(uint32_t task)
{
	uint64_t one = 1;

	chainload_transfer(events[task], &one, sizeof(one), true);
}

static void wait_for_notice(uint32_t me)
{
	uint64_t n;

	chainload_transfer(events[me], &n, sizeof(n), false);
}

/* One that works for 1 of each 16 ms and then wakes eight others, each for half of one. */
static void by_dispatcher(uint32_t me)
{
	if (me) {
		wait_for_notice(me);
		chainload_work(MS / 2);
		return;
	}
	chainload_wait(FRAME_NS);
	chainload_work(MS);
	for (uint32_t i = 1; i < CHAINLOAD_TASKS; i++)
		notify(i);
}

/* Each frame a compositor draws for 2 ms what three clients gave it, and tells them; each draws 1
 * ms. */
static void by_compositor(uint32_t me)
{
	char frame[3];

	if (me) {
		wait_for_notice(me);
		chainload_work(MS);
		chainload_transfer(chainload_ends[0][1], frame, 1, true);
		return;
	}
	chainload_wait(FRAME_NS);
	for (uint32_t i = 1; i <= 3; i++)
		notify(i);
	chainload_work(2 * MS);
	chainload_transfer(chainload_ends[1][0], frame, 3, false);
}

/* One looks all the time for what the other does by its timer, and then wakes a third. */
static void by_spinning(uint32_t me)
{
	static uint32_t done;

	if (me == 0) {
		chainload_wait(FRAME_NS);
		chainload_work(2 * MS);
		__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	} else {
		uint32_t seen = __atomic_load_n(&done, __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == seen)
			;
	}
}

/* One computes, and has a line logged each 5 ms, for which it does not wait. */
static void by_logger(uint32_t me)
{
	if (me) {
		wait_for_notice(me);
		chainload_work(MS / 4);
		return;
	}
	chainload_work(5 * MS);
	notify(1);
}

/* Packets leave some ms after they were written, when a timer of the kernel allows. */
static void connect_paced(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	uint32_t bytes_per_s = 2000000;
	int listening = socket(AF_INET, SOCK_STREAM, 0), a = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t bytes = sizeof(address);

	if (bind(listening, (void *)&address, bytes) ||
	    getsockname(listening, (void *)&address, &bytes) || listen(listening, 1) ||
	    setsockopt(a, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof(bytes_per_s)) ||
	    connect(a, (void *)&address, sizeof(address)))
		chainload_skip("paced TCP");
	chainload_ends[0][1] = a;
	chainload_ends[1][0] = accept(listening, NULL, NULL);
}

static void by_paced_packets(uint32_t me)
{
	char message[32000] = { 0 };

	if (me) {
		if (read(chainload_ends[1][0], message, sizeof(message)) <= 0)
			exit(EXIT_FAILURE);
		chainload_compute(CHAINLOAD_WORK);
		return;
	}
	chainload_wait(2 * FRAME_NS);
	chainload_transfer(chainload_ends[0][1], message, sizeof(message), true);
}

const struct chainload_mode chainload_alone[] = {
	{ "timers", by_timer },
	{ "timers-crowded", by_timer, .crowded = true },
	{ "rpc", by_request, chainload_connect_pipes },
	{ "paced-packets", by_paced_packets, connect_paced, .crowded = true },
	{ "dispatcher", by_dispatcher, make_events, .n = CHAINLOAD_TASKS },
	{ "compositor", by_compositor, make_events, .n = 4 },
	{ "spinner", by_spinning },
	{ "logger", by_logger, make_events },
	{ NULL },
};
