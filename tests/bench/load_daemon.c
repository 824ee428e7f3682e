// SPDX-License-Identifier: GPL-2.0-only
#include "load_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/keys.h"
#include "core/engine.h"
#include "varlink/reply.h"
#include "varlink/server.h"
#include "wakegov/decay.h"

#define NS_PER_US	1000ULL
#define NS_PER_S	1000000000ULL
#define FIRST_PID	1000
#define IOS_PER_S	2000
#define LATENCIES_MAX	(1 << 20)
#define CPUS_PER_DOMAIN 2
#define OPPS		10
#define OPP_STEP_KHZ	200000

struct load_daemon {
	uint32_t n_changed; /* targets, in the last round */
	struct topology *topology;
	struct engine *engine;
	int *control_fds;  /* of each domain: where its frequency is written and read */
	uint32_t *util_qs; /* and how busy it is */
	sd_event *event;
	sd_event_source *timer;
	struct query_server *server;
	struct channel monitor;
	pid_t feeder;
	int feed_fd;
	uint64_t started_ns;
	uint32_t turn;
	uint64_t published;
	int keep;
	uint32_t n_latencies;
	uint32_t *latencies_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static uint32_t read_khz(const struct load_daemon *daemon, uint32_t domain)
{
	char text[16] = "";

	if (pread(daemon->control_fds[domain], text, sizeof(text) - 1, 0) < 0)
		return 0;
	return strtoul(text, NULL, 10);
}

static uint32_t write_khz(const struct load_daemon *daemon, uint32_t domain, uint32_t khz)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u\n", khz);

	if (pwrite(daemon->control_fds[domain], text, length, 0) < 0)
		return 0;
	return read_khz(daemon, domain);
}

static void publish(struct load_daemon *daemon, const struct decision *decision, uint32_t read_khz)
{
	const char *domain = daemon->topology->domains[decision->domain].name;
	struct buffer message = { .max = 4096 };
	struct channel_tag tag = { .kind = 0 };
	struct json_out *out;
	struct reply reply;

	daemon->published++;
	if (!channel_has_subscriber(&daemon->monitor))
		return;
	strcpy(tag.domain, domain);
	reply_init(&reply, &message, false);
	reply.continues = true;
	out = reply_begin(&reply);
	field_open(out, "event", '{');
	field_count(out, "number", daemon->monitor.next);
	field_count(out, "monotonic_us", decision->now_ns / NS_PER_US);
	field_text(out, "kind", "decision");
	field_text(out, "domain", domain);
	field_open(out, "decision", '{');
	field_count(out, "monotonic_us", decision->now_ns / NS_PER_US);
	field_text(out, "domain", domain);
	field_nonzero(out, "previous_khz", decision->previous_khz);
	field_nonzero(out, "target_khz", decision->target_khz);
	field_nonzero(out, "read_back_khz", read_khz);
	field_text(out, "reason", reason_name(decision->reason));
	field_text(out, "limiter", limiter_name(decision->limiter));
	field_count(out, "demand_cap", decision->want_cap);
	field_count(out, "cpu", decision->cpu);
	json_out_close(out, '}');
	json_out_close(out, '}');
	if (reply_end(&reply) == 0)
		query_server_publish(daemon->server, &daemon->monitor, &tag, &message);
	buffer_deinit(&message);
}

/* A task that keeps its device busy: a faster clock would not help it, and it is seldom looked at.
 */
static void sample_task(struct load_daemon *daemon, uint32_t index, uint64_t now)
{
	uint64_t ran_ns = now - daemon->started_ns;
	const struct input input = {
		.now_ns = now,
		.type = INPUT_TASK,
		.task = { .pid = FIRST_PID + index,
			  .tgid = FIRST_PID + index,
			  .handle = index,
			  .cpu = index % daemon->topology->n_cpus,
			  .comm = "worker",
			  .io_waits = ran_ns / (NS_PER_S / IOS_PER_S),
			  .io_starts = ran_ns / (NS_PER_S / IOS_PER_S),
			  .last_io_ns = now,
			  .in_flight_ns = ran_ns,
			  .n_ios = 1,
			  .ios = { { .ios = ran_ns / (NS_PER_S / IOS_PER_S) } } },
	};

	engine_apply(daemon->engine, &input);
}

