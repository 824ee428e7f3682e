// SPDX-License-Identifier: GPL-2.0-only
/* Two tasks that hand over: by a lock, a signal, a file descriptor, or a network. */
#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "chainload.h"

#define LARGE_BYTES 4000 /* a message of tbench */
#define WORK	    CHAINLOAD_WORK

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint32_t turn;

int chainload_ends[2][2];
size_t chainload_bytes = 1;

static void by_condition(uint32_t me)
{
	pthread_mutex_lock(&mutex);
	while (turn != me)
		pthread_cond_wait(&condition, &mutex);
	chainload_compute(WORK);
	turn = !me;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static long futex(uint32_t *word, int operation, uint32_t value, uintptr_t value_2,
		  uint32_t *word_2, uint32_t value_3)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, value_2, word_2,
		       value_3);
}

static void wait_for_turn(uint32_t me)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		futex(&turn, FUTEX_WAIT, !me, 0, NULL, 0);
}

static void end_turn(uint32_t me)
{
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	futex(&turn, FUTEX_WAKE, 1, 0, NULL, 0);
}

static void by_futex(uint32_t me)
{
	wait_for_turn(me);
	chainload_compute(WORK);
	end_turn(me);
}

/* So long that few turns end where chains are followed in part. */
static void by_long_turns(uint32_t me)
{
	wait_for_turn(me);
	chainload_work(3000000);
	end_turn(me);
}

/*
 * As Go's threads: the one that works wakes the other one now and then, which looks a moment later
 * whether there is work to take over. Nobody is woken for that.
 */
static void by_looking(uint32_t me)
{
	static const struct timespec moment = { .tv_nsec = 3000 };
	static uint32_t rounds, looks;
	uint32_t round;

	if (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == me) {
		chainload_compute(2 * WORK);
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELEASE);
		futex(&rounds, FUTEX_WAKE, 1, 0, NULL, 0);
		return;
	}
	round = __atomic_load_n(&rounds, __ATOMIC_ACQUIRE);
	futex(&rounds, FUTEX_WAIT, round, 0, NULL, 0);
	nanosleep(&moment, NULL);
	if (++looks % 8 == 0)
		__atomic_store_n(&turn, me, __ATOMIC_RELEASE);
}

/* Two work in turn. A third works for a moment, each 45 ms by its timer. */
static void by_three(uint32_t me, uint32_t *first_waits)
{
	if (me < 2) {
		while (!me && __atomic_load_n(first_waits, __ATOMIC_ACQUIRE))
			futex(first_waits, FUTEX_WAIT, 1, 0, NULL, 0);
		by_futex(me);
		return;
	}
	chainload_wait(45000000);
	__atomic_store_n(first_waits, 1, __ATOMIC_RELEASE);
	chainload_compute(20 * WORK);
	__atomic_store_n(first_waits, 0, __ATOMIC_RELEASE);
	futex(first_waits, FUTEX_WAKE, 1, 0, NULL, 0);
}

/* The first one waits for it. */
static void by_taking_over(uint32_t me)
{
	static uint32_t first_waits;

	by_three(me, &first_waits);
}

/* No one does. */
static void by_one_beside(uint32_t me)
{
	static uint32_t unread[2];

	by_three(me, &unread[me == 2]);
}

/* As a condition whose waiters go on to wait for its mutex, by whose release they are woken. */
static void by_requeue(uint32_t me)
{
	static uint32_t released;

	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		futex(&turn, FUTEX_WAIT, !me, 0, NULL, 0);
	futex(&turn, FUTEX_CMP_REQUEUE, 0, 1, &released, me);
	chainload_compute(WORK);
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	futex(&released, FUTEX_WAKE, 1, 0, NULL, 0);
	futex(&turn, FUTEX_WAKE, 1, 0, NULL, 0); /* it was not requeued yet */
}

/* Whoever has it works; the other one waits. */
static void by_mutex(uint32_t me)
{
	pthread_mutex_lock(&mutex);
	chainload_compute(10 * WORK);
	pthread_mutex_unlock(&mutex);
	chainload_compute(me);
}

static void inherit_priority(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
}

static void by_signal(uint32_t me)
{
	static pid_t tids[2];
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (!tids[me]) {
		__atomic_store_n(&tids[me], gettid(), __ATOMIC_RELEASE);
		while (!__atomic_load_n(&tids[!me], __ATOMIC_ACQUIRE))
			sched_yield();
		if (!me)
			tgkill(getpid(), tids[1], SIGUSR1);
	}
	sigwait(&set, &number);
	chainload_compute(WORK);
	tgkill(getpid(), tids[!me], SIGUSR1);
}

static void block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void chainload_transfer(int fd, void *buffer, size_t bytes, bool out)
{
	while (bytes) {
		ssize_t n = out ? write(fd, buffer, bytes) : read(fd, buffer, bytes);

		if (n <= 0)
			exit(EXIT_FAILURE);
		buffer = (char *)buffer + n;
		bytes -= n;
	}
}

/* The first begins; a message goes there and another back. */
static void by_message(uint32_t me)
{
	char message[LARGE_BYTES] = { 1 }; /* an eventfd takes no 0 */

	if (me == 0) {
		chainload_compute(WORK);
		chainload_transfer(chainload_ends[0][1], message, chainload_bytes, true);
		chainload_transfer(chainload_ends[0][0], message, chainload_bytes, false);
	} else {
		chainload_transfer(chainload_ends[1][0], message, chainload_bytes, false);
		chainload_compute(WORK);
		chainload_transfer(chainload_ends[1][1], message, chainload_bytes, true);
	}
}

