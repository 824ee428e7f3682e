// SPDX-License-Identifier: GPL-2.0-only
#include "canned_daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/discovery.h"
#include "config/keys.h"
#include "config/match.h"
#include "daemon/domains.h"
#include "daemon/journal.h"
#include "daemon/loop.h"
#include "daemon/modules/hinting.h"
#include "daemon/modules/modules.h"
#include "daemon/modules/overrides.h"
#include "daemon/modules/policy.h"
#include "daemon/process.h"
#include "daemon/rule_tracking.h"
#include "diag/diag.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "wakegov/abi.h"
#include "wakegov/decay.h"

/* Above what the kernel ever gives: no task of this machine, wakegovctl included, has one. */
#define FIRST_PID	5000812
#define CPUS		4
#define ROOM_FOR_TASKS	20000
#define DECISIONS_TOTAL 123456
#define UPTIME_S	11520 /* 3 h 12 min */
#define LEASE_S		(9 * 3600 + 59)
#define HOST_RATIO	1102637 /* 61.2 % of the time of an I/O at 2400 of 3600 MHz */
#define OVERRIDE_RULE	(POLICY_RULES_MAX - 1)

/* The kernel cuts names within characters, and tasks may put anything into them. */
static const char *const comms[] = { "fio", "kworker/0:1H", "\x1b[31mred\xff", "\xc3\xa9t\xc3" };

/* What the functions below are asked for. */
static struct {
	struct canned_daemon *daemon;
	struct decision *last; /* of each domain */
	struct explanation explanations[3];
	struct task_table *tasks;
	struct rules rules;
	struct io_device devices[3];
	struct io_task users[3]; /* of each device that has any */
	struct clamp_classes sets;
	const struct topology *topology;
} made;

/* The core. */

const struct decision *engine_last(const struct engine *engine, uint32_t domain)
{
	return &made.last[domain];
}

const struct explanation *engine_explanation(const struct engine *engine, uint32_t domain)
{
	return &made.explanations[domain < 3 ? domain : 0];
}

const struct topology *engine_topology(const struct engine *engine)
{
	return made.topology;
}

void engine_limits(const struct engine *engine, uint32_t domain, uint32_t *ret_min_khz,
		   uint32_t *ret_max_khz)
{
	*ret_min_khz = domain == 2 ? 0 : 800000;
	*ret_max_khz = domain == 2 ? 0 : 3600000;
}

/* Nothing gets older while it is looked at: there is most of a minute for each look. */
const struct task_table *engine_tasks(const struct engine *engine)
{
	uint64_t now_ns = time_now_ns();

	made.daemon->manager.core.counts.started_ns = now_ns - UPTIME_S * NS_PER_S;
	for (uint32_t i = 0; i < made.daemon->n_tasks && i < 8; i++)
		io_task_find(made.tasks, FIRST_PID + i)->io_boost.hold_end_ns = now_ns +
										LEASE_S * NS_PER_S;
	return made.tasks;
}

void engine_estimate(const struct engine *engine, const struct io_boost *boost, uint32_t *ret_pairs,
		     struct experiment_estimate *ret)
{
	*ret_pairs = boost->depth_milli ? 14 : 0;
	*ret = (struct experiment_estimate){ 405000, 21000 };
}

uint32_t engine_task_boost_cap(const struct engine *engine, const struct io_task *task)
{
	return 700;
}

uint32_t engine_task_need_cap(const struct engine *engine, const struct io_task *task)
{
	return io_boost_is_held(&task->io_boost) ? 0 : 300;
}

bool engine_kernel_boosts(const struct engine *engine, const struct io_task *task)
{
	return false;
}

uint32_t engine_count_boosts(const struct engine *engine, enum io_boost_state state)
{
	uint32_t n = made.daemon->n_tasks, paying = (n + 3) / 4;

	if (state == IO_BOOST_PAYS)
		return paying;
	return state == IO_BOOST_TRYING ? n - paying : 0;
}

uint32_t engine_pop_changed(struct engine *engine, int *ret_before)
{
	return UINT32_MAX;
}

