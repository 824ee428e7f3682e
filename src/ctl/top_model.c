// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live view without its screen: the tables, which rows of them are shown in which order, and
 * what the domains' frequencies did.
 */
#include "ctl/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/print.h"
#include "shared/cleanup.h"

struct table top_table(enum top_pane pane)
{
	static const char *const names[TOP_PANES] = {
		[TOP_DOMAINS] = "top_domains",
		[TOP_TASKS] = "top_tasks",
		[TOP_CAPPED] = "top_capped",
		[TOP_DEVICES] = "top_devices",
	};

	return table_named(names[pane]);
}

static const char *const searched[] = { "name",	  "comm",   "state",   "reason",
					"domain", "device", "limiter", "rule" };

void top_model_deinit(struct top_model *model)
{
	for (int pane = 0; pane < TOP_PANES; pane++) {
		json_decref(model->lists[pane].all);
		free(model->lists[pane].rows);
	}
	free(model->histories);
}

struct order {
	char key[TABLE_KEY_SIZE];
	bool is_reverse;
};

/* Numbers are sorted descending, texts ascending. */
static int compare(const void *a, const void *b, void *context)
{
	const json_t *const *row_a = a, *const *row_b = b;
	const struct order *order = context;
	uint64_t number_a = field_number(*row_a, order->key);
	uint64_t number_b = field_number(*row_b, order->key);
	int r = strcmp(field_text(*row_a, order->key) ?: "", field_text(*row_b, order->key) ?: "");

	if (number_a != number_b)
		r = number_a < number_b ? 1 : -1;
	return order->is_reverse ? -r : r;
}

/* Sorts by the chosen column; without one rows stay in the daemon's order. */
static void sort_rows(struct top_list *list, const struct table *table)
{
	struct order order = { .is_reverse = list->is_reverse };

	if (list->sort) {
		table_key(table, list->sort - 1, order.key);
		qsort_r(list->rows, list->n, sizeof(*list->rows), compare, &order);
		return;
	}
	for (size_t i = 0; list->is_reverse && i < list->n / 2; i++) {
		const json_t *row = list->rows[i];

		list->rows[i] = list->rows[list->n - 1 - i];
		list->rows[list->n - 1 - i] = row;
	}
}

static void select_again(struct top_list *list, const json_t *selected)
{
	const char *name = field_text(selected, "name");

	/* A row is known by its name or its pid, while its numbers change. */
	for (size_t i = 0; selected && i < list->n; i++) {
		bool has_name = name && field_text(list->rows[i], "name");

		if (has_name
			    ? field_is_word(list->rows[i], "name", name)
			    : field_number(list->rows[i], "pid") == field_number(selected, "pid")) {
			list->selected = i;
			return;
		}
	}
	if (list->selected >= list->n)
		list->selected = list->n ? list->n - 1 : 0;
}

static void arrange(struct top_model *model, enum top_pane pane, const json_t *selected)
{
	struct top_list *list = &model->lists[pane];
	const struct table table = top_table(pane);
	const json_t *row;
	size_t i;

	list->n = 0;
	json_array_foreach(list->all, i, row) {
		bool is_shown = !model->filter[0];

		for (size_t j = 0; !is_shown && j < ARRAY_SIZE(searched); j++)
			is_shown = strcasestr(field_text(row, searched[j]) ?: "", model->filter);
		if (is_shown)
			list->rows[list->n++] = row;
	}
	sort_rows(list, &table);
	select_again(list, selected);
}

static struct top_history *add_history(struct top_model *model, const char *name)
{
	struct top_history *histories = reallocarray(model->histories, model->n_histories + 1,
						     sizeof(*histories));

	if (!histories)
		return NULL;
	model->histories = histories;
	histories += model->n_histories++;
	*histories = (struct top_history){ 0 };
	snprintf(histories->name, sizeof(histories->name), "%s", name);
	return histories;
}

