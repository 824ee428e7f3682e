// SPDX-License-Identifier: GPL-2.0-only
/* The socket's lists of tasks with I/O or chains, and of devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/process.h"
#include "shared/time.h"
#include "varlink/engine_line.h"

void api_put_task(struct json_out *out, const struct core *core, const struct io_task *task)
{
	char device[TRACER_DISK_SIZE];
	bool named = tracer_device_name(core->tracer, task->io_boost.device, device) == 0;

	engine_line_put_task(out, core->engine, task, named ? device : NULL, time_now_ns());
}

enum order { ORDER_NONE, ORDER_PID, ORDER_COMM, ORDER_RATE, ORDER_GAIN, ORDER_BOOST, ORDERS };

/* The selection, the order and the page of tasks. */
struct choice {
	const char *domain; /* NULL: any */
	const char *state;
	const char *device;
	uint32_t pid; /* a thread or a process; 0: any */
	enum order order;
	uint64_t offset;
	uint64_t limit;
};

struct row {
	const struct io_task *task;
	uint32_t key; /* descending */
};

struct rows {
	struct row *rows;
	size_t n;
};

/* False: the order is unknown. */
static bool read_choice(const struct call *call, struct choice *ret)
{
	static const char *const names[ORDERS] = {
		[ORDER_PID] = "pid",   [ORDER_COMM] = "comm",	[ORDER_RATE] = "rate",
		[ORDER_GAIN] = "gain", [ORDER_BOOST] = "boost",
	};
	const char *sort = call_text(call, "sort");

	*ret = (struct choice){
		.domain = call_text(call, "domain"),
		.state = call_text(call, "state"),
		.device = call_text(call, "device"),
		.pid = (uint32_t)call_number(call, "pid"),
		.offset = (uint64_t)call_number(call, "offset"),
		.limit = (uint64_t)call_number_or(call, "limit", INT64_MAX),
	};
	if (!sort)
		return true;
	for (ret->order = ORDER_PID; ret->order < ORDERS; ret->order++)
		if (!strcmp(sort, names[ret->order]))
			return true;
	return false;
}

static bool differs(const char *wanted, const char *found)
{
	return wanted && (!found || strcmp(wanted, found) != 0);
}

static bool is_chosen(const struct core *core, const struct choice *choice,
		      const struct io_task *task)
{
	const struct topology *topology = core->topology;
	char device[TRACER_DISK_SIZE];

	if (task->released)
		return false; /* remembered, but not followed any more */
	if (choice->pid && choice->pid != task->pid && choice->pid != task->tgid)
		return false;
	if (differs(choice->state, io_boost_state_name(task->io_boost.state)))
		return false;
	if (differs(choice->domain,
		    api_domain_name(topology, topology_domain_of(topology, task->cpu))))
		return false;
	if (!choice->device)
		return true;
	return tracer_device_name(core->tracer, task->io_boost.device, device) == 0 &&
	       !strcmp(choice->device, device);
}

/* Ascending for names and pids. */
static int compare(const void *first, const void *second, void *order)
{
	const struct row *a = first, *b = second;
	int r = 0;

	if (*(const enum order *)order == ORDER_COMM)
		r = strcmp(a->task->comm, b->task->comm);
	if (r || a->key != b->key)
		return r ? r : (b->key > a->key) - (b->key < a->key);
	return (a->task->pid > b->task->pid) - (a->task->pid < b->task->pid);
}

static int choose(const struct core *core, struct choice *choice, struct rows *ret)
{
	const struct task_table *tasks = engine_tasks(core->engine);
	const struct io_task *task = NULL;

	*ret = (struct rows){ .rows = calloc(io_task_count(tasks) + 1, sizeof(*ret->rows)) };
	if (!ret->rows)
		return -ENOMEM;
	while ((task = io_task_next(tasks, task))) {
		uint32_t key = 0;

		if (!is_chosen(core, choice, task))
			continue;
		if (choice->order == ORDER_RATE)
			key = task->io_boost.rate_per_s;
		else if (choice->order == ORDER_BOOST)
			key = engine_task_boost_cap(core->engine, task);
		else if (choice->order == ORDER_GAIN)
			key = engine_line_predicted_permille(core->engine, task);
		ret->rows[ret->n++] = (struct row){ task, key };
	}
	if (choice->order)
		qsort_r(ret->rows, ret->n, sizeof(*ret->rows), compare, &choice->order);
	return 0;
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

static void put_chains(struct json_out *out, const struct core *core, const struct choice *choice)
{
	field_open(out, "chains", '[');
	for (uint32_t i = 0; i < core->n_domains; i++)
		if (governed_is_driven(&core->domains[i]) &&
		    !differs(choice->domain, core->topology->domains[i].name))
			put_chains_of(out, core, i, choice->pid);
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
	struct piece piece;
	uint32_t needs;

	if (!pid || !tracer_piece(core->tracer, pid, &piece)) {
		field_null(out, "piece");
		return;
	}
	field_open(out, "piece", '{');
	field_text(out, "kind", kinds[piece.kind]);
	field_count(out, "longest_us", piece.peak_us);
	field_count(out, "pieces", piece.n);
	field_count(out, "votes", abs(piece.score));
	needs = piece_due_util(&piece, piece.interval_us) * 1000 / 1024;
	field_count_if(out, "needs_permille", needs, needs);
	field_count(out, "price_milliwatts", core->policy.waiting_uw / 1000);
	json_out_close(out, '}');
}

int api_list_tasks(const struct call *call, struct reply *reply)
{
	const struct core *core = api_traced(call);
	uint64_t first, end;
	struct choice choice;
	struct json_out *out;
	struct rows chosen;
	int r;

	if (!read_choice(call, &choice))
		return reply_send_invalid(reply, "sort");
	if (choice.domain && topology_find(core->topology, choice.domain) == TOPOLOGY_NO_DOMAIN)
		return api_refuse_domain(reply, choice.domain);
	r = choose(core, &choice, &chosen);
	if (r < 0)
		return r;
	first = choice.offset < chosen.n ? choice.offset : chosen.n;
	end = choice.limit < chosen.n - first ? first + choice.limit : chosen.n;
	out = reply_begin(reply);
	field_open(out, "tasks", '[');
	for (uint64_t i = first; i < end && !out->error; i++)
		api_put_task(out, core, chosen.rows[i].task);
	json_out_close(out, ']');
	free(chosen.rows);
	put_chains(out, core, &choice);
	put_piece(out, core, choice.pid);
	field_count(out, "total", chosen.n);
	field_count_if(out, "next_offset", end < chosen.n, end);
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
