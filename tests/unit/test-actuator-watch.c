// SPDX-License-Identifier: GPL-2.0-only
/* watch and hotplug: what wakes us, and what must not. */
#include "fake-cpufreq.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actuator/domain.h"
#include "actuator/watch.h"
#include "shared/cleanup.h"

#define POLICY0 "cpufreq/policy0/scaling_"
#define POLICY2 "cpufreq/policy2/scaling_"

static const struct topology_domain infos[] = {
	{ .name = "policy0", .first_cpu = 0 },
	{ .name = "policy2", .first_cpu = 2 },
};

static int set_up(void **state)
{
	if (fake_reset(state) < 0)
		return -1;
	fake_policy(0, 1);
	fake_policy(2, 3);
	return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, NULL)

FIXTURE_TEST(test_watch_tells_which)
{
	struct actuator_domain domains[2];
	struct actuator_watch *watch = NULL;

	assert_int_equal(actuator_watch_new(&watch), 0);
	for (int d = 0; d < 2; d++) {
		assert_int_equal(actuator_domain_init(&domains[d], &infos[d], NULL), 0);
		assert_int_equal(actuator_watch_add(watch, &domains[d]), 0);
	}
	actuator_watch_read(watch);

	fake_write(POLICY0 "setspeed", "600000");
	fake_write(POLICY2 "max_freq", "1000000");
	fake_write(POLICY2 "governor", "ondemand");
	fake_write(POLICY2 "cur_freq", "1");
	actuator_watch_read(watch);
	assert_int_equal(domains[0].touched, 1u << CONTROL_SETSPEED);
	assert_int_equal(domains[1].touched, 1u << CONTROL_MAX_FREQ | 1u << CONTROL_GOVERNOR);
	actuator_watch_read(watch);

	/* Twice the same domain, and one that is not there. */
	assert_int_equal(actuator_watch_add(watch, &domains[0]), -EEXIST);
	fake_break(POLICY0 "governor");
	actuator_watch_free(watch);
	for (int d = 0; d < 2; d++)
		actuator_domain_deinit(&domains[d]);
}

/* The machine's switch is of all domains, and a domain's of its own. */
FIXTURE_TEST(test_watch_tells_boost)
{
	struct actuator_domain domains[2];
	struct actuator_watch *watch = NULL;

	fake_write("cpufreq/boost", "0");
	fake_write("cpufreq/policy2/boost", "0");
	assert_int_equal(actuator_watch_new(&watch), 0);
	for (int d = 0; d < 2; d++) {
		assert_int_equal(actuator_domain_init(&domains[d], &infos[d], NULL), 0);
		assert_int_equal(actuator_watch_add(watch, &domains[d]), 0);
	}
	fake_write("cpufreq/policy2/boost", "1");
	actuator_watch_read(watch);
	assert_int_equal(domains[0].touched, 0);
	assert_int_equal(domains[1].touched, 1u << CONTROL_BOOST);
	domains[1].touched = 0;
	fake_write("cpufreq/boost", "1");
	actuator_watch_read(watch);
	for (int d = 0; d < 2; d++)
		assert_int_equal(domains[d].touched, 1u << CONTROL_BOOST);
	actuator_watch_free(watch);
	for (int d = 0; d < 2; d++)
		actuator_domain_deinit(&domains[d]);
}

static uint32_t read_setting(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	unsigned int value = 0;

	if (!file || fscanf(file, "%u", &value) != 1)
		return 0;
	return value;
}

/* Alternating, since inotify merges equal events. */
FIXTURE_TEST(test_watch_overflow_touches_everything)
{
	uint32_t queue = read_setting("/proc/sys/fs/inotify/max_queued_events");
	struct actuator_domain domain;
	struct actuator_watch *watch = NULL;

	assert_in_range(queue, 1, 100000);
	assert_int_equal(actuator_watch_new(&watch), 0);
	assert_int_equal(actuator_domain_init(&domain, &infos[0], NULL), 0);
	assert_int_equal(actuator_watch_add(watch, &domain), 0);
	for (uint32_t i = 0; i <= queue / 2; i++) {
		control_write_path(CONTROL_DIRECTORY "/policy0/scaling_min_freq", "400000");
		control_write_path(CONTROL_DIRECTORY "/policy0/scaling_max_freq", "1800000");
	}
	actuator_watch_read(watch);
	assert_int_equal(domain.touched, (1u << CONTROL_PREFERENCE) - 1);
	actuator_watch_free(watch);
	actuator_domain_deinit(&domain);
}

#define UEVENT(text) text, sizeof(text)

TEST(test_hotplug_parse)
{
	static const struct {
		const char *text;
		size_t size;
		bool expected;
		uint32_t cpu;
		bool online;
	} cases[] = {
		{ UEVENT("offline@/devices/system/cpu/cpu3\0ACTION=offline\0SEQNUM=7"), true, 3,
		  false },
		{ UEVENT("online@/devices/system/cpu/cpu12"), true, 12, true },
		{ UEVENT("add@/devices/system/cpu/cpu1\0ACTION=online") },
		{ UEVENT("onlines@/devices/system/cpu/cpu1") },
		{ UEVENT("online@/devices/system/memory/memory1") },
		{ UEVENT("online@/devices/system/cpu/cpu1/x") },
		{ UEVENT("online@/devices/system/cpu/cpu") },
		{ UEVENT("online") },
		{ UEVENT("ACTION=online\0DEVPATH=/devices/system/cpu/cpu1\0SUBSYSTEM=cpu") },
		{ "online@/devices/system/cpu/cpu1", 31 },
		{ "", 0 },
		{ UEVENT("") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t cpu = 0;
		bool online = false;

		assert_int_equal(hotplug_parse(cases[i].text, cases[i].size, &cpu, &online),
				 cases[i].expected);
		assert_int_equal(cpu, cases[i].cpu);
		assert_int_equal(online, cases[i].online);
	}
}

/* A program may send to our port, but not as the kernel. */
TEST(test_hotplug_ignores_programs)
{
	static const char text[] = "online@/devices/system/cpu/cpu1";
	struct sockaddr_nl ours = { 0 };
	socklen_t size = sizeof(ours);
	int fd = hotplug_open(), other = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
	uint32_t cpu;
	bool online;

	assert_true(fd >= 0);
	assert_true(other >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&ours, &size), 0);
	ours.nl_groups = 0;
	assert_int_equal(sendto(other, text, sizeof(text), 0, (struct sockaddr *)&ours, size),
			 sizeof(text));
	assert_int_equal(hotplug_read(fd, &cpu, &online), 0);
	close(fd);
	close(other);
}
