// SPDX-License-Identifier: GPL-2.0-only
#include "util-acct-run.h"

void account_run_cpu(struct account_cpu *cpu, uint64_t now_ns)
{
	account_cpu(cpu, now_ns);
}

uint32_t account_run_util_q(const struct account_cpu *cpu)
{
	return account_util_q(cpu);
}

void account_run_switch(struct account_cpu *cpu, struct account_task *prev, bool sleeps,
			uint32_t next, struct account_task *next_task, uint64_t now_ns)
{
	if (prev)
		account_task_leaves(prev, cpu, cpu->switched_ns, sleeps, now_ns);
	if (next && !account_is_back(cpu, next, now_ns))
		account_task_comes(next_task, cpu, next, now_ns);
	account_switch(cpu, next, now_ns);
}

void account_run_tick(struct account_cpu *cpu, struct account_task *task, uint64_t now_ns)
{
	account_cpu(cpu, now_ns);
	account_task_ran(task, cpu, now_ns);
}

void account_run_move(struct account_task *task, struct account_cpu *from, struct account_cpu *to,
		      uint64_t now_ns)
{
	account_cpu(from, now_ns);
	account_cpu(to, now_ns);
	account_move(task, from, to, now_ns);
	account_cpu(from, now_ns);
	account_cpu(to, now_ns);
}
