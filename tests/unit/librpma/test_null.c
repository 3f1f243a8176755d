/* SPDX-License-Identifier: BSD-3-Clause */
/* test_null.c -- NULL where an object, or a place for an answer, is needed; and what is ended. */
#include "world.h"

TEST(ends__refuse_null, setup_nothing, teardown)
{
	expect(RPMA_E_INVAL, rpma_conn_disconnect(NULL));
	expect(RPMA_E_INVAL, rpma_conn_delete(NULL));
	expect(RPMA_E_INVAL, rpma_conn_req_delete(NULL));
	expect(RPMA_E_INVAL, rpma_ep_shutdown(NULL));
	expect(RPMA_E_INVAL, rpma_mr_dereg(NULL));
	expect(RPMA_E_INVAL, rpma_peer_delete(NULL));
	expect(RPMA_E_INVAL, rpma_srq_delete(NULL));
}

TEST(new_objects__refuse_null, setup_peer, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;
	struct rpma_ep *ep = UNTOUCHED;
	struct rpma_srq *srq = UNTOUCHED;

	REFUSES_NULL(rpma_peer_new, provider.context, struct rpma_peer *);
	REFUSES_NULL(rpma_utils_ibv_context_is_odp_capable, provider.context, int);
	expect(RPMA_E_INVAL, rpma_conn_req_new(NULL, "192.0.2.1", "7204", NULL, &req));
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, NULL, "7204", NULL, &req));
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", NULL, NULL, &req));
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", NULL, NULL));
	expect(RPMA_E_INVAL, rpma_ep_listen(NULL, "192.0.2.1", "7204", &ep));
	expect(RPMA_E_INVAL, rpma_ep_listen(w.peer, NULL, "7204", &ep));
	expect(RPMA_E_INVAL, rpma_ep_listen(w.peer, "192.0.2.1", NULL, &ep));
	expect(RPMA_E_INVAL, rpma_ep_listen(w.peer, "192.0.2.1", "7204", NULL));
	expect(RPMA_E_INVAL, rpma_srq_new(NULL, NULL, &srq));
	expect(RPMA_E_INVAL, rpma_srq_new(w.peer, NULL, NULL));
	assert_true(req == UNTOUCHED && ep == UNTOUCHED && srq == UNTOUCHED);
}

TEST(requests__refuse_null, setup_req, teardown)
{
	REFUSES_NULL(rpma_conn_cfg_get_compl_channel, w.cfg, bool);
	REFUSES_NULL(rpma_conn_cfg_get_srq, w.cfg, struct rpma_srq *);
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_compl_channel(NULL, true));
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_srq(NULL, UNTOUCHED));
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_srq(w.cfg, NULL));
	REFUSES_NULL(rpma_conn_req_get_private_data, w.req, struct rpma_conn_private_data);
}

TEST(properties_of_connections__refuse_null, setup_shared_conn, teardown)
{
	REFUSES_NULL(rpma_conn_next_event, w.conn, enum rpma_conn_event);
	REFUSES_NULL(rpma_conn_get_event_fd, w.conn, int);
	REFUSES_NULL(rpma_conn_get_private_data, w.conn, struct rpma_conn_private_data);
	REFUSES_NULL(rpma_conn_get_qp_num, w.conn, uint32_t);
	REFUSES_NULL(rpma_conn_get_cq, w.conn, struct rpma_cq *);
	REFUSES_NULL(rpma_conn_get_rcq, w.conn, struct rpma_cq *);
	REFUSES_NULL(rpma_conn_get_compl_fd, w.conn, int);
}

TEST(waits_and_peers__refuse_null, setup_shared_conn, teardown)
{
	struct rpma_cq *cq = UNTOUCHED;

	REFUSES_NULL(rpma_cq_get_fd, w.cq, int);
	expect(RPMA_E_INVAL, rpma_cq_wait(NULL));
	expect(RPMA_E_INVAL, rpma_conn_wait(NULL, 0, &cq, NULL));
	expect(RPMA_E_INVAL, rpma_conn_wait(w.conn, 0, NULL, NULL));
	assert_ptr_equal(cq, UNTOUCHED);
	expect(0, rpma_peer_cfg_new(&w.pcfg));
	expect(0, rpma_conn_apply_remote_peer_cfg(w.conn, w.pcfg));
	expect(RPMA_E_INVAL, rpma_conn_apply_remote_peer_cfg(NULL, w.pcfg));
	expect(RPMA_E_INVAL, rpma_conn_apply_remote_peer_cfg(w.conn, NULL));
}

TEST(endpoints_and_shared_queues__refuse_null, setup_ep, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;

	make_srq(8);
	REFUSES_NULL(rpma_ep_get_fd, w.ep, int);
	expect(RPMA_E_INVAL, rpma_ep_next_conn_req(NULL, NULL, &req));
	expect(RPMA_E_INVAL, rpma_ep_next_conn_req(w.ep, NULL, NULL));
	assert_ptr_equal(req, UNTOUCHED);
	REFUSES_NULL(rpma_srq_get_rcq, w.srq, struct rpma_cq *);
}

/* The others are ended by every_call_fails(). What is gone may be ended again: teardown() does. */
TEST(ends__set_null, setup_cfg, teardown)
{
	make_srq(5);
	expect(0, rpma_srq_delete(&w.srq));
	expect(0, rpma_srq_cfg_delete(&w.srq_cfg));
	expect(0, rpma_peer_cfg_new(&w.pcfg));
	expect(0, rpma_peer_cfg_delete(&w.pcfg));
	expect(0, rpma_conn_cfg_delete(&w.cfg));
	expect(0, rpma_mr_remote_delete(&w.remote));
	EQUAL((w.srq_cfg, NULL), (w.pcfg, NULL), (w.cfg, NULL), (w.remote, NULL));
}
