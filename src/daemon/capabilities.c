// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frequency/frequency.h"
#include "shared/log.h"

#define KEPT (1ULL << CAP_SYS_NICE | 1ULL << CAP_SYS_RAWIO)

static int drop_all_but(uint64_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets) < 0)
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t mask = kept >> (32 * i);

		sets[i].effective &= mask;
		sets[i].permitted &= mask;
		sets[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, sets) < 0 ? -errno : 0;
}

int capabilities_drop(struct manager *manager)
{
	int r = drop_all_but(KEPT | frequency_capabilities(manager->frequency));

	if (r < 0)
		log_error(
			"wakegovd cannot give up its capabilities: %s (systemd: SystemCallFilter= "
			"must allow capget and capset)",
			strerror(-r));
	return r;
}
