/* SPDX-License-Identifier: BSD-3-Clause */
/* test_connect.c -- rpma_conn_req_connect(): one side connects, the other accepts. */
#include "every_call_fails.h"

static const struct rpma_conn_private_data hello = {"hello", 5};

static void assert_usual_param(const struct rdma_conn_param *param)
{
	EQUAL((param->responder_resources, RDMA_MAX_RESP_RES),
	      (param->initiator_depth, RDMA_MAX_INIT_DEPTH), (param->flow_control, 1),
	      (param->retry_count, 7));
	assert_int_equal(param->rnr_retry_count, 7); /* for ever */
}

TEST(connect__sends_private_data, setup_req, teardown)
{
	expect(0, rpma_conn_req_connect(&w.req, &hello, &w.conn));
	assert_null(w.req);
	assert_usual_param(&provider.connect.param);
	assert_int_equal(provider.connect.param.private_data_len, hello.len);
	assert_memory_equal(provider.connect.private_data, hello.ptr, hello.len);
}

TEST(connect__sends_none_without_it, setup_req, teardown)
{
	expect(0, rpma_conn_req_connect(&w.req, NULL, &w.conn));
	EQUAL((provider.connect.param.private_data, NULL),
	      (provider.connect.param.private_data_len, 0));
}

TEST(connect__moves_the_id_to_its_own_channel_first, setup_req, teardown)
{
	expect(0, rpma_conn_req_connect(&w.req, NULL, &w.conn));
	assert_true(calls_in_order("rdma_migrate_id", "rdma_connect"));
	assert_non_null(provider.connect.channel);
}

TEST(accept__sends_private_data, setup_incoming, teardown)
{
	expect(0, rpma_conn_req_connect(&w.req, &hello, &w.conn));
	assert_null(w.req);
	assert_usual_param(&provider.accept.param);
	assert_int_equal(provider.accept.param.private_data_len, hello.len);
	assert_memory_equal(provider.accept.private_data, hello.ptr, hello.len);
	assert_int_equal(calls_count("rdma_connect"), 0);
}

TEST(accept__comes_after_the_move_to_the_own_channel, setup_incoming, teardown)
{
	bool own_channel;

	expect(0, rpma_conn_req_connect(&w.req, NULL, &w.conn));
	own_channel = provider.accept.channel != provider.listener->channel;
	assert_int_equal(own_channel, DIFFERS(true, false, "ESTABLISHED can reach the endpoint"));
}

TEST(accept__hands_on_the_private_data_of_the_request, setup_ep, teardown)
{
	struct rpma_conn_private_data of_req, of_conn;

	provider_queue_connect_request(hello.ptr, hello.len);
	expect(0, rpma_ep_next_conn_req(w.ep, NULL, &w.req));
	expect(0, rpma_conn_req_get_private_data(w.req, &of_req));
	expect(0, rpma_conn_req_connect(&w.req, NULL, &w.conn));
	expect(0, rpma_conn_get_private_data(w.conn, &of_conn));
	assert_ptr_equal(of_conn.ptr, of_req.ptr); /* stays valid */
	assert_int_equal(of_conn.len, hello.len);
}

TEST(connect__refuses_null_and_leaves_the_request, setup_req, teardown)
{
	struct rpma_conn_req *none = NULL;
	struct rpma_conn *conn = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_conn_req_connect(NULL, NULL, &conn));
	expect(RPMA_E_INVAL, rpma_conn_req_connect(&none, NULL, &conn));
	assert_ptr_equal(conn, UNTOUCHED);
}

TEST(connect__consumes_the_request_without_a_place_for_the_connection, setup_req, teardown)
{
	expect(RPMA_E_INVAL, rpma_conn_req_connect(&w.req, NULL, NULL));
	assert_null(w.req);
}

TEST(connect__consumes_the_request_on_bad_private_data, setup_peer, teardown)
{
	static const struct rpma_conn_private_data bad[] = {{NULL, 5}, {"hello", 0}, {NULL, 0}};
	struct rpma_conn *conn = UNTOUCHED;

	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		make_req();
		expect(RPMA_E_INVAL, rpma_conn_req_connect(&w.req, &bad[i], &conn));
		assert_null(w.req);
		assert_ptr_equal(conn, UNTOUCHED);
		assert_int_equal(provider.live.id, 0);
	}
}

static int connect_req(void)
{
	struct rpma_conn *conn = UNTOUCHED;
	int ret = rpma_conn_req_connect(&w.req, &hello, &conn);

	assert_null(w.req); /* consumed in any case */
	keep_made(ret, conn, w.conn);
	return ret;
}

SURVIVES(connect, .function = "rpma_conn_req_connect", .setup = setup_shared_req,
	 .act = connect_req)

SURVIVES(accept, .function = "rpma_conn_req_connect", .setup = setup_incoming, .act = connect_req,
	 .reference_leaks_ids = 1)

TEST(accept__rejects_the_client_when_it_fails, setup_incoming, teardown)
{
	struct rpma_conn *conn = UNTOUCHED;

	calls_fail_on("rdma_accept", EIO);
	expect(RPMA_E_PROVIDER, rpma_conn_req_connect(&w.req, NULL, &conn));
	assert_int_equal(calls_count("rdma_reject"),
			 DIFFERS(1, 0, "it lets the client wait for its timeout"));
	reference_leaks(id, 1, "and forgets the id");
	assert_int_equal(provider.live.id, 1); /* the listener's */
}