static void sample_due_task(void *userdata, const struct io_task *task, uint64_t now)
{
	sample_task(userdata, task->handle, now);
}

static void ignore_device(void *userdata, uint32_t device, uint64_t now)
{
}

static void on_decision(void *userdata, const struct decision *decision)
{
	struct load_daemon *daemon = userdata;

	engine_commit(daemon->engine, decision->domain, ENGINE_SET);
	if (decision->target_khz == decision->previous_khz)
		return;
	publish(daemon, decision, write_khz(daemon, decision->domain, decision->target_khz));
	daemon->n_changed++;
}

/* What of a round there is without a kernel side. Returns how many targets changed. */
static uint32_t round_of(struct load_daemon *daemon)
{
	static const struct engine_ops ops = {
		.sample_task = sample_due_task,
		.sample_device = ignore_device,
		.on_decision = on_decision,
	};
	uint64_t now = now_ns();

	daemon->n_changed = 0;
	engine_round(daemon->engine, &ops, daemon, now);
	now = engine_next_ns(daemon->engine);
	sd_event_source_set_time(daemon->timer, now == UINT64_MAX ? now : now / NS_PER_US + 1);
	sd_event_source_set_enabled(daemon->timer, SD_EVENT_ONESHOT);
	return daemon->n_changed;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	round_of(userdata);
	return 0;
}

/* A CPU of the next domain is suddenly busy: up is urgent. It falls by itself, later. */
static int on_feed(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct load_daemon *daemon = userdata;
	uint64_t sent_ns;

	while (read(fd, &sent_ns, sizeof(sent_ns)) == sizeof(sent_ns)) {
		uint32_t turn = daemon->turn++, domains = daemon->topology->n_domains;
		uint32_t level = 1 + (turn / domains * 3 + turn % 7) % 9;
		struct input input = {
			.now_ns = now_ns(),
			.type = INPUT_CPU,
			.cpu = { .cpu = turn % domains * CPUS_PER_DOMAIN,
				 .util_q = (level * 90) << 20,
				 .running = true,
				 .idle_since_ns = UINT64_MAX },
		};

		daemon->util_qs[turn % domains] = input.cpu.util_q;
		engine_apply(daemon->engine, &input);
		if (round_of(daemon) && daemon->keep && daemon->n_latencies < LATENCIES_MAX)
			daemon->latencies_ns[daemon->n_latencies++] = now_ns() - sent_ns;
	}
	return 0;
}

static void put_domain(struct json_out *out, const struct load_daemon *daemon, uint32_t i)
{
	const struct topology_domain *info = &daemon->topology->domains[i];
	const struct decision *last = engine_last(daemon->engine, i);
	uint32_t min_khz, max_khz;

	engine_limits(daemon->engine, i, &min_khz, &max_khz);
	json_out_open(out, '{');
	field_text(out, "name", info->name);
	field_text(out, "cpus", "0-1");
	field_text(out, "state", "driven");
	field_null(out, "state_why");
	field_text(out, "backend", "setspeed");
	field_nonzero(out, "current_khz", read_khz(daemon, i));
	field_nonzero(out, "target_khz", last->target_khz);
	field_nonzero(out, "min_khz", min_khz);
	field_nonzero(out, "max_khz", max_khz);
	field_nonzero(out, "lowest_opp_khz", info->opp_khz[0]);
	field_nonzero(out, "highest_opp_khz", topology_domain_max_khz(info));
	field_count(out, "utilisation_cap", DECAY_CAP(daemon->util_qs[i]));
	field_text(out, "reason", reason_name(last->reason));
	field_text(out, "limiter", limiter_name(last->limiter));
	field_text(out, "timing", timing_name(last->timing));
	field_null(out, "pid");
	field_null(out, "comm");
	field_count(out, "writes", 0);
	field_count(out, "write_errors", 0);
	field_count(out, "read_back_mismatches", 0);
	field_null(out, "rule");
	field_null(out, "capped_pid");
	field_null(out, "asked_min_khz");
	field_null(out, "asked_max_khz");
	json_out_close(out, '}');
}

