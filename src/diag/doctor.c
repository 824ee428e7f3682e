// SPDX-License-Identifier: GPL-2.0-only
/* Examines what the machine offers wakegov. Each finding has a grade and a remedy. */

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
#include "actuator/power_controls.h"
#include "actuator/task.h"
#include "core/opp.h"
#include "core/topology.h"
#include "diag/diag.h"
#include "frequency/frequency.h"
#include "frequency/power.h"
#include "shared/cleanup.h"
#include "shared/pids.h"
#include "shared/sysfs.h"
#include "shared/text.h"
#include "tracer/tracer.h"

#define ADVICE_ON_FAULT "see what its driver says (journalctl -k), and restart wakegovd"
#define TEXT_SIZE	256
#define POWER_ZONE	"/sys/class/powercap/intel-rapl:%d"
#define POWER_ZONES_MAX 8
#define POWER_TERMS_MAX 4 /* long_term, short_term, peak_power */

struct examination {
	const struct policy *policy;
	finding_t report;
	void *userdata;
	bool has_uclamp;
	char scheduler[SCHED_EXT_NAME_SIZE]; /* of sched_ext, if it has all tasks; "": none */
	bool is_governed;		     /* a daemon runs */
	uint32_t n_left_out;		     /* domains with a fault */
};

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

static void report_domain(const struct examination *e, const char *grade, const char *domain,
			  const char *what, const char *found, const char *advice)
{
	const struct finding finding = { grade, domain, what, found, advice };

	e->report(e->userdata, &finding);
}

static void report(const struct examination *e, const char *grade, const char *what,
		   const char *found, const char *advice)
{
	report_domain(e, grade, "", what, found, advice);
}

/* What the daemon cannot work without, from the files of the machine and of this process. */
static void examine_tracing(const struct examination *e)
{
	const char *why = load_error_settings();
	struct statvfs sys;

	report(e, why ? FINDING_BAD : FINDING_GOOD, "tracing",
	       why ? "not possible" : "possible: kernel types (BTF) are there", why ?: "");
	if (!pids_are_the_kernels())
		report(e, FINDING_BAD, "PID namespace", "not the first one, as in a container",
		       "run wakegov outside, or with the host's numbers (podman run --pid=host "
		       "--cgroupns=host)");
	if (statvfs("/sys/devices/system/cpu", &sys) == 0 && sys.f_flag & ST_RDONLY)
		report(e, FINDING_BAD, "/sys", "read-only here",
		       "no frequency can be set: run wakegov where /sys can be written");
	if (geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_BPF) == 0)
		report(e, FINDING_BAD, "CAP_BPF", "not among root's capabilities here",
		       "no tracing is possible: run wakegov where it is, as on the host");
}

static void examine_uclamp(struct examination *e)
{
	int r = uclamp_probe();

	e->has_uclamp = r == 0;
	if (r == 0)
		report(e, FINDING_GOOD, "utilisation clamps of tasks", "work", "");
	else
		report(e, FINDING_NOTE, "utilisation clamps of tasks", strerror(-r),
		       r == -EPERM ? "a filter of system calls forbids sched_setattr"
				   : "no backend uclamp here: it needs CONFIG_UCLAMP_TASK=y");
}

static void examine_cgroups(const struct examination *e)
{
	const char *why_not = sysfs_cgroup_why_not();

	if (why_not)
		report(e, FINDING_NOTE, "rules by cgroup and unit", "match nothing", why_not);
}

