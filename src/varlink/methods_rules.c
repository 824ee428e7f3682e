// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/methods_rules.h"

#include <errno.h>

#include "varlink/process.h"

static void put_text(struct json_out *out, const char *key, const char *text)
{
	json_out_key(out, key);
	json_out_text(out, text);
}

static void put_count(struct json_out *out, const char *key, uint64_t value)
{
	json_out_key(out, key);
	json_out_count(out, value);
}

static void put_bool(struct json_out *out, const char *key, bool value)
{
	json_out_key(out, key);
	json_out_bool(out, value);
}

static void put_rule_fields(struct json_out *out, const struct rule_view *view)
{
	put_text(out, "name", view->name);
	put_text(out, "file", view->file);
	put_count(out, "line", view->line);
	put_text(out, "match", view->match);
	put_text(out, "domain", view->domain);
	put_text(out, "class", view->class);
	put_text(out, "cap", view->cap);
	put_text(out, "floor", view->floor);
	put_text(out, "io_boost", view->io_boost);
	put_count(out, "tasks", view->tasks);
	put_count(out, "matches", view->matches);
	put_bool(out, "by_cgroup", view->by_cgroup);
	put_text(out, "by_task_why", view->by_task_why);
}

static int put_rule(void *context, const struct rule_view *view)
{
	struct json_out *out = context;

	json_out_open(out, '{');
	put_rule_fields(out, view);
	json_out_close(out, '}');
	return out->error;
}

int methods_list_rules(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	struct json_out *out = reply_begin(reply);
	struct rules_view view;
	int r;

	source->count_rules(source->userdata, &view);
	put_count(out, "tasks", view.tasks);
	put_count(out, "max_tasks", view.max_tasks);
	put_count(out, "refused", view.refused);
	json_out_key(out, "rules");
	json_out_open(out, '[');
	r = source->rules(source->userdata, put_rule, out);
	json_out_close(out, ']');
	return r < 0 ? r : reply_end(reply);
}

struct page {
	struct json_out *out;
	uint32_t left; /* of its tasks */
	int64_t next;  /* the place where the next page begins; -1: this is the last one */
};

/* False: the page is full, and the next one begins here. */
static bool take_place(struct page *page, uint32_t place)
{
	if (!page->left) {
		page->next = place;
		return false;
	}
	page->left--;
	return true;
}

static int put_matched(void *context, const struct matched_view *view)
{
	struct page *page = context;
	char comm[PROCESS_COMM_SIZE];

	if (!take_place(page, view->place))
		return 1;
	json_out_open(page->out, '{');
	put_count(page->out, "pid", view->pid);
	put_count(page->out, "tgid", view->tgid);
	put_text(page->out, "comm", process_comm((pid_t)view->pid, comm) < 0 ? NULL : comm);
	json_out_close(page->out, '}');
	return page->out->error;
}

static int put_capped(void *context, const struct capped_view *view)
{
	struct page *page = context;

	if (!take_place(page, view->place))
		return 1;
	json_out_open(page->out, '{');
	put_count(page->out, "pid", view->pid);
	put_count(page->out, "tgid", view->tgid);
	put_text(page->out, "comm", view->comm);
	put_text(page->out, "cap", view->cap);
	put_text(page->out, "rule", view->rule);
	put_text(page->out, "file", view->file);
	put_count(page->out, "line", view->line);
	json_out_close(page->out, '}');
	return page->out->error;
}

/* What the call asks for; the parameter that cannot be, or NULL. */
static const char *read_page(const struct call *call, uint32_t *ret_offset, struct page *ret)
{
	const json_t *limit = json_object_get(call->parameters, "limit");
	json_int_t offset = json_integer_value(json_object_get(call->parameters, "offset"));
	json_int_t n = json_is_integer(limit) ? json_integer_value(limit) : METHODS_RULE_TASKS_MAX;

	if (offset < 0 || offset > UINT32_MAX)
		return "offset";
	if (n < 1 || n > METHODS_RULE_TASKS_MAX)
		return "limit";
	*ret_offset = (uint32_t)offset;
	*ret = (struct page){ .left = (uint32_t)n, .next = -1 };
	return NULL;
}

static void begin_page(struct page *page, struct reply *reply)
{
	page->out = reply_begin(reply);
	json_out_key(page->out, "tasks");
	json_out_open(page->out, '[');
}

static int end_page(const struct page *page, struct reply *reply)
{
	json_out_close(page->out, ']');
	json_out_key(page->out, "next_offset");
	if (page->next < 0)
		json_out_null(page->out);
	else
		json_out_count(page->out, (uint64_t)page->next);
	return reply_end(reply);
}

int methods_list_capped(const struct call *call, struct reply *reply)
{
	struct page page;
	uint32_t offset;
	const char *wrong = read_page(call, &offset, &page);
	int r;

	if (wrong)
		return reply_send_invalid(reply, wrong);
	begin_page(&page, reply);
	r = call->source->capped_tasks(call->source->userdata, offset, put_capped, &page);
	return r < 0 ? r : end_page(&page, reply);
}

int methods_list_rule_tasks(const struct call *call, struct reply *reply)
{
	const char *rule = json_string_value(json_object_get(call->parameters, "rule"));
	struct page page;
	uint32_t offset;
	const char *wrong = read_page(call, &offset, &page);
	int r;

	if (wrong)
		return reply_send_invalid(reply, wrong);
	begin_page(&page, reply);
	r = call->source->rule_tasks(call->source->userdata, rule, offset, put_matched, &page);
	if (r == -ENOENT) {
		reply_cancel(reply);
		return reply_send_error(reply, "io.wakegov.NoSuchRule",
					json_pack("{ss}", "rule", rule));
	}
	return r < 0 ? r : end_page(&page, reply);
}

struct explained {
	struct json_out *out;
	const struct query_peer *peer;
	struct ruled_task_view task;
};

static int put_task_rule(void *context, const struct task_rule_view *view)
{
	struct explained *explained = context;
	struct json_out *out = explained->out;
	bool sees = explained->peer->sees_all || explained->peer->uid == explained->task.uid;

	json_out_open(out, '{');
	json_out_key(out, "rule");
	put_rule(out, &view->rule);
	put_bool(out, "matches", view->matches);
	put_text(out, "why", view->uses_command && !sees ? NULL : view->why);
	put_bool(out, "gives_cap", view->gives_cap);
	put_bool(out, "gives_floor", view->gives_floor);
	put_bool(out, "gives_io_boost", view->gives_io_boost);
	json_out_close(out, '}');
	return out->error;
}

int methods_explain_rules(const struct call *call, struct reply *reply)
{
	json_int_t pid = json_integer_value(json_object_get(call->parameters, "pid"));
	const struct query_source *source = call->source;
	struct explained explained = { .peer = call->peer };
	int r;

	if (pid <= 0 || pid > INT32_MAX)
		return reply_send_invalid(reply, "pid");
	explained.out = reply_begin(reply);
	json_out_key(explained.out, "rules");
	json_out_open(explained.out, '[');
	r = source->explain_rules(source->userdata, (uint32_t)pid, &explained.task, put_task_rule,
				  &explained);
	if (r == -ESRCH) {
		reply_cancel(reply);
		return reply_send_error(reply, "io.wakegov.NoSuchTask",
					json_pack("{sI}", "pid", pid));
	}
	json_out_close(explained.out, ']');
	put_count(explained.out, "pid", explained.task.pid);
	put_count(explained.out, "tgid", explained.task.tgid);
	put_text(explained.out, "comm", explained.task.comm);
	return r < 0 ? r : reply_end(reply);
}
