/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Where the daemon listens and wakegovctl connects, unless told otherwise. */
#define QUERY_SOCKET_PATH "/run/wakegov/io.wakegov"
