// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl explain: a domain, a CPU, a task, or every domain. Prints the chain of a decision: who
 * won and what was known of it, who lost, what limited it, what was written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/text.h"

#define LINE_SIZE 1024
/* To a line of that size. */
#define add(_line, ...) text_append(_line, LINE_SIZE, __VA_ARGS__)

static unsigned int mhz(const json_t *object, const char *key)
{
	return (unsigned int)((field_number(object, key) + 500) / 1000);
}

/* "schedutil", whom clamps are for, or whichever governor the domain has. */
static const char *governor_of(const json_t *domain)
{
	return field_is_word(domain, "backend", "uclamp") ? "schedutil" : "its governor";
}

/* What was asked of whom; an idle domain stays as it was left. */
static void print_asked(FILE *file, const json_t *reply, const json_t *domain)
{
	const json_t *decision = json_object_get(reply, "decision");
	bool is_boosted_by_kernel = false;
	const json_t *task;
	size_t i;

	json_array_foreach(json_object_get(reply, "kernel_boosts"), i, task)
		is_boosted_by_kernel |= !field_is_known(task, "need_khz");
	if (!json_is_object(decision)) {
		fputs("nothing was decided yet", file);
	} else if (!show_is_expected(domain)) {
		fprintf(file, "%s %u MHz",
			field_is_word(domain, "state", "driven") ? "wakegov asked for"
								 : "wakegov would ask for",
			mhz(decision, "target_khz"));
	} else {
		fprintf(file, "%s is expected to choose %u MHz%s", governor_of(domain),
			mhz(decision, "target_khz"),
			is_boosted_by_kernel ? ", or more for I/O" : "");
		if (field_is_known(domain, "asked_max_khz"))
			fprintf(file, ", asked to stay between %u and %u MHz",
				mhz(domain, "asked_min_khz"), mhz(domain, "asked_max_khz"));
	}
}

static void print_head(FILE *file, const json_t *reply)
{
	const json_t *domain = json_object_get(reply, "domain");

	fputs(style_bold(file), file);
	print_part(file, "%s, CPUs %s: ", field_shown(domain, "name"), field_shown(domain, "cpus"));
	if (field_flag(reply, "is_present") && show_is_left_idle(domain)) {
		fprintf(file, "is idle; %s keeps %u MHz until a task runs; last decided: %u MHz",
			governor_of(domain), mhz(domain, "current_khz"), mhz(domain, "target_khz"));
	} else {
		if (field_flag(reply, "is_present"))
			fprintf(file, "runs at %u MHz; ", mhz(domain, "current_khz"));
		print_asked(file, reply, domain);
	}
	fprintf(file, "%s\n", style_plain(file));
}

/* "psql (pid 811)", or "pid 811" of one without a name. */
static void add_task(char line[static LINE_SIZE], const json_t *task)
{
	const char *comm = field_text(task, "comm") ?: "";
	uint64_t pid = field_number(task, "pid");

	add(line, comm[0] ? "%s (pid %" PRIu64 "%s)" : "%spid %" PRIu64 "%s", comm, pid,
	    format_own(pid));
}

/* " and psql (pid 811): together 100 % of a CPU;" or " that is waited for" */
static void add_chain(char line[static LINE_SIZE], const json_t *chain)
{
	if (!field_is_known(chain, "pid")) {
		add(line, " that is waited for");
		return;
	}
	add(line, " and ");
	add_task(line, chain);
	add(line, ": together %u %% of a CPU;", field_percent(chain, "share_permille"));
}

/* "io-boost of fio (pid 185) on CPU 0: 1800 MHz" */
static void add_contender(char line[static LINE_SIZE], const json_t *contender)
{
	const json_t *chain = json_object_get(contender, "chain");

	add(line, "%s", field_shown(contender, "reason"));
	if (field_is_known(contender, "pid")) {
		add(line, " of ");
		add_task(line, contender);
	}
	if (json_is_object(chain))
		add_chain(line, chain);
	add(line, " on CPU %" PRIu64 ", %" PRIu64 " of 1024: %u MHz",
	    field_number(contender, "cpu"), field_number(contender, "demand_cap"),
	    mhz(contender, "demand_khz"));
}

