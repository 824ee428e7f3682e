// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <stdlib.h>
#include <string.h>

#include "diag/advice.h"
#include "shared/cleanup.h"

#define NS_PER_MS  1000000ULL
#define CAPACITY_Q (1024U << 20)

/* Two domains of two CPUs: 0 and 1, 2 and 3. CPU 4 has none. */
static struct topology *two_domains(void)
{
	struct topology *topology = calloc(1,
					   sizeof(*topology) + 2 * sizeof(struct topology_domain));

	topology->n_cpus = 5;
	topology->n_domains = 2;
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(topology->domains[i].name, DOMAIN_NAME_SIZE, "policy%u", 2 * i);
		topology->domains[i].first_cpu = 2 * i;
		topology->domains[i].n_opps = 1;
		topology->domains[i].opp_khz[0] = 1000000;
		topology->domains[i].capacity = 1024;
		topology->cpu_domain[2 * i] = i;
		topology->cpu_domain[2 * i + 1] = i;
	}
	topology->cpu_domain[4] = TOPOLOGY_NO_DOMAIN;
	return topology;
}

struct machine {
	struct topology *topology;
	struct engine *engine;
	uint64_t now_ns;
	uint64_t ios;
};

static void begin(struct machine *machine)
{
	struct policy policy;

	policy_init(&policy);
	*machine = (struct machine){ .topology = two_domains(), .now_ns = 1000 * NS_PER_MS };
	machine->engine = engine_new(machine->topology, &policy);
}

static void end(struct machine *machine)
{
	engine_free(machine->engine);
	free(machine->topology);
}

/* A task on a CPU that did some of the I/Os on device 3. */
static void apply_task(struct machine *machine, uint32_t pid, uint32_t cpu, uint64_t ios)
{
	struct input input = {
		.now_ns = machine->now_ns,
		.type = INPUT_TASK,
		.task = {
			.pid = pid,
			.handle = pid,
			.cpu = cpu,
			.io_starts = ios,
			.last_io_ns = machine->now_ns,
			.level_q = CAPACITY_Q,
			.max_depth = 1,
			.n_ios = 1,
			.ios = { { .device = 3, .ios = ios } },
		},
	};

	engine_apply(machine->engine, &input);
}

static void apply_device(struct machine *machine, uint32_t completion_cpu)
{
	struct input input = {
		.now_ns = machine->now_ns,
		.type = INPUT_DEVICE,
		.device = {
			.device = 3,
			.completions = machine->ios,
			.completion_cpu = completion_cpu,
		},
	};

	engine_apply(machine->engine, &input);
}

/* Long enough for a window of I/O to be over, and for completions to be steady. */
static void run(struct machine *machine, const uint32_t *cpus, uint32_t n, uint32_t completion_cpu)
{
	for (uint32_t step = 0; step < 8; step++) {
		machine->now_ns += 5 * NS_PER_MS;
		machine->ios += 100;
		for (uint32_t i = 0; i < n; i++)
			apply_task(machine, 100 + i, cpus[i], machine->ios * (i + 1));
		apply_device(machine, completion_cpu);
		engine_advance(machine->engine, machine->now_ns);
	}
}

static void test_find(void **state)
{
	static const struct {
		uint32_t cpus[3];
		uint32_t n;
		uint32_t completion_cpu;
		bool found;
		uint32_t completion_domain, task_domain;
	} cases[] = {
		{ { 3 }, 1, 1, true, 0, 1 },
		{ { 0 }, 1, 2, true, 1, 0 },
		{ { 2, 3, 3 }, 3, 0, true, 0, 1 },
		/* On its own CPU, or beside it. */
		{ { 1 }, 1, 1, false },
		{ { 0 }, 1, 1, false },
		/* One of them is served where it runs. */
		{ { 3, 0 }, 2, 1, false },
		/* A CPU without cpufreq, or that is none: nothing to move to, or from. */
		{ { 4 }, 1, 1, false },
		{ { 3 }, 1, 4, false },
		{ { 3 }, 1, 4000, false },
		{ { 3, 4 }, 2, 1, true, 0, 1 },
		/* Nobody uses it. */
		{ { 0 }, 0, 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct misplacement found = { .n_tasks = 77 };
		struct machine machine;
		bool r;

		begin(&machine);
		run(&machine, cases[i].cpus, cases[i].n, cases[i].completion_cpu);
		r = advice_find_misplacement(machine.engine, machine.topology, 3, &found);
		assert_int_equal(r, cases[i].found);
		if (r) {
			assert_int_equal(found.cpu, cases[i].completion_cpu);
			assert_int_equal(found.completion_domain, cases[i].completion_domain);
			assert_int_equal(found.task_domain, cases[i].task_domain);
		} else {
			assert_int_equal(found.n_tasks, 77);
		}
		/* Another device. */
		assert_false(advice_find_misplacement(machine.engine, machine.topology, 4, &found));
		end(&machine);
	}
}

/* Where completions land now here, now there, nothing is said. */
static void test_not_steady(void **state)
{
	static const uint32_t cpus[] = { 3 };
	struct misplacement found;
	struct machine machine;

	begin(&machine);
	run(&machine, cpus, 1, 1);
	machine.ios++;
	apply_device(&machine, 3);
	machine.ios++;
	apply_device(&machine, 1);
	assert_false(advice_find_misplacement(machine.engine, machine.topology, 3, &found));
	run(&machine, cpus, 1, 1);
	assert_true(advice_find_misplacement(machine.engine, machine.topology, 3, &found));
	end(&machine);
}

static void test_sentences(void **state)
{
	static const struct advice_place policy0 = { "policy0", "0-3" };
	static const struct advice_place policy4 = { "policy4", "4-5" };
	static const struct interrupt queue = { .number = 38, .name = "nvme0q3" };
	char *sentence;

	sentence = advice_on_misplacement("nvme0n1", &queue, &policy0, &policy4, 1);
	assert_string_equal(sentence,
			    "interrupt of nvme0q3 lands in policy0, the task runs in policy4: "
			    "write 4-5 to /proc/irq/38/smp_affinity_list or, if the kernel refuses "
			    "that, keep the task on CPUs 0-3 (taskset -c)");
	free(sentence);
	sentence = advice_on_misplacement("nvme0n1", &queue, &policy0, &policy4, 2);
	assert_non_null(strstr(sentence, ", the busiest of its tasks runs in policy4: "));
	assert_non_null(strstr(sentence, "keep the tasks on CPUs 0-3"));
	free(sentence);
	sentence = advice_on_misplacement("sda", NULL, &policy0, &policy4, 1);
	assert_string_equal(sentence,
			    "interrupt of sda lands in policy0, the task runs in policy4: keep the "
			    "task on CPUs 0-3 (taskset -c), since /proc/interrupts does not name "
			    "the one to move");
	free(sentence);
}

static void test_clamp_classes(void **state)
{
	char *sentence = advice_on_clamp_classes(12);

	assert_string_equal(
		sentence, "12 times a task got no cap and no floor: its rules together would have "
			  "been one combination more than the 64 that there can be; let fewer "
			  "rules be for the same tasks");
	free(sentence);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_not_steady),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_clamp_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
