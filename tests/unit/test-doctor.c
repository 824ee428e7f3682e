// SPDX-License-Identifier: GPL-2.0-only
/* What doctor finds that decides on frequencies beside wakegov, on a made-up machine. */
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>

#include "core/settings.h"
#include "ctl/command.h"
#include "ctl/print.h"
#include "fake-cpufreq.h"
#include "shared/cleanup.h"

static char findings[8192]; /* "GRADE WHAT: FOUND (ADVICE)\n" each */
static struct policy policy;
static const char *source, *why; /* of frequencies, by the daemon; NULL: none answers */

static void hear(const char *domain, const json_t *finding)
{
	size_t used = strlen(findings);

	snprintf(findings + used, sizeof(findings) - used, "%s %s%s%s: %s (%s)\n",
		 field_text(finding, "grade"), domain, *domain ? ": " : "",
		 field_text(finding, "what"), field_text(finding, "found"),
		 field_text(finding, "advice"));
}

static void examine(const char *run_dir)
{
	json_auto_t *found = json_array();
	const json_t *finding, *domain;
	size_t i, j;

	findings[0] = '\0';
	assert_int_equal(doctor_examine(run_dir, &policy, source, why, found), 0);
	json_array_foreach(found, i, finding) {
		if (!json_array_size(json_object_get(finding, "domains")))
			hear("", finding);
		json_array_foreach(json_object_get(finding, "domains"), j, domain)
			hear(json_string_value(domain), finding);
	}
}

static void assert_found(const char *text)
{
	if (!strstr(findings, text))
		fail_msg("not found: %s\nin:\n%s", text, findings);
}

static void assert_not_found(const char *text)
{
	if (strstr(findings, text))
		fail_msg("found: %s\nin:\n%s", text, findings);
}

static void assert_finds(const char *text)
{
	examine("/run/none");
	assert_found(text);
}

static void assert_does_not_find(const char *text)
{
	examine("/run/none");
	assert_not_found(text);
}

/* Nothing but what a test writes lies below /sys/kernel and /sys/class. */
static int set_up(void **state)
{
	if (fake_reset(state) < 0 || mount("fake", "/sys/kernel", "tmpfs", 0, "mode=755") < 0 ||
	    mount("fake", "/sys/class", "tmpfs", 0, "mode=755") < 0)
		return -1;
	fake_policy(0, 1);
	return 0;
}

