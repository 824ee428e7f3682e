// SPDX-License-Identifier: GPL-2.0-only
/* The start: locks, the predecessor's leftovers, the tracer, the domains and their backend. */
#include "daemon/manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/affinities.h"
#include "actuator/backend.h"
#include "actuator/discovery.h"
#include "actuator/governor.h"
#include "actuator/saved.h"
#include "actuator/uclamps.h"
#include "config/load.h"
#include "daemon/domains.h"
#include "daemon/journal.h"
#include "daemon/process.h"
#include "shared/cleanup.h"
#include "shared/log.h"
#include "shared/statefile.h"

int startup_read_policy(struct policies *policies)
{
	struct core *core = policies->core;
	const struct daemon_options *options = core->options;
	_cleanup_free_ char *message = NULL;
	int r;

	if (asprintf(&policies->dropin_dir, "%s.d", options->policy_path) < 0)
		return log_oom();
	r = policy_files_read(options->policy_path, options->policy_may_be_missing,
			      policies->dropin_dir, &policies->files, &message);
	if (r < 0) {
		const char *line = message ? message : strerror(-r);

		for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
			log_error("%.*s", (int)strcspn(line, "\n"), line);
		return r;
	}
	profile_read_choice(policies);
	return profile_apply(policies, &core->policy);
}

/*
 * flock(2) needs only a descriptor, so any user could lock the directory of cpufreq and most files
 * in it. This file is in the same tree, and only root can open it; nothing is written to it.
 */
#define MACHINE_LOCK "/sys/bus/cpu/uevent"

/* Logs at this level if another wakegovd has the lock. */
static int lock_file(const char *path, int flags, int level)
{
	_cleanup_close_ int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return take_fd(&fd);
	if (errno != EWOULDBLOCK)
		return -errno;
	log_message(level,
		    "another wakegovd is running (it holds %s); stop it first: systemctl stop "
		    "wakegovd",
		    path);
	return -EBUSY;
}

int startup_lock_run_dir(const char *run_dir)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/lock", run_dir) < 0)
		return log_oom();
	/* Read-only, so that --restore can take it when /run cannot be written any more. */
	fd = lock_file(path, O_RDONLY | O_CREAT, LOG_ERR);
	if (fd < 0 && fd != -EBUSY && fd != -ENOENT)
		log_error("cannot open and lock %s: %s; run as root, or give --run-dir", path,
			  strerror(-fd));
	return fd;
}

int startup_lock_machine(int level)
{
	int fd = lock_file(MACHINE_LOCK, O_WRONLY, level);

	/* A process that cannot open it cannot write to cpufreq either. */
	return fd < 0 && fd != -EBUSY ? -ENOENT : fd;
}

int startup_lock(const struct core *core, struct locks *locks)
{
	bool observes = core->policy.backend == POLICY_BACKEND_OBSERVE;
	const char *run_dir = core->options->run_dir;

	if (mkdir(run_dir, 0755) < 0 && errno != EEXIST) {
		log_error("cannot make %s: %s; run as root, or give --run-dir", run_dir,
			  strerror(errno));
		return -errno;
	}
	locks->run_dir = startup_lock_run_dir(run_dir);
	if (locks->run_dir < 0)
		return locks->run_dir;
	if (core->topology->n_domains)
		locks->machine = startup_lock_machine(observes ? LOG_DEBUG : LOG_ERR);
	return locks->machine == -EBUSY && !observes ? -EBUSY : 0;
}

/* Failed restorations are reported one by one; a refused file ends the start. */
static int check_refused(int r, const char *run_dir, const char *file, const char *how)
{
	const char *why = r < 0 ? statefile_refusal(r) : NULL;

	if (!why)
		return 0;
	log_error("cannot use %s/%s, which has the values from before wakegov: %s; "
		  "restore %s by hand, and remove it",
		  run_dir, file, why, how);
	return r;
}

int startup_restore_predecessor(struct core *core, struct locks *locks)
{
	const char *run_dir = core->options->run_dir;
	/* The other daemon will restore what was left behind. */
	bool beside_another = locks->machine == -EBUSY;
	int r = beside_another ? 0 : restore_saved(run_dir, journal_report_restore, NULL);

	if (r >= 0)
		r = saved_open(run_dir, &core->saved);
	if (r < 0) {
		log_error("cannot use %s/originals, which has the values from before wakegov: %s; "
			  "restore the governors by hand, and remove it",
			  run_dir, statefile_refusal(r) ?: strerror(-r));
		return r;
	}
	r = 0;
	if (!beside_another)
		r = check_refused(
			task_log_restore(&uclamps_log, run_dir, journal_report_restore, NULL),
			run_dir, "clamps", "the tasks' clamps (uclampset)");
	if (!beside_another && r == 0)
		r = check_refused(
			task_log_restore(&affinities_log, run_dir, journal_report_restore, NULL),
			run_dir, "affinities", "the tasks' affinity (taskset)");
	if (r < 0)
		return r;
	if (core->policy.backend == POLICY_BACKEND_OBSERVE) {
		close_fdp(&locks->machine);
		locks->machine = -1;
	}
	return 0;
}

/* What the daemon's own tables may still take, and its other maps: 16 MiB, and this for a CPU. */
#define RESERVED_BYTES	    (32ULL << 20)
#define RESERVED_CPU_BYTES  (100ULL << 10)
#define LEAST_STORAGE_BYTES (1ULL << 20)

