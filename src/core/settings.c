// SPDX-License-Identifier: GPL-2.0-only
#include "core/settings.h"
#include "shared/time.h"

#include <stddef.h>
#include <string.h>

#define PERCENT(_value) ((struct policy_level){ POLICY_LEVEL_PERCENT, (_value) })

void policy_init(struct policy *policy)
{
	*policy = (struct policy){
		.backend = POLICY_BACKEND_AUTO,
		.max_tasks = 1024,
		.max_decisions = 512,
		.history = true,
		.chains = true,
		.max_ruled_tasks = 16384,
		.domain = {
			.headroom_percent = 125,
			.down_hold_ns = 20 * NS_PER_MS,
			.rise_time_ns = 24 * NS_PER_MS,
		},
		.io_boost = {
			.enabled = true,
			.min_rate_per_s = 500,
			.window_ns = 10 * NS_PER_MS,
			.hold_ns = 10 * NS_PER_MS,
			.slack_percent = 2,
			.min_host_percent = 2,
			.idle_latency_us = POLICY_IDLE_LATENCY_NONE,
		},
		.caps = {
			.burst_margin_ns = 500000,
			.burst_limit_ns = 10 * NS_PER_MS,
			.application_clamps = true,
		},
		.query = {
			.read_group = POLICY_GROUP_NONE,
			.change_group = POLICY_GROUP_NONE,
			.max_clients = 128,
			.max_hints = 256,
			.max_message_bytes = 64 * 1024,
			.client_timeout_ns = 10000 * NS_PER_MS,
		},
		.classes = {
			{ "interactive", { .floor = PERCENT(40), .not_inherited = true } },
			{ "tail-latency", { .floor = PERCENT(80), .not_inherited = true } },
			{ "background", { .cap = PERCENT(40) } },
			{ "efficient", { .cap = PERCENT(60) } },
			{ "batch", { .cap = PERCENT(80) } },
			/* Names of other systems' classes. */
			{ "user-interactive", { .floor = PERCENT(40), .not_inherited = true } },
			{ "user-initiated", { .floor = PERCENT(20) } },
			{ "utility", { .cap = PERCENT(60) } },
		},
		.n_classes = 8,
	};
}

static void take_domain_section(struct policy_domain *domain,
				const struct policy_domain_section *section)
{
	if (section->given & POLICY_DOMAIN_MIN)
		domain->min = section->values.min;
	if (section->given & POLICY_DOMAIN_PREFERENCE)
		domain->preference = section->values.preference;
	if (section->given & POLICY_DOMAIN_MAX)
		domain->max = section->values.max;
	if (section->given & POLICY_DOMAIN_HEADROOM)
		domain->headroom_percent = section->values.headroom_percent;
	if (section->given & POLICY_DOMAIN_RATE_LIMIT)
		domain->rate_limit_ns = section->values.rate_limit_ns;
	if (section->given & POLICY_DOMAIN_DOWN_HOLD)
		domain->down_hold_ns = section->values.down_hold_ns;
	if (section->given & POLICY_DOMAIN_REFERENCE)
		domain->reference = section->values.reference;
	if (section->given & POLICY_DOMAIN_RISE_TIME)
		domain->rise_time_ns = section->values.rise_time_ns;
}

void policy_copy(struct policy *to, const struct policy *from)
{
	uint32_t first_override = POLICY_RULES_MAX - from->n_overrides;

	memcpy(to, from, offsetof(struct policy, rules));
	memcpy(to->rules, from->rules, from->n_rules * sizeof(from->rules[0]));
	memcpy(&to->rules[first_override], &from->rules[first_override],
	       from->n_overrides * sizeof(from->rules[0]));
}

void policy_domain_for(const struct policy *policy, const char *name, struct policy_domain *ret)
{
	*ret = policy->domain;
	for (uint32_t i = 0; i < policy->n_domain_sections; i++)
		if (!strcmp(policy->domain_sections[i].name, name))
			take_domain_section(ret, &policy->domain_sections[i]);
}

uint32_t policy_powers_section(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->n_opp_powers; i++) {
		uint32_t section = policy->opp_powers[i].section;

		if (section && !strcmp(policy->domain_sections[section - 1].name, name))
			return section;
	}
	return 0;
}

uint32_t policy_power_at(const struct policy *policy, uint32_t section, uint32_t khz)
{
	for (uint32_t i = 0; i < policy->n_opp_powers; i++)
		if (policy->opp_powers[i].section == section && policy->opp_powers[i].khz == khz)
			return policy->opp_powers[i].uw;
	return 0;
}