static int tear_down(void **state)
{
	return umount2("/sys/kernel", MNT_DETACH) + umount2("/sys/class", MNT_DETACH);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(test_nothing_else_decides)
{
	assert_does_not_find("sched_ext");
	assert_not_found("dynamic_epp");
	assert_not_found("power limits");
}

FIXTURE_TEST(test_sched_ext)
{
	fake_write("../../../kernel/sched_ext/root/ops", "lavd_1.0.9");
	fake_write("../../../kernel/sched_ext/switch_all", "0");
	fake_write("cpufreq/policy0/scaling_governor", "schedutil");
	fake_write("cpufreq/policy0/scaling_available_governors", "userspace schedutil ");
	assert_does_not_find("sched_ext");
	fake_write("../../../kernel/sched_ext/switch_all", "1");
	assert_finds("note sched_ext scheduler: lavd_1.0.9 (it has all tasks");
	assert_found("backend = auto takes setspeed; ");
	fake_write("cpufreq/policy0/scaling_driver", "intel_pstate");
	fake_write("cpufreq/policy0/scaling_governor", "powersave");
	fake_write("cpufreq/policy0/scaling_available_governors", "performance powersave ");
	assert_finds("(it has all tasks; the hardware chooses");
	assert_not_found("uclamp again");
	assert_not_found("schedutil");
}

FIXTURE_TEST(test_dynamic_epp)
{
	fake_write("amd_pstate/dynamic_epp", "disabled");
	assert_does_not_find("dynamic_epp");
	fake_write("amd_pstate/dynamic_epp", "enabled");
	assert_finds("note amd-pstate's dynamic_epp: enabled (");
}

/* The energy model places tasks only where capacities differ and its switch is on. */
FIXTURE_TEST(test_placement)
{
	static const char aware[] = "../../../../proc/sys/kernel/sched_energy_aware";

	assert_int_equal(mount("fake", "/proc/sys/kernel", "tmpfs", 0, "mode=755"), 0);
	fake_policy(2, 3);
	fake_write(aware, "1");
	assert_does_not_find("placement of tasks");
	fake_write("cpu2/cpu_capacity", "446");
	assert_finds("good placement of tasks: by the kernel's energy model (");
	fake_write(aware, "0");
	fake_write("smt/active", "1");
	assert_does_not_find("placement of tasks");
	assert_found("note two threads of a core: have one clock");
	assert_int_equal(umount2("/proc/sys/kernel", MNT_DETACH), 0);
}

#define RAPL "../../../class/powercap/intel-rapl:0/"

FIXTURE_TEST(test_power_limits)
{
	fake_write(RAPL "name", "package-0");
	fake_write(RAPL "constraint_0_name", "long_term");
	fake_write(RAPL "constraint_0_power_limit_uw", "15000000");
	fake_write(RAPL "constraint_1_name", "short_term");
	fake_write(RAPL "constraint_1_power_limit_uw", "25500000");
	assert_finds("good power limits of package-0: long_term 15 W, short_term 25.5 W (");
	fake_write(RAPL "constraint_1_power_limit_uw", "0");
	assert_finds("note power limits of package-0: long_term 15 W, short_term 0 W (if the CPUs");
}

/* The daemon's word counts: root's doctor may use counters that the unit may not. */
FIXTURE_TEST(test_frequency_by_the_daemon)
{
	source = "kernel";
	why = "perf events: Permission denied";
	assert_finds("note frequency of the CPUs: as the kernel sets it, perf events: Permission");
	source = "cppc";
	why = NULL;
	assert_finds("good frequency of the CPUs: measured by cppc (");
	source = NULL;
}

static void give_power(uint32_t khz, const char *power)
{
	char path[96];

	snprintf(path, sizeof(path), "../../../kernel/debug/energy_model/cpu0/ps:%u/power", khz);
	fake_write(path, "%s", power);
}

/* The kernel's energy model, which needs every OPP, and the policy's before it. */
FIXTURE_TEST(test_energy)
{
	static const struct policy_opp_power powers[] = {
		{ 0, 400000, 4 },   { 0, 600000, 6 },	{ 0, 1000000, 9 },
		{ 0, 1400000, 20 }, { 0, 1800000, 30 },
	};

	assert_finds("note energy of the OPPs: not known (the kernel has no energy model");
	give_power(400000, "40000");
	give_power(600000, "90000");
	give_power(1000000, "130000");
	give_power(1400000, "200000");
	assert_finds("note energy of the OPPs: not known");
	give_power(1800000, "360000");
	assert_finds("good policy0: energy of the OPPs: by the kernel's energy model; inefficient: "
		     "600 MHz (they are skipped");
	assert_not_found("not known");
	give_power(600000, "72000");
	assert_finds("by the kernel's energy model; none is inefficient ()");
	for (uint32_t i = 0; i < 5; i++)
		policy.opp_powers[policy.n_opp_powers++] = powers[i];
	assert_finds("by the policy's opp-power; inefficient: 400, 600 MHz (");
	policy.n_opp_powers = 0;
}

/* One domain with a fault is named, and is no lack of a driver. */
FIXTURE_TEST(test_left_out)
{
	fake_write("cpufreq/policy0/cpuinfo_min_freq", "0");
	assert_int_equal(unlink("/sys/devices/system/cpu/cpufreq/policy0/"
				"scaling_available_frequencies"),
			 0);
	assert_finds("bad policy0: left to the kernel: its driver names no frequencies");
	assert_not_found("cpufreq domains: none");
}

/* Settings for which the kernel has one error are told apart by its files. */
FIXTURE_TEST(test_settings)
{
	fake_write("../../../kernel/btf/vmlinux", "types");
	fake_write("../../../kernel/security/lockdown", "none [integrity] confidentiality");
	assert_finds("good tracing: possible");
	fake_write("../../../kernel/security/lockdown", "none integrity [confidentiality]");
	assert_finds("bad tracing: not possible (this kernel is locked down");
	fake_write("../../../kernel/security/lockdown", "[none] integrity confidentiality");
	assert_int_equal(mount("fake", "/proc/sys/net/core", "tmpfs", 0, "mode=755"), 0);
	fake_write("../../../../proc/sys/net/core/bpf_jit_enable", "0");
	examine("/run/none");
	assert_int_equal(umount2("/proc/sys/net/core", MNT_DETACH), 0);
	assert_found("bad tracing: not possible (BPF programs that call functions");
}

FIXTURE_TEST(test_read_only)
{
	assert_not_found("bad /sys: read-only");
	assert_int_equal(mount(NULL, "/sys/devices/system/cpu", NULL,
			       MS_REMOUNT | MS_BIND | MS_RDONLY, NULL),
			 0);
	examine("/run/none");
	assert_int_equal(mount(NULL, "/sys/devices/system/cpu", NULL, MS_REMOUNT | MS_BIND, NULL),
			 0);
	assert_found("bad /sys: read-only here");
}

FIXTURE_TEST(test_other_governors)
{
	fake_write("cpufreq/policy0/scaling_governor", "schedutil");
	fake_write("cpufreq/policy0/scaling_available_governors", "powersave userspace schedutil ");
	assert_finds("policy0: governor: schedutil; backend = auto takes ");
	assert_found("; other governors: powersave, userspace (");
	fake_write("cpufreq/policy0/scaling_available_governors", "schedutil ");
	assert_finds("; other governors: none (no userspace governor: modprobe");
}

static int open_lock(const char *run_dir)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", run_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

/* Each file that --restore puts back is named, unless a daemon that runs still needs it. */
FIXTURE_TEST(test_leftovers)
{
	static const char *const names[] = { "originals", "clamps", "affinities" };
	const char *run_dir = fake_run_dir("64k");
	_cleanup_close_ int lock = open_lock(run_dir);
	char path[96], wanted[160];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(wanted, sizeof(wanted), "bad %s/%s: left by a daemon that was killed (",
			 run_dir, names[i]);
		examine(run_dir);
		assert_not_found(wanted);
		snprintf(path, sizeof(path), "%s/%s", run_dir, names[i]);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		examine(run_dir);
		assert_found(wanted);
	}
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	examine(run_dir);
	assert_not_found("left by a daemon");
}

