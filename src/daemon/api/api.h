/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The methods of io.wakegov.varlink. Each is a function that writes its reply from the daemon's
 * present state; each shown field stands in one line of these files. call->userdata is the manager.
 */

#include "core/rule.h"
#include "daemon/manager.h"
#include "varlink/call.h"
#include "varlink/reply.h"

static inline struct core *api_core(const struct call *call)
{
	struct manager *manager = call->userdata;

	return &manager->core;
}

/* The same for a reply with what is traced, which has it traced where it is not. */
static inline struct core *api_traced(const struct call *call)
{
	watching_ask(&((struct manager *)call->userdata)->watching);
	return api_core(call);
}

/* api.c: the table of methods, and those that change something and show little. */
extern const struct query_method api_methods[];

/* Opens the socket. Returns 0 or a negative errno, logged. */
int api_open(struct manager *manager);

/* status.c: the daemon and its domains. */
int api_show_status(const struct call *call, struct reply *reply);
int api_list_domains(const struct call *call, struct reply *reply);

/* The types Policy and Domain. */
void api_put_policy(struct json_out *out, const struct policies *policies);
void api_put_domain(struct json_out *out, struct core *core, uint32_t domain);

/* The request for a domain in kHz; 0: none. A target that could not be set is none. */
struct api_asked {
	uint32_t target_khz;
	uint32_t min_khz; /* the limits that were written; 0 where its governor is left alone */
	uint32_t max_khz;
};

struct api_asked api_asked(const struct core *core, uint32_t domain);

/* decisions.c: remembered decisions, and sums over all. */
int api_list_decisions(const struct call *call, struct reply *reply);
int api_show_stats(const struct call *call, struct reply *reply);

/* io.c: tasks that do I/O, and the devices that they use. */
int api_list_tasks(const struct call *call, struct reply *reply);
int api_list_devices(const struct call *call, struct reply *reply);

/* The type Task. */
void api_put_task(struct json_out *out, const struct core *core, const struct io_task *task);

/* rules.c: rules, and those that a task matches. */
int api_list_rules(const struct call *call, struct reply *reply);
int api_list_rule_tasks(const struct call *call, struct reply *reply);
int api_list_capped_tasks(const struct call *call, struct reply *reply);
int api_explain_rules(const struct call *call, struct reply *reply);

/* override.c: classes, and hints of tasks. */
int api_list_classes(const struct call *call, struct reply *reply);
int api_list_hints(const struct call *call, struct reply *reply);
int api_give_hint(const struct call *call, struct reply *reply);
int api_hold_hint(const struct call *call, struct reply *reply);

/* A page of a list whose entries keep their places. */
struct api_page {
	uint32_t from; /* first place of the page */
	uint32_t left; /* entries that still fit */
	int64_t next;  /* first place of the next page; -1: this is the last one */
};

/* Entries of one page: RuleTasks reads a file for the name of each task. */
#define API_PAGE_MAX 100

/* Reads offset and limit. */
struct api_page api_read_page(const struct call *call);
/* Counts an entry. Returns false when the page is full; the next one begins here. */
bool api_is_on_page(struct api_page *page, uint32_t place);
/* Ends the list, and the reply, with next_offset. */
int api_end_page(struct json_out *out, const struct api_page *page, struct reply *reply);

/* for_us of hints and overrides. */
#define API_FOR_DEFAULT_US (10 * 60 * 1000000LL)
#define API_FOR_MAX_US	   (30 * 24 * 3600 * 1000000LL)

/* Properties as the fields cap, floor, io_boost, placement and idle_latency. */
void api_put_properties(struct json_out *out, const struct policy_properties *properties);
/* The type Hint; NULL: null. */
void api_put_hint(struct json_out *out, const struct hint *hint);

/* explain.c, override.c. */
int api_explain(const struct call *call, struct reply *reply);
int api_list_overrides(const struct call *call, struct reply *reply);
int api_add_override(const struct call *call, struct reply *reply);
int api_cancel_override(const struct call *call, struct reply *reply);

/* "policyN", or NULL for TOPOLOGY_NO_DOMAIN. */
static inline const char *api_domain_name(const struct topology *topology, uint32_t domain)
{
	return domain < topology->n_domains ? topology->domains[domain].name : NULL;
}

static inline int api_refuse_domain(struct reply *reply, const char *domain)
{
	return reply_send_error(reply, "io.wakegov.NoSuchDomain",
				json_pack("{ss}", "domain", domain));
}
/* Replies to a failure r of a new policy: with its message, which is NULL without memory. */
static inline int api_refuse_policy(struct reply *reply, int r, const char *message)
{
	struct json_out *out;

	if (!message)
		return r;
	out = reply_begin_error(reply, "io.wakegov.PolicyInvalid");
	field_text(out, "message", message);
	return reply_end(reply);
}

static inline int api_refuse_task(struct reply *reply, json_int_t pid)
{
	return reply_send_error(reply, "io.wakegov.NoSuchTask", json_pack("{sI}", "pid", pid));
}

static inline int api_refuse_rule(struct reply *reply, const char *rule)
{
	return reply_send_error(reply, "io.wakegov.NoSuchRule", json_pack("{ss}", "rule", rule));
}
