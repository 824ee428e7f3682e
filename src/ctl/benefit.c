// SPDX-License-Identifier: GPL-2.0-only
/*
 * benefit: measures what wakegov gains on this machine, in a switchback experiment: pairs of
 * blocks, one under wakegov and one under another governor, in random order. Each block begins with
 * a time to settle that is not measured, so that earlier blocks do not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/load.h"
#include "ctl/benefit_answer.h"
#include "ctl/benefit_energy.h"
#include "ctl/benefit_model.h"
#include "ctl/benefit_plot.h"
#include "ctl/benefit_sample.h"
#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/quantity.h"
#include "ctl/show.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "tracer/wakeups.h"
#include "varlink/caller.h"

/*
 * The length of a block: a longer one leaves fewer, in a shorter one the block before still shows.
 */
#define SETTLE_SHARE 5
/* Longer than a block, as long as the daemon allows; it ends with its connection. */
#define HAND_BACK_US 3600000000LL
#define TAKE_OVER_NS (2 * NS_PER_S)

/* How often power sensors, and the frequencies for the model, are read. */
#define LOOK_NS NS_PER_S
/* The last line of the command's output. */
#define LINE_SIZE 4096

struct block {
	bool is_measured; /* neither interrupted nor disturbed */
	double figures[FIGURES];
};

/* Of a command, if its figure is asked for. */
struct output {
	int fd; /* negative: it has exited */
	char end[LINE_SIZE];
};

struct experiment {
	const struct ctl *ctl;
	uint64_t block_ns;
	uint64_t until_ns;
	uint32_t n_pairs; /* time that is measured */
	char *config; /* a configuration to compare with, instead of a governor; NULL: a governor */
	int signals;
	int lent_fd; /* the connection of HandBack; negative: wakegov governs */
	bool interrupted;
	json_t *governed;	 /* the governors of all domains while wakegov governs */
	FILE *plot;		 /* NULL: no picture is asked for */
	struct wakeups *wakeups; /* of the chosen tasks; NULL: none are timed */
	bool told_few;		 /* the user was told that they seldom wake up */
	struct energy_meter meter;
	struct model model;
	struct benefit_findings findings;
};

/* What another user could change during the experiment. */
static enum ctl_exit take_state(const struct ctl *ctl, json_t **ret)
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

static bool is_same(const json_t *before, const json_t *now, bool lent)
{
	const json_t *states = json_object_get(now, "states"), *state;
	size_t i;

	if (json_array_size(states) != json_array_size(json_object_get(before, "states")) ||
	    !json_equal(json_object_get(before, "overrides"), json_object_get(now, "overrides")) ||
	    !json_equal(json_object_get(before, "policy"), json_object_get(now, "policy")) ||
	    field_number(before, "uptime_us") > field_number(now, "uptime_us"))
		return false;
	json_array_foreach(states, i, state) {
		const char *was =
			json_string_value(json_array_get(json_object_get(before, "states"), i));
		const char *is = json_string_value(state);

		if (strcmp(is, lent && !strcmp(was, "driven") ? "handed-back" : was) != 0)
			return false;
	}
	return true;
}

static bool is_undisturbed(const struct experiment *experiment, enum ctl_exit *ret)
{
	json_auto_t *now = NULL;

	*ret = take_state(experiment->ctl, &now);
	return *ret == CTL_OK &&
	       is_same(experiment->governed, now, experiment->lent_fd >= 0 && !experiment->config);
}

static void mind_signals(struct experiment *experiment)
{
	struct pollfd fd = { .fd = experiment->signals, .events = POLLIN };

	experiment->interrupted |= poll(&fd, 1, 0) > 0;
}

/* Reads sensors once a second has passed since the last read. */
static void look(struct experiment *experiment)
{
	uint64_t now_ns = time_now_ns();

	if (now_ns < experiment->meter.read_ns + LOOK_NS)
		return;
	energy_read(&experiment->meter, now_ns);
	model_read(&experiment->model, now_ns);
}

