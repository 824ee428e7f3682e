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
