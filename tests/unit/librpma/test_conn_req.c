/* SPDX-License-Identifier: BSD-3-Clause */
/* test_conn_req.c -- connection requests of both sides, short of connecting. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "every_call_fails.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>

/* --- rpma_conn_req_new() ------------------------------------------------- */

TEST(new__asks_for_the_address, setup_peer, teardown)
{
	make_req();
	EQUAL((provider.getaddrinfo.node, "192.0.2.1"), (provider.getaddrinfo.service, "7204"),
	      (provider.getaddrinfo.hints.ai_port_space, RDMA_PS_TCP),
	      (provider.getaddrinfo.hints.ai_qp_type, IBV_QPT_RC),
	      (provider.getaddrinfo.hints.ai_flags & RAI_PASSIVE, 0),
	      (provider.id->ps, RDMA_PS_TCP));
	assert_null(provider.id->channel); /* synchronous until connected */
}

TEST(new__uses_the_timeout_for_address_and_route, setup_peer, teardown)
{
	make_req();
	EQUAL((provider.resolve.addr_timeout_ms, 1000), (provider.resolve.route_timeout_ms, 1000));
	expect(0, rpma_conn_req_delete(&w.req));
	make_cfg();
	expect(0, rpma_conn_cfg_set_timeout(w.cfg, 77));
	make_req();
	EQUAL((provider.resolve.addr_timeout_ms, 77), (provider.resolve.route_timeout_ms, 77));
}

TEST(new__makes_the_default_qp, setup_peer, teardown)
{
	const struct ibv_qp_init_attr_ex *qp = &provider.create_qp;

	make_req();
	EQUAL((qp->qp_type, IBV_QPT_RC), (qp->sq_sig_all, 0), (qp->cap.max_send_wr, 10),
	      (qp->cap.max_recv_wr, 10), (qp->cap.max_send_sge, 1), (qp->cap.max_recv_sge, 1),
	      (qp->cap.max_inline_data, 8), (qp->qp_context, NULL), (qp->srq, NULL),
	      (qp->comp_mask, IBV_QP_INIT_ATTR_PD));
	assert_ptr_equal(qp->send_cq, provider.cqs[0]);
	assert_ptr_equal(qp->recv_cq, provider.cqs[0]);
	EQUAL((provider.num_cqs, 1), (provider.create_cq[0].cqe, 10),
	      (provider.create_cq[0].comp_vector, 0), (provider.create_cq[0].cq_context, NULL));
	assert_ptr_equal(provider.req_notify_cq.cq, provider.cqs[0]);
	assert_int_equal(provider.req_notify_cq.solicited_only, 0);
}

TEST(new__zeroes_what_the_qp_does_not_use, setup_peer, teardown)
{
	OURS_ONLY("its structure has random bytes behind the named fields");
	make_req();
	EQUAL((provider.create_qp.create_flags, 0), (provider.create_qp.max_tso_header, 0),
	      (provider.create_qp.xrcd, NULL), (provider.create_qp.rwq_ind_tbl, NULL),
	      (provider.create_qp.send_ops_flags, 0));
}

TEST(new__makes_queues_of_the_sizes_asked_for, setup_peer, teardown)
{
	make_cfg();
	expect(0, rpma_conn_cfg_set_sq_size(w.cfg, 11));
	expect(0, rpma_conn_cfg_set_rq_size(w.cfg, 12));
	expect(0, rpma_conn_cfg_set_cq_size(w.cfg, 13));
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 14));
	make_req();
	EQUAL((provider.create_qp.cap.max_send_wr, 11), (provider.create_qp.cap.max_recv_wr, 12),
	      (provider.create_cq[0].cqe, 13), (provider.create_cq[1].cqe, 14));
	assert_ptr_equal(provider.create_qp.recv_cq, provider.cqs[1]);
	assert_ptr_not_equal(provider.create_cq[0].channel, provider.create_cq[1].channel);
}

TEST(new__asks_for_no_more_than_int_max_entries, setup_peer, teardown)
{
	make_cfg();
	expect(0, rpma_conn_cfg_set_cq_size(w.cfg, UINT32_MAX));
	make_req();
	assert_int_equal(provider.create_cq[0].cqe, INT_MAX);
}

TEST(new__shares_one_channel, setup_peer, teardown)
{
	make_cfg();
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 1));
	make_req();
	assert_int_equal(provider.live.comp_channel, 1);
	assert_ptr_equal(provider.create_cq[0].channel, provider.create_cq[1].channel);
}

TEST(new__receives_into_the_cq_of_the_srq, setup_peer, teardown)
{
	make_srq(5);
	make_cfg();
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 7)); /* ignored then */
	make_req();
	assert_ptr_equal(provider.create_qp.srq, provider.srq);
	assert_int_equal(provider.num_cqs, 1);
	assert_ptr_not_equal(provider.create_qp.recv_cq, provider.create_qp.send_cq);
}

TEST(new__receives_as_usual_when_the_srq_has_no_cq, setup_peer, teardown)
{
	make_srq(0);
	make_cfg();
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 7));
	make_req();
	assert_ptr_equal(provider.create_qp.srq, provider.srq);
	assert_ptr_equal(provider.create_qp.recv_cq, provider.cqs[1]);
}

TEST(new__cannot_share_a_channel_with_the_cq_of_an_srq, setup_peer, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;

	make_srq(5);
	make_cfg();
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &req));
	assert_ptr_equal(req, UNTOUCHED);
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], 1);
}

