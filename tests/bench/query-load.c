// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the query socket costs: how long decisions take with 64 monitors, one of which does not
 * read, and with none; and how long a Status call takes meanwhile. Both ways take turns in one run,
 * so that what else the machine does falls on both alike.
 *
 *	nice -n -10 tests/bench/query-load --rounds 5 --seconds 2
 */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load_daemon.h"

#define NS_PER_S     1000000000ULL
#define NS_PER_MS    1000000ULL
#define SAMPLES_MAX  (1 << 20)
#define REPLY_BYTES  (1 << 20)
#define MONITORS_MAX 100
#define BETWEEN_NS   (300 * NS_PER_MS)

static const char monitor_call[] = "{\"method\":\"io.wakegov.Monitor\",\"more\":true}";
static const char status_call[] = "{\"method\":\"io.wakegov.Status\"}";

struct samples {
	uint32_t n;
	uint32_t *ns;
};

struct bench {
	struct load_options load;
	uint32_t monitors;
	uint32_t rounds;
	uint32_t seconds;
	char socket[64];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int connect_and_send(const char *path, const char *call)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, call, strlen(call) + 1, MSG_NOSIGNAL) < 0) {
		perror("query-load: client");
		_exit(1);
	}
	return fd;
}

static uint64_t count_messages(const char *bytes, ssize_t n)
{
	uint64_t messages = 0;

	for (const char *end = bytes + n; (bytes = memchr(bytes, '\0', end - bytes)); bytes++)
		messages++;
	return messages;
}

/* Reads n connections until the parent closes control; says how many messages the least one got. */
static void run_monitors(const struct bench *bench, int control)
{
	uint64_t got[MONITORS_MAX] = { 0 }, least = UINT64_MAX;
	struct pollfd fds[MONITORS_MAX + 1];
	uint32_t n = bench->monitors;
	static char bytes[REPLY_BYTES];

	for (uint32_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ connect_and_send(bench->socket, monitor_call), POLLIN };
	fds[n] = (struct pollfd){ control, POLLIN };
	/* The first stalls. */
	fds[0].events = 0;
	while (!fds[n].revents && poll(fds, n + 1, -1) >= 0) {
		for (uint32_t i = 1; i < n; i++) {
			ssize_t length = fds[i].revents ? read(fds[i].fd, bytes, sizeof(bytes)) : 0;

			got[i] += length > 0 ? count_messages(bytes, length) : 0;
		}
	}
	for (uint32_t i = 1; i < n; i++)
		least = got[i] < least ? got[i] : least;
	/* The first message of each says only that it listens. */
	least--;
	if (write(control, &least, sizeof(least)) != sizeof(least))
		_exit(1);
	_exit(0);
}

/* Calls Status again and again, and writes how long each took. */
static void run_status(const struct bench *bench, int control)
{
	static char bytes[REPLY_BYTES];
	struct timespec pause = { .tv_nsec = 2 * NS_PER_MS };
	uint32_t *took_ns = malloc(SAMPLES_MAX * sizeof(*took_ns)), n = 0;
	struct pollfd stop = { control, POLLIN };
	int fd = -1;

	while (!poll(&stop, 1, 0) && n < SAMPLES_MAX) {
		uint64_t start_ns = now_ns();
		ssize_t length = 1;

		if (fd < 0)
			fd = connect_and_send(bench->socket, status_call);
		else if (send(fd, status_call, sizeof(status_call), MSG_NOSIGNAL) < 0)
			_exit(1);
		for (bytes[0] = 'x'; length > 0;)
			if ((length = read(fd, bytes, sizeof(bytes))) > 0 && !bytes[length - 1])
				break;
		if (length <= 0)
			_exit(1);
		took_ns[n++] = now_ns() - start_ns;
		nanosleep(&pause, NULL);
	}
	for (size_t sent = 0, size = n * sizeof(*took_ns); sent < size;) {
		ssize_t length = write(control, (char *)took_ns + sent, size - sent);

		if (length <= 0)
			_exit(1);
		sent += length;
	}
	_exit(0);
}

struct child {
	pid_t pid;
	int control;
};

