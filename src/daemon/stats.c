// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/stats.h"

#include <assert.h>
#include <stdlib.h>

struct held {
	uint32_t khz; /* 0: nothing is counted */
	uint64_t since_ns;
	uint64_t opp_ns[DOMAIN_OPPS_MAX]; /* up to since_ns */
};

struct account {
	const struct topology *topology;
	uint64_t decisions[REASON_LAST + 1];
	uint64_t limits[LIMITER_LAST + 1];
	struct held domains[];
};

struct account *account_new(const struct topology *topology)
{
	struct account *account =
		calloc(1, sizeof(*account) + topology->n_domains * sizeof(account->domains[0]));

	if (account)
		account->topology = topology;
	return account;
}

struct account *account_free(struct account *account)
{
	free(account);
	return NULL;
}

/* Since it was told so. */
static uint64_t present_ns(const struct account *account, uint32_t domain, uint32_t opp,
			   uint64_t now_ns)
{
	const struct held *held = &account->domains[domain];

	if (account->topology->domains[domain].opp_khz[opp] != held->khz || now_ns < held->since_ns)
		return 0;
	return now_ns - held->since_ns;
}

uint64_t account_opp_ns(const struct account *account, uint32_t domain, uint32_t opp,
			uint64_t now_ns)
{
	return account->domains[domain].opp_ns[opp] + present_ns(account, domain, opp, now_ns);
}

void account_set_target(struct account *account, uint32_t domain, uint32_t khz, uint64_t now_ns)
{
	struct held *held = &account->domains[domain];

	for (uint32_t opp = 0; opp < account->topology->domains[domain].n_opps; opp++)
		held->opp_ns[opp] += present_ns(account, domain, opp, now_ns);
	held->khz = khz;
	held->since_ns = now_ns;
}

void account_add_decision(struct account *account, const struct decision *decision)
{
	assert(decision->reason <= REASON_LAST && decision->limiter <= LIMITER_LAST);
	account->decisions[decision->reason]++;
	account->limits[decision->limiter]++;
}

uint64_t account_limits(const struct account *account, enum limiter limiter)
{
	return account->limits[limiter];
}

uint64_t account_decisions(const struct account *account, enum reason reason)
{
	return account->decisions[reason];
}
