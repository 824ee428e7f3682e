// SPDX-License-Identifier: GPL-2.0-only
/* The clamps of tasks: the same steps as for a domain, on a kernel that has them. */
#include "actuator/uclamps.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actuator-conformance.h"
#include "actuator-fixture.h"
#include "shared/cleanup.h"

/* A child that waits to be killed; with a number of its own choice where pid is not 0. */
static pid_t start_task(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uint64_t)(uintptr_t)&pid : 0,
		.set_tid_size = pid ? 1 : 0,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	assert_true(child >= 0);
	if (child)
		return child;
	for (;;)
		pause();
}

static void end_task(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct uclamp carried(pid_t pid)
{
	struct uclamp clamp;

	assert_int_equal(uclamp_read((uint32_t)pid, &clamp), 0);
	return clamp;
}

static void expect(pid_t pid, uint16_t min_cap, uint16_t max_cap)
{
	struct uclamp clamp = carried(pid);

	assert_int_equal(clamp.min_cap, min_cap);
	assert_int_equal(clamp.max_cap, max_cap);
}

/* As uclampset(1) does. */
static void set_by_user(pid_t pid, uint16_t min_cap, uint16_t max_cap)
{
	const struct uclamp to = { min_cap, max_cap };

	assert_int_equal(uclamp_write((uint32_t)pid, carried(pid), to), 0);
}

/* Far enough apart for the rate limit. */
static int set(struct fixture *f, pid_t pid, uint16_t min_cap, uint16_t max_cap)
{
	const struct uclamp ours = { min_cap, max_cap };

	f->now_ns += 2 * UCLAMPS_RATE_LIMIT_NS;
	return uclamps_set(f->clamps, (uint32_t)pid, ours, f->now_ns);
}

static char *journal_text(struct fixture *f)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[128], *text;

	snprintf(path, sizeof(path), "%s/clamps", f->run_dir);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	text = calloc(1, 8192);
	assert_non_null(text);
	assert_true(fread(text, 1, 8191, file) > 0);
	return text;
}

static void expect_journal(struct fixture *f, pid_t pid, const char *clamps)
{
	_cleanup_free_ char *text = journal_text(f);
	char line[64], *found;

	snprintf(line, sizeof(line), "task %d ", pid);
	assert_non_null(text);
	found = strstr(text, line);
	assert_non_null(found);
	assert_non_null(strstr(found, clamps));
}

void test_clamps_saved_first(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start_task(0);

	assert_int_equal(set(f, pid, 0, 300), UCLAMPS_DONE);
	expect_journal(f, pid, " 0-1024 0-300\n");
	expect(pid, 0, 300);
	assert_int_equal(set(f, pid, 0, 1024), UCLAMPS_DONE);
	expect(pid, 0, 1024);
	end_task(pid);
}

void test_clamps_without_room(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start_task(0);

	fixture_fill_run_dir(f);
	assert_true(set(f, pid, 0, 300) < 0);
	expect(pid, 0, 1024);
	fixture_empty_run_dir(f);
	end_task(pid);
}

void test_clamps_unchanged_write_nothing(void **state)
{
	struct fixture *f = *state;
	struct uclamps_counts counts;
	pid_t pid = start_task(0);

	assert_int_equal(set(f, pid, 100, 300), UCLAMPS_DONE);
	for (int i = 0; i < 100; i++)
		assert_int_equal(set(f, pid, 100, 300), UCLAMPS_UNCHANGED);
	uclamps_count(f->clamps, &counts);
	assert_int_equal(counts.writes, 1);
	assert_int_equal(counts.tasks, 1);
	end_task(pid);
}