static void by_epoll(uint32_t me)
{
	static __thread int set;
	struct epoll_event event = { .events = EPOLLIN };
	char message = 0;

	if (!set) {
		set = epoll_create1(0);
		epoll_ctl(set, EPOLL_CTL_ADD, chainload_ends[me][0], &event);
		if (!me)
			chainload_transfer(chainload_ends[0][1], &message, 1, true);
	}
	epoll_wait(set, &event, 1, -1);
	chainload_transfer(chainload_ends[me][0], &message, 1, false);
	chainload_compute(WORK);
	chainload_transfer(chainload_ends[me][1], &message, 1, true);
}

void chainload_connect_pipes(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		exit(EXIT_FAILURE);
	chainload_ends[0][0] = back[0], chainload_ends[0][1] = there[1];
	chainload_ends[1][0] = there[0], chainload_ends[1][1] = back[1];
}

static void connect_events(void)
{
	int there = eventfd(0, 0), back = eventfd(0, 0);

	chainload_ends[0][0] = back, chainload_ends[0][1] = there;
	chainload_ends[1][0] = there, chainload_ends[1][1] = back;
	chainload_bytes = sizeof(uint64_t);
}

static void use_both_ways(int first, int second)
{
	chainload_ends[0][0] = chainload_ends[0][1] = first;
	chainload_ends[1][0] = chainload_ends[1][1] = second;
}

static void connect_unix(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(EXIT_FAILURE);
	use_both_ways(pair[0], pair[1]);
}

static struct sockaddr_in bound(int fd, uint32_t address)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };
	socklen_t bytes = sizeof(at);

	if (bind(fd, (void *)&at, sizeof(at)) || getsockname(fd, (void *)&at, &bytes))
		chainload_skip("network");
	return at;
}

static void connect_udp(void)
{
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in of_a = bound(a, INADDR_LOOPBACK), of_b = bound(b, INADDR_LOOPBACK);

	if (connect(a, (void *)&of_b, sizeof(of_b)) || connect(b, (void *)&of_a, sizeof(of_a)))
		exit(EXIT_FAILURE);
	use_both_ways(a, b);
	chainload_bytes = 1000;
}

static int listen_at(uint32_t address, struct sockaddr_in *ret)
{
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	*ret = bound(listening, address);
	if (listen(listening, 1))
		exit(EXIT_FAILURE);
	return listening;
}

static void connect_to(int listening, const struct sockaddr_in *address)
{
	int a = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(a, (void *)address, sizeof(*address)))
		chainload_skip("connect");
	use_both_ways(a, accept(listening, NULL, NULL));
	chainload_bytes = LARGE_BYTES;
}

static void connect_tcp(void)
{
	struct sockaddr_in address;
	int listening = listen_at(INADDR_LOOPBACK, &address);

	connect_to(listening, &address);
}

/* One that stays in the network namespace that this process leaves, as a container does. */
static pid_t leave_network(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWNET))
		chainload_skip("network namespace");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* A server in a network namespace of its own, by a veth pair between the two. */
static void connect_namespaces(void)
{
	pid_t there = leave_network();
	struct sockaddr_in address;
	int listening = listen_at(INADDR_ANY, &address);

	if (unshare(CLONE_NEWNET))
		chainload_skip("network namespace");
	chainload_shell("ip link add here type veth peer name there netns %d &&"
			"ip addr add 10.0.0.1/24 dev here && ip link set here up &&"
			"nsenter -t %d -n sh -c 'ip addr add 10.0.0.2/24 dev there;"
			"ip link set there up'",
			there, there);
	address.sin_addr.s_addr = htonl(0x0a000002);
	connect_to(listening, &address);
}

static void set_feature(int of_namespace, const char *device, uint32_t command, uint32_t on)
{
	struct ethtool_value value = { .cmd = command, .data = on };
	struct ifreq request = { .ifr_data = (void *)&value };

	strcpy(request.ifr_name, device);
	if (ioctl(of_namespace, SIOCETHTOOL, &request))
		chainload_skip("ethtool");
}

/*
 * What comes to the client is received by a kernel thread. That is done with what could be packets
 * of a larger one, which a sender's segmentation would leave whole.
 */
static void connect_by_thread(void)
{
	connect_namespaces();
	set_feature(chainload_ends[0][0], "here", ETHTOOL_SGRO, true);
	set_feature(chainload_ends[1][0], "there", ETHTOOL_STSO, false);
	chainload_shell("unshare -m sh -c 'mount -t sysfs none /sys &&"
			"echo 1 >/sys/class/net/here/threaded'");
}

const struct chainload_mode chainload_turns[] = {
	{ "token", by_condition },
	{ "futex", by_futex },
	{ "long-turns", by_long_turns },
	{ "taking-over", by_taking_over, .n = 3 },
	{ "one-beside", by_one_beside, .n = 3 },
	{ "looking", by_looking },
	{ "requeue", by_requeue },
	{ "mutex", by_mutex },
	{ "pi-mutex", by_mutex, inherit_priority },
	{ "signal", by_signal, block_signal },
	{ "pipe", by_message, chainload_connect_pipes },
	{ "unix", by_message, connect_unix },
	{ "eventfd", by_message, connect_events },
	{ "epoll", by_epoll, chainload_connect_pipes },
	{ "udp", by_message, connect_udp },
	{ "tcp", by_message, connect_tcp },
	{ "veth", by_message, connect_namespaces },
	{ "napi-thread", by_message, connect_by_thread },
	{ NULL },
};
