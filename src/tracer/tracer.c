// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/log.h"
#include "tracer/programs.h"
#include "wakegov/abi.h"
#include "wakegov/decay.h"

#define NS_PER_S    1000000000ULL
#define MOVE_GAP_NS 1000000ULL

struct tracer {
	const struct topology *topology;
	struct wakegov *skel;
	struct bpf_link *links[WAKEGOV_PROGRAMS];
	enum tracer_program_state states[WAKEGOV_PROGRAMS];
	int errors[WAKEGOV_PROGRAMS];
	struct ring_buffer *ring;
	struct wakegov_cpu *cpus;   /* mapped; n_cpus */
	struct wakegov_slot *slots; /* mapped; WAKEGOV_SLOTS */
	tracer_handler_t handler;   /* while tracer_consume() runs */
	void *userdata;
};

static size_t map_bytes(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static size_t cpus_bytes(const struct tracer *tracer)
{
	return map_bytes(tracer->topology->n_cpus * sizeof(struct wakegov_cpu));
}

static size_t slots_bytes(void)
{
	return map_bytes(WAKEGOV_SLOTS * sizeof(struct wakegov_slot));
}

static int map_values(const struct bpf_map *map, size_t bytes, void **ret)
{
	void *values = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (values == MAP_FAILED)
		return -errno;
	*ret = values;
	return 0;
}

static int take_record(void *context, void *data, size_t size)
{
	struct tracer *tracer = context;
	const struct wakegov_record *record = data;
	struct tracer_event event = { .cpu = record->cpu, .handle = record->slot };

	switch (record->type) {
	case WAKEGOV_RECORD_CPU:
		event.type = TRACER_CPU;
		break;
	case WAKEGOV_RECORD_TASK:
		event.type = TRACER_TASK;
		break;
	case WAKEGOV_RECORD_LIMITS:
		event.type = TRACER_LIMITS;
		break;
	default:
		return 0;
	}
	tracer->handler(tracer->userdata, &event);
	return 0;
}

void tracer_set_policy(struct tracer *tracer, const struct policy_io_boost *policy)
{
	volatile struct wakegov_settings *settings = &tracer->skel->bss->settings;
	uint64_t ios = (policy->min_rate_per_s * policy->window_ns + NS_PER_S - 1) / NS_PER_S;

	settings->window_ns = policy->window_ns;
	settings->move_gap_ns = MOVE_GAP_NS;
	settings->own_tgid = getpid();
	settings->window_ios = policy->enabled ? ios : 0;
}

void tracer_set_frequency(struct tracer *tracer, uint32_t cpu, uint32_t khz)
{
	struct wakegov_cpu *shared = &tracer->cpus[cpu];

	shared->freq_khz = khz;
	shared->level_q = decay_level_q(shared->capacity, khz, shared->max_khz);
}

/* Until the first frequency is known a CPU counts as running at its highest. */
static void describe_cpus(struct tracer *tracer)
{
	const struct topology *topology = tracer->topology;

	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++) {
		struct wakegov_cpu *shared = &tracer->cpus[cpu];
		uint32_t domain = topology->cpu_domain[cpu];

		shared->domain = WAKEGOV_NO_DOMAIN;
		shared->capacity = TOPOLOGY_CAPACITY_MAX;
		if (domain != TOPOLOGY_NO_DOMAIN) {
			shared->domain = domain;
			shared->capacity = topology->domains[domain].capacity;
			shared->max_khz = topology_domain_max_khz(&topology->domains[domain]);
		}
		shared->level_q = DECAY_Q(shared->capacity);
	}
}

/* Attaches what was loaded. A failure of one program leaves the others working. */
static void attach(struct tracer *tracer)
{
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++) {
		if (tracer->states[i] != TRACER_ATTACHED)
			continue;
		tracer->links[i] = bpf_program__attach(program_of(tracer->skel, i));
		if (tracer->links[i])
			continue;
		tracer->states[i] = TRACER_FAILED;
		tracer->errors[i] = -errno;
	}
}