/* The first pays, the second is being tried, the third was just seen; so on. */
const struct io_device *engine_device(const struct engine *engine, uint32_t device)
{
	return &made.devices[device % 3];
}

const struct io_task *engine_next_user(const struct engine *engine, uint32_t device,
				       const struct io_task *after)
{
	uint32_t i = after ? after - made.users + 1 : 0;

	if (device % 3 == 2 || i == ARRAY_SIZE(made.users))
		return NULL;
	made.users[i].io_boost.granted = device % 3 == 0;
	made.users[i].io_boost.state = device % 3 == 1 && i == 0 ? IO_BOOST_TRYING : IO_BOOST_PAYS;
	return &made.users[i];
}

const struct clamp_classes *engine_clamp_classes(const struct engine *engine)
{
	return &made.sets;
}

void engine_apply(struct engine *engine, const struct input *input)
{
}

void engine_set_policy(struct engine *engine, const struct policy *policy, uint64_t now_ns)
{
}

/* The kernel side. */

bool tracer_program(const struct tracer *tracer, uint32_t i, struct tracer_program *ret)
{
	static const struct tracer_program programs[] = {
		{ "sched_switch", TRACER_ATTACHED, 0, 987654321 },
		{ "block_rq_issue", TRACER_FAILED, -ENOTSUP, 0 },
	};

	if (i < ARRAY_SIZE(programs))
		*ret = programs[i];
	return i < ARRAY_SIZE(programs);
}

void tracer_drops(const struct tracer *tracer, struct tracer_drops *ret)
{
	*ret = (struct tracer_drops){ .slots = 3, .devices = 4 };
}

void tracer_read_cpu(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns, struct input *ret)
{
	*ret = (struct input){ .cpu = { .cpu = cpu, .util_q = DECAY_Q(341) } };
}

int tracer_read_device(struct tracer *tracer, uint32_t index, uint64_t now_ns, struct input *ret)
{
	if (index >= made.daemon->n_devices)
		return -ENOENT;
	*ret = (struct input){ .device = {
				       .device = index,
				       .depth = 17,
				       .completions = UINT64_MAX,
				       /* The third one's is in no domain. */
				       .completion_cpu = index % 3 == 2 ? CPUS : 1,
			       } };
	return 0;
}

/* The last is asked now and then, and the first is due. */
bool tracer_piece(const struct tracer *tracer, uint32_t pid, struct piece *ret)
{
	*ret = (struct piece){ 0, 100000, 100000, .peak_us = 7000, .n = 40, .score = -3 };
	ret->kind = pid == FIRST_PID ? PIECE_DUE : PIECE_WAITED_FOR;
	return pid == FIRST_PID || pid == FIRST_PID + 2;
}

int tracer_device_name(const struct tracer *tracer, uint32_t index, char ret[TRACER_DISK_SIZE])
{
	if (index >= INPUT_DEVICES_MAX)
		return -ENOENT;
	snprintf(ret, TRACER_DISK_SIZE, "nvme%un1", index);
	return 0;
}

int tracer_find_task(struct tracer *tracer, uint32_t pid, struct task_facts *ret)
{
	/* The last is of the chain. */
	if (pid != FIRST_PID && pid != FIRST_PID + 2)
		return -ESRCH;
	*ret = (struct task_facts){ .pid = pid, .tgid = 800, .comm = "make" };
	return 0;
}

/* Rules. */

/* This process is the only one with a name that is known. */
const struct rules_task *rules_next_task(const struct rules *rules, uint32_t rule, uint32_t from,
					 uint32_t *ret_place)
{
	static struct rules_task task = { .tgid = 800 };
	const uint32_t pids[] = { (uint32_t)getpid(), 4194303, 4194302, 4194301, 4194300 };

	if (from >= ARRAY_SIZE(pids))
		return NULL;
	*ret_place = from;
	task.pid = pids[from];
	return &task;
}

const struct rules_task *rules_find(const struct rules *rules, uint32_t pid)
{
	static const struct rules_task task = { .pid = FIRST_PID, .matched = 1 };

	return pid == FIRST_PID ? &task : NULL;
}

