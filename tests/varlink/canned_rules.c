// SPDX-License-Identifier: GPL-2.0-only
#include "canned_rules.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shared/cleanup.h"

static const struct rule_view canned_rule = { "backup", "x.conf", 12,	"comm = tar*", "policy4",
					      NULL,	"30%",	  NULL, "off",	       5,
					      17,	false,	  NULL };

int canned_rules(void *userdata, rule_emit_t emit, void *context)
{
	return emit(context, &canned_rule);
}

int canned_rule_tasks(void *userdata, const char *rule, uint32_t from, matched_emit_t emit,
		      void *context)
{
	/* Itself: the only one with a name that is known. */
	const uint32_t pids[] = { (uint32_t)getpid(), 4194303, 4194302, 4194301, 4194300 };
	int r = 0;

	if (strcmp(rule, canned_rule.name) != 0)
		return -ENOENT;
	for (uint32_t i = from; r == 0 && i < ARRAY_SIZE(pids); i++) {
		const struct matched_view view = { pids[i], 800, i };

		r = emit(context, &view);
	}
	return r < 0 ? r : 0;
}

int canned_capped_tasks(void *userdata, uint32_t from, capped_emit_t emit, void *context)
{
	static const struct capped_view tasks[] = {
		{ 900, 900, "tar", "30%", "backup", "x.conf", 12, 0 },
		{ 901, 900, "tar", "30%", "backup", "x.conf", 12, 4 },
		{ 950, 950, "make", "1200000kHz", "override-3", "", 0, 7 },
	};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < ARRAY_SIZE(tasks); i++)
		if (tasks[i].place >= from)
			r = emit(context, &tasks[i]);
	return r < 0 ? r : 0;
}

void canned_count_rules(void *userdata, struct rules_view *ret)
{
	*ret = (struct rules_view){ .tasks = 3, .max_tasks = 16384, .refused = 2 };
}

/* 812 is root's, and the rule knows it by its command line. */
int canned_explain_rules(void *userdata, uint32_t pid, struct ruled_task_view *ret,
			 task_rule_emit_t emit, void *context)
{
	const struct task_rule_view view = {
		canned_rule, true, "command is 'tar c' (command = tar*)", true, true, false, true
	};

	if (pid != 812)
		return -ESRCH;
	*ret = (struct ruled_task_view){ .pid = pid, .tgid = 800, .comm = "tar" };
	return emit(context, &view);
}
