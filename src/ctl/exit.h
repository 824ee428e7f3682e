/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What wakegovctl exits with; documented in wakegovctl(1) and --help. */
enum ctl_exit {
	CTL_OK = 0,
	CTL_REFUSED = 1,     /* the daemon refused, or the call failed */
	CTL_USAGE = 2,	     /* the command line is wrong */
	CTL_UNREACHABLE = 3, /* no daemon answers on the socket, or it may not be opened */
	CTL_LOST = 4,	     /* the connection broke or timed out after it was made */
	CTL_DIFFERS = 5,     /* a replay decided something else than was recorded */
};
