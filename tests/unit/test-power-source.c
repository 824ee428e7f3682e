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

static void put_line(const char *supply, const char *type, const char *online)
{
	put(supply, "type", type);
	put(supply, "online", online);
}

static void put_battery(const char *supply, const char *status)
{
	put(supply, "type", "Battery");
	put(supply, "status", status);
}

static void assert_mains(void **state)
{
	assert_false(power_source_is_battery());
	assert_int_equal(tear_down(state) + set_up(state), 0);
}

static void assert_battery(void **state)
{
	assert_true(power_source_is_battery());
	assert_int_equal(tear_down(state) + set_up(state), 0);
}

FIXTURE_TEST(test_no_supply)
{
	assert_mains(state);
}

FIXTURE_TEST(test_laptop)
{
	put_line("AC", "Mains", "1");
	put_battery("BAT0", "Charging");
	assert_mains(state);
	put_line("AC", "Mains", "0");
	put_battery("BAT0", "Discharging");
	assert_battery(state);
	/* A weak supply, which the battery helps. */
	put_line("AC", "Mains", "1");
	put_battery("BAT0", "Discharging");
	assert_mains(state);
}

FIXTURE_TEST(test_second_battery)
{
	put_line("AC", "Mains", "0");
	put_battery("BAT0", "Not charging");
	put_battery("BAT1", "Discharging");
	assert_battery(state);
}

/* A line that is out decides nothing without a battery that discharges. */
FIXTURE_TEST(test_line_alone)
{
	put_line("AC", "Mains", "0");
	assert_mains(state);
	put_line("AC", "Mains", "0");
	put_battery("BAT0", "Full");
	assert_mains(state);
}

/* 2: the voltage was negotiated. */
FIXTURE_TEST(test_usb_pd)
{
	put_line("AC", "Mains", "0");
	put_line("ucsi-source-psy-USBC000:001", "USB", "2");
	put_battery("BAT0", "Discharging");
	assert_mains(state);
	put_line("AC", "Mains", "0");
	put_line("ucsi-source-psy-USBC000:001", "USB", "0");
	put_battery("BAT0", "Discharging");
	assert_battery(state);
}

FIXTURE_TEST(test_other_types)
{
	static const char *const types[] = { "USB_C", "USB_PD", "Wireless", "UPS", "BrickID" };

	for (int i = 0; i < 5; i++) {
		put_line("line", types[i], "1");
		put_battery("BAT0", "Discharging");
		assert_mains(state);
	}
}

/* A telephone that is charged from the machine's port is no supply of the machine. */
FIXTURE_TEST(test_usb_source)
{
	put_line("usbc", "USB", "1");
	put("usbc", "device/typec/port0/power_role", "[source] sink");
	put_battery("BAT0", "Discharging");
	assert_battery(state);
	put_line("usbc", "USB", "1");
	put("usbc", "device/typec/port0/power_role", "[source] sink");
	put("usbc", "device/typec/port1/power_role", "source [sink]");
	put_battery("BAT0", "Discharging");
	assert_mains(state);
}

FIXTURE_TEST(test_other_devices)
{
	put_line("wacom_ac_1", "Mains", "1");
	put("wacom_ac_1", "scope", "Device");
	put_line("AC", "Mains", "0");
	put_battery("BAT0", "Discharging");
	assert_battery(state);
	put_battery("hidpp_battery_0", "Discharging");
	put("hidpp_battery_0", "scope", "Device");
	put_line("AC", "Mains", "0");
	assert_mains(state);
}
