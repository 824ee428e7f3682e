/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The views of varlink/view.h as JSON objects, as io.wakegov.varlink describes them. What is not
 * known (NULL; 0 in kHz or as a pid) becomes null, as does VIEW_UNKNOWN.
 */

#include "varlink/json_out.h"
#include "varlink/view.h"

void view_json_domain(struct json_out *out, const struct domain_view *view);
void view_json_task(struct json_out *out, const struct task_view *view);
void view_json_device(struct json_out *out, const struct device_view *view);
void view_json_decision(struct json_out *out, const struct decision_view *view);
/* number: of the event, since the first subscriber came. */
void view_json_event(struct json_out *out, const struct event_view *view, uint64_t number);
void view_json_override(struct json_out *out, const struct override_view *view);
void view_json_program(struct json_out *out, const struct program_view *view);
void view_json_policy(struct json_out *out, const struct status_view *view);

/* decision, boost, yield, error, change. Static strings. */
const char *view_event_kind_name(enum event_kind kind);

/* Into an object that is open: what of the status is no list. */
void view_json_status_fields(struct json_out *out, const struct status_view *view);
