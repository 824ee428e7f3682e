// SPDX-License-Identifier: GPL-2.0-only
/* The policy as files: what stands in their place, who may read them, and in which order. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "test-config.h"

#include "config/draft.h"
#include "config/error.h"
#include "config/load.h"
#include "fake-files.h"
#include "shared/cleanup.h"

#define NOBODY 65534

/* Every test starts in an empty directory of its own, so that all paths are short. */
static int enter_directory(void **state)
{
	if (fake_files_set_up(state) < 0 || chdir(fake_root) < 0)
		return -1;
	return chmod(".", 0755) < 0 || mkdir("d", 0755) < 0 ? -1 : 0;
}

static int leave_directory(void **state)
{
	return chdir("/") < 0 ? -1 : fake_files_tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, enter_directory, leave_directory)

/* The file and its drop-ins are refused with this errno and message, and the policy stays. */
static void expect_refused(const char *path, int error, const char *message)
{
	struct policy policy, before;
	char *found = NULL;
	int r;

	memset(&policy, 0x5a, sizeof(policy));
	before = policy;
	r = policy_load(path, false, "d", &policy, &found);
	assert_non_null(found);
	assert_string_equal(found, message);
	assert_int_equal(r, error);
	assert_memory_equal(&policy, &before, sizeof(policy));
	free(found);
}

static void load(const char *path, bool may_be_missing, const char *dropin_dir, struct policy *ret)
{
	char *found = NULL;
	int r;

	memset(ret, 0x5a, sizeof(*ret));
	r = policy_load(path, may_be_missing, dropin_dir, ret, &found);
	if (found)
		print_message("%s\n", found);
	assert_null(found);
	assert_int_equal(r, 0);
}

static void expect_loaded(const char *path, const char *dropin_dir, struct policy *ret)
{
	load(path, false, dropin_dir, ret);
}

static void expect_defaults(const char *path)
{
	struct policy policy, defaults;

	policy_init(&defaults);
	expect_loaded(path, "d", &policy);
	assert_memory_equal(&policy.domain, &defaults.domain, sizeof(policy.domain));
	assert_memory_equal(&policy.query, &defaults.query, sizeof(policy.query));
	assert_int_equal(policy.max_tasks, defaults.max_tasks);
	assert_int_equal(policy.io_boost.hold_ns, defaults.io_boost.hold_ns);
	assert_int_equal(policy.n_domain_sections, 0);
}

FIXTURE_TEST(test_empty)
{
	test_write("f", "");
	expect_defaults("f");
	test_write("f", "\n");
	expect_defaults("f");
	assert_int_equal(symlink("/dev/null", "null"), 0);
	expect_defaults("null");
}

FIXTURE_TEST(test_missing)
{
	struct policy policy;

	expect_refused("f", -ENOENT, "f: cannot be read: No such file or directory");
	expect_refused("x/f", -ENOENT, "x/f: cannot be read: No such file or directory");
	test_write("d/1.conf", "[domain]\nheadroom = 200%\n");
	load("f", true, "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 200);
	load("x/f", true, "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 200);
	assert_int_equal(unlink("d/1.conf"), 0);
	test_write("x", "");
	expect_refused("x/f", -ENOTDIR, "x/f: cannot be read: Not a directory");
}

FIXTURE_TEST(test_directory)
{
	expect_refused("d", -EISDIR, "d: found a directory, expected a policy file");
}

FIXTURE_TEST(test_dangling_link)
{
	assert_int_equal(symlink("nothing", "f"), 0);
	expect_refused("f", -ENOENT,
		       "f: found a symbolic link to nothing, expected a policy file (a link to "
		       "/dev/null stands for an empty one)");
	assert_int_equal(symlink("loop", "loop"), 0);
	expect_refused("loop", -ELOOP, "loop: cannot be read: Too many levels of symbolic links");
}

/* An alarm ends the test, were it to wait for a writer. */
FIXTURE_TEST(test_not_regular)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	alarm(600);
	assert_int_equal(mkfifo("fifo", 0644), 0);
	expect_refused("fifo", -EINVAL,
		       "fifo: found a pipe, socket or device, expected a policy file");
	expect_refused("/dev/zero", -EINVAL,
		       "/dev/zero: found a pipe, socket or device, expected a policy file");
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_refused("socket", -ENXIO, "socket: cannot be read: No such device or address");
	alarm(0);
}

/* Root may read everything, so it becomes somebody else for that long. */
FIXTURE_TEST(test_no_permission)
{
	bool is_root = geteuid() == 0;

	test_write("f", "");
	assert_int_equal(chmod("f", 0), 0);
	if (is_root)
		assert_int_equal(seteuid(NOBODY), 0);
	expect_refused("f", -EACCES, "f: cannot be read: Permission denied");
	if (is_root)
		assert_int_equal(seteuid(0), 0);

	test_write("g", "");
	assert_int_equal(chmod("d", 0), 0);
	if (is_root)
		assert_int_equal(seteuid(NOBODY), 0);
	expect_refused("g", -EACCES,
		       "d: cannot be read: Permission denied; expected a directory of drop-ins");
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod("d", 0755), 0);
}

