// SPDX-License-Identifier: GPL-2.0-only
/*
 * benefit: measures what wakegov gains on this machine, in a switchback experiment: pairs of
 * blocks, one under wakegov and one under another governor, in random order. Each block begins with
 * a time to settle that is not measured, so that earlier blocks do not count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "config/file.h"
#include "config/load.h"
#include "ctl/benefit.h"
#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "tracer/wakeups.h"
#include "varlink/caller.h"

#define HOLD_POLICY "io.wakegov.HoldPolicy"
#define HAND_BACK   "io.wakegov.HandBack"

/* The first fifth of a block is not measured: the block before it still shows there. */
#define SETTLE_SHARE 5
/* Longer than a block, as long as the daemon allows; it ends with its connection. */
#define HAND_BACK_US 3600000000LL
#define TAKE_OVER_NS (2 * NS_PER_S)

struct block {
	bool is_measured; /* neither interrupted nor disturbed */
	double figures[FIGURES];
};

struct experiment {
	const struct ctl *ctl;
	uint64_t block_ns;
	uint64_t until_ns;
	uint32_t n_pairs; /* until then */
	char *config; /* a configuration to compare with, instead of a governor; NULL: a governor */
	int lent_fd;  /* the connection of HandBack; negative: wakegov governs */
	json_t *governed; /* what ask_state() gave while wakegov governs */
	FILE *plot;	  /* NULL: no picture is asked for */
	bool told_few;	  /* the user was told that the chosen tasks seldom wake up */
	struct benefit_meters meters;
	struct benefit_findings findings;
};

/* What another user could change during the experiment. */
static enum ctl_exit ask_state(const struct ctl *ctl, json_t **ret)
{
	json_auto_t *status = NULL, *overrides = NULL, *states = json_array(), *ids = json_array();
	const json_t *item;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Status", NULL, &status);
	size_t i;

	if (code == CTL_OK)
		code = ctl_call(ctl, "io.wakegov.Overrides", NULL, &overrides);
	if (code != CTL_OK)
		return code;
	json_array_foreach(json_object_get(status, "domains"), i, item)
		json_array_append(states, json_object_get(item, "state"));
	json_array_foreach(json_object_get(overrides, "overrides"), i, item)
		json_array_append(ids, json_object_get(item, "id"));
	/* An uptime shorter than before belongs to another daemon. */
	*ret = json_pack("{sO sO sO sO}", "states", states, "overrides", ids, "policy",
			 json_object_get(status, "policy"), "uptime_us",
			 json_object_get(status, "uptime_us"));
	return *ret ? CTL_OK : CTL_LOST;
}

/* Whether the rest of the machine is as it was while wakegov governed; *ret says whether it
 * answers. */
static bool is_undisturbed(const struct experiment *experiment, enum ctl_exit *ret)
{
	bool handed_back = experiment->lent_fd >= 0 && !experiment->config;
	const json_t *before = experiment->governed, *states, *state;
	json_auto_t *now = NULL;
	size_t i;

	*ret = ask_state(experiment->ctl, &now);
	states = json_object_get(before, "states");
	if (*ret != CTL_OK ||
	    json_array_size(states) != json_array_size(json_object_get(now, "states")) ||
	    !json_equal(json_object_get(before, "overrides"), json_object_get(now, "overrides")) ||
	    !json_equal(json_object_get(before, "policy"), json_object_get(now, "policy")) ||
	    field_number(before, "uptime_us") > field_number(now, "uptime_us"))
		return false;
	json_array_foreach(states, i, state) {
		const char *was = json_string_value(state);
		const char *is =
			json_string_value(json_array_get(json_object_get(now, "states"), i));

		if (strcmp(is, handed_back && !strcmp(was, "driven") ? "handed-back" : was) != 0)
			return false;
	}
	return true;
}

/* Returns 1: the daemon has answered. */
static int on_answer(void *context, const json_t *reply)
{
	const struct experiment *experiment = context;

	if (!json_is_string(json_object_get(reply, "error")))
		return 1;
	complain_refusal(experiment->ctl->command->name,
			 experiment->config ? HOLD_POLICY : HAND_BACK, reply);
	return -ECANCELED;
}

static enum ctl_exit lend(struct experiment *experiment)
{
	const struct ctl *ctl = experiment->ctl;
	int r;