/* The driver's own mode decides whether others can set frequencies. */
static const char *advise_on_driver(const char *driver)
{
	if (!governor_driver_chooses(driver))
		return "";
	if (strcmp(driver, "intel_pstate") == 0)
		return "it chooses frequencies itself, so backend limits drives it; boot with "
		       "intel_pstate=passive to have uclamp and setspeed";
	return "it chooses frequencies itself, so backend limits drives it; boot with "
	       "amd_pstate=passive to have uclamp and setspeed";
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
	const char *backend, *advice = "";
	char found[TEXT_SIZE];

	control_load(CONTROL_GOVERNOR, domain->first_cpu, governor, sizeof(governor));
	control_read_file(domain->first_cpu, "scaling_available_governors", offered,
			  sizeof(offered));
	backend = choose(e, domain->first_cpu, governor, offered);
	/* A running daemon's own setting needs no advice. */
	if (e->is_governed && strcmp(governor, "userspace") == 0)
		backend = NULL;
	else if (!strstr(offered, "userspace") && !*advise_on_driver(driver))
		advice = "no userspace governor: modprobe cpufreq_userspace for backend setspeed";
	else if (e->has_uclamp && strcmp(governor, "schedutil") != 0 &&
		 strstr(offered, "schedutil") && !e->scheduler[0])
		advice = "for backend uclamp: echo schedutil into scaling_governor";
	for (char *rest, *word = strtok_r(offered, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		if (strcmp(word, governor) != 0)
			text_append(others, sizeof(others), "%s%s", *others ? ", " : "", word);
	snprintf(found, sizeof(found), "%s%s%s; other governors: %s", governor,
		 backend ? "; backend = auto takes " : ", set by wakegovd", backend ? backend : "",
		 *others ? others : "none");
	report_domain(e, *advice ? FINDING_NOTE : FINDING_GOOD, domain->name, "governor", found,
		      advice);
}

/* The source of the OPPs' power, and the OPPs that wakegov skips because of it. */
static bool examine_energy(const struct examination *e, struct topology_domain *domain)
{
	const char *source = power_source_name(power_find(e->policy, domain));
	char found[TEXT_SIZE], inefficient[TEXT_SIZE / 2] = "";

	if (!source)
		return false;
	for (uint32_t i = 0; i < domain->n_opps; i++)
		if (opp_better_khz(domain, i))
			text_append(inefficient, sizeof(inefficient), "%s%g",
				    *inefficient ? ", " : "", domain->opp_khz[i] / 1000.0);
	snprintf(found, sizeof(found), "by %s%s%s%s", source,
		 *inefficient ? "; inefficient: " : "; none is inefficient", inefficient,
		 *inefficient ? " MHz" : "");
	report_domain(e, FINDING_GOOD, domain->name, "energy of the OPPs", found,
		      *inefficient
			      ? "they are skipped: a faster one takes less energy for the same work"
			      : "");
	return true;
}

static void examine_domain(const struct examination *e, const struct topology_domain *domain)
{
	char driver[32] = "unknown", fault[CPUFREQ_FAULT_SIZE];
	const char *advice;

	if (cpufreq_find_fault(domain->first_cpu, fault)) {
		report_domain(e, FINDING_BAD, domain->name, "only observed", fault,
			      ADVICE_ON_FAULT);
		return;
	}
	control_read_file(domain->first_cpu, "scaling_driver", driver, sizeof(driver));
	advice = advise_on_driver(driver);
	report_domain(e, *advice ? FINDING_NOTE : FINDING_GOOD, domain->name, "driver", driver,
		      advice);
	examine_governor(e, domain, driver);
	if (!tick_is_seen())
		report_domain(
			e, FINDING_NOTE, domain->name, "scheduler's tick",
			"not seen without high-resolution timers (highres=off)",
			"setspeed and limits leave domains alone then, as a task that is alone on a "
			"CPU stays unseen: boot without highres=off");
	else if (tickless_has(domain->first_cpu, NULL))
		report_domain(e, FINDING_NOTE, domain->name, "scheduler's tick",
			      "nohz_full= took it from CPUs there",
			      "setspeed and limits leave such a domain alone, as a task that is "
			      "alone on such a CPU stays unseen; the governor "
			      "performance fits it");
}

/* Chosen by the maker of the CPUs, which x86 names there. */
static const char *advise_on_no_domain(void)
{
	char line[TEXT_SIZE];

	if (sysfs_read_tagged(line, sizeof(line), "vendor_id", "/proc/cpuinfo") <= 0)
		return "there is nothing to drive: it takes a driver such as cppc_cpufreq, "
		       "scmi-cpufreq or cpufreq-dt, and OPPs in the firmware's tables; most virtual "
		       "machines have none";
	if (strstr(line, "AMD") || strstr(line, "Hygon"))
		return "there is nothing to drive: switch CPPC on in the firmware's settings and "
		       "boot with amd_pstate=passive; on CPUs before Zen 2, modprobe "
		       "acpi-cpufreq; most virtual machines have none";
	return "there is nothing to drive: modprobe acpi-cpufreq, or look for P-states in the "
	       "firmware's settings; most virtual machines have none";
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
		report(e, FINDING_GOOD, "placement of tasks", "by the kernel's energy model",
		       "it saves energy, and can leave tasks that read to wait for one CPU beside "
		       "idle ones: if their rate counts for more, sysctl "
		       "kernel.sched_energy_aware=0");
}

static void report_left_out(void *userdata, const char *name)
{
	struct examination *e = userdata;

	e->n_left_out++;
	report_domain(e, FINDING_BAD, name, "left to the kernel", CPUFREQ_NO_FREQUENCIES,
		      ADVICE_ON_FAULT);
}

static int examine_domains(struct examination *e)
{
	_cleanup_free_ struct topology *topology = NULL;
	uint32_t n_known = 0;
	double threads = 0;
	int r = cpufreq_discover(&topology, report_left_out, e);

	if (r < 0)
		return r;
	if (!topology->n_domains && !e->n_left_out)
		report(e, FINDING_BAD, "cpufreq domains", "none", advise_on_no_domain());
	for (uint32_t i = 0; i < topology->n_domains; i++) {
		examine_domain(e, &topology->domains[i]);
		n_known += examine_energy(e, &topology->domains[i]);
	}
	examine_placement(e, topology);
	if (sysfs_read_number(&threads, "/sys/devices/system/cpu/smt/active") && threads == 1)
		report(e, FINDING_NOTE, "two threads of a core", "not known to wakegov",
		       "a cap holds only where both have it; see BUGS in wakegovd(8)");
	if (topology->n_domains && !n_known)
		report(e, FINDING_NOTE, "energy of the OPPs", "not known",
		       geteuid() == 0 ? "the kernel has no energy model of these CPUs, so no "
					"inefficient OPP is skipped; opp-power in wakegov.conf(5) "
					"says what they take"
				      : "only root can read the kernel's energy model");
	return 0;
}

/* Reports the daemon's source or, without a daemon, what its readers find on the present CPU. */
static void examine_counters(const struct examination *e, const char *source, const char *why)
{
	struct frequency *frequency = NULL;
	char found[TEXT_SIZE];

	if (!source) {
		frequency = frequency_new(sysconf(_SC_NPROCESSORS_CONF), 0, counter_readers, NULL,
					  NULL);
		if (!frequency)
			return;
		why = frequency_why(frequency);
		source = frequency_source(frequency);
	}
	if (strcmp(source, "kernel") == 0)
		snprintf(found, sizeof(found), "as the kernel sets it, %s", why ?: "");
	else
		snprintf(found, sizeof(found), "measured by %s", source);
	report(e, why && *why ? FINDING_NOTE : FINDING_GOOD, "frequency of the CPUs", found, "");
	frequency_free(frequency);
}

/* "package-0: long_term 15 W, short_term 25 W" for each zone of a package. */
static void examine_power_limits(const struct examination *e)
{
	char name[TEXT_SIZE], term[TEXT_SIZE], what[300];
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
		snprintf(what, sizeof(what), "power limits of %s", name);
		if (*found)
			report(e, is_zero ? FINDING_NOTE : FINDING_GOOD, what, found,
			       is_zero ? "if the CPUs stay slow, set a limit in "
					 "/sys/class/powercap: of 0 W the firmware has set none, or "
					 "keeps them at their lowest frequency"
				       : "above them the firmware lowers the clock, whatever "
					 "wakegov asks for");
	}
}

static void examine_scheduler(struct examination *e)
{
	char driver[32] = "";

	if (!sched_ext_has_all("/sys", e->scheduler))
		return;
	control_read_file(0, "scaling_driver", driver, sizeof(driver));
	report(e, FINDING_NOTE, "sched_ext scheduler", e->scheduler,
	       governor_driver_chooses(driver)
		       ? "it has all tasks; the hardware chooses frequencies within wakegov's "
			 "limits, as without it"
		       : "it has all tasks and ignores clamps: backend = auto takes setspeed where "
			 "it can, and uclamp again when the scheduler is gone");
}

/* Frequency limits set by firmware. */
static void examine_firmware(const struct examination *e)
{
	if (preference_is_dynamic())
		report(e, FINDING_NOTE, "amd-pstate's dynamic_epp", "enabled",
		       "the kernel sets the energy preference by the power source, so wakegov leaves "
		       "it alone, whatever energy-preference says; to have it set, echo disabled "
		       "into /sys/devices/system/cpu/amd_pstate/dynamic_epp");
	examine_power_limits(e);
}

static void report_conflict(void *userdata, const struct conflict *conflict)
{
	char found[TEXT_SIZE];

	snprintf(found, sizeof(found), "runs, and sets %s", conflict->knobs);
	report(userdata, FINDING_NOTE, conflict->name, found, conflict->advice);
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
			report(e, FINDING_BAD, path, "left by a daemon that was killed",
			       "put back what it holds: wakegovd --restore");
	}
}

int doctor_examine(const char *run_dir, const struct policy *policy, const char *source,
		   const char *why, finding_t report_finding, void *userdata)
{
	struct examination e = {
		.policy = policy,
		.report = report_finding,
		.userdata = userdata,
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
