// SPDX-License-Identifier: GPL-2.0-only
/* The clamps of tasks: the same steps as for a domain, on a kernel that has them. */
#include "actuator/uclamps.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actuator-fixture.h"
#include "actuator-task.h"
#include "shared/cleanup.h"

static void expect_journal(struct fixture *f, pid_t pid, const char *clamps)
{
	_cleanup_free_ char *text = fixture_text(f, "clamps");
	char line[64], *found;

	snprintf(line, sizeof(line), "task %d ", pid);
	assert_non_null(text);
	found = strstr(text, line);
	assert_non_null(found);
	assert_non_null(strstr(found, clamps));
}

TEST("uclamp", test_clamps_saved_first)
{
	pid_t pid = task_start(0);

	assert_int_equal(task_set(f, pid, 0, 300), UCLAMPS_DONE);
	expect_journal(f, pid, " 0-1024 0-300 default\n");
	task_expect(pid, 0, 300);
	assert_int_equal(task_set(f, pid, 0, 1024), UCLAMPS_DONE);
	task_expect(pid, 0, 1024);
	task_end(pid);
}

TEST("uclamp", test_clamps_without_room)
{
	pid_t pid = task_start(0);

	fixture_fill_run_dir(f);
	assert_true(task_set(f, pid, 0, 300) < 0);
	task_expect(pid, 0, 1024);
	fixture_empty_run_dir(f);
	task_end(pid);
}

/*
 * The kernel's own deadline threads have no clamps, and refuse some: schedutil has one, sugov:N,
 * where a CPU does not change the frequency for its siblings itself.
 */
TEST("uclamp", test_clamps_of_siblings_governor)
{
	uint32_t n = 0;

	for (pid_t pid = 2; pid < 32768; pid++) {
		if (sched_getscheduler(pid) != SCHED_DEADLINE)
			continue;
		assert_int_equal(task_set(f, pid, 0, 300), UCLAMPS_GONE);
		task_expect(pid, 0, 1024);
		n++;
	}
	assert_true(n > 0);
}

TEST("uclamp", test_clamps_unchanged_write_nothing)
{
	pid_t pid = task_start(0);

	assert_int_equal(task_set(f, pid, 100, 300), UCLAMPS_DONE);
	for (int i = 0; i < 100; i++)
		assert_int_equal(task_set(f, pid, 100, 300), UCLAMPS_UNCHANGED);
	assert_int_equal(f->clamps->writes, 1);
	task_end(pid);
}

TEST("uclamp", test_clamps_rate_limited)
{
	struct uclamp ours = { 0, 300 };
	pid_t pid = task_start(0);

	assert_int_equal(task_set(f, pid, 0, 200), UCLAMPS_DONE);
	assert_int_equal(uclamps_set(f->clamps, (uint32_t)pid, ours, f->now_ns + 1), UCLAMPS_LATER);
	ours.max_cap = 400;
	assert_int_equal(uclamps_set(f->clamps, (uint32_t)pid, ours, f->now_ns + 2), UCLAMPS_LATER);
	uclamps_flush(f->clamps, f->now_ns + UCLAMPS_RATE_LIMIT_NS - 1);
	task_expect(pid, 0, 200);
	assert_int_equal(f->clamps->next_ns, f->now_ns + UCLAMPS_RATE_LIMIT_NS);
	uclamps_flush(f->clamps, f->now_ns + UCLAMPS_RATE_LIMIT_NS);
	task_expect(pid, 0, 400);
	assert_int_equal(f->clamps->next_ns, UINT64_MAX);
	task_end(pid);
}

/* The higher floor, the lower cap, and the cap where they cross; then exactly what was there. */
TEST("uclamp", test_clamps_merged_with_the_users)
{
	pid_t pid = task_start(0);

	task_set_by_user(pid, 200, 800);
	task_set(f, pid, 100, 300);
	task_expect(pid, 200, 300);
	task_set(f, pid, 500, 1024);
	task_expect(pid, 500, 800);
	task_set(f, pid, 0, 100);
	task_expect(pid, 100, 100);
	task_set(f, pid, 0, 1024);
	task_expect(pid, 200, 800);
	task_end(pid);
}

/* What the user sets while ours is there is merged as well, and what stays in the end. */
TEST("uclamp", test_clamps_set_by_the_user_meanwhile)
{
	pid_t pid = task_start(0);

	task_set(f, pid, 0, 300);
	task_set_by_user(pid, 0, 250);
	task_set(f, pid, 0, 600);
	task_expect(pid, 0, 250);
	task_set_by_user(pid, 50, 900);
	task_set(f, pid, 0, 400);
	task_expect(pid, 50, 400);
	assert_int_equal(uclamps_release(f->clamps, NULL, NULL), 0);
	task_expect(pid, 50, 900);
	task_end(pid);
}

