// SPDX-License-Identifier: GPL-2.0-only
/* Domains that are held between limits, by limits and uclamp: minimum and maximum, and whose they
 * are. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actuator-fixture.h"
#include "shared/cleanup.h"

static int ask(struct actuator_domain *domain, uint32_t floor_khz, uint32_t effective_cap_khz)
{
	const struct actuator_request request = { effective_cap_khz, floor_khz, effective_cap_khz,
						  floor_khz, effective_cap_khz };

	return fixture_ask(domain, &request);
}

/* The kernel applies limits from a work queue. */
static void expect_limits(uint32_t policy, uint32_t min_khz, uint32_t max_khz)
{
	for (int ms = 0; ms < 500; ms++) {
		if (read_control_u32(policy, "scaling_min_freq") == min_khz &&
		    read_control_u32(policy, "scaling_max_freq") == max_khz)
			return;
		usleep(1000);
	}
	assert_control_u32(policy, "scaling_min_freq", min_khz);
	assert_control_u32(policy, "scaling_max_freq", max_khz);
}

TEST("limits", test_limits_save_first)
{
	char *text;

	write_limit(0, "scaling_max_freq", "1400000");
	fixture_acquire(f, 0);
	text = fixture_text(f, SAVED_FILE);
	assert_non_null(strstr(text, "/policy0/scaling_min_freq 400000 *\n"));
	assert_non_null(strstr(text, "/policy0/scaling_max_freq 1400000 *\n"));
	free(text);
	assert_control(0, "scaling_governor", f->home);
	assert_int_equal(f->domains[0].writes, 0);
}

/* From one window to each other one, the kernel never shows a minimum above the maximum. */
TEST("limits uclamp", test_limits_never_cross)
{
	const struct topology_domain *info = &f->topology->domains[0];
	struct actuator_domain *domain = fixture_acquire(f, 0);

	for (uint32_t low = 0; low < info->n_opps; low++)
		for (uint32_t high = low; high < info->n_opps; high++) {
			ask(domain, info->opp_khz[low], info->opp_khz[high]);
			expect_limits(0, info->opp_khz[low], info->opp_khz[high]);
			ask(domain, info->opp_khz[info->n_opps - 1 - high],
			    info->opp_khz[info->n_opps - 1 - low]);
			expect_limits(0, info->opp_khz[info->n_opps - 1 - high],
				      info->opp_khz[info->n_opps - 1 - low]);
		}
	assert_int_equal(domain->write_errors, 0);
	assert_int_equal(domain->read_back_mismatches, 0);
}

/* The cap wins over the floor, and the user's own limits over both. */
TEST("limits uclamp", test_limits_are_merged)
{
	struct actuator_domain *domain;

	write_limit(0, "scaling_max_freq", "1400000");
	write_limit(0, "scaling_min_freq", "600000");
	domain = fixture_acquire(f, 0);
	ask(domain, 1400000, 1000000);
	expect_limits(0, 1000000, 1000000);
	ask(domain, 0, UINT32_MAX);
	expect_limits(0, 600000, 1400000);
	ask(domain, 400000, 400000);
	expect_limits(0, 600000, 600000);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	expect_limits(0, 600000, 1400000);
	write_limit(0, "scaling_min_freq", "400000");
}

static void run_on(int first, int last)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static pid_t start_loop(int cpu)
{
	pid_t loop = fork();

	assert_true(loop >= 0);
	if (loop > 0)
		return loop;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(cpu, cpu);
	for (;;)
		;
}

/*
 * A loop sleeps under a maximum, and nothing else runs in its domain: it is as fast as
 * before when the maximum has ended. The kernel may look at the idle CPUs meanwhile, and then
 * nothing is shown: hence several times.
 */
