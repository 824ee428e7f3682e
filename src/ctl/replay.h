/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The result of a replay, as the JSON that wakegovctl(1) documents and as text for people. */

#include <jansson.h>

#include "record/replay.h"
#include "record/what_if.h"

/* outcome is the result of replay_run(), offset the place where it stopped. NULL without memory. */
json_t *replay_json(const struct topology *topology, int outcome, const struct replay *replay,
		    uint64_t offset);
void replay_show(const json_t *reply);

/* policy_path names the other policy. */
json_t *what_if_json(const struct what_if *what_if, const struct topology *topology,
		     const char *policy_path);
void what_if_show(const json_t *reply);
