/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Prints replies of io.wakegov for people, on standard output. A newer or older daemon's reply may
 * have more or fewer fields: a missing one is shown as "-".
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void show_status(const json_t *reply);
/* Whether the target is only expected, as the domain's own governor sets the frequency. */
bool show_is_expected(const json_t *domain);
void show_domains(const json_t *reply);
void show_tasks(const json_t *reply); /* the list is not empty */
void show_devices(const json_t *reply);
void show_decisions(const json_t *reply);
/* One decision, in columns that do not depend on other lines. */
void show_decision_line(const json_t *decision);
void show_reload(const json_t *reply);
/* A reply of io.wakegov.Explain in words, in lines of at most 80 characters. */
void explain_print(FILE *file, const json_t *reply);

/* A field of an object: NULL, or 0, where it is missing, null or something else. */
static inline const char *field_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static inline uint64_t field_number(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

/* Whether it is there and a number, which may be 0. */
static inline bool field_is_known(const json_t *object, const char *key)
{
	return json_is_integer(json_object_get(object, key));
}
