// SPDX-License-Identifier: GPL-2.0-only
/* Explains a domain's frequency. */
#include <errno.h>

#include "daemon/api/api.h"
#include "daemon/history/past.h"
#include "daemon/process.h"
#include "diag/diag.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "wakegov/abi.h"

#define SYS		  "/sys"
#define LIMITERS_MAX	  10
#define KERNEL_BOOSTS_MAX 6

struct limiters {
	struct json_out *out;
	uint32_t n;
};

static int put_limiter(void *context, const struct throttle *found)
{
	struct limiters *limiters = context;

	if (limiters->n++ == LIMITERS_MAX)
		return 1;
	json_out_open(limiters->out, '{');
	field_text(limiters->out, "who", found->who);
	field_text(limiters->out, "name", found->name);
	field_text(limiters->out, "kind", found->kind);
	field_nonzero(limiters->out, "khz", found->khz);
	field_nonzero(limiters->out, "percent", found->percent);
	field_nonzero(limiters->out, "step", found->step);
	field_nonzero(limiters->out, "steps", found->steps);
	json_out_close(limiters->out, '}');
	return 0;
}

static void put_limiters(struct json_out *out, struct core *core, uint32_t i)
{
	struct actuator_domain *actuator = &core->domains[i].actuator;
	struct api_asked asked = api_asked(core, i);
	struct limiters limiters = { .out = out };
	struct wakegov_limits requests;
	struct throttle_domain domain = {
		.first_cpu = actuator->info->first_cpu,
		.lowest_khz = actuator->info->opp_khz[0],
		.highest_khz = topology_domain_max_khz(actuator->info),
		.asked_min_khz = asked.min_khz,
		.asked_max_khz = asked.max_khz,
	};

	if (actuator->state == ACTUATOR_STATE_OFFLINE)
		return;
	if (actuator->state != ACTUATOR_STATE_DRIVEN)
		put_limiter(&limiters,
			    &(struct throttle){ .who = actuator_state_names[actuator->state] });
	actuator_domain_read_back(actuator, &domain.current_khz);
	actuator_domain_read_limits(actuator, &domain.scaling_min_khz, &domain.scaling_max_khz);
	if (actuator->range.is_acquired)
		requests = (struct wakegov_limits){ .min_khz = actuator->range.min.saved_khz,
						    .max_khz = actuator->range.max.saved_khz };
	else
		actuator_domain_read_requests(actuator, &requests);
	domain.request_min_khz = requests.min_khz;
	domain.request_max_khz = requests.max_khz;
	throttle_find(SYS, &domain, put_limiter, &limiters);
}

/* The tasks that schedutil boosts, and those that get a maximum as its boost gains nothing. */
static void put_kernel_boosts(struct json_out *out, const struct core *core, uint32_t domain)
{
	const struct io_task *task = NULL;
	uint32_t n = 0;

	while (n < KERNEL_BOOSTS_MAX && (task = io_task_next(engine_tasks(core->engine), task))) {
		bool held_back = task->io_boost.state == IO_BOOST_DOESNT_PAY &&
				 engine_task_need_cap(core->engine, task);

		if (topology_domain_of(core->topology, task->cpu) != domain ||
		    (!held_back && !engine_kernel_boosts(core->engine, task)))
			continue;
		api_put_task(out, core, task);
		n++;
	}
}

/* What was asked for: the present decision, or a line of the past. */
struct explained {
	const struct change *acted; /* the last change up to then; NULL: not in memory */
	const char *line;	    /* its text in the archive, which is asked next; NULL: none */
	uint32_t left_out;	    /* decisions after it that the archive left out */
	bool is_present;	    /* files in /sys belong to it */
	bool has_task;		    /* a task was given: it is on this CPU, or ran there last */
	uint32_t cpu;
};

static void put_acted(struct json_out *out, const char *key, const struct core *core,
		      const struct explained *explained)
{
	if (explained->line)
		field_json(out, key, explained->line);
	else
		change_put(out, key, core, explained->acted, false);
}

