// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/overrides.h"

#include <errno.h>
#include <string.h>

#include "core/opp.h"
#include "daemon/journal.h"
#include "daemon/override_file.h"
#include "shared/log.h"
#include "shared/statefile.h"
#include "shared/time.h"

static void apply(struct manager *manager, const struct input_override *override)
{
	const struct input input = {
		.now_ns = time_now_ns(),
		.type = INPUT_OVERRIDE,
		.override = *override,
	};

	engine_apply(manager->engine, &input);
}

void overrides_save(struct manager *manager)
{
	int r = override_file_save(manager->options.run_dir, manager->topology,
				   engine_overrides(manager->engine), &manager->task_overrides);

	if (r < 0 && !manager->overrides_unsaved)
		log_warning("overrides hold, but a restart of wakegovd will end them: cannot write "
			    "%s/" OVERRIDE_FILE ": %s",
			    manager->options.run_dir, strerror(-r));
	manager->overrides_unsaved = r < 0;
}

void overrides_read(struct manager *manager)
{
	struct override_table *table = &manager->resumed;
	int r = override_file_load(manager->options.run_dir, manager->topology, time_now_ns(),
				   table, &manager->task_overrides);

	if (r < 0)
		log_warning("overrides of the wakegovd before are dropped: cannot use "
			    "%s/" OVERRIDE_FILE ": %s; give them anew",
			    manager->options.run_dir, statefile_refusal(r) ?: strerror(-r));
	if (table->n + manager->task_overrides.n)
		log_info("%u override%s of the wakegovd before still hold",
			 table->n + manager->task_overrides.n,
			 table->n + manager->task_overrides.n == 1 ? "" : "s");
	task_overrides_check(&manager->task_overrides, &manager->policy);
	task_overrides_fill(&manager->task_overrides, &manager->policy);
}

void overrides_resume(struct manager *manager)
{
	for (uint32_t i = 0; i < manager->resumed.n; i++)
		apply(manager, &manager->resumed.entries[i]);
}

uint32_t overrides_present_khz(struct manager *manager, uint32_t domain)
{
	uint32_t khz = engine_last(manager->engine, domain)->target_khz;

	if (!khz)
		actuator_domain_read_back(&manager->domains[domain].actuator, &khz);
	return opp_lowest_at_or_above(&manager->topology->domains[domain], khz, 0, UINT32_MAX);
}

int overrides_add(struct manager *manager, const struct override_request *request, uint32_t id)
{
	struct input_override override = {
		.id = id,
		.domain = topology_find(manager->topology, request->domain),
		.min_khz = request->min_khz,
		.max_khz = request->max_khz,
		.uid = request->uid,
		.end_ns = time_now_ns() + request->for_us * NS_PER_US,
	};

	if (override.domain == TOPOLOGY_NO_DOMAIN)
		return -ENODEV;
	if (engine_overrides(manager->engine)->n == OVERRIDES_MAX)
		return -ENOSPC;
	if (request->freeze)
		override.frozen_khz = overrides_present_khz(manager, override.domain);
	apply(manager, &override);
	overrides_save(manager);
	journal_tell(manager, MESSAGE_OVERRIDE,
		     &(struct message_about){ .domain = request->domain },
		     "%s: override %u by user %u for %.1f s", request->domain, override.id,
		     request->uid, (double)request->for_us / 1e6);
	return 0;
}

void overrides_tell_ended(struct manager *manager, uint64_t now_ns)
{
	const struct override_table *table = engine_overrides(manager->engine);

	for (uint32_t i = 0; i < table->n; i++) {
		const struct input_override *entry = &table->entries[i];
		const char *domain = manager->topology->domains[entry->domain].name;

		if (now_ns >= entry->end_ns)
			journal_tell(manager, MESSAGE_OVERRIDE,
				     &(struct message_about){ .domain = domain },
				     "%s: override %u ended: its time is over", domain, entry->id);
	}
}

int overrides_cancel(struct manager *manager, uint32_t id)
{
	const struct input_override *found = override_table_find(engine_overrides(manager->engine),
								 id);
	struct input_override ended;
	const char *domain;

	if (!found)
		return -ENOENT;
	ended = *found;
	ended.end_ns = 0;
	domain = manager->topology->domains[ended.domain].name;
	apply(manager, &ended);
	overrides_save(manager);
	journal_tell(manager, MESSAGE_OVERRIDE, &(struct message_about){ .domain = domain },
		     "%s: override %u was cancelled", domain, id);
	return 0;
}