static void wait_until(struct experiment *experiment, uint64_t until_ns)
{
	struct pollfd fd = { .fd = experiment->signals, .events = POLLIN };
	uint64_t now_ns;

	while (!experiment->interrupted && (now_ns = time_now_ns()) < until_ns) {
		uint64_t left_ns = until_ns - now_ns;

		poll(&fd, 1, (left_ns < LOOK_NS ? left_ns : LOOK_NS) / NS_PER_MS + 1);
		mind_signals(experiment);
		look(experiment);
	}
}

static const char *lending_method(const struct experiment *experiment)
{
	return experiment->config ? "io.wakegov.HoldPolicy" : "io.wakegov.HandBack";
}

static json_t *lending_parameters(const struct experiment *experiment)
{
	if (experiment->config)
		return json_pack("{ss}", "text", experiment->config);
	return json_pack("{ss* sI}", "governor", experiment->findings.against, "for_us",
			 (json_int_t)HAND_BACK_US);
}

/* Returns 1: the daemon has answered. */
static int take_answer(void *context, const json_t *reply)
{
	const struct experiment *experiment = context;

	if (!json_is_string(json_object_get(reply, "error")))
		return 1;
	complain_refusal(experiment->ctl->command->name, lending_method(experiment), reply);
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
	r = caller_stream(experiment->lent_fd, lending_method(experiment),
			  lending_parameters(experiment), take_answer, experiment);
	if (r == -ECANCELED)
		return CTL_REFUSED;
	return r < 0 ? complain_call(ctl->path, r) : CTL_OK;
}

static enum ctl_exit take_again(struct experiment *experiment)
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

/*
 * A configuration is a path; names of governors have no slash and no dot. Reports what is wrong
 * with it.
 */
static enum ctl_exit read_config(struct experiment *experiment)
{
	const char *path = experiment->findings.against;
	_cleanup_free_ char *message = NULL;
	_cleanup_close_ int fd = -1;
	struct policy *policy;
	struct stat st;
	int r;

	if (!path || !strpbrk(path, "/."))
		return CTL_OK;
	policy = malloc(sizeof(*policy));
	r = policy ? policy_load(path, false, NULL, policy, &message) : -ENOMEM;
	free(policy);
	if (r < 0) {
		complain_lines("", message ?: strerror(-r));
		return CTL_REFUSED;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0)
		experiment->config = calloc(1, (size_t)st.st_size + 1);
	if (experiment->config && read(fd, experiment->config, (size_t)st.st_size) == st.st_size)
		return CTL_OK;
	complain("cannot read %s: %s", path, strerror(errno));
	return CTL_REFUSED;
}

/* Prints what the command has written, and keeps the end of it. */
static void pass_on(struct output *output)
{
	char got[LINE_SIZE / 2];
	ssize_t n;

	while ((n = read(output->fd, got, sizeof(got))) > 0) {
		size_t kept = strlen(output->end);

		fwrite(got, 1, (size_t)n, stderr);
		if (kept + (size_t)n >= sizeof(output->end)) {
			memmove(output->end, output->end + n, kept - (size_t)n + 1);
			kept -= (size_t)n;
		}
		memcpy(output->end + kept, got, (size_t)n);
		output->end[kept + (size_t)n] = '\0';
	}
	if (n == 0) {
		close(output->fd);
		output->fd = -1;
	}
}

/*
 * Standard output is for the answer, so the command's goes to standard error. Ctrl-C reaches the
 * command too, as it has the same terminal.
 */
