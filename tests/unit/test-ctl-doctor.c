// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl doctor: what of a machine and its work speaks for a key of the policy. */
#include "fake-files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define FLAGS_OF_KTHREAD 0x00200000

static json_t *parse(const char *text)
{
	json_t *found = json_loads(text, 0, NULL);

	assert_non_null(found);
	return found;
}

/* A process with these flags and this nice value and policy that has had so many seconds of a CPU.
 */
static void fake_process(int pid, const char *comm, unsigned int flags, int nice, int policy,
			 unsigned int cpu_s)
{
	char path[32];

	snprintf(path, sizeof(path), "proc/%d/comm", pid);
	fake_file(path, "%s", comm);
	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	/* Half in user mode, half in the kernel; see proc_pid_stat(5). */
	fake_file(
		path,
		"%d (%s) S 1 1 1 0 -1 %u 1 2 3 4 %ld %ld 0 0 20 %d 1 0 100 4096 10 18446744073709551615 "
		"1 1 1 1 1 0 0 0 0 0 0 0 17 1 0 %d 0 0 0",
		pid, comm, flags, cpu_s * sysconf(_SC_CLK_TCK) / 2,
		cpu_s * sysconf(_SC_CLK_TCK) / 2, nice, policy);
}

/* "GRADE WHAT: FOUND; ADVICE" for each, of the fake machine and these replies, or NULL. */
static char *advise(const char *status, const char *rules)
{
	json_auto_t *status_json = status ? parse(status) : NULL;
	json_auto_t *rules_json = rules ? parse(rules) : NULL;
	json_auto_t *findings = json_array();
	char sys[80], proc[80], *text = NULL;
	const json_t *finding;
	size_t size, i;
	FILE *out;

	snprintf(sys, sizeof(sys), "%s/sys", fake_root);
	snprintf(proc, sizeof(proc), "%s/proc", fake_root);
	doctor_advise(findings, sys, proc, status_json, rules_json);
	out = open_memstream(&text, &size);
	json_array_foreach(findings, i, finding)
		fprintf(out, "%s %s: %s; %s\n", field_text(finding, "grade"),
			field_text(finding, "what"), field_text(finding, "found"),
			field_text(finding, "advice"));
	fclose(out);
	return text;
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in\n%s", part, text);
}

FILES_TEST(test_nothing)
{
	_cleanup_free_ char *text = advise(NULL, NULL);

	assert_string_equal(text, "");
}

FILES_TEST(test_background)
{
	_cleanup_free_ char *text = NULL, *again = NULL;

	fake_process(10, "rsync", 0, 10, 0, 50);
	fake_process(11, "a) R 1 b", 0, 1, 0, 9);
	fake_process(12, "kswapd0", FLAGS_OF_KTHREAD, 5, 0, 900);
	fake_process(13, "*", 0, 0, 3, 61);
	fake_process(14, "bash", 0, 0, 0, 900);
	fake_process(15, "tracker", 0, 0, 5, 3);
	text = advise(NULL, NULL);
	assert_null(strstr(text, "nice = "));
	assert_null(strstr(text, "scheduler = idle"));
	/* A name is shown, and is in no line to write. */
	assert_says(text, "took 1 min 1 s of CPU time so far (*); to cap it");
	assert_says(text, "a rule with scheduler = batch and class = background\n");
	fake_process(11, "a) R 1 b", 0, 1, 0, 10);
	again = advise(NULL, NULL);
	assert_says(again, "a rule with nice = 1..19 and class = background\n");
}

FILES_TEST(test_machine)
{
	_cleanup_free_ char *text = NULL, *before = NULL;

	fake_file("sys/class/power_supply/hid-1/type", "Battery");
	fake_file("sys/class/power_supply/hid-1/scope", "Device");
	before = advise(NULL, NULL);
	assert_string_equal(before, "");
	fake_file("sys/class/power_supply/BAT0/type", "Battery");
	fake_file("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "7");
	fake_process(20, "postgres", 0, 0, 0, 5);
	fake_file("proc/20/cgroup",
		  "0::/system.slice/system-postgresql.slice/postgresql@15-main.service");
	text = advise(NULL, NULL);
	assert_ptr_equal(strstr(text, "good battery: BAT0; to save it: when = battery below"),
			 text);
	assert_says(text, "systemctl enable --now wakegov-desktop");
	assert_says(text,
		    "note heat: throttled the CPUs 7 times since the boot; for an even clock");
	assert_says(text, "a rule with unit = postgresql@15-main.service and response = 2ms");
}

FILES_TEST(test_tables)
{
	_cleanup_free_ char *text =
		advise("{\"tasks\": {\"count\": 64, \"max\": 64}, \"drops\": {\"tasks\": 3}}",
		       "{\"tasks\": 16384, \"max_tasks\": 16384, \"refused\": 9, \"rules\": []}");

	assert_says(text, "write max-tasks = 1024 below [wakegov]");
	assert_says(text, "write max-ruled-tasks = 32768 below [wakegov]");
}
