/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cq_conns.c -- a completion queue for several connections: what it refuses, and its failures.
 */
#include "every_call_fails.h"

static int new_cq(void)
{
	struct rpma_cq *cq = UNTOUCHED;
	int ret = rpma_cq_new(w.peer, w.cfg, &cq);

	if (ret) {
		assert_ptr_equal(cq, UNTOUCHED);
		return ret;
	}
	ret = rpma_cq_delete(&cq); /* whose failures are among those of the operation */
	assert_null(cq);
	return ret;
}

static int setup_cq_options(void **unused)
{
	setup_peer(unused);
	make_cfg();
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CQ_SIZE, 16));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_COMP_VECTOR, 3));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CQ_MODERATION_COUNT, 8));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CQ_MODERATION_US, 20));
	return 0;
}

SURVIVES(new, .function = "rpma_cq_new", .setup = setup_cq_options, .act = new_cq)

TEST(new__is_made_as_the_options_say, setup_cq_options, teardown)
{
	struct rpma_cq *cq = NULL;

	expect(0, rpma_cq_new(w.peer, w.cfg, &cq));
	EQUAL((provider.create_cq[0].cqe, 16), (provider.create_cq[0].comp_vector, 3),
	      (provider.modify_cq.moderate.cq_count, 8),
	      (provider.modify_cq.moderate.cq_period, 20));
	expect(0, rpma_cq_delete(&cq));
}

TEST(new__has_defaults, setup_peer, teardown)
{
	struct rpma_cq *cq = NULL;

	expect(0, rpma_cq_new(w.peer, NULL, &cq));
	EQUAL((provider.create_cq[0].cqe, 10), (provider.create_cq[0].comp_vector, 0),
	      (calls_count("ibv_modify_cq"), 0));
	expect(0, rpma_cq_delete(&cq));
}

TEST(new__tells_what_the_device_does_not_moderate, setup_cq_options, teardown)
{
	struct rpma_cq *cq = UNTOUCHED;

	calls_fail_on("ibv_modify_cq", EOPNOTSUPP);
	expect(RPMA_E_NOSUPP, rpma_cq_new(w.peer, w.cfg, &cq));
	assert_ptr_equal(cq, UNTOUCHED);
}

SETUP(setup_conn_with_cfg, setup_nothing, make_peer(); make_cfg(); make_req(); make_conn())

TEST(calls__refuse_bad_arguments, setup_conn_with_cfg, teardown)
{
	struct rpma_cq *cq = UNTOUCHED, *none = NULL;
	struct rpma_conn *conn = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_cq_new(NULL, NULL, &cq));
	expect(RPMA_E_INVAL, rpma_cq_new(w.peer, NULL, NULL));
	assert_ptr_equal(cq, UNTOUCHED);
	expect(RPMA_E_INVAL, rpma_cq_delete(NULL));
	expect(0, rpma_cq_delete(&none));
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_cq(NULL, NULL));
	expect(RPMA_E_INVAL, rpma_cq_get_conn(NULL, 1, &conn));
	/* the queue of a connection is not for others */
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_cq(w.cfg, w.cq));
	expect(RPMA_E_INVAL, rpma_cq_get_conn(w.cq, 1, &conn));
	expect(RPMA_E_INVAL, rpma_cq_delete(&w.cq));
	assert_ptr_equal(conn, UNTOUCHED);
}

TEST(cfg__excludes_a_shared_channel, setup_peer, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;
	struct rpma_cq *cq = NULL;

	make_cfg();
	expect(0, rpma_cq_new(w.peer, NULL, &cq));
	expect(0, rpma_conn_cfg_set_cq(w.cfg, cq));
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &req));
	expect(0, rpma_conn_cfg_set_cq(w.cfg, NULL)); /* a queue each again */
	expect(0, rpma_cq_delete(&cq));
	assert_null(cq);
}
