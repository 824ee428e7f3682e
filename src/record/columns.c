// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/export.h"

/* The state until the next event. */
struct now {
	uint32_t khz;
	uint8_t reason;
	uint64_t since_ns;
	uint64_t longest_ns; /* longest time of a reason in the present column */
};

struct task_now {
	uint8_t state;
	bool held;
	uint64_t since_ns;
};

struct filler {
	struct columns *columns;
	uint64_t begin_ns, end_ns;
	struct now *domains;
	struct task_now *tasks; /* as columns->tasks */
};

static uint32_t column_of(const struct filler *filler, uint64_t at_ns)
{
	uint64_t span_ns = filler->end_ns - filler->begin_ns;
	double share;

	if (at_ns <= filler->begin_ns || !span_ns)
		return 0;
	share = (double)(at_ns - filler->begin_ns) / (double)span_ns;
	return share >= 1 ? COLUMNS_N - 1 : (uint32_t)(share * COLUMNS_N);
}

/* Fills the columns up to at_ns with the present state. */
static void spend(struct filler *filler, uint32_t domain, uint64_t at_ns)
{
	struct domain_column *columns = filler->columns->domains[domain];
	struct now *now = &filler->domains[domain];
	uint32_t from = column_of(filler, now->since_ns), to = column_of(filler, at_ns);
	uint64_t spent_ns = at_ns > now->since_ns ? at_ns - now->since_ns : 0;

	for (uint32_t i = from; i <= to && now->khz; i++) {
		struct domain_column *column = &columns[i];

		if (i > from)
			now->longest_ns = 0;
		if (!column->least_khz || now->khz < column->least_khz)
			column->least_khz = now->khz;
		if (now->khz > column->most_khz)
			column->most_khz = now->khz;
		column->last_khz = now->khz;
		if (column->reason == COLUMN_NOTHING || spent_ns > now->longest_ns) {
			column->reason = now->reason;
			now->longest_ns = spent_ns;
		}
	}
	if (to > from)
		now->longest_ns = 0;
	now->since_ns = at_ns;
}

static void take_decision(void *userdata, const struct decision *decision, bool is_first)
{
	struct filler *filler = userdata;
	struct now *now = &filler->domains[decision->domain];

	spend(filler, decision->domain, decision->now_ns);
	now->khz = decision->target_khz;
	now->reason = decision->reason;
}

static void take_pause(void *userdata, uint32_t domain, uint64_t now_ns)
{
	struct filler *filler = userdata;

	spend(filler, domain, now_ns);
	filler->domains[domain].khz = 0;
}

static int find_task(const struct columns *columns, uint32_t pid)
{
	for (uint32_t i = 0; i < columns->n_tasks; i++)
		if (columns->tasks[i].pid == pid)
			return (int)i;
	return -1;
}

static void spend_task(struct filler *filler, int i, uint64_t at_ns)
{
	struct task_row *row = &filler->columns->tasks[i];
	struct task_now *now = &filler->tasks[i];
	uint32_t to = column_of(filler, at_ns);

	for (uint32_t c = column_of(filler, now->since_ns); c <= to; c++) {
		if (now->state == COLUMN_NOTHING)
			break;
		row->state[c] = now->state;
		row->boosted += now->held && !row->held[c];
		row->held[c] |= now->held;
	}
	now->since_ns = at_ns;
}

static void take_task(void *userdata, const struct io_task *task, bool is_first, uint64_t now_ns)
{
	struct filler *filler = userdata;
	struct columns *columns = filler->columns;
	int i = find_task(columns, task->pid);
	struct task_row *row;

	if (i < 0 && is_first && columns->n_tasks < COLUMNS_TASKS_MAX) {
		i = (int)columns->n_tasks++;
		row = &columns->tasks[i];
		*row = (struct task_row){ .pid = task->pid };
		memcpy(row->comm, task->comm, sizeof(row->comm));
		memset(row->state, COLUMN_NOTHING, sizeof(row->state));
		filler->tasks[i].state = COLUMN_NOTHING;
	} else if (i < 0) {
		columns->tasks_left_out += is_first;
		return;
	}
	spend_task(filler, i, now_ns);
	filler->tasks[i].state = task->io_boost.state;
	filler->tasks[i].held = io_boost_is_held(&task->io_boost);
}

static void take_task_end(void *userdata, uint32_t pid, uint64_t now_ns)
{
	struct filler *filler = userdata;
	int i = find_task(filler->columns, pid);

	if (i < 0)
		return;
	spend_task(filler, i, now_ns);
	filler->tasks[i].state = COLUMN_NOTHING;
	filler->tasks[i].held = false;
}

int columns_fill(struct record_reader *reader, const struct timeline *measured, struct columns *ret)
{
	struct filler filler = {
		.columns = ret,
		.begin_ns = measured->time.begin_ns,
		.end_ns = measured->time.end_ns,
	};
	struct timeline_sink sink = {
		.decision = take_decision,
		.pause = take_pause,
		.task = take_task,
		.task_end = take_task_end,
		.userdata = &filler,
	};
	uint32_t n = record_reader_topology(reader)->n_domains;
	int r = 0;

	*ret = (struct columns){
		.n_domains = n,
		.domains = calloc(n + 1, sizeof(*ret->domains)),
		.tasks = calloc(COLUMNS_TASKS_MAX, sizeof(*ret->tasks)),
	};
	filler.domains = calloc(n + 1, sizeof(*filler.domains));
	filler.tasks = calloc(COLUMNS_TASKS_MAX, sizeof(*filler.tasks));
	if (!ret->domains || !ret->tasks || !filler.domains || !filler.tasks)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		for (uint32_t j = 0; j < COLUMNS_N; j++)
			ret->domains[i][j].reason = COLUMN_NOTHING;
	if (r == 0)
		r = timeline_run(reader, &sink, &ret->timeline);
	free(filler.domains);
	free(filler.tasks);
	return r;
}

void columns_deinit(struct columns *columns)
{
	free(columns->domains);
	free(columns->tasks);
	*columns = (struct columns){ 0 };
}
