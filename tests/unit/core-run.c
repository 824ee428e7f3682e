// SPDX-License-Identifier: GPL-2.0-only
#include "core-run.h"

#include <stdlib.h>
#include <string.h>

#include "config/keys.h"
#include "core/engine.h"
#include "core/io_model.h"
#include "core/opp.h"
#include "fake-io.h"
#include "wakegov/decay.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL
#define N_DOMAINS 2
#define N_CPUS	  4
#define N_TASKS	  6
#define N_DEVICES 3
#define N_OPPS	  9

struct run_task {
	bool there;
	uint32_t cpu;
	struct fake_io io;
};

struct run {
	struct topology *topology;
	struct policy policy;
	struct engine *engine;
	uint64_t now_ns;
	uint64_t changed_ns[N_DOMAINS];
	struct run_task tasks[N_TASKS];
	uint64_t completions[N_DEVICES];
	uint32_t completion_cpus[N_DEVICES];
	struct core_run_result *result;
};

static void fault(struct run *run, enum core_run_fault fault)
{
	if (!run->result->fault)
		run->result->fault = fault;
}

/* The second domain is half as fast. */
static struct topology *make_topology(uint32_t unit_khz)
{
	struct topology *topology;

	topology = calloc(1, sizeof(*topology) + N_DOMAINS * sizeof(topology->domains[0]));
	if (!topology)
		abort();
	topology->n_cpus = N_CPUS;
	topology->n_domains = N_DOMAINS;
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		topology->cpu_domain[cpu] = cpu / 2;
	for (uint32_t i = 0; i < N_DOMAINS; i++) {
		struct topology_domain *domain = &topology->domains[i];

		domain->name[0] = 'a' + i;
		domain->first_cpu = 2 * i;
		domain->capacity = i ? 512 : 1024;
		for (uint32_t opp = 0; opp < N_OPPS; opp++)
			domain->opp_khz[domain->n_opps++] = (4 + opp) * unit_khz;
	}
	return topology;
}

static uint32_t level_q(const struct run *run, uint32_t cpu)
{
	uint32_t domain = run->topology->cpu_domain[cpu];
	const struct topology_domain *info = &run->topology->domains[domain];

	return decay_level_q(info->capacity, engine_last(run->engine, domain)->target_khz,
			     topology_domain_max_khz(info));
}

/* Time passes; everybody does what they do. */
static void pass(struct run *run, uint64_t until_ns)
{
	for (uint32_t i = 0; i < N_TASKS; i++) {
		struct run_task *task = &run->tasks[i];
		uint32_t device = task->io.device;

		if (task->there)
			run->completions[device] +=
				fake_io_run(&task->io, io_level(level_q(run, task->cpu)),
					    io_level(level_q(run, run->completion_cpus[device])),
					    until_ns - run->now_ns, until_ns);
	}
	run->now_ns = until_ns;
}

static void tell_task(struct run *run, uint32_t i)
{
	struct input input = {
		.now_ns = run->now_ns,
		.type = INPUT_TASK,
		.task = {
			.pid = i + 1,
			.tgid = 1,
			.handle = i,
			.cpu = run->tasks[i].cpu,
			.level_q = level_q(run, run->tasks[i].cpu),
		},
	};

	fake_io_totals(&run->tasks[i].io, &input.task);
	engine_apply(run->engine, &input);
}

static void tell_domain(struct run *run, uint32_t domain, bool driven)
{
	const struct input input = {
		.now_ns = run->now_ns,
		.type = INPUT_DOMAIN,
		.domain = { .domain = domain, .active = true, .driven = driven },
	};

	engine_apply(run->engine, &input);
}

static void sample_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	tell_task(userdata, task->pid - 1);
}

static void sample_device(void *userdata, uint32_t device, uint64_t now_ns)
{
	struct run *run = userdata;
	struct input input = { .now_ns = now_ns, .type = INPUT_DEVICE };

	if (device >= N_DEVICES)
		return;
	input.device = (struct input_device){
		.device = device,
		.completions = run->completions[device],
		.completion_cpu = run->completion_cpus[device],
	};
	engine_apply(run->engine, &input);
}

static uint32_t index_of(const struct topology_domain *info, uint32_t khz)
{
	uint32_t i = 0;

	while (i < info->n_opps && info->opp_khz[i] != khz)
		i++;
	return i;
}

