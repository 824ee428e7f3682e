// SPDX-License-Identifier: GPL-2.0-only
#include "frameload_outside.h"

#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7

static uint32_t asked;
static int service, order;
static struct sockaddr_in asker;
static char request[64];
static ssize_t request_bytes;

void outside_begin(uint32_t times, uint32_t mean_us)
{
	const struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct sockaddr_in outside = { .sin_family = AF_INET, .sin_port = htons(9) };

	asked = times;
	inet_pton(AF_INET, "10.0.0.1", &outside.sin_addr);
	service = socket(AF_INET, SOCK_DGRAM, 0);
	order = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(service, (const struct sockaddr *)&own, sizeof(own)) < 0 ||
	    connect(order, (const struct sockaddr *)&outside, sizeof(outside)) < 0)
		err(1, "the network card");
	dprintf(order, "%u %u 1 %d", times, mean_us, PORT);
}

bool outside_await(void)
{
	struct pollfd fds[] = { { service, POLLIN, 0 }, { order, POLLIN, 0 } };
	socklen_t size = sizeof(asker);

	if (poll(fds, 2, -1) < 0)
		err(1, "poll");
	if (fds[1].revents)
		return false;
	request_bytes = recvfrom(service, request, sizeof(request), 0, (struct sockaddr *)&asker,
				 &size);
	return true;
}

void outside_answer(void)
{
	if (request_bytes < 0 || sendto(service, request, request_bytes, 0,
					(const struct sockaddr *)&asker, sizeof(asker)) < 0)
		err(1, "an answer");
}

void outside_print(void)
{
	double answered, median_ns, p99_ns;
	char report[64] = "";

	if (recv(order, report, sizeof(report) - 1, 0) < 0 ||
	    sscanf(report, "%lf %lf %lf", &answered, &median_ns, &p99_ns) != 3)
		err(1, "the other end");
	printf("%.1f %.0f %.0f\n", 100 * answered / asked, median_ns / 1000, p99_ns / 1000);
}
