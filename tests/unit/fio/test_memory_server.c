/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_memory_server.c -- the server as clients that keep to the rules see it: what it
 * offers, what it answers, and when it ends.
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server_fixture.h"

static struct test_client *client;
static const struct fixture_cfg any_method = {.poll = true};
static const struct fixture_cfg by_events = {.poll = false};
static const struct job_request apm = {.method = METHOD_APM, .jobs = 1};
static const struct job_request gpspm = {.method = METHOD_GPSPM, .jobs = 1, .depth = CLIENT_DEPTH};
static const struct job_request gpspm_again = {
	.method = METHOD_GPSPM, .jobs = 1, .again = true, .depth = CLIENT_DEPTH};
static const struct job_request numbers = {
	.method = METHOD_GPSPM, .jobs = 1, .depth = CLIENT_DEPTH, .imm_bytes = 8192};

/* The bytes that the last msync(2) made durable, and how often it was called. */
static struct {
	char *begin;
	size_t bytes;
	unsigned calls;
	int error;
} synced;

int __wrap_msync(void *at, size_t bytes, int flags)
{
	assert_int_equal(flags, MS_SYNC);
	synced.begin = at;
	synced.bytes = bytes;
	synced.calls++;
	errno = synced.error;
	return synced.error != 0 ? -1 : 0;
}

/* A read is how the server asks whether a client lives. */
static atomic_uint questions;

int __real_rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
		     const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
		     const void *op_context);
int __wrap_rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
		     const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
		     const void *op_context)
{
	atomic_fetch_add(&questions, 1);
	return __real_rpma_read(conn, dst, dst_offset, src, src_offset, len, flags, op_context);
}

/* rpma_ep_next_conn_req(3): an event of the endpoint, such as the removal of its device. */
static atomic_bool removed;

int __real_rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
				 struct rpma_conn_req **req);
int __wrap_rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
				 struct rpma_conn_req **req)
{
	return atomic_load(&removed) ? RPMA_E_INVAL : __real_rpma_ep_next_conn_req(ep, cfg, req);
}

SERVER_TEST(the_region_is_told_of)
{
	size_t bytes;

	fixture_begin(&any_method);
	client = client_open(&apm);
	EQUAL((client->reply.answer, HANDSHAKE_WELCOME), (client->job_reply.refusal, REFUSAL_NONE),
	      (client->job_reply.method, METHOD_ANY), (client->job_reply.kind, TARGET_DRAM),
	      (client->job_reply.persist, PERSIST_NOTHING),
	      (client->job_reply.direct_write_to_pmem, false),
	      (client->job_reply.depth, JOB_DEPTH_MIN),
	      (rpma_mr_remote_get_size(client->remote, &bytes), 0), (bytes, FIXTURE_BYTES));
	client_ends(client);
	assert_int_equal(fixture_count("\n"), 1); /* it listens: no more to be said */
}

SERVER_TEST(requests_are_answered_in_their_order)
{
	struct persist_answer answer;

	fixture_begin(&any_method);
	client = client_open(&gpspm);
	for (uint32_t round = 0; round < 100; round++) {
		for (uint32_t i = 0; i < CLIENT_DEPTH; i++)
			client_ask(client, round + i, i * 4096ULL, 4096);
		for (uint32_t i = 0; i < CLIENT_DEPTH; i++) {
			answer = client_answer(client);
			EQUAL((answer.slot, round + i), (answer.status, PERSIST_DONE));
		}
	}
	client_ends(client);
}

/* However the requests and the answers that have left fall together. */
SERVER_TEST(no_event_is_missed)
{
	struct test_client *clients[2];
	const struct fixture_cfg two = {.poll = false, .clients = 2};

	fixture_begin(&two);
	fixture_only_events();
	for (int i = 0; i < 2; i++)
		clients[i] = client_open(&gpspm);
	for (uint32_t round = 0; round < 200; round++) {
		const uint32_t count = 1 + round / 2 % CLIENT_DEPTH;

		for (uint32_t i = 0; i < count; i++)
			client_ask(clients[round % 2], i, i * 4096ULL, 4096);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(client_answer(clients[round % 2]).slot, i);
	}
	for (int i = 0; i < 2; i++)
		client_leave(clients[i]);
	assert_int_equal(fixture_end(), 0);
}

