// SPDX-License-Identifier: GPL-2.0-only
/*
 * benefit: what wakegov is worth on this machine. A switchback experiment: in pairs of blocks, of
 * which one is wakegov's and the other that of another governor, in an order that is chance. What
 * came before does not count: each block begins with a time to settle that is not measured.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/benefit_sample.h"
#include "ctl/benefit_stats.h"
#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/connection.h"
#include "ctl/quantity.h"
#include "ctl/show.h"
#include "shared/cleanup.h"
#include "shared/time.h"

/* Of each block: longer leaves less to measure, shorter measures what the one before has left. */
#define SETTLE_SHARE 5
/* Longer than a block: it ends when its connection does. As long as the daemon allows. */
#define LEASE_US     3600000000LL
#define TAKE_OVER_NS (2 * NS_PER_S)

/* What a block says: 0 where it is not known. */
enum figure {
	FIGURE_RUN,
	FIGURE_IOS,
	FIGURE_IO_TIME,
	FIGURE_CPU,
	FIGURE_ENERGY,
	FIGURE_ESTIMATE,
	FIGURE_FREQUENCY,
	FIGURE_CHANGES,
	FIGURES,
};

static const struct {
	const char *key;
	const char *name;
	const char *more, *less;
	const char *unit;
} figures[FIGURES] = {
	[FIGURE_RUN] = { "run_s", "run time of the command", "longer", "shorter", "s" },
	[FIGURE_IOS] = { "ios_per_s", "I/Os", "more", "fewer", "/s" },
	[FIGURE_IO_TIME] = { "ms_per_io", "time per I/O", "longer", "shorter", "ms" },
	[FIGURE_CPU] = { "cpu_s_per_s", "CPU time", "more", "less", "s/s" },
	[FIGURE_ENERGY] = { "watts", "power, measured by powercap", "more", "less", "W" },
	[FIGURE_ESTIMATE] = { "energy_estimate",
			      "energy, an estimate: CPU time and the cube of the frequency", "more",
			      "less", "" },
	[FIGURE_FREQUENCY] = { "mhz", "mean frequency", "higher", "lower", "MHz" },
	[FIGURE_CHANGES] = { "changes_per_s", "changes of frequency", "more", "fewer", "/s" },
};

struct block {
	bool is_measured; /* not interrupted, and nobody interfered */
	double figures[FIGURES];
};

struct experiment {
	const struct ctl *ctl;
	const char *against; /* NULL: the governor before wakegov */
	uint64_t block_ns;
	uint64_t until_ns;
	uint64_t seed;
	uint32_t n_pairs;
	uint32_t n_done;
	uint32_t n_void; /* pairs */
	int signals;
	int lent_fd; /* of HandBack; negative: wakegov governs */
	bool interrupted;
	json_t *governed; /* who governs what, as it is when wakegov does */
	struct benefit_sums sums[FIGURES];
	double with[FIGURES]; /* added up, of the pairs that have the figure */
	double without[FIGURES];
};

/* Whatever somebody could change meanwhile. */
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
	/* An uptime that is less than before is another daemon's. */
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
	return *ret == CTL_OK && is_same(experiment->governed, now, experiment->lent_fd >= 0);
}

static void mind_signals(struct experiment *experiment)
{
	struct pollfd fd = { .fd = experiment->signals, .events = POLLIN };

	experiment->interrupted |= poll(&fd, 1, 0) > 0;
}

static void wait_until(struct experiment *experiment, uint64_t until_ns)
{
	struct pollfd fd = { .fd = experiment->signals, .events = POLLIN };
	uint64_t now_ns;

	while (!experiment->interrupted && (now_ns = time_now_ns()) < until_ns) {
		poll(&fd, 1, (until_ns - now_ns) / NS_PER_MS + 1);
		mind_signals(experiment);
	}
}

/* Returns 1: the daemon has answered, and goes on. */
static int take_answer(void *context, const json_t *reply)
{
	const struct experiment *experiment = context;

	if (!json_is_string(json_object_get(reply, "error")))
		return 1;
	complain_refusal(experiment->ctl->command->name, "io.wakegov.HandBack", reply);
	return -ECANCELED;
}

static enum ctl_exit lend(struct experiment *experiment)
{
	const struct ctl *ctl = experiment->ctl;
	int r;

