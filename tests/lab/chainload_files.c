// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that wait for a file, which a thread of the kernel or another task works on. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fuse.h>
#include <linux/nbd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "chainload.h"

#define BLOCK_BYTES 4096
#define FILE_BYTES  (64 << 20)
#define WORK	    CHAINLOAD_WORK

static char block[BLOCK_BYTES] __attribute__((aligned(BLOCK_BYTES)));
static const char directory[] = "/tmp/chainload";
static char path[64];
static int file, server;

/* A tmpfs in a mount namespace of the process's own: it goes with the process. */
static void make_directory(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL) || mkdir(directory, 0700))
		chainload_skip("mount");
	snprintf(path, sizeof(path), "%s/file", directory);
	file = open(path, O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, FILE_BYTES))
		chainload_skip(path);
}

static void open_file(int flags)
{
	file = open(path, flags);
	if (file < 0)
		chainload_skip(path);
}

/* Its blocks are written by the loop device's workers, into memory. */
static void prepare_ext4(void)
{
	make_directory();
	chainload_shell("mkfs.ext4 -q %s && mkdir %s/mnt && mount -o loop %s %s/mnt", path,
			directory, path, directory);
	snprintf(path, sizeof(path), "%s/mnt/file", directory);
	open_file(O_RDWR | O_CREAT);
}

/* The file grows, so that each time the journal is committed. */
static void by_fsync(uint32_t me)
{
	(void)me;
	chainload_compute(WORK);
	if (pwrite(file, block, BLOCK_BYTES, 0) != BLOCK_BYTES || ftruncate(file, 0) || fsync(file))
		exit(EXIT_FAILURE);
}

static void prepare_loop(void)
{
	make_directory();
	snprintf(path, sizeof(path), "%s/loop", directory);
	chainload_shell("ln -s $(losetup -f --show %s/file) %s", directory, path);
	open_file(O_RDONLY | O_DIRECT);
	chainload_shell("losetup -d %s", path); /* when it is closed */
}

static void by_loop(uint32_t me)
{
	static __thread aio_context_t context;
	struct iocb read = { .aio_fildes = file,
			     .aio_lio_opcode = IOCB_CMD_PREAD,
			     .aio_buf = (uintptr_t)block,
			     .aio_nbytes = BLOCK_BYTES },
		    *reads = &read;
	struct io_event event;

	(void)me;
	if (!context && syscall(__NR_io_setup, 1, &context))
		chainload_skip("libaio");
	chainload_compute(WORK);
	if (syscall(__NR_io_submit, context, 1, &reads) != 1 ||
	    syscall(__NR_io_getevents, context, 1, 1, &event, NULL) != 1 ||
	    event.res != BLOCK_BYTES)
		exit(EXIT_FAILURE);
}

static void by_direct_read(uint32_t me)
{
	static uint32_t i;

	(void)me;
	chainload_compute(WORK);
	if (pread(file, block, BLOCK_BYTES,
		  (off_t)(i++ * 2654435761U % (FILE_BYTES / BLOCK_BYTES)) * BLOCK_BYTES) !=
	    BLOCK_BYTES)
		exit(EXIT_FAILURE);
}

/* A file without a name on this directory's disk. */
static void prepare_disk(void)
{
	char name[] = "chainload-XXXXXX";
	int whole = mkstemp(name);

	if (whole < 0)
		chainload_skip(name);
	unlink(name);
	for (uint32_t i = 0; i < FILE_BYTES / BLOCK_BYTES; i++)
		if (write(whole, block, BLOCK_BYTES) != BLOCK_BYTES)
			exit(EXIT_FAILURE);
	fsync(whole);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", whole);
	open_file(O_RDONLY | O_DIRECT);
	by_direct_read(0);
}

static void answer_fuse(uint64_t unique, const void *body, size_t bytes)
{
	static char answer[sizeof(struct fuse_out_header) + BLOCK_BYTES];
	const struct fuse_out_header header = { .len = sizeof(header) + bytes,
						.unique = unique,
						.error = body ? 0 : -ENOSYS };

	memcpy(answer, &header, sizeof(header));
	if (body)
		memcpy(answer + sizeof(header), body, bytes);
	if (write(server, answer, header.len) != (ssize_t)header.len)
		exit(EXIT_FAILURE);
}