static void limit_storage(struct core *core)
{
	uint64_t reserved = RESERVED_BYTES + core->topology->n_cpus * RESERVED_CPU_BYTES;
	uint64_t spare = process_spare_bytes();

	if (spare < reserved)
		log_warning(
			"the memory limit may not suffice: raise MemoryMax= of the unit by %llu M",
			(unsigned long long)((reserved - spare) >> 20) + 1);
	spare = spare > reserved ? spare - reserved : 0;
	tracer_limit_storage(core->tracer,
			     spare > LEAST_STORAGE_BYTES ? spare : LEAST_STORAGE_BYTES);
}

int startup_start_tracer(struct core *core)
{
	const char *why;
	struct tracer_program program;
	int r;

	r = tracer_new(core->topology, &core->policy.io_boost, &core->tracer, &why);
	if (r < 0) {
		log_error("cannot trace: %s (%s)", why, strerror(-r));
		return r;
	}
	limit_storage(core);
	for (uint32_t i = 0; tracer_program(core->tracer, i, &program); i++)
		if (program.state == TRACER_FAILED)
			log_warning("cannot trace %s (%s); wakegovctl status says what is not seen",
				    program.name, strerror(-program.error));
	return 0;
}

static void read_limits(void *userdata, int fd, struct wakegov_limits *ret)
{
	const struct core *core = userdata;

	tracer_read_limits(core->tracer, fd, ret);
}

/* The CPUs of other domains that share a core, and so a clock, with the domain's first CPU. */
static void find_siblings(const struct topology *topology, uint32_t domain, char *ret, size_t size)
{
	struct cpu_mask core_cpus, siblings = { 0 };

	if (!topology_read_cpus(topology->domains[domain].first_cpu, "core", &core_cpus))
		return;
	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		if (cpu_mask_has(&core_cpus, cpu) && topology->cpu_domain[cpu] != domain)
			cpu_mask_add(&siblings, cpu);
	cpu_mask_print_list(&siblings, ret, size);
}

static int init_domain(struct core *core, uint32_t i)
{
	struct governed *governed = &core->domains[i];
	struct topology_domain *info = &core->topology->domains[i];
	struct cpu_mask cpus = { 0 };
	int r;

	governed->power_source = power_find(&core->policy, info);
	topology_for_each_cpu(core->topology, cpu, i)
		cpu_mask_add(&cpus, cpu);
	cpu_mask_print_list(&cpus, governed->cpus, sizeof(governed->cpus));
	find_siblings(core->topology, i, governed->siblings, sizeof(governed->siblings));
	r = actuator_domain_init(&governed->actuator, info, core->saved);
	if (r < 0) {
		log_error("%s: cannot open its controls: %s", info->name, strerror(-r));
		return r;
	}
	governed->actuator.read_limits = read_limits;
	governed->actuator.expect_limits = domains_expect_limits;
	governed->actuator.userdata = core;
	core->n_domains++;
	return 0;
}

static void log_left_out(void *userdata, const char *name)
{
	log_warning("%s: left to the kernel: " CPUFREQ_NO_FREQUENCIES, name);
}

int startup_find_domains(struct core *core)
{
	int r = cpufreq_discover(&core->topology, log_left_out, NULL);
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (n_cpus > TOPOLOGY_CPUS_MAX)
		log_warning(
			"this machine may have %ld CPUs, and wakegovd governs the first %d: all "
			"others, and what runs there, are left to the kernel",
			n_cpus, TOPOLOGY_CPUS_MAX);
	if (r < 0)
		log_error("cannot read this machine's cpufreq domains: %s", strerror(-r));
	return r;
}

int startup_discover(struct core *core)
{
	const struct backend *named;
	int r;

	freq_invariance_choose_references(core);
	core->domains = calloc(core->topology->n_domains + 1, sizeof(*core->domains));
	if (!core->domains)
		return log_oom();
	for (uint32_t i = 0; i < core->topology->n_domains; i++) {
		r = init_domain(core, i);
		if (r < 0)
			return r;
	}
	if (core->n_domains)
		return 0;
	named = backend_find(core->policy.backend);
	if (named && named->writes) {
		log_error("this machine has no cpufreq domains, so backend = %s has nothing to "
			  "drive: load a cpufreq driver (see wakegovctl doctor), or set backend = "
			  "auto to watch only",
			  named->name);
		return -ENODEV;
	}
	log_warning("this machine has no cpufreq domains: watching only; if it should have some, "
		    "load its driver (see wakegovctl doctor) and restart wakegovd");
	return 0;
}

int startup_acquire_domains(struct core *core)
{
	int r;

	domains_find_conflicts(core);
	sched_ext_has_all("/sys", core->scheduler);
	core->is_guided = amd_pstate_is_guided();
	for (uint32_t i = 0; i < core->n_domains; i++) {
		r = domains_acquire(core, i);
		/* A named backend that cannot drive it: `auto` ends with observe. */
		if (r < 0) {
			log_error("%s: cannot be governed by %s: %s",
				  core->topology->domains[i].name, core->domains[i].backend->name,
				  core->domains[i].actuator.why);
			return r;
		}
		r = actuator_watch_add(core->watch, &core->domains[i].actuator);
		if (r < 0)
			log_warning("%s: cannot watch for other writers: %s",
				    core->topology->domains[i].name, strerror(-r));
		domains_verify(core, i);
	}
	return 0;
}
