// SPDX-License-Identifier: GPL-2.0-only
/*
 * What another policy would have decided: an engine with that policy gets the recorded inputs. It
 * decides in the recorded rounds, and between them when its own timers are over.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/record.h"
#include "shared/time.h"

/* A timer may be late by this much; the recorded round is then the one that it caused. */
#define LATE_NS	      (2 * NS_PER_MS)
#define CATCH_UPS_MAX 1000 /* between two calls: only a forged file has more */

struct run {
	struct record_reader *reader;
	struct engine *engine;
	struct policy obeyed; /* the other policy, with the recorded overrides */
	struct followed {
		struct decision recorded; /* the last decision */
		bool differs;
		bool pending; /* due in the last round, but not decided */
	} * domains;
	uint64_t begin_ns, now_ns;
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
				.at_ns = run->now_ns - run->begin_ns,
				.recorded = *recorded,
				.other = *other,
			};
		ret->n_differences++;
	}
	run->domains[domain].differs = differs;
}

static void decide(struct run *run, uint32_t domain)
{
	const struct decision *decision;

	run->domains[domain].pending = false;
	if (!engine_is_due(run->engine, domain, run->now_ns))
		return;
	decision = engine_decide(run->engine, domain, run->now_ns);
	engine_commit(run->engine, domain, ENGINE_SET);
	run->ret->n_other++;
	set_khz(&run->ret->other[domain], decision->target_khz, run->now_ns);
}

/* Drops what the tracer and the actuator would get. */
static void drop_outputs(struct run *run)
{
	struct task_clamp clamp;
	struct task_class class;
	uint32_t handle;

	while (engine_pop_ended(run->engine, &handle) || engine_pop_class(run->engine, &class) ||
	       engine_pop_clamp(run->engine, &clamp))
		;
}

/*
 * Follows a recorded round. Recorded decisions come one by one, each after its samples; a domain
 * that is due here but was not decided there waits until the next round.
 */
static void follow_round(struct run *run)
{
	engine_advance(run->engine, run->now_ns);
	for (uint32_t domain = 0; domain < run->ret->n_domains; domain++) {
		if (run->domains[domain].pending)
			decide(run, domain);
		run->domains[domain].pending = engine_is_due(run->engine, domain, run->now_ns);
	}
	drop_outputs(run);
}

/*
 * Makes the rounds that this engine's own timers would have caused before until_ns. Where a sample
 * is due, of which there is none, it tries again a millisecond later.
 */
static void catch_up(struct run *run, uint64_t until_ns)
{
	for (int i = 0; i < CATCH_UPS_MAX; i++) {
		uint64_t next_ns = engine_next_ns(run->engine);

		if (next_ns <= run->now_ns)
			next_ns = run->now_ns + NS_PER_MS;
		if (next_ns >= until_ns || until_ns - next_ns <= LATE_NS)
			break;
		run->now_ns = next_ns;
		engine_advance(run->engine, next_ns);
		for (uint32_t domain = 0; domain < run->ret->n_domains; domain++)
			decide(run, domain);
		drop_outputs(run);
	}
	if (until_ns > run->now_ns)
		run->now_ns = until_ns;
}

/*
 * Overrides come from users, not from the policy: they hold under the other policy too, those of
 * tasks the oldest first if its rules leave no room.
 */
static void copy_overrides(struct run *run, const struct policy *recorded)
{
	uint32_t room = POLICY_RULES_MAX - run->obeyed.n_rules;
	uint32_t n = recorded->n_overrides < room ? recorded->n_overrides : room;

	run->obeyed.n_overrides = n;
	memcpy(&run->obeyed.rules[POLICY_RULES_MAX - n], &recorded->rules[POLICY_RULES_MAX - n],
	       n * sizeof(recorded->rules[0]));
	run->obeyed.n_domain_overrides = recorded->n_domain_overrides;
	memcpy(run->obeyed.domain_overrides, recorded->domain_overrides,
	       sizeof(recorded->domain_overrides));
}