FIXTURE_TEST(test_one_line_of_a_megabyte)
{
	_cleanup_free_ char *text = malloc(POLICY_FILE_MAX + 1);

	assert_non_null(text);
	memset(text, 'x', POLICY_FILE_MAX + 1);
	test_write_bytes("f", text, 1000000);
	expect_refused("f", -EINVAL, "f:1: found a line of 1000000 bytes, expected at most 197");
	test_write_bytes("f", text, POLICY_FILE_MAX);
	expect_refused("f", -EINVAL, "f:1: found a line of 1048576 bytes, expected at most 197");
	test_write_bytes("f", text, POLICY_FILE_MAX + 1);
	expect_refused("f", -EFBIG, "f: found more than 1MiB, expected a policy file of less");
}

/* As large as allowed, every line of it read. */
FIXTURE_TEST(test_largest_file)
{
	static const char tail[] = "[domain]\nheadroom = 200%\n";
	_cleanup_free_ char *text = malloc(POLICY_FILE_MAX);
	struct policy policy;

	assert_non_null(text);
	memset(text, '\n', POLICY_FILE_MAX);
	memcpy(text + POLICY_FILE_MAX - strlen(tail), tail, strlen(tail));
	test_write_bytes("f", text, POLICY_FILE_MAX);
	expect_loaded("f", "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 200);

	text[POLICY_FILE_MAX - 2] = '\0';
	test_write_bytes("f", text, POLICY_FILE_MAX);
	expect_refused("f", -EILSEQ,
		       "f:1048553: found the byte 0x00 at column 15, expected text in UTF-8 "
		       "without control characters");
}

FIXTURE_TEST(test_not_utf8)
{
	static const char utf16[] = "\xff\xfe[\0d\0]\0\n\0";

	test_write("f", "[domain]\n# na\xefve\n");
	expect_refused("f", -EILSEQ,
		       "f:2: found the byte 0xef at column 5, expected text in UTF-8 without "
		       "control characters");
	test_write_bytes("f", utf16, sizeof(utf16) - 1);
	expect_refused("f", -EILSEQ,
		       "f:1: found the byte 0xff at column 1, expected text in UTF-8 without "
		       "control characters\n"
		       "f:2: found the byte 0x00 at column 1, expected text in UTF-8 without "
		       "control characters");
}

FIXTURE_TEST(test_dropin_order)
{
	struct policy policy;

	test_write("f", "[domain]\nheadroom = 111%\n[query]\nmax-clients = 7\n");
	test_write("d/9.conf", "[domain]\nheadroom = 113%\n");
	test_write("d/10.conf", "[domain]\nheadroom = 110%\n[wakegov]\nmax-tasks = 99\n");
	test_write("d/B.conf", "[domain]\nheadroom = 111%\n");
	test_write("d/a.conf", "[domain]\nheadroom = 112%\n");
	/* None of these is a drop-in, and each would be a fault. */
	test_write("d/.z.conf", "x");
	test_write("d/.conf", "x");
	test_write("d/z.conf~", "x");
	test_write("d/z.conf.bak", "x");
	test_write("d/#z.conf#", "x");
	test_write("d/README", "x");
	test_write("d/zconf", "x");

	expect_loaded("f", "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 112);
	assert_int_equal(policy.max_tasks, 99);
	assert_int_equal(policy.query.max_clients, 7);

	expect_loaded("f", NULL, &policy);
	assert_int_equal(policy.domain.headroom_percent, 111);
	expect_loaded("f", "no-such-directory", &policy);
	assert_int_equal(policy.domain.headroom_percent, 111);

	assert_int_equal(unlink("d/a.conf"), 0);
	expect_loaded("f", "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 111);
	assert_int_equal(unlink("d/B.conf"), 0);
	expect_loaded("f", "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 113);
}

FIXTURE_TEST(test_dropin_faults)
{
	test_write("f", "");
	test_write("d/1.conf", "[domain]\nheadroom = 200%\n");
	test_write("d/2.conf", "[domain]\n\nheadroom = 2\n");
	expect_refused("f", -EINVAL,
		       "d/2.conf:3: [domain] headroom: found '2', expected a share from 110% to "
		       "400% with its unit (%)");

	assert_int_equal(unlink("d/2.conf"), 0);
	assert_int_equal(symlink("nothing", "d/2.conf"), 0);
	expect_refused("f", -ENOENT,
		       "d/2.conf: found a symbolic link to nothing, expected a policy file (a "
		       "link to /dev/null stands for an empty one)");

	assert_int_equal(unlink("d/2.conf"), 0);
	assert_int_equal(mkdir("d/2.conf", 0755), 0);
	expect_refused("f", -EISDIR, "d/2.conf: found a directory, expected a policy file");

	/* The files behind the one with the fault do not make up for it. */
	assert_int_equal(rmdir("d/2.conf"), 0);
	test_write("d/0.conf", "x");
	expect_refused("f", -EINVAL,
		       "d/0.conf:1: found 'x', expected key = value, a [section] or a comment");
	test_write("f", "y");
	expect_refused("f", -EINVAL,
		       "f:1: found 'y', expected key = value, a [section] or a comment\n"
		       "d/0.conf:1: found 'x', expected key = value, a [section] or a comment");

	test_write("f", "");
	assert_int_equal(unlink("d/0.conf"), 0);
	test_write("d/2\n.conf", "x = 1\n");
	expect_refused("f", -EINVAL,
		       "d/2?.conf:1: found the key 'x' before any section, expected a [section] "
		       "first");
}

/* As many as can be read at a time; the rest is one line. */
FIXTURE_TEST(test_many_faults)
{
	_cleanup_free_ char *text = calloc(1, 8 * 2 * POLICY_FAULTS_SHOWN), *expected = NULL;
	size_t size;
	FILE *out = open_memstream(&expected, &size);

	for (int i = 0; i < 2 * POLICY_FAULTS_SHOWN; i++) {
		strcat(text, "x\n");
		if (i < POLICY_FAULTS_SHOWN)
			fprintf(out,
				"f:%d: found 'x', expected key = value, a [section] or a "
				"comment\n",
				i + 1);
	}
	fputs("and more; mend these first", out);
	fclose(out);
	test_write("f", text);
	test_write("d/1.conf", "x");
	expect_refused("f", -EINVAL, expected);
}

FIXTURE_TEST(test_crossed_over_files)
{
	test_write("f", "[domain]\nmin-frequency = 2GHz\n");
	test_write("d/1.conf", "[domain policy1]\nmax-frequency = 1GHz\n");
	expect_refused("f", -EINVAL,
		       "d/1.conf:2: [domain policy1] max-frequency: found '1GHz', expected at "
		       "least the min-frequency of 2GHz, given at f:2");
}

FIXTURE_TEST(test_masked_dropin)
{
	struct policy policy;

	test_write("f", "[domain]\nheadroom = 200%\n");
	assert_int_equal(symlink("/dev/null", "d/1.conf"), 0);
	test_write("d/2.conf", "");
	expect_loaded("f", "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 200);
}

/* Of one name that of the first directory counts, and all are in the order of their names. */
FIXTURE_TEST(test_dropin_directories)
{
	static const char *const expected[] = { "etc/10.conf", "lib/15.conf", "run/20.conf",
						"etc/30.conf", "lib/40.conf" };
	static const char *const files[] = { "lib/10.conf", "lib/15.conf", "lib/20.conf",
					     "lib/40.conf", "run/20.conf", "run/30.conf",
					     "etc/10.conf", "etc/30.conf" };
	static const char *const directories[] = { "etc", "none", "run", "lib" };
	struct policy_dropins dropins = { 0 };
	char *message = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (i != 1)
			assert_int_equal(mkdir(directories[i], 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		test_write(files[i], "");
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		assert_int_equal(policy_dropins_add(directories[i], &dropins, &message), 0);
	assert_int_equal(dropins.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < dropins.n; i++)
		assert_string_equal(dropins.paths[i], expected[i]);
	policy_dropins_free(&dropins);
}

FIXTURE_TEST(test_dropin_directory_faults)
{
	test_write("f", "");
	assert_int_equal(rmdir("d"), 0);
	expect_defaults("f");
	test_write("d", "");
	expect_refused("f", -ENOTDIR,
		       "d: cannot be read: Not a directory; expected a directory of drop-ins");
	assert_int_equal(unlink("d"), 0);
	assert_int_equal(symlink("nothing", "d"), 0);
	expect_refused("f", -ENOENT,
		       "d: cannot be read: No such file or directory; expected a directory of "
		       "drop-ins");
}

FIXTURE_TEST(test_many_dropins)
{
	struct policy policy;
	char path[32];

	test_write("f", "");
	for (int i = 0; i < POLICY_DROPINS_MAX; i++) {
		snprintf(path, sizeof(path), "d/%03d.conf", i);
		test_write(path, i == POLICY_DROPINS_MAX - 1 ? "[domain]\nheadroom = 200%\n" : "");
	}
	expect_loaded("f", "d", &policy);
	assert_int_equal(policy.domain.headroom_percent, 200);
	test_write("d/more.conf", "");
	expect_refused("f", -E2BIG, "d: found one more file, expected at most 128 in all");
}

/* Somebody else puts a drop-in there and takes it away, all the time. */
static pid_t start_toggling(const char *path)
{
	pid_t pid = fork();

	while (pid == 0) {
		close(open(path, O_WRONLY | O_CREAT, 0644));
		unlink(path);
	}
	assert_true(pid > 0);
	return pid;
}

/* Each load finds it or not; that it was listed and is gone is no fault. */
FIXTURE_TEST(test_vanishing_dropin)
{
	struct policy policy;
	pid_t pid;

	test_write("f", "");
	test_write("d/1.conf", "[domain]\nheadroom = 200%\n");
	pid = start_toggling("d/2.conf");
	for (int i = 0; i < 10000; i++) {
		char *message = NULL;
		int r = policy_load("f", false, "d", &policy, &message);

		if (r < 0)
			kill(pid, SIGKILL);
		if (message)
			print_message("load %d: %s\n", i, message);
		assert_int_equal(r, 0);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(policy.domain.headroom_percent, 200);
}

/* What it says of d, f or d/1.conf when that belongs to user and group and has this mode. */
static void expect_writers(const char *path, uid_t user, gid_t group, mode_t mode, const char *who)
{
	const char *what = !strcmp(path, "d") || !strcmp(path, ".") ? "directory" : "file";
	struct stat before;
	char message[128];
	struct policy policy;

	snprintf(message, sizeof(message),
		 "%s: found a %s that %s may write, expected one that only root may (chown root, "
		 "chmod go-w)",
		 path, what, who ?: "nobody");
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(chown(path, user, group), 0);
	assert_int_equal(chmod(path, mode), 0);
	if (who)
		expect_refused("f", -EPERM, message);
	else
		expect_loaded("f", "d", &policy);
	assert_int_equal(chown(path, before.st_uid, before.st_gid), 0);
	assert_int_equal(chmod(path, before.st_mode & 07777), 0);
}

FIXTURE_TEST(test_writers)
{
	static const char *const paths[] = { "f", "d", "d/1.conf", "." };

	uid_t own = geteuid();
	gid_t group = getegid();

	test_write("f", "");
	test_write("d/1.conf", "");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		expect_writers(paths[i], own, group, 0775, NULL);
		expect_writers(paths[i], own, group, 0757, "everybody");
		/* Only root gives files away. */
		if (own != 0)
			continue;
		expect_writers(paths[i], 0, NOBODY, 0755, NULL);
		expect_writers(paths[i], 0, NOBODY, 0775, "group 65534");
		expect_writers(paths[i], NOBODY, 0, 0755, "user 65534");
	}
	expect_writers(".", own, group, 01777, NULL);
	expect_writers("d", own, group, 01777, "everybody");
}