TEST("limits uclamp", test_limits_end_while_idle)
{
	uint32_t max_khz = topology_domain_max_khz(&f->topology->domains[1]);
	int n_cpus = (int)f->topology->n_cpus;
	pid_t loop = start_loop(n_cpus - 1);
	struct actuator_domain *domain;

	run_on(0, (int)f->second - 1);
	for (int i = 0; i < 8; i++) {
		domain = fixture_acquire(f, 1);
		fixture_expect_frequency(f->second, max_khz);
		kill(loop, SIGSTOP);
		usleep(20000);
		ask(domain, 0, 1000000);
		expect_limits(f->second, 400000, 1000000);
		if (i % 2)
			ask(domain, 0, UINT32_MAX);
		else
			assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL),
					 ACTUATOR_DONE);
		expect_limits(f->second, 400000, max_khz);
		kill(loop, SIGCONT);
		fixture_expect_frequency(f->second, max_khz);
		if (i % 2)
			assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL),
					 ACTUATOR_DONE);
	}
	kill(loop, SIGKILL);
	waitpid(loop, NULL, 0);
	run_on(0, n_cpus - 1);
}

/* The core is told of others' limits, and never of our own as one of them. */
TEST("limits uclamp", test_limits_of_others_are_told)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	uint32_t min_khz, max_khz;

	ask(domain, 600000, 1000000);
	assert_int_equal(actuator_domain_read_limits(domain, &min_khz, &max_khz), 0);
	assert_int_equal(min_khz, 400000);
	assert_int_equal(max_khz, 1800000);
	expect_limits(0, 600000, 1000000);
	assert_int_equal(actuator_domain_read_limits(domain, &min_khz, &max_khz), 0);
	assert_int_equal(min_khz, 400000);
	assert_int_equal(max_khz, 1800000);
}

/* Waits until the maximum is lower than that, and returns it. */
static uint32_t limit_below(uint32_t khz)
{
	uint32_t max_khz = read_control_u32(0, "scaling_max_freq");

	for (int ms = 0; ms < 500 && max_khz >= khz; ms++) {
		usleep(1000);
		max_khz = read_control_u32(0, "scaling_max_freq");
	}
	assert_true(max_khz < khz);
	return max_khz;
}

static void set_cooling(const char *state)
{
	glob_t found;
	bool any = false;

	assert_int_equal(glob("/sys/class/thermal/cooling_device*", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_cleanup_close_ int fd = -1;
		char path[128], type[32];

		snprintf(path, sizeof(path), "%s/type", found.gl_pathv[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(control_read(fd, type, sizeof(type)) > 0);
		if (strcmp(type, "Processor") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/cur_state", found.gl_pathv[i]);
		close(fd);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, state, strlen(state)), strlen(state));
		any = true;
	}
	globfree(&found);
	assert_true(any);
}

/* What comes after a test that failed half-way is not cooled. */
static int cooled_tear_down(void **state)
{
	set_cooling("0");
	return fixture_tear_down(state);
}

/* A limit that is only in force is not the user's: it is not saved, and ends when it ends. */
TEST_WITH("cooled", test_limits_that_pass, fixture_set_up, cooled_tear_down)
{
	struct actuator_domain *domain;
	uint32_t min_khz, max_khz, cooled_khz;
	char *text;

	set_cooling("2");
	/* 60 %, or the OPP below it where the driver has a table. */
	cooled_khz = limit_below(1400000);
	domain = fixture_acquire(f, 0);
	ask(domain, 600000, 600000);
	expect_limits(0, 600000, 600000);
	text = fixture_text(f, SAVED_FILE);
	assert_non_null(strstr(text, "/policy0/scaling_max_freq 1800000 *\n"));
	free(text);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	ask(domain, 600000, UINT32_MAX);
	expect_limits(0, 600000, cooled_khz);
	assert_int_equal(actuator_domain_read_limits(domain, &min_khz, &max_khz), 0);
	assert_int_equal(max_khz, cooled_khz);
	set_cooling("0");
	expect_limits(0, 600000, 1800000);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	expect_limits(0, 400000, 1800000);
}

/* Where we hold nothing of ours, the user's new limit is the one that is put back. */
TEST("limits uclamp", test_limits_set_while_free)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	char *text;

	fixture_watch(f, domain);
	ask(domain, 600000, UINT32_MAX);
	write_limit(0, "scaling_max_freq", "1000000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_MAX_FREQ);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(domain->state, ACTUATOR_STATE_DRIVEN);
	text = fixture_text(f, SAVED_FILE);
	assert_non_null(strstr(text, "/policy0/scaling_max_freq 1000000 *\n"));
	free(text);
	ask(domain, 600000, 600000);
	expect_limits(0, 600000, 600000);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	expect_limits(0, 400000, 1000000);
}

/* Over a limit of ours another writer wins, is named, and what else was ours goes back. */
TEST("limits uclamp", test_limits_taken_over)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	fixture_watch(f, domain);
	ask(domain, 600000, 1000000);
	expect_limits(0, 600000, 1000000);
	write_limit(0, "scaling_max_freq", "1400000");
	assert_int_equal(fixture_read_watch(f), 1u << CONTROL_MAX_FREQ);
	assert_int_equal(backend->verify(domain), ACTUATOR_TAKEN_OVER);
	assert_string_equal(domain->why, "another program set scaling_max_freq to 1400000");
	assert_int_equal(ask(domain, 400000, 400000), ACTUATOR_TAKEN_OVER);
	expect_limits(0, 400000, 1400000);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	expect_limits(0, 400000, 1400000);
	assert_null(fixture_text(f, SAVED_FILE));
}

/* Found without the watch, as a writer through its own mount of sysfs leaves it. */
TEST("limits uclamp", test_limits_taken_over_unseen)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);

	ask(domain, 400000, 1000000);
	expect_limits(0, 400000, 1000000);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	write_limit(0, "scaling_max_freq", "1800000");
	assert_int_equal(backend->verify(domain), ACTUATOR_TAKEN_OVER);
	expect_limits(0, 400000, 1800000);
}

