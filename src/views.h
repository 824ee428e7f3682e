/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* views_io.c: the lists of struct query_source that are about I/O. userdata is the manager. */

#include "query/view.h"

int views_list_tasks(void *userdata, task_emit_t emit, void *context);
int views_list_devices(void *userdata, device_emit_t emit, void *context);
/* Reads /proc/interrupts once per device that there is something to say of. */
int views_list_advice(void *userdata, advice_emit_t emit, void *context);