static int play(struct run *run, const struct engine_call *call)
{
	struct decision *recorded;
	uint32_t domain;

	switch (call->type) {
	case ENGINE_COMMIT:
		domain = call->decision->domain;
		if (!engine_is_active(run->engine, domain))
			return record_reader_refuse(run->reader,
						    "a decision for a domain that is not active");
		recorded = &run->domains[domain].recorded;
		*recorded = *call->decision;
		/* The write of the other policy's decision counts as successful. */
		if (call->outcome == ENGINE_NOT_SET)
			recorded->target_khz = recorded->previous_khz;
		run->ret->n_recorded++;
		set_khz(&run->ret->recorded[domain], recorded->target_khz, run->now_ns);
		decide(run, domain);
		break;
	case ENGINE_ADVANCE:
		follow_round(run);
		break;
	case ENGINE_SET_POLICY:
		copy_overrides(run, call->policy);
		engine_set_policy(run->engine, &run->obeyed, call->now_ns);
		break;
	case ENGINE_POP_ENDED:
	case ENGINE_POP_CLASS:
	case ENGINE_POP_CLAMP:
		break;
	case ENGINE_FORGET_TARGET:
		engine_forget_target(run->engine, call->domain);
		break;
	case ENGINE_APPLY:
		/* No frequency is accounted while the domain is not decided for. */
		if (call->input->type == INPUT_DOMAIN && !call->input->domain.active) {
			domain = call->input->domain.domain;
			set_khz(&run->ret->recorded[domain], 0, run->now_ns);
			set_khz(&run->ret->other[domain], 0, run->now_ns);
			run->domains[domain].recorded.target_khz = 0;
		}
		engine_apply(run->engine, call->input);
	}
	return 0;
}

static int replay_all(struct run *run)
{
	struct engine_call call;
	int r;

	while ((r = record_reader_next(run->reader, &call)) == RECORD_READ) {
		catch_up(run, call.now_ns);
		r = play(run, &call);
		if (r < 0)
			return r;
		for (uint32_t i = 0; i < run->ret->n_domains; i++)
			compare(run, i);
	}
	catch_up(run, run->reader->end_ns);
	for (uint32_t i = 0; i < run->ret->n_domains; i++) {
		compare(run, i);
		set_khz(&run->ret->recorded[i], run->ret->recorded[i].khz, run->now_ns);
		set_khz(&run->ret->other[i], run->ret->other[i].khz, run->now_ns);
	}
	run->ret->cut = r == RECORD_CUT;
	return r < 0 ? r : 0;
}

static int set_up(struct run *run, const struct policy *policy)
{
	const struct topology *topology = run->reader->topology;
	const struct policy *recorded = &run->reader->policy;
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
	if (!run->ret->recorded || !run->ret->other || !run->domains)
		return -ENOMEM;
	r = player_begin(run->reader, &run->obeyed, NULL, &run->engine);
	if (r < 0)
		return r;
	/* What the loaded state decided by the recorded policy holds until the next decision. */
	engine_set_policy(run->engine, &run->obeyed, run->reader->begin_ns);
	run->begin_ns = run->now_ns = run->reader->begin_ns;
	/* Both start with the frequencies at the beginning of the recording. */
	for (uint32_t i = 0; i < n; i++) {
		const struct decision *last = engine_last(run->engine, i);
		uint32_t khz = engine_is_active(run->engine, i) ? last->target_khz : 0;

		run->domains[i].recorded = *last;
		run->ret->recorded[i].info = run->ret->other[i].info = &topology->domains[i];
		set_khz(&run->ret->recorded[i], khz, run->now_ns);
		set_khz(&run->ret->other[i], khz, run->now_ns);
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
	free(run.domains);
	return r;
}

void what_if_deinit(struct what_if *what_if)
{
	free(what_if->recorded);
	free(what_if->other);
	*what_if = (struct what_if){ 0 };
}