	/* The previous block, second of its pair, was also under the other governor. */
	if (experiment->lent_fd >= 0)
		return CTL_OK;
	experiment->lent_fd = caller_open(ctl->path, caller_deadline(ctl->timeout_ns));
	if (experiment->lent_fd < 0)
		return complain_open(ctl->path, experiment->lent_fd);
	if (experiment->config)
		r = caller_stream(experiment->lent_fd, HOLD_POLICY,
				  json_pack("{ss}", "text", experiment->config), on_answer,
				  experiment);
	else
		r = caller_stream(experiment->lent_fd, HAND_BACK,
				  json_pack("{ss* sI}", "governor", experiment->findings.against,
					    "for_us", (json_int_t)HAND_BACK_US),
				  on_answer, experiment);
	if (r == -ECANCELED)
		return CTL_REFUSED;
	return r < 0 ? complain_call(ctl->path, r) : CTL_OK;
}

static enum ctl_exit end_hand_back(struct experiment *experiment)
{
	uint64_t until_ns = time_now_ns() + TAKE_OVER_NS;
	enum ctl_exit code = CTL_OK;

	if (experiment->lent_fd < 0)
		return CTL_OK;
	close(experiment->lent_fd);
	experiment->lent_fd = -1;
	while (!is_undisturbed(experiment, &code) && code == CTL_OK && time_now_ns() < until_ns)
		usleep(10000);
	return code;
}

/* Reports what is wrong with the configuration. */
static enum ctl_exit read_config(struct experiment *experiment)
{
	const char *path = experiment->findings.against;
	_cleanup_free_ char *message = NULL;
	struct policy policy;
	size_t size;
	int r = policy_load(path, false, NULL, &policy, &message);

	if (r == 0)
		r = policy_file_read(path, &experiment->config, &size, &message);
	if (r == 0)
		return CTL_OK;
	complain_lines("", message ?: strerror(-r));
	return CTL_REFUSED;
}

static enum ctl_exit measure(struct experiment *experiment, bool with, struct block *ret)
{
	struct benefit_meters *meters = &experiment->meters;
	const struct benefit_findings *findings = &experiment->findings;
	enum ctl_exit code = with ? end_hand_back(experiment) : lend(experiment);
	uint64_t start_ns = time_now_ns();
	bool good;

	if (code != CTL_OK)
		return code;
	benefit_wait(meters, start_ns + experiment->block_ns / SETTLE_SHARE);
	good = is_undisturbed(experiment, &code);
	if (!benefit_measure(meters, start_ns + experiment->block_ns, ret->figures))
		return CTL_REFUSED;
	if (code == CTL_OK)
		good &= is_undisturbed(experiment, &code);
	ret->is_measured = good && !meters->interrupted;
	if (ret->is_measured && findings->wakeups_asked && !experiment->told_few &&
	    !ret->figures[FIGURE_WAKEUP]) {
		/* They may have ended. */
		complain("%s woke up less than %d times in a block: blocks like that have no p99 "
			 "of it",
			 findings->wakeups_of, BENEFIT_WAKEUPS_LEAST);
		experiment->told_few = true;
	}
	return code;
}

static enum ctl_exit run_pairs(struct experiment *experiment)
{
	bool with_first[BENEFIT_PAIRS_MAX];
	enum ctl_exit code = CTL_OK;

	benefit_order(experiment->findings.seed, experiment->n_pairs, with_first);
	for (uint32_t i = 0; i < experiment->n_pairs && code == CTL_OK; i++) {
		struct block blocks[2] = { 0 };

		for (int half = 0; half < 2 && code == CTL_OK && !experiment->meters.interrupted;
		     half++)
			code = measure(experiment, with_first[i] != half, &blocks[half]);
		/* A command makes its blocks longer: some pairs are measured in any case. */
		if (experiment->meters.interrupted ||
		    (i + 1 >= BENEFIT_PAIRS_LEAST && time_now_ns() >= experiment->until_ns))
			experiment->n_pairs = i + 1;
		if (code == CTL_OK && blocks[0].is_measured && blocks[1].is_measured)
			benefit_add_pair(&experiment->findings, blocks[!with_first[i]].figures,
					 blocks[with_first[i]].figures);
		else if (!experiment->meters.interrupted)
			experiment->findings.n_void++;
	}
	if (experiment->lent_fd >= 0)
		close(experiment->lent_fd);
	return code;
}

static enum ctl_exit run(struct experiment *experiment)
{
	enum ctl_exit code = ask_state(experiment->ctl, &experiment->governed), printed;
	json_t *answer;

	if (code != CTL_OK)
		return code;
	experiment->meters.signals = ctl_catch_signals();
	if (experiment->meters.signals < 0)
		return CTL_REFUSED;
	code = run_pairs(experiment);
	close(experiment->meters.signals);
	if (code != CTL_OK && !experiment->findings.n_pairs)
		return code;
	answer = benefit_answer(&experiment->findings);
	printed = ctl_print(experiment->ctl, answer, benefit_show_answer);
	if (experiment->plot)
		benefit_plot(experiment->plot, answer);
	json_decref(answer);
	return code != CTL_OK ? code : printed;
}

