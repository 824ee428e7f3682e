/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* What cmocka.h wants included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
