// SPDX-License-Identifier: GPL-2.0-only
#include "actuator-fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/keys.h"
#include "shared/cleanup.h"
#include "tracer/tracer.h"

/* Of the guest's time, which nothing on the host takes away. */
#define WAIT_MS 200

/* Shorter where nothing is expected; events are there as soon as the writer's close returns. */
#define SHORT_WAIT_MS 100

void write_control(uint32_t policy, const char *file, const char *value)
{
	_cleanup_close_ int fd = control_open(policy, file, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(control_write(fd, value), 0);
}

void write_limit(uint32_t policy, const char *file, const char *value)
{
	char current[64] = "";

	write_control(policy, file, value);
	for (int ms = 0; ms < WAIT_MS && strcmp(current, value) != 0; ms++) {
		assert_true(control_read_file(policy, file, current, sizeof(current)) >= 0);
		usleep(1000);
	}
	assert_string_equal(current, value);
}

uint32_t read_control_u32(uint32_t policy, const char *file)
{
	_cleanup_close_ int fd = control_open(policy, file, O_RDONLY);
	uint32_t value = 0;

	assert_true(fd >= 0);
	assert_int_equal(control_read_u32(fd, &value), 0);
	return value;
}

bool has_control(uint32_t policy, const char *file)
{
	_cleanup_close_ int fd = control_open(policy, file, O_RDONLY);

	return fd >= 0;
}

bool fixture_measures_frequency(uint32_t policy)
{
	return has_control(policy, "cpuinfo_avg_freq");
}

void assert_control(uint32_t policy, const char *file, const char *expected)
{
	char value[64];

	assert_true(control_read_file(policy, file, value, sizeof(value)) >= 0);
	assert_string_equal(value, expected);
}

void assert_control_u32(uint32_t policy, const char *file, uint32_t expected_khz)
{
	assert_int_equal(read_control_u32(policy, file), expected_khz);
}

void set_online(uint32_t cpu, bool online)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, online ? "1" : "0", 1), 1);
}

void fixture_set_second_online(struct fixture *f, bool online)
{
	topology_for_each_cpu(f->topology, cpu, 1)
		set_online(cpu, online);
}

static int open_tunable(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), CONTROL_DIRECTORY "/%s", name);
	return open(path, flags | O_CLOEXEC);
}

void write_tunable(const char *name, const char *value)
{
	_cleanup_close_ int fd = open_tunable(name, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, value, strlen(value)), strlen(value));
}

void assert_tunable(const char *name, const char *expected)
{
	_cleanup_close_ int fd = open_tunable(name, O_RDONLY);
	char value[64];

	assert_true(fd >= 0);
	assert_true(control_read(fd, value, sizeof(value)) > 0);
	assert_string_equal(value, expected);
}