static int count_needed(const struct tracer *tracer)
{
	int count = 0;

	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		count += program_info(i)->needed && tracer->links[i];
	return count;
}

static const char *explain_load(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON; a kernel "
		       "locked down for confidentiality allows no tracing at all";
	case -ENOMEM:
		return "no memory for BPF: raise the memory limit (systemd: LimitMEMLOCK=, MemoryMax=)";
	default:
		return "the kernel refused wakegov's BPF programs: run wakegovd --debug to see why, and "
		       "report it with the kernel's version";
	}
}

static int load(struct tracer *tracer, const char **ret_why)
{
	int r;

	tracer->skel = wakegov__open();
	if (!tracer->skel) {
		*ret_why = "the BPF object is damaged: install wakegov again";
		return -errno;
	}
	r = programs_probe(tracer->skel, tracer->states);
	if (r < 0) {
		*ret_why =
			"this kernel has no type information (/sys/kernel/btf/vmlinux): it needs "
			"CONFIG_DEBUG_INFO_BTF=y, which distribution kernels have";
		return r;
	}
	bpf_map__set_max_entries(tracer->skel->maps.cpus, tracer->topology->n_cpus);
	r = wakegov__load(tracer->skel);
	if (r < 0)
		*ret_why = explain_load(r);
	return r;
}

static int open_channels(struct tracer *tracer, const char **ret_why)
{
	int r;

	*ret_why = "the BPF maps cannot be mapped";
	r = map_values(tracer->skel->maps.cpus, cpus_bytes(tracer), (void **)&tracer->cpus);
	if (r < 0)
		return r;
	r = map_values(tracer->skel->maps.slots, slots_bytes(), (void **)&tracer->slots);
	if (r < 0)
		return r;
	tracer->ring = ring_buffer__new(bpf_map__fd(tracer->skel->maps.records), take_record,
					tracer, NULL);
	return tracer->ring ? 0 : -errno;
}

static int set_up(struct tracer *tracer, const struct policy_io_boost *policy, const char **ret_why)
{
	int r = load(tracer, ret_why);

	if (r < 0)
		return r;
	r = open_channels(tracer, ret_why);
	if (r < 0)
		return r;
	describe_cpus(tracer);
	tracer_set_policy(tracer, policy);
	attach(tracer);
	if (!count_needed(tracer)) {
		*ret_why = "neither switches nor wake-ups can be traced on this kernel: there is "
			   "nothing to decide from";
		return -EOPNOTSUPP;
	}
	return 0;
}

__attribute__((format(printf, 2, 0))) static int print_libbpf(enum libbpf_print_level level,
							      const char *format, va_list args)
{
	char line[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	log_debug("libbpf: %s", line);
	return 0;
}

int tracer_new(const struct topology *topology, const struct policy_io_boost *policy,
	       struct tracer **ret, const char **ret_why)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	int r;

	*ret_why = "out of memory";
	if (!tracer)
		return -ENOMEM;
	libbpf_set_print(print_libbpf);
	tracer->topology = topology;
	r = set_up(tracer, policy, ret_why);
	if (r < 0) {
		tracer_free(tracer);
		return r;
	}
	*ret = tracer;
	return 0;
}

struct tracer *tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return NULL;
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		bpf_link__destroy(tracer->links[i]);
	ring_buffer__free(tracer->ring);
	if (tracer->cpus)
		munmap(tracer->cpus, cpus_bytes(tracer));
	if (tracer->slots)
		munmap(tracer->slots, slots_bytes());
	wakegov__destroy(tracer->skel);
	free(tracer);
	return NULL;
}

int tracer_fd(const struct tracer *tracer)
{
	return ring_buffer__epoll_fd(tracer->ring);
}

int tracer_consume(struct tracer *tracer, tracer_handler_t handler, void *userdata)
{
	tracer->handler = handler;
	tracer->userdata = userdata;
	return ring_buffer__consume(tracer->ring);
}

