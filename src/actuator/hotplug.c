// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/hotplug.h"

#include <stdio.h>
#include <string.h>

#include "shared/uevent.h"

int hotplug_open(void)
{
	return uevent_open(UEVENT_ONLINE, UEVENT_OFFLINE);
}

int hotplug_read(int fd, uint32_t *ret_cpu, bool *ret_online)
{
	char text[UEVENT_SIZE];
	ssize_t n;

	while ((n = uevent_read(fd, text)) > 0)
		if (hotplug_parse(text, (size_t)n, ret_cpu, ret_online))
			return 1;
	return (int)n;
}

static bool parse_cpu(const char *path, uint32_t *ret_cpu)
{
	int end = 0;

	return sscanf(path, "/devices/system/cpu/cpu%5u%n", ret_cpu, &end) == 1 && !path[end];
}

/* The first string is the header "action@path"; KEY=value strings follow. */
bool hotplug_parse(const char *text, size_t size, uint32_t *ret_cpu, bool *ret_online)
{
	bool is_cpu = false, has_path = false, has_action = false, online = false;
	uint32_t cpu = 0;

	if (size == 0 || text[size - 1] != '\0')
		return false;

	for (const char *field = text; field < text + size; field += strlen(field) + 1) {
		if (strcmp(field, "SUBSYSTEM=cpu") == 0)
			is_cpu = true;
		else if (strncmp(field, "DEVPATH=", 8) == 0)
			has_path = parse_cpu(field + 8, &cpu);
		else if (strncmp(field, "ACTION=", 7) == 0) {
			online = strcmp(field + 7, "online") == 0;
			has_action = online || strcmp(field + 7, "offline") == 0;
		}
	}
	if (!is_cpu || !has_path || !has_action)
		return false;

	*ret_cpu = cpu;
	*ret_online = online;
	return true;
}
