// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever the files of /sys hold, separated by '|': what is discovered keeps its bounds, and each
 * backend takes a domain, or refuses it with a sentence, and gives it back. /sys is a tmpfs of this
 * process's own, so it has to be root.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actuator/backend.h"
#include "actuator/discovery.h"
#include "actuator/saved.h"
#include "core/topology.h"
#include "diag/diag.h"
#include "frequency/frequency.h"
#include "shared/cleanup.h"
#include "tracer/tracer.h"

#define CPU    "/sys/devices/system/cpu/"
#define POLICY "cpufreq/policy0/"
#define DISK   "../../../block/sda/"
#define RUN    "/sys/run"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const directories[] = {
	"/sys/devices",
	"/sys/devices/system",
	"/sys/devices/system/cpu",
	CPU "cpu0",
	CPU "cpufreq",
	CPU POLICY,
	CPU "cpufreq/schedutil",
	CPU "cpufreq/policy1",
	CPU "cpu0/acpi_cppc",
	CPU "intel_pstate",
	"/sys/block",
	"/sys/block/sda",
	"/sys/block/sda/queue",
	RUN,
};

/* Under CPU, in the order of an input's parts. */
static const char *const files[] = {
	POLICY "scaling_governor",
	POLICY "scaling_available_governors",
	POLICY "scaling_setspeed",
	POLICY "scaling_available_frequencies",
	POLICY "scaling_boost_frequencies",
	POLICY "boost",
	POLICY "cpuinfo_min_freq",
	POLICY "cpuinfo_max_freq",
	POLICY "scaling_min_freq",
	POLICY "scaling_max_freq",
	POLICY "scaling_cur_freq",
	POLICY "related_cpus",
	POLICY "affected_cpus",
	POLICY "cpuinfo_transition_latency",
	POLICY "scaling_driver",
	POLICY "energy_performance_preference",
	POLICY "energy_performance_available_preferences",
	POLICY "base_frequency",
	POLICY "bios_limit",
	"cpufreq/boost",
	"cpufreq/schedutil/rate_limit_us",
	"cpufreq/policy1/related_cpus",
	"cpufreq/policy1/cpuinfo_max_freq",
	"cpufreq/policy1/cpuinfo_min_freq",
	"cpu0/cpu_capacity",
	"cpu0/acpi_cppc/feedback_ctrs",
	"cpu0/acpi_cppc/reference_perf",
	"cpu0/acpi_cppc/nominal_perf",
	"cpu0/acpi_cppc/nominal_freq",
	"cpu0/acpi_cppc/highest_perf",
	"intel_pstate/no_turbo",
	DISK "queue/iostats",
	DISK "stat",
	DISK "diskseq",
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	check(unshare(CLONE_NEWNS) == 0 &&
	      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	      mount("none", "/sys", "tmpfs", 0, "mode=755") == 0 &&
	      sched_setaffinity(0, sizeof(first), &first) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		check(mkdir(directories[i], 0755) == 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		char path[64], target[32];

		snprintf(path, sizeof(path), CPU "cpu%u", cpu);
		check(mkdir(path, 0755) == 0 || errno == EEXIST);
		strcat(path, "/cpufreq");
		snprintf(target, sizeof(target), "../cpufreq/policy%u", cpu);
		check(symlink(target, path) == 0);
	}
	return 0;
}

/* A part that is not there makes a file that is not there. */
static void write_files(const char *text, size_t size)
{
	const char *end = text + size;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *border = text ? memchr(text, '|', end - text) : NULL;
		char path[128];
		FILE *file;

		snprintf(path, sizeof(path), CPU "%s", files[i]);
		unlink(path);
		if (!text)
			continue;
		file = fopen(path, "we");
		check(file);
		fwrite(text, 1, (border ? border : end) - text, file);
		fclose(file);
		text = border ? border + 1 : NULL;
	}
}

static int pass(void *context, const struct throttle *found)
{
	check(found->who[0]);
	return 0;
}

static void look_at(const struct topology_domain *info)
{
	const struct throttle_domain domain = {
		.first_cpu = info->first_cpu,
		.lowest_khz = info->opp_khz[0],
		.highest_khz = info->opp_khz[info->n_opps - 1],
		.asked_max_khz = info->opp_khz[0],
	};

	check(info->n_opps >= 1 && info->n_opps <= DOMAIN_OPPS_MAX);
	check(info->capacity >= 1 && info->capacity <= TOPOLOGY_CAPACITY_MAX);
	for (uint32_t i = 1; i < info->n_opps; i++)
		check(info->opp_khz[i - 1] < info->opp_khz[i]);
	throttle_find("/sys", &domain, pass, NULL);
	reference_base_khz(info->first_cpu);
}

/* What it saved is a file that a restore reads. */
static void drive(const struct topology_domain *info, enum policy_backend wanted)
{
	const struct actuator_request request = {
		.target_khz = info->opp_khz[info->n_opps - 1],
		.max_khz = UINT32_MAX,
		.effective_cap_khz = UINT32_MAX,
	};
	char passed_over[BACKEND_WHY_SIZE];
	const struct backend *backend;
	struct actuator_domain domain;
	struct saved_values *saved, *again;

	check(saved_open(RUN, &saved) == 0);
	if (actuator_domain_init(&domain, info, saved) == 0) {
		if (backend_acquire(&domain, wanted, &backend, passed_over) < 0) {
			check(domain.why[0]);
		} else {
			check(saved_open(RUN, &again) == 0);
			saved_free(again);
			backend->apply(&domain, &request);
			backend->verify(&domain);
			actuator_domain_release(&domain, backend, NULL, NULL);
		}
		actuator_domain_deinit(&domain);
	}
	saved_free(saved);
	unlink(RUN "/" SAVED_FILE);
}

static uint32_t ask_nobody(void *userdata, uint32_t cpu)
{
	return 0;
}

static void measure(void)
{
	static const struct counter_reader *const readers[] = { &counter_reader_cppc, NULL };
	struct frequency *frequency = frequency_new(2, 0, readers, ask_nobody, NULL);
	uint32_t khz;

	for (uint64_t ns = 1; frequency && ns < 4; ns++)
		frequency_measure(frequency, 0, ns * FREQUENCY_LEAST_NS, 0, 0, &khz);
	frequency_free(frequency);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ struct topology *topology = NULL;
	struct disk_totals totals;

	write_files((const char *)data, size);
	if (cpufreq_discover(&topology, NULL, NULL) == 0) {
		for (uint32_t i = 0; i < topology->n_domains; i++) {
			look_at(&topology->domains[i]);
			drive(&topology->domains[i], POLICY_BACKEND_AUTO);
			drive(&topology->domains[i], POLICY_BACKEND_SETSPEED);
			drive(&topology->domains[i], POLICY_BACKEND_LIMITS);
		}
	}
	measure();
	reference_turbo_is_off();
	disk_read_totals("sda", &totals);
	disk_is_there("sda", 1);
	return 0;
}