void rules_explain(struct rules *rules, uint32_t rule, const struct task_facts *facts,
		   struct rules_explanation *ret)
{
	*ret = (struct rules_explanation){ rule == 0, true, rule == 0, rule ? 0 : 1 };
}

void rules_show(struct rules *rules, uint32_t rule, uint32_t key, const struct task_facts *facts,
		struct match_shown *ret)
{
	*ret = (struct match_shown){ "command", "command", facts ? "tar c" : NULL, NULL, "tar*" };
}

/* Of FIRST_PID and of whoever calls. */
int hinting_give(struct hinting *hinting, const struct hint_request *request, struct hint **ret)
{
	struct hint hint = {
		.pid = request->pid ?: (uint32_t)request->peer->pid,
		.children = request->children > 0,
		.by_uid = request->peer->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
		.n_tasks = 2,
		.comm = "make",
	};

	if (request->pid && request->pid != FIRST_PID)
		return -ESRCH;
	if (strcmp(request->class, "batch") != 0)
		return -ENODATA;
	snprintf(hint.class, sizeof(hint.class), "%s", request->class);
	*ret = hints_find(made.rules.hints, hint.pid) ?: hints_add(made.rules.hints, &hint);
	return *ret ? 0 : -ENOSPC;
}

int hinting_end(struct hinting *hinting, const struct hint_request *request)
{
	struct hint *hint = hints_find(made.rules.hints, request->pid);

	if (!hint)
		return -ENOENT;
	hints_remove(made.rules.hints, hint);
	return 0;
}

int hinting_hold(struct hinting *hinting, struct hint *hint, struct subscription *subscription)
{
	static struct channel channel;

	hint->held = true;
	return channel_subscribe(&channel, &(struct channel_filter){ .kinds = 1 }, subscription);
}

void rule_tracking_update_task(struct core *core, const struct task_facts *facts)
{
}

void rule_tracking_set_policy(struct core *core)
{
}

/* One group that is placed, and two of another rule that are not. */
static const struct placing canned_placing = {
	.groups = {
		{ .key = 1,
		  .rule = "backup",
		  .n_tasks = 3,
		  .placement = { .why = PLACEMENT_HELD, .held = 3 } },
		{ .key = 2, .rule = "other" },
		{ .key = 3, .rule = "other" },
	},
};

bool tick_is_seen(void)
{
	return true;
}

const char *placing_group_why(const struct placing *placing, const struct placed_group *group)
{
	return group->placement.held ? "it is kept" : "released: no CPU of the cache was idle";
}

const char *placing_why_not(const struct placing *placing)
{
	return "all CPUs share one last-level cache, and there are no clusters";
}

static struct affinities canned_affinities = { .foreign = 1, .refused = 2 };

const char *idle_latency_why_not(const struct idle_latency *idle)
{
	return NULL;
}

/* The machine, and what the daemon does. */

static const struct counter_reader canned_reader = { .name = "msr" };
static const struct counter_reader *const canned_readers[] = { &canned_reader };
static struct frequency canned_frequency = {
	.reader = canned_readers,
	.why = "perf: its counters stand still",
	.measured_ns = 1,
};

void freq_invariance_measure_cpu(struct core *core, uint32_t cpu, uint64_t now_ns)
{
}

const struct backend backend_observe = { .name = "observe" };

const char *const actuator_state_names[] = {
	[ACTUATOR_STATE_YIELDED] = "yielded",
	[ACTUATOR_STATE_OFFLINE] = "offline",
	[ACTUATOR_STATE_DRIVEN] = "driven",
};

int actuator_domain_read_back(struct actuator_domain *domain, uint32_t *ret_khz)
{
	if (domain->state == ACTUATOR_STATE_OFFLINE)
		return -EBUSY;
	*ret_khz = 1800000;
	return 0;
}

int actuator_domain_read_limits(struct actuator_domain *domain, uint32_t *ret_min_khz,
				uint32_t *ret_max_khz)
{
	return -EBUSY;
}

