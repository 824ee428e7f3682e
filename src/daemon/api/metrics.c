// SPDX-License-Identifier: GPL-2.0-only
/*
 * The daemon's counters as text for a monitoring system. The number of series is bounded by the
 * machine: some per domain, and one per OPP. Tasks are counted by state, not named.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/history/stats.h"
#include "daemon/modules/idle_latency.h"
#include "daemon/modules/placing.h"
#include "daemon/process.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "shared/version.h"

#define LINE_MAX_BYTES 512

enum metrics_format {
	METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
	METRICS_PROMETHEUS,  /* Prometheus' text format 0.0.4, as node_exporter reads files */
};

struct metrics {
	struct buffer text;
	enum metrics_format format;
	const char *family; /* the present family */
	bool counts;	    /* the family is a counter */
	int error;
};

__attribute__((format(printf, 2, 3))) static void put(struct metrics *metrics, const char *format,
						      ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length >= (int)sizeof(line))
		metrics->error = -EMSGSIZE;
	if (!metrics->error)
		metrics->error = buffer_append(&metrics->text, line, length);
}

/* Samples of a counter end with _total; in the older format the family's name does too. */
static void begin(struct metrics *metrics, const char *family, bool counts, const char *help)
{
	const char *suffix = counts && metrics->format == METRICS_PROMETHEUS ? "_total" : "";

	metrics->family = family;
	metrics->counts = counts;
	put(metrics, "# HELP %s%s %s\n", family, suffix, help);
	put(metrics, "# TYPE %s%s %s\n", family, suffix, counts ? "counter" : "gauge");
}

/* labels: name="value" pairs in braces, or "". No value needs quoting. */
static void sample(struct metrics *metrics, const char *labels, uint64_t value)
{
	put(metrics, "%s%s%s %" PRIu64 "\n", metrics->family, metrics->counts ? "_total" : "",
	    labels, value);
}

static void sample_named(struct metrics *metrics, const char *label, const char *name, uint64_t n)
{
	char labels[80];

	snprintf(labels, sizeof(labels), "{%s=\"%s\"}", label, name);
	sample(metrics, labels, n);
}

static void sample_us(struct metrics *metrics, const char *labels, uint64_t us)
{
	put(metrics, "%s%s%s %llu.%06llu\n", metrics->family, metrics->counts ? "_total" : "",
	    labels, us / US_PER_S, us % US_PER_S);
}

static void one(struct metrics *metrics, const char *family, bool counts, uint64_t value,
		const char *help)
{
	begin(metrics, family, counts, help);
	sample(metrics, "", value);
}

static const struct {
	const char *family;
	const char *help;
	bool counts;
	bool is_known; /* 0 is a value; otherwise 0 means unknown */
} domain_families[] = {
	{ "wakegov_domain_frequency_hertz", "What the kernel says that the domain runs at." },
	{ "wakegov_domain_target_hertz", "What the domain was last told to run at." },
	{ "wakegov_domain_driven", "1: wakegov drives the domain.", false, true },
	{ "wakegov_domain_yielded", "1: wakegov leaves the domain to another program.", false,
	  true },
	{ "wakegov_domain_utilisation", "Of the domain's busiest CPU, 0 to 1024.", false, true },
	{ "wakegov_domain_writes", "Frequencies written.", true, true },
	{ "wakegov_domain_write_errors", "Frequencies that could not be written.", true, true },
	{ "wakegov_domain_read_back_mismatches",
	  "Writes after which the kernel reported another frequency.", true, true },
};

#define DOMAIN_FAMILIES ARRAY_SIZE(domain_families)

static void read_domain(struct core *core, uint32_t domain, uint64_t ret[static DOMAIN_FAMILIES])
{
	struct actuator_domain *actuator = &core->domains[domain].actuator;
	uint32_t khz = 0;

	actuator_domain_read_back(actuator, &khz);
	*ret++ = khz * UINT64_C(1000);
	*ret++ = api_asked(core, domain).target_khz * UINT64_C(1000);
	*ret++ = governed_is_driven(&core->domains[domain]);
	*ret++ = actuator->state == ACTUATOR_STATE_YIELDED;
	*ret++ = api_utilisation(core, domain);
	*ret++ = actuator->writes;
	*ret++ = actuator->write_errors;
	*ret++ = actuator->read_back_mismatches;
}

