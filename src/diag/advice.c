// SPDX-License-Identifier: GPL-2.0-only
#include "diag/advice.h"

#include <inttypes.h>
#include <stdio.h>

bool advice_find_misplacement(const struct engine *engine, const struct topology *topology,
			      uint32_t device, struct misplacement *ret)
{
	const struct io_device *io_device = engine_device(engine, device);
	struct misplacement found = {
		.cpu = io_device->totals.completion_cpu,
		.completion_domain = io_device->completion_domain,
	};
	const struct io_task *task = NULL;
	uint32_t highest_rate = 0;

	if (!io_device->present || found.completion_domain >= topology->n_domains ||
	    !io_device_completes_in(io_device, found.completion_domain))
		return false;
	while ((task = engine_next_user(engine, device, task))) {
		uint32_t domain = topology_domain_of(topology, task->cpu);

		if (io_boost_is_over(&task->io_boost) || domain == TOPOLOGY_NO_DOMAIN)
			continue;
		if (domain == found.completion_domain)
			return false;
		if (!found.n_tasks++ || task->io_boost.rate_per_s > highest_rate) {
			highest_rate = task->io_boost.rate_per_s;
			found.task_domain = domain;
		}
	}
	if (found.n_tasks)
		*ret = found;
	return found.n_tasks;
}

char *advice_on_misplacement(const char *disk, const struct interrupt *interrupt,
			     const struct advice_place *completions,
			     const struct advice_place *tasks, uint32_t n_tasks)
{
	const char *who = n_tasks > 1 ? "the busiest of its tasks" : "the task";
	const char *it = n_tasks > 1 ? "the tasks" : "the task";
	char *sentence = NULL;
	int r;

	/*
	 * Drivers that spread their queues themselves, such as NVMe's, do not let others set the
	 * affinity.
	 */
	if (interrupt)
		r = asprintf(&sentence,
			     "interrupt of %s lands in %s, %s runs in %s: write %s to "
			     "/proc/irq/%u/smp_affinity_list or, if the kernel refuses that, keep "
			     "%s on CPUs %s (taskset -c)",
			     interrupt->name, completions->domain, who, tasks->domain, tasks->cpus,
			     interrupt->number, it, completions->cpus);
	else
		r = asprintf(&sentence,
			     "interrupt of %s lands in %s, %s runs in %s: keep %s on CPUs %s "
			     "(taskset -c), since /proc/interrupts does not name the one to move",
			     disk, completions->domain, who, tasks->domain, it, completions->cpus);
	return r < 0 ? NULL : sentence;
}

char *advice_on_clamp_classes(uint64_t refused)
{
	char *sentence = NULL;
	int r = asprintf(
		&sentence,
		"%" PRIu64
		" times a task got no cap and no floor: its rules together would have been "
		"one combination more than the %d that there can be; let fewer rules be "
		"for the same tasks",
		refused, CLAMP_CLASSES_MAX);

	return r < 0 ? NULL : sentence;
}

char *advice_on_rival(const struct rival *rival)
{
	char *sentence = NULL;
	int r = asprintf(&sentence, "%s runs, and sets %s: %s", rival->name, rival->knobs,
			 rival->advice);

	return r < 0 ? NULL : sentence;
}
