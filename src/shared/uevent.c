// SPDX-License-Identifier: GPL-2.0-only
#include "shared/uevent.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/cleanup.h"

#define UEVENT_GROUP_KERNEL 1

int uevent_open(const uint32_t *actions, uint8_t n)
{
	/* The text of a uevent starts with its action: the others do not wake us. */
	struct sock_filter code[UEVENT_ACTIONS_MAX + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		[UEVENT_ACTIONS_MAX + 1] = BPF_STMT(BPF_RET | BPF_K, 0),
		[UEVENT_ACTIONS_MAX + 2] = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP_KERNEL };
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_KOBJECT_UEVENT);
	int on = 1;

	/* Unused places repeat the last action. */
	for (uint8_t i = 0; i < UEVENT_ACTIONS_MAX; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   actions[i < n ? i : n - 1],
							   UEVENT_ACTIONS_MAX - i, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/*
 * Returns the length of a message of the kernel, 0 for another's, or a negative errno. The kernel
 * sends as port 0, process 0 and user 0; a program can be none but the last.
 */
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
	const struct cmsghdr *header;
	struct ucred credentials;

	if (n < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || sender.nl_pid != 0 ||
	    sender.nl_groups != UEVENT_GROUP_KERNEL || !header ||
	    header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&credentials, CMSG_DATA(header), sizeof(credentials));
	return credentials.pid == 0 && credentials.uid == 0 ? n : 0;
}

ssize_t uevent_read(int fd, char ret_text[static UEVENT_SIZE])
{
	for (;;) {
		ssize_t n = receive(fd, ret_text, UEVENT_SIZE);

		if (n == -EAGAIN)
			return 0;
		if (n && n != -EINTR)
			return n;
	}
}
