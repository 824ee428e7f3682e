// SPDX-License-Identifier: GPL-2.0-only
/*
 * inotify reports other programs' writes when they close the file, and uevents report CPUs that
 * come and go. Both only tell which domain to verify.
 */
#include "actuator/watch.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actuator/domain.h"
#include "shared/cleanup.h"

/* Room for 64 events in one read; events of watched files have no name. */
#define EVENTS_SIZE (64 * sizeof(struct inotify_event))

struct watched {
	int wd;
	enum control control;
	struct actuator_domain *domain;
};

struct actuator_watch {
	int fd;
	size_t n;
	struct watched *watched;
};

int actuator_watch_new(struct actuator_watch **ret)
{
	struct actuator_watch *watch = calloc(1, sizeof(*watch));
	int error;

	if (!watch)
		return -ENOMEM;

	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->fd < 0) {
		error = -errno;
		free(watch);
		return error;
	}

	*ret = watch;
	return 0;
}

struct actuator_watch *actuator_watch_free(struct actuator_watch *watch)
{
	if (watch) {
		close(watch->fd);
		free(watch->watched);
		free(watch);
	}
	return NULL;
}

static int watch_file(struct actuator_watch *watch, struct actuator_domain *domain,
		      enum control control, const char *path, uint32_t flags)
{
	int wd = inotify_add_watch(watch->fd, path, IN_CLOSE_WRITE | IN_DONT_FOLLOW | flags);

	if (wd < 0)
		return -errno;

	watch->watched[watch->n++] = (struct watched){
		.wd = wd,
		.control = control,
		.domain = domain,
	};
	return 0;
}

/* Does not watch a file twice: inotify would return the same descriptor again. */
static int watch_control(struct actuator_watch *watch, struct actuator_domain *domain,
			 enum control control)
{
	char path[CONTROL_PATH_SIZE];

	control_path(control, domain->info->first_cpu, path);
	if (access(path, F_OK) < 0)
		return 0;
	return watch_file(watch, domain, control, path, IN_MASK_CREATE);
}

int actuator_watch_add(struct actuator_watch *watch, struct actuator_domain *domain)
{
	struct watched *grown = realloc(watch->watched,
					(watch->n + CONTROL_N + 2) * sizeof(*watch->watched));
	size_t n_before = watch->n;
	int r = 0;

	if (!grown)
		return -ENOMEM;
	watch->watched = grown;

	for (int control = 0; control < CONTROL_N && r == 0; control++)
		r = watch_control(watch, domain, (enum control)control);
	if (r == 0)
		r = watch_control(watch, domain, CONTROL_BOOST);
	/* The machine-wide switch has one descriptor for all domains. */
	if (r == 0) {
		r = watch_file(watch, domain, CONTROL_BOOST, CONTROL_DIRECTORY "/boost", 0);
		r = r == -ENOENT ? 0 : r;
	}
	while (r < 0 && watch->n > n_before)
		inotify_rm_watch(watch->fd, watch->watched[--watch->n].wd);
	return r;
}

int actuator_watch_fd(const struct actuator_watch *watch)
{
	return watch->fd;
}

static void handle_event(struct actuator_watch *watch, const struct inotify_event *event)
{
	for (size_t i = 0; i < watch->n; i++)
		if (event->mask & IN_Q_OVERFLOW ||
		    (event->mask & IN_CLOSE_WRITE && event->wd == watch->watched[i].wd))
			watch->watched[i].domain->touched |= 1u << watch->watched[i].control;
}

void actuator_watch_read(struct actuator_watch *watch)
{
	char events[EVENTS_SIZE] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while ((n = read(watch->fd, events, sizeof(events))) > 0) {
		const struct inotify_event *event;

		for (ssize_t at = 0; at < n; at += (ssize_t)sizeof(*event) + event->len) {
			event = (const void *)(events + at);
			handle_event(watch, event);
		}
	}
}

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

int hotplug_open(void)
{
	/* A scheduler of sched_ext is /kernel/sched_ext/root: few others are below /kernel. */
	static const struct uevent_kind kinds[] = {
		{ UEVENT_ONLINE },
		{ UEVENT_OFFLINE },
		{ UEVENT_ADD, strlen("add@"), UEVENT_KERNEL },
		{ UEVENT_REMOVE, strlen("remove@"), UEVENT_KERNEL },
	};

	return uevent_open(kinds, ARRAY_SIZE(kinds));
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

/* The first string is the header "action@path". */
bool hotplug_parse(const char *text, size_t size, uint32_t *ret_cpu, bool *ret_online)
{
	char action[8];
	uint32_t cpu;
	int end = 0;

	if (size == 0 || text[size - 1] != '\0' ||
	    sscanf(text, "%7[a-z]@/devices/system/cpu/cpu%5u%n", action, &cpu, &end) != 2 ||
	    text[end] || (strcmp(action, "online") != 0 && strcmp(action, "offline") != 0))
		return false;
	*ret_cpu = cpu;
	*ret_online = !strcmp(action, "online");
	return true;
}
