/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The views of query/view.h as JSON objects, as io.wakegov.varlink describes them. Each returns a
 * new reference, or NULL for lack of memory. What is not known (NULL; 0 in kHz or as a pid) becomes
 * null, as does VIEW_UNKNOWN; text that is not UTF-8, as a task may call itself, gets U+FFFD where
 * it is not.
 */

#include <jansson.h>

#include "query/view.h"

json_t *view_json_text(const char *text);
json_t *view_json_domain(const struct domain_view *view);
json_t *view_json_task(const struct task_view *view);
json_t *view_json_device(const struct device_view *view);
json_t *view_json_decision(const struct decision_view *view);
json_t *view_json_program(const struct program_view *view);
json_t *view_json_policy(const struct status_view *view);

/* domains, programs and advice are consumed, also on failure. */
json_t *view_json_status(const struct status_view *view, json_t *domains, json_t *programs,
			 json_t *advice);