void test_clamps_rate_limited(void **state)
{
	struct fixture *f = *state;
	struct uclamp ours = { 0, 300 };
	pid_t pid = start_task(0);

	assert_int_equal(set(f, pid, 0, 200), UCLAMPS_DONE);
	assert_int_equal(uclamps_set(f->clamps, (uint32_t)pid, ours, f->now_ns + 1), UCLAMPS_LATER);
	ours.max_cap = 400;
	assert_int_equal(uclamps_set(f->clamps, (uint32_t)pid, ours, f->now_ns + 2), UCLAMPS_LATER);
	uclamps_flush(f->clamps, f->now_ns + UCLAMPS_RATE_LIMIT_NS - 1);
	expect(pid, 0, 200);
	assert_int_equal(uclamps_next_ns(f->clamps), f->now_ns + UCLAMPS_RATE_LIMIT_NS);
	uclamps_flush(f->clamps, f->now_ns + UCLAMPS_RATE_LIMIT_NS);
	expect(pid, 0, 400);
	assert_int_equal(uclamps_next_ns(f->clamps), UINT64_MAX);
	end_task(pid);
}

/* The higher floor, the lower cap, and the cap where they cross; then exactly what was there. */
void test_clamps_merged_with_the_users(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start_task(0);

	set_by_user(pid, 200, 800);
	set(f, pid, 100, 300);
	expect(pid, 200, 300);
	set(f, pid, 500, 1024);
	expect(pid, 500, 800);
	set(f, pid, 0, 100);
	expect(pid, 100, 100);
	set(f, pid, 0, 1024);
	expect(pid, 200, 800);
	end_task(pid);
}

/* What the user sets while ours is there is merged as well, and what stays in the end. */
void test_clamps_set_by_the_user_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct uclamps_counts counts;
	pid_t pid = start_task(0);

	set(f, pid, 0, 300);
	set_by_user(pid, 0, 250);
	set(f, pid, 0, 600);
	expect(pid, 0, 250);
	set_by_user(pid, 50, 900);
	set(f, pid, 0, 400);
	expect(pid, 50, 400);
	assert_int_equal(uclamps_release(f->clamps, NULL, NULL), 0);
	expect(pid, 50, 900);
	uclamps_count(f->clamps, &counts);
	assert_int_equal(counts.foreign, 2);
	end_task(pid);
}

void test_clamps_released(void **state)
{
	struct fixture *f = *state;
	pid_t pids[3] = { start_task(0), start_task(0), start_task(0) };

	set_by_user(pids[1], 10, 1000);
	for (int i = 0; i < 3; i++)
		set(f, pids[i], 100, 500);
	set_by_user(pids[2], 100, 700);
	assert_int_equal(uclamps_release(f->clamps, fixture_report, f), 0);
	expect(pids[0], 0, 1024);
	expect(pids[1], 10, 1000);
	expect(pids[2], 0, 700);
	assert_non_null(strstr(f->report, "at 0-700: somebody else set it\n"));
	assert_non_null(strstr(f->report, "restored the clamps of 2 tasks to what they were\n"));
	assert_null(journal_text(f));
	for (int i = 0; i < 3; i++)
		end_task(pids[i]);
}

/* A pipe over which a child tells the number of its own child. */
static pid_t start_family(pid_t *ret_child, struct fixture *f, uint16_t max_cap)
{
	int to_parent[2], to_child[2];
	char go = 0;
	pid_t pid;

	assert_int_equal(pipe(to_parent) | pipe(to_child), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		pid_t child;

		assert_int_equal(read(to_child[0], &go, 1), 1);
		child = start_task(0);
		assert_int_equal(write(to_parent[1], &child, sizeof(child)), sizeof(child));
		waitpid(child, NULL, 0);
		for (;;)
			pause();
	}
	set(f, pid, 0, max_cap);
	assert_int_equal(write(to_child[1], &go, 1), 1);
	assert_int_equal(read(to_parent[0], ret_child, sizeof(*ret_child)), sizeof(*ret_child));
	for (int i = 0; i < 2; i++)
		close(to_parent[i]), close(to_child[i]);
	return pid;
}

