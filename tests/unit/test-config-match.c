// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <stdio.h>

#include "config/match.h"

#define CGROUP "/system.slice/_cpu.service/web.service/worker"

static unsigned int asked; /* keys of texts */

static const char *get_text(void *userdata, const struct task_facts *facts,
			    enum policy_match_key key, const char **ret_unknown)
{
	*ret_unknown = NULL;
	asked |= key;
	if (facts->kernel_thread && key != POLICY_MATCH_CGROUP)
		return NULL;
	return key == POLICY_MATCH_EXE	    ? "/usr/bin/fio"
	       : key == POLICY_MATCH_CGROUP ? CGROUP
					    : "fio --rw=read";
}

static const struct match_texts texts = { get_text, NULL };

static const struct task_facts task = {
	.pid = 12,
	.tgid = 10,
	.uid = 1000,
	.scheduler = 3,
	.nice = 5,
	.comm = "fio",
};

TEST(test_patterns_of_cgroups)
{
	static const struct {
		const char *pattern;
		bool is;
	} cases[] = {
		{ "/", true },
		{ "/system.slice", true },
		{ "/system.slice/_cpu.service/web.service/worker", true },
		{ "/system.slice/*/web.service", true },
		{ "/system.slice/*", true },
		{ "/*", true },
		{ "/system.slice/web.service", false },
		{ "/system", false },
		{ "/user.slice", false },
		{ "/system.slice/_cpu.service/web.service/worker/deeper", false },
		{ "worker", false },
		{ "/user.slice /system.slice", true },
		{ "/user.slice /a\\ b", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(match_cgroup(cases[i].pattern, CGROUP), cases[i].is);
	assert_true(match_cgroup("/", "/"));
	/* systemd's escapes are part of a name; any other backslash quotes. */
	assert_true(match_cgroup("/dev-a\\x2db.swap", "/dev-a\\x2db.swap"));
	assert_true(match_cgroup("/dev-a\\\\x2db.swap", "/dev-a\\x2db.swap"));
	assert_false(match_cgroup("/dev-a\\x2db.swap", "/dev-ax2db.swap"));
	assert_false(match_cgroup("/dev-a\\xzz.swap", "/dev-a\\xzz.swap"));
	assert_true(match_cgroup("/a\\*", "/a*"));
	assert_false(match_cgroup("/a", "/"));
}

TEST(test_patterns_of_units)
{
	static const char user[] =
		"/user.slice/user-1000.slice/user@1000.service/app.slice/web.service/db.service";
	static const struct {
		const char *path, *pattern;
		bool is, is_of_user;
	} cases[] = {
		{ CGROUP, "cpu.service", true, false },
		{ "/system.slice/system-serial\\x2dgetty.slice/serial-getty@ttyS0.service",
		  "system-serial\\x2dgetty.slice", true, false },
		{ "/user.slice/user-1.slice/user@1.service/app.slice/app-a\\x2db.scope",
		  "app-*\\x2db.scope", false, true },
		{ CGROUP, "system.slice", true, false },
		{ CGROUP, "c?u.service", true, false },
		{ CGROUP, "*.service", true, false },
		{ CGROUP, "web.service", false, false }, /* whoever has cpu.service made it */
		{ CGROUP, "worker", false, false },
		{ CGROUP, "_cpu.service", false, false },
		{ CGROUP, "cpu", false, false },
		{ CGROUP, "", false, false },
		{ user, "user@1000.service", true, false },
		{ user, "user-1000.slice", true, false },
		{ user, "app.slice", false, true },
		{ user, "web.service", false, true },
		{ user, "db.service", false, false },
		{ "/user.slice/user-1000.slice/session-3.scope/a.service", "a.service", false,
		  false },
		{ "/docker/a.service", "a.service", false, false },
		{ "/system.slice/postgresql.service", "postgresql.service", true, false },
		{ "/init.scope", "init.scope", true, false },
		{ "/", "*", false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(match_unit(cases[i].pattern, cases[i].path), cases[i].is);
		assert_int_equal(match_user_unit(cases[i].pattern, cases[i].path),
				 cases[i].is_of_user);
	}
	assert_false(match_unit("*", NULL));
}

static void check_wanted(const struct policy_match *match, const char *expected)
{
	struct match_shown shown;
	char text[256];

	match_show(match, match->given, NULL, NULL, &shown);
	snprintf(text, sizeof(text), "%s = %s", shown.key, shown.wanted);
	assert_string_equal(text, expected);
}

#define KEY(_bit, ...)                           \
	{                                        \
		POLICY_MATCH_##_bit, __VA_ARGS__ \
	}

/* Each key alone, once so that it holds and once so that it does not; and what is said of it. */
TEST(test_keys)
{
	static const struct {
		struct policy_match holds, holds_not;
		const char *wanted; /* by the second */
	} cases[] = {
		{ KEY(COMM, .comm = "f[aio]o"), KEY(COMM, .comm = "fi"), "comm = fi" },
		{ KEY(COMM, .comm = "steam  f*"), KEY(COMM, .comm = "steam f\\ io o"),
		  "comm = steam f\\ io o" },
		{ KEY(EXE, .exe = "/bin/* */fio"), KEY(EXE, .exe = "/bin/*"), "exe = /bin/*" },
		{ KEY(UNIT, .unit = "db.service c*.service"),
		  KEY(UNIT, .unit = "web.service user.slice"), "unit = web.service user.slice" },
		/* A command line is one text with blanks in it, and so is its pattern. */
		{ KEY(COMMAND, .command = "fio --rw=*"), KEY(COMMAND, .command = "fio* nothing"),
		  "command = fio* nothing" },
		{ KEY(EXE, .exe = "*/fio"), KEY(EXE, .exe = "/usr/bin"), "exe = /usr/bin" },
		{ KEY(COMMAND, .command = "*--rw=read*"), KEY(COMMAND, .command = "--rw=read"),
		  "command = --rw=read" },
		{ KEY(USER, .user = "1000"), KEY(USER, .user = "1001"), "user = 1001" },
		{ KEY(CGROUP, .cgroup = "/system.slice"), KEY(CGROUP, .cgroup = "/user.slice"),
		  "cgroup = /user.slice" },
		{ KEY(UNIT, .unit = "cpu.service"), KEY(UNIT, .unit = "db.service"),
		  "unit = db.service" },
		{ KEY(SCHEDULER, .scheduler = "batch"), KEY(SCHEDULER, .scheduler = "other"),
		  "scheduler = other" },
		{ KEY(NICE, .nice = { 5, 5 }), KEY(NICE, .nice = { 6, 19 }), "nice = 6..19" },
		{ KEY(KERNEL_THREAD, .kernel_thread = false),
		  KEY(KERNEL_THREAD, .kernel_thread = true), "kernel-thread = yes" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct policy_match *match = &cases[i].holds;
		uint32_t uid = match->given == POLICY_MATCH_USER ? 1000 : MATCH_NO_UID;

		assert_int_equal(match_find_mismatch(match, uid, &task, &texts), 0);
		match = &cases[i].holds_not;
		assert_int_equal(match_find_mismatch(match, uid + 1, &task, &texts), match->given);
		check_wanted(match, cases[i].wanted);
	}
	check_wanted(&(struct policy_match){ POLICY_MATCH_USER_UNIT, .user_unit = "a.service" },
		     "user-unit = a.service");
}

/* A blank that is part of a name has a backslash before it. */
TEST(test_name_with_a_blank)
{
	const struct policy_match match = { POLICY_MATCH_COMM, .comm = "a Web\\ Content" };
	struct task_facts browser = task;

	strcpy(browser.comm, "Web Content");
	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &browser, &texts), 0);
	strcpy(browser.comm, "Content");
	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &browser, &texts),
			 POLICY_MATCH_COMM);
}

