// SPDX-License-Identifier: GPL-2.0-only
#include "actuator/hotplug.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define UEVENT_GROUP_KERNEL 1
#define UEVENT_SIZE	    (8 * 1024)

/* The text of a uevent starts with its action: let only "onli…" and "offl…" wake us. */
static int attach_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x6f6e6c69, 1, 0), /* "onli" */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x6f66666c, 0, 1), /* "offl" */
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int hotplug_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP_KERNEL };
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_KOBJECT_UEVENT);
	int on = 1;

	if (fd < 0)
		return -errno;
	if (attach_filter(fd) < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/* The kernel sends as port 0, process 0 and user 0; a program can be none but the last. */
static bool is_from_kernel(const struct msghdr *message, const struct sockaddr_nl *sender)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	struct ucred credentials;

	if (sender->nl_pid != 0 || sender->nl_groups != UEVENT_GROUP_KERNEL)
		return false;
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS)
		return false;

	memcpy(&credentials, CMSG_DATA(header), sizeof(credentials));
	return credentials.pid == 0 && credentials.uid == 0;
}

/* Returns the length of a message of the kernel, 0 for another's, or a negative errno. */
static ssize_t receive(int fd, char *ret_text, size_t size)
{
	char control[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8)));
	struct sockaddr_nl sender = { 0 };
	struct iovec text = { .iov_base = ret_text, .iov_len = size };
	struct msghdr message = {
		.msg_name = &sender,
		.msg_namelen = sizeof(sender),
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &message, 0);

	if (n < 0)
		return -errno;
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return 0;
	return is_from_kernel(&message, &sender) ? n : 0;
}

int hotplug_read(int fd, uint32_t *ret_cpu, bool *ret_online)
{
	char text[UEVENT_SIZE];

	for (;;) {
		ssize_t n = receive(fd, text, sizeof(text));

		if (n == -EAGAIN)
			return 0;
		if (n == -EINTR)
			continue;
		if (n < 0)
			return (int)n;
		if (hotplug_parse(text, (size_t)n, ret_cpu, ret_online))
			return 1;
	}
}

static bool parse_cpu(const char *path, uint32_t *ret_cpu)
{
	int end = 0;

	return sscanf(path, "/devices/system/cpu/cpu%5u%n", ret_cpu, &end) == 1 && !path[end];
}

/* The header "action@path" is the first of the strings; KEY=value follow. */
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
