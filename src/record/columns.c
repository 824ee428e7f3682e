// SPDX-License-Identifier: GPL-2.0-only
/* What a picture shows of a time: each domain's decisions in columns, and the tasks behind them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/export.h"

/* The state of a domain until its next decision. */
struct column_domain_now {
	struct decision decision; /* target_khz 0: none */
	uint64_t since_ns;
	uint64_t longest_ns; /* longest time of a reason in the present column */
};

struct column_task_now {
	uint8_t state;
	bool held;
	uint64_t since_ns;
};

static uint32_t column_of(const struct columns *columns, uint64_t at_ns)
{
	uint64_t span_ns = columns->end_ns - columns->begin_ns;
	double share;

	if (at_ns <= columns->begin_ns || !span_ns)
		return 0;
	share = (double)(at_ns - columns->begin_ns) / (double)span_ns;
	return share >= 1 ? COLUMNS_N - 1 : (uint32_t)(share * COLUMNS_N);
}

static void add_use(struct columns *all, const struct decision *decision, uint64_t spent_ns)
{
	uint32_t i = 0;

	all->limiter_ns[decision->limiter] += spent_ns;
	if (!decision->pid)
		return;
	while (i < all->n_uses && (all->uses[i].reason != decision->reason ||
				   strcmp(all->uses[i].comm, decision->comm) != 0))
		i++;
	if (i == COLUMNS_USES_MAX) {
		all->unlisted_ns += spent_ns;
		return;
	}
	if (i == all->n_uses) {
		all->uses[i].reason = decision->reason;
		memcpy(all->uses[i].comm, decision->comm, sizeof(all->uses[i].comm));
		all->n_uses++;
	}
	all->uses[i].ns += spent_ns;
	all->uses[i].khz_s += (double)decision->target_khz * (double)spent_ns / 1e9;
}

/* Fills the columns up to at_ns with the present state. */
static void spend(struct columns *all, uint32_t domain, uint64_t at_ns)
{
	struct domain_column *columns = all->domains[domain];
	struct column_domain_now *now = &all->now[domain];
	uint64_t since_ns = now->since_ns > all->begin_ns ? now->since_ns : all->begin_ns;
	uint64_t spent_ns = at_ns > since_ns ? at_ns - since_ns : 0;
	uint32_t from = column_of(all, since_ns), to = column_of(all, at_ns);
	uint32_t khz = now->decision.target_khz;

	if (khz && at_ns >= all->begin_ns)
		add_use(all, &now->decision, spent_ns);
	for (uint32_t i = from; i <= to && khz && at_ns >= all->begin_ns; i++) {
		struct domain_column *column = &columns[i];

		if (i > from)
			now->longest_ns = 0;
		if (!column->least_khz || khz < column->least_khz)
			column->least_khz = khz;
		if (khz > column->most_khz)
			column->most_khz = khz;
		column->last_khz = khz;
		if (column->reason == COLUMN_NOTHING || spent_ns > now->longest_ns) {
			column->reason = (uint8_t)now->decision.reason;
			now->longest_ns = spent_ns;
		}
	}
	if (to > from)
		now->longest_ns = 0;
	now->since_ns = at_ns;
}

void columns_decide(struct columns *columns, const struct decision *decision)
{
	struct column_domain_now *now = &columns->now[decision->domain];
	struct domain_column *column;

	spend(columns, decision->domain, decision->now_ns);
	now->decision = *decision;
	column = &columns->domains[decision->domain][column_of(columns, decision->now_ns)];
	column->n_decisions += decision->now_ns >= columns->begin_ns;
	column->decision = *decision;
}

void columns_pause(struct columns *columns, uint32_t domain, uint64_t now_ns)
{
	spend(columns, domain, now_ns);
	columns->now[domain].decision = (struct decision){ 0 };
}

static void on_decision(void *userdata, const struct decision *decision, bool is_first)
{
	columns_decide(userdata, decision);
}

static void on_pause(void *userdata, uint32_t domain, uint64_t now_ns)
{
	columns_pause(userdata, domain, now_ns);
}

static int find_task(const struct columns *columns, uint32_t pid)
{
	for (uint32_t i = 0; i < columns->n_tasks; i++)
		if (columns->tasks[i].pid == pid)
			return (int)i;
	return -1;
}

static void spend_task(struct columns *columns, int i, uint64_t at_ns)
{
	struct task_row *row = &columns->tasks[i];
	struct column_task_now *now = &columns->tasks_now[i];
	uint32_t to = column_of(columns, at_ns);

	for (uint32_t c = column_of(columns, now->since_ns); c <= to; c++) {
		if (now->state == COLUMN_NOTHING)
			break;
		row->state[c] = now->state;
		row->boosted += now->held && !row->held[c];
		row->held[c] |= now->held;
	}
	now->since_ns = at_ns;
}

static void on_task(void *userdata, const struct io_task *task, bool is_first, uint64_t now_ns)
{
	struct columns *columns = userdata;
	int i = find_task(columns, task->pid);
	struct task_row *row;

	if (i < 0 && is_first && columns->n_tasks < COLUMNS_TASKS_MAX) {
		i = (int)columns->n_tasks++;
		row = &columns->tasks[i];
		*row = (struct task_row){ .pid = task->pid };
		memcpy(row->comm, task->comm, sizeof(row->comm));
		memset(row->state, COLUMN_NOTHING, sizeof(row->state));
		columns->tasks_now[i].state = COLUMN_NOTHING;
	} else if (i < 0) {
		columns->tasks_left_out += is_first;
		return;
	}
	spend_task(columns, i, now_ns);
	columns->tasks_now[i].state = task->io_boost.state;
	columns->tasks_now[i].held = io_boost_is_held(&task->io_boost);
}

static void on_task_end(void *userdata, uint32_t pid, uint64_t now_ns)
{
	struct columns *columns = userdata;
	int i = find_task(columns, pid);

	if (i < 0)
		return;
	spend_task(columns, i, now_ns);
	columns->tasks_now[i].state = COLUMN_NOTHING;
	columns->tasks_now[i].held = false;
}

int columns_begin(struct columns *ret, uint32_t n_domains, uint64_t begin_ns, uint64_t end_ns)
{
	*ret = (struct columns){
		.n_domains = n_domains,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.domains = calloc(n_domains + 1, sizeof(*ret->domains)),
		.now = calloc(n_domains + 1, sizeof(*ret->now)),
		.tasks = calloc(COLUMNS_TASKS_MAX, sizeof(*ret->tasks)),
		.tasks_now = calloc(COLUMNS_TASKS_MAX, sizeof(*ret->tasks_now)),
	};
	if (!ret->domains || !ret->now || !ret->tasks || !ret->tasks_now)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_domains; i++)
		for (uint32_t j = 0; j < COLUMNS_N; j++)
			ret->domains[i][j].reason = COLUMN_NOTHING;
	return 0;
}

int columns_fill(struct record_reader *reader, const struct timeline *measured, struct columns *ret)
{
	struct timeline_sink sink = {
		.decision = on_decision,
		.pause = on_pause,
		.task = on_task,
		.task_end = on_task_end,
		.userdata = ret,
	};
	int r = columns_begin(ret, reader->topology->n_domains, measured->begin_ns,
			      measured->end_ns);

	if (r < 0)
		return r;
	return timeline_run(reader, &sink, &ret->timeline);
}

void columns_deinit(struct columns *columns)
{
	free(columns->domains);
	free(columns->now);
	free(columns->tasks);
	free(columns->tasks_now);
	*columns = (struct columns){ 0 };
}
