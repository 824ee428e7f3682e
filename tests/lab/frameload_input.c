// SPDX-License-Identifier: GPL-2.0-only
#include "frameload_input.h"

#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <sys/io.h>
#endif

#define MAX_DEVICES 16
#define HELD_US	    80000

/* drivers/input/serio/i8042.h */
#define DATA_PORT	0x60
#define COMMAND_PORT	0x64
#define OUTPUT_FULL	0x01
#define INPUT_FULL	0x02
#define FROM_KEYBOARD	0xd2
#define FROM_MOUSE	0xd3
#define KEY_A_DOWN	0x1e
#define KEY_A_UP	0x9e
#define MOVES_BY_ONE	"\x08\x01\x00\x00" /* of a mouse with a wheel */
#define BYTES_OF_A_MOVE 4

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

#if defined(__x86_64__)
static void await_clear(unsigned char bits)
{
	while (inb(COMMAND_PORT) & bits)
		usleep(10);
}

static void receive(unsigned char from, unsigned char byte)
{
	await_clear(INPUT_FULL | OUTPUT_FULL);
	outb(from, COMMAND_PORT);
	await_clear(INPUT_FULL);
	outb(byte, DATA_PORT);
}

static void open_ports(void)
{
	if (ioperm(DATA_PORT, 1, 1) || ioperm(COMMAND_PORT, 1, 1))
		fail("ioperm");
}
#else
static void receive(unsigned char from, unsigned char byte)
{
	(void)from;
	(void)byte;
}

static void open_ports(void)
{
	fputs("this machine has no i8042\n", stderr);
	exit(EXIT_FAILURE);
}
#endif

int input_open(enum input input)
{
	const char *wanted = input == INPUT_KEY ? "keyboard" : "Mouse";
	char path[32], name[128] = "";

	open_ports();
	for (int i = 0; i < MAX_DEVICES; i++) {
		int fd;

		snprintf(path, sizeof(path), "/dev/input/event%d", i);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && ioctl(fd, EVIOCGNAME(sizeof(name) - 1), name) >= 0 &&
		    strstr(name, wanted))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fail(wanted);
}

void input_send(enum input input)
{
	if (input == INPUT_KEY)
		receive(FROM_KEYBOARD, KEY_A_DOWN);
	for (int i = 0; input == INPUT_MOVE && i < BYTES_OF_A_MOVE; i++)
		receive(FROM_MOUSE, MOVES_BY_ONE[i]);
}

void input_done(enum input input)
{
	if (input != INPUT_KEY)
		return;
	usleep(HELD_US);
	receive(FROM_KEYBOARD, KEY_A_UP);
}

void input_await(int fd, enum input input)
{
	struct input_event event;

	do {
		if (read(fd, &event, sizeof(event)) != sizeof(event))
			fail("read of an input device");
	} while (input == INPUT_KEY ? event.type != EV_KEY || event.value != 1
				    : event.type != EV_REL);
}
