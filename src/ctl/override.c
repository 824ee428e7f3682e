// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl override: DOMAIN with limits, list, cancel ID. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/format.h"
#include "ctl/quantity.h"
#include "ctl/show.h"
#include "ctl/table.h"
#include "shared/cleanup.h"

static char *wanted(const json_t *override)
{
	uint64_t min_khz = field_number(override, "min_khz");
	uint64_t max_khz = field_number(override, "max_khz");
	uint64_t frozen_khz = field_number(override, "frozen_khz");
	_cleanup_free_ char *range = format_frequency_range(min_khz, max_khz);
	_cleanup_free_ char *one = format_frequency(min_khz + max_khz + frozen_khz);
	char *text = NULL;

	if (min_khz && max_khz)
		return take_ptr(range);
	return asprintf(&text, "%s %s",
			frozen_khz ? "frozen at"
			: min_khz  ? "at least"
				   : "at most",
			one) < 0
		       ? NULL
		       : text;
}

static void show_override(const json_t *reply)
{
	const json_t *override = json_object_get(reply, "override");
	_cleanup_free_ char *domain = format_clean(field_text(override, "domain"));
	_cleanup_free_ char *left = format_duration(field_number(override, "left_us"));
	_cleanup_free_ char *limits = wanted(override);
	uint64_t id = field_number(override, "id");

	printf("%s: %s for %s. End it sooner with: wakegovctl override cancel %" PRIu64 "\n",
	       domain, limits, left, id);
}

static void show_overrides(const json_t *reply)
{
	static const struct table_column columns[] = {
		{ "ID", TABLE_RIGHT },	 { "DOMAIN", TABLE_LEFT }, { "WANTS", TABLE_LEFT },
		{ "LEFT", TABLE_RIGHT }, { "BY", TABLE_LEFT },
	};
	const json_t *overrides = json_object_get(reply, "overrides"), *override;
	_cleanup_(table_deinit) struct table table;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach(overrides, i, override) {
		table_add(&table, format_count(field_number(override, "id")));
		table_add_text(&table, field_text(override, "domain"));
		table_add(&table, wanted(override));
		table_add(&table, format_duration(field_number(override, "left_us")));
		table_add(&table, format_user(field_number(override, "uid")));
	}
	if (table.n_cells)
		table_print(&table, stdout);
	else
		puts("no override is in force. One is made by: wakegovctl override policy0 --max "
		     "1.2GHz --for 10m");
}

static void show_cancelled(const json_t *reply)
{
	puts("cancelled");
}

static enum ctl_exit cancel(struct ctl *ctl)
{
	uint64_t id;

	if (ctl->n_arguments != 2 || !quantity_number(ctl->arguments[1], &id))
		return ctl_misuse(ctl, "cancel takes the number of one override; 'wakegovctl "
				       "override list' shows them");
	return ctl_ask(ctl, "io.wakegov.CancelOverride", json_pack("{sI}", "id", (json_int_t)id),
		       show_cancelled);
}

/* What --min or --max gives, into the call; CTL_OK where it is not given. */
static enum ctl_exit add_frequency(struct ctl *ctl, json_t *parameters, const char *option,
				   const char *key)
{
	const char *text = ctl_value(ctl, option);
	uint64_t khz;

	if (!text)
		return CTL_OK;
	if (!quantity_frequency(text, &khz))
		return ctl_misuse(ctl, "--%s %s: expected a frequency such as 1.2GHz or 800MHz",
				  option, text);
	json_object_set_new(parameters, key, json_integer((json_int_t)khz));
	return CTL_OK;
}

static enum ctl_exit add_time(struct ctl *ctl, json_t *parameters)
{
	const char *text = ctl_value(ctl, "for");
	uint64_t us;

	if (!text)
		return CTL_OK;
	if (!quantity_duration_us(text, &us) || !us)
		return ctl_misuse(ctl, "--for %s: expected a time such as 30s, 10m or 2h", text);
	json_object_set_new(parameters, "for_us", json_integer((json_int_t)us));
	return CTL_OK;
}

static enum ctl_exit add(struct ctl *ctl)
{
	json_t *parameters = json_pack("{ss}", "domain", ctl->arguments[0]);
	bool has_limit = ctl_value(ctl, "min") || ctl_value(ctl, "max");
	enum ctl_exit code = CTL_OK;

	if (ctl->n_arguments != 1)
		code = ctl_misuse(ctl, "expected one domain, and what it is to keep to");
	else if (has_limit == !!ctl_value(ctl, "freeze"))
		code = ctl_misuse(ctl, "give --min, --max or both, or --freeze");
	if (code == CTL_OK)
		code = add_frequency(ctl, parameters, "min", "min_khz");
	if (code == CTL_OK)
		code = add_frequency(ctl, parameters, "max", "max_khz");
	if (code == CTL_OK)
		code = add_time(ctl, parameters);
	if (code != CTL_OK) {
		json_decref(parameters);
		return code;
	}
	if (ctl_value(ctl, "freeze"))
		json_object_set_new(parameters, "freeze", json_true());
	return ctl_ask(ctl, "io.wakegov.AddOverride", parameters, show_override);
}

enum ctl_exit command_override(struct ctl *ctl)
{
	if (!ctl->n_arguments || !strcmp(ctl->arguments[0], "list"))
		return ctl_ask(ctl, "io.wakegov.Overrides", NULL, show_overrides);
	if (!strcmp(ctl->arguments[0], "cancel"))
		return cancel(ctl);
	return add(ctl);
}
