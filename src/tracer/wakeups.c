// SPDX-License-Identifier: GPL-2.0-only
#include "tracer/wakeups.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/pids.h"
#include "tracer/load_error.h"

#include "wakeups.skel.h"

/* Reading an iterator runs it. */
static int find_tasks(const struct wakeups *wakeups)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(wakeups->links.find_tasks));
	char nothing[1];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, nothing, sizeof(nothing));
	while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n < 0 ? -errno : 0;
}

static int begin(struct wakeups *wakeups, const struct wakeups_of *of)
{
	int r;

	wakeups->rodata->of_tgid = of->pid;
	wakeups->rodata->of_parent = of->parent;
	if (of->program)
		snprintf((char *)wakeups->rodata->of_program, sizeof(wakeups->rodata->of_program),
			 "%s", of->program);
	r = wakeups__load(wakeups);
	if (r < 0)
		return r;
	r = wakeups__attach(wakeups);
	return r < 0 ? r : find_tasks(wakeups);
}

int wakeups_follow(const struct wakeups_of *of, struct wakeups **ret, uint32_t *ret_n_tasks,
		   const char **ret_why)
{
	struct wakeups *wakeups;
	int r;

	*ret_why =
		"numbers of tasks are others in this PID namespace than for BPF programs: run it "
		"outside of the container";
	if (!pids_are_the_kernels())
		return -EXDEV;
	libbpf_set_print(NULL);
	wakeups = wakeups__open();
	r = wakeups ? begin(wakeups, of) : -ENOMEM;
	if (r < 0) {
		*ret_why =
			load_error_words(r)
				?: "the kernel refused the BPF programs: report it with its version";
		wakeups__destroy(wakeups);
		return r;
	}
	*ret_n_tasks = wakeups->bss->n_found;
	*ret = wakeups;
	return 0;
}

void wakeups_read(const struct wakeups *wakeups, uint64_t ret[WAKEGOV_WAKEUP_BUCKETS])
{
	const volatile __u64 *counts = wakeups->bss->wakeups;

	for (uint32_t i = 0; i < WAKEGOV_WAKEUP_BUCKETS; i++)
		ret[i] = counts[i];
}

struct wakeups *wakeups_free(struct wakeups *wakeups)
{
	wakeups__destroy(wakeups);
	return NULL;
}
