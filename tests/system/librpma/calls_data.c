/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_data.c -- cases of operations: batches, inline data, ranges, a full queue, flushes.
 */
#include "calls.h"

#include "tests/lib/random.h"

#define RECORD_BYTES 64
#define RECORDS	     2000
#define BATCH	     16
#define QUEUE	     64
#define ON_ERROR     RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	     RPMA_F_COMPLETION_ALWAYS
#define SHORT_MS     20
#define WC_FLUSH     8 /* IBV_WC_FLUSH, which headers before rdma-core 46 lack */

static void fill(struct client *client, size_t length, uint64_t seed)
{
	for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
		uint64_t number = test_random(&seed);

		memcpy(client->memory + i, &number, sizeof(number));
	}
}

static void expect_nothing(struct client *client)
{
	struct ibv_wc wc;

	MUST_GIVE(RPMA_E_TIMEOUT, rpma_cq_await_wc(client->cq, 1, &wc, NULL, 0, SHORT_MS));
}

/* A device that is slow completes what fills the queue meanwhile. */
static void expect_no_more_than_room(struct client *client)
{
	struct ibv_wc wc;
	int ret = rpma_cq_await_wc(client->cq, 1, &wc, NULL, 0, SHORT_MS);

	MUST_HOLD(ret == RPMA_E_TIMEOUT || ret == RPMA_E_AGAIN);
}

static void *context(uint64_t number)
{
	return (void *)(uintptr_t)number; /* NOLINT: a number, as wr_id */
}

/* Record i of the client's memory to the same place. */
static int write_record(struct client *client, uint64_t i, int flags)
{
	return rpma_write(client->conn, client->dst, i * RECORD_BYTES, client->mr, i * RECORD_BYTES,
			  RECORD_BYTES, flags, context(i + 1));
}

static void expect_same(const struct client *client, const struct target *target, size_t length)
{
	MUST_HOLD(memcmp(client->memory, target->memory, length) == 0);
}

/* Nothing of a batch is posted before its last operation. */
static void write_and_wait(struct client *client, const struct target *target)
{
	const unsigned char zeros[RECORD_BYTES * 5] = {0};

	fill(client, sizeof(zeros), 1);
	for (uint64_t i = 0; i < 5; i++)
		MUST(write_record(client, i, ALWAYS | RPMA_F_MORE));
	expect_nothing(client);
	MUST_HOLD(memcmp(target->memory, zeros, sizeof(zeros)) == 0);
	MUST(rpma_submit(client->conn));
	for (uint64_t i = 0; i < 5; i++)
		MUST_HOLD(client_completion(client).wr_id == i + 1);
	MUST(rpma_submit(client->conn)); /* nothing waits */
	client_flush(client);
	expect_same(client, target, sizeof(zeros));
}

/* The batch is posted when it is full: all but the rest are there without rpma_submit(). */
static void overfill(struct client *client, const struct target *target)
{
	fill(client, RECORD_BYTES * (BATCH + 3), 2);
	for (uint64_t i = 0; i < BATCH + 3; i++)
		MUST(write_record(client, i, ALWAYS | RPMA_F_MORE));
	for (uint64_t i = 0; i < BATCH; i++)
		MUST_HOLD(client_completion(client).wr_id == i + 1);
	expect_nothing(client);
	MUST(rpma_submit(client->conn));
	for (uint64_t i = BATCH; i < BATCH + 3; i++)
		MUST_HOLD(client_completion(client).wr_id == i + 1);
	client_flush(client);
	expect_same(client, target, RECORD_BYTES * (BATCH + 3));
}

/* One completion a batch. */
static void write_many(struct client *client, const struct target *target)
{
	fill(client, (size_t)RECORDS * RECORD_BYTES, 3);
	for (uint64_t i = 0; i < RECORDS; i++) {
		bool last = i % BATCH == BATCH - 1 || i == RECORDS - 1;

		MUST(write_record(client, i, last ? ALWAYS : ON_ERROR | RPMA_F_MORE));
		if (last)
			MUST_HOLD(client_completion(client).wr_id == i + 1);
	}
	client_flush(client);
	expect_same(client, target, (size_t)RECORDS * RECORD_BYTES);
}