TEST(new__names_the_device_that_refuses, setup_peer, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;

	OURS_ONLY("it logs the errno alone");
	make_cfg();
	expect(0, rpma_conn_cfg_set_sq_size(w.cfg, 123456));
	calls_fail_always("rdma_create_qp_ex", EINVAL);
	expect(RPMA_E_PROVIDER, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &req));
	expect_logged(RPMA_LOG_LEVEL_ERROR, "scripted0");
	expect_logged(RPMA_LOG_LEVEL_ERROR, "max_send_wr 123456");
}

TEST(new__names_both_devices_where_they_differ, setup_peer, teardown)
{
	struct ibv_context *peers = provider.context;
	struct ibv_context context = *peers;
	struct ibv_device device = *peers->device;
	struct rpma_conn_req *req = UNTOUCHED;

	OURS_ONLY("librdmacm answers EINVAL alone");
	strcpy(device.name, "another1");
	context.device = &device;
	provider.context = &context; /* that the address leads to */
	expect(RPMA_E_PROVIDER, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", NULL, &req));
	provider.context = peers;
	expect_logged(RPMA_LOG_LEVEL_ERROR, "device another1");
	expect_logged(RPMA_LOG_LEVEL_ERROR, "device scripted0");
}

SETUP(setup_rcq_cfg, setup_cfg, expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 1)))

MAKES(new_req, struct rpma_conn_req, w.req,
      rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &made))

TEST(new__survives_every_failing_call, setup_nothing, teardown)
{
	every_call_fails(&(struct operation){
		.function = "rpma_conn_req_new", .setup = setup_shared_cfg, .act = new_req});
	every_call_fails(&(struct operation){
		.function = "rpma_conn_req_new", .setup = setup_rcq_cfg, .act = new_req});
}

/* --- rpma_conn_req_get_private_data() ------------------------------------- */

TEST(get_private_data__is_empty_on_the_active_side, setup_req, teardown)
{
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};

	expect(0, rpma_conn_req_get_private_data(w.req, &pdata));
	EQUAL((pdata.ptr, NULL), (pdata.len, 0));
}

/* --- rpma_conn_req_get_peer_addr() --------------------------------------- */

/* Bound at run time, so that this file also links with the reference. */
static int get_peer_addr(const struct rpma_conn_req *req, struct sockaddr_storage *addr)
{
	int (*function)(const struct rpma_conn_req *, struct sockaddr_storage *);

	*(void **)&function = dlsym(RTLD_DEFAULT, "rpma_conn_req_get_peer_addr");
	return function(req, addr);
}

TEST(get_peer_addr__gives_whom_a_request_came_from, setup_ep, teardown)
{
	struct sockaddr_in6 *client = (struct sockaddr_in6 *)&provider.client_addr;
	struct sockaddr_storage addr = {0};

	OURS_ONLY("it has no rpma_conn_req_get_peer_addr()");
	client->sin6_family = AF_INET6;
	client->sin6_port = htons(4711);
	assert_int_equal(inet_pton(AF_INET6, "2001:db8::7", &client->sin6_addr), 1);
	make_incoming();
	expect_named(0, "rpma_conn_req_get_peer_addr", get_peer_addr(w.req, &addr));
	assert_memory_equal(&addr, &provider.client_addr, sizeof(addr));
}

TEST(get_peer_addr__gives_what_a_name_was_resolved_to, setup_req, teardown)
{
	struct sockaddr_storage addr = {0};
	const struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	char text[INET_ADDRSTRLEN];

	OURS_ONLY("it has no rpma_conn_req_get_peer_addr()");
	expect_named(0, "rpma_conn_req_get_peer_addr", get_peer_addr(w.req, &addr));
	EQUAL((in->sin_family, AF_INET), (ntohs(in->sin_port), 7204),
	      (inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)), "192.0.2.1"));
}

TEST(get_peer_addr__refuses_null, setup_req, teardown)
{
	struct sockaddr_storage addr;

	OURS_ONLY("it has no rpma_conn_req_get_peer_addr()");
	expect_named(RPMA_E_INVAL, "rpma_conn_req_get_peer_addr", get_peer_addr(NULL, &addr));
	expect_named(RPMA_E_INVAL, "rpma_conn_req_get_peer_addr", get_peer_addr(w.req, NULL));
}

/* --- rpma_conn_req_delete() ---------------------------------------------- */

TEST(delete__rejects_an_incoming_request, setup_incoming, teardown)
{
	expect(0, rpma_conn_req_delete(&w.req));
	EQUAL((calls_count("rdma_reject"), 1), (provider.reject_private_data_len, 0));
	reference_leaks(id, 1, "it never destroys the id of a rejected request");
	assert_int_equal(provider.live.id, 1); /* the listener's */
}

static int delete_req(void)
{
	int ret = rpma_conn_req_delete(&w.req);

	assert_null(w.req);
	if (ret == 0 && provider.listener != NULL)
		reference_leaks(id, 1, "it never destroys the id of a rejected request");
	return ret;
}

TEST(delete__survives_every_failing_call, setup_nothing, teardown)
{
	every_call_fails(&(struct operation){
		.function = "rpma_conn_req_delete", .setup = setup_shared_req, .act = delete_req});
	every_call_fails(&(struct operation){.function = "rpma_conn_req_delete",
					     .setup = setup_incoming,
					     .act = delete_req,
					     .reference_leaks_ids = 1});
}