static void put_domains(struct metrics *metrics, struct core *core)
{
	_cleanup_free_ uint64_t(*values)[DOMAIN_FAMILIES] = calloc(core->n_domains + 1,
								   sizeof(*values));

	if (!values) {
		metrics->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < core->n_domains; i++)
		read_domain(core, i, values[i]);
	for (size_t f = 0; f < DOMAIN_FAMILIES; f++) {
		begin(metrics, domain_families[f].family, domain_families[f].counts,
		      domain_families[f].help);
		for (uint32_t i = 0; i < core->n_domains; i++)
			if (values[i][f] || domain_families[f].is_known)
				sample_named(metrics, "domain", core->topology->domains[i].name,
					     values[i][f]);
	}
}

/* The time of all domains together: of each it would be most of the series of a large machine. */
struct times {
	uint64_t by_reason_ns[REASON_LAST + 1];
	uint32_t n_opps; /* different ones */
	struct {
		uint32_t khz;
		uint64_t ns;
	} opps[];
};

static void add_times(struct times *times, const struct past *past, uint32_t index, uint32_t opp)
{
	uint32_t khz = past->core->topology->domains[index].opp_khz[opp], i = 0;

	while (i < times->n_opps && times->opps[i].khz != khz)
		i++;
	if (i == times->n_opps)
		times->opps[times->n_opps++].khz = khz;
	for (enum reason reason = 0; reason <= REASON_LAST; reason++) {
		uint64_t ns = stats_ns(past->stats, index, opp, reason);

		times->opps[i].ns += ns;
		times->by_reason_ns[reason] += ns;
	}
}

static void put_times(struct metrics *metrics, const struct past *past)
{
	const struct topology *topology = past->core->topology;
	_cleanup_free_ struct times *times = calloc(
		1,
		sizeof(*times) + past->core->n_domains * DOMAIN_OPPS_MAX * sizeof(times->opps[0]));
	char labels[64];

	if (!times) {
		metrics->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < past->core->n_domains; i++)
		for (uint32_t opp = 0; opp < topology->domains[i].n_opps; opp++)
			add_times(times, past, i, opp);
	begin(metrics, "wakegov_opp_seconds", true,
	      "For how long domains were told to run at an operating point, summed over the domains.");
	for (uint32_t i = 0; i < times->n_opps; i++) {
		snprintf(labels, sizeof(labels), "{opp_hertz=\"%" PRIu64 "\"}",
			 times->opps[i].khz * UINT64_C(1000));
		sample_us(metrics, labels, times->opps[i].ns / NS_PER_US);
	}
	begin(metrics, "wakegov_reason_seconds", true,
	      "For how long something was why domains ran as they did, summed over the domains.");
	for (enum reason reason = 0; reason <= REASON_LAST; reason++) {
		snprintf(labels, sizeof(labels), "{reason=\"%s\"}", reason_name(reason));
		sample_us(metrics, labels, times->by_reason_ns[reason] / NS_PER_US);
	}
}

static void put_gains(struct metrics *metrics, const struct stats *stats)
{
	const struct stats_gain *gain;
	uint64_t ios = 0, gained = 0;

	for (uint32_t i = 0; (gain = stats_gain(stats, i)); i++) {
		ios += gain->ios;
		gained += gain->gained;
	}
	one(metrics, "wakegov_boosted_ios", true, ios,
	    "I/Os that tasks with a boost sent for which it was tried.");
	one(metrics, "wakegov_gained_ios", true, gained,
	    "Those of them that would not have been without it, as the trials found.");
}

