// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakegovctl status and stats: what their views say that no single field of a reply has. Of stats,
 * a line for each domain with the shares of its time by reason, then the time at each frequency and
 * why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/print.h"
#include "shared/cleanup.h"
#include "shared/cpu_mask.h"

/* is_expected: the domain's own governor sets the frequency. is_away: it has another one now. */
void status_add_domain(json_t *domain)
{
	uint64_t target_khz = field_number(domain, "target_khz");
	uint64_t current_khz = field_number(domain, "current_khz");
	bool is_expected = field_is_word(domain, "state", "driven") && target_khz &&
			   json_object_get(domain, "asked_min_khz") &&
			   (field_number(domain, "asked_min_khz") != target_khz ||
			    field_number(domain, "asked_max_khz") != target_khz);
	bool is_away = field_number(domain, "utilisation_cap") ? current_khz < target_khz
							       : current_khz != target_khz;

	json_object_set_new(domain, "is_expected", json_boolean(is_expected));
	json_object_set_new(domain, "is_away", json_boolean(is_expected && is_away));
}

/* Domains that are alike have a range of frequencies, the highest utilisation and all CPUs. */
static void add_alike(json_t *first, const json_t *domain)
{
	static const char *const highest[] = { "current_khz", "utilisation_cap" };
	const char *name = field_text(domain, "name") ?: "";
	uint64_t khz = field_number(domain, "current_khz");
	uint64_t slowest_khz = field_number(first, "slowest_khz")
				       ?: field_number(first, "current_khz");
	char list[CPU_MASK_TEXT_SIZE];
	struct cpu_mask all, cpus;

	json_object_set_new(first, "last", json_string(name + strcspn(name, "0123456789")));
	for (size_t i = 0; i < ARRAY_SIZE(highest); i++)
		if (field_number(domain, highest[i]) > field_number(first, highest[i]))
			json_object_set(first, highest[i], json_object_get(domain, highest[i]));
	slowest_khz = khz < slowest_khz ? khz : slowest_khz;
	if (slowest_khz < field_number(first, "current_khz"))
		json_object_set_new(first, "slowest_khz", json_integer((json_int_t)slowest_khz));
	if (!cpu_mask_parse_list(field_shown(first, "cpus"), &all) ||
	    !cpu_mask_parse_list(field_shown(domain, "cpus"), &cpus))
		return;
	for (size_t i = 0; i < CPU_MASK_WORDS; i++)
		all.words[i] |= cpus.words[i];
	cpu_mask_print_list(&all, list, sizeof(list));
	json_object_set_new(first, "cpus", json_string(list));
}

/* Neighbours of which the table says the same become one row. */
void status_add_domains(json_t *reply)
{
	json_t *domains = json_object_get(reply, "domains"), *first = NULL;
	_cleanup_free_ char *said = NULL;

	for (size_t i = 0; i < json_array_size(domains);) {
		json_t *domain = json_array_get(domains, i);
		char *says;

		status_add_domain(domain);
		says = words_fill("parts", "alike", domain, NULL);
		if (says && said && !strcmp(says, said)) {
			add_alike(first, domain);
			json_array_remove(domains, i);
		} else {
			first = domain;
			i++;
		}
		free(said);
		said = says;
	}
}

/* Whether the policy's file is missing, and each line of the last error. */
static void add_policy(json_t *policy)
{
	const char *path = field_text(policy, "path"), *error = field_text(policy, "last_error");
	bool is_missing = path && access(path, F_OK) < 0 && errno == ENOENT;
	json_t *errors = json_array();

	json_object_set_new(policy, "is_missing", json_boolean(is_missing));
	json_object_set_new(policy, "errors", errors);
	for (; error && *error; error += strcspn(error, "\n"), error += *error == '\n')
		json_array_append_new(errors, json_stringn(error, strcspn(error, "\n")));
}