static void check_change(struct run *run, const struct decision *decision)
{
	uint32_t domain = decision->domain, min_khz, max_khz;

	engine_limits(run->engine, domain, &min_khz, &max_khz);
	if (index_of(&run->topology->domains[domain], decision->target_khz) == N_OPPS)
		fault(run, CORE_RUN_NO_OPP);
	if (decision->target_khz == decision->previous_khz)
		return;
	if (decision->target_khz < min_khz || decision->target_khz > max_khz)
		fault(run, CORE_RUN_OUTSIDE);
	if (run->changed_ns[domain] && run->now_ns - run->changed_ns[domain] < NS_PER_MS)
		fault(run, CORE_RUN_TOO_SOON);
	run->changed_ns[domain] = run->now_ns;
	run->result->changes[domain]++;
	if (run->now_ns >= 4 * NS_PER_S)
		run->result->settled_changes[domain]++;
}

/* FNV-1a over what a decision says, without its unit of frequency. */
static void sum_up(struct run *run, const struct decision *decision)
{
	const struct topology_domain *info = &run->topology->domains[decision->domain];
	const uint64_t said[] = {
		decision->now_ns,
		decision->domain,
		index_of(info, decision->target_khz),
		index_of(info, decision->wanted_khz),
		decision->reason,
		decision->timing,
		decision->pid,
	};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		run->result->decisions = (run->result->decisions ^ said[i]) * 0x100000001b3ULL;
}

static void check_holds(struct run *run)
{
	const struct io_task *task = NULL;

	while ((task = io_task_next(engine_tasks(run->engine), task)))
		if (io_boost_is_held(&task->io_boost) &&
		    run->now_ns >= task->io_boost.hold_end_ns &&
		    run->now_ns > task->io_boost.next_ns)
			fault(run, CORE_RUN_NO_HOLD);
}

static void on_decision(void *userdata, const struct decision *decision)
{
	struct run *run = userdata;

	engine_commit(run->engine, decision->domain, ENGINE_SET);
	check_change(run, decision);
	sum_up(run, decision);
}

static void round_once(struct run *run)
{
	static const struct engine_ops ops = {
		.sample_task = sample_task,
		.sample_device = sample_device,
		.on_decision = on_decision,
	};

	engine_round(run->engine, &ops, run, run->now_ns);
	check_holds(run);
}

/* What a sample begins, a group or a pair, is looked at in another round: each task may do that. */
static void round_all(struct run *run)
{
	round_once(run);
	for (uint32_t i = 0; i < N_TASKS && engine_next_ns(run->engine) <= run->now_ns; i++)
		round_once(run);
	if (engine_next_ns(run->engine) <= run->now_ns)
		fault(run, CORE_RUN_SPINS);
}

static void run_until(struct run *run, uint64_t until_ns)
{
	while (run->now_ns < until_ns && !run->result->fault) {
		uint64_t next_ns = engine_next_ns(run->engine);

		pass(run, next_ns < until_ns ? next_ns : until_ns);
		if (run->now_ns == next_ns)
			round_all(run);
	}
}

static void begin(struct run *run, uint32_t unit_khz, struct core_run_result *result)
{
	*result = (struct core_run_result){ 0 };
	*run = (struct run){
		.topology = make_topology(unit_khz),
		.now_ns = NS_PER_S,
		.result = result,
	};
	policy_init(&run->policy);
	run->engine = engine_new(run->topology, &run->policy);
	if (!run->engine)
		abort();
	for (uint32_t i = 0; i < N_DOMAINS; i++)
		tell_domain(run, i, true);
	round_all(run);
}

/* Whatever happened: without I/O everything ends, and the domains lie at their lowest. */
static void end(struct run *run)
{
	const struct io_task *task = NULL;

	for (uint32_t i = 0; i < N_TASKS; i++)
		run->tasks[i].io.stopped = true;
	run_until(run, run->now_ns + 2 * NS_PER_S);
	run->result->end_ns = run->now_ns;
	if (engine_next_ns(run->engine) != UINT64_MAX)
		fault(run, CORE_RUN_NOT_AT_REST);
	while ((task = io_task_next(engine_tasks(run->engine), task)))
		if (!task->released)
			fault(run, CORE_RUN_STILL_HELD);
	for (uint32_t i = 0; i < N_DOMAINS; i++) {
		const struct topology_domain *info = &run->topology->domains[i];
		uint32_t min_khz, max_khz;

		engine_limits(run->engine, i, &min_khz, &max_khz);
		if (engine_last(run->engine, i)->target_khz !=
		    opp_at_or_above(info, 0, min_khz, max_khz))
			fault(run, CORE_RUN_STILL_RAISED);
	}
	engine_free(run->engine);
	free(run->topology);
}

/* The bytes of a program that are left; zeroes after its end. */
struct tape {
	const uint8_t *bytes;
	size_t size;
};

static uint32_t take(struct tape *tape, uint32_t limit)
{
	uint32_t value = 0;

	if (tape->size) {
		value = *tape->bytes++;
		tape->size--;
	}
	return value % limit;
}

