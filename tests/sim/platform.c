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
#include "sim/platform_private.h"

enum section { SECTION_NONE, SECTION_PLATFORM, SECTION_DOMAIN, SECTION_DEVICE };

#define MACHINE(name, units, least, most, field) \
	SIM_KEY(SECTION_PLATFORM, name, units, least, most, struct platform, field)
#define DOMAIN(name, units, least, most, field) \
	SIM_KEY(SECTION_DOMAIN, name, units, least, most, struct platform_domain, field)
#define DEVICE(name, units, least, most, field) \
	SIM_KEY(SECTION_DEVICE, name, units, least, most, struct platform_device, field)

/* clang-format off */
#define SPECIAL(_section, _name) { .section = (_section), .name = (_name) }

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

struct reading {
	struct platform platform;
	enum section section;
	char header[64]; /* of the open section */
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

static int open_domain(struct reading *reading, const char *name, char **ret_message)
{
	struct platform *platform = &reading->platform;
	struct platform_domain *domain;

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
	snprintf(reading->header, sizeof(reading->header), "%s", header);
	reading->section = SECTION_PLATFORM;
	if (!strcmp(header, "platform"))
		return 0;
	if (name_of(header, "domain"))
		return open_domain(reading, name_of(header, "domain"), ret_message);
	if (name_of(header, "device"))
		return open_device(reading, name_of(header, "device"), ret_message);
	return sim_refuse(ret_message,
			  "found the section [%s], expected [platform], [domain NAME] or "
			  "[device NAME] with a NAME of at most %d small letters, digits, - and _",
			  header, PLATFORM_NAME_SIZE - 1);
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

	if (!key)
		return sim_refuse(ret_message, "found the key '%s', which [%s] does not have", name,
				  reading->header);
	if (!key->units)
		return store_special(reading, name, value, ret_message);
	return sim_key_store(key, base_of(reading), value, ret_message);
}

/* An ini_handler, up to the first fault: a section is known by the first of its keys. */
static int on_key(void *user, const char *header, const char *name, const char *value)
{
	struct reading *reading = user;

	if (reading->error < 0)
		return 0;
	if (reading->section == SECTION_NONE || strcmp(header, reading->header) != 0)
		reading->error = open_section(reading, header, &reading->message);
	if (reading->error == 0)
		reading->error = store(reading, name, value, &reading->message);
	return reading->error == 0;
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

int platform_load(const char *path, struct platform *ret, char **ret_message)
{
	_cleanup_free_ struct reading *reading = calloc(1, sizeof(*reading));
	struct policy_place place = { .file = path };
	_cleanup_free_ char *message = NULL;
	int r;

	*ret_message = NULL;
	if (!reading)
		return -ENOMEM;
	set_defaults(&reading->platform);
	r = ini_parse(path, on_key, reading);
	message = reading->message;
	if (r < 0)
		return policy_error_set(ret_message, -errno, place, "cannot be read: %s",
					strerror(errno));
	place.line = (unsigned int)r;
	if (r > 0)
		return policy_error_set(
			ret_message, -EINVAL, place, "%s",
			message ?: "expected key = value, a [section] or a comment");
	r = platform_complete(&reading->platform, path, ret_message);
	if (r == 0)
		*ret = reading->platform;
	return r;
}
