// SPDX-License-Identifier: GPL-2.0-only
/* The socket's lists of tasks with I/O or chains, and of devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/process.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/engine_line.h"

void api_put_task(struct json_out *out, const struct core *core, const struct io_task *task)
{
	char device[TRACER_DISK_SIZE];
	bool named = tracer_device_name(core->tracer, task->io_boost.device, device) == 0;

	engine_line_put_task(out, core->engine, task, named ? device : NULL, time_now_ns());
}

/* By the rate, the highest first. */
static int compare(const void *first, const void *second)
{
	const struct io_task *a = *(const struct io_task *const *)first;
	const struct io_task *b = *(const struct io_task *const *)second;

	if (a->io_boost.rate_per_s != b->io_boost.rate_per_s)
		return a->io_boost.rate_per_s < b->io_boost.rate_per_s ? 1 : -1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* The chains that ask for more than the CPUs where they are, as of their domain's last decision. */
static void put_chains_of(struct json_out *out, const struct core *core, uint32_t domain,
			  uint32_t pid)
{
	const struct explanation *rests_on = engine_explanation(core->engine, domain);

	for (uint32_t i = 0; i < rests_on->n_contenders && i < EXPLANATION_CONTENDERS_MAX; i++) {
		const struct contender *contender = &rests_on->contenders[i];

		if (contender->reason != REASON_CHAIN ||
		    (pid && pid != contender->pid && pid != contender->partner))
			continue;
		json_out_open(out, '{');
		field_text(out, "domain", core->topology->domains[domain].name);
		engine_line_put_contender(out, contender, process_name);
		json_out_close(out, '}');
	}
}

static void put_chains(struct json_out *out, const struct core *core, uint32_t pid)
{
	field_open(out, "chains", '[');
	for (uint32_t i = 0; i < core->n_domains; i++)
		if (governed_is_driven(&core->domains[i]))
			put_chains_of(out, core, i, pid);
	json_out_close(out, ']');
}

/* What is known of the work that begins when something outside wakes the thread. */
static void put_piece(struct json_out *out, const struct core *core, uint32_t pid)
{
	static const char *const kinds[] = {
		[PIECE_UNKNOWN] = "unknown",
		[PIECE_DUE] = "due",
		[PIECE_WAITED_FOR] = "waited_for",
	};
	const struct task *task;
	struct piece piece;
	uint32_t needs;

	if (!field_open_if(out, "piece", pid && tracer_piece(core->tracer, pid, &piece)))
		return;
	field_text(out, "kind", kinds[piece.kind]);
	field_count(out, "longest_us", piece.peak_us);
	field_count(out, "pieces", piece.n);
	field_count(out, "votes", abs(piece.score));
	needs = piece_due_util(&piece, piece.interval_us) * 1000 / 1024;
	field_count_if(out, "needs_permille", needs, needs);
	field_count(out, "price_milliwatts", core->policy.waiting_uw / 1000);
	task = task_find(engine_tasks(core->engine), pid);
	field_count_if(out, "kept_cap", task && task->waited && task->given_min_cap,
		       task ? task->given_min_cap : 0);
	json_out_close(out, '}');
}

int api_list_tasks(const struct call *call, struct reply *reply)
{
	const struct core *core = api_traced(call);
	const struct task_table *tasks = engine_tasks(core->engine);
	uint32_t pid = (uint32_t)call_number(call, "pid");
	size_t n = 0, limit = (size_t)call_number_or(call, "limit", UINT32_MAX);
	_cleanup_free_ const struct io_task **chosen = calloc(io_task_count(tasks) + 1,
							      sizeof(*chosen));
	const struct io_task *task = NULL;
	struct json_out *out;

	if (!chosen)
		return -ENOMEM;
	/* A released one is remembered, but not followed any more. */
	while ((task = io_task_next(tasks, task)))
		if (!task->released && (!pid || pid == task->pid || pid == task->tgid))
			chosen[n++] = task;
	qsort(chosen, n, sizeof(*chosen), compare);
	out = reply_begin(reply);
	field_open(out, "tasks", '[');
	for (size_t i = 0; i < n && i < limit && !out->error; i++)
		api_put_task(out, core, chosen[i]);
	json_out_close(out, ']');
	put_chains(out, core, pid);
	put_piece(out, core, pid);
	field_count(out, "total", n);
	field_count(out, "min_rate_per_s", core->policy.io_boost.min_rate_per_s);
	return reply_end(reply);
}

static void put_device(struct json_out *out, const struct core *core, const char *name,
		       const struct input_device *now)
{
	const struct io_device *device = engine_device(core->engine, now->device);
	const struct io_task *task = NULL;
	uint32_t boosted = 0, trying = 0;

	while ((task = engine_next_user(core->engine, now->device, task))) {
		boosted += io_boost_is_held(&task->io_boost);
		trying += task->io_boost.state == IO_BOOST_TRYING;
	}
	json_out_open(out, '{');
	field_text(out, "name", name);
	field_count(out, "tasks", device->n_users);
	field_count(out, "depth", now->depth);
	field_count(out, "completions", now->completions);
	field_count_if(out, "completions_per_s", device->rates.known,
		       device->rates.completions_per_s);
	field_count_if(out, "depth_milli", device->rates.known, device->rates.depth_milli);
	field_count(out, "completion_cpu", now->completion_cpu);
	field_text(out, "completion_domain",
		   api_domain_name(core->topology,
				   topology_domain_of(core->topology, now->completion_cpu)));
	field_count(out, "boosted", boosted);
	field_count(out, "trying", trying);
	json_out_close(out, '}');
}

int api_list_devices(const struct call *call, struct reply *reply)
{
	struct core *core = api_traced(call);
	struct json_out *out = reply_begin(reply);
	uint64_t now_ns = time_now_ns();

	field_open(out, "devices", '[');
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		char name[TRACER_DISK_SIZE];
		struct input now;

		if (tracer_read_device(core->tracer, i, now_ns, &now) == 0 &&
		    tracer_device_name(core->tracer, i, name) == 0)
			put_device(out, core, name, &now.device);
	}
	json_out_close(out, ']');
	return reply_end(reply);
}
