// SPDX-License-Identifier: GPL-2.0-only
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
#include "daemon/manager.h"
#include "daemon/rule_tracking.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

#define SAVE_AFTER_NS	  NS_PER_S /* hints within a second are saved together */
#define TIMER_ACCURACY_US (100 * US_PER_MS)
#define PIDFS_MAGIC	  0x50494446 /* linux/magic.h, since Linux 6.9 */

struct hint_hold {
	struct channel channel;
	struct manager *manager;
	uint64_t hint; /* id of the hint */
	struct hint_hold *next;
};

static struct hints *hints_in(const struct manager *manager)
{
	return rules_hints(manager->rules);
}

/* Applies the table of hints to the tasks. */
static void put_in_force(struct manager *manager)
{
	if (hints_fill(hints_in(manager), &manager->policy)) {
		engine_set_policy(manager->engine, &manager->policy);
		rule_tracking_set_policy(manager);
	} else {
		rule_tracking_rehint(manager);
	}
}

static void set_timer(struct manager *manager)
{
	struct hinting *hinting = &manager->hinting;
	uint64_t next_ns = hinting->end_ns < hinting->save_ns ? hinting->end_ns : hinting->save_ns;

	if (next_ns != UINT64_MAX)
		sd_event_source_set_time(hinting->timer, next_ns / NS_PER_US + 1);
	sd_event_source_set_enabled(hinting->timer,
				    next_ns == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* Plans the end of a hint at end_ns; 0: now. */
static void end_by(struct manager *manager, uint64_t end_ns)
{
	if (end_ns < manager->hinting.end_ns)
		manager->hinting.end_ns = end_ns;
	set_timer(manager);
}

static void save_later(struct manager *manager)
{
	if (manager->hinting.save_ns == UINT64_MAX)
		manager->hinting.save_ns = time_now_ns() + SAVE_AFTER_NS;
	set_timer(manager);
}

static void save(struct manager *manager)
{
	int r = hint_file_save(manager->options.run_dir, manager->rules);

	manager->hinting.save_ns = UINT64_MAX;
	if (r < 0 && !manager->hinting.unsaved)
		log_warning(
			"hints are in force, but a restart of wakegovd will end them: cannot write "
			"%s/" HINT_FILE ": %s",
			manager->options.run_dir, strerror(-r));
	manager->hinting.unsaved = r < 0;
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
static int find_target(struct manager *manager, const struct hint_request *request,
		       struct task_facts *ret, struct hint **ret_has)
{
	const struct query_peer *peer = request->peer;
	uint32_t pid = request->pid ?: (uint32_t)peer->pid;
	int r = pid ? tracer_find_task(manager->tracer, pid, ret) : -ESRCH;

	if (r < 0)
		return r;
	if (request->pidfd_id && !is_pidfd_of(pid, request->pidfd_id))
		return -ESRCH;
	*ret_has = hints_find(hints_in(manager), pid);
	/* The entry of an earlier task with this pid, whose end was not reported yet. */
	if (*ret_has && (*ret_has)->start_ns != ret->start_ns) {
		hints_remove(hints_in(manager), *ret_has);
		put_in_force(manager);
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

static int add(struct manager *manager, const struct hint_request *request,
	       const struct task_facts *facts, struct hint **ret)
{
	struct hints *hints = hints_in(manager);
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

	if (!peer->may_change && n >= manager->policy.query.max_hints)
		return -EDQUOT;
	/* A user has no more than are free, so that there are some for others. */
	if (!peer->may_change && n >= HINTS_MAX - hints_count(hints))
		return -ENOSPC;
	memcpy(hint.comm, facts->comm, sizeof(hint.comm));
	*ret = hints_add(hints, &hint);
	return *ret ? 0 : -ENOSPC;
}

int hinting_give(struct manager *manager, const struct hint_request *request, struct hint **ret)
{
	int class = rule_class_named(&manager->policy, request->class);
	struct task_facts facts;
	struct hint *hint;
	int r = find_target(manager, request, &facts, &hint);
	bool was_there = r == 0 && hint;

	if (r == 0 && class < 0)
		r = -ENODATA;
	/* Its client holds nothing from now on: the new one is another hint. */
	if (r == 0 && hint && hint->held) {
		hints_remove(hints_in(manager), hint);
		put_in_force(manager);
		hint = NULL;
	}
	if (r == 0 && !hint)
		r = add(manager, request, &facts, &hint);
	if (r < 0)
		return r;
	strcpy(hint->class, request->class);
	hint->children = request->children;
	if (request->children < 0)
		hint->children = !manager->policy.classes[class].properties.not_inherited;
	hint->end_ns = time_now_ns() + request->for_us * NS_PER_US;
	if (was_there || hints_rule(&manager->policy, hint->class) < 0)
		put_in_force(manager);
	/* A new hint has no heirs yet: its threads are reported to the core. */
	if (!was_there)
		rule_tracking_look_at_process(manager, facts.tgid);
	if (!hint->n_tasks || hints_rule(&manager->policy, hint->class) < 0) {
		hints_remove(hints_in(manager), hint);
		put_in_force(manager);
		return -ENOSPC;
	}
	end_by(manager, hint->end_ns);
	save_later(manager);
	*ret = hint;
	return 0;
}

int hinting_end(struct manager *manager, const struct hint_request *request)
{
	struct task_facts facts;
	struct hint *hint;
	int r = find_target(manager, request, &facts, &hint);

	if (r == 0 && !hint)
		r = -ENOENT;
	if (r < 0)
		return r;
	hints_remove(hints_in(manager), hint);
	put_in_force(manager);
	save_later(manager);
	return 0;
}

/* Deferred, as the sender still uses the channel. */
static void on_unsubscribed(void *userdata)
{
	struct hint_hold *hold = userdata;
	struct manager *manager = hold->manager;
	struct hint *hint = hints_find_id(hints_in(manager), hold->hint);

	if (hint) {
		hint->held = false;
		hint->end_ns = 0;
	}
	end_by(manager, 0);
}

int hinting_hold(struct manager *manager, struct hint *hint, struct subscription *subscription)
{
	struct hint_hold *hold = calloc(1, sizeof(*hold));

	if (!hold || channel_subscribe(&hold->channel, &(struct channel_filter){ .kinds = 1 },
				       subscription) < 0) {
		free(hold);
		hint->end_ns = 0;
		end_by(manager, 0);
		return -ENOMEM;
	}
	hold->channel.unsubscribed = on_unsubscribed;
	hold->channel.userdata = hold;
	hold->manager = manager;
	hold->hint = hint->id;
	hold->next = manager->hinting.holds;
	manager->hinting.holds = hold;
	hint->held = true;
	hint->end_ns = UINT64_MAX;
	return 0;
}

static void free_unsubscribed(struct manager *manager)
{
	struct hint_hold **at = &manager->hinting.holds, *hold;

	while ((hold = *at))
		if (channel_has_subscriber(&hold->channel)) {
			at = &hold->next;
		} else {
			*at = hold->next;
			free(hold);
		}
}

static void end_over(struct manager *manager, uint64_t now_ns)
{
	struct hints *hints = hints_in(manager);
	struct hint *hint = NULL;
	bool any = false;

	hints->has_unused = false;
	manager->hinting.end_ns = UINT64_MAX;
	while ((hint = hints_next(hints, hint)))
		if (hint->end_ns <= now_ns || (!hint->n_tasks && !hint->held)) {
			hints_remove(hints, hint);
			any = true;
		} else if (hint->end_ns < manager->hinting.end_ns) {
			manager->hinting.end_ns = hint->end_ns;
		}
	if (!any)
		return;
	put_in_force(manager);
	save_later(manager);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *manager = userdata;
	uint64_t now_ns = time_now_ns();

	free_unsubscribed(manager);
	if (now_ns >= manager->hinting.end_ns)
		end_over(manager, now_ns);
	if (now_ns >= manager->hinting.save_ns)
		save(manager);
	set_timer(manager);
	manager_round(manager);
	return 0;
}

void hinting_check_tasks(struct manager *manager)
{
	if (hints_in(manager)->has_unused)
		end_by(manager, 0);
}

int hinting_start(struct manager *manager)
{
	struct hints *hints = hints_in(manager);
	struct hint *hint;
	int r = hint_file_load(manager->options.run_dir, time_now_ns(), manager->rules);

	if (r < 0)
		log_warning("hints of the former wakegovd are dropped: cannot use %s/" HINT_FILE
			    ": %s; give them again",
			    manager->options.run_dir, statefile_refusal(r) ?: strerror(-r));
	while (r < 0 && (hint = hints_next(hints, NULL)))
		hints_remove(hints, hint);
	manager->hinting.save_ns = UINT64_MAX;
	put_in_force(manager);
	r = sd_event_add_time(manager->event, &manager->hinting.timer, CLOCK_MONOTONIC, 0,
			      TIMER_ACCURACY_US, on_timer, manager);
	if (r < 0)
		return r;
	end_over(manager, time_now_ns());
	set_timer(manager);
	if (hints_count(hints))
		log_info("%u hint%s of the former wakegovd still hold%s", hints_count(hints),
			 hints_count(hints) == 1 ? "" : "s", hints_count(hints) == 1 ? "s" : "");
	return 0;
}

/* All clients are disconnected by now. */
void hinting_stop(struct manager *manager)
{
	/* The heirs are known now. */
	if (manager->hinting.timer &&
	    (hints_count(hints_in(manager)) || manager->hinting.save_ns != UINT64_MAX))
		save(manager);
	free_unsubscribed(manager);
	sd_event_source_unref(manager->hinting.timer);
}
