// SPDX-License-Identifier: GPL-2.0-only
#include "fake-setting.h"

int setting_begin(void **state)
{
	struct setting *setting = calloc(1, sizeof(*setting));

	*state = setting;
	if (!setting || fake_reset(NULL) < 0)
		return -1;
	setting->run_dir = fake_run_dir("64k");
	fake_policy(0, 1);
	return 0;
}

int setting_open(struct setting *setting, const struct topology_domain *info)
{
	if (saved_open(setting->run_dir, &setting->saved) < 0)
		return -1;
	return actuator_domain_init(&setting->domain, info, setting->saved);
}

int setting_tear_down(void **state)
{
	struct setting *setting = *state;

	actuator_domain_deinit(&setting->domain);
	saved_free(setting->saved);
	free(setting);
	return 0;
}
