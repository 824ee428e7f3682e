// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/cleanup.h"
#include "varlink/view_json.h"

#define NAME_SIZE 40

enum order { ORDER_NONE, ORDER_PID, ORDER_COMM, ORDER_RATE, ORDER_GAIN, ORDER_BOOST, ORDERS };

static const char *const order_names[ORDERS] = {
	[ORDER_PID] = "pid",   [ORDER_COMM] = "comm",	[ORDER_RATE] = "rate",
	[ORDER_GAIN] = "gain", [ORDER_BOOST] = "boost",
};

/* A view whose strings are its own. */
struct kept {
	struct task_view view;
	char comm[NAME_SIZE];
	char device[NAME_SIZE];
};

struct choice {
	const char *domain; /* NULL: any */
	const char *state;
	const char *device;
	uint32_t pid; /* of the thread or its process; 0: any */
	enum order order;
	uint64_t offset;
	uint64_t limit;
};

struct list {
	uint32_t min_rate_per_s;
	const struct choice *choice;
	struct kept *kept;
	size_t n;
	size_t size;
};

static bool differs(const char *wanted, const char *found)
{
	return wanted && (!found || strcmp(wanted, found));
}

static bool is_chosen(const struct choice *choice, const struct task_view *view)
{
	if (choice->pid && choice->pid != view->pid && choice->pid != view->tgid)
		return false;
	return !differs(choice->domain, view->domain) && !differs(choice->state, view->state) &&
	       !differs(choice->device, view->device);
}

static const char *copy(char *to, const char *from)
{
	if (!from)
		return NULL;
	strncpy(to, from, NAME_SIZE - 1);
	return to;
}

static int keep(void *context, const struct task_view *view)
{
	struct list *list = context;

	if (!is_chosen(list->choice, view))
		return 0;
	if (list->n == list->size) {
		size_t size = list->size ? 2 * list->size : 64;
		struct kept *kept = reallocarray(list->kept, size, sizeof(*kept));

		if (!kept)
			return -ENOMEM;
		list->kept = kept;
		list->size = size;
	}
	list->kept[list->n] = (struct kept){ .view = *view };
	copy(list->kept[list->n].comm, view->comm);
	copy(list->kept[list->n].device, view->device);
	list->n++;
	return 0;
}

static uint32_t known(uint32_t measured)
{
	return measured == VIEW_UNKNOWN ? 0 : measured;
}

/* Names and numbers of tasks go up; of what there is more or less of, the most comes first. */
static int compare(const void *first, const void *second, void *order)
{
	const struct task_view *a = &((const struct kept *)first)->view;
	const struct task_view *b = &((const struct kept *)second)->view;
	uint32_t x = 0, y = 0;
	int r = 0;

	switch (*(const enum order *)order) {
	case ORDER_COMM:
		r = strcmp(((const struct kept *)first)->comm, ((const struct kept *)second)->comm);
		break;
	case ORDER_RATE:
		x = a->io_rate_per_s;
		y = b->io_rate_per_s;
		break;
	case ORDER_GAIN:
		x = known(a->predicted_gain_permille);
		y = known(b->predicted_gain_permille);
		break;
	case ORDER_BOOST:
		x = a->boost_cap;
		y = b->boost_cap;
		break;
	default:
		break;
	}
	if (r || x != y)
		return r ? r : (y > x) - (y < x);
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* NULL, or the parameter that is wrong. */
static const char *read_choice(const json_t *parameters, struct choice *ret)
{
	const char *sort = json_string_value(json_object_get(parameters, "sort"));
	const json_t *limit = json_object_get(parameters, "limit");
	json_int_t pid = json_integer_value(json_object_get(parameters, "pid"));
	json_int_t offset = json_integer_value(json_object_get(parameters, "offset"));
	bool is_limited = json_is_integer(limit);

	*ret = (struct choice){
		.domain = json_string_value(json_object_get(parameters, "domain")),
		.state = json_string_value(json_object_get(parameters, "state")),
		.device = json_string_value(json_object_get(parameters, "device")),
		.pid = pid,
		.offset = offset,
		.limit = UINT64_MAX,
	};
	if (is_limited)
		ret->limit = json_integer_value(limit);
	if (pid < 0 || pid > INT32_MAX)
		return "pid";
	if (offset < 0)
		return "offset";
	if (is_limited && json_integer_value(limit) < 1)
		return "limit";
	if (!sort)
		return NULL;
	for (ret->order = ORDER_PID; ret->order < ORDERS; ret->order++)
		if (!strcmp(sort, order_names[ret->order]))
			return NULL;
	return "sort";
}

static void put_task(struct json_out *out, struct kept *kept)
{
	kept->view.comm = kept->view.comm ? kept->comm : NULL;
	kept->view.device = kept->view.device ? kept->device : NULL;
	view_json_task(out, &kept->view);
}

static int send_page(const struct list *list, struct reply *reply)
{
	const struct choice *choice = list->choice;
	uint64_t first = choice->offset < list->n ? choice->offset : list->n;
	uint64_t end = choice->limit < list->n - first ? first + choice->limit : list->n;
	struct json_out *out = reply_begin(reply);

	json_out_key(out, "tasks");
	json_out_open(out, '[');
	for (uint64_t i = first; i < end && !out->error; i++)
		put_task(out, &list->kept[i]);
	json_out_close(out, ']');
	json_out_key(out, "total");
	json_out_count(out, list->n);
	json_out_key(out, "next_offset");
	if (end < list->n)
		json_out_count(out, end);
	else
		json_out_null(out);
	json_out_key(out, "min_rate_per_s");
	json_out_count(out, list->min_rate_per_s);
	return reply_end(reply);
}

int tasks_list(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	struct choice choice;
	struct list list = {
		.choice = &choice,
		.min_rate_per_s = source->io_min_rate(source->userdata),
	};
	const char *wrong = read_choice(call->parameters, &choice);
	int r;

	if (wrong)
		return reply_send_invalid(reply, wrong);
	if (choice.domain && !source->knows_domain(source->userdata, choice.domain))
		return reply_send_no_domain(reply, choice.domain);
	r = source->tasks(source->userdata, keep, &list);
	if (r >= 0) {
		if (choice.order && list.n)
			qsort_r(list.kept, list.n, sizeof(*list.kept), compare, &choice.order);
		r = send_page(&list, reply);
	}
	free(list.kept);
	return r;
}