/* A child does not keep what its parent was given. */
void test_clamps_of_children(void **state)
{
	struct fixture *f = *state;
	pid_t child, pid = start_family(&child, f, 300);

	expect(child, 0, 300);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)child), UCLAMPS_DONE);
	expect(child, 0, 1024);
	expect(pid, 0, 300);
	/* One that the user has clamped since is the user's. */
	set_by_user(child, 0, 300);
	assert_int_equal(uclamps_forked(f->clamps, 1, (uint32_t)child), UCLAMPS_UNCHANGED);
	expect(child, 0, 300);
	kill(child, SIGKILL);
	end_task(pid);
}

/* A rule gave the child its own before its parent was known: what it inherited is no original. */
void test_clamps_of_children_with_their_own(void **state)
{
	struct fixture *f = *state;
	pid_t child, pid = start_family(&child, f, 300);

	set(f, child, 0, 500);
	expect(child, 0, 300);
	assert_int_equal(uclamps_forked(f->clamps, (uint32_t)pid, (uint32_t)child), UCLAMPS_DONE);
	expect(child, 0, 500);
	uclamps_release(f->clamps, NULL, NULL);
	expect(child, 0, 1024);
	expect(pid, 0, 1024);
	kill(child, SIGKILL);
	end_task(pid);
}

void test_clamps_of_a_task_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct uclamps_counts counts;
	pid_t pid = start_task(0);

	set(f, pid, 0, 300);
	end_task(pid);
	assert_int_equal(set(f, pid, 0, 400), UCLAMPS_GONE);
	assert_int_equal(set(f, pid, 0, 400), UCLAMPS_GONE);
	uclamps_count(f->clamps, &counts);
	assert_int_equal(counts.tasks, 0);
	assert_int_equal(counts.refused, 0);
}

/* A number that came to be another's: that one is not given what was the first one's. */
void test_clamps_of_a_number_used_again(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start_task(0);

	set(f, pid, 0, 300);
	end_task(pid);
	usleep(20000); /* start times have ticks of 10 ms */
	assert_int_equal(start_task(pid), pid);
	set_by_user(pid, 0, 300);
	assert_int_equal(uclamps_release(f->clamps, fixture_report, f), 0);
	expect(pid, 0, 300);
	assert_string_equal(f->report, "");
	end_task(pid);
}

/* One task that is not ours to change: it is refused once, and the others go on. */
void test_clamps_refused_for_one(void **state)
{
	struct fixture *f = *state;
	pid_t root = start_task(0), mine;
	int status;
	pid_t tester;

	assert_int_equal(chown(f->run_dir, 65534, 65534), 0);
	tester = fork();
	if (tester == 0) {
		struct uclamps_counts counts;
		bool good;

		assert_int_equal(setresuid(65534, 65534, 65534), 0);
		mine = start_task(0);
		good = set(f, root, 0, 300) == -EPERM && set(f, mine, 0, 300) == UCLAMPS_DONE &&
		       set(f, root, 0, 400) == UCLAMPS_UNCHANGED;
		uclamps_count(f->clamps, &counts);
		good = good && counts.refused == 1 && carried(mine).max_cap == 300;
		uclamps_release(f->clamps, NULL, NULL);
		good = good && carried(mine).max_cap == 1024;
		kill(mine, SIGKILL);
		_exit(!good);
	}
	assert_int_equal(waitpid(tester, &status, 0), tester);
	assert_int_equal(status, 0);
	expect(root, 0, 1024);
	end_task(root);
}

/* What a daemon that is killed leaves, its tasks' children that it had not heard of among it. */
void test_clamps_after_crash(void **state)
{
	struct fixture *f = *state;
	pid_t child, parent = start_family(&child, f, 300), user = start_task(0);
	pid_t other = start_task(0);
	int status;
	pid_t daemon;

	set_by_user(user, 20, 900);
	daemon = fork();
	if (daemon == 0) {
		set(f, user, 100, 400);
		set(f, user, 100, 350);
		set(f, other, 0, 250);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(daemon, &status, 0), daemon);
	expect(user, 100, 350);
	set_by_user(other, 0, 777);
	assert_int_equal(uclamps_restore(f->run_dir, fixture_report, f), 0);
	expect(user, 20, 900);
	expect(parent, 0, 1024);
	expect(child, 0, 1024);
	expect(other, 0, 777);
	assert_null(journal_text(f));
	assert_int_equal(uclamps_restore(f->run_dir, NULL, NULL), 0);
	kill(child, SIGKILL);
	end_task(parent);
	end_task(user);
	end_task(other);
}

