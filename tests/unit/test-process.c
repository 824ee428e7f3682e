// SPDX-License-Identifier: GPL-2.0-only
#include "test-core.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process.h"

static void test_name(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_name) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
