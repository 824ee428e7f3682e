// SPDX-License-Identifier: GPL-2.0-only
#include "test-varlink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diag/interrupts.h"
#include "shared/cleanup.h"

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

static void test_find(void **state)
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
		int r;

		fputs(cases[i].table, table);
		rewind(table);
		r = interrupts_find(table, cases[i].path, cases[i].cpu, &interrupt);
		if (!cases[i].name) {
			assert_int_equal(r, -ENOENT);
			assert_int_equal(interrupt.number, 7777);
			continue;
		}
		assert_int_equal(r, 0);
		assert_string_equal(interrupt.name, cases[i].name);
		assert_int_equal(interrupt.number, cases[i].number);
	}
}

/* A name that is longer than there is room for is cut. */
static void test_long_name(void **state)
{
	_cleanup_fclose_ FILE *table = tmpfile();
	struct interrupt interrupt;

	fprintf(table, "  CPU0\n 9: 1 chip 1-edge  virtio1-%0200d\n", 0);
	rewind(table);
	assert_int_equal(interrupts_find(table, virtio_path, 0, &interrupt), 0);
	assert_int_equal(strlen(interrupt.name), sizeof(interrupt.name) - 1);
}

/* Whatever this machine has, a disk that it does not have has no interrupt. */
static void test_of_disk(void **state)
{
	struct interrupt interrupt;

	assert_int_equal(interrupts_of_disk("nosuchdisk7", 0, &interrupt), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_of_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
