// SPDX-License-Identifier: GPL-2.0-only
/* wakegovctl run: runs a command as one of a class, or with a cap or floor of its own. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "config/rule_keys.h"
#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"

#define RUN_FAILED	 125 /* as of env(1) and timeout(1): not the command's own status */
#define RUN_NOT_EXECUTED 126
#define RUN_NOT_FOUND	 127
#define RUN_FOR_US	 (30 * 24 * 3600 * 1000000LL) /* the longest; it ends with the task */

static json_t *pack_self(void)
{
	return json_pack("{sI sb sI}", "pid", (json_int_t)getpid(), "children", 1, "for_us",
			 (json_int_t)RUN_FOR_US);
}

static const struct {
	const char *option, *parameter;
} levels[] = {
	{ "cap", "cap" },
	{ "floor", "floor" },
	{ "response", "floor" },
	{ "idle-latency", "idle_latency" },
};

static json_t *pack_override(const struct ctl *ctl)
{
	json_t *parameters = pack_self();

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (ctl_value(ctl, levels[i].option))
			json_object_set_new(parameters, levels[i].parameter,
					    json_string(ctl_value(ctl, levels[i].option)));
	if (ctl_value(ctl, "no-boost"))
		json_object_set_new(parameters, "io_boost", json_string("off"));
	return parameters;
}

/* Whether options need an override, which only root and change-group may add. */
static bool overrides(const struct ctl *ctl)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (ctl_value(ctl, levels[i].option))
			return true;
	return ctl_value(ctl, "no-boost");
}

static enum ctl_exit call(const struct ctl *ctl, const char *method, json_t *parameters)
{
	json_t *reply;
	enum ctl_exit code = ctl_call(ctl, method, parameters, &reply);

	if (code == CTL_OK)
		json_decref(reply);
	return code;
}

/* Asks for this process, which becomes the command: hint and override end with it. */
static enum ctl_exit prepare(const struct ctl *ctl)
{
	const char *class = ctl_value(ctl, "class");
	enum ctl_exit code = CTL_OK;
	json_t *hint;

	if (class) {
		hint = pack_self();
		json_object_set_new(hint, "class", format_json(class));
		code = call(ctl, "io.wakegov.GiveHint", hint);
	}
	if (code == CTL_OK && overrides(ctl))
		code = call(ctl, "io.wakegov.AddOverride", pack_override(ctl));
	return code;
}

enum ctl_exit command_run(struct ctl *ctl)
{
	int error;

	if (!ctl->n_arguments) {
		ctl_misuse(ctl, "expected a command: wakegovctl run --cap 30%% -- make -j8");
		return RUN_FAILED;
	}
	if (!overrides(ctl) && !ctl_value(ctl, "class")) {
		ctl_misuse(ctl, "give --cap, --floor, --response, --idle-latency, --class or "
				"--no-boost");
		return RUN_FAILED;
	}
	if (!ctl_takes_level(ctl, "cap") || !ctl_takes_level(ctl, "floor") ||
	    !ctl_takes_response(ctl, "floor") || !ctl_takes_level(ctl, "idle-latency"))
		return RUN_FAILED;
	/* They are listed by the name that this process will have. */
	prctl(PR_SET_NAME, basename(ctl->arguments[0]));
	if (prepare(ctl) != CTL_OK)
		return RUN_FAILED;
	execvp(ctl->arguments[0], ctl->arguments);
	error = errno;
	complain("cannot run %s: %s", ctl->arguments[0], strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTED;
}
