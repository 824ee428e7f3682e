/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* The output of src/shared/version.sh: "0.3.0", or between releases "0.3.0~git940.1a2b3c4". */
extern const char wakegov_version[];
