// SPDX-License-Identifier: GPL-2.0-only
/* Battery or mains, on made-up machines. */
#include <sys/mount.h>

#include "daemon/modules/policy.h"
#include "fake-cpufreq.h"

static int set_up(void **state)
{
	return fake_reset(state) + mount("fake", "/sys/class", "tmpfs", 0, "mode=755");
}

static int tear_down(void **state)
{
	return umount2("/sys/class", MNT_DETACH);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void put(const char *supply, const char *file, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "../../../class/power_supply/%s/%s", supply, file);
	fake_write(path, "%s", value);
}

struct supply {
	const char *name, *type, *file, *value;
};

/* clang-format off */
#define LINE(name, type, online) { name, type, "online", online }
#define BATTERY(name, status) { name, "Battery", "status", status }
#define MORE(name, file, value) { name, NULL, file, value }
/* clang-format on */

#define USB_PD "ucsi-source-psy-USBC000:001"

FIXTURE_TEST(test_is_battery)
{
	static const struct {
		bool is_battery;
		struct supply supplies[5];
	} rows[] = {
		{ false, { { 0 } } },
		{ false, { LINE("AC", "Mains", "1"), BATTERY("BAT0", "Charging") } },
		{ true, { LINE("AC", "Mains", "0"), BATTERY("BAT0", "Discharging") } },
		/* A weak supply, which the battery helps. */
		{ false, { LINE("AC", "Mains", "1"), BATTERY("BAT0", "Discharging") } },
		{ true,
		  { LINE("AC", "Mains", "0"), BATTERY("BAT0", "Not charging"),
		    BATTERY("BAT1", "Discharging") } },
		/* A line that is out decides nothing without a battery that discharges. */
		{ false, { LINE("AC", "Mains", "0") } },
		{ false, { LINE("AC", "Mains", "0"), BATTERY("BAT0", "Full") } },
		/* 2: the voltage was negotiated. */
		{ false,
		  { LINE("AC", "Mains", "0"), LINE(USB_PD, "USB", "2"),
		    BATTERY("BAT0", "Discharging") } },
		{ true,
		  { LINE("AC", "Mains", "0"), LINE(USB_PD, "USB", "0"),
		    BATTERY("BAT0", "Discharging") } },
		{ false, { LINE("line", "USB_C", "1"), BATTERY("BAT0", "Discharging") } },
		{ false, { LINE("line", "USB_PD", "1"), BATTERY("BAT0", "Discharging") } },
		{ false, { LINE("line", "Wireless", "1"), BATTERY("BAT0", "Discharging") } },
		{ false, { LINE("line", "UPS", "1"), BATTERY("BAT0", "Discharging") } },
		{ false, { LINE("line", "BrickID", "1"), BATTERY("BAT0", "Discharging") } },
		/* A telephone that is charged from the machine's port is no supply of it. */
		{ true,
		  { LINE("usbc", "USB", "1"),
		    MORE("usbc", "device/typec/port0/power_role", "[source] sink"),
		    BATTERY("BAT0", "Discharging") } },
		{ false,
		  { LINE("usbc", "USB", "1"),
		    MORE("usbc", "device/typec/port0/power_role", "[source] sink"),
		    MORE("usbc", "device/typec/port1/power_role", "source [sink]"),
		    BATTERY("BAT0", "Discharging") } },
		/* What other devices have is no supply of the machine either. */
		{ true,
		  { LINE("wacom_ac_1", "Mains", "1"), MORE("wacom_ac_1", "scope", "Device"),
		    LINE("AC", "Mains", "0"), BATTERY("BAT0", "Discharging") } },
		{ false,
		  { BATTERY("hidpp_battery_0", "Discharging"),
		    MORE("hidpp_battery_0", "scope", "Device"), LINE("AC", "Mains", "0") } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (const struct supply *supply = rows[i].supplies; supply->name; supply++) {
			if (supply->type)
				put(supply->name, "type", supply->type);
			put(supply->name, supply->file, supply->value);
		}
		if (power_source_is_battery() != rows[i].is_battery)
			fail_msg("row %zu", i);
		assert_int_equal(tear_down(state) + set_up(state), 0);
	}
}
