// SPDX-License-Identifier: GPL-2.0-only
/*
 * Examines what the machine offers wakegov. Each finding has a grade, and in words.json a sentence
 * on what was found and one on what to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "actuator/control.h"
#include "actuator/discovery.h"
#include "actuator/governor.h"
#include "actuator/task.h"
#include "core/opp.h"
#include "core/topology.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "diag/diag.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "shared/sysfs.h"
#include "shared/text.h"
#include "tracer/tracer.h"

#define TEXT_SIZE	256
#define POWER_ZONE	"/sys/class/powercap/intel-rapl:%d"
#define POWER_ZONES_MAX 8
#define POWER_TERMS_MAX 4 /* long_term, short_term, peak_power */

struct examination {
	const struct policy *policy;
	json_t *findings;
	bool has_uclamp;
	char scheduler[SCHED_EXT_NAME_SIZE]; /* of sched_ext, if it has all tasks; "": none */
	bool is_governed;		     /* a daemon runs */
	uint32_t n_left_out;		     /* domains with a fault */
};

void doctor_append(json_t *findings, const char *grade, const char *domain, const char *key,
		   json_t *of)
{
	_cleanup_free_ char *found = words_fill("found", key, of, NULL);
	_cleanup_free_ char *advice = words_fill("to_do", key, of, NULL);
	json_auto_t *domains = json_array();
	json_auto_t *new = json_pack("{sO ss ss ss ss}", "domains", domains, "grade", grade, "what",
				     field_text(of, "what") ?: key, "found", found, "advice",
				     advice ?: "");
	json_t *entry, *alike = NULL;
	size_t i;

	json_array_foreach(findings, i, entry) {
		/* Compares them as if they were of the same domains. */
		json_object_set(new, "domains", json_object_get(entry, "domains"));
		if (json_equal(entry, new))
			alike = entry;
	}
	json_object_set(new, "domains", domains);
	if (!alike)
		json_array_append(findings, alike = new);
	if (domain)
		json_array_append_new(json_object_get(alike, "domains"), json_string(domain));
	json_decref(of);
}