/* What of Status grows with the machine. */
static int show_status(const struct call *call, struct reply *reply)
{
	const struct load_daemon *daemon = call->userdata;
	struct json_out *out = reply_begin(reply);

	field_text(out, "version", "bench");
	field_count(out, "decisions", daemon->published);
	field_open(out, "domains", '[');
	for (uint32_t i = 0; i < daemon->topology->n_domains; i++)
		put_domain(out, daemon, i);
	json_out_close(out, ']');
	return reply_end(reply);
}

static int monitor(const struct call *call, struct reply *reply)
{
	const struct channel_filter filter = { .kinds = 1 };
	struct load_daemon *daemon = call->userdata;
	int r;

	reply->continues = true;
	field_null(reply_begin(reply), "event");
	r = reply_end(reply);
	return r < 0 ? r : channel_subscribe(&daemon->monitor, &filter, call->subscription);
}

static const struct query_method methods[] = {
	{ "Status", show_status },
	{ "Monitor", monitor, .streams = true },
	{ NULL },
};

static struct topology *make_topology(uint32_t n_domains)
{
	struct topology *topology =
		calloc(1, sizeof(*topology) + n_domains * sizeof(topology->domains[0]));

	if (!topology)
		return NULL;
	topology->n_domains = n_domains;
	topology->n_cpus = n_domains * CPUS_PER_DOMAIN;
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		topology->cpu_domain[cpu] = cpu / CPUS_PER_DOMAIN;
	for (uint32_t i = 0; i < n_domains; i++) {
		struct topology_domain *domain = &topology->domains[i];

		snprintf(domain->name, sizeof(domain->name), "policy%u", i * CPUS_PER_DOMAIN);
		domain->first_cpu = i * CPUS_PER_DOMAIN;
		domain->capacity = TOPOLOGY_CAPACITY_MAX;
		domain->n_opps = OPPS;
		for (uint32_t opp = 0; opp < OPPS; opp++)
			domain->opp_khz[opp] = (opp + 1) * OPP_STEP_KHZ;
	}
	return topology;
}

static void start_domain(struct load_daemon *daemon, uint32_t i)
{
	const struct input there = {
		.now_ns = now_ns(),
		.type = INPUT_DOMAIN,
		.domain = { .domain = i, .active = true, .driven = true },
	};
	const struct input limits = {
		.now_ns = now_ns(),
		.type = INPUT_LIMITS,
		.limits = { .domain = i, .min_khz = OPP_STEP_KHZ, .max_khz = OPPS * OPP_STEP_KHZ },
	};

	daemon->control_fds[i] = memfd_create("scaling_setspeed", MFD_CLOEXEC);
	engine_apply(daemon->engine, &there);
	engine_apply(daemon->engine, &limits);
}

static int make_core(struct load_daemon *daemon, const struct load_options *options)
{
	struct policy policy;

	policy_init(&policy);
	policy.max_tasks = options->tasks ? options->tasks : 1;
	/* So many tasks can only be followed at leisure. */
	policy.io_boost.window_ns = NS_PER_S;
	policy.io_boost.hold_ns = 10 * NS_PER_S;
	daemon->topology = make_topology(options->domains);
	daemon->control_fds = calloc(options->domains, sizeof(int));
	daemon->util_qs = calloc(options->domains, sizeof(*daemon->util_qs));
	daemon->latencies_ns = malloc(LATENCIES_MAX * sizeof(uint32_t));
	if (!daemon->topology || !daemon->control_fds || !daemon->util_qs || !daemon->latencies_ns)
		return -ENOMEM;
	daemon->engine = engine_new(daemon->topology, &policy);
	if (!daemon->engine)
		return -ENOMEM;
	for (uint32_t i = 0; i < options->domains; i++)
		start_domain(daemon, i);
	/* They come one after another, so that they are not looked at all at once. */
	daemon->started_ns = now_ns();
	for (uint32_t i = 0; i < options->tasks; i++)
		sample_task(daemon, i, now_ns());
	return 0;
}