int actuator_domain_read_requests(struct actuator_domain *domain, struct wakegov_limits *ret)
{
	*ret = (struct wakegov_limits){ 0 };
	return 0;
}

int throttle_find(const char *sys, const struct throttle_domain *domain,
		  int (*emit)(void *context, const struct throttle *found), void *context)
{
	if (domain->first_cpu != 1)
		return 0;
	return emit(context, &(struct throttle){ .who = "thermal",
						 .name = "cooling_device0",
						 .kind = "Processor",
						 .step = 3,
						 .steps = 7 });
}

bool advice_find_misplacement(const struct engine *engine, const struct topology *topology,
			      uint32_t device, struct misplacement *ret)
{
	*ret = (struct misplacement){ .n_tasks = 1, .task_domain = 1 };
	return device == 0 && made.daemon->n_devices && made.daemon->n_domains;
}

bool interrupts_of_disk(const char *disk, uint32_t cpu, struct interrupt *ret)
{
	*ret = (struct interrupt){ .number = 38, .name = "nvme0q3" };
	return true;
}

int policy_hold_start(struct policies *policies, const char *text, char **ret_message)
{
	if (strstr(text, "slack"))
		return 0;
	*ret_message = strdup("text:1: expected a section");
	return -EINVAL;
}

void past_catch_up(struct past *past)
{
}

void journal_report(struct core *core, enum message message, const struct event *about,
		    const char *format, ...)
{
}

void round_run(struct core *core)
{
}

void round_soon(void *core)
{
}

void watching_ask(struct watching *watching)
{
}

int domains_adopt(struct core *core, const char *name, uint32_t *ret_adopted)
{
	if (name && strcmp(name, "policy4") != 0)
		return -ENOENT;
	*ret_adopted = 1;
	return 0;
}

/* Nor a domain that could be lent. */
void own_clock_end(struct own_clock *own)
{
}

int hand_back_start(struct hand_back *hand_back, const char *governor, uint64_t for_us)
{
	return -ENODEV;
}

const char *profile_why(const struct policies *policies)
{
	return "no condition is true";
}

int profile_choose(struct policies *policies, const char *name)
{
	if (name && !policy_profiles_find(policy_files_profiles(policies->files), name))
		return -ENOENT;
	snprintf(policies->profile.name, sizeof(policies->profile.name), "%s",
		 name ?: POLICY_PROFILE_DEFAULT);
	return 0;
}

/* There is no engine here whose life could be recorded. */
int recording_start(struct recording *recording, uint64_t max_bytes, struct reply *reply)
{
	return -EOPNOTSUPP;
}

void recording_stop(struct recording *recording, const char *why)
{
}

static struct decision make_decision(uint32_t i)
{
	struct decision decision = {
		.now_ns = i * NS_PER_MS,
		.previous_khz = i > 1 ? 1800000 : 0,
		.target_khz = 2400000,
		.want_cap = 341,
		.cpu = 2,
		.pid = i % 2 ? FIRST_PID : 0,
		.reason = i % 2 ? REASON_IO_BOOST : REASON_UTILISATION,
		.limiter = i % 2 ? LIMITER_POLICY_MAX : LIMITER_NONE,
	};

	if (i % 2)
		strcpy(decision.comm, "fio");
	return decision;
}

static struct change make_change(const struct decision *decision)
{
	return (struct change){
		.decision = *decision,
		.rests_on = made.explanations[0],
		.realtime_us = time_of_clock_ns(CLOCK_REALTIME) / NS_PER_US,
		.read_back_khz = decision->target_khz,
	};
}