TEST(test_nothing_given_is_everything)
{
	const struct policy_match match = { 0 };

	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &task, &texts), 0);
}

TEST(test_unknown_user_is_nobody)
{
	const struct policy_match match = { .given = POLICY_MATCH_USER, .user = "nosuchuser" };
	struct task_facts nobody = task;

	nobody.uid = MATCH_NO_UID;
	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &nobody, &texts),
			 POLICY_MATCH_USER);
}

/* Files are read for those tasks only for which it depends on them. */
TEST(test_texts_come_last)
{
	struct policy_match match = {
		.given = POLICY_MATCH_COMM | POLICY_MATCH_EXE | POLICY_MATCH_CGROUP,
		.comm = "bash",
		.exe = "/usr/bin/fio",
		.cgroup = "/user.slice",
	};

	asked = 0;
	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &task, &texts),
			 POLICY_MATCH_COMM);
	assert_int_equal(asked, 0);
	strcpy(match.comm, "fio");
	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &task, &texts),
			 POLICY_MATCH_CGROUP);
	assert_int_equal(asked, POLICY_MATCH_CGROUP);
}

TEST(test_kernel_thread_has_no_texts)
{
	const struct policy_match match = { .given = POLICY_MATCH_EXE, .exe = "*" };
	struct task_facts kworker = task;

	kworker.kernel_thread = true;
	assert_int_equal(match_find_mismatch(&match, MATCH_NO_UID, &kworker, &texts),
			 POLICY_MATCH_EXE);
}
