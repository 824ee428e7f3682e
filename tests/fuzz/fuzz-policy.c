// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever a policy file holds: it is read whole or refused with a sentence, and each profile of
 * one that is read gives a policy within its bounds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/load.h"
#include "shared/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_policy(const struct policy *policy)
{
	struct policy_domain domain;

	check(policy->n_rules <= POLICY_RULES_MAX);
	check(policy->n_classes <= POLICY_CLASSES_MAX);
	check(policy->n_domain_sections <= POLICY_DOMAIN_SECTIONS_MAX);
	check(policy->max_tasks >= 16 && policy->max_tasks <= 1024);
	for (uint32_t i = 0; i < policy->n_domain_sections; i++) {
		policy_domain_for(policy, policy->domain_sections[i].name, &domain);
		check(domain.headroom_percent >= 110 && domain.headroom_percent <= 400);
	}
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct policy_level *cap = &policy->rules[i].properties.cap;

		check(policy->rules[i].name[0]);
		check(cap->value <= policy_level_most(cap->kind));
	}
}

static void check_profiles(const struct policy_files *files)
{
	const struct policy_profiles *profiles = policy_files_profiles(files);
	static struct policy policy;

	check(profiles->n <= POLICY_PROFILES_MAX);
	for (uint32_t i = 0; i < profiles->n; i++) {
		check(policy_files_apply(files, &profiles->entries[i], &policy) == 0);
		check_policy(&policy);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("policy", MFD_CLOEXEC);
	struct policy_files *files = NULL;
	_cleanup_free_ char *message = NULL;
	char path[32];

	check(fd >= 0 && fchmod(fd, 0600) == 0);
	check(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (policy_files_read(path, false, NULL, &files, &message) == 0)
		check_profiles(files);
	else
		check(message && message[0]);
	policy_files_free(files);
	return 0;
}