	/* The block before, the second of its pair, was the other governor's as well. */
	if (experiment->lent_fd >= 0)
		return CTL_OK;
	experiment->lent_fd = connection_open(ctl->path, connection_deadline(ctl->timeout_ns));
	if (experiment->lent_fd < 0)
		return complain_open(ctl->path, experiment->lent_fd);
	r = connection_stream(experiment->lent_fd, "io.wakegov.HandBack",
			      json_pack("{ss* sI}", "governor", experiment->against, "for_us",
					(json_int_t)LEASE_US),
			      take_answer, experiment);
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
 * Returns whether it ended well. Standard output is for the answer; Ctrl-C goes to the command as
 * well, which is of the same terminal.
 */
static bool run_command(struct experiment *experiment)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(experiment->ctl->arguments[0], experiment->ctl->arguments);
		complain("cannot run %s: %s", experiment->ctl->arguments[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd fd = { .fd = experiment->signals, .events = POLLIN };

		/* A millisecond is what a run time is known to. */
		if (poll(&fd, 1, 1) <= 0)
			continue;
		experiment->interrupted = true;
		kill(pid, SIGTERM);
		waitpid(pid, &status, 0);
		break;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run_commands(struct experiment *experiment, uint64_t until_ns, double *ret_run_s)
{
	uint64_t start_ns = time_now_ns();
	uint32_t n = 0;

	do {
		if (!run_command(experiment))
			return false;
		n++;
	} while (!experiment->interrupted && time_now_ns() < until_ns);
	*ret_run_s = (double)(time_now_ns() - start_ns) / n / 1e9;
	return true;
}

static void take_figures(const struct benefit_sample *from, const struct benefit_sample *to,
			 double ret[FIGURES])
{
	double s = (double)(to->time_ns - from->time_ns) / 1e9;
	double ios = (double)(to->ios - from->ios), domain_s = to->domain_s - from->domain_s;

	ret[FIGURE_IOS] = ios / s;
	ret[FIGURE_IO_TIME] = ios > 0 ? (double)(to->io_ms - from->io_ms) / ios : 0;
	ret[FIGURE_CPU] = (to->cpu_s - from->cpu_s) / s;
	if (to->energy_uj > from->energy_uj)
		ret[FIGURE_ENERGY] = (double)(to->energy_uj - from->energy_uj) / 1e6 / s;
	if (domain_s <= 0)
		return;
	ret[FIGURE_ESTIMATE] = ret[FIGURE_CPU] * (to->cubed_s - from->cubed_s) / domain_s;
	ret[FIGURE_FREQUENCY] = (to->khz_s - from->khz_s) / domain_s / 1000;
	ret[FIGURE_CHANGES] = (double)(to->changes - from->changes) / s;
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
	benefit_sample(&from);
	if (!experiment->ctl->n_arguments)
		wait_until(experiment, start_ns + experiment->block_ns);
	else if (!experiment->interrupted &&
		 !run_commands(experiment, start_ns + experiment->block_ns,
			       &ret->figures[FIGURE_RUN]) &&
		 !experiment->interrupted) {
		complain("%s failed: how long it runs says nothing", experiment->ctl->arguments[0]);
		return CTL_REFUSED;
	}
	benefit_sample(&to);
	if (code == CTL_OK)
		good &= is_undisturbed(experiment, &code);
	take_figures(&from, &to, ret->figures);
	ret->is_measured = good && !experiment->interrupted;
	return code;
}

static void add_pair(struct experiment *experiment, const struct block *with,
		     const struct block *without)
{
	for (int i = 0; i < FIGURES; i++) {
		if (with->figures[i] <= 0 || without->figures[i] <= 0)
			continue;
		benefit_add(&experiment->sums[i], with->figures[i], without->figures[i]);
		experiment->with[i] += with->figures[i];
		experiment->without[i] += without->figures[i];
	}
	experiment->n_done++;
}

static enum ctl_exit run_pairs(struct experiment *experiment)
{
	bool with_first[BENEFIT_PAIRS_MAX];
	enum ctl_exit code = CTL_OK;

	benefit_order(experiment->seed, experiment->n_pairs, with_first);
	for (uint32_t i = 0; i < experiment->n_pairs && code == CTL_OK; i++) {
		struct block blocks[2] = { 0 };

		for (int half = 0; half < 2 && code == CTL_OK && !experiment->interrupted; half++)
			code = measure(experiment, with_first[i] != half, &blocks[half]);
		if (experiment->interrupted || time_now_ns() >= experiment->until_ns)
			experiment->n_pairs = i + 1;
		if (code == CTL_OK && blocks[0].is_measured && blocks[1].is_measured)
			add_pair(experiment, &blocks[!with_first[i]], &blocks[with_first[i]]);
		else if (!experiment->interrupted)
			experiment->n_void++;
	}
	if (experiment->lent_fd >= 0)
		close(experiment->lent_fd);
	return code;
}

static void show_figure(const json_t *figure)
{
	double low = json_number_value(json_object_get(figure, "low"));
	double high = json_number_value(json_object_get(figure, "high"));
	double percent = 100 * (json_number_value(json_object_get(figure, "ratio")) - 1);
	double half = 50 * (high - low);
	int i = (int)field_number(figure, "index");

	if (low <= 1 && high >= 1)
		printf("  no difference found; one above %.1f %% would have been: %s (", half,
		       figures[i].name);
	else
		printf("  %.1f %% ± %.1f %% %s: %s (", fabs(percent), half,
		       percent > 0 ? figures[i].more : figures[i].less, figures[i].name);
	printf("%.4g against %.4g %s)\n", json_number_value(json_object_get(figure, "with")),
	       json_number_value(json_object_get(figure, "without")), figures[i].unit);
}

static void show_answer(const json_t *answer)
{
	const char *against = field_text(answer, "against");
	const json_t *figure;
	size_t i;

	printf("%d pairs of blocks, %d more were void; with wakegov, against %s:\n",
	       (int)field_number(answer, "pairs"), (int)field_number(answer, "void"),
	       against ? against : "the governor before it");
	json_array_foreach(json_object_get(answer, "figures"), i, figure)
		show_figure(figure);
	if (!i)
		printf("  too little was measured to say: it takes %d pairs\n",
		       BENEFIT_PAIRS_LEAST);
}

static enum ctl_exit answer(const struct experiment *experiment)
{
	json_auto_t *found = json_array();
	json_auto_t *all = json_pack("{ss? sI sI sI sf sO}", "against", experiment->against,
				     "pairs", (json_int_t)experiment->n_done, "void",
				     (json_int_t)experiment->n_void, "seed",
				     (json_int_t)experiment->seed, "block_s",
				     (double)experiment->block_ns / 1e9, "figures", found);

	for (int i = 0; i < FIGURES; i++) {
		double n = experiment->sums[i].n;
		struct benefit_ratio ratio;

		if (benefit_ratio(&experiment->sums[i], &ratio))
			json_array_append_new(found,
					      json_pack("{ss sI sI sf sf sf sf sf}", "name",
							figures[i].key, "index", (json_int_t)i,
							"pairs", (json_int_t)n, "ratio",
							ratio.ratio, "low", ratio.low, "high",
							ratio.high, "with", experiment->with[i] / n,
							"without", experiment->without[i] / n));
	}
	return ctl_print(experiment->ctl, all, show_answer);
}

static enum ctl_exit run(struct experiment *experiment)
{
	enum ctl_exit code = take_state(experiment->ctl, &experiment->governed), printed;
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
	if (code != CTL_OK && !experiment->n_done)
		return code;
	printed = answer(experiment);
	return code != CTL_OK ? code : printed;
}

static bool take_time(const struct ctl *ctl, const char *option, uint64_t *ns)
{
	const char *text = ctl_value(ctl, option);
	uint64_t us;

	if (!text)
		return true;
	if (!quantity_duration_us(text, &us) || !us || us > UINT64_MAX / NS_PER_US)
		return false;
	*ns = us * NS_PER_US;
	return true;
}

enum ctl_exit command_benefit(struct ctl *ctl)
{
	struct experiment experiment = {
		.ctl = ctl,
		.against = ctl_value(ctl, "against"),
		.block_ns = 10 * NS_PER_S,
		.lent_fd = -1,
	};
	uint64_t for_ns = 600 * NS_PER_S, n;
	enum ctl_exit code;

	if (!take_time(ctl, "for", &for_ns) || !take_time(ctl, "block", &experiment.block_ns))
		return ctl_misuse(ctl, "expected times such as --for 10m --block 10s");
	n = for_ns / experiment.block_ns / 2;
	if (n < BENEFIT_PAIRS_LEAST || n > BENEFIT_PAIRS_MAX ||
	    experiment.block_ns >= LEASE_US * NS_PER_US)
		return ctl_misuse(ctl, "--for must be %d to %d times as long as --block",
				  2 * BENEFIT_PAIRS_LEAST, 2 * BENEFIT_PAIRS_MAX);
	experiment.n_pairs = (uint32_t)n;
	experiment.until_ns = time_now_ns() + for_ns;
	if (getrandom(&experiment.seed, sizeof(experiment.seed), 0) < 0)
		experiment.seed = time_now_ns();
	experiment.seed &= INT32_MAX;
	code = run(&experiment);
	json_decref(experiment.governed);
	return code;
}
