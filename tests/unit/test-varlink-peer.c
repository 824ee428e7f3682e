// SPDX-License-Identifier: GPL-2.0-only
/* Who yields to whom, without sockets: clients that are only entries of the server's list. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "varlink/client.h"

#define TIMEOUT_US 1000000

enum user { ROOT, ALICE, BOB, CAROL };

static const uid_t uids[] = { [ROOT] = 0, [ALICE] = 40001, [BOB] = 40002, [CAROL] = 40003 };

static struct query_server server;

static int set_up(void **state)
{
	server = (struct query_server){
		.limits = { .max_clients = 4, .client_timeout_ns = TIMEOUT_US * 1000ull },
	};
	/* Gives the server a time of its loop. */
	assert_true(sd_event_new(&server.event) >= 0);
	assert_true(sd_event_run(server.event, 0) >= 0);
	return 0;
}

static int tear_down(void **state)
{
	while (server.clients)
		query_client_drop(server.clients, "the test ends");
	sd_event_unref(server.event);
	return 0;
}

#define ADMIT_TEST(name) TEST_WITH(name, set_up, tear_down)

static struct query_client *add(enum user user, enum client_wait wait, uint64_t quiet_us)
{
	struct query_client *client = calloc(1, sizeof(*client));

	*client = (struct query_client){
		.server = &server,
		.next = server.clients,
		.fd = -1,
		.peer = { .uid = uids[user], .is_owner = user == ROOT },
		.wait = wait,
		.quiet_since_us = query_server_now_us(&server) - quiet_us,
	};
	server.clients = client;
	return client;
}

static void add_many(enum user user, enum client_wait wait, uint64_t quiet_us, int n)
{
	for (int i = 0; i < n; i++)
		add(user, wait, quiet_us);
}

static int count(void)
{
	int n = 0;

	for (struct query_client *client = server.clients; client; client = client->next)
		n++;
	return n;
}

static int admit(uid_t uid)
{
	const struct query_peer newcomer = { .uid = uid, .is_owner = uid == 0 };

	return query_server_admit(&server, &newcomer);
}

static void assert_gone(const struct query_client *client)
{
	for (struct query_client *other = server.clients; other; other = other->next)
		assert_ptr_not_equal(other, client);
}

ADMIT_TEST(test_room)
{
	add_many(ROOT, CLIENT_WAIT_NONE, 0, 3);
	assert_int_equal(admit(uids[ALICE]), 0);
	assert_int_equal(count(), 3);
}

static int count_of(enum user user)
{
	int n = 0;

	for (struct query_client *client = server.clients; client; client = client->next)
		n += client->peer.uid == uids[user];
	return n;
}

/* As many of n newcomers as get in. */
static int enter(enum user user, int n)
{
	int entered = 0;

	for (int i = 0; i < n; i++)
		if (admit(uids[user]) == 0) {
			add(user, CLIENT_WAIT_CALL, 0);
			entered++;
		}
	return entered;
}

static void expect_places(int root, int alice, int bob, int carol)
{
	assert_int_equal(count_of(ROOT), root);
	assert_int_equal(count_of(ALICE), alice);
	assert_int_equal(count_of(BOB), bob);
	assert_int_equal(count_of(CAROL), carol);
}

/* However many each tries for, and however busy they are. */
ADMIT_TEST(test_places_are_shared)
{
	server.limits.max_clients = 12;
	assert_int_equal(enter(ALICE, 70), 12);
	assert_int_equal(enter(BOB, 70), 6);
	expect_places(0, 6, 6, 0);
	assert_int_equal(enter(CAROL, 70), 4);
	expect_places(0, 4, 4, 4);
	assert_int_equal(enter(ALICE, 70) + enter(BOB, 70) + enter(CAROL, 70), 0);
	assert_int_equal(enter(ROOT, 3), 3);
	expect_places(3, 3, 3, 3);
	/* Not so that root would be the next to want for a place. */
	assert_int_equal(enter(ROOT, 70), 9);
	expect_places(12, 0, 0, 0);
	assert_int_equal(enter(CAROL, 1), 0);
}

ADMIT_TEST(test_a_user_alone_has_all_places)
{
	assert_int_equal(enter(ALICE, 70), 4);
	assert_int_equal(enter(ALICE, 1), 0);
}

ADMIT_TEST(test_own_stale_client_yields)
{
	struct query_client *stale = add(ALICE, CLIENT_WAIT_NONE, TIMEOUT_US);

	add_many(ALICE, CLIENT_WAIT_NONE, TIMEOUT_US - 1, 3);
	assert_int_equal(admit(uids[ALICE]), 0);
	assert_int_equal(count(), 3);
	assert_gone(stale);
}

ADMIT_TEST(test_longest_quiet_yields)
{
	struct query_client *longest;

	add(BOB, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);
	longest = add(ALICE, CLIENT_WAIT_NONE, 4 * TIMEOUT_US);
	add_many(ROOT, CLIENT_WAIT_NONE, 5 * TIMEOUT_US, 2);
	assert_int_equal(admit(uids[CAROL]), 0);
	assert_int_equal(count(), 3);
	assert_gone(longest);
}

/* A stale one goes before a busy one, though its user holds fewer places. */
ADMIT_TEST(test_stale_yields_before_busy)
{
	struct query_client *stale = add(BOB, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);

	add_many(ALICE, CLIENT_WAIT_CALL, 0, 3);
	assert_int_equal(admit(uids[CAROL]), 0);
	assert_gone(stale);
}

ADMIT_TEST(test_who_has_most_takes_nothing_from_others)
{
	add_many(ALICE, CLIENT_WAIT_CALL, 0, 3);
	add(BOB, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(count(), 4);
}

/* However quiet it is, it waits for what happens. */
ADMIT_TEST(test_monitors_do_not_yield)
{
	struct channel channel = { .n_subscribers = 4 };

	add(ALICE, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);
	add(BOB, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);
	add_many(ROOT, CLIENT_WAIT_NONE, 0, 2);
	for (struct query_client *client = server.clients; client; client = client->next)
		client->subscription.channel = &channel;
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(admit(uids[ROOT]), 0);
	assert_int_equal(count(), 3);
	assert_int_equal(channel.n_subscribers, 3);
	for (struct query_client *client = server.clients; client; client = client->next)
		client->subscription.channel = NULL;
}

ADMIT_TEST(test_root_always_gets_in)
{
	add_many(ALICE, CLIENT_WAIT_CALL, 0, 2);
	add_many(BOB, CLIENT_WAIT_REPLY, 0, 2);
	for (int i = 3; i >= 0; i--) {
		assert_int_equal(admit(uids[ROOT]), 0);
		assert_int_equal(count(), 3);
		add(ROOT, CLIENT_WAIT_NONE, 0);
	}
	/* But not against itself. */
	assert_int_equal(admit(uids[ROOT]), -EUSERS);
}

ADMIT_TEST(test_root_does_not_yield_to_others)
{
	add_many(ROOT, CLIENT_WAIT_NONE, 5 * TIMEOUT_US, 4);
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(admit(uids[ROOT]), 0);
	assert_int_equal(count(), 3);
}

ADMIT_TEST(test_limits_that_shrink)
{
	add_many(ROOT, CLIENT_WAIT_NONE, 0, 4);
	server.limits.max_clients = 2;
	assert_int_equal(admit(uids[ROOT]), -EUSERS);
	assert_int_equal(count(), 4);
}