/* The governor userspace is another program's choice, unless a daemon that runs has set it. */
FIXTURE_TEST(test_own_governor)
{
	const char *run_dir = fake_run_dir("64k");
	_cleanup_close_ int fd = open_lock(run_dir);

	fake_write("cpufreq/policy0/scaling_governor", "userspace");
	examine(run_dir);
	assert_not_found("set by wakegovd");
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	examine(run_dir);
	assert_found("good policy0: governor: userspace, set by wakegovd; other governors: ");
}

static void put_cpuinfo(const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/cpuinfo", fake_run_dir("64k"));
	test_write(path, text);
	assert_int_equal(mount(path, "/proc/cpuinfo", "none", MS_BIND, NULL), 0);
}

/* What is to be done without a driver depends on whose CPUs these are. */
FIXTURE_TEST(test_no_domain)
{
	static const struct {
		const char *cpuinfo, *advice;
	} cases[] = {
		{ "processor\t: 0\nvendor_id\t: GenuineIntel\n",
		  "(there is nothing to drive: modprobe acpi-cpufreq" },
		{ "processor\t: 0\nvendor_id\t: AuthenticAMD\n", "boot with amd_pstate=passive" },
		{ "processor\t: 0\nCPU implementer\t: 0x41\n", "a driver such as cppc_cpufreq" },
	};

	assert_int_equal(fake_reset(state), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_cpuinfo(cases[i].cpuinfo);
		examine("/run/none");
		assert_int_equal(umount2("/proc/cpuinfo", MNT_DETACH), 0);
		assert_found("bad cpufreq domains: none (");
		assert_found(cases[i].advice);
	}
}

FIXTURE_TEST(test_drivers_that_choose)
{
	static const char *const names[] = { "amd-pstate-epp", "amd_pstate_epp" };

	for (int i = 0; i < 2; i++) {
		fake_write("cpufreq/policy0/scaling_driver", "%s", names[i]);
		fake_write("cpufreq/policy0/scaling_available_governors", "performance powersave ");
		examine("/run/none");
		assert_found("amd_pstate=passive");
		assert_not_found("no userspace governor");
	}
}