/*
 * Those of the tasks that were asked for, else those of the command, without which the rest can be
 * measured as well.
 */
static enum ctl_exit follow_wakeups(struct experiment *experiment)
{
	const char *asked = ctl_value(experiment->ctl, "wakeups"), *why;
	bool has_command = experiment->ctl->n_arguments > 0;
	struct wakeups_of of = { .program = asked };
	uint64_t pid = 0;
	uint32_t n_tasks;

	if (!asked && !has_command)
		return CTL_OK;
	if (!asked)
		of = (struct wakeups_of){ .parent = (uint32_t)getpid() };
	else if (quantity_number(asked, &pid))
		of = (struct wakeups_of){ .pid = pid <= INT32_MAX ? (uint32_t)pid : 0 };
	experiment->findings.wakeups_asked = asked != NULL;
	experiment->findings.wakeups_of = asked ?: experiment->ctl->arguments[0];
	if (wakeups_follow(&of, &experiment->meters.wakeups, &n_tasks, &why) < 0) {
		complain("wake-ups cannot be timed: %s", why);
		return asked ? CTL_REFUSED : CTL_OK;
	}
	/* Of a name there may be one as soon as the command runs. */
	if (n_tasks || !asked || (of.program && has_command))
		return CTL_OK;
	complain("there is no process %s", asked);
	return CTL_REFUSED;
}

/* Reads the options. Returns CTL_OK, or CTL_USAGE after printing what is wrong. */
static enum ctl_exit plan(struct experiment *experiment)
{
	struct benefit_findings *findings = &experiment->findings;
	const struct ctl *ctl = experiment->ctl;
	uint64_t for_us = 600 * US_PER_S, block_us = 10 * US_PER_S, n_pairs;

	if (!ctl_duration(ctl, "for", &for_us) || !ctl_duration(ctl, "block", &block_us))
		return CTL_USAGE;
	n_pairs = for_us / block_us / 2;
	if (n_pairs < BENEFIT_PAIRS_LEAST || n_pairs > BENEFIT_PAIRS_MAX ||
	    block_us >= HAND_BACK_US)
		return ctl_misuse(ctl, "--for must be %d to %d times as long as --block",
				  2 * BENEFIT_PAIRS_LEAST, 2 * BENEFIT_PAIRS_MAX);
	if (findings->own && !ctl->n_arguments)
		return ctl_misuse(ctl, "--figure is of a command: -- COMMAND");
	experiment->n_pairs = (uint32_t)n_pairs;
	experiment->block_ns = block_us * NS_PER_US;
	experiment->until_ns = time_now_ns() + for_us * NS_PER_US;
	findings->block_s = (double)experiment->block_ns / 1e9;
	if (getrandom(&findings->seed, sizeof(findings->seed), 0) < 0)
		findings->seed = time_now_ns();
	findings->seed &= INT32_MAX;
	return CTL_OK;
}

enum ctl_exit command_benefit(struct ctl *ctl)
{
	const char *own = ctl_value(ctl, "figure"), *plot = ctl_value(ctl, "plot");
	const char *against = ctl_value(ctl, "against");
	struct experiment experiment = {
		.ctl = ctl,
		.lent_fd = -1,
		.meters = { .ctl = ctl, .own = own },
		.findings = { .against = against, .own = own },
	};
	struct benefit_meters *meters = &experiment.meters;
	enum ctl_exit code = plan(&experiment);
	uint64_t now_ns = time_now_ns();

	/* A configuration is a path; names of governors have no slash and no dot. */
	if (code == CTL_OK && against && strpbrk(against, "/."))
		code = read_config(&experiment);
	if (code != CTL_OK)
		return code;
	energy_find("/sys", now_ns, &meters->energy);
	model_find("/sys", "/proc", now_ns, &meters->model);
	experiment.findings.energy_source = meters->energy.source;
	experiment.findings.estimate = meters->model.is_of_kernel ? "the kernel's energy model"
								  : "frequency alone";
	/* Opened before the experiment, so that a failure does not show only at its end. */
	experiment.plot = plot ? ctl_open_output(plot) : NULL;
	code = plot && !experiment.plot ? CTL_REFUSED : follow_wakeups(&experiment);
	if (code == CTL_OK)
		code = run(&experiment);
	if (experiment.plot)
		code = ctl_close_output(experiment.plot, plot, code);
	wakeups_free(meters->wakeups);
	model_deinit(&meters->model);
	json_decref(experiment.governed);
	free(experiment.config);
	return code;
}