/* Whether a daemon holds the lock of its run directory. */
static bool is_locked(const char *run_dir)
{
	_cleanup_close_ int fd = -1;
	char path[TEXT_SIZE];

	snprintf(path, sizeof(path), "%s/lock", run_dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* If permission to check is missing, the lock counts as held. */
	if (fd < 0)
		return errno == EACCES;
	return flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static void report(const struct examination *e, const char *grade, const char *what, json_t *of)
{
	doctor_append(e->findings, grade, NULL, what, of);
}

/* What the daemon cannot work without, from the files of the machine and of this process. */
static void examine_tracing(const struct examination *e)
{
	const char *why = load_error_settings();
	struct statvfs sys;

	report(e, why ? FINDING_BAD : FINDING_GOOD, "tracing", json_pack("{ss*}", "why", why));
	if (!sysfs_pids_are_the_kernels())
		report(e, FINDING_BAD, "PID namespace", NULL);
	if (statvfs("/sys/devices/system/cpu", &sys) == 0 && sys.f_flag & ST_RDONLY)
		report(e, FINDING_BAD, "/sys", NULL);
	if (geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_BPF) == 0)
		report(e, FINDING_BAD, "CAP_BPF", NULL);
}

static void examine_uclamp(struct examination *e)
{
	int r = uclamp_probe();

	e->has_uclamp = r == 0;
	report(e, r == 0 ? FINDING_GOOD : FINDING_NOTE, "utilisation clamps of tasks",
	       json_pack("{ss* sb}", "error", r ? strerror(-r) : NULL, "is_filtered", r == -EPERM));
}

static void examine_cgroups(const struct examination *e)
{
	const char *why_not = sysfs_cgroup_why_not();

	if (why_not)
		report(e, FINDING_NOTE, "rules by cgroup and unit",
		       json_pack("{ss}", "why", why_not));
}

static const char *choose(const struct examination *e, uint32_t policy, const char *governor,
			  const char *offered)
{
	if (e->has_uclamp && strcmp(governor, "schedutil") == 0 && !e->scheduler[0])
		return "uclamp";
	if (!tick_is_seen() || tickless_has(policy, NULL))
		return "observe";
	return strstr(offered, "userspace") ? "setspeed" : "limits";
}

static void examine_governor(const struct examination *e, const struct topology_domain *domain,
			     const char *driver)
{
	char governor[CONTROL_VALUE_SIZE] = "", offered[TEXT_SIZE] = "", others[TEXT_SIZE / 2] = "";
	const char *backend, *lacks = NULL;

	control_load(CONTROL_GOVERNOR, domain->first_cpu, governor, sizeof(governor));
	control_read_file(domain->first_cpu, "scaling_available_governors", offered,
			  sizeof(offered));
	backend = choose(e, domain->first_cpu, governor, offered);
	/* A running daemon's own setting needs no advice. */
	if (e->is_governed && strcmp(governor, "userspace") == 0)
		backend = NULL;
	else if (!strstr(offered, "userspace") && !governor_driver_chooses(driver))
		lacks = "setspeed";
	else if (e->has_uclamp && strcmp(governor, "schedutil") != 0 &&
		 strstr(offered, "schedutil") && !e->scheduler[0])
		lacks = "uclamp";
	for (char *rest, *word = strtok_r(offered, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		if (strcmp(word, governor) != 0)
			text_append(others, sizeof(others), "%s%s", *others ? ", " : "", word);
	doctor_append(e->findings, lacks ? FINDING_NOTE : FINDING_GOOD, domain->name, "governor",
		      json_pack("{ss ss* ss ss*}", "governor", governor, "backend", backend,
				"others", *others ? others : "none", "lacks", lacks));
}

/* The source of the OPPs' power, and the OPPs that wakegov skips because of it. */
static bool examine_energy(const struct examination *e, struct topology_domain *domain)
{
	const char *source = power_source_name(power_find(e->policy, domain));
	char inefficient[TEXT_SIZE / 2] = "";

	if (!source)
		return false;
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (opp_better_khz(domain, i))
			text_append(inefficient, sizeof(inefficient), "%s%g",
				    *inefficient ? ", " : "", domain->opp_khz[i] / 1000.0);
	doctor_append(e->findings, FINDING_GOOD, domain->name, "energy of the OPPs",
		      json_pack("{ss ss}", "source", source, "inefficient", inefficient));
	return true;
}

static void examine_domain(const struct examination *e, const struct topology_domain *domain)
{
	char driver[32] = "unknown", fault[CPUFREQ_FAULT_SIZE];
	bool chooses;

	if (cpufreq_find_fault(domain->first_cpu, fault)) {
		doctor_append(e->findings, FINDING_BAD, domain->name, "only observed",
			      json_pack("{ss}", "fault", fault));
		return;
	}
	control_read_file(domain->first_cpu, "scaling_driver", driver, sizeof(driver));
	/* The driver's own mode decides whether others can set frequencies. */
	chooses = governor_driver_chooses(driver);
	doctor_append(e->findings, chooses ? FINDING_NOTE : FINDING_GOOD, domain->name, "driver",
		      json_pack("{ss sb}", "driver", driver, "chooses", chooses));
	examine_governor(e, domain, driver);
	if (!tick_is_seen() || tickless_has(domain->first_cpu, NULL))
		doctor_append(e->findings, FINDING_NOTE, domain->name, "scheduler's tick",
			      json_pack("{sb}", "is_tickless", tick_is_seen()));
}

/*
 * For CPUs of unlike capacity. The model knows the expected load of domains, but not which task
 * waits for another on one CPU (tests/bench/README.md, CPUs of unlike capacity).
 */
static void examine_placement(const struct examination *e, const struct topology *topology)
{
	bool differs = false;
	double aware = 0;

	for (uint32_t i = 1; i < topology->n_domains; i++)
		differs |= topology->domains[i].capacity != topology->domains[0].capacity;
	if (differs && sysfs_read_number(&aware, "/proc/sys/kernel/sched_energy_aware") && aware)
		report(e, FINDING_GOOD, "placement of tasks", NULL);
}

static void report_left_out(void *userdata, const char *name)
{
	struct examination *e = userdata;

	e->n_left_out++;
	doctor_append(e->findings, FINDING_BAD, name, "left to the kernel",
		      json_pack("{ss}", "fault", CPUFREQ_NO_FREQUENCIES));
}

static int examine_domains(struct examination *e)
{
	_cleanup_free_ struct topology *topology = NULL;
	uint32_t n_known = 0;
	char maker[TEXT_SIZE];
	double threads = 0;
	int r = cpufreq_discover(&topology, report_left_out, e);

	if (r < 0)
		return r;
	if (!topology->n_domains && !e->n_left_out) {
		/* The advice is by the maker of the CPUs, which x86 names there. */
		sysfs_read_tagged(maker, sizeof(maker), "vendor_id\t: ", "/proc/cpuinfo");
		report(e, FINDING_BAD, "cpufreq domains", json_pack("{ss}", "maker", maker));
	}
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		examine_domain(e, &topology->domains[i]);
		n_known += examine_energy(e, &topology->domains[i]);
	}
	examine_placement(e, topology);
	if (sysfs_read_number(&threads, "/sys/devices/system/cpu/smt/active") && threads == 1)
		report(e, FINDING_NOTE, "two threads of a core", NULL);
	if (topology->n_domains && !n_known)
		report(e, FINDING_NOTE, "energy of the OPPs",
		       json_pack("{sb}", "is_root", geteuid() == 0));
	return 0;
}

/* Reports the daemon's source or, without a daemon, what its readers find on the present CPU. */
static void examine_counters(const struct examination *e, const char *source, const char *why)
{
	struct frequency *frequency = NULL;

	if (!source) {
		frequency = frequency_new(sysconf(_SC_NPROCESSORS_CONF), 0, counter_readers, NULL,
					  NULL);
		if (!frequency)
			return;
		why = frequency->why;
		source = frequency_source(frequency);
	}
	report(e, why && *why ? FINDING_NOTE : FINDING_GOOD, "frequency of the CPUs",
	       json_pack("{ss ss}", "source", source, "why", why ?: ""));
	frequency_free(frequency);
}

/* "package-0: long_term 15 W, short_term 25 W" for each zone of a package. */
static void examine_power_limits(const struct examination *e)
{
	char name[TEXT_SIZE], term[TEXT_SIZE];
	double microwatts;

	for (int zone = 0; zone < POWER_ZONES_MAX; zone++) {
		char found[TEXT_SIZE] = "";
		bool is_zero = false;

		if (!sysfs_read_line(name, sizeof(name), POWER_ZONE "/name", zone))
			return;
		for (int i = 0; i < POWER_TERMS_MAX; i++) {
			if (!sysfs_read_line(term, sizeof(term), POWER_ZONE "/constraint_%d_name",
					     zone, i) ||
			    !sysfs_read_number(&microwatts,
					       POWER_ZONE "/constraint_%d_power_limit_uw", zone, i))
				break;
			is_zero |= !microwatts;
			text_append(found, sizeof(found), "%s%.40s %.3g W", *found ? ", " : "",
				    term, microwatts / 1e6);
		}
		if (*found)
			report(e, is_zero ? FINDING_NOTE : FINDING_GOOD, "power limits",
			       json_pack("{so ss sb}", "what",
					 json_sprintf("power limits of %s", name), "limits", found,
					 "is_zero", is_zero));
	}
}

static void examine_scheduler(struct examination *e)
{
	char driver[32] = "";

	if (!sched_ext_has_all("/sys", e->scheduler))
		return;
	control_read_file(0, "scaling_driver", driver, sizeof(driver));
	report(e, FINDING_NOTE, "sched_ext scheduler",
	       json_pack("{ss sb}", "scheduler", e->scheduler, "chooses",
			 governor_driver_chooses(driver)));
}

/* Frequency limits set by firmware. */
static void examine_firmware(const struct examination *e)
{
	if (preference_is_dynamic())
		report(e, FINDING_NOTE, "amd-pstate's dynamic_epp", NULL);
	examine_power_limits(e);
}

static void report_conflict(void *userdata, const char *name)
{
	report(userdata, FINDING_NOTE, name, NULL);
}

static void examine_leftovers(const struct examination *e, const char *run_dir)
{
	static const char *const names[] = { "originals", "clamps", "affinities" };
	char path[TEXT_SIZE];

	if (e->is_governed)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", run_dir, names[i]);
		if (access(path, F_OK) == 0)
			report(e, FINDING_BAD, "left behind", json_pack("{ss}", "what", path));
	}
}

int doctor_examine(const char *run_dir, const struct policy *policy, const char *source,
		   const char *why, json_t *findings)
{
	struct examination e = {
		.policy = policy,
		.findings = findings,
		.is_governed = is_locked(run_dir),
	};
	int r;

	examine_tracing(&e);
	examine_uclamp(&e);
	examine_scheduler(&e);
	examine_cgroups(&e);
	r = examine_domains(&e);
	examine_counters(&e, source, why);
	examine_firmware(&e);
	conflicts_find(report_conflict, &e);
	examine_leftovers(&e, run_dir);
	return r;
}
