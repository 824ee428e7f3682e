// SPDX-License-Identifier: GPL-2.0-only
/* Reading a platform: sections, keys, and what each of them must hold. */
#include "sim/platform.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/error.h"
#include "shared/cleanup.h"
#include "sim/keys.h"
#include "sim/message.h"
#include "sim/platform_private.h"

enum section { SECTION_NONE, SECTION_PLATFORM, SECTION_DOMAIN, SECTION_DEVICE };

#define MACHINE(name, units, least, most, field) \
	SIM_KEY(SECTION_PLATFORM, name, units, least, most, struct platform, field)
#define DOMAIN(name, units, least, most, field) \
	SIM_KEY(SECTION_DOMAIN, name, units, least, most, struct platform_domain, field)
#define DEVICE(name, units, least, most, field) \
	SIM_KEY(SECTION_DEVICE, name, units, least, most, struct platform_device, field)
#define SPECIAL(_section, _name)                       \
	{                                              \
		.section = (_section), .name = (_name) \
	}

/* clang-format off */
static const struct sim_key keys[] = {
	MACHINE("io-cycles", &policy_units_none, "1", "100000000", costs.io_cycles),
	MACHINE("batch-cycles", &policy_units_none, "0", "100000000", costs.batch_cycles),
	MACHINE("idle-exit-cycles", &policy_units_none, "0", "100000000", costs.idle_exit_cycles),
	MACHINE("interrupt-share", &sim_units_permille, "0%", "100%", costs.interrupt_permille),
	MACHINE("tick", &policy_units_duration, "100us", "100ms", scheduler.tick_ns),
	MACHINE("slice", &policy_units_duration, "100us", "1s", scheduler.slice_ns),
	MACHINE("wakeup-granularity", &policy_units_duration, "0ns", "1s",
		scheduler.wakeup_granularity_ns),
	SPECIAL(SECTION_PLATFORM, "new-threads"),
	SPECIAL(SECTION_DOMAIN, "cpus"),
	SPECIAL(SECTION_DOMAIN, "opp"),
	DOMAIN("work-per-cycle", &sim_units_permille, "1%", "100%", work_permille),
	DOMAIN("capacity", &policy_units_none, "1", "1024", capacity),
	DOMAIN("capacitance", &sim_units_capacitance, "0pF", "1000nF", capacitance_pf),
	DOMAIN("static-power", &policy_units_power, "0uW", "1000W", static_uw),
	DOMAIN("transition-latency", &policy_units_duration, "0ns", "100ms", transition_latency_ns),
	DOMAIN("schedutil-rate-limit", &policy_units_duration, "0ns", "1s",
	       schedutil_rate_limit_ns),
	DEVICE("latency", &policy_units_duration, "0ns", "10s", latency_ns),
	DEVICE("service", &policy_units_duration, "0ns", "10s", service_ns),
	DEVICE("channels", &policy_units_none, "1", "256", channels),
	DEVICE("variation", &sim_units_permille, "0%", "50%", variation_permille),
	DEVICE("max-rate", &policy_units_rate, "1/s", "100000000/s", max_rate_per_s),
	SPECIAL(SECTION_DEVICE, "interrupt"),
};
/* clang-format on */

static const char *const required[] = { "io-cycles", "cpus",	"opp",	    "capacitance",
					"latency",   "service", "channels", NULL };

struct reading {
	struct platform platform;
	enum section section;
	char header[64]; /* of the open section */
	bool has_platform;
	bool given[ARRAY_SIZE(keys)]; /* in the open section */
	FILE *file;
	struct policy_place place;
	char *message;
	int error;
};

static struct platform_domain *this_domain(struct reading *reading)
{
	return &reading->platform.domains[reading->platform.n_domains - 1];
}

static struct platform_device *this_device(struct reading *reading)
{
	return &reading->platform.devices[reading->platform.n_devices - 1];
}

static bool is_required(const char *name)
{
	for (int i = 0; required[i]; i++)
		if (!strcmp(required[i], name))
			return true;
	return false;
}