/* Whoever asks for more than our cap has it until that is noticed, at the rate limit at most. */
TEST("uclamp", test_clamps_asked_away)
{
	pid_t pid = task_start(0), other = task_start(0);

	assert_int_equal(uclamps_check(f->clamps, (uint32_t)pid, f->now_ns), UCLAMPS_UNCHANGED);
	task_set(f, pid, 0, 300);
	task_set(f, other, 0, 400);
	task_set_by_user(pid, 0, 1024);
	f->now_ns += 2 * UCLAMPS_RATE_LIMIT_NS;
	assert_int_equal(uclamps_check(f->clamps, (uint32_t)pid, f->now_ns), UCLAMPS_DONE);
	task_expect(pid, 0, 300);
	task_set_by_user(pid, 0, 1024);
	assert_int_equal(uclamps_check(f->clamps, (uint32_t)pid, f->now_ns + 1), UCLAMPS_LATER);
	task_expect(pid, 0, 1024);
	f->now_ns += 2 * UCLAMPS_RATE_LIMIT_NS;
	uclamps_flush(f->clamps, f->now_ns);
	task_expect(pid, 0, 300);
	f->now_ns += 2 * UCLAMPS_RATE_LIMIT_NS;
	task_set_by_user(pid, 0, 1024);
	task_set_by_user(other, 0, 1024);
	uclamps_check_all(f->clamps, f->now_ns);
	task_expect(pid, 0, 300);
	task_expect(other, 0, 400);
	assert_int_equal(uclamps_release(f->clamps, NULL, NULL), 0);
	task_expect(pid, 0, 1024);
	task_end(pid);
	task_end(other);
}

TEST("uclamp", test_clamps_released)
{
	pid_t pids[3] = { task_start(0), task_start(0), task_start(0) };

	task_set_by_user(pids[1], 10, 1000);
	for (int i = 0; i < 3; i++)
		task_set(f, pids[i], 100, 500);
	task_set_by_user(pids[2], 100, 700);
	assert_int_equal(uclamps_release(f->clamps, fixture_report, f), 0);
	task_expect(pids[0], 0, 1024);
	task_expect(pids[1], 10, 1000);
	task_expect(pids[2], 0, 700);
	assert_non_null(strstr(f->report, "at 0-700: another program set it\n"));
	assert_non_null(strstr(f->report, "restored the clamps of 2 tasks to what they were\n"));
	assert_null(fixture_text(f, "clamps"));
	for (int i = 0; i < 3; i++)
		task_end(pids[i]);
}

/* A default minimum goes by the scheduling policy at the restoration, one that was set does not. */
TEST("uclamp", test_clamps_of_another_policy)
{
	const struct sched_param highest = { .sched_priority = 1 }, none = { 0 };
	pid_t comes = task_start(0), goes = task_start(0), set = task_start(0);

	assert_int_equal(sched_setscheduler(goes, SCHED_FIFO, &highest), 0);
	assert_int_equal(sched_setscheduler(set, SCHED_FIFO, &highest), 0);
	task_expect(goes, 1024, 1024);
	task_set_by_user(set, 0, 1024);
	task_set(f, comes, 300, 1024);
	task_set(f, goes, 0, 700);
	task_set(f, set, 300, 1024);
	assert_int_equal(sched_setscheduler(comes, SCHED_FIFO, &highest), 0);
	assert_int_equal(sched_setscheduler(goes, SCHED_OTHER, &none), 0);
	assert_int_equal(uclamps_release(f->clamps, fixture_report, f), 0);
	task_expect(comes, 1024, 1024);
	task_expect(goes, 0, 1024);
	task_expect(set, 0, 1024);
	task_end(comes);
	task_end(goes);
	task_end(set);
}

TEST("uclamp", test_clamps_of_a_task_that_is_gone)
{
	struct uclamp own, put;
	pid_t pid = task_start(0);

	task_set(f, pid, 0, 300);
	task_end(pid);
	assert_int_equal(task_set(f, pid, 0, 400), UCLAMPS_GONE);
	assert_int_equal(task_set(f, pid, 0, 400), UCLAMPS_GONE);
	assert_false(uclamps_find(f->clamps, (uint32_t)pid, &own, &put));
}

/* A number that came to be another's: that one is not given what was the first one's. */
TEST("uclamp", test_clamps_of_a_number_used_again)
{
	pid_t pid = task_start(0);

	task_set(f, pid, 0, 300);
	task_end(pid);
	usleep(20000); /* start times have ticks of 10 ms */
	assert_int_equal(task_start(pid), pid);
	task_set_by_user(pid, 0, 300);
	assert_int_equal(uclamps_release(f->clamps, fixture_report, f), 0);
	task_expect(pid, 0, 300);
	assert_string_equal(f->report, "");
	task_end(pid);
}