/* Different operations in one batch keep their order: a read sees the write before it. */
static void mix(struct client *client)
{
	const size_t to = MEMORY_BYTES / 2;
	char word[8] = "atomic!";

	fill(client, RECORD_BYTES, 4);
	for (int round = 0; round < 50; round++) {
		memset(client->memory + to, 0, RECORD_BYTES);
		client->memory[8] = (unsigned char)round;
		MUST(write_record(client, 0, ON_ERROR | RPMA_F_MORE));
		MUST(rpma_atomic_write(client->conn, client->dst, 0, word, ON_ERROR | RPMA_F_MORE,
				       NULL));
		MUST(rpma_read(client->conn, client->mr, to, client->dst, 0, RECORD_BYTES, ALWAYS,
			       context(7)));
		MUST_HOLD(client_completion(client).wr_id == 7);
		MUST_HOLD(memcmp(client->memory + to, word, sizeof(word)) == 0);
		MUST_HOLD(memcmp(client->memory + to + 8, client->memory + 8, RECORD_BYTES - 8) ==
			  0);
	}
}

int batches_arrive_in_order(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_CQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_BATCH_SIZE, BATCH},
	};
	struct client client = {0};

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	write_and_wait(&client, &c->target[0]);
	overfill(&client, &c->target[0]);
	write_many(&client, &c->target[0]);
	mix(&client);
	client_close(&client, true);
	return 0;
}

int inline_bytes_are_copied(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_CQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_INLINE_SIZE, RECORD_BYTES},
	};
	struct client client = {0};
	uint32_t granted = 0;

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	MUST(rpma_conn_get_option(client.conn, RPMA_CONN_OPT_INLINE_SIZE, &granted));
	MUST_HOLD(granted >= RECORD_BYTES && granted < MEMORY_BYTES);
	for (uint64_t i = 0; i < BATCH; i++) {
		bool last = i == BATCH - 1;

		memset(client.memory, (int)i + 1, RECORD_BYTES);
		MUST(rpma_write(
			client.conn, client.dst, i * RECORD_BYTES, client.mr, 0, RECORD_BYTES,
			RPMA_F_INLINE | (last ? ALWAYS : ON_ERROR | RPMA_F_MORE), context(i)));
		memset(client.memory, 0xff, RECORD_BYTES);
	}
	MUST_HOLD(client_completion(&client).wr_id == BATCH - 1);
	MUST_GIVE(RPMA_E_INVAL, rpma_write(client.conn, client.dst, 0, client.mr, 0, granted + 1,
					   RPMA_F_INLINE | ALWAYS, NULL));
	client_flush(&client);
	for (size_t i = 0; i < BATCH * RECORD_BYTES; i++)
		MUST_HOLD(c->target[0].memory[i] == i / RECORD_BYTES + 1);
	client_close(&client, true);
	return 0;
}

int ranges_are_gathered(struct calls *c)
{
	const struct option options[] = {{RPMA_CONN_OPT_SEND_SGES, 4}};
	struct client client = {0};

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	const struct rpma_range ranges[] = {
		{client.mr, 5000, 100},
		{client.mr, 0, 1},
		{client.mr, 70000, 7},
		{client.mr, 333, 4000},
	};
	fill(&client, 80000, 5);
	for (int i = 0; i < 2; i++) {
		const size_t to = 10 + (size_t)i * 10000;
		const unsigned char *at = c->target[0].memory + to;

		MUST(rpma_writev(client.conn, client.dst, to, ranges, 4,
				 i == 0 ? ALWAYS : ON_ERROR | RPMA_F_MORE, context(3)));
		if (i == 0)
			MUST_HOLD(client_completion(&client).wr_id == 3);
		client_flush(&client);
		for (size_t n = 0; n < 4; at += ranges[n++].len)
			MUST_HOLD(memcmp(at, client.memory + ranges[n].offset, ranges[n].len) == 0);
		MUST_HOLD(*at == 0 && c->target[0].memory[to - 1] == 0);
	}
	MUST_GIVE(RPMA_E_INVAL, rpma_writev(client.conn, client.dst, 0, ranges, 5, ALWAYS, NULL));
	client_close(&client, true);
	return 0;
}

