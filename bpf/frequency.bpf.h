/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What happens to frequencies: their changes, changes of limits, and the end of a suspend. */

#include "limits.bpf.h"
#include "maps.bpf.h"
#include "wakegov/decay.h"

/*
 * Runs on the CPU that changes the frequency, which may be another than the CPU whose frequency
 * changes. So it only replaces the level: the time since that CPU's last event, a tick at most, is
 * accounted at the new level.
 */
SEC("tp_btf/cpu_frequency")
int BPF_PROG(on_cpu_frequency, unsigned int freq_khz, unsigned int cpu_id)
{
	struct wakegov_cpu *cpu = cpu_at(cpu_id);

	count_event(WAKEGOV_CPU_FREQUENCY);
	if (!cpu || !cpu->max_khz)
		return 0;
	cpu->level_before_q = cpu->load.level_q;
	cpu->level_since_ns = bpf_ktime_get_ns();
	cpu->freq_khz = freq_khz;
	cpu->load.level_q = decay_level_q(cpu->load.capacity, freq_khz, cpu->max_khz);
	return 0;
}

static inline bool are_own(const struct wakegov_limits *limits, const struct wakegov_limits *own)
{
	return own->known && limits->governor == own->governor && limits->min_khz == own->min_khz &&
	       limits->max_khz == own->max_khz &&
	       limits->in_force_min_khz == own->in_force_min_khz &&
	       limits->in_force_max_khz == own->in_force_max_khz &&
	       limits->hardware_max_khz == own->hardware_max_khz;
}

/* The daemon's own write is no news, unless limits of others, turbo or the governor changed. */
SEC("tp_btf/cpu_frequency_limits")
int BPF_PROG(on_cpu_frequency_limits, struct cpufreq_policy *policy)
{
	struct wakegov_cpu *cpu = cpu_at(policy->cpu);
	struct wakegov_limits limits = { 0 };

	count_event(WAKEGOV_CPU_LIMITS);
	read_policy(policy, &limits);
	if (cpu && are_own(&limits, &cpu->own_limits))
		return 0;
	keep_news(cpu, WAKEGOV_NEWS_LIMITS);
	emit(WAKEGOV_RECORD_NEWS, 0, 0);
	return 0;
}

#define RESUMED "dpm_resume"

/*
 * Each phase of a suspend begins and ends with this event. At the end of this phase cpufreq
 * restarts its governors. The processes, the daemon included, resume a little later.
 */
SEC("tp_btf/suspend_resume")
int BPF_PROG(on_suspend_resume, const char *action, int value, bool begins)
{
	char phase[sizeof(RESUMED)] = "";

	count_event(WAKEGOV_SUSPEND_RESUME);
	if (begins)
		return 0;
	bpf_probe_read_kernel_str(phase, sizeof(phase), action);
	if (bpf_strncmp(phase, sizeof(phase), RESUMED))
		return 0;
	keep_news(NULL, WAKEGOV_NEWS_RESUME);
	emit(WAKEGOV_RECORD_NEWS, 0, 0);
	return 0;
}
