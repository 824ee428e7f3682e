// SPDX-License-Identifier: GPL-2.0-only
/* What the tracer says where it cannot work. */
#include "native.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

enum outcome { AS_EXPECTED, NOT_PREPARED, NOT_REFUSED, WRONG_ERROR, WRONG_SENTENCE };

struct refusal {
	bool (*prepare)(void);
	int error; /* 0: any */
	const char *sentence;
};

static bool become_nobody(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

static bool hide_btf(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	return mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL) == 0;
}

/* In a child: neither the privileges nor the mount come back. */
static enum outcome try_in_child(const struct native *native, const struct refusal *refusal)
{
	struct tracer *tracer = NULL;
	const char *why = NULL;
	int r;

	if (!refusal->prepare())
		return NOT_PREPARED;
	r = tracer_new(native->topology, &native->policy, &tracer, &why);
	if (r >= 0)
		return NOT_REFUSED;
	print_message("%s: %s\n", strerror(-r), why);
	if (tracer || (refusal->error && r != refusal->error))
		return WRONG_ERROR;
	return strstr(why, refusal->sentence) ? AS_EXPECTED : WRONG_SENTENCE;
}

static void assert_refused(const struct native *native, const struct refusal *refusal)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(try_in_child(native, refusal));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), AS_EXPECTED);
}

NATIVE_TEST(test_no_privileges)
{
	static const struct refusal refusal = {
		.prepare = become_nobody,
		.error = -EPERM,
		.sentence = "CAP_BPF and CAP_PERFMON",
	};

	assert_refused(*state, &refusal);
}

NATIVE_TEST(test_no_btf)
{
	static const struct refusal refusal = {
		.prepare = hide_btf,
		.sentence = "/sys/kernel/btf/vmlinux",
	};

	assert_refused(*state, &refusal);
}