/* Who won, or that no CPU wanted anything. */
static void print_winner(FILE *file, const json_t *decision)
{
	char line[LINE_SIZE] = "";

	if (field_is_word(decision, "reason", "idle"))
		add(line, "nothing: all its CPUs have been idle for the hold time");
	else
		add_contender(line, json_array_get(json_object_get(decision, "contenders"), 0));
	paragraph_print(file, "wanted", line);
}

/* The rule, or the task's own clamp, that made the frequency higher or lower. */
static void print_rule(FILE *file, const json_t *decision)
{
	bool is_own_cap = field_is_word(decision, "limiter", "own-cap");
	const json_t *rule = json_object_get(decision, "rule");
	const char *where = field_text(rule, "file");
	char line[LINE_SIZE] = "";

	if (json_is_object(rule)) {
		add(line, "%s ", field_shown(rule, "name"));
		/* An override is in no file. */
		if (where && where[0])
			add(line, "(%s:%" PRIu64 ") ", where, field_number(rule, "line"));
		add(line, "%s, for pid %" PRIu64,
		    field_is_word(decision, "limiter", "cap") ? "caps it" : "gives a floor",
		    field_number(rule, "pid"));
		paragraph_print(file, "rule", line);
	}
	/* The task asked by uclampset(1) or sched_setattr(2); its cgroup may allow less. */
	if (is_own_cap || field_is_word(decision, "reason", "own-floor"))
		paragraph_printf(file, "hint",
				 "pid %" PRIu64 " has a %s of its own (uclampset), within what "
				 "cpu.uclamp.max of its cgroup allows",
				 field_number(decision, is_own_cap ? "capped_pid" : "pid"),
				 is_own_cap ? "cap" : "floor");
}

/* The task's I/O, what the model expects of a boost, and what trying it gave. */
static void print_io(FILE *file, const json_t *io)
{
	const char *device = field_text(io, "device");
	char line[LINE_SIZE] = "", tried[LINE_SIZE] = "";

	if (!json_is_object(io))
		return;
	add(line, "%" PRIu64 " per second%s%s", field_number(io, "io_rate_per_s"),
	    device ? " on " : ", of waits without block requests", device ?: "");
	if (field_is_known(io, "host_share_permille"))
		add(line, "; host time is %u %% of each at the lowest frequency",
		    field_percent(io, "host_share_permille"));
	paragraph_print(file, "I/O", line);
	if (field_is_known(io, "predicted_gain_permille"))
		paragraph_printf(
			file, "predicted", "%u %% more I/O at %u MHz than at the lowest frequency",
			field_percent(io, "predicted_gain_permille"), mhz(io, "wanted_khz"));
	if (field_number(io, "pairs"))
		add(tried, "in %" PRIu64 " pairs: %u %% more, plus or minus %u %%; ",
		    field_number(io, "pairs"), field_percent(io, "measured_gain_permille"),
		    field_percent(io, "gain_error_permille"));
	add(tried, "%s", field_shown(io, "state"));
	paragraph_print(file, "tried", tried);
}

/* Where clamps drive the domain: what becomes of schedutil's own boost for I/O. */
static void print_kernel_boost(FILE *file, const json_t *task)
{
	const char *comm = field_text(task, "comm"), *state = field_text(task, "state");
	bool held_back = field_is_known(task, "need_khz");
	char line[LINE_SIZE] = "";

	add(line, "%s (pid %" PRIu64 ") ", comm ? comm : "a task", field_number(task, "pid"));
	if (held_back)
		add(line, "at %u MHz: the kernel boosts it for its I/O, which gains nothing by it",
		    mhz(task, "need_khz"));
	else
		add(line, "by schedutil for its I/O; wakegov does not limit that");
	if (field_number(task, "pairs"))
		add(line, " (in %" PRIu64 " pair%s: %u %% more, plus or minus %u %%%s%s)",
		    field_number(task, "pairs"), field_number(task, "pairs") == 1 ? "" : "s",
		    field_percent(task, "measured_gain_permille"),
		    field_percent(task, "gain_error_permille"), held_back ? "" : "; ",
		    held_back || !state ? "" : state);
	paragraph_print(file, held_back ? "held back" : "boosted", line);
}

