// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that take from each other (core/io_group.h). On a full disk what one gains by its boost
 * others lose: either each of them finds that its boost pays, and together they do no more than
 * without, or only one does, and the others are slower. So all of that device with one request at a
 * time are asked once more, together: in a pair of any of them all have their boost, or none, and
 * each is judged by its own I/Os. As long as one gains all have their boost, since who had none
 * beside it would lose; else none has.
 */
#include "core/boosts.h"
#include "core/experiment_params.h"

/* Whether the two are asked together, and the other one has tasks. */
static bool are_asked_together(const struct io_group *a, const struct io_group *b)
{
	return a->question == IO_QUESTION_RIVALS && b->used && b->question == IO_QUESTION_RIVALS &&
	       b->n_tasks && a->device == b->device;
}

/* Whether its tasks can take from others of the device, and those from them. */
static bool is_rival(const struct io_group *group, uint32_t device)
{
	return group->used && group->device == device && group->n_tasks &&
	       group->depth_milli <= ALONE_MILLI;
}

/* Whether its boost pays, at the cost of others. */
static bool takes(const struct io_group *group)
{
	return is_rival(group, group->device) && group->question != IO_QUESTION_KERNELS &&
	       group->experiment.rests_boosted && group->experiment.verdict > EXPERIMENT_OPEN &&
	       evidence_others_lose(&group->experiment.evidence, HINT);
}

void io_rivals_ask(struct engine *engine, uint32_t index, uint64_t now_ns)
{
	struct io_group *group = &engine->groups[index];
	uint32_t n = 0;

	if (group->device == IO_BOOST_NO_DEVICE || group->question == IO_QUESTION_RIVALS ||
	    !takes(group))
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		n += is_rival(&engine->groups[i], group->device);
	if (n < 2)
		return;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		struct io_group *other = &engine->groups[i];

		if (!is_rival(other, group->device))
			continue;
		other->question = IO_QUESTION_RIVALS;
		experiment_spoil(&other->experiment); /* a pair under way was of another question */
		experiment_ask_again(&other->experiment, now_ns);
	}
}

bool io_rivals_rest(const struct engine *engine, const struct io_group *group)
{
	bool rest = group->experiment.rests_boosted;

	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (are_asked_together(group, &engine->groups[i]))
			rest |= engine->groups[i].experiment.rests_boosted;
	return rest;
}

bool io_rivals_arm(const struct engine *engine, const struct io_group *group)
{
	if (group->question != IO_QUESTION_RIVALS)
		return group->experiment.is_boosted;
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++)
		if (are_asked_together(group, &engine->groups[i]) &&
		    engine->groups[i].experiment.phase)
			return engine->groups[i].experiment.is_boosted;
	return io_rivals_rest(engine, group);
}

bool io_rivals_are_tried(const struct engine *engine, uint32_t index)
{
	for (uint32_t i = 0; i < IO_GROUPS_MAX; i++) {
		const struct io_group *other = &engine->groups[i];

		if (i != index && are_asked_together(&engine->groups[index], other) &&
		    other->experiment.phase)
			return true;
	}
	return false;
}
