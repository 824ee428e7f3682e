// SPDX-License-Identifier: GPL-2.0-only
/* Explains in a sentence why BPF programs could not be loaded, and what to do. */
#include "tracer/tracer.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "shared/sysfs.h"

const char *load_error_settings(void)
{
	char lockdown[256];
	double jit;

	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return "this kernel has no type information (/sys/kernel/btf/vmlinux): it needs "
		       "CONFIG_DEBUG_INFO_BTF=y, which distribution kernels have";
	if (sysfs_read_line(lockdown, sizeof(lockdown), "/sys/kernel/security/lockdown") &&
	    strstr(lockdown, "[confidentiality]"))
		return "this kernel is locked down for confidentiality, and allows no tracing: boot "
		       "with lockdown=integrity, or without it";
	if (sysfs_read_number(&jit, "/proc/sys/net/core/bpf_jit_enable") && !jit)
		return "BPF programs that call functions of the kernel need its compiler: sysctl "
		       "net.core.bpf_jit_enable=1";
	return NULL;
}

/* libbpf and the kernel have few error codes for many reasons: check the machine's files too. */
const char *load_error_words(int error)
{
	const char *setting = load_error_settings();

	if (setting)
		return setting;
	switch (error) {
	case -EPERM: /* the verifier refuses with -EACCES, -EINVAL and others */
		return "BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON";
	case -ENOMEM:
		return "no memory for BPF: raise the memory limit (systemd: LimitMEMLOCK=, MemoryMax=)";
	case -ESRCH: /* libbpf's for type information that is there, and that it could not load */
		return "the kernel's type information (/sys/kernel/btf/vmlinux) cannot be loaded: "
		       "there is no memory for it, or libbpf is older than its format";
	default:
		return NULL;
	}
}
