// SPDX-License-Identifier: GPL-2.0-only
/* Hints: who may give a class to which task, and until when. */
#include "daemon/modules/hinting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "core/rule.h"
#include "daemon/loop.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

#define PIDFS_MAGIC   0x50494446 /* linux/magic.h, since Linux 6.9 */
#define SAVE_AFTER_NS NS_PER_S	 /* hints within a second are saved together */

struct hint_hold {
	struct channel channel;
	uint64_t hint; /* id of the hint */
	struct hint_hold *next;
};

static struct hints *hints_in(const struct hinting *hinting)
{
	return hinting->core->rules->hints;
}

static void save_soon(struct hinting *hinting)
{
	if (hinting->save_ns == UINT64_MAX)
		hinting->save_ns = time_now_ns() + SAVE_AFTER_NS;
}

/* Hints were added, changed or removed: the rules of classes follow, and the tasks. */
static void apply(struct hinting *hinting)
{
	struct core *core = hinting->core;

	if (hints_fill(hints_in(hinting), &core->policy)) {
		engine_set_policy(core->engine, &core->policy, time_now_ns());
		rule_tracking_set_policy(core);
	} else {
		rule_tracking_rehint(core);
	}
}

/*
 * Whether the pid is that of the caller's pidfd. Inode numbers of pidfds are unique only since
 * Linux 6.9. Call it after the task was looked up: if the pid is the caller's process now, it was
 * at the look-up.
 */
static bool is_pidfd_of(uint32_t pid, uint64_t pidfd_id)
{
	_cleanup_close_ int fd = pidfd_open((pid_t)pid, 0);
	struct statfs filesystem;
	struct stat stat;

	return fd >= 0 && fstatfs(fd, &filesystem) == 0 && filesystem.f_type == PIDFS_MAGIC &&
	       fstat(fd, &stat) == 0 && stat.st_ino == pidfd_id;
}

/* Finds the task's facts and its own hint; NULL: it has none. */
static int find_target(struct hinting *hinting, const struct hint_request *request,
		       struct task_facts *ret, struct hint **ret_has)
{
	const struct query_peer *peer = request->peer;
	uint32_t pid = request->pid ?: (uint32_t)peer->pid;
	int r = pid ? tracer_find_task(hinting->core->tracer, pid, ret) : -ESRCH;

	if (r < 0)
		return r;
	if (request->pidfd_id && !is_pidfd_of(pid, request->pidfd_id))
		return -ESRCH;
	*ret_has = hints_find(hints_in(hinting), pid);
	/* The entry of an earlier task with this pid, whose end was not reported yet. */
	if (*ret_has && (*ret_has)->start_ns != ret->start_ns) {
		hints_remove(hints_in(hinting), *ret_has);
		apply(hinting);
		*ret_has = NULL;
	}
	/*
	 * As for sched_setattr(2), the caller's user must be the task's effective user. A user
	 * cannot replace another user's hint.
	 */
	if (!peer->may_change &&
	    (ret->uid != peer->uid || (*ret_has && (*ret_has)->by_uid != peer->uid)))
		return -EPERM;
	if (ret->kernel_thread)
		return -EOPNOTSUPP;
	return *ret_has && (*ret_has)->held && !peer->may_change ? -EBUSY : 0;
}

static int add(struct hinting *hinting, const struct hint_request *request,
	       const struct task_facts *facts, struct hint **ret)
{
	struct hints *hints = hints_in(hinting);
	const struct query_peer *peer = request->peer;
	struct hint hint = {
		.pid = facts->pid,
		.is_thread = facts->pid != facts->tgid,
		.any_user = peer->may_change,
		.uid = facts->uid,
		.by_uid = peer->uid,
		.start_ns = facts->start_ns,
		.since_ns = time_of_clock_ns(CLOCK_BOOTTIME),
	};
	uint32_t n = hints_count_of(hints, peer->uid);

	if (!peer->may_change && n >= hinting->core->policy.query.max_hints)
		return -EDQUOT;
	/* A user has no more than are free, so that there are some for others. */
	if (!peer->may_change && n >= HINTS_MAX - pid_index_count(hints->index))
		return -ENOSPC;
	memcpy(hint.comm, facts->comm, sizeof(hint.comm));
	*ret = hints_add(hints, &hint);
	return *ret ? 0 : -ENOSPC;
}

int hinting_give(struct hinting *hinting, const struct hint_request *request, struct hint **ret)
{
	struct core *core = hinting->core;
	int class = rule_class_named(&core->policy, request->class);
	struct task_facts facts;
	struct hint *hint;
	int r = find_target(hinting, request, &facts, &hint);
	bool was_there = r == 0 && hint;

	if (r == 0 && class < 0)
		r = -ENODATA;
	/* Its client holds nothing from now on: the new one is another hint. */
	if (r == 0 && hint && hint->held) {
		hints_remove(hints_in(hinting), hint);
		apply(hinting);
		hint = NULL;
	}
	if (r == 0 && !hint)
		r = add(hinting, request, &facts, &hint);
	if (r < 0)
		return r;
	strcpy(hint->class, request->class);
	hint->children = request->children;
	if (request->children < 0)
		hint->children = !core->policy.classes[class].properties.not_inherited;
	hint->end_ns = time_now_ns() + request->for_us * NS_PER_US;
	if (was_there || hints_rule(&core->policy, hint->class) < 0)
		apply(hinting);
	/* A new hint has no heirs yet: its threads are reported to the core. */
	if (!was_there)
		rule_tracking_update_process(core, facts.tgid);
	if (!hint->n_tasks || hints_rule(&core->policy, hint->class) < 0) {
		hints_remove(hints_in(hinting), hint);
		apply(hinting);
		return -ENOSPC;
	}
	if (hint->end_ns < hinting->next_end_ns)
		hinting->next_end_ns = hint->end_ns;
	save_soon(hinting);
	*ret = hint;
	return 0;
}

