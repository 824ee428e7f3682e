// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/load_error.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

const char *load_error_words(int error)
{
	/* libbpf has a single error for every reason why it cannot read the kernel's types. */
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return "this kernel has no type information (/sys/kernel/btf/vmlinux): it needs "
		       "CONFIG_DEBUG_INFO_BTF=y, which distribution kernels have";
	switch (error) {
	case -EPERM: /* the verifier refuses with -EACCES, -EINVAL and others */
		return "BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON; a kernel "
		       "locked down for confidentiality allows no tracing at all";
	case -ENOMEM:
		return "no memory for BPF: raise the memory limit (systemd: LimitMEMLOCK=, MemoryMax=)";
	default:
		return NULL;
	}
}