/* What the open section must have, when it ends. */
static int close_section(struct reading *reading, char **ret_message)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].section == (int)reading->section && !reading->given[i] &&
		    is_required(keys[i].name))
			return sim_refuse(ret_message,
					  "found [%s] without the key '%s', expected it",
					  reading->header, keys[i].name);
	}
	return 0;
}

static int open_platform(struct reading *reading, char **ret_message)
{
	if (reading->has_platform)
		return sim_refuse(ret_message, "found [platform] again, expected it once");
	reading->has_platform = true;
	reading->section = SECTION_PLATFORM;
	return 0;
}

static int open_domain(struct reading *reading, const char *name, char **ret_message)
{
	struct platform *platform = &reading->platform;
	struct platform_domain *domain;

	for (uint32_t i = 0; i < platform->n_domains; i++)
		if (!strcmp(platform->domains[i].name, name))
			return sim_refuse(ret_message, "found [domain %s] again, expected it once",
					  name);
	if (platform->n_domains == PLATFORM_DOMAINS_MAX)
		return sim_refuse(ret_message, "found one more [domain …], expected at most %d",
				  PLATFORM_DOMAINS_MAX);
	domain = &platform->domains[platform->n_domains++];
	*domain = (struct platform_domain){ .work_permille = 1000 };
	snprintf(domain->name, sizeof(domain->name), "%s", name);
	reading->section = SECTION_DOMAIN;
	return 0;
}

static int open_device(struct reading *reading, const char *name, char **ret_message)
{
	struct platform *platform = &reading->platform;
	struct platform_device *device;

	for (uint32_t i = 0; i < platform->n_devices; i++)
		if (!strcmp(platform->devices[i].name, name))
			return sim_refuse(ret_message, "found [device %s] again, expected it once",
					  name);
	if (platform->n_devices == PLATFORM_DEVICES_MAX)
		return sim_refuse(ret_message, "found one more [device …], expected at most %d",
				  PLATFORM_DEVICES_MAX);
	device = &platform->devices[platform->n_devices++];
	*device = (struct platform_device){ .interrupt_cpu = PLATFORM_SUBMITTER };
	snprintf(device->name, sizeof(device->name), "%s", name);
	reading->section = SECTION_DEVICE;
	return 0;
}

/* The NAME of "[KIND NAME]", or NULL if the header is not of that kind or NAME is none. */
static const char *name_of(const char *header, const char *kind)
{
	const char *name = strchr(header, ' ');
	size_t length;

	if (!name || strncmp(header, kind, name - header) != 0 || kind[name - header])
		return NULL;
	name++;
	length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
	return length > 0 && length < PLATFORM_NAME_SIZE && !name[length] ? name : NULL;
}

static int open_section(struct reading *reading, const char *header, char **ret_message)
{
	char shown[POLICY_TEXT_SIZE];
	int r;

	r = close_section(reading, ret_message);
	if (r < 0)
		return r;
	snprintf(reading->header, sizeof(reading->header), "%s", header);
	memset(reading->given, 0, sizeof(reading->given));
	if (!strcmp(header, "platform"))
		return open_platform(reading, ret_message);
	if (name_of(header, "domain"))
		return open_domain(reading, name_of(header, "domain"), ret_message);
	if (name_of(header, "device"))
		return open_device(reading, name_of(header, "device"), ret_message);
	policy_text_escape(header, shown);
	return sim_refuse(ret_message,
			  "found the section [%s], expected [platform], [domain NAME] or "
			  "[device NAME] with a NAME of at most %d small letters, digits, - and _",
			  shown, PLATFORM_NAME_SIZE - 1);
}

static int store_special(struct reading *reading, const char *name, const char *value,
			 char **ret_message)
{
	if (!strcmp(name, "new-threads"))
		return platform_store_order(&reading->platform.scheduler, value, ret_message);
	if (!strcmp(name, "cpus"))
		return platform_store_cpus(&reading->platform, this_domain(reading), value,
					   ret_message);
	if (!strcmp(name, "opp"))
		return platform_store_opp(this_domain(reading), value, ret_message);
	return platform_store_interrupt(this_device(reading), value, ret_message);
}

