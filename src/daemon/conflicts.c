// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/conflicts.h"

#include <errno.h>
#include <string.h>

#include "actuator/backend.h"
#include "daemon/round.h"
#include "diag/advice.h"
#include "shared/cleanup.h"
#include "shared/log.h"

static void note_rival(void *userdata, const struct rival *rival)
{
	struct manager *manager = userdata;

	manager->rivals[manager->n_rivals++] = rival;
}

static bool is_among(const struct rival *rival, const struct rival *const *rivals, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (rivals[i] == rival)
			return true;
	return false;
}

void manager_find_rivals(struct manager *manager)
{
	const struct rival *before[RIVALS_MAX];
	uint32_t n_before = manager->n_rivals;

	memcpy(before, manager->rivals, sizeof(before));
	manager->n_rivals = 0;
	rivals_find(note_rival, manager);
	for (uint32_t i = 0; i < manager->n_rivals; i++) {
		_cleanup_free_ char *sentence = advice_on_rival(manager->rivals[i]);

		if (sentence && !is_among(manager->rivals[i], before, n_before))
			log_notice("%s", sentence);
	}
}

/* The values that the other program set are saved as those to restore. */
static int adopt(struct manager *manager, uint32_t domain)
{
	struct governed *governed = &manager->domains[domain];
	const char *name = governed->actuator.info->name;
	int r;

	governed->actuator.state = ACTUATOR_STATE_RELEASED;
	r = backend_acquire(&governed->actuator, manager->policy.backend, &governed->backend,
			    governed->passed_over);
	if (r < 0) {
		log_error("%s: cannot be adopted: %s", name, governed->actuator.why);
		governed->actuator.state = ACTUATOR_STATE_YIELDED;
		return r;
	}
	log_notice("%s: adopted on request, backend %s", name, governed->backend->name);
	engine_forget_target(manager->engine, domain);
	manager_verify_domain(manager, domain);
	return r;
}

int manager_adopt(struct manager *manager, const char *name, uint32_t *ret_adopted)
{
	bool found = !name;
	int error = 0;

	*ret_adopted = 0;
	for (uint32_t i = 0; i < manager->n_domains; i++) {
		const struct actuator_domain *actuator = &manager->domains[i].actuator;
		int r;

		if (name && strcmp(actuator->info->name, name) != 0)
			continue;
		found = true;
		if (actuator->state != ACTUATOR_STATE_YIELDED)
			continue;
		r = adopt(manager, i);
		if (r < 0)
			error = error ?: r;
		else
			++*ret_adopted;
	}
	return found ? error : -ENOENT;
}
