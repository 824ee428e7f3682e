/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* words.json, filled with the fields of replies; words.c says how a template is written. */

#include <jansson.h>

/* What a path such as "domain.name" or "contenders.0" leads to; NULL: nothing. */
const json_t *field_at(const json_t *from, const char *path);
/*
 * A template filled with fields of the object `of`, or else of `more`. Allocated; NULL: a field
 * that it needs is not known, as in a reply of a daemon of another version.
 */
char *words_text(const char *template, const json_t *of, const json_t *more);
/* The same for the template or sentence of a group; also NULL: the group does not have the word. */
char *words_fill(const char *group, const char *word, const json_t *of, const json_t *more);
/* All of words.json, borrowed. */
json_t *words_all(void);
