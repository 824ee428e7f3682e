/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What the files of the tracer share. */

#include "tracer/programs.h"
#include "tracer/tracer.h"
#include "wakegov/abi.h"

struct tracer {
	const struct topology *topology;
	struct programs programs;
	struct ring_buffer *ring;
	struct wakegov_cpu *cpus;	 /* mapped; n_cpus */
	struct wakegov_slot *slots;	 /* mapped; WAKEGOV_SLOTS */
	struct wakegov_device *devices;	 /* mapped; WAKEGOV_DEVICES */
	struct wakegov_flights *flights; /* mapped; WAKEGOV_FLIGHT_SETS */
	tracer_handler_t handler;	 /* while tracer_consume() runs */
	void *userdata;

	uint64_t known_devices;	 /* bits by index: those that were handed out */
	uint64_t past_anomalies; /* of devices that are gone */
};

/* Whether there is a device of this index, at the bottom of its stack. */
bool device_is_followed(const struct tracer *tracer, uint32_t index);
