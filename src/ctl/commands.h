/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/*
 * The commands that do more than one call; each has a file of its name, but those that read a
 * recording are in recordings.c.
 */

#include "ctl/command.h"

/* All commands, in the order of --help; ends with a NULL name. */
extern const struct ctl_command ctl_commands[];

enum ctl_exit command_decisions(struct ctl *ctl);
enum ctl_exit command_doctor(struct ctl *ctl);
enum ctl_exit command_complete(struct ctl *ctl);
enum ctl_exit command_explain(struct ctl *ctl);
enum ctl_exit command_monitor(struct ctl *ctl);
enum ctl_exit command_hint(struct ctl *ctl);
enum ctl_exit command_import(struct ctl *ctl);
enum ctl_exit command_override(struct ctl *ctl);
enum ctl_exit command_run(struct ctl *ctl);
enum ctl_exit command_profile(struct ctl *ctl);
enum ctl_exit command_rules(struct ctl *ctl);
enum ctl_exit command_stats(struct ctl *ctl);
enum ctl_exit command_tasks(struct ctl *ctl);
enum ctl_exit command_top(struct ctl *ctl); /* only if built with ncurses */
enum ctl_exit command_benefit(struct ctl *ctl);
enum ctl_exit command_report(struct ctl *ctl);
enum ctl_exit command_record(struct ctl *ctl);
enum ctl_exit command_replay(struct ctl *ctl);
enum ctl_exit command_export(struct ctl *ctl);

/* The rules of one task: a part of explain, and the whole of "rules PID". */
enum ctl_exit rules_ask_task(const struct ctl *ctl, uint64_t pid, json_t **ret);
void rules_print_task(FILE *file, const json_t *reply);

/* Whether the option is absent or valid. Returns false after printing why. */
bool run_takes_level(const struct ctl *ctl, const char *option);
/* The same for --response, which is also refused beside the other option for a floor. */
bool run_takes_response(const struct ctl *ctl, const char *floor);

/* The findings of doctor, which report shows too. NULL: it failed, which was printed. */
json_t *doctor_findings(const struct ctl *ctl, bool *ret_bad);
void doctor_show(const json_t *findings);
