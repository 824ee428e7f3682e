// SPDX-License-Identifier: GPL-2.0-only
#include "varlink/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/topology.h"
#include "shared/cleanup.h"
#include "shared/time.h"
#include "varlink/server.h"

#define LINE_MAX_BYTES 512

struct metrics {
	struct buffer *output;
	enum metrics_format format;
	const char *family; /* that is being written */
	bool counts;	    /* it is a counter */
	int error;
};

static void put(struct metrics *metrics, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct metrics *metrics, const char *format, ...)
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
		metrics->error = buffer_append(metrics->output, line, length);
}

/* The samples of a counter end with _total; in the older format its family does as well. */
static void begin(struct metrics *metrics, const char *family, bool counts, const char *help)
{
	const char *suffix = counts && metrics->format == METRICS_PROMETHEUS ? "_total" : "";

	metrics->family = family;
	metrics->counts = counts;
	put(metrics, "# HELP %s%s %s\n", family, suffix, help);
	put(metrics, "# TYPE %s%s %s\n", family, suffix, counts ? "counter" : "gauge");
}

/* labels: name="value" pairs in braces, or "". Nothing of them needs quoting. */
static void sample(struct metrics *metrics, const char *labels, uint64_t value)
{
	put(metrics, "%s%s%s %" PRIu64 "\n", metrics->family, metrics->counts ? "_total" : "",
	    labels, value);
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

/* What a family is about must stand in one place: the domains are gone through once for each. */
struct kept_domain {
	char labels[40];
	struct domain_view view;
};

struct kept_domains {
	struct kept_domain *domains;
	size_t n;
};

static int keep_domain(void *context, const struct domain_view *view)
{
	struct kept_domains *kept = context;
	struct kept_domain *domains = reallocarray(kept->domains, kept->n + 1,
						   sizeof(*kept->domains));

	if (!domains)
		return -ENOMEM;
	kept->domains = domains;
	domains[kept->n].view = *view;
	snprintf(domains[kept->n].labels, sizeof(domains[0].labels), "{domain=\"%s\"}", view->name);
	kept->n++;
	return 0;
}

static uint64_t current_hz(const struct domain_view *view)
{
	return view->current_khz * 1000ULL;
}

static uint64_t target_hz(const struct domain_view *view)
{
	return view->target_khz * 1000ULL;
}

static uint64_t is_driven(const struct domain_view *view)
{
	return !strcmp(view->state, "driven");
}

static uint64_t utilisation(const struct domain_view *view)
{
	return view->utilisation_cap;
}

static uint64_t writes(const struct domain_view *view)
{
	return view->writes;
}

static uint64_t write_errors(const struct domain_view *view)
{
	return view->write_errors;
}

static uint64_t mismatches(const struct domain_view *view)
{
	return view->read_back_mismatches;
}

static const struct {
	const char *family;
	const char *help;
	uint64_t (*value)(const struct domain_view *view);
	bool counts;
	bool is_known; /* 0 is a value; else it means that it is not known */
} domain_families[] = {
	{ "wakegov_domain_frequency_hertz", "What the kernel says that the domain runs at.",
	  current_hz, false, false },
	{ "wakegov_domain_target_hertz", "What the domain was last told to run at.", target_hz,
	  false, false },
	{ "wakegov_domain_driven", "1: wakegov drives the domain.", is_driven, false, true },
	{ "wakegov_domain_utilisation", "Of the domain's busiest CPU, 0 to 1024.", utilisation,
	  false, true },
	{ "wakegov_domain_writes", "Frequencies written.", writes, true, true },
	{ "wakegov_domain_write_errors", "Frequencies that could not be written.", write_errors,
	  true, true },
	{ "wakegov_domain_read_back_mismatches",
	  "Writes after which the kernel reported another frequency.", mismatches, true, true },
};

static int put_domains(struct metrics *metrics, const struct query_source *source)
{
	struct kept_domains kept = { 0 };
	int r = source->domains(source->userdata, keep_domain, &kept);

	for (size_t f = 0; r >= 0 && f < ARRAY_SIZE(domain_families); f++) {
		begin(metrics, domain_families[f].family, domain_families[f].counts,
		      domain_families[f].help);
		for (size_t i = 0; i < kept.n; i++) {
			uint64_t value = domain_families[f].value(&kept.domains[i].view);

			if (value || domain_families[f].is_known)
				sample(metrics, kept.domains[i].labels, value);
		}
	}
	free(kept.domains);
	return r;
}

static int put_opp_time(void *context, const struct opp_time_view *view)
{
	struct metrics *metrics = context;
	char labels[80];

	snprintf(labels, sizeof(labels), "{domain=\"%s\",opp_hertz=\"%" PRIu64 "\"}", view->domain,
		 view->khz * UINT64_C(1000));
	sample_us(metrics, labels, view->ns / (NS_PER_S / US_PER_S));
	return metrics->error;
}

static int put_named(struct metrics *metrics, const char *label, const char *name, uint64_t n)
{
	char labels[80];

	snprintf(labels, sizeof(labels), "{%s=\"%s\"}", label, name);
	sample(metrics, labels, n);
	return metrics->error;
}

static int put_reason(void *metrics, const char *name, uint64_t n)
{
	return put_named(metrics, "reason", name, n);
}

static int put_limiter(void *metrics, const char *name, uint64_t n)
{
	return put_named(metrics, "limiter", name, n);
}

static int put_state(void *metrics, const char *name, uint64_t n)
{
	return put_named(metrics, "state", name, n);
}

static int put_lists(struct metrics *metrics, const struct query_source *source)
{
	int r;

	begin(metrics, "wakegov_domain_opp_seconds", true,
	      "For how long the domain was told to run at an operating point.");
	r = source->opp_times(source->userdata, put_opp_time, metrics);
	begin(metrics, "wakegov_decisions", true,
	      "Changes of a target, by what won; uncapped is a cap that was defeated.");
	if (r >= 0)
		r = source->counts(source->userdata, COUNT_DECISIONS, put_reason, metrics);
	begin(metrics, "wakegov_decision_limits", true,
	      "Changes of a target, by what cut them; cap is a cap that held.");
	if (r >= 0)
		r = source->counts(source->userdata, COUNT_LIMITS, put_limiter, metrics);
	begin(metrics, "wakegov_boost_tasks", false,
	      "Tasks that do I/O, by what is thought of a boost for them.");
	if (r >= 0)
		r = source->counts(source->userdata, COUNT_BOOSTS, put_state, metrics);
	return r;
}

static void put_drops(struct metrics *metrics, const struct status_view *view)
{
	begin(metrics, "wakegov_drops", true, "Events that were lost, by where.");
	sample(metrics, "{where=\"ring\"}", view->drops_ring);
	sample(metrics, "{where=\"slots\"}", view->drops_slots);
	sample(metrics, "{where=\"tasks\"}", view->drops_tasks);
	sample(metrics, "{where=\"devices\"}", view->drops_devices);
	sample(metrics, "{where=\"anomalies\"}", view->drops_anomalies);
	sample(metrics, "{where=\"missed\"}", view->drops_missed);
}

static int put_status(struct metrics *metrics, const struct query_source *source)
{
	struct status_view view = { 0 };
	int r = source->status(source->userdata, &view);

	if (r < 0)
		return r;
	begin(metrics, "wakegov_build_info", false, "Always 1; the version is in the label.");
	put(metrics, "wakegov_build_info{version=\"%s\"} 1\n", view.version);
	begin(metrics, "wakegov_uptime_seconds", false, "Since the daemon started.");
	sample_us(metrics, "", view.uptime_us);
	begin(metrics, "wakegov_cpu_seconds", true, "CPU time of the daemon.");
	sample_us(metrics, "", view.self_cpu_us);
	one(metrics, "wakegov_memory_bytes", false, view.self_pss_kib * 1024,
	    "Memory of the daemon (proportional set size).");
	one(metrics, "wakegov_wakeups", true, view.self_wakeups, "Of the daemon's event loop.");
	one(metrics, "wakegov_events", true, view.events, "Records taken from the kernel side.");
	one(metrics, "wakegov_tasks", false, view.tasks, "Tasks that are followed.");
	one(metrics, "wakegov_tasks_max", false, view.max_tasks, "Tasks that can be followed.");
	one(metrics, "wakegov_reloads", true, view.reloads,
	    "Times that the policy was read again.");
	one(metrics, "wakegov_policy_good", false, !view.last_reload_error,
	    "0: the last reload was refused.");
	put_drops(metrics, &view);
	return 0;
}

int metrics_write(const struct query_source *source, enum metrics_format format,
		  struct buffer *output)
{
	struct metrics metrics = { .output = output, .format = format };
	int r = put_status(&metrics, source);

	if (r >= 0)
		r = put_domains(&metrics, source);
	if (r >= 0)
		r = put_lists(&metrics, source);
	if (format == METRICS_OPENMETRICS)
		put(&metrics, "# EOF\n");
	if (!metrics.error)
		metrics.error = buffer_append(output, "", 1);
	return r < 0 ? r : metrics.error;
}

int metrics_show(const struct call *call, struct reply *reply)
{
	const char *name = json_string_value(json_object_get(call->parameters, "format"));
	enum metrics_format format = METRICS_OPENMETRICS;
	struct buffer text = { .max = QUERY_REPLY_BYTES_MAX };
	int r;

	if (name && !strcmp(name, "prometheus"))
		format = METRICS_PROMETHEUS;
	else if (name && strcmp(name, "openmetrics"))
		return reply_send_invalid(reply, "format");
	r = metrics_write(call->source, format, &text);
	if (r >= 0) {
		json_out_key(reply_begin(reply), "text");
		json_out_text(&reply->out, buffer_bytes(&text));
		r = reply_end(reply);
	}
	buffer_deinit(&text);
	return r;
}