/* Decisions of two domains in turn, every second one for a task. */
int policy_reload(struct policies *policies, void (*warn)(void *context, const char *line),
		  void *context, char **ret_message)
{
	struct manager *manager = &made.daemon->manager;

	if (made.daemon->policy_error) {
		*ret_message = strdup(made.daemon->policy_error);
		return *ret_message ? -EINVAL : -ENOMEM;
	}
	policies->reloads++;
	warn(context, "wakegov.conf:12: [rule games] user = joe does not exist here: add the user "
		      "and reload");
	warn(context, "a new backend takes effect when wakegovd is restarted");
	for (uint32_t i = 1; i <= made.daemon->n_events; i++) {
		struct decision decision = make_decision(i);
		struct change change;

		decision.domain = i % 3 == 0 && manager->core.n_domains > 1;
		change = make_change(&decision);
		monitor_module.target_changed(&manager->monitor, &change);
	}
	monitor_module.report(&manager->monitor, &(struct event){ .kind = EVENT_CHANGE,
								  .message = "policy read again" });
	return 0;
}

/* policy0 is boosted and cut by an override; policy1 is somebody else's. */
static void make_explanations(void)
{
	static const struct explanation boosted = {
		.contenders = { { REASON_IO_BOOST, 1111, 2, FIRST_PID, "" },
				{ REASON_CHAIN, 600, 3, FIRST_PID + 1, "", FIRST_PID + 2, 468 },
				{ REASON_UTILISATION, 341, 1, 0, "" } },
		.n_contenders = 3,
		.has_io = true,
		.io = { .state = IO_BOOST_PAYS,
			.rate_per_s = 25000,
			.wanted_khz = 2400000,
			.host_ppm = 612000,
			.predicted_ppm = 316600,
			.tried = 14,
			.found = { 405000, 21000 } },
		.rule = { "backup", "/etc/wakegov/wakegov.conf", 12, FIRST_PID },
		.policy_max_khz = 2400000,
		.max_override = 7,
		.scaling_max_khz = 3600000,
	};

	made.explanations[0] = made.explanations[1] = made.explanations[2] = boosted;
	strcpy(made.explanations[0].contenders[0].comm, comms[2]);
	made.explanations[1].has_io = false;
	made.explanations[1].lowest_khz = 1600000;
}

/* The first is boosted, the second someone else's, the third gone; the others like the first. */
static void make_domain(struct canned_daemon *canned, uint32_t i)
{
	static const struct backend setspeed = { .name = "setspeed", .writes = true };
	struct topology_domain *info = &canned->manager.core.topology->domains[i];
	struct governed *governed = &canned->manager.core.domains[i];

	*info = (struct topology_domain){
		.first_cpu = i,
		.n_opps = 4,
		.opp_khz = { 800000, 1600000, 2400000, 3600000 },
		.capacity = TOPOLOGY_CAPACITY_MAX,
	};
	snprintf(info->name, sizeof(info->name), "policy%u", i % TOPOLOGY_DOMAINS_MAX);
	*governed = (struct governed){
		.actuator = { .info = info,
			      .state = i == 1	? ACTUATOR_STATE_YIELDED
				       : i == 2 ? ACTUATOR_STATE_OFFLINE
						: ACTUATOR_STATE_DRIVEN,
			      .asked_khz = 2400000,
			      .writes = i == 2 ? 0 : 42,
			      .write_errors = i == 3 ? 2 : 0 },
		.backend = &setspeed,
		.cpus = "0-3",
	};
	if (i == 1) {
		strcpy(governed->actuator.why, "scaling_setspeed was changed by someone else");
		memcpy(info->opp_power, (uint32_t[]){ 200, 800, 900, 2000 }, 4 * sizeof(uint32_t));
		governed->power_source = POWER_KERNEL;
	}
	made.last[i] = (struct decision){ .domain = i };
	if (i == 2)
		return;
	made.last[i] = (struct decision){
		.now_ns = 5 * NS_PER_MS,
		.domain = i,
		.target_khz = 2400000,
		.wanted_khz = 2400000,
		.want_cap = 1111,
		.pid = i == 1 ? 0 : FIRST_PID,
		.reason = i == 1 ? REASON_UTILISATION : REASON_IO_BOOST,
		.limiter = i == 1 ? LIMITER_POLICY_MIN : LIMITER_POLICY_MAX,
		.timing = i == 1 ? TIMING_HELD : TIMING_NOW,
		.capped_pid = i == 1 ? FIRST_PID : 0,
	};
	if (i == 3)
		made.last[i].reason = REASON_CHAIN;
	if (i != 1)
		strcpy(made.last[i].comm, "fio");
}

