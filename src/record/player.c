// SPDX-License-Identifier: GPL-2.0-only
#include "record/player.h"

#include <errno.h>
#include <stdlib.h>

int player_init(struct player *player, const struct record_reader *reader,
		const struct policy *policy, struct recorder *again)
{
	const struct topology *topology = record_reader_topology(reader);

	*player = (struct player){
		.reader = reader,
		.again = again,
		.engine = record_engine_new(again, topology, policy),
		.active = calloc(topology->n_domains + 1, sizeof(*player->active)),
	};
	return player->engine && player->active ? 0 : -ENOMEM;
}

void player_deinit(struct player *player)
{
	engine_free(player->engine);
	free(player->active);
	*player = (struct player){ 0 };
}

static void apply(struct player *player, const struct record *record)
{
	if (record->type == RECORD_DOMAIN)
		player->active[record->input.domain.domain] = record->input.domain.active;
	engine_apply(player->engine, &record->input);
}

static int load(struct player *player, const struct record *record)
{
	if (!record_engine_load(player->again, player->engine, &record->piece))
		return -EBADMSG;
	if (record->type == RECORD_PIECE_DOMAIN)
		player->active[record->piece.index] = record->piece.domain.active;
	return 0;
}

int player_tell(struct player *player, const struct record *record)
{
	if (record_is_input(record->type))
		apply(player, record);
	else if (record_is_piece(record->type))
		return load(player, record);
	else if (record->type == RECORD_ADVANCE)
		engine_advance(player->engine, record->now_ns);
	else if (record->type == RECORD_FORGET_TARGET)
		engine_forget_target(player->engine, record->domain);
	else if (record->type == RECORD_TAKE_BACK)
		engine_take_back(player->engine, record->domain);
	return 0;
}
