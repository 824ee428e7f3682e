// SPDX-License-Identifier: GPL-2.0-only
/* The made-up machine's tasks and devices: what they do, and what is told of it. */
#include "test-core-world.h"

#include "core/io_model.h"

static uint32_t level(uint32_t cpu)
{
	return io_level(world_level_q(cpu));
}

void world_account_io(void)
{
	for (uint32_t i = 0; i < WORLD_TASKS; i++) {
		struct world_task *t = &world->tasks[i];
		struct world_device *device = &world->devices[t->io.device];

		if (!t->pid)
			continue;
		device->completions +=
			fake_io_run(&t->io, level(t->cpu), level(device->completion_cpu),
				    world->now_ns - world->io_updated_ns, world->now_ns);
	}
	world->io_updated_ns = world->now_ns;
}

void world_io(uint32_t task, uint64_t n)
{
	world->tasks[task].io.io_waits += n;
	world->tasks[task].io.last_io_ns = world->now_ns;
}

static uint64_t hold_end_ns(const struct world_task *t)
{
	return t->io.last_io_ns + world->policy.io_boost.hold_ns;
}

/* As src/daemon/inputs.c does after a sample. */
static void watch(struct world_task *t)
{
	const struct io_task *task = io_task_find(engine_tasks(world->engine), t->pid);

	if (!world->watches || !task || !io_boost_is_settled(&task->io_boost))
		t->watch_ns = 0;
	else if (!t->watch_ns)
		t->watch_ns = world->now_ns + world->policy.io_boost.hold_ns;
}

uint64_t world_next_watch_ns(void)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < WORLD_TASKS; i++)
		if (world->tasks[i].watch_ns && world->tasks[i].watch_ns < next_ns)
			next_ns = world->tasks[i].watch_ns;
	return next_ns;
}

/* As bpf/hot.bpf.h does: told once. */
void world_check_holds(void)
{
	for (uint32_t i = 0; i < WORLD_TASKS; i++) {
		struct world_task *t = &world->tasks[i];

		if (!t->watch_ns || t->watch_ns > world->now_ns)
			continue;
		if (hold_end_ns(t) > world->now_ns) {
			t->watch_ns = hold_end_ns(t);
			continue;
		}
		t->watch_ns = 0;
		world_tell_task(i);
		world_round();
	}
}

void world_tell_task(uint32_t task)
{
	struct world_task *t = &world->tasks[task];
	struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK,
		.task = {
			.pid = t->pid,
			.tgid = t->pid,
			.handle = task,
			.cpu = t->cpu,
			.comm = "task",
			.level_q = world_level_q(t->cpu),
			.watched = t->watch_ns,
		},
	};

	fake_io_totals(&t->io, &input.task);
	world_apply(&input);
	world->samples++;
	watch(t);
}

void world_start_task(uint32_t task, uint32_t pid, uint32_t cpu)
{
	const struct fake_io io = { .kind = FAKE_IO_NONE, .io_waits = 10 };

	world_start_io(task, pid, cpu, &io);
}

void world_start_io(uint32_t task, uint32_t pid, uint32_t cpu, const struct fake_io *io)
{
	world->tasks[task] = (struct world_task){ .pid = pid, .cpu = cpu, .io = *io };
	world->tasks[task].io.last_io_ns = world->now_ns;
	if (io->kind != FAKE_IO_NONE && io->kind != FAKE_IO_COUNTED)
		world->devices[io->device].present = true;
	world_tell_task(task);
	world_round();
}

void world_stop_io(uint32_t task)
{
	world->tasks[task].io.stopped = true;
}

void world_move_task(uint32_t task, uint32_t cpu)
{
	world->tasks[task].cpu = cpu;
	world_tell_task(task);
	world_round();
}

void world_end_task(uint32_t task)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_TASK_END,
		.ended_pid = world->tasks[task].pid,
	};

	world->tasks[task] = (struct world_task){ 0 };
	world_apply(&input);
}

void world_end_device(uint32_t device)
{
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_DEVICE_END,
		.ended_device = device,
	};

	world->devices[device] = (struct world_device){ 0 };
	world_apply(&input);
}

static void sample_device(uint32_t device)
{
	const struct world_device *d = &world->devices[device];
	const struct input input = {
		.now_ns = world->now_ns,
		.type = INPUT_DEVICE,
		.device = {
			.device = device,
			.completions = d->completions,
			.completion_cpu = d->completion_cpu,
		},
	};

	if (d->present)
		world_apply(&input);
}

uint32_t world_count_tasks(void)
{
	const struct io_task *task = NULL;
	uint32_t n = 0;

	while ((task = io_task_next(engine_tasks(world->engine), task)))
		n += !task->released;
	return n;
}

void world_sample_due(void)
{
	const struct io_task *task = NULL;

	while ((task = engine_next_due(world->engine, task, world->now_ns)))
		if (world->tasks[task->handle].pid == task->pid)
			world_tell_task(task->handle);
	for (uint32_t i = 0; i < WORLD_DEVICES; i++)
		if (world->now_ns >= engine_device(world->engine, i)->next_ns)
			sample_device(i);
	engine_advance(world->engine, world->now_ns);
	engine_advance(world->twin, world->now_ns);
}