static pid_t start_command(const struct experiment *experiment, int output)
{
	pid_t pid = fork();
	sigset_t none;

	if (pid != 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(output, STDOUT_FILENO);
	execvp(experiment->ctl->arguments[0], experiment->ctl->arguments);
	complain("cannot run %s: %s", experiment->ctl->arguments[0], strerror(errno));
	_exit(127);
}

/* Returns whether the command exited with 0. */
static bool wait_for_command(struct experiment *experiment, pid_t pid, struct output *output)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd fds[] = { { .fd = experiment->signals, .events = POLLIN },
					{ .fd = output->fd, .events = POLLIN } };

		/* The resolution of a run time. */
		poll(fds, ARRAY_SIZE(fds), 1);
		look(experiment);
		if (fds[1].revents)
			pass_on(output);
		if (!fds[0].revents)
			continue;
		experiment->interrupted = true;
		kill(pid, SIGTERM);
		waitpid(pid, &status, 0);
		break;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Adds the command's figure, if it has one. Returns whether the command exited with 0. */
static bool run_command(struct experiment *experiment, double *figure)
{
	struct output output = { .fd = -1 };
	int fds[2] = { -1, STDERR_FILENO };
	double printed;
	bool well;
	pid_t pid;

	if (experiment->findings.own && pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	output.fd = fds[0];
	pid = start_command(experiment, fds[1]);
	if (experiment->findings.own)
		close(fds[1]);
	well = pid > 0 && wait_for_command(experiment, pid, &output);
	if (output.fd >= 0)
		pass_on(&output);
	if (output.fd >= 0)
		close(output.fd);
	if (!well || !experiment->findings.own)
		return well;
	if (!quantity_last_number(output.end, &printed)) {
		complain("%s printed no number in its last line", experiment->ctl->arguments[0]);
		return false;
	}
	*figure += printed;
	return true;
}

/* The block's mean run time and figure. */
static bool run_commands(struct experiment *experiment, uint64_t until_ns, double ret[FIGURES])
{
	uint64_t start_ns = time_now_ns();
	double sum = 0;
	uint32_t n = 0;

	do {
		if (!run_command(experiment, &sum))
			return false;
		n++;
	} while (!experiment->interrupted && time_now_ns() < until_ns);
	ret[FIGURE_RUN] = (double)(time_now_ns() - start_ns) / n / 1e9;
	ret[FIGURE_OWN] = sum / n;
	return true;
}

static void take_sample(struct experiment *experiment, struct benefit_sample *ret)
{
	benefit_sample(ret);
	energy_read(&experiment->meter, ret->time_ns);
	model_read(&experiment->model, ret->time_ns);
	ret->cpu_s = experiment->model.busy_s;
	if (experiment->wakeups)
		wakeups_read(experiment->wakeups, ret->wakeups);
	ret->joules = experiment->meter.joules;
	ret->n_lost = experiment->meter.n_lost;
	ret->full_cpu_s = experiment->model.full_cpu_s;
}

static void take_figures(const struct benefit_sample *from, const struct benefit_sample *to,
			 double ret[FIGURES])
{
	double s = (double)(to->time_ns - from->time_ns) / 1e9;
	double ios = (double)(to->ios - from->ios), domain_s = to->domain_s - from->domain_s;
	double waits = to->waits - from->waits;
	uint64_t wakeups[WAKEGOV_WAKEUP_BUCKETS];

	for (uint32_t i = 0; i < WAKEGOV_WAKEUP_BUCKETS; i++)
		wakeups[i] = to->wakeups[i] - from->wakeups[i];
	ret[FIGURE_WAKEUP] = benefit_wakeup_p99_us(wakeups);
	ret[FIGURE_IOS] = ios / s;
	ret[FIGURE_IO_TIME] = ios > 0 ? (double)(to->io_ms - from->io_ms) / ios : 0;
	ret[FIGURE_WAIT] = waits > 0 ? (to->wait_us - from->wait_us) / waits : 0;
	ret[FIGURE_CPU] = (to->cpu_s - from->cpu_s) / s;
	ret[FIGURE_ENERGY] = to->n_lost == from->n_lost ? (to->joules - from->joules) / s : 0;
	ret[FIGURE_ESTIMATE] = (to->full_cpu_s - from->full_cpu_s) / s;
	if (domain_s <= 0)
		return;
	ret[FIGURE_FREQUENCY] = (to->khz_s - from->khz_s) / domain_s / 1000;
	ret[FIGURE_CHANGES] = (double)(to->changes - from->changes) / s;
}

/* Says once that a block has none of those that were asked for: they may have ended. */
static void mind_wakeups(struct experiment *experiment, double p99_us)
{
	if (p99_us > 0 || !experiment->findings.wakeups_asked || experiment->told_few)
		return;
	complain("%s woke up less than %d times in a block: blocks like that have no p99 of it",
		 experiment->findings.wakeups_of, BENEFIT_WAKEUPS_LEAST);
	experiment->told_few = true;
}

static enum ctl_exit measure(struct experiment *experiment, bool with, struct block *ret)
{
	struct benefit_sample from, to;
	bool good = true;
	enum ctl_exit code = with ? take_again(experiment) : lend(experiment);
	uint64_t start_ns = time_now_ns();

	if (code != CTL_OK)
		return code;
	wait_until(experiment, start_ns + experiment->block_ns / SETTLE_SHARE);
	good = is_undisturbed(experiment, &code);
	take_sample(experiment, &from);
	if (!experiment->ctl->n_arguments)
		wait_until(experiment, start_ns + experiment->block_ns);
	else if (!experiment->interrupted &&
		 !run_commands(experiment, start_ns + experiment->block_ns, ret->figures) &&
		 !experiment->interrupted) {
		complain("%s failed: how long it runs says nothing", experiment->ctl->arguments[0]);
		return CTL_REFUSED;
	}
	take_sample(experiment, &to);
	if (code == CTL_OK)
		good &= is_undisturbed(experiment, &code);
	take_figures(&from, &to, ret->figures);
	ret->is_measured = good && !experiment->interrupted;
	if (ret->is_measured)
		mind_wakeups(experiment, ret->figures[FIGURE_WAKEUP]);
	return code;
}

static enum ctl_exit run_pairs(struct experiment *experiment)
{
	bool with_first[BENEFIT_PAIRS_MAX];
	enum ctl_exit code = CTL_OK;

	benefit_order(experiment->findings.seed, experiment->n_pairs, with_first);
	for (uint32_t i = 0; i < experiment->n_pairs && code == CTL_OK; i++) {
		struct block blocks[2] = { 0 };

		for (int half = 0; half < 2 && code == CTL_OK && !experiment->interrupted; half++)
			code = measure(experiment, with_first[i] != half, &blocks[half]);
		if (experiment->interrupted || time_now_ns() >= experiment->until_ns)
			experiment->n_pairs = i + 1;
		if (code == CTL_OK && blocks[0].is_measured && blocks[1].is_measured)
			benefit_take_pair(&experiment->findings, blocks[!with_first[i]].figures,
					  blocks[with_first[i]].figures);
		else if (!experiment->interrupted)
			experiment->findings.n_void++;
	}
	if (experiment->lent_fd >= 0)
		close(experiment->lent_fd);
	return code;
}

static enum ctl_exit run(struct experiment *experiment)
{
	enum ctl_exit code = take_state(experiment->ctl, &experiment->governed), printed;
	json_t *answer;
	sigset_t mask;

	if (code != CTL_OK)
		return code;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	experiment->signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (experiment->signals < 0) {
		complain("cannot wait for signals: %s", strerror(errno));
		return CTL_REFUSED;
	}
	code = run_pairs(experiment);
	close(experiment->signals);
	if (code != CTL_OK && !experiment->findings.n_pairs)
		return code;
	answer = benefit_answer(&experiment->findings);
	printed = ctl_print(experiment->ctl, answer, benefit_show_answer);
	if (experiment->plot)
		benefit_plot(experiment->plot, answer);
	json_decref(answer);
	return code != CTL_OK ? code : printed;
}

/* Opened before the experiment: that a picture cannot be written must not show at its end. */
static enum ctl_exit open_plot(struct experiment *experiment, const char *path)
{
	experiment->plot = path ? fopen(path, "we") : NULL;
	if (!path || experiment->plot)
		return CTL_OK;
	complain("cannot write %s: %s", path, strerror(errno));
	return CTL_REFUSED;
}

static enum ctl_exit close_plot(struct experiment *experiment, const char *path)
{
	bool failed = experiment->plot && ferror(experiment->plot);

	if ((experiment->plot && fclose(experiment->plot)) || failed) {
		complain("cannot write %s: %s", path, strerror(errno));
		return CTL_REFUSED;
	}
	return CTL_OK;
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
	if (wakeups_follow(&of, &experiment->wakeups, &n_tasks, &why) < 0) {
		complain("wake-ups cannot be timed: %s", why);
		return asked ? CTL_REFUSED : CTL_OK;
	}
	/* Of a name there may be one as soon as the command runs. */
	if (n_tasks || !asked || (of.program && has_command))
		return CTL_OK;
	complain("there is no process %s", asked);
	return CTL_REFUSED;
}

static void find_energy(struct experiment *experiment)
{
	uint64_t now_ns = time_now_ns();

	energy_find("/sys", now_ns, &experiment->meter);
	model_find("/sys", "/proc", now_ns, &experiment->model);
	experiment->findings.energy_source = experiment->meter.source;
	experiment->findings.estimate = experiment->model.is_of_kernel ? "the kernel's energy model"
								       : "frequency alone";
}

enum ctl_exit command_benefit(struct ctl *ctl)
{
	struct experiment experiment = {
		.ctl = ctl,
		.lent_fd = -1,
		.findings = { .against = ctl_value(ctl, "against"),
			      .own = ctl_value(ctl, "figure") },
	};
	struct benefit_findings *findings = &experiment.findings;
	uint64_t for_us = 600 * US_PER_S, block_us = 10 * US_PER_S, n;
	enum ctl_exit code;

	if (!ctl_duration(ctl, "for", &for_us) || !ctl_duration(ctl, "block", &block_us))
		return CTL_USAGE;
	n = for_us / block_us / 2;
	if (n < BENEFIT_PAIRS_LEAST || n > BENEFIT_PAIRS_MAX || block_us >= HAND_BACK_US)
		return ctl_misuse(ctl, "--for must be %d to %d times as long as --block",
				  2 * BENEFIT_PAIRS_LEAST, 2 * BENEFIT_PAIRS_MAX);
	if (findings->own && !ctl->n_arguments)
		return ctl_misuse(ctl, "--figure is of a command: -- COMMAND");
	experiment.n_pairs = (uint32_t)(for_us / block_us / 2);
	experiment.block_ns = block_us * NS_PER_US;
	experiment.until_ns = time_now_ns() + for_us * NS_PER_US;
	findings->block_s = (double)experiment.block_ns / 1e9;
	if (getrandom(&findings->seed, sizeof(findings->seed), 0) < 0)
		findings->seed = time_now_ns();
	findings->seed &= INT32_MAX;
	code = read_config(&experiment);
	if (code != CTL_OK)
		return code;
	find_energy(&experiment);
	code = open_plot(&experiment, ctl_value(ctl, "plot"));
	if (code != CTL_OK)
		return code;
	code = follow_wakeups(&experiment);
	if (code == CTL_OK)
		code = run(&experiment);
	if (close_plot(&experiment, ctl_value(ctl, "plot")) != CTL_OK && code == CTL_OK)
		code = CTL_REFUSED;
	wakeups_free(experiment.wakeups);
	model_deinit(&experiment.model);
	json_decref(experiment.governed);
	free(experiment.config);
	return code;
}
