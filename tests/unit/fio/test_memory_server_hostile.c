/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_memory_server_hostile.c -- the server and clients that it should not have accepted,
 * or should have thrown out: each is told or dropped in one line, and who keeps
 * to the rules notices nothing.
 */
#include "server_fixture.h"

static struct test_client *client;
static const struct fixture_cfg any_method = {.poll = true};
static const struct fixture_cfg of_two = {.poll = false, .clients = 2};
static const struct job_request apm = {.method = METHOD_APM, .jobs = 1};
static const struct job_request gpspm = {.method = METHOD_GPSPM, .jobs = 1, .depth = CLIENT_DEPTH};

/* A client that keeps to the rules is served, and the server ends as it should. */
static void all_is_well(void)
{
	struct test_client *g = client_open(&gpspm);

	assert_int_equal(g->job_reply.refusal, REFUSAL_NONE);
	client_ask(g, 3, 0, 8);
	assert_int_equal(client_answer(g).slot, 3);
	client_ends(g);
}

static void is_refused(const struct job_request *job_request, enum refusal refusal)
{
	struct test_client *g = client_open(job_request);

	EQUAL((g->reply.answer, HANDSHAKE_WELCOME), (g->job_reply.refusal, refusal),
	      (g->reply.desc.mr_bytes, 0));
	client_close(g);
}

SERVER_TEST(another_method_is_refused)
{
	const struct fixture_cfg cfg = {.method = METHOD_GPSPM, .poll = true};

	fixture_begin(&cfg);
	is_refused(&apm, REFUSAL_METHOD);
	fixture_said(
		"refused client 127.0.0.1, job 1 of 1: it has mode=apm, this server mode=gpspm");
	all_is_well();
}

SERVER_TEST(more_messages_than_there_is_room_for_are_refused)
{
	struct job_request job_request = gpspm;

	job_request.depth = JOB_DEPTH_MIN + 1;
	fixture_begin(&any_method);
	is_refused(&job_request, REFUSAL_DEPTH);
	fixture_said("it sends 513 messages at once, there is room for 512");
	all_is_well();
}

SERVER_TEST(more_clients_than_were_to_come_are_refused)
{
	fixture_begin(&any_method);
	client = client_open(&apm);
	is_refused(&apm, REFUSAL_FULL);
	fixture_said("already served all 1 expected clients");
	client_ends(client);
}

static void is_answered(const struct handshake_request *request, enum handshake_answer answer)
{
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];

	handshake_encode_request(request, bytes);
	client = client_connect(bytes, sizeof(bytes));
	assert_non_null(client->connection);
	assert_int_equal(client->reply.answer, answer);
	client_close(client);
}

SERVER_TEST(another_version_and_another_tool_are_told)
{
	const struct handshake_request later = {HANDSHAKE_VERSION + 1, HANDSHAKE_FIO, 0, 0};
	const struct handshake_request ping = {HANDSHAKE_VERSION, HANDSHAKE_PING, 0, 64};

	fixture_begin(&any_method);
	is_answered(&later, HANDSHAKE_WRONG_VERSION);
	fixture_said("refused client 127.0.0.1: it speaks another version");
	is_answered(&ping, HANDSHAKE_OTHER_TOOL);
	fixture_said("refused client 127.0.0.1: it is of another tool");
	all_is_well();
}

SERVER_TEST(junk_is_rejected)
{
	static const struct job_request nonsense = {.method = METHOD_GPSPM, .jobs = 1, .depth = 0};
	uint8_t bytes[56] = {0}; /* as many as a request has on InfiniBand */

	fixture_begin(&any_method);
	client = client_connect(bytes, sizeof(bytes));
	assert_null(client->connection);
	client_close(client);
	client = client_connect("rpmatoo", 7);
	assert_null(client->connection);
	client_close(client);
	client = client_open(&nonsense);
	assert_null(client->connection);
	client_close(client);
	assert_int_equal(
		fixture_count("rejected client 127.0.0.1: it is not a client of this engine"), 3);
	all_is_well();
}

