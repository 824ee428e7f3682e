/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * Another policy, which is not in a file of this machine, while its client listens: wakegovctl
 * benefit compares it with the one in force. The backend, sizes of tables, permissions, and whether
 * a history is kept, stay as they are. A reload ends it.
 */

struct manager;

/*
 * Puts the policy of a text into force; the channel must have its subscriber. Returns 0, or a
 * negative errno with nothing changed and the error in *ret_message (see policy_files_read()).
 */
int policy_hold_start(struct manager *manager, const char *text, char **ret_message);
/* Another policy was read and is in force: there is none to return to. */
void policy_hold_forget(struct manager *manager);
void policy_hold_deinit(struct manager *manager);