/* What the kernel side says of a task's start: once, and from then on. 0: nothing. */
static uint64_t known_starts[2];
static uint64_t known_mark; /* the last one that a task was met with */

static bool lives(void *userdata, struct known_task *task)
{
	uint64_t start = known_starts[0];

	known_starts[0] = known_starts[1];
	known_mark = task->mark;
	if (start) {
		task->start = start;
		task->mark = start + 1;
	}
	return start;
}

static int set_known(struct fixture *f, pid_t pid, uint64_t first, uint64_t then)
{
	known_starts[0] = first;
	known_starts[1] = then;
	return task_set(f, pid, 0, 300);
}

/* Who is known to live is not looked up, also after the write; who no longer is known is. */
TEST("uclamp", test_clamps_of_known_tasks)
{
	pid_t pids[] = { task_start(0), task_start(0), task_start(0) };
	uint64_t start, other;
	int fd = task_open(pids[1], &start);

	assert_true(fd >= 0);
	close(fd);
	other = start + 1000; /* one that a look would not find */
	f->clamps = uclamps_free(f->clamps);
	f->clamps = uclamps_new(f->run_dir, lives, NULL);
	assert_int_equal(set_known(f, pids[0], other, other), UCLAMPS_DONE);
	task_expect(pids[0], 0, 300);
	/* From now on it is asked for by its mark. */
	known_starts[0] = known_starts[1] = other;
	assert_int_equal(task_set(f, pids[0], 0, 400), UCLAMPS_DONE);
	assert_int_equal(known_mark, other + 1);
	task_expect(pids[0], 0, 400);
	assert_int_equal(set_known(f, pids[1], start, 0), UCLAMPS_DONE);
	task_expect(pids[1], 0, 300);
	/* The number is another's by now. */
	assert_int_equal(set_known(f, pids[2], other, 0), UCLAMPS_GONE);
	task_expect(pids[2], 0, 1024);
	for (int i = 0; i < 3; i++)
		task_end(pids[i]);
}

/* One task that is not ours to change: it is refused once, and the others go on. */
TEST("uclamp", test_clamps_refused_for_one)
{
	pid_t root = task_start(0), mine;
	int status;
	pid_t tester;

	assert_int_equal(chown(f->run_dir, 65534, 65534), 0);
	tester = fork();
	if (tester == 0) {
		bool good;

		assert_int_equal(setresuid(65534, 65534, 65534), 0);
		mine = task_start(0);
		good = task_set(f, root, 0, 300) == -EPERM &&
		       task_set(f, mine, 0, 300) == UCLAMPS_DONE &&
		       task_set(f, root, 0, 400) == UCLAMPS_UNCHANGED;
		good = good && task_clamps(mine).max_cap == 300;
		uclamps_release(f->clamps, NULL, NULL);
		good = good && task_clamps(mine).max_cap == 1024;
		kill(mine, SIGKILL);
		_exit(!good);
	}
	assert_int_equal(waitpid(tester, &status, 0), tester);
	assert_int_equal(status, 0);
	task_expect(root, 0, 1024);
	task_end(root);
}

/* What a daemon that is killed leaves, its tasks' children that it had not heard of among it. */
TEST("uclamp", test_clamps_after_crash)
{
	pid_t child, parent = task_start_family(&child, f, 300), user = task_start(0);
	pid_t other = task_start(0);
	int status;
	pid_t daemon;

	task_set_by_user(user, 20, 900);
	daemon = fork();
	if (daemon == 0) {
		task_set(f, user, 100, 400);
		task_set(f, user, 100, 350);
		task_set(f, other, 0, 250);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(daemon, &status, 0), daemon);
	task_expect(user, 100, 350);
	task_set_by_user(other, 0, 777);
	assert_int_equal(task_log_restore(&uclamps_log, f->run_dir, fixture_report, f), 0);
	task_expect(user, 20, 900);
	task_expect(parent, 0, 1024);
	task_expect(child, 0, 1024);
	task_expect(other, 0, 777);
	assert_null(fixture_text(f, "clamps"));
	assert_int_equal(task_log_restore(&uclamps_log, f->run_dir, NULL, NULL), 0);
	kill(child, SIGKILL);
	task_end(parent);
	task_end(user);
	task_end(other);
}

static int n_opened;
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	n_opened++;
	return __real_fopen64(path, mode);
}

/*
 * One file for each heir, which says its parent; some more for real-time tasks, which have clamps
 * as well.
 */