static void put_counts(struct metrics *metrics, const struct manager *manager)
{
	const struct placed_group *groups = manager->placing.groups;
	const struct stats *stats = manager->past.stats;
	const struct core *core = &manager->core;
	uint32_t n_groups[2] = { 0 }, n_chains = 0;

	begin(metrics, "wakegov_decisions", true,
	      "Changes of a target, by what won; uncapped is a cap that was defeated.");
	for (enum reason reason = 0; reason <= REASON_LAST; reason++)
		sample_named(metrics, "reason", reason_name(reason),
			     stats_decisions(stats, reason));
	begin(metrics, "wakegov_decision_limits", true,
	      "Changes of a target, by what cut them; cap is a cap that held.");
	for (enum limiter limiter = 0; limiter <= LIMITER_LAST; limiter++)
		sample_named(metrics, "limiter", limiter_name(limiter),
			     stats_limits(stats, limiter));
	begin(metrics, "wakegov_placement_groups", false,
	      "Groups of tasks with a placement, by whether they are kept to a cache now.");
	for (uint32_t i = 0; i < PLACEMENT_GROUPS_MAX; i++)
		if (groups[i].key)
			n_groups[!placing_holds(&manager->placing, &groups[i])]++;
	sample(metrics, "{state=\"placed\"}", n_groups[0]);
	sample(metrics, "{state=\"let-go\"}", n_groups[1]);
	one(metrics, "wakegov_idle_latency_held", false,
	    manager->idle_latency.held_us != POLICY_IDLE_LATENCY_NONE,
	    "1 while no CPU may sleep deeply, for tasks with an idle latency.");
	for (uint32_t i = 0; i < core->n_domains; i++)
		n_chains += governed_is_driven(&core->domains[i]) &&
			    engine_last(core->engine, i)->reason == REASON_CHAIN;
	one(metrics, "wakegov_chain_domains", false, n_chains,
	    "Domains that run as they do for tasks that work for each other in turn.");
	begin(metrics, "wakegov_boost_tasks", false,
	      "Tasks that do I/O, by what is thought of a boost for them.");
	for (enum io_boost_state state = 0; state <= IO_BOOST_LAPSED; state++)
		sample_named(metrics, "state", io_boost_state_name(state),
			     engine_count_boosts(core->engine, state));
}

static void put_self(struct metrics *metrics, const struct policies *policies)
{
	const struct core *core = policies->core;
	struct api_drops drops[API_DROPS];

	begin(metrics, "wakegov_build_info", false, "Always 1; the version is in the label.");
	put(metrics, "wakegov_build_info{version=\"%s\"} 1\n", wakegov_version);
	begin(metrics, "wakegov_uptime_seconds", false, "Since the daemon started.");
	sample_us(metrics, "", (time_now_ns() - core->counts.started_ns) / NS_PER_US);
	begin(metrics, "wakegov_cpu_seconds", true, "CPU time of the daemon.");
	sample_us(metrics, "", process_cpu_us());
	one(metrics, "wakegov_memory_bytes", false, process_pss_kib() * 1024,
	    "Memory of the daemon (proportional set size).");
	one(metrics, "wakegov_wakeups", true, core->counts.wakeups, "Of the daemon's event loop.");
	one(metrics, "wakegov_events", true, core->counts.records,
	    "Records taken from the kernel side.");
	one(metrics, "wakegov_tasks", false, api_count_followed(core->engine),
	    "Tasks that are followed.");
	one(metrics, "wakegov_tasks_max", false, io_task_size(engine_tasks(core->engine)),
	    "Tasks that can be followed.");
	one(metrics, "wakegov_reloads", true, policies->reloads,
	    "Times that the policy was read again.");
	one(metrics, "wakegov_policy_good", false, !policies->last_error,
	    "0: the last reload was refused.");
	api_count_drops(core, drops);
	begin(metrics, "wakegov_drops", true, "Events that were lost, by where.");
	for (int i = 0; i < API_DROPS; i++)
		sample_named(metrics, "where", drops[i].where, drops[i].n);
}

int api_show_metrics(const struct call *call, struct reply *reply)
{
	struct metrics metrics = { .text = { .max = QUERY_REPLY_BYTES_MAX } };
	const char *format = call_text(call, "format");
	struct manager *manager = call->userdata;
	struct core *core = &manager->core;
	int r;

	if (format && !strcmp(format, "prometheus"))
		metrics.format = METRICS_PROMETHEUS;
	else if (format && strcmp(format, "openmetrics") != 0)
		return reply_send_invalid(reply, "format");
	put_self(&metrics, &manager->policies);
	put_domains(&metrics, core);
	past_catch_up(&manager->past);
	put_times(&metrics, &manager->past);
	put_gains(&metrics, manager->past.stats);
	put_counts(&metrics, manager);
	if (metrics.format == METRICS_OPENMETRICS)
		put(&metrics, "# EOF\n");
	r = metrics.error ?: buffer_append(&metrics.text, "", 1);
	if (r == 0) {
		field_text(reply_begin(reply), "text", buffer_bytes(&metrics.text));
		r = reply_end(reply);
	}
	buffer_deinit(&metrics.text);
	return r;
}
