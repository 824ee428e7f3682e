// SPDX-License-Identifier: GPL-2.0-only
/* What another policy would have decided. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/reader.h"
#include "record/replay.h"
#include "shared/time.h"

/* A timer may be late by this much; a recorded sample is then better than a computed one. */
#define LATE_NS	      (2 * NS_PER_MS)
#define CATCH_UPS_MAX 1000 /* between two records: only a forged file has more */

struct run {
	struct record_reader *reader;
	struct lookahead ahead;
	struct engine *engine;
	struct policy obeyed;	    /* the other policy, with the recorded overrides */
	struct input *task_samples; /* per place of the task table: the last sample */
	struct input device_samples[INPUT_DEVICES_MAX];
	struct followed {
		struct decision recorded; /* the last decision */
		bool differs;
		bool pending; /* due in the last round, but not decided */
	} * domains;
	uint64_t now_ns;
	struct what_if *ret;
};

/* Accounts the time up to now_ns at the previous frequency; from then on it is khz. */
static void set_khz(struct opp_times *times, uint32_t khz, uint64_t now_ns)
{
	uint32_t i = 0;

	/* Times of one round can go back a little; those of a forged file may be anything. */
	if (now_ns > times->since_ns) {
		while (i + 1 < times->info->n_opps && times->info->opp_khz[i] < times->khz)
			i++;
		if (times->khz)
			times->at_ns[i] += now_ns - times->since_ns;
		times->since_ns = now_ns;
	}
	if (times->khz && khz && khz != times->khz)
		times->changes++;
	times->khz = khz;
}

uint64_t opp_times_total_ns(const struct opp_times *times)
{
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < times->info->n_opps; i++)
		total_ns += times->at_ns[i];
	return total_ns;
}

uint32_t opp_times_mean_khz(const struct opp_times *times)
{
	uint64_t total_ns = opp_times_total_ns(times);
	double sum = 0;

	for (uint32_t i = 0; i < times->info->n_opps; i++)
		sum += (double)times->at_ns[i] * times->info->opp_khz[i];
	return total_ns ? (uint32_t)(sum / (double)total_ns + 0.5) : 0;
}

/* Compares the targets: decisions may want the same and wait. */
static void compare(struct run *run, uint32_t domain)
{
	const struct decision *recorded = &run->domains[domain].recorded;
	const struct decision *other = engine_last(run->engine, domain);
	struct what_if *ret = run->ret;
	bool differs = recorded->target_khz && other->target_khz &&
		       recorded->target_khz != other->target_khz;

	if (differs && !run->domains[domain].differs) {
		if (ret->n_differences < WHAT_IF_DIFFERENCES)
			ret->differences[ret->n_differences] = (struct what_if_difference){
				.at_ns = run->now_ns - ret->time.begin_ns,
				.recorded = *recorded,
				.other = *other,
			};
		ret->n_differences++;
	}
	run->domains[domain].differs = differs;
}

static void on_decision(void *userdata, const struct decision *decision)
{
	struct run *run = userdata;

	engine_commit(run->engine, decision->domain, ENGINE_SET);
	run->domains[decision->domain].pending = false;
	run->ret->n_other++;
	set_khz(&run->ret->other[decision->domain], decision->target_khz, run->now_ns);
}

static void decide(struct run *run, uint32_t domain)
{
	if (engine_is_due(run->engine, domain, run->now_ns))
		on_decision(run, engine_decide(run->engine, domain, run->now_ns));
}

static void sample_task(void *userdata, const struct io_task *task, uint64_t now_ns)
{
	struct run *run = userdata;
	uint32_t place = io_task_place(engine_tasks(run->engine), task);
	const struct input *before = &run->task_samples[place];
	struct input input;

	if (before->task.pid != task->pid || before->now_ns >= now_ns ||
	    !lookahead_task(&run->ahead, before, now_ns, &input))
		return;
	engine_apply(run->engine, &input);
}

