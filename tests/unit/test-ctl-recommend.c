// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl recommend: what suggests which part of a policy, and that the policy is one. */
#include "fake-files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/load.h"
#include "core/rule.h"
#include "ctl/command.h"
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

/* The policy for the fake machine and these replies, which may be NULL, and that it loads. */
static char *recommend(const char *findings, const char *stats, const char *status,
		       const char *rules, struct policy *ret)
{
	json_auto_t *found_json = findings ? parse(findings) : NULL;
	json_auto_t *stats_json = stats ? parse(stats) : NULL;
	json_auto_t *status_json = status ? parse(status) : NULL;
	json_auto_t *rules_json = rules ? parse(rules) : NULL;
	char sys[80], proc[80], path[80];
	const struct recommend_sources sources = { sys,	       proc,	    found_json,
						   stats_json, status_json, rules_json };
	json_auto_t *found = NULL;
	char *message = NULL, *text = NULL;
	size_t size;
	FILE *file;

	snprintf(sys, sizeof(sys), "%s/sys", fake_root);
	snprintf(proc, sizeof(proc), "%s/proc", fake_root);
	snprintf(path, sizeof(path), "%s/policy.conf", fake_root);
	found = recommend_find(&sources);
	file = open_memstream(&text, &size);
	recommend_print(file, found);
	fclose(file);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	if (policy_load(path, false, NULL, ret, &message) < 0)
		fail_msg("%s\n%s", message, text);
	fake_file_remove("policy.conf");
	return text;
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in\n%s", part, text);
}

static const struct policy_rule *rule_of(const struct policy *policy, const char *name)
{
	int rule = rule_named(policy, name);

	return rule < 0 ? NULL : &policy->rules[rule];
}

static void test_nothing(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text = recommend(NULL, NULL, NULL, NULL, &policy);

	assert_says(text, "Nothing here speaks for another policy");
	assert_int_equal(policy.n_rules, 0);
}

static void test_faults(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text = recommend(
		"[{\"domains\": [], \"grade\": \"good\", \"what\": \"BTF\", \"found\": "
		"\"there\", \"advice\": \"seen\"}, {\"domains\": [], \"grade\": \"note\", "
		"\"what\": \"driver\", \"found\": \"x\\ny\", \"advice\": \"mend it\"}]",
		NULL, NULL, NULL, &policy);

	/* A line feed in what was found cannot end the comment. */
	assert_says(text, "# driver: x?y: mend it.\n");
	assert_null(strstr(text, "seen"));
}

static void test_background(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text = NULL, *again = NULL;

	fake_process(10, "rsync", 0, 10, 0, 50);
	fake_process(11, "a) R 1 b", 0, 1, 0, 9);
	fake_process(12, "kswapd0", FLAGS_OF_KTHREAD, 5, 0, 900);
	fake_process(13, "make", 0, 0, 3, 61);
	fake_process(14, "bash", 0, 0, 0, 900);
	fake_process(15, "tracker", 0, 0, 5, 3);
	text = recommend(NULL, NULL, NULL, NULL, &policy);
	assert_null(rule_of(&policy, "niced"));
	assert_null(rule_of(&policy, "idle"));
	assert_non_null(rule_of(&policy, "batch"));
	assert_string_equal(rule_of(&policy, "batch")->class, "background");
	fake_process(11, "a) R 1 b", 0, 1, 0, 10);
	again = recommend(NULL, NULL, NULL, NULL, &policy);
	assert_string_equal(rule_of(&policy, "niced")->class, "background");
	assert_says(again, "took 1 min of CPU time so far");
}

#define BOOSTED(name, device, gained, error)                                                    \
	"{\"kind\": \"io-boost\", \"name\": \"" name "\", \"device\": \"" device                \
	"\", \"time_us\": 90000000, \"spent_mhz_s\": 4000, \"saved_mhz_s\": 10, \"spent_mj\": " \
	"7000, \"saved_mj\": 0, \"ios\": 100000, \"gained_ios\": " #gained                      \
	", \"gained_error_ios\": " #error "}"