/* The very range, and nothing that is not of the region. */
SERVER_TEST(what_is_asked_for_is_made_durable)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[] = "/var/tmp/rpma-test-XXXXXX"; /* on a disk: /tmp may be memory */
	int fd = mkstemp(path);
	char *begin;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(8 * page)), 0);
	close(fd);
	synced.error = 0;
	fixture_begin(&(struct fixture_cfg){.target = path, .offset = 2 * page, .bytes = 4 * page});
	assert_int_equal(unlink(path), 0);
	client = client_open(&gpspm);
	EQUAL((client->job_reply.kind, TARGET_FILE), (client->job_reply.persist, PERSIST_MSYNC));
	client_ask(client, 0, 0, 4 * page);
	EQUAL((client_answer(client).status, PERSIST_DONE), (synced.bytes, 4 * page));
	begin = synced.begin;
	client_ask(client, 0, page + 10, 20);
	assert_int_equal(client_answer(client).status, PERSIST_DONE);
	assert_ptr_equal(synced.begin, begin + page);
	assert_int_equal(synced.bytes, 30);
	synced.calls = 0;
	client_ask(client, 0, 4 * page - 8, 16);
	assert_int_equal(client_answer(client).status, PERSIST_OUTSIDE);
	client_ask(client, 0, UINT64_MAX - 4, 8);
	assert_int_equal(client_answer(client).status, PERSIST_OUTSIDE);
	client_ask(client, 0, 0, 0);
	EQUAL((client_answer(client).status, PERSIST_OUTSIDE), (synced.calls, 0));
	synced.error = EIO;
	client_ask(client, 0, 0, 8);
	assert_int_equal(client_answer(client).status, PERSIST_FAILED);
	client_ask(client, 0, 0, 8);
	assert_int_equal(client_answer(client).status, PERSIST_FAILED);
	client_ends(client);
	assert_int_equal(fixture_count(strerror(EIO)), 1);
}

SERVER_TEST(a_number_stands_for_its_block)
{
	struct persist_answer answer;

	fixture_begin(&by_events);
	client = client_open(&numbers);
	for (uint32_t i = 0; i < CLIENT_DEPTH; i++)
		client_number(client, FIXTURE_BYTES / 8192 - 1 - i);
	for (uint32_t i = 0; i < CLIENT_DEPTH; i++) {
		answer = client_answer(client);
		EQUAL((answer.slot, FIXTURE_BYTES / 8192 - 1 - i), (answer.status, PERSIST_DONE));
	}
	client_number(client, FIXTURE_BYTES / 8192);
	assert_int_equal(client_answer(client).status, PERSIST_OUTSIDE);
	client_number(client, UINT32_MAX);
	assert_int_equal(client_answer(client).status, PERSIST_OUTSIDE);
	client_ends(client);
}

/* They are taken, and after each half of the depth it reports that. */
SERVER_TEST(numbers_of_other_methods_are_counted)
{
	const struct job_request job_request = {.method = METHOD_APM, .jobs = 1, .depth = 4};

	fixture_begin(&any_method);
	client = client_open(&job_request);
	for (uint32_t i = 0; i < 4; i++)
		client_number(client, i);
	for (uint32_t i = 0; i < 8; i += 2) {
		client_receives(client);
		client_number(client, i);
		client_number(client, i + 1);
	}
	client_receives(client);
	client_receives(client);
	client_ends(client);
}

SERVER_TEST(it_ends_when_all_announced_have_left)
{
	const struct job_request first = {.method = METHOD_APM, .job = 0, .jobs = 2};
	const struct job_request second = {.method = METHOD_APM, .job = 1, .jobs = 2};

	fixture_begin(&any_method);
	client_leave(client_open(&first));
	fixture_wait_clients(0);
	client = client_open(&second);
	assert_int_equal(client->job_reply.refusal, REFUSAL_NONE);
	client_ends(client);
}

SERVER_TEST(several_are_served_at_once)
{
	const struct fixture_cfg cfg = {.poll = true, .clients = 4};
	struct test_client *g[4];

	fixture_begin(&cfg);
	for (int i = 0; i < 4; i++)
		g[i] = client_open(i == 0 ? &apm : &gpspm);
	for (uint32_t i = 1; i < 4; i++)
		client_ask(g[i], i, 0, 8);
	for (uint32_t i = 3; i >= 1; i--)
		assert_int_equal(client_answer(g[i]).slot, i);
	for (int i = 0; i < 4; i++)
		client_leave(g[i]);
	assert_int_equal(fixture_end(), 0);
}