static void print_others(FILE *file, const json_t *decision)
{
	const json_t *contenders = json_object_get(decision, "contenders"), *contender;
	uint64_t n = field_number(decision, "n_contenders"), shown = json_array_size(contenders);
	bool is_idle = field_is_word(decision, "reason", "idle");
	char line[LINE_SIZE] = "";
	size_t i;

	json_array_foreach(contenders, i, contender) {
		if (!i && !is_idle)
			continue;
		add(line, "%s", line[0] ? "; " : "");
		add_contender(line, contender);
	}
	if (n > shown)
		add(line, "; and %" PRIu64 " more", n - shown);
	if (line[0])
		paragraph_print(file, "won over", line);
}

static void print_clamps(FILE *file, const json_t *decision)
{
	const json_t *clamps = json_object_get(decision, "clamps"), *clamp;
	char line[LINE_SIZE] = "";
	size_t i;

	json_array_foreach(clamps, i, clamp) {
		uint64_t override = field_number(clamp, "override");

		add(line, "%s%s %u MHz", i ? ", " : "", field_text(clamp, "by"), mhz(clamp, "khz"));
		if (override)
			add(line, " (override %" PRIu64 ")", override);
		if (field_flag(clamp, "acted"))
			add(line, " <- this one limits it");
	}
	if (line[0])
		paragraph_print(file, "limits", line);
}

static void print_chosen(FILE *file, const json_t *decision)
{
	const json_t *skipped = json_object_get(decision, "skipped");
	double more_percent = (double)field_number(skipped, "energy_permille") / 10 - 100;
	const char *source = field_text(skipped, "source");
	char line[LINE_SIZE] = "";

	add(line, "%u MHz: ", mhz(decision, "wanted_khz"));
	if (!json_is_object(skipped))
		add(line, "the lowest frequency within the limits that suffices");
	else
		add(line, "%u MHz would suffice, but takes %.1f %% more energy for the same work",
		    mhz(skipped, "khz"), more_percent);
	if (source)
		add(line, ", says %s", source);
	paragraph_print(file, "chosen", line);
	if (field_is_word(decision, "timing", "held"))
		paragraph_printf(file, "held",
				 "%u MHz would suffice, but not yet for the hold time",
				 mhz(decision, "wanted_khz"));
	else if (field_is_word(decision, "timing", "rate-limited"))
		paragraph_printf(file, "waits", "for %u MHz: the last change was too recent",
				 mhz(decision, "wanted_khz"));
}

static void print_written(FILE *file, const json_t *reply)
{
	const json_t *acted = json_object_get(reply, "acted");
	uint64_t at_us = field_number(acted, "realtime_us");
	uint64_t now_us = moment_now().realtime_us;
	_cleanup_free_ char *time = NULL, *age = NULL;

	if (!json_is_object(acted))
		return;
	time = cell_time(acted, "realtime_us");
	age = format_duration(now_us > at_us ? now_us - at_us : 0);
	if (field_is_known(acted, "previous_khz"))
		paragraph_printf(file, "changed", "from %u to %u MHz at %s, %s ago",
				 mhz(acted, "previous_khz"), mhz(acted, "target_khz"), time, age);
	else
		paragraph_printf(file, "changed", "to %u MHz at %s, %s ago",
				 mhz(acted, "target_khz"), time, age);
	if (field_is_known(acted, "read_back_khz"))
		paragraph_printf(file, "read back", "%u MHz right after that",
				 mhz(acted, "read_back_khz"));
	if (field_is_known(reply, "left_out"))
		paragraph_printf(file, "not kept",
				 "%u decisions after that one, before the next on disk",
				 (unsigned int)field_number(reply, "left_out"));
}