/* A file system whose root is a file. */
static void serve_fuse(void)
{
	static char request[1 << 17];
	const struct fuse_in_header *header = (void *)request;
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					    .minor = 31,
					    .max_write = BLOCK_BYTES };
	const struct fuse_attr_out attributes = { .attr_valid = 1 << 30,
						  .attr = { .ino = FUSE_ROOT_ID,
							    .size = FILE_BYTES,
							    .mode = S_IFREG | 0600,
							    .nlink = 1,
							    .blksize = BLOCK_BYTES } };
	const struct fuse_open_out opened = { .open_flags = FOPEN_DIRECT_IO };

	if (read(server, request, sizeof(request)) <= 0)
		exit(EXIT_FAILURE);
	if (header->opcode == FUSE_INIT) {
		answer_fuse(header->unique, &init, sizeof(init));
	} else if (header->opcode == FUSE_GETATTR) {
		answer_fuse(header->unique, &attributes, sizeof(attributes));
	} else if (header->opcode == FUSE_OPEN) {
		answer_fuse(header->unique, &opened, sizeof(opened));
	} else if (header->opcode == FUSE_READ) {
		chainload_compute(WORK);
		answer_fuse(header->unique, block, BLOCK_BYTES);
	} else {
		answer_fuse(header->unique, NULL, 0);
	}
}

/*
 * Its server is a process of its own: the death of one that waits for its own server would wait for
 * itself.
 */
static void prepare_fuse(void)
{
	char options[128];

	make_directory();
	server = open("/dev/fuse", O_RDWR);
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=0,group_id=0", server,
		 S_IFREG | 0600);
	if (mount("chainload", path, "fuse", MS_NOSUID | MS_NODEV, options))
		chainload_skip("FUSE");
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			serve_fuse();
	}
	close(server);
	open_file(O_RDONLY);
}

static void *do_nbd(void *unused)
{
	ioctl(file, NBD_DO_IT);
	return unused;
}

static void prepare_nbd(void)
{
	int sockets[2];
	pthread_t thread;

	file = open("/dev/nbd0", O_RDWR);
	if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		chainload_skip("nbd");
	server = sockets[1];
	if (ioctl(file, NBD_SET_BLKSIZE, BLOCK_BYTES) ||
	    ioctl(file, NBD_SET_SIZE_BLOCKS, FILE_BYTES / BLOCK_BYTES) ||
	    ioctl(file, NBD_SET_SOCK, sockets[0]) || pthread_create(&thread, NULL, do_nbd, NULL))
		chainload_skip("nbd");
	strcpy(path, "/dev/nbd0");
	usleep(100000); /* until it is one */
}

static void by_nbd(uint32_t me)
{
	static __thread bool begun;
	struct nbd_request request;
	struct nbd_reply reply = { .magic = htobe32(NBD_REPLY_MAGIC) };
	static char blocks[1 << 20];

	if (!me) {
		if (!begun)
			open_file(O_RDONLY | O_DIRECT);
		begun = true;
		by_direct_read(0);
		return;
	}
	chainload_transfer(server, &request, sizeof(request), false);
	chainload_compute(WORK);
	memcpy(reply.handle, request.handle, sizeof(reply.handle));
	chainload_transfer(server, &reply, sizeof(reply), true);
	chainload_transfer(server, blocks, be32toh(request.len), true);
}

const struct chainload_mode chainload_files[] = {
	{ "fsync", by_fsync, prepare_ext4, .n = 1 },
	{ "aio-loop", by_loop, prepare_loop, .n = 1 },
	{ "fuse", by_direct_read, prepare_fuse, .n = 1 },
	{ "nbd", by_nbd, prepare_nbd },
	{ "disk", by_direct_read, prepare_disk, .n = 1, .crowded = true },
	{ NULL },
};