static int make_server(struct load_daemon *daemon, const struct load_options *options)
{
	struct policy policy;
	int r = sd_event_new(&daemon->event), fd;

	policy_init(&policy);
	if (r < 0)
		return r;
	fd = query_listen(options->socket);
	if (fd < 0)
		return fd;
	r = sd_event_add_time(daemon->event, &daemon->timer, CLOCK_MONOTONIC, UINT64_MAX, 200,
			      on_timer, daemon);
	if (r >= 0)
		r = query_server_new(daemon->event, fd, methods, daemon, &policy.query,
				     &daemon->server);
	return r;
}

/* Random gaps, so that nothing falls into step with the server's own timers. */
static void feed(int fd, uint32_t events_per_s)
{
	unsigned int seed = 1;
	uint64_t due_ns = now_ns();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		double share = (rand_r(&seed) + 1.0) / (RAND_MAX + 2.0);
		struct timespec due;
		uint64_t sent_ns;

		due_ns += -log(share) * NS_PER_S / events_per_s;
		due = (struct timespec){ due_ns / NS_PER_S, due_ns % NS_PER_S };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		sent_ns = now_ns();
		if (write(fd, &sent_ns, sizeof(sent_ns)) < 0 && errno != EAGAIN)
			_exit(1);
	}
}

static int start_feeder(struct load_daemon *daemon, uint32_t events_per_s)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	daemon->feeder = fork();
	if (!daemon->feeder)
		feed(fds[1], events_per_s);
	close(fds[1]);
	daemon->feed_fd = fds[0];
	return sd_event_add_io(daemon->event, NULL, fds[0], EPOLLIN, on_feed, daemon);
}

struct load_daemon *load_daemon_new(const struct load_options *options)
{
	struct load_daemon *daemon = calloc(1, sizeof(*daemon));
	int r = daemon ? make_core(daemon, options) : -ENOMEM;

	if (r >= 0)
		r = make_server(daemon, options);
	if (r >= 0)
		r = start_feeder(daemon, options->events_per_s);
	if (r < 0) {
		fprintf(stderr, "query-load: %s\n", strerror(-r));
		return load_daemon_free(daemon);
	}
	return daemon;
}

struct load_daemon *load_daemon_free(struct load_daemon *daemon)
{
	if (!daemon)
		return NULL;
	if (daemon->feeder > 0) {
		kill(daemon->feeder, SIGKILL);
		waitpid(daemon->feeder, NULL, 0);
	}
	query_server_free(daemon->server);
	sd_event_source_unref(daemon->timer);
	sd_event_unref(daemon->event);
	engine_free(daemon->engine);
	free(daemon->topology);
	free(daemon->control_fds);
	free(daemon->util_qs);
	free(daemon->latencies_ns);
	free(daemon);
	return NULL;
}

void load_daemon_run(struct load_daemon *daemon, uint64_t duration_ns, int keep)
{
	uint64_t end_ns = now_ns() + duration_ns, now;

	daemon->keep = keep;
	while ((now = now_ns()) < end_ns)
		sd_event_run(daemon->event, (end_ns - now) / NS_PER_US + 1);
	daemon->keep = 0;
}

uint64_t load_daemon_published(const struct load_daemon *daemon)
{
	return daemon->published;
}

uint32_t load_daemon_take_latencies(struct load_daemon *daemon, uint32_t **ret_ns)
{
	uint32_t n = daemon->n_latencies;

	*ret_ns = daemon->latencies_ns;
	daemon->n_latencies = 0;
	return n;
}