static void sample_device(void *userdata, uint32_t device, uint64_t now_ns)
{
	struct run *run = userdata;
	const struct input *before = &run->device_samples[device];
	struct input input;

	if (before->now_ns && before->now_ns < now_ns &&
	    lookahead_device(&run->ahead, before, now_ns, &input))
		engine_apply(run->engine, &input);
}

/* The recording takes the place of the tracer. */
static const struct engine_ops ops = {
	.sample_task = sample_task,
	.sample_device = sample_device,
	.on_decision = on_decision,
};

/* Drops what the tracer and the actuator would get. */
static void drop_outputs(struct run *run)
{
	struct engine *engine = run->engine;
	struct task_clamp clamp;
	struct task_class set;
	uint32_t handle;

	while (engine_pop_ended(engine, &handle) || engine_pop_class(engine, &set) ||
	       engine_pop_clamp(engine, &clamp))
		;
}

/*
 * Follows a recorded round. Recorded decisions come one by one, each after its samples; a domain
 * that is due here but was not decided there waits until the next round.
 */
static void follow_round(struct run *run)
{
	drop_outputs(run);
	engine_sample(run->engine, &ops, run, run->now_ns);
	for (uint32_t domain = 0; domain < run->ret->n_domains; domain++) {
		if (run->domains[domain].pending)
			decide(run, domain);
		run->domains[domain].pending = engine_is_due(run->engine, domain, run->now_ns);
	}
}

/*
 * Makes the rounds that this engine's own timers would have caused before the next record. Where
 * something is due without a sample, it tries again a millisecond later.
 */
static void catch_up(struct run *run, uint64_t until_ns)
{
	for (int i = 0; i < CATCH_UPS_MAX; i++) {
		uint64_t next_ns = engine_next_ns(run->engine);

		if (next_ns <= run->now_ns)
			next_ns = run->now_ns + NS_PER_MS;
		if (next_ns >= until_ns || until_ns - next_ns <= LATE_NS)
			return;
		run->now_ns = next_ns;
		engine_round(run->engine, &ops, run, next_ns);
		drop_outputs(run);
	}
}

static void keep_sample(struct run *run, const struct record *record)
{
	const struct task_table *tasks = engine_tasks(run->engine);
	const struct io_task *task;

	if (record->type == RECORD_DEVICE)
		run->device_samples[record->input.device.device] = record->input;
	if (record->type != RECORD_TASK)
		return;
	task = io_task_find(tasks, record->input.task.pid);
	if (task)
		run->task_samples[io_task_place(tasks, task)] = record->input;
}

/*
 * Overrides of tasks come from users, not from the policy: they hold under the other policy too,
 * the oldest first if its rules leave no room.
 */
static void copy_overrides(struct run *run, const struct policy *recorded)
{
	uint32_t room = POLICY_RULES_MAX - run->obeyed.n_rules;
	uint32_t n = recorded->n_overrides < room ? recorded->n_overrides : room;

	run->obeyed.n_overrides = n;
	memcpy(&run->obeyed.rules[POLICY_RULES_MAX - n], &recorded->rules[POLICY_RULES_MAX - n],
	       n * sizeof(recorded->rules[0]));
}

static int play(struct run *run, const struct record *record)
{
	struct decision *recorded;
	struct played played;
	uint32_t domain;

	switch (record->type) {
	case RECORD_DECIDE:
		domain = record->decision.domain;
		if (!engine_is_active(run->engine, domain))
			return record_reader_refuse_decision(run->reader);
		recorded = &run->domains[domain].recorded;
		*recorded = record->decision;
		/* The write of the other policy's decision counts as successful. */
		if (record->outcome == ENGINE_NOT_SET)
			recorded->target_khz = recorded->previous_khz;
		run->ret->n_recorded++;
		set_khz(&run->ret->recorded[domain], recorded->target_khz, run->now_ns);
		decide(run, domain);
		break;
	case RECORD_ADVANCE:
		follow_round(run);
		break;
	case RECORD_POLICY:
		copy_overrides(run, record->policy);
		engine_set_policy(run->engine, &run->obeyed);
		break;
	case RECORD_POP_ENDED:
	case RECORD_POP_CLASS:
	case RECORD_POP_CLAMP:
		break;
	default:
		/* No frequency is accounted while the domain is not decided for. */
		if (record->type == RECORD_DOMAIN && !record->input.domain.active) {
			domain = record->input.domain.domain;
			set_khz(&run->ret->recorded[domain], 0, run->now_ns);
			set_khz(&run->ret->other[domain], 0, run->now_ns);
			run->domains[domain].recorded.target_khz = 0;
		}
		player_play(run->engine, run->reader, record, &played);
		keep_sample(run, record);
	}
	return 0;
}