static void test_boosts(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text =
		recommend(NULL,
			  "{\"domains\": [], \"account\": [" BOOSTED("a b#", "sda", -100, 200) ", "
			  /* Beside what it gains on another disk it does not matter. */
			  BOOSTED("fio", "sda", 0, 10) ", " BOOSTED("fio", "sdb", 40000, 10) ", "
			  /* What it gains is not known well enough to rule it out. */
			  BOOSTED("rsync", "sda", 0, 5000) "]}",
			  NULL, NULL, &policy);

	assert_int_equal(policy.n_rules, 1);
	assert_string_equal(policy.rules[0].match.comm, "a?b#");
	assert_says(text, "gained -100 ± 200 of 100000");
}

static void test_machine(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text = NULL;

	fake_file("sys/class/power_supply/hid-1/type", "Battery");
	fake_file("sys/class/power_supply/hid-1/scope", "Device");
	free(recommend(NULL, NULL, NULL, NULL, &policy));
	assert_int_equal(policy.n_rules, 0);
	fake_file("sys/class/power_supply/BAT0/type", "Battery");
	fake_file("sys/kernel/sched_ext/root/ops", "rusty_1.0");
	fake_file("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "7");
	fake_process(20, "postgres", 0, 0, 0, 5);
	fake_file("proc/20/cgroup",
		  "0::/system.slice/system-postgresql.slice/postgresql@15-main.service");
	text = recommend(NULL, NULL, NULL, NULL, &policy);
	assert_says(text, "\n[profile quiet]\nwhen = battery\n");
	/* What needs a choice is not in force. */
	assert_says(text, "\n#[wakegov]\n#backend = limits\n");
	assert_says(text, "throttled the CPUs 7 times");
	assert_says(text, "\n#[domain]\n#max-frequency = 90%\n");
	assert_says(text,
		    "\n#[rule served]\n#unit = postgresql@15-main.service\n#response = 2ms\n");
	assert_int_equal(policy.n_rules, 0);
}

/* Of one domain that saved 3 J in so many microseconds. */
#define STATISTICS(time_us)                                                                        \
	"{\"domains\": [{\"domain\": \"policy0\", \"times\": [{\"khz\": 1, \"reason\": \"idle\", " \
	"\"time_us\": " time_us                                                                    \
	"}]}], \"account\": [{\"kind\": \"domain\", \"name\": \"policy0\", "                       \
	"\"device\": \"schedutil\", \"time_us\": " time_us ", \"spent_mj\": 1000, "                \
	"\"saved_mj\": 4000}]}"

static void test_statistics(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text = recommend(
		NULL, STATISTICS("7200000000"),
		"{\"tasks\": {\"count\": 64, \"max\": 64}, \"drops\": {\"tasks\": 3}}",
		"{\"tasks\": 16384, \"max_tasks\": 16384, \"refused\": 9, \"rules\": []}", &policy);

	assert_says(text, "# The statistics of the last week are of 2 h");
	assert_says(text, "# policy0 took 3 J less in the week than schedutil would have");
	assert_says(text, "\n[wakegov]\nmax-tasks = 1024\n");
	/* The same section goes on. */
	assert_says(text, "\nmax-ruled-tasks = 32768\n");
	assert_int_equal(policy.max_ruled_tasks, 32768);
}

/* Of minutes nothing is said but that they are few. */
static void test_few_statistics(void **state)
{
	struct policy policy;
	_cleanup_free_ char *text = recommend(NULL, STATISTICS("120000000"), "{}", "{}", &policy);

	assert_says(text, "# The statistics of the last week are of 2 min");
	assert_null(strstr(text, "policy0 took"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_faults, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_few_statistics, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_background, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_boosts, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_machine, fake_files_set_up,
						fake_files_tear_down),
		cmocka_unit_test_setup_teardown(test_statistics, fake_files_set_up,
						fake_files_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
