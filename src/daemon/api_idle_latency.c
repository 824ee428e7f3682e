// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "daemon/api.h"
#include "daemon/idle_latency.h"

#define CPUS_SIZE 128

void api_put_idle_cpus(struct json_out *out, const struct manager *manager, int rule)
{
	char list[CPUS_SIZE];
	struct cpu_mask cpus;

	idle_latency_cpus(manager, rule, &cpus);
	cpu_mask_print_list(&cpus, list, sizeof(list));
	field_text(out, "idle_cpus", cpu_mask_is_empty(&cpus) ? NULL : list);
}

void api_put_unable_to_limit(struct json_out *out, const struct manager *manager)
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
