// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys that a policy could have once. A policy that still has one is refused with the sentence that
 * says what to do instead; a row is all that is left of a key.
 */
#include <stddef.h>
#include <string.h>

#include "config/draft.h"
#include "shared/cleanup.h"

#define TRIED_BY_ITSELF                                                                            \
	"whether a boost pays is tried in windows of its own (wakegov-algorithms(7)); slack says " \
	"which gain is worth one"

/* A rule's key may also be a class' one: section is the header's first word. */
static const struct {
	const char *section, *name, *instead;
} gone[] = {
	{ "io-boost", "check-window", TRIED_BY_ITSELF },
	{ "io-boost", "back-off-min", TRIED_BY_ITSELF },
	{ "io-boost", "back-off-max", TRIED_BY_ITSELF },
	{ "io-boost", "idle-latency",
	  "give it to the readers by a rule or a class: idle-latency there" },
};

const char *policy_gone_key(const char *section, const char *name)
{
	size_t length = strcspn(section, " ");

	for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
		if (strlen(gone[i].section) == length &&
		    !strncmp(gone[i].section, section, length) && !strcmp(gone[i].name, name))
			return gone[i].instead;
	return NULL;
}
