// SPDX-License-Identifier: GPL-2.0-only
/* Receives the kernel's uevents. */
#include "shared/uevent.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/cleanup.h"

#define UEVENT_GROUP_KERNEL 1

int uevent_open(const struct uevent_kind *kinds, uint8_t n)
{
	/* A uevent's text starts with "action@path": the filter keeps others from waking us. */
	struct sock_filter code[5 * UEVENT_KINDS_MAX + 1];
	struct sock_fprog program = { .filter = code };
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP_KERNEL };
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_KOBJECT_UEVENT);
	int on = 1;

	for (uint8_t i = 0; i < n && i < UEVENT_KINDS_MAX; i++) {
		const struct sock_filter kind[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kinds[i].action, 0, 3),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kinds[i].at),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
				 kinds[i].at ? kinds[i].then : kinds[i].action, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		};

		memcpy(&code[program.len], kind, sizeof(kind));
		program.len += ARRAY_SIZE(kind);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/*
 * Returns the length of a message from the kernel, 0 for any other sender, or a negative errno. The
 * kernel sends as port 0, process 0 and user 0; a program may have user 0, but not the others.
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
