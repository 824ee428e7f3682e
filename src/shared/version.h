/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* As src/shared/version.sh prints it: "0.3.0", or between releases "0.3.0~git940.1a2b3c4". */
extern const char wakegov_version[];
