// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <threads.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "varlink/server.h"

static char folder[64];
static char path[96];

static int set_up(void **state)
{
	strcpy(folder, "/tmp/wakegov-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/io.wakegov", folder);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	rmdir(path);
	return rmdir(folder);
}

#define LISTEN_TEST(name) TEST_WITH(name, set_up, tear_down)

static int connect_to_path(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

LISTEN_TEST(test_fresh)
{
	mode_t mask = umask(0077);
	int fd = query_listen(path), client = connect_to_path();
	struct stat status;

	umask(mask);
	assert_true(fd >= 0);
	assert_true(client >= 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0666);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(client);
	close(fd);
}

LISTEN_TEST(test_stale_socket_is_replaced)
{
	int fd = query_listen(path), client;

	close(fd);
	assert_int_equal(connect_to_path(), -ECONNREFUSED);
	fd = query_listen(path);
	assert_true(fd >= 0);
	client = connect_to_path();
	assert_true(client >= 0);
	close(client);
	close(fd);
}

/* Connects as soon as the socket is there, until it is told to end. Returns how often it was
 * refused. */
static int try_at_once(atomic_bool *ends)
{
	int refused = 0, fd;

	while (!*ends) {
		fd = connect_to_path();
		refused += fd == -ECONNREFUSED;
		if (fd >= 0)
			close(fd);
	}
	return refused;
}

/* All of them listen until the end, so that one that refuses was seen before it did. */
LISTEN_TEST(test_who_sees_it_can_connect)
{
	atomic_bool ends = false;
	int fds[500];
	thrd_t thread;
	int refused;

	assert_int_equal(thrd_create(&thread, (thrd_start_t)try_at_once, &ends), thrd_success);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = query_listen(path);
		assert_true(fds[i] >= 0);
		unlink(path);
	}
	ends = true;
	thrd_join(thread, &refused);
	assert_int_equal(refused, 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

LISTEN_TEST(test_live_socket_is_left_alone)
{
	int fd = query_listen(path), client;

	assert_int_equal(query_listen(path), -EADDRINUSE);
	client = connect_to_path();
	assert_true(client >= 0);
	close(client);
	close(fd);
}

LISTEN_TEST(test_live_socket_with_a_full_backlog)
{
	int fd = query_listen(path), clients[2];

	/* Shrinks the backlog to one that waits. */
	assert_int_equal(listen(fd, 0), 0);
	clients[0] = connect_to_path();
	assert_true(clients[0] >= 0);
	assert_int_equal(query_listen(path), -EADDRINUSE);
	close(clients[0]);
	close(fd);
}

LISTEN_TEST(test_other_files_are_left_alone)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	struct stat status;

	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	assert_int_equal(query_listen(path), -EEXIST);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 8);
	unlink(path);

	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(query_listen(path), -EEXIST);
	rmdir(path);

	/* Not even followed: what it leads to may be a socket, and not ours. */
	assert_int_equal(symlink("/nowhere", path), 0);
	assert_int_equal(query_listen(path), -EEXIST);
}

LISTEN_TEST(test_missing_folder)
{
	char missing[128];

	snprintf(missing, sizeof(missing), "%s/missing/io.wakegov", folder);
	assert_int_equal(query_listen(missing), -ENOENT);
}

LISTEN_TEST(test_path_too_long)
{
	char name[200];

	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(query_listen(name), -ENAMETOOLONG);
}
