/* SPDX-License-Identifier: BSD-3-Clause */
/* test_option.c -- the numbers of a connection: what they may be, and where they go. */
#include "world.h"

static const struct {
	enum rpma_conn_option option;
	uint32_t most, by_default;
	bool may_be_unset;
} options[] = {
	{RPMA_CONN_OPT_CQ_SIZE, UINT32_MAX, 10, false},
	{RPMA_CONN_OPT_RCQ_SIZE, UINT32_MAX, 0, false},
	{RPMA_CONN_OPT_SQ_SIZE, UINT32_MAX, 10, false},
	{RPMA_CONN_OPT_RQ_SIZE, UINT32_MAX, 10, false},
	{RPMA_CONN_OPT_INLINE_SIZE, UINT32_MAX, 8, false},
	{RPMA_CONN_OPT_COMP_VECTOR, INT32_MAX, 0, false},
	{RPMA_CONN_OPT_CQ_MODERATION_COUNT, 65535, 0, false},
	{RPMA_CONN_OPT_CQ_MODERATION_US, 65535, 0, false},
	{RPMA_CONN_OPT_RETRIES, 7, 7, false},
	{RPMA_CONN_OPT_RNR_RETRIES, 7, 7, false},
	{RPMA_CONN_OPT_RNR_TIMER, 31, RPMA_CONN_OPT_UNSET, true},
	{RPMA_CONN_OPT_ACK_TIMEOUT, 31, RPMA_CONN_OPT_UNSET, true},
	{RPMA_CONN_OPT_TRAFFIC_CLASS, 255, RPMA_CONN_OPT_UNSET, true},
	/* a queue pair that can do no other reads */
	{RPMA_CONN_OPT_FLUSH_METHOD, RPMA_FLUSH_METHOD_NATIVE, RPMA_FLUSH_METHOD_READ, false},
	{RPMA_CONN_OPT_CONNECT_MS, INT32_MAX, 0, false},
};

static uint32_t option_of_conn(enum rpma_conn_option option)
{
	uint32_t value = 77;

	expect(0, rpma_conn_get_option(w.conn, option, &value));
	return value;
}

static void set(enum rpma_conn_option option, uint32_t value)
{
	expect(0, rpma_conn_cfg_set_option(w.cfg, option, value));
}

TEST(cfg__has_limits, setup_cfg, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++) {
		const enum rpma_conn_option option = options[i].option;

		set(option, 0);
		set(option, options[i].most);
		if (options[i].may_be_unset)
			set(option, RPMA_CONN_OPT_UNSET);
		else if (options[i].most != UINT32_MAX)
			expect(RPMA_E_INVAL,
			       rpma_conn_cfg_set_option(w.cfg, option, RPMA_CONN_OPT_UNSET));
		if (options[i].most != UINT32_MAX)
			expect(RPMA_E_INVAL,
			       rpma_conn_cfg_set_option(w.cfg, option, options[i].most + 1));
	}
}

TEST(cfg__has_defaults, setup_cfg, teardown)
{
	make_req();
	make_conn();
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
		assert_int_equal(option_of_conn(options[i].option), options[i].by_default);
}

static uint32_t value_of_its_own(uint32_t i)
{
	if (options[i].option == RPMA_CONN_OPT_FLUSH_METHOD)
		return RPMA_FLUSH_METHOD_READ;
	return options[i].most == UINT32_MAX ? 100 + i : 1 + i % options[i].most;
}

TEST(cfg__keeps_them_apart, setup_cfg, teardown)
{
	for (uint32_t i = 0; i < ARRAY_LENGTH(options); i++)
		set(options[i].option, value_of_its_own(i));
	set(RPMA_CONN_OPT_SIGNAL_EVERY, 0); /* or the CQ would have room for all of them */
	make_req();
	make_conn();
	for (uint32_t i = 0; i < ARRAY_LENGTH(options); i++)
		assert_int_equal(option_of_conn(options[i].option), value_of_its_own(i));
}

/* The calls of 1.3 are of the same numbers. */
TEST(cfg__has_the_queue_sizes, setup_cfg, teardown)
{
	uint32_t size = 0;

	set(RPMA_CONN_OPT_SQ_SIZE, 55);
	expect(0, rpma_conn_cfg_get_sq_size(w.cfg, &size));
	assert_int_equal(size, 55);
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 56));
	make_req();
	make_conn();
	assert_int_equal(option_of_conn(RPMA_CONN_OPT_RCQ_SIZE), 56);
}