static void start_task(struct run *run, struct tape *tape, struct run_task *task)
{
	*task = (struct run_task){ .there = true, .cpu = take(tape, N_CPUS) };
	task->io = (struct fake_io){
		.kind = FAKE_IO_SYNC + take(tape, 4),
		.device = take(tape, N_DEVICES),
		.device_ns = 1000 + take(tape, 256) * 4000ULL,
		.work = take(tape, 256) * 2000ULL * IO_LEVEL_MAX,
		.variation_percent = take(tape, 60),
		.random = 1 + take(tape, 256),
		.last_io_ns = run->now_ns,
	};
}

static void do_task(struct run *run, struct tape *tape)
{
	uint32_t i = take(tape, N_TASKS);
	struct run_task *task = &run->tasks[i];
	struct input ended = { .now_ns = run->now_ns, .type = INPUT_TASK_END, .ended_pid = i + 1 };

	switch (task->there ? take(tape, 4) : 4) {
	case 0:
		task->there = false;
		engine_apply(run->engine, &ended);
		return;
	case 1:
		task->io.stopped = !task->io.stopped;
		break;
	case 2: /* another of the same number, without a word */
	case 4:
		start_task(run, tape, task);
		break;
	default:
		task->cpu = take(tape, N_CPUS);
	}
	tell_task(run, i);
}

static void do_device(struct run *run, struct tape *tape)
{
	uint32_t device = take(tape, N_DEVICES);
	struct input ended = {
		.now_ns = run->now_ns,
		.type = INPUT_DEVICE_END,
		.ended_device = device,
	};

	switch (take(tape, 3)) {
	case 0:
		engine_apply(run->engine, &ended);
		break;
	case 1:
		run->completions[device] = 0;
		break;
	default:
		run->completion_cpus[device] = take(tape, N_CPUS);
	}
}

static void do_limits(struct run *run, struct tape *tape)
{
	uint32_t domain = take(tape, N_DOMAINS), a = take(tape, N_OPPS), b = take(tape, N_OPPS);
	const uint32_t *opp_khz = run->topology->domains[domain].opp_khz;
	const struct input input = {
		.now_ns = run->now_ns,
		.type = INPUT_LIMITS,
		.limits = {
			.domain = domain,
			.min_khz = opp_khz[a < b ? a : b],
			.max_khz = opp_khz[a < b ? b : a],
		},
	};

	engine_apply(run->engine, &input);
}

void core_run(const uint8_t *program, size_t size, uint32_t unit_khz, struct core_run_result *ret)
{
	struct tape tape = { program, size };
	struct run run;

	begin(&run, unit_khz, ret);
	while (tape.size && !ret->fault) {
		switch (take(&tape, 8)) {
		case 0:
			do_device(&run, &tape);
			break;
		case 1:
			do_limits(&run, &tape);
			break;
		case 2:
			tell_domain(&run, take(&tape, N_DOMAINS), take(&tape, 4));
			break;
		case 3 ... 5:
			do_task(&run, &tape);
			break;
		default:
			run_until(&run, run.now_ns + take(&tape, 256) * 4 * NS_PER_MS);
			continue;
		}
		round_all(&run);
	}
	end(&run);
}

void core_run_steady(uint32_t kind, uint32_t n_tasks, uint64_t device_ns, uint64_t work_ns,
		     uint32_t variation_percent, uint64_t seed, uint32_t seconds,
		     struct core_run_result *ret)
{
	struct run run;

	begin(&run, 200000, ret);
	for (uint32_t i = 0; i < n_tasks && i < N_TASKS; i++) {
		run.tasks[i] = (struct run_task){ .there = true, .cpu = i % N_CPUS };
		run.tasks[i].io = (struct fake_io){
			.kind = kind,
			.device_ns = device_ns,
			.work = work_ns * IO_LEVEL_MAX,
			.variation_percent = variation_percent,
			.random = seed + i,
			.last_io_ns = run.now_ns,
		};
		tell_task(&run, i);
	}
	round_all(&run);
	run_until(&run, run.now_ns + seconds * NS_PER_S);
	end(&run);
}

uint32_t core_run_choose_khz(const uint32_t *opp_khz, uint32_t n_opps, uint32_t capacity,
			     uint32_t ratio, uint32_t slack_ppm, uint32_t min_khz, uint32_t max_khz)
{
	struct topology_domain domain = { .capacity = capacity, .n_opps = n_opps };

	memcpy(domain.opp_khz, opp_khz, n_opps * sizeof(*opp_khz));
	return io_choose_khz(&domain, ratio, slack_ppm, min_khz, max_khz);
}

uint32_t core_run_level(uint32_t khz, uint32_t max_khz, uint32_t capacity)
{
	const struct topology_domain domain = {
		.capacity = capacity,
		.n_opps = 1,
		.opp_khz = { max_khz },
	};

	return io_level_at(&domain, khz);
}
