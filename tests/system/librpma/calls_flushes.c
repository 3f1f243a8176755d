/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_flushes.c -- the case of writes with a flush, and of appends. */
#include "calls.h"

#include "tests/lib/random.h"

#define QUEUE	 64
#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	 RPMA_F_COMPLETION_ALWAYS
#define SHORT_MS 20
#define WC_FLUSH 8 /* IBV_WC_FLUSH, which headers before rdma-core 46 lack */

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

static void *context(uint64_t number)
{
	return (void *)(uintptr_t)number; /* NOLINT: a number, as wr_id */
}

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