static void come_and_vanish(const struct job_request *job_request)
{
	struct test_client *g = client_open(job_request);

	fixture_wait_served(1);
	client_close(g);
	fixture_wait_clients(0);
}

SERVER_TEST(who_leaves_without_a_word_is_missed)
{
	fixture_begin(&any_method);
	come_and_vanish(&apm);
	fixture_pass_ms(6000);
	EQUAL((fixture_end(), -EIO),
	      (fixture_failure(), HAS("client 127.0.0.1, job 1 of 1 went without")));
}

SERVER_TEST(who_comes_again_is_not_missed)
{
	fixture_begin(&any_method);
	come_and_vanish(&gpspm);
	client = client_open(&gpspm_again);
	assert_int_equal(client->job_reply.refusal, REFUSAL_NONE);
	fixture_wait_served(1);
	fixture_pass_ms(6000);
	client_ask(client, 5, 0, 8);
	assert_int_equal(client_answer(client).slot, 5);
	client_ends(client);
}

/* It is chance which end of a connection first sees that it broke. */
SERVER_TEST(who_comes_again_takes_its_own_place)
{
	struct test_client *before;

	fixture_begin(&any_method);
	before = client_open(&gpspm);
	client = client_open(&gpspm_again);
	assert_int_equal(client->job_reply.refusal, REFUSAL_NONE);
	client_is_dropped(before);
	client_close(before);
	client_ends(client);
}

SERVER_TEST(nobody_takes_the_place_of_another)
{
	const struct fixture_cfg cfg = {.poll = true, .clients = 2};
	struct job_request other = gpspm_again;

	fixture_begin(&cfg);
	come_and_vanish(&gpspm);
	client_leave(client_open(&gpspm)); /* one more that is like it */
	other.tag++;
	client = client_open(&other);
	assert_int_equal(client->job_reply.refusal, REFUSAL_FULL);
	client_close(client);
	fixture_pass_ms(6000);
	assert_int_equal(fixture_end(), -EIO);
}

/* Its device answers for it, however little it sends. */
SERVER_TEST(a_silent_client_stays)
{
	fixture_begin(&by_events);
	client = client_open(&apm);
	fixture_wait_served(1);
	for (unsigned i = 1; i < 4; i++) {
		fixture_pass_ms(11000);
		while (atomic_load(&questions) < i)
			sched_yield();
	}
	assert_true(connection_alive(client->connection, 0));
	client_ends(client);
}

SERVER_TEST(stopped_it_lets_clients_end)
{
	fixture_begin(&by_events);
	client = client_open(&gpspm);
	fixture_wait_clients(1);
	fixture_hold_clock();
	fixture_stop();
	client_ask(client, 1, 0, 8);
	assert_int_equal(client_answer(client).slot, 1);
	client_ends(client);
}

SERVER_TEST(who_is_about_to_be_connected_is_a_client)
{
	struct rpma_conn *conn = NULL;

	fixture_begin(&any_method);
	client_request_only(&apm, &conn);
	fixture_wait_clients(1);
	rpma_conn_delete(&conn);
}

SERVER_TEST(without_its_device_it_ends)
{
	struct rpma_conn *conn = NULL;

	fixture_begin(&by_events);
	atomic_store(&removed, true);
	client_request_only(&apm, &conn);
	assert_int_not_equal(fixture_end(), 0);
	assert_non_null(strstr(fixture_failure(), "the RDMA device of this host was removed"));
	atomic_store(&removed, false);
	rpma_conn_delete(&conn);
}

SERVER_TEST(stopped_it_tells_who_was_missed_before)
{
	const struct fixture_cfg cfg = {.poll = true, .clients = 2};

	fixture_begin(&cfg);
	come_and_vanish(&gpspm);
	client = client_open(&apm);
	fixture_wait_served(1);
	fixture_pass_ms(6000);
	fixture_stop();
	client_leave(client);
	assert_int_equal(fixture_end(), -EIO);
}

SERVER_TEST(stopped_it_does_not_wait_for_ever)
{
	fixture_begin(&any_method);
	client = client_open(&gpspm);
	fixture_stop();
	assert_int_equal(fixture_end(), 0);
	client_is_dropped(client);
	client_close(client);
}
