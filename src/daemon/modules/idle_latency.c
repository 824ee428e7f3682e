// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle latency: while a task with one works, the daemon holds /dev/cpu_dma_latency open with the
 * shortest of these. No CPU then uses an idle state that takes longer to leave. The kernel ends the
 * request when the descriptor is closed, also after SIGKILL.
 *
 * The kernel side emits a record when such a task begins to run and less is asked for than is held;
 * the device is held from then on. Each HOLD_NS the daemon asks which of these tasks ran since, and
 * holds the shortest idle latency of these, or none.
 */
#include "daemon/modules/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "actuator/control.h"
#include "core/rule.h"
#include "shared/log.h"
#include "shared/sysfs.h"
#include "shared/time.h"

#define NONE POLICY_IDLE_LATENCY_NONE

/*
 * How long a task's idle latency is held after it was last seen at work. With twice the time CPUs
 * sleep lightly for twice as long after it; with half, steady tasks wake the daemon twice as often.
 */
#define HOLD_NS (500 * NS_PER_MS)

const char *idle_latency_why_not(const struct idle_latency *idle)
{
	char driver[32];

	if (!idle->wanted)
		return NULL;
	if (idle->core->policy.backend == POLICY_BACKEND_OBSERVE)
		return "wakegov only observes";
	if (!sysfs_read_line(driver, sizeof(driver), CONTROL_CPUS "/cpuidle/current_driver") ||
	    !strcmp(driver, "none"))
		return "the kernel has no idle states to choose from (no cpuidle driver)";
	if (idle->error)
		return "/dev/cpu_dma_latency cannot be held";
	return NULL;
}

/* A write to the descriptor that is open replaces the request. Returns 0 or a negative errno. */
static int hold(struct idle_latency *idle, uint32_t us)
{
	int32_t request = (int32_t)us;

	if (idle->fd <= 0)
		idle->fd = open(IDLE_LATENCY_DEVICE, O_WRONLY | O_CLOEXEC);
	if (idle->fd < 0)
		return -errno;
	idle->held_us = us;
	return write(idle->fd, &request, sizeof(request)) < 0 ? -errno : 0;
}

static void release(struct idle_latency *idle)
{
	if (idle->fd > 0)
		close(idle->fd);
	idle->fd = 0;
	idle->held_us = NONE;
}

/* After a failure the kernel side emits no more records, until the policy is read again. */
static void set_held(struct idle_latency *idle, uint32_t us)
{
	if (us != NONE && us != idle->held_us)
		idle->error = hold(idle, us);
	if (us == NONE || idle->error)
		release(idle);
	if (idle->error)
		log_warning("cannot hold %s: %s; idle-latency has no effect", IDLE_LATENCY_DEVICE,
			    strerror(-idle->error));
	tracer_set_held_idle_latency(idle->core->tracer, idle->error ? 0 : idle->held_us);
}

static void on_event(void *state, const struct wakegov_record *record, uint64_t now_ns)
{
	struct idle_latency *idle = state;
	uint32_t us = NONE;

	if (record->type != WAKEGOV_RECORD_IDLE_LATENCY || idle->error)
		return;
	if (!idle->core->handed_back_until_ns)
		us = tracer_pop_idle_latency(idle->core->tracer);
	if (us > idle->held_us)
		us = idle->held_us;
	set_held(idle, us);
	idle->next_ns = now_ns + HOLD_NS;
}

/* While the domains are handed back nothing is held. */
static void run(void *state, uint64_t now_ns)
{
	struct idle_latency *idle = state;
	bool handed_back = idle->core->handed_back_until_ns;

	if (idle->held_us == NONE || (!handed_back && now_ns < idle->next_ns))
		return;
	set_held(idle, handed_back ? NONE : tracer_pop_idle_latency(idle->core->tracer));
	idle->next_ns = now_ns + HOLD_NS;
}

static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct idle_latency *idle = state;

	return idle->held_us == NONE ? UINT64_MAX : idle->next_ns;
}

static void update_task(void *state, uint32_t pid)
{
	const struct idle_latency *idle = state;
	const struct core *core = idle->core;
	const struct rules_task *ruled = rules_find(core->rules, pid);
	uint32_t us = NONE;
	int rule = -1;

	if (!idle->wanted)
		return;
	if (ruled && core->policy.backend != POLICY_BACKEND_OBSERVE)
		rule = rule_that_gives_anywhere(&core->policy, ruled->matched, RULE_IDLE_LATENCY);
	if (rule >= 0)
		us = core->policy.rules[rule].properties.idle_latency.value;
	tracer_set_idle_latency(core->tracer, pid, us);
}

static void task_seen(void *state, const struct task_facts *facts)
{
	update_task(state, facts->pid);
}

/* Tasks of the new rules follow. What is held is held until run() finds none of them at work. */
static void rules_changed(void *state)
{
	struct idle_latency *idle = state;
	struct core *core = idle->core;
	const char *why;

	idle->wanted = rule_any_gives(&core->policy, RULE_IDLE_LATENCY);
	idle->error = 0;
	tracer_clear_idle_latencies(core->tracer);
	set_held(idle, idle->wanted ? idle->held_us : NONE);
	why = idle_latency_why_not(idle);
	if (why && !idle->warned)
		log_warning("idle-latency does nothing here: %s", why);
	idle->warned |= why != NULL;
}

static int start(void *state)
{
	((struct idle_latency *)state)->held_us = NONE;
	return 0;
}

static void released(void *state)
{
	release(state);
}

static bool needs_tracer(const void *state)
{
	return ((const struct idle_latency *)state)->wanted;
}

const struct module idle_latency_module = {
	.name = "idle latency",
	.start = start,
	.released = released,
	.rules_changed = rules_changed,
	.task_seen = task_seen,
	.task_rehinted = update_task,
	.task_ended = update_task,
	.on_event = on_event,
	.needs_tracer = needs_tracer,
	.run = run,
	.next_ns = next_ns,
};
