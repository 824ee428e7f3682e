// SPDX-License-Identifier: GPL-2.0-only
#include "desktop/desktop.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define BUS_PATH   "/run/dbus/system_bus_socket"
#define DRIVER	   "org.freedesktop.DBus"
#define DRIVER_WAY "/org/freedesktop/DBus"

/* Of a message: byte order, type, flags, version, three numbers: body, serial, fields. */
#define HEADER_SIZE 16

/* What the thread owns, for as long as the program runs. */
static struct filter {
	int from, to;
	uint8_t message[BUS_MESSAGE_MAX];
} filter;

/* False: the other side has ended. sd-bus makes the socket that both share non-blocking. */
static bool read_all(uint8_t *to, size_t size)
{
	struct pollfd ready = { .fd = filter.from, .events = POLLIN };

	while (size) {
		ssize_t n = read(filter.from, to, size);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (n < 0)
			poll(&ready, 1, -1);
		to += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	return true;
}

static bool pass_on(size_t size)
{
	return send(filter.to, filter.message, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool skip(uint64_t size)
{
	while (size) {
		size_t part = size < BUS_MESSAGE_MAX ? size : BUS_MESSAGE_MAX;

		if (!read_all(filter.message, part))
			return false;
		size -= part;
	}
	return true;
}

/* Of the whole message: the fields are padded to 8 bytes, and the body follows. */
static uint64_t message_size(void)
{
	uint32_t body, fields;

	memcpy(&body, filter.message + 4, sizeof(body));
	memcpy(&fields, filter.message + 12, sizeof(fields));
	body = filter.message[0] == 'l' ? le32toh(body) : be32toh(body);
	fields = filter.message[0] == 'l' ? le32toh(fields) : be32toh(fields);
	return HEADER_SIZE + (((uint64_t)fields + 7) & ~7ULL) + body;
}

/*
 * Before its first message the bus sends lines of text, which begin with a capital: OK, DATA. The
 * first byte of a message is its byte order, l or B.
 */
static void *run_filter(void *unused)
{
	bool begins = true, is_text = true, is_open = true;

	while (is_open && is_text && read_all(filter.message, 1)) {
		is_text = !begins || !strchr("lB", filter.message[0]);
		begins = filter.message[0] == '\n';
		is_open = !is_text || pass_on(1);
	}
	is_open = is_open && !is_text && read_all(filter.message + 1, HEADER_SIZE - 1);
	while (is_open) {
		uint64_t size = message_size();

		if (size <= BUS_MESSAGE_MAX)
			is_open = read_all(filter.message + HEADER_SIZE, size - HEADER_SIZE) &&
				  pass_on(size);
		else
			is_open = skip(size - HEADER_SIZE);
		is_open = is_open && read_all(filter.message, HEADER_SIZE);
	}
	close(filter.to);
	return NULL;
}

static int connect_bus(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = BUS_PATH };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/* Returns the end that sd-bus reads, or a negative errno. */
static int start_filter(int from)
{
	pthread_t thread;
	int ends[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	filter.from = fcntl(from, F_DUPFD_CLOEXEC, 0);
	filter.to = ends[0];
	r = filter.from < 0 ? -errno : -pthread_create(&thread, NULL, run_filter, NULL);
	if (r < 0) {
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	pthread_detach(thread);
	return ends[1];
}

int bus_open(sd_event *event, sd_bus **ret)
{
	_cleanup_close_ int out = connect_bus();
	_cleanup_close_ int in = out < 0 ? -1 : start_filter(out);
	int r = out < 0 ? out : in < 0 ? in : sd_bus_new(ret);

	if (r >= 0)
		r = sd_bus_set_fd(*ret, in, out);
	if (r < 0)
		return r;
	take_fd(&in);
	take_fd(&out);
	r = sd_bus_set_bus_client(*ret, true);
	/* A descriptor would be lost in the filter, and its message be broken. */
	if (r >= 0)
		r = sd_bus_negotiate_fds(*ret, false);
	if (r >= 0)
		r = sd_bus_set_exit_on_disconnect(*ret, true);
	if (r >= 0)
		r = sd_bus_start(*ret);
	if (r >= 0)
		r = sd_bus_attach_event(*ret, event, SD_EVENT_PRIORITY_NORMAL);
	return r;
}

bool bus_is_from(sd_bus_message *message, const char *sender)
{
	const char *its = sd_bus_message_get_sender(message);

	return its && !strcmp(its, sender);
}

static int on_owner_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	const char *name, *former, *owner;
	struct bus_watch *watch = userdata;

	/* Any program may send a signal of this kind to this one alone. */
	if (bus_is_from(signal, DRIVER) &&
	    sd_bus_message_read(signal, "sss", &name, &former, &owner) >= 0)
		watch->changed(watch->userdata, owner);
	return 0;
}

static int on_owner(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct bus_watch *watch = userdata;
	const char *owner;

	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_read(reply, "s", &owner) < 0)
		owner = "";
	watch->changed(watch->userdata, owner);
	return 0;
}

/* The question goes to the bus after the match, so that no change is missed. */
int bus_watch_start(struct bus_watch *watch, sd_bus *bus, const char *name)
{
	char match[512];
	int r;

	snprintf(match, sizeof(match),
		 "type='signal',sender='" DRIVER "',member='NameOwnerChanged',arg0='%s'", name);
	r = sd_bus_add_match_async(bus, &watch->match, match, on_owner_changed, NULL, watch);
	if (r >= 0)
		r = sd_bus_call_method_async(bus, &watch->question, DRIVER, DRIVER_WAY, DRIVER,
					     "GetNameOwner", on_owner, watch, "s", name);
	return r < 0 ? r : 0;
}

void bus_watch_end(struct bus_watch *watch)
{
	sd_bus_slot_unref(watch->match);
	sd_bus_slot_unref(watch->question);
	watch->match = watch->question = NULL;
}