TEST(cfg__refuses_bad_arguments, setup_cfg, teardown)
{
	static const enum rpma_conn_option unknown[] = {
		(enum rpma_conn_option) - 1, (enum rpma_conn_option)(RPMA_CONN_OPT_CONNECT_MS + 1)};

	expect(RPMA_E_INVAL, rpma_conn_cfg_set_option(NULL, RPMA_CONN_OPT_CQ_SIZE, 1));
	for (size_t i = 0; i < ARRAY_LENGTH(unknown); i++)
		expect(RPMA_E_INVAL, rpma_conn_cfg_set_option(w.cfg, unknown[i], 1));
}

/* --- where they go -------------------------------------------------------------------- */

TEST(conn__is_made_as_they_say, setup_cfg, teardown)
{
	set(RPMA_CONN_OPT_CQ_SIZE, 21);
	set(RPMA_CONN_OPT_RCQ_SIZE, 22);
	set(RPMA_CONN_OPT_SQ_SIZE, 23);
	set(RPMA_CONN_OPT_SIGNAL_EVERY, 0); /* or the CQ would have room for all of them */
	set(RPMA_CONN_OPT_RQ_SIZE, 24);
	set(RPMA_CONN_OPT_INLINE_SIZE, 64);
	set(RPMA_CONN_OPT_COMP_VECTOR, 3);
	set(RPMA_CONN_OPT_CQ_MODERATION_COUNT, 16);
	set(RPMA_CONN_OPT_CQ_MODERATION_US, 20);
	set(RPMA_CONN_OPT_RETRIES, 2);
	set(RPMA_CONN_OPT_RNR_RETRIES, 3);
	set(RPMA_CONN_OPT_ACK_TIMEOUT, 14);
	set(RPMA_CONN_OPT_TRAFFIC_CLASS, 96);
	make_req();
	make_conn();
	for (unsigned i = 0; i < 2; i++) {
		EQUAL((provider.create_cq[i].cqe, 21 + i), (provider.create_cq[i].comp_vector, 3));
	}
	EQUAL((provider.create_qp.cap.max_send_wr, 23), (provider.create_qp.cap.max_recv_wr, 24),
	      (provider.create_qp.cap.max_inline_data, 64), (calls_count("ibv_modify_cq"), 2),
	      (provider.modify_cq.attr_mask, IBV_CQ_ATTR_MODERATE),
	      (provider.modify_cq.moderate.cq_count, 16),
	      (provider.modify_cq.moderate.cq_period, 20), (provider.connect.param.retry_count, 2),
	      (provider.connect.param.rnr_retry_count, 3),
	      (provider.id_option[RDMA_OPTION_ID_ACK_TIMEOUT], 14));
	EQUAL((provider.id_option[RDMA_OPTION_ID_TOS], 96),
	      (calls_in_order("rdma_set_option", "rdma_resolve_route"), true));
}

TEST(conn__leaves_to_others_what_is_not_set, setup_cfg, teardown)
{
	enum rpma_conn_event event;

	make_req();
	make_conn();
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	expect(0, rpma_conn_next_event(w.conn, &event));
	EQUAL((calls_count("rdma_set_option"), 0), (calls_count("ibv_modify_cq"), 0),
	      (calls_count("ibv_modify_qp"), 0));
}

/* The CM has no option for it: the queue pair takes it when it is ready. */
TEST(conn__gets_its_rnr_timer_when_established, setup_cfg, teardown)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	set(RPMA_CONN_OPT_RNR_TIMER, 14);
	make_req();
	make_conn();
	assert_int_equal(calls_count("ibv_modify_qp"), 0);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	expect(0, rpma_conn_next_event(w.conn, &event));
	EQUAL((event, RPMA_CONN_ESTABLISHED), (provider.modify_qp.mask, IBV_QP_MIN_RNR_TIMER),
	      (provider.modify_qp.attr.min_rnr_timer, 14));

	calls_fail_on("ibv_modify_qp", EINVAL);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	expect(RPMA_E_PROVIDER, rpma_conn_next_event(w.conn, &event));
	expect_logged(RPMA_LOG_LEVEL_ERROR, "min_rnr_timer=14");
}