SERVER_TEST(a_flood_of_junk_holds_nobody_up)
{
	struct test_client *flood;

	fixture_begin(&any_method);
	client = client_open(&gpspm);
	for (uint32_t i = 0; i < 200; i++) {
		flood = client_connect("junk", 4);
		assert_null(flood->connection);
		client_close(flood);
		client_ask(client, i, 0, 8);
		assert_int_equal(client_answer(client).slot, i);
	}
	client_ends(client);
}

SERVER_TEST(a_stranger_is_rejected)
{
	const struct fixture_cfg cfg = {.poll = true, .allow = "192.0.2.0/24"};

	fixture_begin(&cfg);
	client = client_open(&apm);
	assert_null(client->connection);
	client_close(client);
	assert_int_equal(fixture_count("rejected client 127.0.0.1: its address is not in allow="),
			 1);
}

/* One who sends this is dropped at once, the other one is served on. */
static void is_dropped(const struct job_request *job_request, const void *bytes, size_t len)
{
	struct test_client *bad, *good;

	fixture_begin(&of_two);
	good = client_open(&gpspm);
	bad = client_open(job_request);
	client_send(bad, bytes, len);
	client_is_dropped(bad);
	client_close(bad);
	client_ask(good, 9, 0, 8);
	assert_int_equal(client_answer(good).slot, 9);
	client_leave(good);
	EQUAL((fixture_end(), -EIO),
	      (fixture_count("dropped client 127.0.0.1, job 1 of 1: it sent what no client"), 1));
}

SERVER_TEST(what_is_no_request_is_not_taken_for_one)
{
	is_dropped(&gpspm, "request", 7);
}

SERVER_TEST(what_is_too_long_for_a_request_is_not_taken)
{
	static const char junk[1024] = "";

	is_dropped(&gpspm, junk, sizeof(junk));
}

/* Its method has none. */
SERVER_TEST(a_request_of_another_method_is_not_served)
{
	static const struct job_request announcing = {.method = METHOD_APM, .jobs = 1, .depth = 4};
	static const char request[PERSIST_REQUEST_BYTES] = "";

	is_dropped(&announcing, request, sizeof(request));
}

/* Requests without a receive wait at their sender. */
SERVER_TEST(who_floods_is_answered_as_fast_as_it_listens)
{
	struct job_request job_request = gpspm;
	struct test_client *g, *other;

	fixture_begin(&of_two);
	other = client_open(&gpspm);
	job_request.depth = 1;
	g = client_open(&job_request);
	for (uint32_t i = 0; i < CLIENT_DEPTH; i++)
		client_ask(g, i, 0, 8);
	client_ask(other, 7, 0, 8);
	assert_int_equal(client_answer(other).slot, 7);
	for (uint32_t i = 0; i < CLIENT_DEPTH; i++)
		assert_int_equal(client_answer(g).slot, i);
	client_leave(g);
	client_leave(other);
	assert_int_equal(fixture_end(), 0);
}

/* The place it was given is free again. */
SERVER_TEST(who_does_not_come_in_is_not_waited_for)
{
	struct rpma_conn *conn = NULL;

	fixture_begin(&any_method);
	client_request_only(&apm, &conn);
	is_refused(&apm, REFUSAL_FULL);
	fixture_pass_ms(6000);
	fixture_said("client 127.0.0.1, job 1 of 1 did not finish connecting within 5 s");
	all_is_well();
	rpma_conn_delete(&conn);
}

SERVER_TEST(who_says_goodbye_is_to_leave)
{
	fixture_begin(&of_two);
	client = client_open(&gpspm);
	fixture_wait_served(1);
	client_send(client, "", 0);
	fixture_pass_ms(11000);
	client_is_dropped(client);
	client_close(client);
	client_ends(client_open(&apm));
}