static bool make_tasks(const struct canned_daemon *canned)
{
	uint32_t room = canned->n_tasks > ROOM_FOR_TASKS ? canned->n_tasks : ROOM_FOR_TASKS;

	made.tasks = calloc(1, task_table_bytes(room, 16));
	if (made.tasks)
		task_table_init(made.tasks, room, 16);
	for (uint32_t i = 0; made.tasks && i < canned->n_tasks; i++) {
		struct io_task *task = io_task_add(made.tasks, FIRST_PID + i);

		task->tgid = i % 3 ? FIRST_PID : 0;
		task->cpu = i % CPUS;
		strcpy(task->comm, comms[i % ARRAY_SIZE(comms)]);
		task->io_boost = (struct io_boost){
			.state = i % 4 ? IO_BOOST_TRYING : IO_BOOST_PAYS,
			.rate_per_s = 25000,
			.device = i % 4 ? IO_BOOST_NO_DEVICE : 0,
			.ratio = i % 4 ? 0 : HOST_RATIO,
			.wanted_khz = i % 4 ? 0 : 1416000,
			.depth_milli = i % 2 ? 0 : 1000, /* it has been tried */
		};
	}
	return made.tasks;
}

static void add_ruled(uint32_t pid, uint32_t tgid, const char *comm, uint32_t rule)
{
	struct task *task = task_rule(made.tasks, pid, 1ULL << rule);

	task->tgid = tgid;
	strcpy(task->comm, comm);
}

/* One rule, and one override of tasks, which is a rule as well. */
static bool make_rules(struct policy *policy)
{
	static const struct policy_rule backup = {
		.name = "backup",
		.file = "x.conf",
		.line = 12,
		.match.given = POLICY_MATCH_COMMAND,
		.properties = { .cap = { POLICY_LEVEL_PERCENT, 30 },
				.io_boost = { POLICY_LEVEL_CAPACITY, 0 },
				.idle_latency = { POLICY_LEVEL_IDLE_LATENCY, 50 } },
	};
	static const struct policy_rule override = {
		.name = "override-3",
		.domain_cpu = POLICY_ANY_DOMAIN,
		.properties.cap = { POLICY_LEVEL_KHZ, 1200000 },
		.override.id = 3,
	};

	policy->rules[0] = backup;
	policy->rules[OVERRIDE_RULE] = override;
	policy->n_rules = 1;
	policy->n_overrides = 1;
	policy->classes[0] = (struct policy_class){ "batch",
						    { .cap = { POLICY_LEVEL_PERCENT, 30 } } };
	policy->n_classes = 1;
	policy->max_ruled_tasks = 16384;
	made.rules.hints = hints_new();
	made.rules.index = pid_index_new(3);
	if (!made.rules.hints || !made.rules.index)
		return false;
	for (uint32_t pid = 1; pid <= 5; pid++) /* the last two are refused */
		pid_index_add(made.rules.index, pid);
	made.rules.ruled[0].count = made.rules.ruled[OVERRIDE_RULE].count =
		(struct rules_count){ 5, 17 };
	add_ruled(900, 900, "tar", 0);
	add_ruled(901, 900, "tar", 0);
	add_ruled(950, 950, "make", OVERRIDE_RULE);
	return true;
}

static void make_devices(void)
{
	static const struct io_device_rates rates = { .known = true,
						      .completions_per_s = 24817,
						      .depth_milli = 3412 };

	made.devices[0] = made.devices[1] = (struct io_device){ .n_users = 3, .rates = rates };
}