TEST(accepted__has_them_too, setup_cfg, teardown)
{
	set(RPMA_CONN_OPT_RETRIES, 1);
	set(RPMA_CONN_OPT_ACK_TIMEOUT, 19);
	set(RPMA_CONN_OPT_TRAFFIC_CLASS, 8);
	make_ep();
	make_incoming();
	make_conn();
	EQUAL((provider.accept.param.retry_count, 1),
	      (provider.id_option[RDMA_OPTION_ID_ACK_TIMEOUT], 19),
	      (provider.id_option[RDMA_OPTION_ID_TOS], 8));
}

TEST(what_the_manager_does_not_know__is_told, setup_cfg, teardown)
{
	set(RPMA_CONN_OPT_TRAFFIC_CLASS, 96);
	calls_fail_on("rdma_set_option", ENOSYS);
	expect(RPMA_E_NOSUPP, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &w.req));
	expect_logged(RPMA_LOG_LEVEL_ERROR, "rdma_set_option(TOS, 96)");
	set(RPMA_CONN_OPT_TRAFFIC_CLASS, RPMA_CONN_OPT_UNSET);
	set(RPMA_CONN_OPT_ACK_TIMEOUT, 1);
	make_req();
	calls_fail_on("rdma_set_option", ENOSYS);
	expect(RPMA_E_NOSUPP, rpma_conn_req_connect(&w.req, NULL, &w.conn));
}

TEST(what_the_device_does_not_moderate__is_told, setup_cfg, teardown)
{
	static const struct {
		int errnum, result;
	} cases[] = {{EOPNOTSUPP, RPMA_E_NOSUPP}, {ENOSYS, RPMA_E_NOSUPP}, {EIO, RPMA_E_PROVIDER}};

	set(RPMA_CONN_OPT_CQ_MODERATION_COUNT, 16);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		provider.num_cqs = 0;
		calls_fail_on("ibv_modify_cq", cases[i].errnum);
		expect(cases[i].result,
		       rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &w.req));
	}
}

/* --- what a connection got ------------------------------------------------------------- */

/* The completion queue has an entry for each operation and each receive that it counts. */
TEST(conn__tells_what_it_got, setup_cfg, teardown)
{
	set(RPMA_CONN_OPT_SQ_SIZE, 23);
	make_req();
	make_conn();
	EQUAL((option_of_conn(RPMA_CONN_OPT_SQ_SIZE), 23),
	      (option_of_conn(RPMA_CONN_OPT_CQ_SIZE), 23 + 10));
}

TEST(conn__tells_what_a_generous_device_gave, setup_cfg, teardown)
{
	provider.sends_granted = 8;
	make_req();
	make_conn();
	assert_int_equal(option_of_conn(RPMA_CONN_OPT_SQ_SIZE), 10 + 8);
}

/* The completion queue has no entries for more, so the library gives out no more slots. */
TEST(conn__has_the_places_asked_for_where_they_are_counted, setup_cfg, teardown)
{
	provider.sends_granted = 8;
	set(RPMA_CONN_OPT_SIGNAL_EVERY, 2);
	make_req();
	make_conn();
	assert_int_equal(option_of_conn(RPMA_CONN_OPT_SQ_SIZE), 10);
}

TEST(conn__refuses_bad_arguments, setup_conn, teardown)
{
	uint32_t value = 77;

	expect(RPMA_E_INVAL, rpma_conn_get_option(NULL, RPMA_CONN_OPT_SQ_SIZE, &value));
	expect(RPMA_E_INVAL, rpma_conn_get_option(w.conn, RPMA_CONN_OPT_SQ_SIZE, NULL));
	expect(RPMA_E_INVAL, rpma_conn_get_option(w.conn, (enum rpma_conn_option)99, &value));
	assert_int_equal(value, 77);
}

/* --- how it flushes ---------------------------------------------------------------------- */

static enum rpma_flush_method method_of_conn(void)
{
	enum rpma_flush_method method = RPMA_FLUSH_METHOD_AUTO;

	expect(0, rpma_conn_get_flush_method(w.conn, w.remote, &method));
	return method;
}

TEST(flush_method__is_read_without_native, setup_conn, teardown)
{
	assert_int_equal(method_of_conn(), RPMA_FLUSH_METHOD_READ);
}

