// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/hand_back.h"

#include <errno.h>
#include <string.h>

#include "actuator/governor.h"
#include "actuator/saved.h"

bool actuator_offers_governor(const struct actuator_domain *domain, const char *governor)
{
	char offered[CONTROL_VALUE_SIZE * 8], *word, *rest = offered;

	if (control_read_file(domain->info->first_cpu, "scaling_available_governors", offered,
			      sizeof(offered)) < 0)
		return false;
	while ((word = strsep(&rest, " ")))
		if (!strcmp(word, governor))
			return true;
	return false;
}

/* Saves the switch before it is made. */
static int lend(struct actuator_domain *domain, const char *governor)
{
	struct tunable tunables[TUNABLES_PER_GOVERNOR_MAX];
	struct saved_value saved = {
		.policy = domain->info->first_cpu,
		.control = CONTROL_GOVERNOR,
	};
	size_t n;
	int r;

	strcpy(saved.value, domain->lent_to);
	strcpy(saved.put, governor);
	n = governor_collect_tunables(domain, domain->lent_to, tunables);
	r = saved_add(domain->saved, &saved, 1, tunables, n);
	if (r == 0)
		r = control_store(CONTROL_GOVERNOR, saved.policy, governor);
	if (r == 0)
		r = control_read(domain->governor_fd, domain->lent_to, sizeof(domain->lent_to));
	if (r >= 0 && strcmp(domain->lent_to, governor) != 0)
		r = -EIO;
	if (r >= 0)
		return 0;
	restore_domain(domain->saved, saved.policy, NULL, NULL);
	return actuator_domain_explain(domain, r, "cannot be handed to %s: %s", governor,
				       strerror(-r));
}

int actuator_hand_back(struct actuator_domain *domain, const struct backend *backend,
		       const char *governor)
{
	int r = backend->release(domain, NULL, NULL);

	if (domain->state == ACTUATOR_STATE_YIELDED)
		return ACTUATOR_TAKEN_OVER;
	if (r == ACTUATOR_OFFLINE)
		return actuator_domain_mark_offline(domain);
	if (r == ACTUATOR_DONE)
		r = control_read(domain->governor_fd, domain->lent_to, sizeof(domain->lent_to));
	if (r < 0)
		return r;
	if (governor && strcmp(governor, domain->lent_to) != 0)
		r = lend(domain, governor);
	if (r < 0)
		return r;
	domain->state = ACTUATOR_STATE_HANDED_BACK;
	return actuator_domain_explain(domain, ACTUATOR_DONE, "handed back to %s for a while",
				       domain->lent_to);
}

int actuator_verify_handed_back(struct actuator_domain *domain)
{
	char governor[CONTROL_VALUE_SIZE];
	int r = control_read(domain->governor_fd, governor, sizeof(governor));

	domain->touched = 0;
	if (r == -EBUSY)
		return ACTUATOR_OFFLINE;
	if (r < 0)
		return r;
	if (!strcmp(governor, domain->lent_to))
		return ACTUATOR_DONE;
	r = saved_forget(domain->saved, domain->info->first_cpu);
	return actuator_domain_yield(domain, control_name(CONTROL_GOVERNOR), governor, r);
}

int actuator_end_hand_back(struct actuator_domain *domain)
{
	int outcome = actuator_verify_handed_back(domain);
	int r;

	if (outcome == ACTUATOR_TAKEN_OVER)
		return outcome;
	domain->state = ACTUATOR_STATE_RELEASED;
	r = restore_domain(domain->saved, domain->info->first_cpu, NULL, NULL);
	return r < 0 ? r : outcome;
}