/* One file that cannot be written: the other one is as before, and the error is counted. */
TEST("limits uclamp", test_limits_with_one_control_broken)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	int fd;

	ask(domain, 400000, 1000000);
	fd = domain->range.min.fd;
	domain->range.min.fd = f->hotplug_fd; /* a descriptor that takes no write at an offset */
	assert_int_equal(ask(domain, 600000, 1400000), -ESPIPE);
	domain->range.min.fd = fd;
	assert_int_equal(domain->write_errors, 1);
	expect_limits(0, 400000, 1400000);
	assert_int_equal(ask(domain, 600000, 1400000), ACTUATOR_DONE);
	expect_limits(0, 600000, 1400000);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	expect_limits(0, 400000, 1800000);
}

TEST("limits uclamp", test_limits_after_crash)
{
	const char *second = f->topology->domains[1].name;

	write_limit(0, "scaling_max_freq", "1400000");
	write_limit(f->second, "scaling_max_freq", "1400000");
	fixture_snapshot(f);
	fixture_crash_while_driving(f);
	expect_limits(0, 1400000, 1400000);
	expect_limits(f->second, 1400000, 1400000);
	assert_int_equal(restore_saved(f->run_dir, fixture_report, f), 0);
	fixture_expect_report(f,
			      "policy0 scaling_max_freq is 1400000 as before\n"
			      "restored policy0 scaling_min_freq to 400000\n"
			      "%s scaling_max_freq is 1400000 as before\n"
			      "restored %s scaling_min_freq to 400000\n",
			      second, second);
	expect_limits(0, 400000, 1400000);
	expect_limits(f->second, 400000, 1400000);
	assert_null(fixture_text(f, SAVED_FILE));
}

/* A boost or a floor is a minimum of the domain as well; a cap of others does not bound it. */
TEST("uclamp", test_uclamp_floor_is_a_minimum)
{
	struct actuator_domain *domain = fixture_acquire(f, 0);
	struct actuator_request request = {
		.target_khz = 1400000,
		.max_khz = UINT32_MAX,
		.floor_khz = 1400000,
		.effective_cap_khz = 600000,
	};

	assert_int_equal(fixture_ask(domain, &request), ACTUATOR_DONE);
	expect_limits(0, 1400000, 1800000);
	request.floor_khz = 0;
	assert_int_equal(fixture_ask(domain, &request), ACTUATOR_DONE);
	expect_limits(0, 400000, 1800000);
	assert_int_equal(fixture_ask(domain, &request), ACTUATOR_UNCHANGED);
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	fixture_assert_as_before(f);
}