void explain_print(FILE *file, const json_t *reply)
{
	const json_t *decision = json_object_get(reply, "decision"), *limiter, *task;
	size_t i;

	print_head(file, reply);
	if (json_is_object(decision)) {
		print_winner(file, decision);
		print_rule(file, decision);
		print_io(file, json_object_get(decision, "io"));
		json_array_foreach(json_object_get(reply, "kernel_boosts"), i, task)
			print_kernel_boost(file, task);
		print_others(file, decision);
		print_clamps(file, decision);
		print_chosen(file, decision);
		print_written(file, reply);
	}
	json_array_foreach(json_object_get(reply, "limiters"), i, limiter) {
		const char *who = field_shown(limiter, "who");
		_cleanup_free_ char *sentence = words_fill("limiters", who, limiter,
							   json_object_get(reply, "domain"));

		paragraph_printf(file, "others", "%s: %s", who, sentence ?: "?");
	}
}

static void show_one(const json_t *reply)
{
	explain_print(stdout, reply);
}

static void show_all(const json_t *reply)
{
	const json_t *explanations = json_object_get(reply, "explanations"), *explanation;
	size_t i;

	json_array_foreach(explanations, i, explanation) {
		if (i)
			putchar('\n');
		show_one(explanation);
	}
	if (!json_array_size(explanations))
		puts("no cpufreq domain is known: does the kernel have a cpufreq driver here?");
}

static enum ctl_exit explain_all(struct ctl *ctl, const json_t *at)
{
	json_auto_t *domains = NULL, *explanations = json_array();
	json_auto_t *all = json_pack("{sO}", "explanations", explanations);
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Domains", NULL, &domains);
	const json_t *domain;
	size_t i;

	json_array_foreach(json_object_get(domains, "domains"), i, domain) {
		json_t *one = json_pack("{ss}", "domain", field_text(domain, "name")), *reply;

		json_object_update(one, (json_t *)at);
		code = ctl_call(ctl, "io.wakegov.Explain", one, &reply);
		if (code != CTL_OK)
			break;
		json_array_append_new(explanations, reply);
	}
	return code == CTL_OK ? ctl_print(ctl, all, show_all) : code;
}

/* The demand that this task has a part in, its own or its chain's; NULL: it has none. */
static const json_t *find_demand(const json_t *decision, uint64_t pid, bool *ret_is_highest)
{
	const json_t *contender;
	size_t i;

	json_array_foreach(json_object_get(decision, "contenders"), i, contender)
		if (field_number(contender, "pid") == pid ||
		    field_number(json_object_get(contender, "chain"), "pid") == pid) {
			*ret_is_highest = !i;
			return contender;
		}
	return NULL;
}

/* "of up to 7 ms at the highest frequency, 40 so far: they are waited for" */
static void print_piece(FILE *file, const json_t *piece)
{
	const char *kind = "no telling yet whether they are due or waited for";
	char line[LINE_SIZE] = "";

	if (!json_is_object(piece))
		return;
	if (field_is_word(piece, "kind", "due"))
		kind = "a clock says when, and in time is enough";
	else if (field_is_word(piece, "kind", "waited_for"))
		kind = "they are waited for";
	add(line, "of up to %.1f ms at the highest frequency, %" PRIu64 " so far: %s",
	    field_number(piece, "longest_us") / 1e3, field_number(piece, "pieces"), kind);
	paragraph_print(file, "pieces", line);
}