int hinting_end(struct hinting *hinting, const struct hint_request *request)
{
	struct task_facts facts;
	struct hint *hint;
	int r = find_target(hinting, request, &facts, &hint);

	if (r == 0 && !hint)
		r = -ENOENT;
	if (r < 0)
		return r;
	hints_remove(hints_in(hinting), hint);
	apply(hinting);
	save_soon(hinting);
	return 0;
}

int hinting_hold(struct hinting *hinting, struct hint *hint, struct subscription *subscription)
{
	struct hint_hold *hold = calloc(1, sizeof(*hold));

	if (!hold || channel_subscribe(&hold->channel, &(struct channel_filter){ .kinds = 1 },
				       subscription) < 0) {
		free(hold);
		hint->end_ns = 0;
		hinting->next_end_ns = 0;
		round_soon(hinting->core);
		return -ENOMEM;
	}
	hold->channel.unsubscribed = round_soon;
	hold->channel.userdata = hinting->core;
	hold->hint = hint->id;
	hold->next = hinting->holds;
	hinting->holds = hold;
	hint->held = true;
	hint->end_ns = UINT64_MAX;
	return 0;
}

/* The hints of clients that have gone end. */
static void end_unsubscribed(struct hinting *hinting)
{
	struct hint_hold **at = &hinting->holds, *hold;

	while ((hold = *at)) {
		struct hint *hint = hints_find_id(hints_in(hinting), hold->hint);

		if (channel_has_subscriber(&hold->channel)) {
			at = &hold->next;
			continue;
		}
		if (hint) {
			hint->held = false;
			hint->end_ns = 0;
		}
		hinting->next_end_ns = 0;
		*at = hold->next;
		free(hold);
	}
}

/* Removes the hints that are over: by their time, or as no task has them any more. */
static void end_over(struct hinting *hinting, uint64_t now_ns)
{
	struct hints *hints = hints_in(hinting);
	struct hint *hint = NULL;
	bool any = false;

	hints->has_unused = false;
	hinting->next_end_ns = UINT64_MAX;
	while ((hint = hints_next(hints, hint)))
		if (hint->end_ns <= now_ns || (!hint->n_tasks && !hint->held)) {
			hints_remove(hints, hint);
			any = true;
		} else if (hint->end_ns < hinting->next_end_ns) {
			hinting->next_end_ns = hint->end_ns;
		}
	if (!any)
		return;
	apply(hinting);
	save_soon(hinting);
}

static void add_rules(void *state, struct policy *policy)
{
	hints_fill(hints_in(state), policy);
}

static void save(struct hinting *hinting)
{
	const char *run_dir = hinting->core->options->run_dir;
	int r = hint_file_save(run_dir, hinting->core->rules);

	hinting->save_ns = UINT64_MAX;
	if (r < 0 && !hinting->unsaved)
		log_warning("hints are in force, but a restart of wakegovd will end them: cannot "
			    "write %s/" HINT_FILE ": %s",
			    run_dir, strerror(-r));
	hinting->unsaved = r < 0;
}

/* Resumes the hints of a predecessor that have not ended. Failures are logged and stop nothing. */
static int start(void *state)
{
	struct hinting *hinting = state;
	const char *run_dir = hinting->core->options->run_dir;
	uint64_t now_ns = time_now_ns();
	int r = hint_file_load(run_dir, now_ns, hinting->core->rules);
	uint32_t n;

	if (r < 0)
		log_warning("hints of the former wakegovd are dropped: cannot use "
			    "%s/" HINT_FILE ": %s; give them again",
			    run_dir, statefile_refusal(r) ?: strerror(-r));
	hinting->save_ns = UINT64_MAX;
	apply(hinting);
	end_over(hinting, now_ns);
	hinting->started = true;
	n = pid_index_count(hints_in(hinting)->index);
	if (n)
		log_info("%u hint%s of the former wakegovd still hold%s", n, n == 1 ? "" : "s",
			 n == 1 ? "s" : "");
	return 0;
}

/* Saves them at the end, as their heirs are known now. */
static void free_hinting(void *state)
{
	struct hinting *hinting = state;

	if (hinting->started)
		save(hinting);
	end_unsubscribed(hinting);
}

static void expire(void *state, uint64_t now_ns)
{
	struct hinting *hinting = state;

	end_unsubscribed(hinting);
	if (now_ns >= hinting->next_end_ns || hints_in(hinting)->has_unused)
		end_over(hinting, now_ns);
	if (now_ns >= hinting->save_ns)
		save(hinting);
}

/* At once, where hints may have lost their last task. */
static uint64_t next_ns(void *state, uint64_t now_ns)
{
	const struct hinting *hinting = state;

	if (hints_in(hinting)->has_unused)
		return now_ns;
	return hinting->save_ns < hinting->next_end_ns ? hinting->save_ns : hinting->next_end_ns;
}

const struct module hinting_module = {
	.name = "hints",
	.start = start,
	.free = free_hinting,
	.add_rules = add_rules,
	.expire = expire,
	.next_ns = next_ns,
};