/* Killed between the line and the write: what the line before it says is still ours. */
void test_clamps_after_crash_before_the_write(void **state)
{
	struct fixture *f = *state;
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_close_ int fd = -1;
	pid_t pid = start_task(0);
	char path[128];
	uint64_t start;

	set(f, pid, 0, 300);
	fd = uclamp_open_task((uint32_t)pid, &start);
	snprintf(path, sizeof(path), "%s/clamps", f->run_dir);
	file = fopen(path, "ae");
	fprintf(file, "task %d %llu 0-1024 0-600\ntask 77 5 0-", pid, (unsigned long long)start);
	fflush(file);
	assert_int_equal(uclamps_restore(f->run_dir, NULL, NULL), 0);
	expect(pid, 0, 1024);
	end_task(pid);
}

void test_clamps_of_a_spoilt_journal(void **state)
{
	static const char *const lines[] = {
		"task 1 1 0-1024 0-1025\n",
		"task 0 1 0-1024 0-300\n",
		"task 1 1 0-1024  0-300\n",
		"task -1 1 0-1024 0-300\n",
		"word\n",
		"task 1 1 0-1024 0-300 \n",
	};
	struct fixture *f = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s/clamps", f->run_dir);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_fclose_ FILE *file = NULL;
		pid_t pid = start_task(0);

		set(f, pid, 0, 300);
		file = fopen(path, "ae");
		fputs(lines[i], file);
		fflush(file);
		assert_int_equal(uclamps_restore(f->run_dir, NULL, NULL), -EBADMSG);
		expect(pid, 0, 300);
		uclamps_release(f->clamps, NULL, NULL);
		end_task(pid);
	}
}

/* Caps through a storm of forks, execs and exits, with numbers that come around every moment. */
void test_clamps_in_a_storm(void **state)
{
	struct fixture *f = *state;
	pid_t capped = start_task(0), storm;

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
	set(f, capped, 0, 300);
	for (int i = 0; i < 20000; i++) {
		int r = set(f, capped + i % 500, 0, (uint16_t)(100 + i % 800));

		assert_in_range(r < 0 ? 99 : r, UCLAMPS_DONE, UCLAMPS_GONE);
	}
	end_task(storm);
	set(f, capped, 0, 300);
	expect(capped, 0, 300);
	uclamps_release(f->clamps, NULL, NULL);
	expect(capped, 0, 1024);
	expect(getpid(), 0, 1024);
	end_task(capped);
}

/* The lever's domain half. */

void test_uclamp_needs_schedutil(void **state)
{
	struct fixture *f = *state;

	fixture_govern_all(f, "performance");
	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "its governor is performance"));
	fixture_govern_all(f, "schedutil");
	fixture_acquire(f, 0);
	fixture_watch(f, &f->domains[0]);
	write_control(0, "scaling_governor", "performance");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_GOVERNOR);
	assert_int_equal(backend->verify(&f->domains[0]), ACTUATOR_FOREIGN);
	assert_string_equal(f->domains[0].why, "somebody else set scaling_governor to performance");
	assert_null(fixture_originals_text(f));
}

void test_uclamp_writes_nothing_to_a_domain(void **state)
{
	struct fixture *f = *state;
	struct actuator_domain *domain = fixture_acquire(f, 0);

	assert_int_equal(fixture_apply(domain, 600000), ACTUATOR_UNCHANGED);
	assert_int_not_equal(domain->read_back_khz, 0);
	assert_int_equal(backend->release(domain, NULL, NULL), ACTUATOR_DONE);
	assert_int_equal(domain->writes, 0);
	fixture_assert_as_before(f);
}

/* A kernel without CONFIG_UCLAMP_TASK. */
void test_uclamp_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "CONFIG_UCLAMP_TASK"));
	fixture_assert_as_before(f);
}