/* What the task asks for, or that its work counts as that of its CPU. */
static void print_task(FILE *file, const json_t *reply, uint64_t pid)
{
	const json_t *decision = json_object_get(reply, "decision");
	const json_t *rules = json_object_get(reply, "rules");
	const json_t *io = json_array_get(json_object_get(reply, "tasks"), 0);
	const json_t *chain = json_array_get(json_object_get(reply, "chains"), 0), *demand;
	uint64_t cpu = field_number(reply, "cpu");
	char line[LINE_SIZE] = "";
	bool is_highest;
	size_t i;

	paragraph_printf(file, "task", "%s (pid %" PRIu64 "), on CPU %" PRIu64,
			 field_shown(rules, "comm"), pid, cpu);
	demand = find_demand(decision, pid, &is_highest);
	if (demand) {
		add_contender(line, demand);
		add(line, is_highest ? "; that is the highest demand" : "; another is higher");
	} else if (chain) {
		add(line, "chain of %s", field_shown(chain, "comm"));
		add_chain(line, json_object_get(chain, "chain"));
		add(line, " its CPU's utilisation asks for as much");
	} else {
		add(line, "nothing by itself: its work counts as that of CPU %" PRIu64, cpu);
		json_array_foreach(json_object_get(decision, "contenders"), i, demand)
			if (field_is_word(demand, "reason", "utilisation") &&
			    field_number(demand, "cpu") == cpu)
				add(line, ", %" PRIu64 " of 1024: %u MHz",
				    field_number(demand, "demand_cap"), mhz(demand, "demand_khz"));
	}
	paragraph_print(file, "asks for", line);
	print_piece(file, json_object_get(reply, "piece"));
	print_io(file, io);
	putc('\n', file);
}

static void show_task(const json_t *reply)
{
	const json_t *rules = json_object_get(reply, "rules");

	print_task(stdout, reply, field_number(rules, "pid"));
	show_one(reply);
	putchar('\n');
	rules_print_task(stdout, rules);
}

/* The domain of the task's CPU, with its rules, its I/O and its chains. */
static enum ctl_exit explain_task(struct ctl *ctl, uint64_t pid, const json_t *moment)
{
	json_auto_t *task = json_pack("{sI}", "pid", (json_int_t)pid), *target = json_copy(task);
	json_auto_t *reply = NULL, *rules = NULL, *tasks = NULL;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.ExplainRules", json_incref(task), &rules);

	json_object_update(target, (json_t *)moment);
	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Explain", json_incref(target), &reply);
	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Tasks", json_incref(task), &tasks);
	if (code != CTL_OK)
		return code;
	json_object_set(reply, "rules", rules);
	json_object_set(reply, "tasks", json_object_get(tasks, "tasks"));
	json_object_set(reply, "chains", json_object_get(tasks, "chains"));
	json_object_set(reply, "piece", json_object_get(tasks, "piece"));
	return ctl_print(ctl, reply, show_task);
}

enum ctl_exit command_explain(struct ctl *ctl)
{
	const char *text = ctl->n_arguments ? ctl->arguments[0] : "", *at = ctl_value(ctl, "at");
	json_auto_t *moment = NULL, *target = NULL;
	struct moment then = { 0 };
	uint64_t number = 0;

	if (at && !ctl_moment(ctl, "at", &then))
		return CTL_USAGE;
	moment = json_pack("{so* so*}", "at_us", ctl_nonzero(then.monotonic_us), "at_realtime_us",
			   ctl_nonzero(then.realtime_us));
	if (!ctl->n_arguments)
		return explain_all(ctl, moment);
	if (ctl->n_arguments == 1 && quantity_number(text, &number) && number)
		return explain_task(ctl, number, moment);
	if (!strncmp(text, "cpu", 3) && quantity_number(text + 3, &number))
		target = json_pack("{sI}", "cpu", (json_int_t)number);
	else if (!strncmp(text, "policy", 6))
		target = json_pack("{ss}", "domain", text);
	if (!target || ctl->n_arguments > 1)
		return ctl_misuse(ctl,
				  "expected one domain (policy0), CPU (cpu3) or thread id (812); "
				  "'wakegovctl domains' and 'ps -eL' show them");
	json_object_update(target, moment);
	return ctl_ask(ctl, "io.wakegov.Explain", json_incref(target), show_one);
}
