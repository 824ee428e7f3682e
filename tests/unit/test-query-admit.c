// SPDX-License-Identifier: GPL-2.0-only
/* Who yields to whom, without sockets: clients that are only entries of the server's list. */
#include "test-query.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "query/client.h"
#include "shared/cleanup.h"

#define TIMEOUT_US 1000000

enum user { ROOT, ALICE, BOB };

static const uid_t uids[] = { [ROOT] = 0, [ALICE] = 40001, [BOB] = 40002 };

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

static void test_room(void **state)
{
	add_many(ROOT, CLIENT_WAIT_NONE, 0, 3);
	assert_int_equal(admit(uids[ALICE]), 0);
	assert_int_equal(count(), 3);
}

static void test_one_user_gets_half(void **state)
{
	add_many(ALICE, CLIENT_WAIT_NONE, 0, 2);
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(admit(uids[BOB]), 0);
	assert_int_equal(admit(uids[ROOT]), 0);
	assert_int_equal(count(), 2);
}

static void test_own_stale_client_yields_to_the_quota(void **state)
{
	struct query_client *stale = add(ALICE, CLIENT_WAIT_NONE, TIMEOUT_US);

	add(ALICE, CLIENT_WAIT_NONE, TIMEOUT_US - 1);
	assert_int_equal(admit(uids[ALICE]), 0);
	assert_int_equal(count(), 1);
	assert_gone(stale);
}

static void test_longest_quiet_yields(void **state)
{
	struct query_client *longest;

	add(ALICE, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);
	longest = add(BOB, CLIENT_WAIT_NONE, 4 * TIMEOUT_US);
	add_many(ROOT, CLIENT_WAIT_NONE, 3 * TIMEOUT_US, 2);
	assert_int_equal(admit(uids[ALICE]), 0);
	assert_int_equal(count(), 3);
	assert_gone(longest);
}

static void test_quota_holds_against_stale_clients_of_others(void **state)
{
	add_many(ALICE, CLIENT_WAIT_CALL, 0, 2);
	add(BOB, CLIENT_WAIT_NONE, 2 * TIMEOUT_US);
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(count(), 3);
}

static void test_busy_clients_do_not_yield(void **state)
{
	add_many(ALICE, CLIENT_WAIT_CALL, 2 * TIMEOUT_US, 2);
	add_many(BOB, CLIENT_WAIT_REPLY, 2 * TIMEOUT_US, 2);
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(admit(uids[ALICE] + 7), -EUSERS);
	assert_int_equal(count(), 4);
}

/* However quiet it is, it waits for what happens. */
static void test_monitors_do_not_yield(void **state)
{
	struct channel channel = { .n_subscribers = 4 };

	add_many(ALICE, CLIENT_WAIT_NONE, 2 * TIMEOUT_US, 2);
	add_many(BOB, CLIENT_WAIT_NONE, 2 * TIMEOUT_US, 2);
	for (struct query_client *client = server.clients; client; client = client->next)
		client->subscription.channel = &channel;
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(admit(uids[ROOT]), 0);
	assert_int_equal(count(), 3);
	assert_int_equal(channel.n_subscribers, 3);
	for (struct query_client *client = server.clients; client; client = client->next)
		client->subscription.channel = NULL;
}

static void test_root_always_gets_in(void **state)
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

static void test_root_does_not_yield_to_others(void **state)
{
	add_many(ROOT, CLIENT_WAIT_NONE, 5 * TIMEOUT_US, 4);
	assert_int_equal(admit(uids[ALICE]), -EUSERS);
	assert_int_equal(admit(uids[ROOT]), 0);
	assert_int_equal(count(), 3);
}

static void test_limits_that_shrink(void **state)
{
	add_many(ROOT, CLIENT_WAIT_NONE, 0, 4);
	server.limits.max_clients = 2;
	assert_int_equal(admit(uids[ROOT]), -EUSERS);
	assert_int_equal(count(), 4);
}

#define ADMIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ADMIT_TEST(test_room),
		ADMIT_TEST(test_one_user_gets_half),
		ADMIT_TEST(test_own_stale_client_yields_to_the_quota),
		ADMIT_TEST(test_longest_quiet_yields),
		ADMIT_TEST(test_quota_holds_against_stale_clients_of_others),
		ADMIT_TEST(test_busy_clients_do_not_yield),
		ADMIT_TEST(test_monitors_do_not_yield),
		ADMIT_TEST(test_root_always_gets_in),
		ADMIT_TEST(test_root_does_not_yield_to_others),
		ADMIT_TEST(test_limits_that_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