TEST("uclamp", test_clamps_of_many_heirs_after_crash)
{
	enum { FAMILIES = 40 };
	pid_t parents[FAMILIES], children[FAMILIES];
	int opened_before;

	for (int i = 0; i < FAMILIES; i++)
		parents[i] = task_start_family(&children[i], f, 300);
	opened_before = n_opened;
	assert_int_equal(task_log_restore(&uclamps_log, f->run_dir, fixture_report, f), 0);
	print_message("# %d files opened for %d heirs\n", n_opened - opened_before, FAMILIES);
	assert_in_range(n_opened - opened_before, FAMILIES, 2 * FAMILIES);
	for (int i = 0; i < FAMILIES; i++) {
		task_expect(children[i], 0, 1024);
		task_expect(parents[i], 0, 1024);
		kill(children[i], SIGKILL);
		task_end(parents[i]);
	}
}

/* Killed between the line and the write: what the line before it says is still ours. */
TEST("uclamp", test_clamps_after_crash_before_the_write)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_close_ int fd = -1;
	pid_t pid = task_start(0);
	char path[128];
	uint64_t start;

	task_set(f, pid, 0, 300);
	fd = task_open((uint32_t)pid, &start);
	snprintf(path, sizeof(path), "%s/clamps", f->run_dir);
	file = fopen(path, "ae");
	fprintf(file, "task %d %llu 0-1024 0-600\ntask 77 5 0-", pid, (unsigned long long)start);
	fflush(file);
	assert_int_equal(task_log_restore(&uclamps_log, f->run_dir, NULL, NULL), 0);
	task_expect(pid, 0, 1024);
	task_end(pid);
}

TEST("uclamp", test_clamps_of_a_spoilt_journal)
{
	static const char *const lines[] = {
		"task 1 1 0-1024 0-1025\n",
		"task 0 1 0-1024 0-300\n",
		"task 1 1 0-1024  0-300\n",
		"task -1 1 0-1024 0-300\n",
		"word\n",
		"task 1 1 0-1024 0-300 \n",
	};
	char path[128];

	snprintf(path, sizeof(path), "%s/clamps", f->run_dir);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_fclose_ FILE *file = NULL;
		pid_t pid = task_start(0);

		task_set(f, pid, 0, 300);
		file = fopen(path, "ae");
		fputs(lines[i], file);
		fflush(file);
		assert_int_equal(task_log_restore(&uclamps_log, f->run_dir, NULL, NULL), -EBADMSG);
		task_expect(pid, 0, 300);
		uclamps_release(f->clamps, NULL, NULL);
		task_end(pid);
	}
}

/* Caps through a storm of forks, execs and exits, with numbers that come around every moment. */
TEST("uclamp", test_clamps_in_a_storm)
{
	pid_t capped = task_start(0), storm;

	storm = fork();
	if (storm == 0) {
		for (;;) {
			pid_t pid = fork();

			if (pid == 0 && setresuid(65534, 65534, 65534) == 0)
				execl("/bin/true", "true", NULL);
			if (pid > 0)
				waitpid(pid, NULL, 0);
		}
	}
	task_set(f, capped, 0, 300);
	for (int i = 0; i < 20000; i++) {
		int r = task_set(f, capped + i % 500, 0, (uint16_t)(100 + i % 800));

		assert_in_range(r < 0 ? 99 : r, UCLAMPS_DONE, UCLAMPS_GONE);
	}
	task_end(storm);
	task_set(f, capped, 0, 300);
	task_expect(capped, 0, 300);
	uclamps_release(f->clamps, NULL, NULL);
	task_expect(capped, 0, 1024);
	task_expect(getpid(), 0, 1024);
	task_end(capped);
}

/* The backend's part for domains. */

TEST("uclamp", test_uclamp_needs_schedutil)
{
	fixture_govern_all(f, "performance");
	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "its governor is performance"));
	fixture_govern_all(f, "schedutil");
	fixture_acquire(f, 0);
	fixture_watch(f, &f->domains[0]);
	write_control(0, "scaling_governor", "performance");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_GOVERNOR);
	assert_int_equal(backend->verify(&f->domains[0]), ACTUATOR_TAKEN_OVER);
	assert_string_equal(f->domains[0].why,
			    "another program set scaling_governor to performance");
	assert_null(fixture_text(f, SAVED_FILE));
}

TEST("uclamp", test_uclamp_writes_nothing_to_a_domain)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	/* What a cap of tasks comes to. */
	const struct actuator_request request = {
		.target_khz = 600000,
		.max_khz = UINT32_MAX,
		.effective_cap_khz = 600000,
	};

	assert_int_equal(backend->apply(domain, &request), ACTUATOR_UNCHANGED);
	/* Nothing was written, so nothing is read back. */
	assert_int_equal(domain->read_back_khz, 0);
	assert_null(fixture_text(f, SAVED_FILE));
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	assert_int_equal(domain->writes, 0);
	fixture_assert_as_before(f);
}

/* A kernel without CONFIG_UCLAMP_TASK. */
TEST("unclamped", test_uclamp_is_refused)
{
	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "CONFIG_UCLAMP_TASK"));
	fixture_assert_as_before(f);
}