TEST(native_only__needs_a_device_that_can, setup_cfg, teardown)
{
	set(RPMA_CONN_OPT_FLUSH_METHOD, RPMA_FLUSH_METHOD_NATIVE);
	expect(RPMA_E_NOSUPP, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &w.req));
	expect_logged(RPMA_LOG_LEVEL_ERROR, "lacks native flush");
}

static int setup_native(void **unused)
{
	setup_device(CAP_FLUSH);
	make_peer();
	make_mr();
	make_cfg();
	return 0;
}

static void connect_to_flush(enum rpma_flush_method method)
{
	set(RPMA_CONN_OPT_FLUSH_METHOD, method);
	make_req();
	make_conn();
}

static int flush(struct rpma_mr_remote *mr)
{
	return rpma_flush(w.conn, mr, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
			  NULL);
}

TEST(auto__is_native_where_both_can, setup_native, teardown)
{
	if (!RPMA_NATIVE)
		skip();
	connect_to_flush(RPMA_FLUSH_METHOD_AUTO);
	EQUAL((method_of_conn(), RPMA_FLUSH_METHOD_NATIVE),
	      (option_of_conn(RPMA_CONN_OPT_FLUSH_METHOD), RPMA_FLUSH_METHOD_NATIVE));
	expect_named(0, "rpma_flush", flush(w.remote));
	assert_int_equal(provider.native.completed, 1);
}

TEST(read__is_a_read_all_the_same, setup_native, teardown)
{
	connect_to_flush(RPMA_FLUSH_METHOD_READ);
	EQUAL((method_of_conn(), RPMA_FLUSH_METHOD_READ),
	      (option_of_conn(RPMA_CONN_OPT_FLUSH_METHOD), RPMA_FLUSH_METHOD_READ));
	expect_named(0, "rpma_flush", flush(w.remote));
	EQUAL((provider.native.completed, 0), (provider.send.wr.opcode, IBV_WR_RDMA_READ));
}

TEST(native_only__refuses_a_region_without, setup_native, teardown)
{
	enum rpma_flush_method method = RPMA_FLUSH_METHOD_AUTO;
	unsigned char desc[DESCRIPTOR_SIZE];

	if (!RPMA_NATIVE)
		skip();
	connect_to_flush(RPMA_FLUSH_METHOD_NATIVE);
	expect_named(0, "rpma_flush", flush(w.remote));
	write_descriptor(desc, 0x1000, 64, 1, ALL_USAGES); /* with READ_SRC: flushed by read */
	expect(0, rpma_mr_remote_delete(&w.remote));
	expect(0, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote));
	expect(RPMA_E_NOSUPP, rpma_conn_get_flush_method(w.conn, w.remote, &method));
	expect_named(RPMA_E_NOSUPP, "rpma_flush", flush(w.remote));
	EQUAL((provider.send.posted, 0), (method, RPMA_FLUSH_METHOD_AUTO));
}

TEST(flush_method__refuses_null, setup_conn, teardown)
{
	enum rpma_flush_method method = RPMA_FLUSH_METHOD_AUTO;

	expect(RPMA_E_INVAL, rpma_conn_get_flush_method(NULL, w.remote, &method));
	expect(RPMA_E_INVAL, rpma_conn_get_flush_method(w.conn, NULL, &method));
	expect(RPMA_E_INVAL, rpma_conn_get_flush_method(w.conn, w.remote, NULL));
	assert_int_equal(method, RPMA_FLUSH_METHOD_AUTO);
}

#if RPMA_NATIVE
/* A flush that is native in any case persists by itself, whatever the platform does with writes. */
TEST(native_flushes__need_no_declaration, setup_native, teardown)
{
	unsigned char desc[22] = {0};

	connect_to_flush(RPMA_FLUSH_METHOD_NATIVE);
	for (unsigned char native = 0; native < 2; native++) {
		const int ret = native ? 0 : RPMA_E_NOSUPP;

		write_descriptor(desc, 0x10000, 64, 1, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
		desc[21] = native;
		expect(0, rpma_mr_remote_delete(&w.remote));
		expect(0, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote));
		expect(ret, rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT,
				       RPMA_F_COMPLETION_ALWAYS, NULL));
	}
	assert_int_equal(provider.native.flush_type, 2); /* IBV_FLUSH_PERSISTENT */
	assert_int_equal(provider.send.posted, 0);
}
#endif
