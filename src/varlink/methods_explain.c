// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/methods_explain.h"

#include <errno.h>

#include "varlink/view_json.h"

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

/* A number that is null where it has the value that stands for "not known". */
static void put_unless(struct json_out *out, const char *key, uint32_t value, uint32_t unknown)
{
	json_out_key(out, key);
	if (value == unknown)
		json_out_null(out);
	else
		json_out_count(out, value);
}

static void put_contenders(struct json_out *out, const struct explain_view *view)
{
	put_count(out, "n_contenders", view->n_contenders);
	json_out_key(out, "contenders");
	json_out_open(out, '[');
	for (uint32_t i = 0; i < view->n_contenders && i < EXPLAIN_CONTENDERS_MAX; i++) {
		const struct contender_view *contender = &view->contenders[i];

		json_out_open(out, '{');
		put_text(out, "reason", contender->reason);
		put_count(out, "cpu", contender->cpu);
		put_unless(out, "pid", contender->pid, 0);
		put_text(out, "comm", contender->comm);
		put_count(out, "demand_cap", contender->cap);
		put_count(out, "demand_khz", contender->khz);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void put_io(struct json_out *out, const struct explained_io_view *io)
{
	json_out_key(out, "io");
	if (!io) {
		json_out_null(out);
		return;
	}
	json_out_open(out, '{');
	put_text(out, "state", io->state);
	put_text(out, "device", io->device);
	put_count(out, "io_rate_per_s", io->rate_per_s);
	put_unless(out, "host_share_permille", io->host_share_permille, VIEW_UNKNOWN);
	put_unless(out, "predicted_gain_permille", io->predicted_gain_permille, VIEW_UNKNOWN);
	put_unless(out, "measured_gain_permille", io->measured_gain_permille, VIEW_UNKNOWN);
	put_unless(out, "gain_error_permille", io->gain_error_permille, VIEW_UNKNOWN);
	put_count(out, "pairs", io->pairs);
	put_unless(out, "wanted_khz", io->wanted_khz, 0);
	json_out_close(out, '}');
}

static void put_rule(struct json_out *out, const struct explained_rule_view *rule)
{
	json_out_key(out, "rule");
	if (!rule) {
		json_out_null(out);
		return;
	}
	json_out_open(out, '{');
	put_text(out, "name", rule->name);
	put_text(out, "file", rule->file);
	put_count(out, "line", rule->line);
	put_unless(out, "pid", rule->pid, 0);
	json_out_close(out, '}');
}

static void put_clamps(struct json_out *out, const struct explain_view *view)
{
	json_out_key(out, "clamps");
	json_out_open(out, '[');
	for (uint32_t i = 0; i < view->n_clamps; i++) {
		const struct clamp_view *clamp = &view->clamps[i];

		json_out_open(out, '{');
		put_text(out, "by", clamp->by);
		put_count(out, "khz", clamp->khz);
		put_unless(out, "override", clamp->override, 0);
		json_out_key(out, "acted");
		json_out_bool(out, clamp->acted);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void put_limiters(struct json_out *out, const struct explain_view *view)
{
	json_out_key(out, "limiters");
	json_out_open(out, '[');
	for (uint32_t i = 0; i < view->n_limiters; i++) {
		json_out_open(out, '{');
		put_text(out, "who", view->limiters[i].who);
		put_text(out, "text", view->limiters[i].text);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static int put_explanation(void *context, const struct explain_view *view)
{
	struct json_out *out = context;
	bool is_decided = view->target_khz > 0;

	json_out_key(out, "domain");
	view_json_domain(out, view->domain);
	json_out_key(out, "is_present");
	json_out_bool(out, view->is_present);
	json_out_key(out, "decided_us");
	if (is_decided)
		json_out_count(out, view->decided_us);
	else
		json_out_null(out);
	put_text(out, "reason", is_decided ? view->reason : NULL);
	put_text(out, "limiter", is_decided ? view->limiter : NULL);
	put_text(out, "timing", is_decided ? view->timing : NULL);
	put_count(out, "demand_cap", view->demand_cap);
	put_unless(out, "wanted_khz", view->wanted_khz, 0);
	put_unless(out, "target_khz", view->target_khz, 0);
	put_contenders(out, view);
	put_rule(out, view->rule);
	put_io(out, view->io);
	put_clamps(out, view);
	json_out_key(out, "acted");
	if (view->acted)
		view_json_decision(out, view->acted);
	else
		json_out_null(out);
	put_limiters(out, view);
	return out->error;
}

/* A number that is not negative, in *ret; 0 where it is not given. */
static bool take_number(const struct call *call, const char *name, uint64_t most, uint64_t *ret)
{
	json_int_t value = json_integer_value(json_object_get(call->parameters, name));

	*ret = (uint64_t)value;
	return value >= 0 && *ret <= most;
}

/* NULL, or the parameter that cannot be. */
static const char *take_request(const struct call *call, struct explain_request *ret)
{
	const json_t *parameters = call->parameters;
	uint64_t cpu, pid;

	*ret = (struct explain_request){
		.domain = json_string_value(json_object_get(parameters, "domain")),
		.has_cpu = json_is_integer(json_object_get(parameters, "cpu")),
	};
	if (!take_number(call, "cpu", UINT32_MAX, &cpu))
		return "cpu";
	if (!take_number(call, "pid", UINT32_MAX, &pid))
		return "pid";
	if (!take_number(call, "at_us", UINT64_MAX / 1000, &ret->at_us))
		return "at_us";
	ret->cpu = (uint32_t)cpu;
	ret->pid = (uint32_t)pid;
	return !!ret->domain + ret->has_cpu + !!pid == 1 ? NULL : "domain";
}

static int refuse(struct reply *reply, const struct explain_request *request, int error)
{
	switch (error) {
	case -ENOENT:
		return reply_send_error(reply, "io.wakegov.NoSuchDomain",
					json_pack("{ss}", "domain", request->domain));
	case -ENODEV:
		return reply_send_error(reply, "io.wakegov.NoSuchCpu",
					json_pack("{sI}", "cpu", (json_int_t)request->cpu));
	case -ESRCH:
		return reply_send_error(reply, "io.wakegov.NoSuchTask",
					json_pack("{sI}", "pid", (json_int_t)request->pid));
	case -ENODATA:
		return reply_send_error(reply, "io.wakegov.NotRemembered",
					json_pack("{sI}", "at_us", (json_int_t)request->at_us));
	default:
		return error;
	}
}

int methods_explain(const struct call *call, struct reply *reply)
{
	const struct query_source *source = call->source;
	struct explain_request request;
	const char *invalid = take_request(call, &request);
	int r;

	if (invalid)
		return reply_send_invalid(reply, invalid);
	r = source->explain(source->userdata, &request, put_explanation, reply_begin(reply));
	if (r < 0)
		reply_cancel(reply);
	return r < 0 ? refuse(reply, &request, r) : reply_end(reply);
}