/* The band is in place before the kernel side is told to look at it. */
void tracer_arm(struct tracer *tracer, uint32_t cpu, const struct engine_band *band)
{
	struct wakegov_cpu *shared = &tracer->cpus[cpu];
	uint32_t armed = 0;

	if (band->watch)
		armed |= WAKEGOV_ARM_BAND;
	if (band->watch_idle)
		armed |= WAKEGOV_ARM_IDLE;
	shared->band_low_q = band->low_q;
	shared->band_high_q = band->high_q;
	__atomic_store_n(&shared->armed, armed, __ATOMIC_RELEASE);
}

/*
 * The fields are read while the kernel side writes them. A torn set of them is a sample of a
 * moment that never was, off by one event's time; the next one is right again.
 */
void tracer_read_cpu(const struct tracer *tracer, uint32_t cpu, uint64_t now_ns, struct input *ret)
{
	const volatile struct wakegov_cpu *shared = &tracer->cpus[cpu];
	uint32_t running_pid = shared->running_pid;
	uint32_t level_q = running_pid ? shared->level_q : 0;
	uint64_t updated_ns = shared->updated_ns;
	uint32_t util_q = shared->util_q;

	if (now_ns > updated_ns)
		util_q = decay_toward(util_q, level_q, now_ns - updated_ns);
	*ret = (struct input){
		.now_ns = now_ns,
		.type = INPUT_CPU,
		.cpu = {
			.cpu = cpu,
			.util_q = util_q,
			.running = running_pid != 0,
			.idle_since_ns = shared->idle_since_ns,
		},
	};
}

int tracer_read_task(const struct tracer *tracer, uint32_t handle, uint64_t now_ns,
		     struct input *ret)
{
	const struct wakegov_slot *slot = &tracer->slots[handle % WAKEGOV_SLOTS];

	if (!slot->pid)
		return -ENOENT;
	*ret = (struct input){ .now_ns = now_ns };
	if (slot->exited) {
		ret->type = INPUT_TASK_END;
		ret->ended_pid = slot->pid;
		return 0;
	}
	ret->type = INPUT_TASK;
	ret->task = (struct input_task){
		.pid = slot->pid,
		.tgid = slot->tgid,
		.handle = handle,
		.cpu = slot->cpu,
		.io_waits = slot->io_waits,
		.io_starts = slot->io_starts,
		.last_io_ns = slot->last_io_ns,
	};
	memcpy(ret->task.comm, slot->comm, sizeof(ret->task.comm) - 1);
	return 0;
}

void tracer_release_task(struct tracer *tracer, uint32_t handle)
{
	__atomic_store_n(&tracer->slots[handle % WAKEGOV_SLOTS].pid, 0, __ATOMIC_RELEASE);
}

bool tracer_program(const struct tracer *tracer, uint32_t i, struct tracer_program *ret)
{
	if (i >= WAKEGOV_PROGRAMS)
		return false;
	*ret = (struct tracer_program){
		.name = program_info(i)->tracepoint,
		.purpose = program_info(i)->purpose,
		.state = tracer->states[i],
		.error = tracer->errors[i],
	};
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++)
		ret->events += tracer->cpus[cpu].events[i];
	return true;
}

/* The kernel counts, per program, the runs that it skipped because the program was running. */
static uint64_t count_missed(const struct tracer *tracer, int i)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program_of(tracer->skel, i));

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return 0;
	return info.recursion_misses;
}

void tracer_drops(const struct tracer *tracer, struct tracer_drops *ret)
{
	*ret = (struct tracer_drops){ 0 };
	for (uint32_t cpu = 0; cpu < tracer->topology->n_cpus; cpu++) {
		ret->ring += tracer->cpus[cpu].drops_ring;
		ret->slots += tracer->cpus[cpu].drops_slots;
	}
	for (int i = 0; i < WAKEGOV_PROGRAMS; i++)
		ret->missed += count_missed(tracer, i);
}