/* Until there is no room, with nothing fetched. */
static uint64_t fill_queue(struct client *client, uint32_t queue, int flags)
{
	uint64_t posted = 0;
	int ret = 0;

	while (posted <= queue && (ret = write_record(client, posted, flags)) == 0)
		posted++;
	session_must(ret, RPMA_E_AGAIN, "rpma_write() to a full queue");
	MUST_HOLD(posted == queue);
	MUST_GIVE(RPMA_E_AGAIN, write_record(client, posted, flags)); /* as often as one likes */
	return posted;
}

/* Fetching makes room, although the program asked for no completion. */
static void write_with_retries(struct client *client)
{
	uint64_t refused = 0;
	struct ibv_wc wc;

	for (uint64_t i = 0; i < RECORDS; i++) {
		const int flags = ON_ERROR | (i % 3 ? RPMA_F_MORE : 0);
		int ret = write_record(client, i, flags);

		if (ret == RPMA_E_AGAIN) {
			MUST(rpma_submit(client->conn));
			do {
				refused++;
				MUST_GIVE(RPMA_E_AGAIN,
					  rpma_cq_await_wc(client->cq, 1, &wc, NULL, 0, -1));
				ret = write_record(client, i, flags);
			} while (ret == RPMA_E_AGAIN);
		}
		session_must(ret, 0, "rpma_write()");
	}
	MUST(rpma_submit(client->conn));
	MUST_HOLD(refused > 0);
}

/* Those asked for come all the same, once each and in order. */
static void write_asking_for_some(struct client *client)
{
	uint64_t asked = 0, got = 0;
	struct ibv_wc wc;

	for (uint64_t i = 0; i < RECORDS; i++) {
		const bool asks = i % 7 == 0;

		int ret;

		while ((ret = write_record(client, i, asks ? ALWAYS : ON_ERROR)) == RPMA_E_AGAIN) {
			while (rpma_cq_get_wc(client->cq, 1, &wc, NULL) == 0)
				MUST_HOLD(wc.status == IBV_WC_SUCCESS && wc.wr_id == 7 * got++ + 1);
		}
		session_must(ret, 0, "rpma_write()");
		asked += asks;
	}
	for (; got < asked; got++)
		MUST_HOLD(client_completion(client).wr_id == 7 * got + 1);
	expect_nothing(client);
}

int full_queue_says_again(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_CQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_SIGNAL_EVERY, 8},
		{RPMA_CONN_OPT_BATCH_SIZE, BATCH},
	};
	struct client client = {0};
	uint32_t queue = 0;

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	MUST(rpma_conn_get_option(client.conn, RPMA_CONN_OPT_SQ_SIZE, &queue));
	MUST_HOLD(queue >= QUEUE && queue < MEMORY_BYTES / RECORD_BYTES);
	fill(&client, MEMORY_BYTES, 6);
	fill_queue(&client, queue, ON_ERROR);
	expect_no_more_than_room(&client);
	write_with_retries(&client);
	write_asking_for_some(&client);
	client_flush(&client);
	expect_same(&client, &c->target[0], (size_t)RECORDS * RECORD_BYTES);
	client_close(&client, true);
	return 0;
}

/*
 * Completions that the library asks for itself must not overrun a queue that the program made large
 * enough for its own.
 */
int hidden_completions_fit(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, 64},
		{RPMA_CONN_OPT_CQ_SIZE, 4},
		{RPMA_CONN_OPT_SIGNAL_EVERY, 2},
	};
	struct client client = {0};

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	fill(&client, MEMORY_BYTES, 7);
	write_with_retries(&client);
	client_flush(&client);
	expect_same(&client, &c->target[0], (size_t)RECORDS * RECORD_BYTES);
	client_close(&client, true);
	return 0;
}

/* --- flushes ---------------------------------------------------------------------------------- */

