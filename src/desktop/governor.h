/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What wakegovd is asked and told. Failures are logged, and returned as a negative errno. */

#include "desktop/desktop.h"

/* Listens for what changes in it, and ends the event loop when it ends. */
int governor_listen(struct desktop *desktop);

/* Asks which profile holds; the bus is told when it is another one than before. So with those
 * below. */
int governor_refresh(struct desktop *desktop);

/* ours: a name of wakegovd's. */
int governor_choose(struct desktop *desktop, const char *ours);

/* Holds this one instead of what was held; NULL: none. */
int governor_hold(struct desktop *desktop, const char *ours);
