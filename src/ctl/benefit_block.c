// SPDX-License-Identifier: GPL-2.0-only
/* Measures a block: the kernel's counters before and after it, and the runs of a command in it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/benefit.h"
#include "ctl/format.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/time.h"
#include "tracer/wakeups.h"

#define CPUFREQ "/sys/devices/system/cpu/cpufreq/policy*/stats"

/* How often power sensors, and the frequencies for the model, are read. */
#define LOOK_NS NS_PER_S
/* The last line of the command's output. */
#define LINE_SIZE 4096

/*
 * Counters, which only grow. One that is not known stays 0 throughout, so that its
 * difference is 0.
 */
struct sample {
	uint64_t time_ns;
	uint64_t ios;	  /* completed requests of all disks; those of stacked disks count once */
	uint64_t io_ms;	  /* sum of the times that they took */
	double khz_s;	  /* integral of the frequency, summed over the domains … */
	double domain_s;  /* … over this sum of their times */
	uint64_t changes; /* changes of frequencies */
	double wait_us;	  /* time waiting for a CPU, summed over all tasks … */
	double waits;	  /* … in this number of turns on one */
	uint64_t wakeups[WAKEGOV_WAKEUP_BUCKETS]; /* of the chosen tasks, by latency */
	double cpu_s;				  /* sum of the busy times of all CPUs */
	double joules;
	uint32_t n_lost;
	double full_cpu_s;
};

/* Of a command, if its figure is asked for. */
struct output {
	int fd; /* negative: it has exited */
	char end[LINE_SIZE];
};

static void note_found(const char *path, void *found)
{
	*(bool *)found = true;
}

/*
 * Documentation/block/stat.rst: reads, merges, sectors, ms, and the same for writes. Leaves out
 * disks whose requests are counted on other disks.
 */
static void add_disk(const char *path, void *context)
{
	bool is_stacked = strstr(path, "/loop") || strstr(path, "/zram") || strstr(path, "/ram");
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint64_t reads, read_ms, writes, write_ms;
	struct sample *sample = context;

	sysfs_each(note_found, &is_stacked, "%.*s/slaves/*", (int)(strrchr(path, '/') - path),
		   path);
	if (is_stacked || !file ||
	    fscanf(file, "%" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64, &reads,
		   &read_ms, &writes, &write_ms) != 4)
		return;
	sample->ios += reads + writes;
	sample->io_ms += read_ms + write_ms;
}

/* Parses lines of kHz and hundredths of a second. */
static void add_states(const char *path, void *context)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct sample *sample = context;
	double khz, hundredths;

	while (file && fscanf(file, "%lf %lf", &khz, &hundredths) == 2) {
		sample->khz_s += khz * hundredths / 100;
		sample->domain_s += hundredths / 100;
	}
}

static void add_changes(const char *path, void *context)
{
	struct sample *sample = context;
	double n;

	if (sysfs_read_number(&n, "%s", path))
		sample->changes += n;
}

static void read_sample(struct benefit_meters *meters, struct sample *ret)
{
	_cleanup_fclose_ FILE *waits = fopen("/proc/schedstat", "re");
	double wait_ns, turns;
	char line[512];

	*ret = (struct sample){ .time_ns = time_now_ns() };
	sysfs_each(add_disk, ret, "/sys/block/*/stat");
	sysfs_each(add_states, ret, CPUFREQ "/time_in_state");
	sysfs_each(add_changes, ret, CPUFREQ "/total_trans");
	/*
	 * Documentation/scheduler/sched-stats.rst: of each CPU, behind six other numbers, what its
	 * tasks ran and waited, in ns, and their turns.
	 */
	while (waits && fgets(line, sizeof(line), waits)) {
		if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %*u %lf %lf", &wait_ns, &turns) !=
		    2)
			continue;
		ret->wait_us += wait_ns / 1000;
		ret->waits += turns;
	}
	energy_read(&meters->energy, ret->time_ns);
	model_read(&meters->model, ret->time_ns);
	if (meters->wakeups)
		wakeups_read(meters->wakeups, ret->wakeups);
	ret->cpu_s = meters->model.busy_s;
	ret->joules = meters->energy.joules;
	ret->n_lost = meters->energy.n_lost;
	ret->full_cpu_s = meters->model.full_cpu_s;
}

static void compute_figures(const struct sample *from, const struct sample *to, double ret[FIGURES])
{
	double s = (double)(to->time_ns - from->time_ns) / 1e9;
	double ios = (double)(to->ios - from->ios), domain_s = to->domain_s - from->domain_s;
	double waits = to->waits - from->waits;
	uint64_t wakeups[WAKEGOV_WAKEUP_BUCKETS];

	for (uint32_t i = 0; i < WAKEGOV_WAKEUP_BUCKETS; i++)
		wakeups[i] = to->wakeups[i] - from->wakeups[i];
	ret[FIGURE_WAKEUP] = benefit_wakeup_p99_us(wakeups);
	ret[FIGURE_IOS] = ios / s;
	ret[FIGURE_IO_TIME] = ios > 0 ? (double)(to->io_ms - from->io_ms) / ios : 0;
	ret[FIGURE_WAIT] = waits > 0 ? (to->wait_us - from->wait_us) / waits : 0;
	ret[FIGURE_CPU] = (to->cpu_s - from->cpu_s) / s;
	ret[FIGURE_ENERGY] = to->n_lost == from->n_lost ? (to->joules - from->joules) / s : 0;
	ret[FIGURE_ESTIMATE] = (to->full_cpu_s - from->full_cpu_s) / s;
	if (domain_s <= 0)
		return;
	ret[FIGURE_FREQUENCY] = (to->khz_s - from->khz_s) / domain_s / 1000;
	ret[FIGURE_CHANGES] = (double)(to->changes - from->changes) / s;
}

