/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Sets *ret_message to the sentence, which the caller frees; NULL without memory. Returns -EINVAL.
 */
int sim_refuse(char **ret_message, const char *format, ...) __attribute__((format(printf, 2, 3)));
