// SPDX-License-Identifier: GPL-2.0-only
/*
 * chainload MODE SECONDS: two tasks that work in turn, each for WORK steps of a loop, and hand over
 * by a condition variable (token), a pipe, a unix socket (unix), a futex, an eventfd, UDP or TCP
 * over loopback with messages as tbench has (udp, tcp). Prints the turns in a second.
 * timers: two tasks with timers of their own instead, which never wait for each other: the periods
 * in a second.
 */
#include <arpa/inet.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORK	    4000   /* steps of a turn */
#define TIMED_WORK  400000 /* of a period */
#define RAMP_NS	    300000000
#define LARGE_BYTES 4000 /* a message of tbench */

static uint64_t turns, counted;
static volatile int ended;
static int ends[2][2]; /* of each task: where it reads, and where it writes */
static size_t message_bytes = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint32_t turn;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void work(uint32_t steps)
{
	for (volatile uint32_t i = 0; i < steps; i++)
		;
}

static void by_condition(uint32_t me)
{
	pthread_mutex_lock(&mutex);
	while (turn != me)
		pthread_cond_wait(&condition, &mutex);
	work(WORK);
	turn = !me;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void by_futex(uint32_t me)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
	work(WORK);
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void transfer(int fd, char *buffer, size_t bytes, bool out)
{
	while (bytes) {
		ssize_t n = out ? write(fd, buffer, bytes) : read(fd, buffer, bytes);

		if (n <= 0)
			exit(EXIT_FAILURE);
		buffer += n;
		bytes -= n;
	}
}

/* The first begins; a message goes there and another back. */
static void by_message(uint32_t me)
{
	char message[LARGE_BYTES] = { 1 }; /* an eventfd takes no 0 */

	if (me == 0) {
		work(WORK);
		transfer(ends[0][1], message, message_bytes, true);
		transfer(ends[0][0], message, message_bytes, false);
	} else {
		transfer(ends[1][0], message, message_bytes, false);
		work(WORK);
		transfer(ends[1][1], message, message_bytes, true);
	}
}

static void by_timer(uint32_t me)
{
	static __thread struct timespec next;

	if (!next.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += me ? 11000000 : 8000000;
	if (next.tv_nsec >= 1000000000) {
		next.tv_nsec -= 1000000000;
		next.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	work(TIMED_WORK);
}

static void connect_pipes(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		exit(EXIT_FAILURE);
	ends[0][0] = back[0], ends[0][1] = there[1];
	ends[1][0] = there[0], ends[1][1] = back[1];
}

static void connect_events(void)
{
	int there = eventfd(0, 0), back = eventfd(0, 0);

	ends[0][0] = back, ends[0][1] = there;
	ends[1][0] = there, ends[1][1] = back;
	message_bytes = sizeof(uint64_t);
}

static void connect_unix(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(EXIT_FAILURE);
	ends[0][0] = ends[0][1] = pair[0];
	ends[1][0] = ends[1][1] = pair[1];
}

static struct sockaddr_in local(int fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);

	if (bind(fd, (void *)&address, sizeof(address)) ||
	    getsockname(fd, (void *)&address, &bytes))
		exit(EXIT_FAILURE);
	return address;
}

static void connect_udp(void)
{
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in of_a = local(a), of_b = local(b);

	if (connect(a, (void *)&of_b, sizeof(of_b)) || connect(b, (void *)&of_a, sizeof(of_a)))
		exit(EXIT_FAILURE);
	ends[0][0] = ends[0][1] = a;
	ends[1][0] = ends[1][1] = b;
	message_bytes = 1000;
}

static void connect_tcp(void)
{
	int listening = socket(AF_INET, SOCK_STREAM, 0), a = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = local(listening);

	if (listen(listening, 1) || connect(a, (void *)&address, sizeof(address)))
		exit(EXIT_FAILURE);
	ends[0][0] = ends[0][1] = a;
	ends[1][0] = ends[1][1] = accept(listening, NULL, NULL);
	message_bytes = LARGE_BYTES;
}

static const struct mode {
	const char *name;
	void (*take_turn)(uint32_t me);
	void (*connect)(void);
} modes[] = {
	{ "token", by_condition, NULL },	   { "futex", by_futex, NULL },
	{ "pipe", by_message, connect_pipes },	   { "unix", by_message, connect_unix },
	{ "eventfd", by_message, connect_events }, { "udp", by_message, connect_udp },
	{ "tcp", by_message, connect_tcp },	   { "timers", by_timer, NULL },
};

static const struct mode *mode;

static void *run(void *argument)
{
	uint32_t me = (uintptr_t)argument;

	while (!ended) {
		mode->take_turn(me);
		if (!me)
			__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	uint64_t began_ns;

	for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			mode = &modes[i];
	if (!mode) {
		fputs("usage: chainload MODE SECONDS\n", stderr);
		return EXIT_FAILURE;
	}
	if (mode->connect)
		mode->connect();
	for (uintptr_t me = 0; me < 2; me++)
		if (pthread_create(&threads[me], NULL, run, (void *)me))
			return EXIT_FAILURE;
	usleep(RAMP_NS / 1000);
	counted = __atomic_load_n(&turns, __ATOMIC_RELAXED);
	began_ns = now_ns();
	usleep(atof(argv[2]) * 1e6);
	printf("%.1f\n",
	       (__atomic_load_n(&turns, __ATOMIC_RELAXED) - counted) * 1e9 / (now_ns() - began_ns));
	return EXIT_SUCCESS;
}