const struct top_history *top_model_history(const struct top_model *model, const char *name)
{
	for (size_t i = 0; name && i < model->n_histories; i++)
		if (!strcmp(model->histories[i].name, name))
			return &model->histories[i];
	return NULL;
}

enum top_tone top_model_tone(const json_t *row)
{
	const char *reason = field_text(row, "reason") ?: "";
	const char *limiter = field_text(row, "limiter");

	if (field_is_word(row, "state", "yielded") || field_is_word(row, "state", "offline") ||
	    field_number(row, "write_errors"))
		return TOP_TROUBLED;
	if (!strncmp(reason, "io-", 3))
		return TOP_BOOSTED;
	if (limiter && strcmp(limiter, "none") != 0)
		return TOP_LIMITED;
	return !strcmp(reason, "chain") ? TOP_CHAINED : TOP_PLAIN;
}

static void add_level(struct top_history *history, const json_t *domain)
{
	uint64_t highest = field_number(domain, "highest_opp_khz");
	uint64_t now = field_number(domain, "current_khz");
	uint64_t level = highest ? (now * TOP_LEVELS + highest / 2) / highest : 0;

	if (history->n == TOP_HISTORY)
		memmove(history->levels, history->levels + 1, --history->n);
	history->levels[history->n++] = level > TOP_LEVELS ? TOP_LEVELS : (uint8_t)level;
}

static void add_levels(struct top_model *model, const json_t *domains)
{
	const json_t *domain;
	size_t i;

	json_array_foreach(domains, i, domain) {
		const char *name = field_text(domain, "name");
		struct top_history *history = (struct top_history *)top_model_history(model, name);

		if (name && !history)
			history = add_history(model, name);
		if (history)
			add_level(history, domain);
	}
}

void top_model_set(struct top_model *model, enum top_pane pane, json_t *all)
{
	struct top_list *list = &model->lists[pane];
	json_t *before = list->all;
	const json_t *selected = json_incref((json_t *)top_model_selected(model, pane));

	free(list->rows);
	list->rows = calloc(json_array_size(all) + 1, sizeof(*list->rows));
	list->all = list->rows ? all : NULL;
	if (!list->rows)
		json_decref(all);
	if (pane == TOP_DOMAINS)
		add_levels(model, list->all);
	arrange(model, pane, selected);
	json_decref((json_t *)selected);
	json_decref(before);
}

void top_model_filter(struct top_model *model, const char *text)
{
	snprintf(model->filter, sizeof(model->filter), "%s", text);
	for (int pane = 0; pane < TOP_PANES; pane++)
		if (model->lists[pane].rows)
			arrange(model, pane, top_model_selected(model, pane));
}

void top_model_sort(struct top_model *model, enum top_pane pane, bool reverse)
{
	struct top_list *list = &model->lists[pane];

	if (reverse)
		list->is_reverse = !list->is_reverse;
	else
		list->sort = (list->sort + 1) % (top_table(pane).n_columns + 1);
	if (list->rows)
		arrange(model, pane, top_model_selected(model, pane));
}

const char *top_model_sort_name(const struct top_model *model, enum top_pane pane)
{
	size_t sort = model->lists[pane].sort;
	const struct table table = top_table(pane);

	return sort ? table_title(&table, sort - 1) : "order";
}

void top_model_move(struct top_model *model, enum top_pane pane, long by, size_t height)
{
	struct top_list *list = &model->lists[pane];
	long at = (long)list->selected + by;

	if (at >= (long)list->n)
		at = (long)list->n - 1;
	list->selected = at > 0 ? (size_t)at : 0;
	if (list->selected < list->scroll)
		list->scroll = list->selected;
	if (height && list->selected >= list->scroll + height)
		list->scroll = list->selected - height + 1;
	if (height && list->n >= height && list->scroll + height > list->n)
		list->scroll = list->n - height;
	if (list->n < height)
		list->scroll = 0;
}

const json_t *top_model_selected(const struct top_model *model, enum top_pane pane)
{
	const struct top_list *list = &model->lists[pane];

	return list->selected < list->n ? list->rows[list->selected] : NULL;
}
