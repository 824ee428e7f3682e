// SPDX-License-Identifier: GPL-2.0-only
#include "record/player.h"

#include <errno.h>

int player_begin(struct record_reader *reader, const struct policy *policy, struct recorder *again,
		 struct engine **ret)
{
	const struct topology *topology = record_reader_topology(reader);
	const void *state = record_reader_state(reader);
	struct engine *engine;
	int r;

	if (!state) {
		*ret = record_engine_new(again, topology, policy);
		return *ret ? 0 : -ENOMEM;
	}
	engine = engine_new(topology, policy);
	if (!engine)
		return -ENOMEM;
	r = engine_load(engine, state, engine_state_size(topology, policy));
	if (r < 0) {
		engine_free(engine);
		return record_reader_refuse_state(reader, r);
	}
	if (again)
		recorder_begin(again, engine);
	*ret = engine;
	return 0;
}

void player_tell(struct engine *engine, const struct record *record)
{
	if (record_is_input(record->type))
		engine_apply(engine, &record->input);
	else if (record->type == RECORD_ADVANCE)
		engine_advance(engine, record->now_ns);
	else if (record->type == RECORD_FORGET_TARGET)
		engine_forget_target(engine, record->domain);
}