static struct child start(const struct bench *bench,
			  void (*run)(const struct bench *bench, int control))
{
	struct child child;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		exit(1);
	child.pid = fork();
	if (!child.pid) {
		close(fds[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(bench, fds[1]);
	}
	close(fds[1]);
	child.control = fds[0];
	return child;
}

/* Asks it to stop and reads what it has to say. Returns the number of bytes. */
static size_t stop(const struct child *child, void *ret, size_t size)
{
	size_t got = 0;
	ssize_t n;

	shutdown(child->control, SHUT_WR);
	while (got < size && (n = read(child->control, (char *)ret + got, size - got)) > 0)
		got += n;
	close(child->control);
	waitpid(child->pid, NULL, 0);
	return got;
}

static void keep_latencies(struct load_daemon *daemon, struct samples *samples)
{
	uint32_t *ns, n = load_daemon_take_latencies(daemon, &ns);

	if (n > SAMPLES_MAX - samples->n)
		n = SAMPLES_MAX - samples->n;
	memcpy(samples->ns + samples->n, ns, n * sizeof(*ns));
	samples->n += n;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double percentile_us(struct samples *samples, double share)
{
	if (!samples->n)
		return 0;
	qsort(samples->ns, samples->n, sizeof(*samples->ns), compare);
	return samples->ns[(uint32_t)(share * (samples->n - 1))] / 1000.0;
}

static void print(const char *what, struct samples *samples)
{
	printf("%-34s %8u  %8.1f  %8.1f  %8.1f\n", what, samples->n, percentile_us(samples, 0.5),
	       percentile_us(samples, 0.99), percentile_us(samples, 0.999));
}

/* Monitors, from before the first event of the phase until they have had its last one. */
static bool run_with_monitors(const struct bench *bench, struct load_daemon *daemon,
			      struct samples *samples, uint64_t *ret_events)
{
	struct child child = start(bench, run_monitors);
	uint64_t published, least = 0;

	load_daemon_run(daemon, BETWEEN_NS, 0);
	published = load_daemon_published(daemon);
	load_daemon_run(daemon, bench->seconds * NS_PER_S, 1);
	keep_latencies(daemon, samples);
	published = load_daemon_published(daemon) - published;
	load_daemon_run(daemon, BETWEEN_NS, 0);
	*ret_events += published;
	return stop(&child, &least, sizeof(least)) == sizeof(least) && least >= published;
}

static void run_with_status(const struct bench *bench, struct load_daemon *daemon,
			    struct samples *samples)
{
	struct child child = start(bench, run_status);
	size_t size;

	load_daemon_run(daemon, bench->seconds * NS_PER_S, 0);
	/* The last call is answered before the child hears that it is over. */
	shutdown(child.control, SHUT_WR);
	load_daemon_run(daemon, BETWEEN_NS, 0);
	size = stop(&child, samples->ns + samples->n,
		    (SAMPLES_MAX - samples->n) * sizeof(uint32_t));
	samples->n += size / sizeof(uint32_t);
}

static struct samples make_samples(void)
{
	return (struct samples){ .ns = malloc(SAMPLES_MAX * sizeof(uint32_t)) };
}

static int run(const struct bench *bench)
{
	struct samples alone = make_samples(), monitored = make_samples(), status = make_samples();
	struct load_daemon *daemon = load_daemon_new(&bench->load);
	uint64_t events = 0;
	bool complete = true;

	if (!daemon)
		return 1;
	load_daemon_run(daemon, BETWEEN_NS, 0);
	for (uint32_t i = 0; i < bench->rounds; i++) {
		load_daemon_run(daemon, bench->seconds * NS_PER_S, 1);
		keep_latencies(daemon, &alone);
		complete &= run_with_monitors(bench, daemon, &monitored, &events);
		run_with_status(bench, daemon, &status);
	}
	printf("%u domains, %u tasks, %u events a second, in microseconds:\n\n",
	       bench->load.domains, bench->load.tasks, bench->load.events_per_s);
	printf("%-34s %8s  %8s  %8s  %8s\n", "", "n", "p50", "p99", "p99.9");
	print("decision, no monitors", &alone);
	print("decision, with monitors", &monitored);
	print("Status over the socket", &status);
	printf("\n%u monitors, one of which does not read: p99 of a decision %+.1f %%; the others got "
	       "%s of %llu events\n",
	       bench->monitors,
	       (percentile_us(&monitored, 0.99) / percentile_us(&alone, 0.99) - 1) * 100,
	       complete ? "all" : "NOT all", (unsigned long long)events);
	load_daemon_free(daemon);
	unlink(bench->socket);
	return complete ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "domains", required_argument, NULL, 'd' },
		{ "tasks", required_argument, NULL, 't' },
		{ "events", required_argument, NULL, 'e' },
		{ "monitors", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 's' },
		{ NULL },
	};
	struct bench bench = {
		.load = { .domains = 500, .tasks = 20000, .events_per_s = 500 },
		.monitors = 64,
		.rounds = 3,
		.seconds = 2,
	};
	uint32_t *const fields[] = {
		['d'] = &bench.load.domains,
		['t'] = &bench.load.tasks,
		['e'] = &bench.load.events_per_s,
		['m'] = &bench.monitors,
		['r'] = &bench.rounds,
		['s'] = &bench.seconds,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return 2;
		*fields[option] = strtoul(optarg, NULL, 10);
	}
	if (bench.monitors > MONITORS_MAX || bench.load.domains > 512) {
		fprintf(stderr, "query-load: at most %d monitors and 512 domains\n", MONITORS_MAX);
		return 2;
	}
	snprintf(bench.socket, sizeof(bench.socket), "/tmp/query-load.%d", getpid());
	bench.load.socket = bench.socket;
	return run(&bench);
}
