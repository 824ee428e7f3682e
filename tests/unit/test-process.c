// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process.h"
#include "fake-files.h"

TEST(test_name)
{
	char buffer[PROCESS_COMM_SIZE];
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_int_equal(prctl(PR_SET_NAME, "fifteen letters"), 0);
	assert_string_equal(process_name(getpid(), "known", buffer), "known");
	assert_string_equal(process_name(getpid(), "", buffer), "fifteen letters");
	assert_null(process_name(gone, "", buffer));
	assert_string_equal(process_name(gone, "known", buffer), "known");
	assert_null(process_name(0, "", buffer));
	assert_null(process_name(0, "known", buffer));
}

/* The least that a limit leaves, of the unit or of a slice above it. */
FILES_TEST(test_spare_bytes)
{
	const char *cgroup = "/system.slice/wakegovd.service";

	assert_true(process_spare_bytes_in(fake_root, cgroup) == UINT64_MAX);
	fake_file("system.slice/wakegovd.service/memory.current", "12000000");
	fake_file("system.slice/wakegovd.service/memory.max", "max");
	assert_true(process_spare_bytes_in(fake_root, cgroup) == UINT64_MAX);
	fake_file("system.slice/wakegovd.service/memory.max", "67108864");
	assert_int_equal(process_spare_bytes_in(fake_root, cgroup), 55108864);
	fake_file("system.slice/memory.current", "90000000");
	fake_file("system.slice/memory.max", "100000000");
	assert_int_equal(process_spare_bytes_in(fake_root, cgroup), 10000000);
	fake_file("system.slice/memory.max", "80000000");
	assert_int_equal(process_spare_bytes_in(fake_root, cgroup), 0);
}