static int send_explanation(struct reply *reply, struct core *core, uint32_t domain,
			    const struct explained *explained)
{
	const struct decision *last = engine_last(core->engine, domain);
	struct json_out *out = reply_begin(reply);
	struct change now = change_of(core, last, 0);

	json_out_key(out, "domain");
	api_put_domain(out, core, domain);
	field_bool(out, "is_present", explained->is_present);
	field_count_if(out, "cpu", explained->has_task, explained->cpu);
	if (explained->is_present)
		change_put(out, "decision", core, last->target_khz ? &now : NULL, true);
	else
		put_acted(out, "decision", core, explained);
	put_acted(out, "acted", core, explained);
	field_nonzero(out, "left_out", explained->left_out);
	field_open(out, "kernel_boosts", '[');
	if (explained->is_present)
		put_kernel_boosts(out, core, domain);
	json_out_close(out, ']');
	field_open(out, "limiters", '[');
	if (explained->is_present)
		put_limiters(out, core, domain);
	json_out_close(out, ']');
	return reply_end(reply);
}

/* The CPU of a task: that of its last I/O, or where the kernel shows it. */
static int find_cpu(struct core *core, uint32_t pid, uint32_t *ret)
{
	const struct io_task *task = io_task_find(engine_tasks(core->engine), pid);
	struct task_facts facts;
	int r;

	if (task) {
		*ret = task->cpu;
		return 0;
	}
	r = tracer_find_task(core->tracer, pid, &facts);
	if (r == 0)
		*ret = facts.cpu;
	return r;
}

static int refuse_time(struct reply *reply, uint64_t at_us)
{
	return reply_send_error(reply, "io.wakegov.NotRemembered",
				json_pack("{sI}", "at_us", (json_int_t)at_us));
}

/*
 * Looks in the archive for a decision that is not in memory, for callers who may see the names of
 * all tasks.
 */
static int explain_past(const struct call *call, struct reply *reply, uint32_t domain,
			uint64_t at_us, uint64_t at_realtime_us, struct explained *explained)
{
	struct manager *manager = call->userdata;
	struct archive *archive = manager->past.archive;
	const char *name = manager->core.topology->domains[domain].name;
	_cleanup_free_ char *line = NULL;

	if (archive && call->peer->may_change)
		line = archive_find(archive, name, at_realtime_us, &explained->left_out);
	if (!line)
		return refuse_time(reply, at_us);
	explained->line = line;
	return send_explanation(reply, &manager->core, domain, explained);
}

int api_explain(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct core *core = api_traced(call);
	const char *name = call_text(call, "domain");
	bool has_cpu = call_has_number(call, "cpu");
	struct explained explained = { .has_task = call_has_number(call, "pid") };
	json_int_t cpu = call_number(call, "cpu"), pid = call_number(call, "pid");
	uint64_t at_us = (uint64_t)call_number(call, "at_us");
	uint64_t at_realtime_us = (uint64_t)call_number(call, "at_realtime_us");
	uint32_t domain;
	int r;

	if (!!name + has_cpu + !!pid != 1)
		return reply_send_invalid(reply, "domain");
	if (pid) {
		r = find_cpu(core, (uint32_t)pid, &explained.cpu);
		if (r == -ESRCH)
			return api_refuse_task(reply, pid);
		if (r < 0)
			return r;
		cpu = explained.cpu;
	}
	domain = name ? topology_find(core->topology, name)
		      : topology_domain_of(core->topology, (uint32_t)cpu);
	if (domain == TOPOLOGY_NO_DOMAIN && name)
		return api_refuse_domain(reply, name);
	if (domain == TOPOLOGY_NO_DOMAIN)
		return reply_send_error(reply, "io.wakegov.NoSuchCpu",
					json_pack("{sI}", "cpu", cpu));

	explained.acted = decision_ring_find(manager->past.ring, domain,
					     at_us ? at_us * NS_PER_US : UINT64_MAX);
	if (at_realtime_us && (!at_us || !explained.acted))
		return explain_past(call, reply, domain, at_us, at_realtime_us, &explained);
	explained.is_present = !at_us;
	if (!explained.is_present && !explained.acted)
		return refuse_time(reply, at_us);
	return send_explanation(reply, core, domain, &explained);
}