/* Reads sensors once a second has passed since the last read. */
static void look(struct benefit_meters *meters)
{
	uint64_t now_ns = time_now_ns();

	if (now_ns < meters->energy.read_ns + LOOK_NS)
		return;
	energy_read(&meters->energy, now_ns);
	model_read(&meters->model, now_ns);
}

void benefit_wait(struct benefit_meters *meters, uint64_t until_ns)
{
	struct pollfd fd = { .fd = meters->signals, .events = POLLIN };
	uint64_t now_ns;

	while (!meters->interrupted && (now_ns = time_now_ns()) < until_ns) {
		uint64_t left_ns = until_ns - now_ns;

		meters->interrupted =
			poll(&fd, 1, (left_ns < LOOK_NS ? left_ns : LOOK_NS) / NS_PER_MS + 1) > 0;
		look(meters);
	}
}

/* Prints what the command has written, and keeps the end of it. */
static void pass_on(struct output *output)
{
	char got[LINE_SIZE / 2];
	ssize_t n;

	while ((n = read(output->fd, got, sizeof(got))) > 0) {
		size_t kept = strlen(output->end);

		fwrite(got, 1, (size_t)n, stderr);
		if (kept + (size_t)n >= sizeof(output->end)) {
			memmove(output->end, output->end + n, kept - (size_t)n + 1);
			kept -= (size_t)n;
		}
		memcpy(output->end + kept, got, (size_t)n);
		output->end[kept + (size_t)n] = '\0';
	}
	if (n == 0) {
		close(output->fd);
		output->fd = -1;
	}
}

/*
 * Standard output is for the answer, so the command's goes to standard error. Ctrl-C reaches the
 * command too, as it has the same terminal.
 */
static pid_t start_command(const struct benefit_meters *meters, int output)
{
	pid_t pid = fork();
	sigset_t none;

	if (pid != 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(output, STDOUT_FILENO);
	execvp(meters->ctl->arguments[0], meters->ctl->arguments);
	complain("cannot run %s: %s", meters->ctl->arguments[0], strerror(errno));
	_exit(127);
}

/* Returns whether the command exited with 0. */
static bool wait_for_command(struct benefit_meters *meters, pid_t pid, struct output *output)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd fds[] = { { .fd = meters->signals, .events = POLLIN },
					{ .fd = output->fd, .events = POLLIN } };

		/* The resolution of a run time. */
		poll(fds, ARRAY_SIZE(fds), 1);
		look(meters);
		if (fds[1].revents)
			pass_on(output);
		if (!fds[0].revents)
			continue;
		meters->interrupted = true;
		kill(pid, SIGTERM);
		waitpid(pid, &status, 0);
		break;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Adds the command's figure, if it has one. Returns whether the command exited with 0. */
static bool run_command(struct benefit_meters *meters, double *figure)
{
	struct output output = { .fd = -1 };
	int fds[2] = { -1, STDERR_FILENO };
	double printed;
	bool well;
	pid_t pid;

	if (meters->own && pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	output.fd = fds[0];
	pid = start_command(meters, fds[1]);
	if (meters->own)
		close(fds[1]);
	well = pid > 0 && wait_for_command(meters, pid, &output);
	if (output.fd >= 0)
		pass_on(&output);
	if (output.fd >= 0)
		close(output.fd);
	if (!well || !meters->own)
		return well;
	if (!quantity_last_number(output.end, &printed)) {
		complain("%s printed no number in its last line", meters->ctl->arguments[0]);
		return false;
	}
	*figure += printed;
	return true;
}

/* The block's mean run time and figure. */
static bool run_commands(struct benefit_meters *meters, uint64_t until_ns, double ret[FIGURES])
{
	uint64_t start_ns = time_now_ns();
	double sum = 0;
	uint32_t n = 0;

	do {
		if (!run_command(meters, &sum))
			return false;
		n++;
	} while (!meters->interrupted && time_now_ns() < until_ns);
	ret[FIGURE_RUN] = (double)(time_now_ns() - start_ns) / n / 1e9;
	ret[FIGURE_OWN] = sum / n;
	return true;
}

bool benefit_measure(struct benefit_meters *meters, uint64_t until_ns, double ret[FIGURES])
{
	struct sample from, to;

	read_sample(meters, &from);
	if (!meters->ctl->n_arguments)
		benefit_wait(meters, until_ns);
	else if (!meters->interrupted && !run_commands(meters, until_ns, ret) &&
		 !meters->interrupted) {
		complain("%s failed: how long it runs says nothing", meters->ctl->arguments[0]);
		return false;
	}
	read_sample(meters, &to);
	compute_figures(&from, &to, ret);
	return true;
}
