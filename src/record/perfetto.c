// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as events in JSON, in the form that Chromium began and the Perfetto UI reads: domains are
 * the threads of one process, tasks those of another, and a decision or a state of a boost is a
 * slice of its thread from its beginning ("B") to its end ("E").
 */
#include <inttypes.h>
#include <jansson.h>

#include "record/export.h"
#include "shared/text.h"
#include "shared/time.h"

#define NAME_SIZE 64

enum process { PROCESS_DOMAINS = 1, PROCESS_TASKS };

/* Frees the arguments. */
static void write_event(FILE *out, const char *phase, enum process process, uint32_t thread,
			uint64_t now_ns, const char *name, json_t *arguments)
{
	char clean[NAME_SIZE];
	json_t *event;

	text_copy(clean, sizeof(clean), name);
	event = json_pack("{ss si sI sf ss so*}", "ph", phase, "pid", process, "tid",
			  (json_int_t)thread, "ts", (double)now_ns / NS_PER_US, "name", clean,
			  "args", arguments);
	json_dumpf(event, out, JSON_COMPACT);
	fputs(",\n", out);
	json_decref(event);
}

/* metadata: process_name or thread_name. */
static void write_name(FILE *out, const char *metadata, enum process process, uint32_t thread,
		       const char *foreign)
{
	char name[NAME_SIZE];

	text_copy(name, sizeof(name), foreign);
	write_event(out, "M", process, thread, 0, metadata, json_pack("{ss}", "name", name));
}

struct trace {
	FILE *out;
	const struct topology *topology; /* borrowed */
};

static void end_reason(void *userdata, uint32_t domain, uint64_t now_ns)
{
	const struct trace *trace = userdata;

	write_event(trace->out, "E", PROCESS_DOMAINS, domain, now_ns, "", NULL);
}

static void write_decision(void *userdata, const struct decision *decision, bool is_first)
{
	const struct trace *trace = userdata;
	uint32_t domain = decision->domain;
	char text[NAME_SIZE];
	json_t *arguments;

	snprintf(text, sizeof(text), "%s frequency", trace->topology->domains[domain].name);
	write_event(trace->out, "C", PROCESS_DOMAINS, domain, decision->now_ns, text,
		    json_pack("{sI}", "MHz", (json_int_t)decision->target_khz / 1000));
	if (!is_first)
		end_reason(userdata, domain, decision->now_ns);
	arguments = json_pack(
		"{sI sI sI sI ss ss}", "target_mhz", (json_int_t)decision->target_khz / 1000,
		"wanted_mhz", (json_int_t)decision->wanted_khz / 1000, "demand_of_1024",
		(json_int_t)decision->want_cap, "cpu", (json_int_t)decision->cpu, "limiter",
		limiter_name(decision->limiter), "timing", timing_name(decision->timing));
	if (decision->pid) {
		text_copy(text, sizeof(text), decision->comm);
		json_object_set_new(arguments, "pid", json_integer(decision->pid));
		json_object_set_new(arguments, "task", json_string(text));
	}
	write_event(trace->out, "B", PROCESS_DOMAINS, domain, decision->now_ns,
		    reason_name(decision->reason), arguments);
}

/* At most one task has a pid at a time, so its slices are on the thread of the pid. */
static void end_task(void *userdata, uint32_t pid, uint64_t now_ns)
{
	const struct trace *trace = userdata;

	write_event(trace->out, "E", PROCESS_TASKS, pid, now_ns, "", NULL);
}

static void write_task(void *userdata, const struct io_task *task, bool is_first, uint64_t now_ns)
{
	const struct io_boost *boost = &task->io_boost;
	const struct trace *trace = userdata;

	if (is_first)
		write_name(trace->out, "thread_name", PROCESS_TASKS, task->pid, task->comm);
	else
		end_task(userdata, task->pid, now_ns);
	write_event(trace->out, "B", PROCESS_TASKS, task->pid, now_ns,
		    io_boost_state_name(boost->state),
		    json_pack("{sb sI sI sI}", "boosted", io_boost_is_held(boost), "wanted_mhz",
			      (json_int_t)boost->wanted_khz / 1000, "io_per_s",
			      (json_int_t)boost->rate_per_s, "cpu", (json_int_t)task->cpu));
}

int perfetto_write(struct record_reader *reader, FILE *out, struct timeline *ret)
{
	struct trace trace = { out, reader->topology };
	const struct timeline_sink sink = {
		.decision = write_decision,
		.pause = end_reason,
		.task = write_task,
		.task_end = end_task,
		.userdata = &trace,
	};
	char name[NAME_SIZE];
	int r;

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	write_name(out, "process_name", PROCESS_DOMAINS, 0, "wakegov: frequency domains");
	write_name(out, "process_name", PROCESS_TASKS, 0, "wakegov: I/O boosts");
	for (uint32_t i = 0; i < trace.topology->n_domains; i++) {
		snprintf(name, sizeof(name), "%s reason", trace.topology->domains[i].name);
		write_name(out, "thread_name", PROCESS_DOMAINS, i, name);
	}
	r = timeline_run(reader, &sink, ret);
	/* Each event has a comma behind it, so the last is one without a time. */
	fputs("{\"ph\":\"M\",\"pid\":1,\"name\":\"end\",\"args\":{}}\n]}\n", out);
	return r;
}
