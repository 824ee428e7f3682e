// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "daemon/api.h"
#include "diag/advice.h"
#include "shared/time.h"

static void put_device(struct json_out *out, const struct manager *manager, const char *name,
		       const struct input_device *now)
{
	const struct io_device *device = engine_device(manager->engine, now->device);
	const struct io_task *task = NULL;
	uint32_t boosted = 0, trying = 0;

	while ((task = engine_next_user(manager->engine, now->device, task))) {
		boosted += io_boost_is_held(&task->io_boost);
		trying += task->io_boost.state == IO_BOOST_TRYING;
	}
	json_out_open(out, '{');
	field_text(out, "name", name);
	field_count(out, "tasks", device->n_users);
	field_count(out, "depth", now->depth);
	field_count(out, "completions", now->completions);
	field_count(out, "idle_us", now->idle_ns / NS_PER_US);
	/* At the time when requests were last followed. */
	field_count_if(out, "completions_per_s", device->rates.known,
		       device->rates.completions_per_s);
	field_count_if(out, "idle_permille", device->rates.known, device->rates.idle_permille);
	field_count(out, "completion_cpu", now->completion_cpu);
	field_text(out, "completion_domain",
		   api_domain_name(manager->topology,
				   topology_domain_of(manager->topology, now->completion_cpu)));
	field_count(out, "boosted", boosted);
	field_count(out, "trying", trying);
	json_out_close(out, '}');
}

int api_list_devices(const struct call *call, struct reply *reply)
{
	struct manager *manager = call->userdata;
	struct json_out *out = reply_begin(reply);
	uint64_t now_ns = time_now_ns();

	field_open(out, "devices", '[');
	for (uint32_t i = 0; i < INPUT_DEVICES_MAX; i++) {
		char name[TRACER_DISK_SIZE];
		struct input now;

		if (tracer_read_device(manager->tracer, i, now_ns, &now) == 0 &&
		    tracer_device_name(manager->tracer, i, name) == 0)
			put_device(out, manager, name, &now.device);
	}
	json_out_close(out, ']');
	return reply_end(reply);
}

/* Frees the sentence. */
static int put_sentence(struct json_out *out, char *sentence)
{
	if (!sentence)
		return -ENOMEM;
	json_out_text(out, sentence);
	free(sentence);
	return 0;
}

static struct advice_place place_of(const struct manager *manager, uint32_t domain)
{
	return (struct advice_place){
		.domain = manager->topology->domains[domain].name,
		.cpus = manager->domains[domain].cpus,
	};
}

static int put_device_advice(struct json_out *out, const struct manager *manager, uint32_t device)
{
	struct advice_place completions, tasks;
	struct misplacement misplacement;
	struct interrupt interrupt;
	char name[TRACER_DISK_SIZE];
	bool found;

	if (!advice_find_misplacement(manager->engine, manager->topology, device, &misplacement) ||
	    tracer_device_name(manager->tracer, device, name) < 0)
		return 0;
	completions = place_of(manager, misplacement.completion_domain);
	tasks = place_of(manager, misplacement.task_domain);
	found = interrupts_of_disk(name, misplacement.cpu, &interrupt) == 0;
	return put_sentence(out,
			    advice_on_misplacement(name, found ? &interrupt : NULL, &completions,
						   &tasks, misplacement.n_tasks));
}

int api_put_advice(struct json_out *out, const struct manager *manager)
{
	uint64_t refused = engine_clamp_classes(manager->engine)->refused;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < manager->n_rivals; i++)
		r = put_sentence(out, advice_on_rival(manager->rivals[i]));
	if (r == 0 && refused)
		r = put_sentence(out, advice_on_clamp_classes(refused));
	for (uint32_t i = 0; r == 0 && i < INPUT_DEVICES_MAX; i++)
		r = put_device_advice(out, manager, i);
	return r;
}
