// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/keys.h"
#include "diag/diag.h"
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

TEST(test_find)
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
TEST(test_not_steady)
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

/* Four CPUs of which one is offline; each queue has its own, and q0 is for administration. */
static const char nvme[] =
	"            CPU0       CPU1       CPU3       \n"
	"   0:         44          0          0  IR-IO-APIC    2-edge      timer\n"
	"   8:          0          0          0  IR-IO-APIC    8-edge      rtc0\n"
	" 120:          0          0          0  DMAR-MSI    0-edge      dmar0\n"
	" 122:          0         31          0  IR-PCI-MSI-0000:01:00.0    0-edge      nvme0q0\n"
	" 123:    1504322          0          0  IR-PCI-MSI-0000:01:00.0    1-edge      nvme0q1\n"
	" 124:          0    1604411          0  IR-PCI-MSI-0000:01:00.0    2-edge      nvme0q2\n"
	" 125:          0          0          0  IR-PCI-MSI-0000:01:00.0    3-edge      nvme0q3\n"
	" 126:          0          0     120344  IR-PCI-MSI-0000:01:00.0    4-edge      nvme0q4\n"
	" 127:          0    9900000     700000  IR-PCI-MSI-0000:02:00.0    1-edge      nvme10q1\n"
	" 128:    8800000          0          0  IR-PCI-MSI-0000:03:00.0    0-edge      eth0\n"
	" NMI:         12         13         14   Non-maskable interrupts\n"
	" LOC:   49203344   48203344   47203344   Local timer interrupts\n"
	" ERR:          0\n";
static const char nvme_path[] =
	"/sys/devices/pci0000:00/0000:00:1d.0/0000:01:00.0/nvme/nvme0/nvme0";

/* As recorded on a guest of Firecracker, Linux 6.18. */
static const char virtio[] =
	"           CPU0       CPU1       \n"
	" 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
	" 26:          0         15  IO-APIC   4-edge      ttyS0\n"
	" 31:          0       3397 PCI-MSIX-0000:00:01.0   3-edge      virtio0-stats\n"
	" 32:       1564          0 PCI-MSIX-0000:00:01.0   4-edge      virtio0-reporting_vq\n"
	" 35:          0          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config\n"
	" 36:          0    7008996 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
	" 37:          0          0 PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n"
	" 42:          0   90020383 PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx\n"
	"LOC:    5832872    5672319   Local timer interrupts\n";
static const char virtio_path[] = "/sys/devices/pci0000:00/0000:00:02.0/virtio1/vda";

/* An older PC: shared lines, and no addresses of chips. */
static const char ahci[] =
	"           CPU0       CPU1       \n"
	"  1:          9          0   IO-APIC    1-edge      i8042\n"
	" 16:        305          0   IO-APIC   16-fasteoi   ehci_hcd:usb1, ahci[0000:00:1f.5]\n"
	" 27:     102311      20411   PCI-MSI 512000-edge      ahci[0000:00:1f.2]\n"
	" 28:       2311    7720411   PCI-MSI 409600-edge      eno1\n";
static const char ahci_path[] =
	"/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/sda";

/* An SD card of a single-board computer, with names as its device tree has them. */
static const char mmc[] = "           CPU0       CPU1       \n"
			  " 31:     812344          0     GICv3  97 Level     mmc0, fe320000.dma\n"
			  " 32:         11          0     GICv3  98 Level     mmc1\n"
			  " 33:   99999999          0     GICv3  30 Level     arch_timer\n";

TEST(test_find_interrupt)
{
	static const struct {
		const char *table;
		const char *path;
		uint32_t cpu;
		const char *name; /* NULL: none */
		uint32_t number;
	} cases[] = {
		{ nvme, nvme_path, 0, "nvme0q1", 123 },
		/* nvme10 is another controller, q0 counted less. */
		{ nvme, nvme_path, 1, "nvme0q2", 124 },
		/* Not the third column but the one of CPU 3. */
		{ nvme, nvme_path, 3, "nvme0q4", 126 },
		{ nvme, nvme_path, 2, NULL, 0 },
		{ nvme, "/sys/devices/virtual/nvme-subsystem/nvme-subsys7/nvme10", 3, "nvme10q1",
		  127 },
		{ nvme, "/sys/devices/pci0000:00/0000:00:1d.0/nvme1", 0, NULL, 0 },
		{ virtio, virtio_path, 1, "virtio1-req.0", 36 },
		{ virtio, virtio_path, 0, NULL, 0 },
		{ ahci, ahci_path, 0, "ahci[0000:00:1f.2]", 27 },
		{ ahci, ahci_path, 1, "ahci[0000:00:1f.2]", 27 },
		/* One of two on a line. */
		{ ahci, "/0000:00:1f.5/sdb", 0, "ahci[0000:00:1f.5]", 16 },
		{ mmc, "/sys/devices/platform/fe320000.mmc/mmc_host/mmc0/mmc0:aaaa/mmcblk0", 0,
		  "mmc0", 31 },
		/* zram has neither. */
		{ nvme, "/zram0", 0, NULL, 0 },
		{ ahci, "", 0, NULL, 0 },
		{ "", virtio_path, 0, NULL, 0 },
		{ "\n", virtio_path, 0, NULL, 0 },
		{ "           CPU0       CPU1\n", virtio_path, 0, NULL, 0 },
		/* Cut lines. */
		{ "  CPU0 CPU1\n 36: 0", virtio_path, 1, NULL, 0 },
		{ "  CPU0 CPU1\n 36: 0 7 PCI-MSIX", virtio_path, 1, NULL, 0 },
		{ "  CPU0 CPU1\n 36: 0 7 PCI-MSIX 1-edge virtio1-req.0", virtio_path, 1,
		  "virtio1-req.0", 36 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_fclose_ FILE *table = tmpfile();
		struct interrupt interrupt = { .number = 7777 };
		bool found;

		fputs(cases[i].table, table);
		rewind(table);
		found = interrupts_find(table, cases[i].path, cases[i].cpu, &interrupt);
		assert_int_equal(found, cases[i].name != NULL);
		if (!found) {
			assert_int_equal(interrupt.number, 7777);
			continue;
		}
		assert_string_equal(interrupt.name, cases[i].name);
		assert_int_equal(interrupt.number, cases[i].number);
	}
}

/* A name that is longer than there is room for is cut. */
TEST(test_long_interrupt_name)
{
	_cleanup_fclose_ FILE *table = tmpfile();
	struct interrupt interrupt;

	fprintf(table, "  CPU0\n 9: 1 chip 1-edge  virtio1-%0200d\n", 0);
	rewind(table);
	assert_true(interrupts_find(table, virtio_path, 0, &interrupt));
	assert_int_equal(strlen(interrupt.name), sizeof(interrupt.name) - 1);
}

/* Whatever this machine has, a disk that it does not have has no interrupt. */
TEST(test_interrupt_of_disk)
{
	struct interrupt interrupt;

	assert_false(interrupts_of_disk("nosuchdisk7", 0, &interrupt));
}