static int replay_all(struct run *run)
{
	struct record record;
	int r;

	while ((r = lookahead_next(&run->ahead, &record)) == RECORD_READ) {
		bool is_first = record_is_timed(record.type) && !run->ret->time.begun;

		played_time_add(&run->ret->time, &record);
		if (is_first)
			run->now_ns = record.now_ns;
		/* Both start with the frequencies at the beginning of the recording. */
		for (uint32_t i = 0; is_first && i < run->ret->n_domains; i++) {
			uint32_t khz = engine_is_active(run->engine, i)
					       ? run->domains[i].recorded.target_khz
					       : 0;

			set_khz(&run->ret->recorded[i], khz, run->now_ns);
			set_khz(&run->ret->other[i], khz, run->now_ns);
		}
		if (record.now_ns > run->now_ns) {
			catch_up(run, record.now_ns);
			run->now_ns = record.now_ns;
		}
		r = play(run, &record);
		if (r < 0)
			return r;
		for (uint32_t i = 0; i < run->ret->n_domains; i++)
			compare(run, i);
	}
	for (uint32_t i = 0; i < run->ret->n_domains; i++) {
		set_khz(&run->ret->recorded[i], run->ret->recorded[i].khz, run->now_ns);
		set_khz(&run->ret->other[i], run->ret->other[i].khz, run->now_ns);
	}
	run->ret->cut = r == RECORD_CUT;
	return r < 0 ? r : 0;
}

static int set_up(struct run *run, const struct policy *policy)
{
	const struct topology *topology = record_reader_topology(run->reader);
	const struct policy *recorded = record_reader_policy(run->reader);
	uint32_t n = topology->n_domains;
	int r;

	/* The recorded state at the beginning must fit. */
	run->obeyed = *policy;
	run->obeyed.max_tasks = recorded->max_tasks;
	run->obeyed.max_ruled_tasks = recorded->max_ruled_tasks;
	copy_overrides(run, recorded);
	*run->ret = (struct what_if){
		.n_domains = n,
		.recorded = calloc(n + 1, sizeof(*run->ret->recorded)),
		.other = calloc(n + 1, sizeof(*run->ret->other)),
	};
	run->domains = calloc(n + 1, sizeof(*run->domains));
	run->task_samples = calloc(run->obeyed.max_tasks, sizeof(*run->task_samples));
	if (lookahead_init(&run->ahead, run->reader) < 0 || !run->task_samples ||
	    !run->ret->recorded || !run->ret->other || !run->domains)
		return -ENOMEM;
	r = player_begin(run->reader, &run->obeyed, NULL, &run->engine);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		run->domains[i].recorded = *engine_last(run->engine, i);
		run->ret->recorded[i].info = &topology->domains[i];
		run->ret->other[i].info = &topology->domains[i];
	}
	return 0;
}

int what_if_run(struct record_reader *reader, const struct policy *policy, struct what_if *ret)
{
	struct run run = { .reader = reader, .ret = ret };
	int r = set_up(&run, policy);

	if (r == 0)
		r = replay_all(&run);
	engine_free(run.engine);
	lookahead_deinit(&run.ahead);
	free(run.task_samples);
	free(run.domains);
	return r;
}

void what_if_deinit(struct what_if *what_if)
{
	free(what_if->recorded);
	free(what_if->other);
	*what_if = (struct what_if){ 0 };
}
