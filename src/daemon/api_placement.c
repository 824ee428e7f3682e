// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

/* What rules place, and limit the sleep of CPUs for. */
#include "core/rule.h"
#include "daemon/api.h"
#include "daemon/idle_latency.h"
#include "daemon/placing.h"
#include "shared/time.h"

#define CPUS_SIZE 128

static void put_p99(struct json_out *out, const char *key, const struct placement *placement,
		    bool with)
{
	field_count_if(out, key, placement->p99[with],
		       placement_p99_ns(placement, with) / NS_PER_US);
}

static void put_group(struct json_out *out, const struct manager *manager,
		      const struct placed_group *group)
{
	const struct placement *placement = &group->placement;
	const struct cpu_mask *cpus = placing_cpus_of(manager, group);
	bool in_one = placement->held && cpus;
	struct experiment_estimate without;
	bool tested = placement_tested(placement, &without);
	char list[CPUS_SIZE] = "";

	if (in_one)
		cpu_mask_print_list(cpus, list, sizeof(list));
	json_out_open(out, '{');
	field_count(out, "tasks", group->n_tasks);
	field_bool(out, "placed", placement->held);
	field_text(out, "cpus", in_one ? list : NULL);
	field_text(out, "why", placement_why_text(placement->why));
	field_count_if(out, "inside_permille", placement->has_inside, placement->inside_permille);
	put_p99(out, "p99_us", placement, true);
	put_p99(out, "p99_without_us", placement, false);
	field_count(out, "pairs", placement->experiment.tried);
	field_count_if(out, "without_permille", tested,
		       without.gain_ppm > -1000000 ? without.gain_ppm / 1000 + 1000 : 0);
	field_count_if(out, "without_error_permille", tested, without.error_ppm / 1000);
	json_out_close(out, '}');
}

void api_put_placed(struct json_out *out, const struct manager *manager,
		    const struct policy_rule *rule)
{
	const struct placed_group *group;
	uint32_t place = 0;

	field_open(out, "groups", '[');
	while ((group = placing_next_group(manager, rule->name, &place)))
		put_group(out, manager, group);
	json_out_close(out, ']');
}

void api_put_idle_cpus(struct json_out *out, const struct manager *manager, int rule)
{
	char list[CPUS_SIZE];
	struct cpu_mask cpus;

	idle_latency_cpus(manager, rule, &cpus);
	cpu_mask_print_list(&cpus, list, sizeof(list));
	field_text(out, "idle_cpus", cpu_mask_is_empty(&cpus) ? NULL : list);
}

static void put_unable_to_limit(struct json_out *out, const struct manager *manager)
{
	const char *why = idle_latency_why_not(manager);
	char text[160 + CPUS_SIZE], list[CPUS_SIZE];
	struct cpu_mask cpus;

	if (why) {
		snprintf(text, sizeof(text), "idle-latency does nothing here: %s", why);
		json_out_text(out, text);
	}
	idle_latency_given_up(manager, &cpus);
	if (cpu_mask_is_empty(&cpus))
		return;
	cpu_mask_print_list(&cpus, list, sizeof(list));
	snprintf(
		text, sizeof(text),
		"idle-latency was given up on CPUs %s: another program set their "
		"pm_qos_resume_latency_us, or it cannot be written; to try again: wakegovctl reload",
		list);
	json_out_text(out, text);
}

void api_put_unable(struct json_out *out, const struct manager *manager)
{
	const char *why = rule_any_gives(&manager->policy, RULE_PLACEMENT)
				  ? placing_why_not(manager)
				  : NULL;
	struct affinities_counts counts;
	char text[160];

	field_open(out, "unable", '[');
	placing_count(manager, &counts);
	if (why) {
		snprintf(text, sizeof(text), "placement does nothing here: %s", why);
		json_out_text(out, text);
	}
	if (counts.foreign) {
		snprintf(text, sizeof(text),
			 "placement was given up for %llu tasks whose affinity another program set",
			 (unsigned long long)counts.foreign);
		json_out_text(out, text);
	}
	if (counts.refused) {
		snprintf(text, sizeof(text), "the kernel refused %llu times to place a task",
			 (unsigned long long)counts.refused);
		json_out_text(out, text);
	}
	put_unable_to_limit(out, manager);
	json_out_close(out, ']');
}