static void expect_flush(struct client *client, enum rpma_flush_method method, uint64_t wr_id)
{
	struct ibv_wc wc = client_completion(client);

	MUST_HOLD(wc.wr_id == wr_id);
	MUST_HOLD((int)wc.opcode ==
		  (method == RPMA_FLUSH_METHOD_NATIVE ? WC_FLUSH : (int)IBV_WC_RDMA_READ));
	expect_nothing(client);
}

static void write_and_flush(struct client *client, const struct target *target,
			    enum rpma_flush_type type, enum rpma_flush_method method)
{
	for (uint64_t i = 0; i < 20; i++) {
		fill(client, 4096, 10 + i);
		MUST(rpma_write_flush(client->conn, client->dst, i * 4096, client->mr, 0, 4096,
				      type, ALWAYS, context(i)));
		expect_flush(client, method, i);
		MUST_HOLD(memcmp(target->memory + i * 4096, client->memory, 4096) == 0);
	}
}

/* Records behind each other, the end after the first 8 bytes; several under way at a time. */
static void append(struct client *client, const struct target *target,
		   enum rpma_flush_method method)
{
	uint64_t end = 64;

	fill(client, MEMORY_BYTES, 30);
	for (uint64_t i = 0; i < 60; i++) {
		const size_t length = 8 + i * 11;
		uint64_t seen = 0, new_end = end + length;
		const struct rpma_record record = {client->dst, end, client->mr, end,
						   length,	8,   &new_end};
		const bool asks = i % 4 == 3;

		MUST(rpma_append(client->conn, &record, asks ? ALWAYS : ON_ERROR | RPMA_F_MORE,
				 context(i)));
		end = new_end;
		new_end = UINT64_MAX; /* it was read during the call */
		if (!asks)
			continue;
		expect_flush(client, method, i);
		memcpy(&seen, target->memory + 8, sizeof(seen));
		MUST_HOLD(seen == end);
		MUST_HOLD(memcmp(target->memory + 64, client->memory + 64, end - 64) == 0);
	}
}

int flushes_have_one_completion(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, QUEUE},
		{RPMA_CONN_OPT_CQ_SIZE, QUEUE},
	};
	enum rpma_flush_method of_conn, method;
	struct rpma_conn_req *req = NULL;
	struct client client = {0};
	uint32_t value = 0;
	int caps = 0;

	if (client_request(c, &client, &c->target[0], options, NUM_OPTIONS(options), &req) != 0) {
		MUST(rpma_peer_get_caps(client.peer, &caps));
		MUST_HOLD(c->method == RPMA_FLUSH_METHOD_NATIVE);
		MUST_GIVE(RPMA_E_NOSUPP, client_request(c, &client, &c->target[0], options,
							NUM_OPTIONS(options), &req));
		fprintf(stderr, "no connection of this device flushes natively\n");
		MUST(rpma_peer_delete(&client.peer));
		return 77;
	}
	MUST(rpma_conn_req_delete(&req));
	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	MUST(rpma_conn_get_option(client.conn, RPMA_CONN_OPT_FLUSH_METHOD, &value));
	of_conn = (enum rpma_flush_method)value;
	MUST_HOLD(of_conn != RPMA_FLUSH_METHOD_AUTO);
	int ret = rpma_conn_get_flush_method(client.conn, client.dst, &method);
	if (ret == RPMA_E_NOSUPP) { /* memory that the device does not flush natively */
		MUST_HOLD(c->method == RPMA_FLUSH_METHOD_NATIVE);
		MUST_GIVE(RPMA_E_NOSUPP,
			  rpma_write_flush(client.conn, client.dst, 0, client.mr, 0, 8,
					   RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
		expect_nothing(&client);
	} else {
		session_must(ret, 0, "rpma_conn_get_flush_method()");
		write_and_flush(&client, &c->target[0], RPMA_FLUSH_TYPE_VISIBILITY, method);
		write_and_flush(&client, &c->target[0], RPMA_FLUSH_TYPE_PERSISTENT, method);
		append(&client, &c->target[0], method);
	}
	client_close(&client, true);
	return 0;
}
