/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Why BPF programs could not be loaded, and what to do: a static sentence for a negative errno of
 * libbpf. NULL: for an unusual reason.
 */
const char *load_error_words(int error);

/* The same from the machine's files alone; NULL: no setting forbids it. */
const char *load_error_settings(void);