static void *base_of(struct reading *reading)
{
	switch (reading->section) {
	case SECTION_DOMAIN:
		return this_domain(reading);
	case SECTION_DEVICE:
		return this_device(reading);
	default:
		return &reading->platform;
	}
}

static int store(struct reading *reading, const char *name, const char *value, char **ret_message)
{
	const struct sim_key *key = sim_key_find(keys, ARRAY_SIZE(keys), reading->section, name);
	char shown[POLICY_TEXT_SIZE];
	bool *given;

	if (!key) {
		_cleanup_free_ char *names = sim_key_names(keys, ARRAY_SIZE(keys),
							   reading->section);

		policy_text_escape(name, shown);
		return sim_refuse(ret_message, "found the key '%s', expected one of %s", shown,
				  names ?: "");
	}
	given = &reading->given[key - keys];
	if (*given && strcmp(name, "opp") != 0)
		return sim_refuse(ret_message, "found %s again, expected it once", name);
	*given = true;
	if (!key->units)
		return store_special(reading, name, value, ret_message);
	return sim_key_store(key, base_of(reading), value, ret_message);
}

/* An ini_handler: a section is known by the first of its keys. */
static int on_key(void *user, const char *header, const char *name, const char *value)
{
	struct reading *reading = user;

	if (reading->section == SECTION_NONE || strcmp(header, reading->header) != 0)
		reading->error = open_section(reading, header, &reading->message);
	if (reading->error == 0)
		reading->error = store(reading, name, value, &reading->message);
	return reading->error == 0;
}

/* An ini_reader, up to the first fault. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct reading *reading = stream;

	if (reading->error < 0)
		return NULL;
	reading->place.line++;
	return fgets(buffer, size, reading->file);
}

static void set_defaults(struct platform *platform)
{
	*platform = (struct platform){
		.costs = { .interrupt_permille = 350 },
		.scheduler = {
			.tick_ns = 4000000,
			.slice_ns = 3000000,
			.wakeup_granularity_ns = 1000000,
		},
	};
}

/* What only the whole file can show. */
static int finish(struct reading *reading, char **ret_message)
{
	const struct platform *platform = &reading->platform;

	reading->place.line = 0;
	if (!reading->has_platform || !platform->n_domains || !platform->n_devices)
		return policy_error_set(ret_message, -EINVAL, reading->place,
					"expected the sections [platform], [domain NAME] and "
					"[device NAME], each at least once");
	return platform_complete(&reading->platform, reading->place.file, ret_message);
}

static int read_file(struct reading *reading, char **ret_message)
{
	int r = ini_parse_stream(read_line, reading, on_key, reading);
	_cleanup_free_ char *message = NULL;

	if (reading->error == 0 && r != 0) {
		reading->place.line = (unsigned int)r;
		return policy_error_set(ret_message, -EINVAL, reading->place,
					"expected key = value, a [section] or a comment");
	}
	if (reading->error == 0)
		reading->error = close_section(reading, &reading->message);
	message = reading->message;
	if (reading->error < 0)
		return policy_error_set(ret_message, reading->error, reading->place, "%s",
					message ?: "out of memory");
	return finish(reading, ret_message);
}

int platform_load(const char *path, struct platform *ret, char **ret_message)
{
	_cleanup_free_ struct reading *reading = calloc(1, sizeof(*reading));
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int r;

	*ret_message = NULL;
	if (!reading)
		return -ENOMEM;
	reading->place.file = path;
	if (!file)
		return policy_error_set(ret_message, -errno, reading->place, "cannot be read: %s",
					strerror(errno));
	reading->file = file;
	set_defaults(&reading->platform);
	r = read_file(reading, ret_message);
	if (r == 0)
		*ret = reading->platform;
	return r;
}