/* The start's share is no rate: within seconds of it, it would be most of a CPU. */
static void add_own_cost(json_t *self, uint64_t uptime_us)
{
	uint64_t cpu_us = field_number(self, "cpu_us");
	uint64_t start_us = field_number(self, "start_cpu_us");
	uint64_t since_us = cpu_us > start_us ? cpu_us - start_us : 0;
	uint64_t share_ppm = uptime_us ? since_us * 1000000 / uptime_us : 0;

	json_object_set_new(self, "since_us", json_integer((json_int_t)since_us));
	json_object_set_new(self, "share_ppm", json_integer((json_int_t)share_ppm));
}

static void status_add(json_t *reply)
{
	json_t *program, *shown = json_array();
	size_t i;

	status_add_domains(reply);
	add_policy(json_object_get(reply, "policy"));
	add_own_cost(json_object_get(reply, "self"), field_number(reply, "uptime_us"));
	/* Without these programs something is not seen, or not as well. */
	json_array_foreach(json_object_get(reply, "programs"), i, program)
		if (field_is_word(program, "state", "failed") ||
		    field_is_word(program, "state", "missing"))
			json_array_append(shown, program);
	json_object_set_new(reply, "shown_programs", shown);
}

void status_add_programs(json_t *reply)
{
	status_add(reply);
	json_object_set(reply, "shown_programs", json_object_get(reply, "programs"));
}

/* With what the daemon does not look at, as it does not use it. */
enum ctl_exit command_status(struct ctl *ctl)
{
	json_auto_t *reply = NULL;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Status", NULL, &reply);

	if (code != CTL_OK)
		return code;
	json_object_set_new(reply, "machine", machine_find("/sys"));
	return ctl_print(ctl, reply, "status",
			 ctl_value(ctl, "programs") ? status_add_programs : status_add);
}

static uint64_t sum_us(const json_t *domain, const char *reason)
{
	uint64_t us = 0;
	const json_t *time;
	size_t i;

	json_array_foreach(json_object_get(domain, "times"), i, time)
		if (!reason || field_is_word(time, "reason", reason))
			us += field_number(time, "time_us");
	return us;
}

static json_t *share(uint64_t us, uint64_t whole_us)
{
	return json_sprintf("%.1f %%", 100 * (double)us / (double)whole_us);
}

/* Each of the domain's times becomes a row; it gets the mean, and the share of each reason. */
static void add_domain(json_t *domain, json_t *rows)
{
	uint64_t whole_us = sum_us(domain, NULL);
	json_t *time, *shares = json_object();
	double mean_khz = 0;
	size_t i;

	json_object_set_new(domain, "whole_us", json_integer((json_int_t)whole_us));
	json_object_set_new(domain, "shares", shares);
	json_array_foreach(json_object_get(domain, "times"), i, time) {
		const char *reason = field_shown(time, "reason");

		json_object_set(time, "domain", json_object_get(domain, "domain"));
		json_object_set_new(time, "share", share(field_number(time, "time_us"), whole_us));
		json_array_append(rows, time);
		mean_khz += (double)field_number(time, "khz") *
			    (double)field_number(time, "time_us") / (double)whole_us;
		json_object_set_new(shares, reason, share(sum_us(domain, reason), whole_us));
	}
	json_object_set_new(domain, "mean_khz", json_integer((json_int_t)mean_khz));
}

static void add(json_t *reply)
{
	json_t *domain, *rows = json_array();
	size_t i;

	json_object_set_new(reply, "rows", rows);
	json_array_foreach(json_object_get(reply, "domains"), i, domain)
		add_domain(domain, rows);
}

enum ctl_exit command_stats(struct ctl *ctl)
{
	const char *domain = ctl_value(ctl, "domain");
	json_auto_t *reply = NULL;
	enum ctl_exit code = ctl_call(ctl, "io.wakegov.Stats", json_pack("{ss*}", "domain", domain),
				      &reply);

	return code == CTL_OK ? ctl_print(ctl, reply, "stats", add) : code;
}
