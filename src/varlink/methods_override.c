// SPDX-License-Identifier: GPL-2.0-only
/* io.wakegov: what somebody wants for a while. */
#include "varlink/methods_override.h"

#include <errno.h>

#include "varlink/view_json.h"

#define FOR_DEFAULT_US (10 * 60 * 1000000LL)
#define FOR_MAX_US     (30 * 24 * 3600 * 1000000LL)

static int put_override(void *out, const struct override_view *view)
{
	view_json_override(out, view);
	return ((struct json_out *)out)->error;
}

int methods_list_overrides(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	struct json_out *out = reply_begin(reply);
	int r;

	json_out_key(out, "overrides");
	json_out_open(out, '[');
	r = source->overrides(source->userdata, put_override, out);
	json_out_close(out, ']');
	return r < 0 ? r : reply_end(reply);
}

/* A parameter of kHz, 0 where it is not given. False when it is no frequency. */
static bool take_khz(const struct call *call, const char *name, uint32_t *ret)
{
	const json_t *value = json_object_get(call->parameters, name);
	json_int_t khz = json_integer_value(value);

	*ret = (uint32_t)khz;
	return !json_is_integer(value) || (khz > 0 && khz <= UINT32_MAX);
}

static bool take_time(const struct call *call, uint64_t *ret_us)
{
	const json_t *value = json_object_get(call->parameters, "for_us");
	json_int_t us = json_is_integer(value) ? json_integer_value(value) : FOR_DEFAULT_US;

	*ret_us = (uint64_t)us;
	return us > 0 && us <= FOR_MAX_US;
}

static const char *text_of(const struct call *call, const char *name)
{
	return json_string_value(json_object_get(call->parameters, name));
}

static bool is_set(const struct call *call, const char *name)
{
	return json_is_true(json_object_get(call->parameters, name));
}

/* One of domain, pid and rule. NULL, or the parameter that cannot be. */
static const char *take_target(const struct call *call, struct override_request *ret)
{
	const json_t *pid = json_object_get(call->parameters, "pid");
	json_int_t number = json_integer_value(pid);

	ret->domain = text_of(call, "domain");
	ret->rule = text_of(call, "rule");
	ret->children = is_set(call, "children");
	ret->pid = (uint32_t)number;
	if (json_is_integer(pid) && (number <= 0 || number > INT32_MAX || ret->domain))
		return "pid";
	if (ret->rule && (ret->domain || ret->pid))
		return "rule";
	if (!ret->domain && !ret->rule && !ret->pid)
		return "domain";
	return ret->children && !ret->pid ? "children" : NULL;
}

/* What policies say of tasks. NULL, or the parameter that cannot be. */
static const char *take_levels(const struct call *call, struct override_request *ret)
{
	ret->floor = text_of(call, "floor");
	ret->cap = text_of(call, "cap");
	ret->io_boost = text_of(call, "io_boost");
	ret->class = text_of(call, "class");
	if (ret->floor && (ret->domain || ret->min_khz || ret->freeze))
		return "floor";
	if (ret->cap && (ret->domain || ret->max_khz || ret->freeze))
		return "cap";
	if (ret->io_boost && ret->domain)
		return "io_boost";
	return ret->class && ret->domain ? "class" : NULL;
}

static bool gives_something(const struct override_request *request)
{
	return request->min_khz || request->max_khz || request->floor || request->cap ||
	       request->io_boost || request->class;
}

/* NULL, or the parameter that cannot be. */
static const char *take_request(const struct call *call, struct override_request *ret)
{
	const char *wrong;

	*ret = (struct override_request){
		.freeze = is_set(call, "freeze"),
		.uid = call->peer->uid,
	};
	wrong = take_target(call, ret);
	if (wrong)
		return wrong;
	if (!take_khz(call, "min_khz", &ret->min_khz))
		return "min_khz";
	if (!take_khz(call, "max_khz", &ret->max_khz))
		return "max_khz";
	if (ret->min_khz && ret->max_khz && ret->min_khz > ret->max_khz)
		return "min_khz";
	wrong = take_levels(call, ret);
	if (wrong)
		return wrong;
	/* What keeps it where it is leaves no other limit to give; without that there is to be one.
	 */
	if (ret->freeze ? ret->min_khz || ret->max_khz : !gives_something(ret))
		return "freeze";
	return take_time(call, &ret->for_us) ? NULL : "for_us";
}

struct wanted {
	struct json_out *out;
	uint32_t id;
};

static int put_wanted(void *context, const struct override_view *view)
{
	const struct wanted *wanted = context;

	return view->id == wanted->id ? put_override(wanted->out, view) : 0;
}

static int send_override(const struct call *call, struct reply *reply, uint32_t id)
{
	const struct query_source *source = call->source;
	struct wanted wanted = { reply_begin(reply), id };
	int r;

	json_out_key(wanted.out, "override");
	r = source->overrides(source->userdata, put_wanted, &wanted);
	return r < 0 ? r : reply_end(reply);
}

static int refuse(struct reply *reply, const struct override_request *request, int error,
		  uint32_t max, const char *wrong)
{
	switch (error) {
	case -ENODEV:
		return reply_send_error(reply, "io.wakegov.NoSuchDomain",
					json_pack("{ss}", "domain", request->domain));
	case -ESRCH:
		return reply_send_error(reply, "io.wakegov.NoSuchTask",
					json_pack("{sI}", "pid", (json_int_t)request->pid));
	case -ENOENT:
		return reply_send_error(reply, "io.wakegov.NoSuchRule",
					json_pack("{ss}", "rule", request->rule));
	case -ENODATA:
		return reply_send_error(reply, "io.wakegov.NoSuchClass",
					json_pack("{ss}", "class", request->class));
	case -ENOSPC:
		return reply_send_error(reply, "io.wakegov.TooManyOverrides",
					json_pack("{sI}", "max", (json_int_t)max));
	case -EINVAL:
		return reply_send_invalid(reply, wrong);
	default:
		return error;
	}
}

int methods_add_override(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	struct override_request request;
	const char *wrong = take_request(call, &request);
	uint32_t id, max = 0;
	int r;

	if (wrong)
		return reply_send_invalid(reply, wrong);
	r = source->add_override(source->userdata, &request, &id, &max, &wrong);
	return r < 0 ? refuse(reply, &request, r, max, wrong) : send_override(call, reply, id);
}

int methods_cancel_override(const struct call *call, struct reply *reply)
{
	json_int_t id = json_integer_value(json_object_get(call->parameters, "id"));
	const struct query_source *source = call->source;
	int r = -ENOENT;

	if (id > 0 && id <= UINT32_MAX)
		r = source->cancel_override(source->userdata, (uint32_t)id);
	if (r == -ENOENT)
		return reply_send_error(reply, "io.wakegov.NoSuchOverride",
					json_pack("{sI}", "id", id));
	return r < 0 ? r : reply_send(reply, json_object());
}
