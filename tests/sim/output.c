// SPDX-License-Identifier: GPL-2.0-only
#include "sim/output.h"

#include <string.h>

void output_csv_header(FILE *out, const struct platform *platform)
{
	fprintf(out, "workload,governor,iops,mean_mhz");
	for (uint32_t i = 0; i < platform->n_domains; i++)
		fprintf(out, ",mhz_%s", platform->domains[i].name);
	fprintf(out, ",lowest_opp_pct,changes_per_s,energy_j,rounds_per_s\n");
}

void output_csv(FILE *out, const struct platform *platform, const struct result *result)
{
	const char *text = result->workload->text, *quote = strchr(text, ',') ? "\"" : "";

	fprintf(out, "%s%s%s,%s,%.1f,%.1f", quote, text, quote, result->governor, result->iops,
		result->mean_mhz);
	for (uint32_t i = 0; i < platform->n_domains; i++)
		fprintf(out, ",%.1f", result->mhz[i]);
	fprintf(out, ",%.2f,%.2f,%.3f,%.1f\n", result->lowest_opp_percent, result->changes_per_s,
		result->energy_j, result->rounds_per_s);
}

void output_table_header(FILE *out, const struct platform *platform)
{
	fprintf(out, "%-24s %-18s %9s %8s", "WORKLOAD", "GOVERNOR", "IOPS", "MEAN-MHZ");
	for (uint32_t i = 0; i < platform->n_domains; i++)
		fprintf(out, " %8s", platform->domains[i].name);
	fprintf(out, " %8s %9s %9s\n", "LOWEST-%", "CHANGES/S", "ENERGY-J");
}

void output_table(FILE *out, const struct platform *platform, const struct result *result)
{
	fprintf(out, "%-24s %-18s %9.0f %8.0f", result->workload->text, result->governor,
		result->iops, result->mean_mhz);
	for (uint32_t i = 0; i < platform->n_domains; i++)
		fprintf(out, " %8.0f", result->mhz[i]);
	fprintf(out, " %8.1f %9.1f %9.2f\n", result->lowest_opp_percent, result->changes_per_s,
		result->energy_j);
}

void output_details(FILE *out, const struct platform *platform, const struct result *result)
{
	fprintf(out,
		"  CPUs busy %.1f %%, of that off the run queue %.1f %%; host time %.1f %%, of "
		"that running %.1f %%",
		result->busy_percent, result->off_queue_percent, result->host_percent,
		result->running_percent);
	if (result->rounds_per_s > 0)
		fprintf(out, "; %.1f rounds/s", result->rounds_per_s);
	fprintf(out, "\n");
	for (uint32_t i = 0; i < platform->n_devices; i++)
		fprintf(out, "  %s: %.0f/s, idle %.1f %%, depth %.2f, latency %.1f µs\n",
			platform->devices[i].name, result->devices[i].completions_per_s,
			result->devices[i].idle_percent, result->devices[i].mean_depth,
			result->devices[i].mean_latency_us);
	for (uint32_t i = 0; i < result->n_threads; i++)
		fprintf(out, "  thread %u: %.0f/s, host time %.1f %%, of that running %.1f %%\n", i,
			result->threads[i].iops + result->threads[i].rounds_per_s,
			result->threads[i].host_percent, result->threads[i].running_percent);
}
