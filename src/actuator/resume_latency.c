// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/resume_latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/restore.h"

static int read_us(uint32_t cpu, char ret_text[CONTROL_VALUE_SIZE], uint32_t *ret_us)
{
	int r = control_load(CONTROL_RESUME_LATENCY, cpu, ret_text, CONTROL_VALUE_SIZE);

	if (r < 0)
		return r;
	*ret_us = strtoul(ret_text, NULL, 10);
	if (strcmp(ret_text, RESUME_LATENCY_FREE) == 0)
		*ret_us = UINT32_MAX;
	return 0;
}

static int save_and_write(struct saved_values *saved, const struct saved_value *entry)
{
	int r = saved_add(saved, entry, 1, NULL, 0);

	if (r < 0)
		return r;
	r = control_store(CONTROL_RESUME_LATENCY, entry->policy, entry->put);
	if (r == 0)
		return RESUME_LATENCY_DONE;
	saved_forget_control(saved, entry->policy, CONTROL_RESUME_LATENCY);
	return r;
}

/*
 * From one limit to another goes by way of what was there before: whoever is killed in between has
 * left nothing that the file of saved values does not know.
 */
int resume_latency_limit(struct saved_values *saved, uint32_t cpu, uint32_t us)
{
	struct saved_value entry = { .policy = cpu, .control = CONTROL_RESUME_LATENCY };
	const struct saved_value *old = saved_find(saved, cpu, CONTROL_RESUME_LATENCY);
	uint32_t now_us;
	int r;

	if (us)
		snprintf(entry.put, sizeof(entry.put), "%u", us);
	else
		strcpy(entry.put, RESUME_LATENCY_ZERO);
	r = read_us(cpu, entry.value, &now_us);
	if (r == 0 && old && strcmp(entry.value, old->put) != 0) {
		r = saved_forget_control(saved, cpu, CONTROL_RESUME_LATENCY);
		return r < 0 ? r : RESUME_LATENCY_FOREIGN;
	}
	if (r == 0 && old && strcmp(entry.put, old->put) != 0) {
		restore_resume_latency(saved, cpu);
		r = read_us(cpu, entry.value, &now_us);
	}
	if (r < 0)
		return r;
	return now_us <= us ? RESUME_LATENCY_UNCHANGED : save_and_write(saved, &entry);
}