static bool make_stats(struct canned_daemon *canned)
{
	static const struct stats_gain gain = {
		.comm = "fio",
		.device = "nvme0n1",
		.ios = 9000000,
		.gained = 2594306,
		.gained_error = 134520,
	};
	struct stats *stats = stats_new(made.topology);

	for (uint32_t i = 0; stats && i < canned->n_domains; i++)
		for (uint32_t opp = 0; opp < made.topology->domains[i].n_opps; opp++)
			stats->domains[i].ns[opp][REASON_IDLE] = (i + opp) * 1234567890ULL;
	for (uint32_t i = 0; stats && i <= REASON_LAST; i++)
		stats->decisions[i] = i == REASON_IDLE ? 17 : 4;
	for (uint32_t i = 0; stats && i <= LIMITER_LAST; i++)
		stats->limits[i] = i == LIMITER_NONE ? 17 : 4;
	if (stats)
		stats->gains[stats->n_gains++] = gain;
	canned->manager.past.stats = stats;
	return stats;
}

/* All but the last ones are forgotten. */
static bool make_log(struct canned_daemon *canned)
{
	struct past *past = &canned->manager.past;
	uint32_t n = canned->n_decisions;

	past->ring = decision_ring_new(n ? n : 1);
	if (!past->ring)
		return false;
	for (uint32_t i = n; n && i < DECISIONS_TOTAL; i++)
		decision_ring_add(past->ring, &(struct change){ .read_back_khz = 0 });
	for (uint32_t i = 1; i <= n; i++) {
		const struct decision decision = make_decision(i);
		const struct change change = make_change(&decision);

		decision_ring_add(past->ring, &change);
	}
	return true;
}

/* No module is in the table: nothing runs by itself. */
static void link_states(struct manager *manager)
{
	struct core *core = &manager->core;

	core->options = &manager->options;
	core->rules = &made.rules;
	core->frequency = &canned_frequency;
	core->modules = manager->modules;
	manager->hand_back.core = core;
	manager->monitor.core = core;
	manager->overrides.core = core;
	manager->past.core = core;
	manager->placing = canned_placing;
	manager->placing.affinities = &canned_affinities;
	manager->idle_latency.held_us = 50;
	manager->policies.core = core;
}

int canned_daemon_init(struct canned_daemon *canned)
{
	struct manager *manager = &canned->manager;
	struct core *core = &manager->core;
	struct policies *policies = &manager->policies;
	char *message;

	memset(&made, 0, sizeof(made));
	made.daemon = canned;
	*manager = (struct manager){
		.options = { .policy_path = "/etc/wakegov.conf", .run_dir = "/nonexistent" },
		.core = { .n_domains = canned->n_domains,
			  .counts = { .started_ns = time_now_ns() - UPTIME_S * NS_PER_S,
				      .records = UINT64_MAX } },
	};
	link_states(manager);
	policy_init(&core->policy);
	core->topology = calloc(1, sizeof(*core->topology) +
					   canned->n_domains * sizeof(core->topology->domains[0]));
	core->domains = calloc(canned->n_domains + 1, sizeof(*core->domains));
	made.last = calloc(canned->n_domains + 1, sizeof(*made.last));
	strcpy(policies->profile.name, POLICY_PROFILE_DEFAULT);
	if (policy_files_read("/dev/null", false, NULL, &policies->files, &message) < 0)
		return -ENOMEM;
	if (canned->policy_error)
		policies->last_error = strdup(canned->policy_error);
	if (!core->topology || !core->domains || !made.last)
		return -ENOMEM;
	/* All CPUs are the first domain's. */
	made.topology = core->topology;
	core->topology->n_cpus = canned->n_domains ? CPUS : 0;
	core->topology->n_domains = canned->n_domains;
	make_explanations();
	make_devices();
	for (uint32_t i = 0; i < canned->n_domains; i++)
		make_domain(canned, i);
	return make_tasks(canned) && make_rules(&core->policy) && make_stats(canned) &&
			       make_log(canned)
		       ? 0
		       : -ENOMEM;
}

void canned_daemon_deinit(struct canned_daemon *canned)
{
	struct manager *manager = &canned->manager;

	free(made.tasks);
	hints_free(made.rules.hints);
	pid_index_free(made.rules.index);
	free(manager->past.ring);
	stats_free(manager->past.stats);
	policy_files_free(manager->policies.files);
	free(made.last);
	free(manager->policies.last_error);
	free(manager->core.domains);
	free(manager->core.topology);
}
