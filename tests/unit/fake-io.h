/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Tasks that do I/O, as a machine would show them: each I/O takes the device its time and the host
 * an amount of work, so that a faster clock brings what Amdahl's law says, and no more. Nothing is
 * simulated request by request: of the time that passed at one level comes how many there were.
 *
 * No cmocka in here: the library of the property tests is made of it as well.
 */

#include "core/input.h"

enum fake_io_kind {
	FAKE_IO_NONE,	 /* totals change by hand only; no block requests */
	FAKE_IO_SYNC,	 /* one request at a time */
	FAKE_IO_PACED,	 /* the same, on a device that takes longer when the host is faster */
	FAKE_IO_DEEP,	 /* 128 in flight, always: the device sets the pace */
	FAKE_IO_COUNTED, /* as SYNC, and only its waits are seen */
};

#define FAKE_IO_DEEP_DEPTH 128

struct fake_io {
	enum fake_io_kind kind;
	bool stopped;	   /* does nothing now */
	bool asynchronous; /* SYNC: its waits are none for I/O to the scheduler, as libaio's */
	uint32_t device;
	uint64_t device_ns;	    /* PACED, DEEP: from one completion to the next */
	uint64_t work;		    /* of the task, per I/O: level · ns (core/io_model.h) */
	uint64_t think_ns;	    /* that it sleeps of its own accord, per I/O */
	uint64_t interrupt_work;    /* where the device completes, per I/O: in the device's time */
	uint32_t variation_percent; /* of the time of one I/O */
	uint64_t random;	    /* state, not 0 where there is variation */

	uint32_t part; /* of the present I/O, · 2^-20 */
	uint64_t io_waits;
	uint64_t io_starts;
	uint64_t last_io_ns;
	uint64_t in_flight_ns;
	uint64_t worked_ns;
};

/* What one I/O takes with the task's CPU, and the one that takes the interrupt, at these levels. */
uint64_t fake_io_ns(const struct fake_io *io, uint32_t level, uint32_t interrupt_level);

/* elapsed_ns pass at these levels, until now_ns. Returns how many I/Os were completed. */
uint64_t fake_io_run(struct fake_io *io, uint32_t level, uint32_t interrupt_level,
		     uint64_t elapsed_ns, uint64_t now_ns);

/* The totals as the kernel side tells them; what else is in ret stays. */
void fake_io_totals(const struct fake_io *io, struct input_task *ret);