void assert_no_tunable(const char *name)
{
	assert_int_equal(open_tunable(name, O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
}

/* Lines of "PATH VALUE" for every file in a governor's folder; the lab's driver shares them. */
static void read_tunables(char ret_text[SNAPSHOT_TUNABLES_SIZE])
{
	glob_t found = { 0 };
	size_t length = 0;

	glob(CONTROL_DIRECTORY "/[!p]*/*", 0, NULL, &found);
	ret_text[0] = '\0';
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_cleanup_close_ int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		char value[SNAPSHOT_FILE_SIZE];

		assert_true(control_read(fd, value, sizeof(value)) >= 0);
		length += (size_t)snprintf(ret_text + length, SNAPSHOT_TUNABLES_SIZE - length,
					   "%s %s\n", found.gl_pathv[i], value);
		assert_true(length < SNAPSHOT_TUNABLES_SIZE);
	}
	globfree(&found);
}

/* Empty for what the driver has not: a preference. */
static void snapshot_control(struct fixture *f, uint32_t d, enum control control)
{
	int r = control_load(control, f->topology->domains[d].first_cpu, f->before[d][control],
			     SNAPSHOT_FILE_SIZE);

	if (r == -ENOENT && control == CONTROL_PREFERENCE)
		f->before[d][control][0] = '\0';
	else
		assert_true(r >= 0);
}

void fixture_snapshot(struct fixture *f)
{
	read_tunables(f->tunables_before);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		for (int c = 0; c < CONTROL_N; c++)
			snapshot_control(f, d, c);
}

/* Limits act a moment later, from a work queue, and what setspeed reads with them. */
static void wait_for_control(uint32_t policy, const char *file, const char *expected)
{
	char value[SNAPSHOT_FILE_SIZE] = "";

	for (int ms = 0; ms < WAIT_MS; ms++) {
		assert_true(control_read_file(policy, file, value, sizeof(value)) >= 0);
		if (!strcmp(value, expected))
			return;
		usleep(1000);
	}
	assert_string_equal(value, expected);
}

void fixture_assert_as_before(struct fixture *f)
{
	char tunables[SNAPSHOT_TUNABLES_SIZE];

	read_tunables(tunables);
	assert_string_equal(tunables, f->tunables_before);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		for (int c = 0; c < CONTROL_N; c++)
			if (f->before[d][c][0])
				wait_for_control(f->topology->domains[d].first_cpu,
						 control_names[(enum control)c], f->before[d][c]);
}

static void govern_all(const struct topology *topology, const char *governor)
{
	for (uint32_t d = 0; d < topology->n_domains; d++)
		write_control(topology->domains[d].first_cpu, "scaling_governor", governor);
}

void fixture_govern_all(struct fixture *f, const char *governor)
{
	govern_all(f->topology, governor);
}

static const char *home_governor(void)
{
	char governors[128];

	assert_true(control_read_file(0, "scaling_available_governors", governors,
				      sizeof(governors)) >= 0);
	return strstr(governors, "schedutil") ? "schedutil" : "powersave";
}

/* What a test that failed half-way left behind. */
static void reset_domains(const struct fixture *f)
{
	const struct topology *topology = f->topology;

	for (uint32_t cpu = 1; cpu < topology->n_cpus; cpu++)
		set_online(cpu, true);
	for (uint32_t d = 0; d < topology->n_domains; d++) {
		const struct topology_domain *info = &topology->domains[d];
		char text[16];

		snprintf(text, sizeof(text), "%u", topology_domain_max_khz(info));
		write_limit(info->first_cpu, "scaling_max_freq", text);
		snprintf(text, sizeof(text), "%u", info->opp_khz[0]);
		write_limit(info->first_cpu, "scaling_min_freq", text);
	}
	/* By way of another, so that the tunables are the defaults. */
	govern_all(topology, "performance");
	govern_all(topology, f->home);
}

/* Loaded once, as that takes seconds here, and only for what limits were asked for. */
static struct tracer *tracer;

static int load_tracer(void)
{
	struct topology *topology;
	struct policy policy;
	const char *why;

	if (tracer)
		return 0;
	policy_init(&policy);
	if (cpufreq_discover(&topology, NULL, NULL) < 0 ||
	    tracer_new(topology, &policy.io_boost, &tracer, &why) < 0)
		return -1;
	tracer_pause(tracer);
	return 0;
}

static void read_limits(void *userdata, int fd, struct wakegov_limits *ret)
{
	tracer_read_limits(tracer, fd, ret);
}

static int open_domain(struct fixture *f, uint32_t d)
{
	if (actuator_domain_init(&f->domains[d], &f->topology->domains[d], f->saved) < 0)
		return -1;
	f->domains[d].read_limits = read_limits;
	return 0;
}

int fixture_set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	snprintf(f->run_dir, sizeof(f->run_dir), "/run/conformance.XXXXXX");
	if (cpufreq_discover(&f->topology, NULL, NULL) < 0 || f->topology->n_domains != 2 ||
	    !mkdtemp(f->run_dir) || mount("run", f->run_dir, "tmpfs", 0, "size=64k") < 0)
		return -1;
	if (saved_open(f->run_dir, &f->saved) < 0 || load_tracer() < 0)
		return -1;

	f->home = home_governor();
	f->second = f->topology->domains[1].first_cpu;
	reset_domains(f);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		if (open_domain(f, d) < 0)
			return -1;
	f->hotplug_fd = hotplug_open();
	f->clamps = uclamps_new(f->run_dir, NULL, NULL);
	f->now_ns = 1000000000;
	fixture_snapshot(f);
	return f->hotplug_fd < 0;
}

int fixture_tear_down(void **state)
{
	struct fixture *f = *state;

	actuator_watch_free(f->watch);
	close(f->hotplug_fd);
	uclamps_free(f->clamps);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		actuator_domain_deinit(&f->domains[d]);
	reset_domains(f);
	saved_free(f->saved);
	free(f->topology);
	umount(f->run_dir);
	rmdir(f->run_dir);
	free(f);
	return 0;
}

void fixture_expect_frequency(uint32_t policy, uint32_t khz)
{
	uint32_t read_khz = 0, tolerance_khz = fixture_measures_frequency(policy) ? khz / 100 : 0;

	for (int ms = 0; ms < WAIT_MS; ms++) {
		read_khz = read_control_u32(policy, "scaling_cur_freq");
		if (read_khz + tolerance_khz >= khz && read_khz <= khz + tolerance_khz)
			return;
		usleep(1000);
	}
	assert_int_equal(read_khz, khz);
}

