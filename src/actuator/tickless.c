// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/tickless.h"

#include <errno.h>
#include <stdlib.h>

#include "actuator/control.h"
#include "actuator/domain.h"
#include "shared/cpu_mask.h"
#include "shared/sysfs.h"

#define LIST_SIZE 4096 /* a page: the kernel's limit for a list of CPU ranges */

bool tickless_has(uint32_t policy, uint32_t *ret_cpu)
{
	char list[LIST_SIZE], cpus[LIST_SIZE], *at = cpus, *end;
	struct cpu_mask tickless;

	/* Without nohz_full= the kernel prints "(null)", which is no list. */
	if (!sysfs_read_line(list, sizeof(list), "/sys/devices/system/cpu/nohz_full") ||
	    !cpu_mask_parse_list(list, &tickless) ||
	    control_read_file(policy, "related_cpus", cpus, sizeof(cpus)) < 0)
		return false;
	for (uint32_t cpu = strtoul(at, &end, 10); end != at; cpu = strtoul(at, &end, 10)) {
		at = end;
		if (!cpu_mask_has(&tickless, cpu))
			continue;
		if (ret_cpu)
			*ret_cpu = cpu;
		return true;
	}
	return false;
}

int tickless_refuse(struct actuator_domain *domain)
{
	uint32_t cpu;

	if (!tickless_has(domain->info->first_cpu, &cpu))
		return 0;
	return actuator_domain_explain(domain, -EOPNOTSUPP,
				       "CPU %u has no scheduler tick (nohz_full=), so a task that "
				       "is alone there would not be seen to work",
				       cpu);
}
