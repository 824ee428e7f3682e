// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "ctl/top.h"

static json_t *make_domains(uint32_t n, uint32_t turn)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "policy%u", i);
		json_array_append_new(all,
				      json_pack("{ss si si si ss}", "name", name, "current_khz",
						800000 + (int)((i * 7 + turn) % 11) * 100000,
						"highest_opp_khz", 1800000, "utilisation_cap",
						(int)i, "reason", i % 2 ? "idle" : "utilisation"));
	}
	return all;
}

static const char *name_at(const struct top_model *model, size_t i)
{
	return json_string_value(json_object_get(model->lists[TOP_DOMAINS].rows[i], "name"));
}

static int64_t khz_at(const struct top_model *model, size_t i)
{
	return json_integer_value(
		json_object_get(model->lists[TOP_DOMAINS].rows[i], "current_khz"));
}

/* What is selected stays so while rows move around it, and goes when they go. */
TEST(test_selection_follows)
{
	struct top_model model = { 0 };

	top_model_set(&model, TOP_DOMAINS, make_domains(200, 0));
	top_model_move(&model, TOP_DOMAINS, 150, 10);
	assert_string_equal(name_at(&model, model.lists[TOP_DOMAINS].selected), "policy150");
	assert_int_equal(model.lists[TOP_DOMAINS].scroll, 141);
	/* By the third column. */
	for (int i = 0; i < 3; i++)
		top_model_sort(&model, TOP_DOMAINS, false);
	assert_string_equal(top_model_sort_name(&model, TOP_DOMAINS), "CURRENT");
	for (uint32_t turn = 1; turn < 20; turn++) {
		top_model_set(&model, TOP_DOMAINS, make_domains(200, turn));
		assert_string_equal(name_at(&model, model.lists[TOP_DOMAINS].selected),
				    "policy150");
		for (size_t i = 1; i < 200; i++)
			assert_true(khz_at(&model, i - 1) >= khz_at(&model, i));
	}
	top_model_set(&model, TOP_DOMAINS, make_domains(3, 0));
	assert_non_null(top_model_selected(&model, TOP_DOMAINS));
	top_model_set(&model, TOP_DOMAINS, json_array());
	assert_null(top_model_selected(&model, TOP_DOMAINS));
	top_model_deinit(&model);
}

TEST(test_filter)
{
	struct top_model model = { 0 };

	top_model_set(&model, TOP_DOMAINS, make_domains(20, 0));
	top_model_filter(&model, "UTIL");
	assert_int_equal(model.lists[TOP_DOMAINS].n, 10);
	top_model_filter(&model, "policy1");
	assert_int_equal(model.lists[TOP_DOMAINS].n, 11);
	top_model_filter(&model, "nothing");
	assert_int_equal(model.lists[TOP_DOMAINS].n, 0);
	assert_null(top_model_selected(&model, TOP_DOMAINS));
	top_model_move(&model, TOP_DOMAINS, 5, 10);
	/* It holds for what comes later. */
	top_model_set(&model, TOP_DOMAINS, make_domains(20, 1));
	assert_int_equal(model.lists[TOP_DOMAINS].n, 0);
	top_model_filter(&model, "");
	assert_int_equal(model.lists[TOP_DOMAINS].n, 20);
	top_model_deinit(&model);
}

TEST(test_reverse)
{
	struct top_model model = { 0 };

	top_model_set(&model, TOP_DOMAINS, make_domains(9, 0));
	assert_string_equal(top_model_sort_name(&model, TOP_DOMAINS), "order");
	top_model_sort(&model, TOP_DOMAINS, true);
	assert_string_equal(name_at(&model, 0), "policy8");
	assert_string_equal(name_at(&model, 8), "policy0");
	for (size_t i = 0; i <= top_table(TOP_DOMAINS).n_columns; i++)
		top_model_sort(&model, TOP_DOMAINS, false);
	assert_string_equal(top_model_sort_name(&model, TOP_DOMAINS), "order");
	assert_string_equal(name_at(&model, 0), "policy8");
	top_model_deinit(&model);
}

/* The window stays within the list, whatever its height becomes. */
TEST(test_window)
{
	struct top_model model = { 0 };
	const struct top_list *list = &model.lists[TOP_DOMAINS];
	static const size_t heights[] = { 10, 3, 60, 1, 0, 12 };

	top_model_set(&model, TOP_DOMAINS, make_domains(40, 0));
	for (int step = -100; step <= 100; step += 7) {
		for (size_t i = 0; i < sizeof(heights) / sizeof(heights[0]); i++) {
			top_model_move(&model, TOP_DOMAINS, step, heights[i]);
			assert_in_range(list->selected, 0, 39);
			if (heights[i]) {
				assert_true(list->selected >= list->scroll);
				assert_true(list->selected < list->scroll + heights[i]);
			}
			if (heights[i] > 40)
				assert_int_equal(list->scroll, 0);
		}
	}
	top_model_deinit(&model);
}

TEST(test_history)
{
	struct top_model model = { 0 };
	const struct top_history *history;

	for (uint32_t turn = 0; turn <= 11 * TOP_HISTORY + 7; turn++)
		top_model_set(&model, TOP_DOMAINS, make_domains(2, turn));
	history = top_model_history(&model, "policy0");
	assert_non_null(history);
	assert_int_equal(history->n, TOP_HISTORY);
	/* 7 steps above 800 MHz: 1500 of 1800; the one before is one less. */
	assert_int_equal(history->levels[TOP_HISTORY - 1], (TOP_LEVELS * 15 + 9) / 18);
	assert_int_equal(history->levels[TOP_HISTORY - 2], (TOP_LEVELS * 14 + 9) / 18);
	assert_null(top_model_history(&model, "policy9"));
	assert_int_equal(model.n_histories, 2);
	/* Rows that are no objects, or strange ones, are survived. */
	top_model_set(&model, TOP_DOMAINS, json_pack("[i, n, {si}]", 5, "name", 7));
	assert_int_equal(model.lists[TOP_DOMAINS].n, 3);
	top_model_deinit(&model);
}
