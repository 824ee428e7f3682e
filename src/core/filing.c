// SPDX-License-Identifier: GPL-2.0-only
#include "core/filing.h"

#include <stdlib.h>

/* The sets that a place is in, as numbers; 0: none. */
#define SETS_OF_ONE 4

struct drawer {
	uint32_t sets[SETS_OF_ONE]; /* of its domain, of the other one, of its device, its group */
	uint32_t traits;
	uint32_t state; /* + 1; 0: it is empty */
	bool followed;
};

struct filing {
	struct agenda *due;
	struct agenda *forget;
	struct place_set *asked;
	struct place_set *ended;
	struct place_set *changed;
	struct place_set **sets; /* of domains, then of devices, then of groups */
	uint32_t n_domains;
	uint32_t n_sets;
	uint32_t n_with[FILED_TRAITS];
	uint32_t n_in[IO_BOOST_LAPSED + 1];
	struct drawer drawers[];
};

static bool make_sets(struct filing *filing, uint32_t size)
{
	filing->sets = calloc(filing->n_sets, sizeof(*filing->sets));
	for (uint32_t i = 0; filing->sets && i < filing->n_sets; i++) {
		filing->sets[i] = place_set_new(size);
		if (!filing->sets[i])
			return false;
	}
	return filing->sets;
}

struct filing *filing_new(uint32_t size, uint32_t n_domains)
{
	struct filing *filing = calloc(1, sizeof(*filing) + size * sizeof(filing->drawers[0]));

	if (!filing)
		return NULL;
	filing->due = agenda_new(size);
	filing->forget = agenda_new(size);
	filing->asked = place_set_new(size);
	filing->ended = place_set_new(size);
	filing->changed = place_set_new(size);
	filing->n_domains = n_domains;
	filing->n_sets = n_domains + INPUT_DEVICES_MAX + IO_GROUPS_MAX;
	if (!filing->due || !filing->forget || !filing->asked || !filing->ended ||
	    !filing->changed || !make_sets(filing, size))
		return filing_free(filing);
	return filing;
}

struct filing *filing_free(struct filing *filing)
{
	if (!filing)
		return NULL;
	agenda_free(filing->due);
	agenda_free(filing->forget);
	place_set_free(filing->asked);
	place_set_free(filing->ended);
	place_set_free(filing->changed);
	for (uint32_t i = 0; filing->sets && i < filing->n_sets; i++)
		place_set_free(filing->sets[i]);
	free(filing->sets);
	free(filing);
	return NULL;
}

static void count(struct filing *filing, const struct drawer *drawer, uint32_t by)
{
	for (uint32_t trait = 0; trait < FILED_TRAITS; trait++)
		if (drawer->traits & 1u << trait)
			filing->n_with[trait] += by;
	if (drawer->followed)
		filing->n_in[drawer->state - 1] += by;
}

static struct drawer drawer_for(const struct filing *filing, const struct filed *filed)
{
	return (struct drawer){
		.sets = {
			filed->domain == FILED_NOWHERE ? 0 : filed->domain + 1,
			filed->other_domain == FILED_NOWHERE ? 0 : filed->other_domain + 1,
			filed->device == IO_BOOST_NO_DEVICE ?
				0 : filing->n_domains + filed->device + 1,
			filed->group == IO_BOOST_NO_GROUP ?
				0 : filing->n_domains + INPUT_DEVICES_MAX + filed->group + 1,
		},
		.traits = filed->traits,
		.state = filed->state + 1,
		.followed = filed->followed,
	};
}

/* All that leave first: two of its domains may be one. */
static void move(struct filing *filing, uint32_t place, const struct drawer *to)
{
	struct drawer *drawer = &filing->drawers[place];

	for (uint32_t i = 0; i < SETS_OF_ONE; i++)
		if (drawer->sets[i] && drawer->sets[i] != to->sets[i])
			place_set_remove(filing->sets[drawer->sets[i] - 1], place);
	for (uint32_t i = 0; i < SETS_OF_ONE; i++)
		if (to->sets[i])
			place_set_add(filing->sets[to->sets[i] - 1], place);
	count(filing, drawer, -1);
	count(filing, to, 1);
	if (drawer->state != to->state)
		place_set_add(filing->changed, place);
	*drawer = *to;
}

void filing_put(struct filing *filing, uint32_t place, const struct filed *filed)
{
	const struct filed nothing = {
		.due_ns = AGENDA_NEVER,
		.forget_ns = AGENDA_NEVER,
		.domain = FILED_NOWHERE,
		.other_domain = FILED_NOWHERE,
		.device = IO_BOOST_NO_DEVICE,
		.group = IO_BOOST_NO_GROUP,
	};
	struct drawer drawer;

	if (!filed) {
		place_set_remove(filing->asked, place);
		filed = &nothing;
	}
	if (!place_set_has(filing->asked, place))
		agenda_set(filing->due, place, filed->due_ns);
	agenda_set(filing->forget, place, filed->forget_ns);
	if (filed->ended)
		place_set_add(filing->ended, place);
	else
		place_set_remove(filing->ended, place);
	drawer = drawer_for(filing, filed);
	if (filed == &nothing)
		drawer.state = 0;
	move(filing, place, &drawer);
}

const struct place_set *filing_ask(struct filing *filing, uint64_t now_ns)
{
	while (agenda_first(filing->due) != AGENDA_NONE && agenda_first_ns(filing->due) <= now_ns) {
		uint32_t place = agenda_first(filing->due);

		place_set_add(filing->asked, place);
		agenda_set(filing->due, place, AGENDA_NEVER);
	}
	return filing->asked;
}

const struct place_set *filing_asked(const struct filing *filing)
{
	return filing->asked;
}

void filing_end_asked(struct filing *filing, uint32_t place)
{
	place_set_remove(filing->asked, place);
}

uint64_t filing_next_ns(const struct filing *filing)
{
	return agenda_first_ns(filing->due);
}

uint32_t filing_to_forget(const struct filing *filing, uint64_t now_ns)
{
	return agenda_first_ns(filing->forget) <= now_ns ? agenda_first(filing->forget)
							 : AGENDA_NONE;
}

uint32_t filing_take_changed(struct filing *filing)
{
	uint32_t place = place_set_next(filing->changed, 0);

	if (place != PLACE_SET_NONE)
		place_set_remove(filing->changed, place);
	return place;
}

const struct place_set *filing_ended(const struct filing *filing)
{
	return filing->ended;
}

const struct place_set *filing_in_domain(const struct filing *filing, uint32_t domain)
{
	return filing->sets[domain];
}

const struct place_set *filing_on_device(const struct filing *filing, uint32_t device)
{
	return filing->sets[filing->n_domains + device];
}

const struct place_set *filing_in_group(const struct filing *filing, uint32_t group)
{
	return filing->sets[filing->n_domains + INPUT_DEVICES_MAX + group];
}

uint32_t filing_count(const struct filing *filing, enum filed_trait trait)
{
	return filing->n_with[trait];
}

uint32_t filing_count_in(const struct filing *filing, enum io_boost_state state)
{
	return filing->n_in[state];
}
