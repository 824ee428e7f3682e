/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Why BPF programs could not be loaded, and what to do: a static sentence for a negative errno of
 * libbpf. NULL: it was for none of the usual reasons.
 */
const char *load_error_words(int error);

/* The same by the files of the machine alone; NULL: none of its settings forbids it. */
const char *load_error_settings(void);