int fixture_ask(struct actuator_domain *domain, const struct actuator_request *request)
{
	int r;

	while ((r = backend->apply(domain, request)) == ACTUATOR_NOT_YET)
		usleep(500);
	return r;
}

int fixture_apply(struct actuator_domain *domain, uint32_t khz)
{
	const struct actuator_request request = { khz, khz, khz, khz, khz };

	return fixture_ask(domain, &request);
}

struct actuator_domain *fixture_acquire(struct fixture *f, uint32_t domain)
{
	int r = backend->acquire(&f->domains[domain]);

	if (r != ACTUATOR_DONE)
		print_error("acquire: %d: %s\n", r, f->domains[domain].why);
	assert_int_equal(r, ACTUATOR_DONE);
	return &f->domains[domain];
}

void fixture_drive_everything(struct fixture *f)
{
	for (uint32_t d = 0; d < f->topology->n_domains; d++) {
		struct actuator_domain *domain = fixture_acquire(f, d);

		fixture_apply(domain, 1000000);
		fixture_apply(domain, 1400000);
	}
}

void fixture_crash_while_driving(struct fixture *f)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		fixture_drive_everything(f);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void fixture_reopen_saved(struct fixture *f)
{
	f->saved = saved_free(f->saved);
	assert_int_equal(saved_open(f->run_dir, &f->saved), 0);
	for (uint32_t d = 0; d < f->topology->n_domains; d++)
		f->domains[d].saved = f->saved;
}

static void filler_path(struct fixture *f, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s/filler", f->run_dir);
}

void fixture_fill_run_dir(struct fixture *f)
{
	_cleanup_close_ int fd = -1;
	char path[128], page[4096] = { 0 };

	filler_path(f, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	while (write(fd, page, sizeof(page)) > 0)
		;
	assert_int_equal(errno, ENOSPC);
}

void fixture_empty_run_dir(struct fixture *f)
{
	char path[128];

	filler_path(f, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
}

char *fixture_text(struct fixture *f, const char *name)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[128], *text;

	snprintf(path, sizeof(path), "%s/%s", f->run_dir, name);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	text = calloc(1, 8192);
	assert_non_null(text);
	assert_true(fread(text, 1, 8191, file) > 0);
	return text;
}

void fixture_report(void *userdata, const struct restore_result *result)
{
	struct fixture *f = userdata;
	size_t length = strlen(f->report);

	if (backend == &backend_setspeed && strstr(result->name, "scaling_m"))
		return;
	restore_describe(result, f->report + length, sizeof(f->report) - length - 1);
	strcat(f->report, "\n");
}

void fixture_expect_report(const struct fixture *f, const char *format, ...)
{
	char expected[sizeof(f->report)];
	va_list args;

	va_start(args, format);
	vsnprintf(expected, sizeof(expected), format, args);
	va_end(args);
	assert_string_equal(f->report, expected);
}

void fixture_watch(struct fixture *f, struct actuator_domain *domain)
{
	if (!f->watch)
		assert_int_equal(actuator_watch_new(&f->watch), 0);
	assert_int_equal(actuator_watch_add(f->watch, domain), 0);
}

unsigned int fixture_read_watch(struct fixture *f)
{
	struct pollfd waiting = { .fd = actuator_watch_fd(f->watch), .events = POLLIN };
	unsigned int before[LAB_DOMAINS_MAX], touched = 0;

	for (uint32_t d = 0; d < f->topology->n_domains; d++) {
		before[d] = f->domains[d].touched;
		f->domains[d].touched = 0;
	}
	poll(&waiting, 1, SHORT_WAIT_MS);
	actuator_watch_read(f->watch);
	for (uint32_t d = 0; d < f->topology->n_domains; d++) {
		touched |= f->domains[d].touched;
		f->domains[d].touched |= before[d];
	}
	return touched;
}

void fixture_expect_hotplug(struct fixture *f, uint32_t cpu, bool online)
{
	struct pollfd waiting = { .fd = f->hotplug_fd, .events = POLLIN };
	uint32_t seen_cpu;
	bool seen_online;

	assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
	assert_int_equal(hotplug_read(f->hotplug_fd, &seen_cpu, &seen_online), 1);
	assert_int_equal(seen_cpu, cpu);
	assert_int_equal(seen_online, online);
}
