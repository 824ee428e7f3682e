/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What wakegovd is asked and told. Failures are logged, and returned as a negative errno. */

#include "desktop/desktop.h"

/* Listens for what changes in it, and ends the event loop when it ends. */
int governor_listen(struct desktop *desktop);

/*
 * Asks wakegovd which profile holds. When that has changed, those who listen on the bus are told;
 * so they are by the two functions below.
 */
int governor_refresh(struct desktop *desktop);

/* ours: a name of wakegovd's. */
int governor_choose(struct desktop *desktop, const char *ours);

/* Holds this one instead of what was held; NULL: none. */
int governor_hold(struct desktop *desktop, const char *ours);
