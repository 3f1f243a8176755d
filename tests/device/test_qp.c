/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_qp.c -- queue pairs: creation, states and attribute masks, and the limits
 * of their queues.
 */
#include "pair.h"

static struct end end; /* with a QP in INIT */

static int setup_end(void **unused)
{
	struct end_options options = end_defaults();

	options.cap.max_inline_data = 16;
	end_open(&end, &options, -1);
	return 0;
}

static int teardown_end(void **unused)
{
	end_close(&end);
	return 0;
}

/* A receive of 8 bytes, wr_id 1. */
static int post_recv(void)
{
	struct ibv_sge sge = {(uintptr_t)end.memory, 8, end.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
	int error = ibv_post_recv(end.qp, &wr, &bad);

	if (error != 0)
		assert_ptr_equal(bad, &wr);
	return error;
}

static struct ibv_qp_attr query(struct ibv_qp *qp, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0xee, sizeof(attr));
	OK(ibv_query_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_CAP | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_AV |
				IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
				IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
				IBV_QP_MIN_RNR_TIMER | IBV_QP_DEST_QPN,
			init));
	return attr;
}

static struct ibv_qp_init_attr wanted(void)
{
	return (struct ibv_qp_init_attr){
		.qp_context = &end,
		.send_cq = end.cq,
		.recv_cq = end.cq,
		.cap = {.max_send_wr = 7,
			.max_recv_wr = 9,
			.max_send_sge = 2,
			.max_recv_sge = 3,
			.max_inline_data = 20},
		.qp_type = IBV_QPT_RC,
	};
}

TEST(create__tells_what_it_made, setup_end, teardown_end)
{
	struct ibv_qp_init_attr init = wanted();
	struct ibv_qp *qp = ibv_create_qp(end.pd, &init);

	assert_non_null(qp);
	assert_true(init.cap.max_send_wr >= 7 && init.cap.max_recv_wr >= 9);
	assert_true(init.cap.max_send_sge >= 2 && init.cap.max_recv_sge >= 3);
	assert_true(init.cap.max_inline_data >= 20);
	assert_ptr_equal(qp->qp_context, &end);
	assert_ptr_equal(qp->pd, end.pd);
	assert_ptr_equal(qp->send_cq, end.cq);
	assert_ptr_equal(qp->recv_cq, end.cq);
	EQUAL((qp->srq, NULL), (qp->qp_type, IBV_QPT_RC), (qp->state, IBV_QPS_RESET));
	assert_int_not_equal(qp->qp_num, end.qp->qp_num);
	assert_true(qp->qp_num > 1 && qp->qp_num < 1 << 24);
	OK(ibv_destroy_qp(qp));
}

TEST(query__gives_what_create_told, setup_end, teardown_end)
{
	struct ibv_qp_init_attr init = wanted(), queried;
	struct ibv_qp *qp = ibv_create_qp(end.pd, &init);
	struct ibv_qp_attr attr = query(qp, &queried);

	assert_int_equal(attr.qp_state, IBV_QPS_RESET);
	assert_memory_equal(&attr.cap, &queried.cap, sizeof(queried.cap));
	/* rxe has, and tells later, more than it told at first */
	assert_true(queried.cap.max_send_wr >= init.cap.max_send_wr);
	assert_true(queried.cap.max_recv_wr >= init.cap.max_recv_wr);
	EQUAL((queried.cap.max_send_sge, init.cap.max_send_sge),
	      (queried.cap.max_recv_sge, init.cap.max_recv_sge),
	      (queried.cap.max_inline_data, init.cap.max_inline_data));
	assert_ptr_equal(queried.send_cq, end.cq);
	assert_ptr_equal(queried.recv_cq, end.cq);
	EQUAL((queried.qp_type, IBV_QPT_RC), (queried.sq_sig_all, 0));
	OK(ibv_destroy_qp(qp));
}

TEST(create__refuses_more_than_the_device_has, setup_end, teardown_end)
{
	struct ibv_qp_init_attr inits[] = {wanted(), wanted(), wanted(), wanted(), wanted()};
	struct ibv_device_attr attr;

	OK(ibv_query_device(end.context, &attr));
	inits[0].cap.max_send_wr = (uint32_t)attr.max_qp_wr + 1;
	inits[1].cap.max_recv_wr = (uint32_t)attr.max_qp_wr + 1;
	inits[2].cap.max_send_sge = (uint32_t)attr.max_sge + 1;
	inits[3].cap.max_recv_sge = (uint32_t)attr.max_sge + 1;
	inits[4].cap.max_inline_data = 1 << 20;
	for (size_t i = 0; i < ARRAY_LENGTH(inits); i++)
		NONE(EINVAL, ibv_create_qp(end.pd, &inits[i]));
}

TEST(create__refuses_types_it_does_not_know, setup_end, teardown_end)
{
	struct ibv_qp_init_attr init = wanted();

	init.qp_type = (enum ibv_qp_type)77;
	assert_null(ibv_create_qp(end.pd, &init));
	assert_true(errno == EINVAL || errno == EOPNOTSUPP);
}

TEST(numbers__are_unique, setup_end, teardown_end)
{
	struct ibv_qp *qps[300];

	for (size_t i = 0; i < ARRAY_LENGTH(qps); i++) {
		struct ibv_qp_init_attr init = wanted();

		qps[i] = ibv_create_qp(end.pd, &init);
		assert_non_null(qps[i]);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(qps[i]->qp_num, qps[j]->qp_num);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(qps); i++)
		OK(ibv_destroy_qp(qps[i]));
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT |               \
	 IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT)

static struct ibv_qp_attr attr_for(enum ibv_qp_state state)
{
	return (struct ibv_qp_attr){
		.qp_state = state,
		.qp_access_flags = END_ACCESS,
		.port_num = 1,
		.path_mtu = IBV_MTU_2048,
		.dest_qp_num = end.qp->qp_num,
		.rq_psn = 0x111111,
		.sq_psn = 0x222222,
		.max_dest_rd_atomic = 3,
		.max_rd_atomic = 2,
		.min_rnr_timer = 11,
		.timeout = 15,
		.retry_cnt = 5,
		.rnr_retry = 6,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = end.gid,
				    .sgid_index = (uint8_t)end.gid_index,
				    .hop_limit = 64}},
	};
}

static void go_to(enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = attr_for(state);

	OK(ibv_modify_qp(end.qp, &attr, mask));
	EQUAL((end.qp->state, state), (end_state(&end), state));
}

/* The modification fails and changes nothing, "including the QP state". */
static void cannot_go(enum ibv_qp_state state, int mask)
{
	enum ibv_qp_state before = end_state(&end);
	struct ibv_qp_attr attr = attr_for(state);

	FAILS(EINVAL, ibv_modify_qp(end.qp, &attr, mask));
	EQUAL((end.qp->state, before), (end_state(&end), before));
}

TEST(states__go_from_reset_to_rts_and_back, setup_end, teardown_end)
{
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	go_to(IBV_QPS_INIT, INIT_MASK);
	go_to(IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS);
	go_to(IBV_QPS_RTR, RTR_MASK);
	go_to(IBV_QPS_RTS, RTS_MASK);
	go_to(IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER);
	go_to(IBV_QPS_ERR, IBV_QP_STATE);
	go_to(IBV_QPS_ERR, IBV_QP_STATE);
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	go_to(IBV_QPS_INIT, INIT_MASK);
}

TEST(states__may_not_be_left_out, setup_end, teardown_end)
{
	cannot_go(IBV_QPS_RTS, RTS_MASK);
	cannot_go(IBV_QPS_RTS, RTR_MASK);
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	cannot_go(IBV_QPS_RTR, RTR_MASK);
	cannot_go(IBV_QPS_RTS, RTS_MASK);
	go_to(IBV_QPS_INIT, INIT_MASK);
	go_to(IBV_QPS_RTR, RTR_MASK);
	cannot_go(IBV_QPS_INIT, INIT_MASK);
	go_to(IBV_QPS_RTS, RTS_MASK);
	cannot_go(IBV_QPS_INIT, INIT_MASK);
	cannot_go(IBV_QPS_RTR, RTR_MASK);
	go_to(IBV_QPS_ERR, IBV_QP_STATE);
	cannot_go(IBV_QPS_INIT, INIT_MASK);
	cannot_go(IBV_QPS_RTR, RTR_MASK);
	cannot_go(IBV_QPS_RTS, RTS_MASK);
}

/* Every attribute of the mask is needed, and some others are not allowed. */
static void each_is_needed(enum ibv_qp_state state, int mask)
{
	for (int bit = 1; bit <= mask; bit <<= 1) {
		if ((mask & bit) && bit != IBV_QP_STATE)
			cannot_go(state, mask & ~bit);
	}
}

TEST(init__needs_its_attributes, setup_end, teardown_end)
{
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	each_is_needed(IBV_QPS_INIT, INIT_MASK);
	cannot_go(IBV_QPS_INIT, INIT_MASK | IBV_QP_QKEY);
	cannot_go(IBV_QPS_INIT, INIT_MASK | IBV_QP_SQ_PSN);
}

TEST(rtr__needs_its_attributes, setup_end, teardown_end)
{
	each_is_needed(IBV_QPS_RTR, RTR_MASK);
	cannot_go(IBV_QPS_RTR, RTR_MASK | IBV_QP_SQ_PSN);
	cannot_go(IBV_QPS_RTR, RTR_MASK | IBV_QP_TIMEOUT);
}

TEST(rts__needs_its_attributes, setup_end, teardown_end)
{
	go_to(IBV_QPS_RTR, RTR_MASK);
	each_is_needed(IBV_QPS_RTS, RTS_MASK);
	cannot_go(IBV_QPS_RTS, RTS_MASK | IBV_QP_RQ_PSN);
	cannot_go(IBV_QPS_RTS, RTS_MASK | IBV_QP_DEST_QPN);
}

static void refused_init(const struct ibv_qp_attr *attr)
{
	struct ibv_qp_attr copy = *attr;

	FAILS(EINVAL, ibv_modify_qp(end.qp, &copy, INIT_MASK));
	assert_int_equal(end_state(&end), IBV_QPS_RESET);
}

TEST(init__refuses_wrong_values, setup_end, teardown_end)
{
	struct ibv_qp_attr attr;

	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	attr = attr_for(IBV_QPS_INIT);
	attr.port_num = 2;
	refused_init(&attr);
	attr.port_num = 0;
	refused_init(&attr);
	if (!on_rxe()) { /* it looks at no pkey */
		attr = attr_for(IBV_QPS_INIT);
		attr.pkey_index = 2000;
		refused_init(&attr);
	}
}

static void refused_rtr(const struct ibv_qp_attr *attr)
{
	struct ibv_qp_attr copy = *attr;

	int error = ibv_modify_qp(end.qp, &copy, RTR_MASK);

	/* ENODATA: the kernel's word for no such GID */
	if (error != EINVAL && !(on_rxe() && error == ENODATA))
		fail_msg("error %d, mtu %d, global %d, sgid %d", error, attr->path_mtu,
			 attr->ah_attr.is_global, attr->ah_attr.grh.sgid_index);
	assert_int_equal(end_state(&end), IBV_QPS_INIT);
}

TEST(rtr__refuses_wrong_values, setup_end, teardown_end)
{
	struct ibv_qp_attr attr;
	struct ibv_device_attr device;

	OK(ibv_query_device(end.context, &device));
	attr = attr_for(IBV_QPS_RTR);
	attr.path_mtu = (enum ibv_mtu)6;
	refused_rtr(&attr);
	attr = attr_for(IBV_QPS_RTR);
	attr.ah_attr.is_global = 0; /* Ethernet has no other way */
	refused_rtr(&attr);
	attr = attr_for(IBV_QPS_RTR);
	attr.ah_attr.grh.sgid_index = 255;
	refused_rtr(&attr);
	if (!on_rxe() && device.max_qp_rd_atom < 255) { /* rxe has no check for this one */
		attr = attr_for(IBV_QPS_RTR);
		attr.max_dest_rd_atomic = 255;
		refused_rtr(&attr);
	}
}

TEST(rts__refuses_more_reads_than_the_device_has, setup_end, teardown_end)
{
	struct ibv_qp_attr attr = attr_for(IBV_QPS_RTS);
	struct ibv_device_attr device;

	OK(ibv_query_device(end.context, &device));
	SKIP_UNLESS(device.max_qp_init_rd_atom < 255, "all that fit are allowed");
	go_to(IBV_QPS_RTR, RTR_MASK);
	attr.max_rd_atomic = 255;
	FAILS(EINVAL, ibv_modify_qp(end.qp, &attr, RTS_MASK));
}

TEST(query__gives_what_was_set, setup_end, teardown_end)
{
	struct ibv_qp_init_attr init;

	go_to(IBV_QPS_RTR, RTR_MASK);
	go_to(IBV_QPS_RTS, RTS_MASK);
	struct ibv_qp_attr attr = query(end.qp, &init);

	EQUAL((attr.qp_state, IBV_QPS_RTS), (attr.path_mtu, IBV_MTU_2048),
	      (attr.dest_qp_num, end.qp->qp_num), (attr.rq_psn, 0x111111), (attr.sq_psn, 0x222222),
	      (attr.qp_access_flags, END_ACCESS));
	assert_true(attr.max_dest_rd_atomic >= 3); /* a device may round it up */
	assert_true(attr.max_rd_atomic >= 2);
	EQUAL((attr.min_rnr_timer, 11), (attr.port_num, 1), (attr.timeout, 15), (attr.retry_cnt, 5),
	      (attr.rnr_retry, 6), (attr.ah_attr.is_global, 1));
	assert_memory_equal(&attr.ah_attr.grh.dgid, &end.gid, sizeof(end.gid));
}

/* IBA 10.3.1: no send request before RTS. */
TEST(post_send__is_for_rts, setup_end, teardown_end)
{
	struct ibv_sge sge = {(uintptr_t)end.memory, 8, end.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;

	NOT_ON_RXE("its user side takes requests in any state and forgets them");
	FAILS(EINVAL, ibv_post_send(end.qp, &wr, &bad));
	assert_ptr_equal(bad, &wr);
	go_to(IBV_QPS_RTR, RTR_MASK);
	FAILS(EINVAL, ibv_post_send(end.qp, &wr, &bad));
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	FAILS(EINVAL, ibv_post_send(end.qp, &wr, &bad));
}

TEST(post_recv__is_from_init_on, setup_end, teardown_end)
{
	OK(post_recv());
	go_to(IBV_QPS_ERR, IBV_QP_STATE);
	EXPECT_WC(end.cq, 1, IBV_WC_WR_FLUSH_ERR);
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	if (!on_rxe()) /* its user side does not look at the state */
		FAILS(EINVAL, post_recv());
}

TEST(reset__forgets_what_was_posted, setup_end, teardown_end)
{
	NOT_ON_RXE("6.1 keeps a user's receives over a reset");
	OK(post_recv());
	go_to(IBV_QPS_RESET, IBV_QP_STATE);
	go_to(IBV_QPS_INIT, INIT_MASK);
	go_to(IBV_QPS_ERR, IBV_QP_STATE);
	expect_no_wc(end.cq);
}

TEST(destroy__leaves_no_receive_behind, setup_end, teardown_end)
{
	OK(post_recv());
	OK(ibv_destroy_qp(end.qp));
	end.qp = NULL;
	expect_no_wc(end.cq);
}

TEST(pd__is_busy_while_the_qp_is_there, setup_end, teardown_end)
{
	OK(ibv_dereg_mr(end.mr));
	end.mr = NULL;
	FAILS(EBUSY, ibv_dealloc_pd(end.pd));
}

static uint32_t send_queue_size(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;

	query(qp, &init);
	return init.cap.max_send_wr;
}

/* Only a signaled completion that was polled frees the slots up to it. */
PAIR_TEST(post_send__is_full_until_a_completion_is_polled)
{
	uint32_t size = send_queue_size(w.near.qp);
	struct ibv_send_wr *bad = NULL, *wr = NULL;

	assert_true(size < 64);
	for (uint32_t i = 0; i < size; i++) {
		wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
		wr->send_flags = i == size / 2 ? IBV_SEND_SIGNALED : 0;
		post(wr);
	}
	wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	if (!on_rxe()) { /* rxe frees a slot when its request is done, signaled or not */
		FAILS(ENOMEM, ibv_post_send(w.near.qp, wr, &bad));
		assert_ptr_equal(bad, wr);
	}
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	OK(ibv_post_send(w.near.qp, wr, &bad));
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
}

/* A request that cannot be sent yet stays in the queue: no receive is there. */
PAIR_TEST(post_send__more_than_fits_is_refused)
{
	uint32_t size = send_queue_size(w.near.qp);
	struct ibv_send_wr *bad = NULL, *wr = NULL;

	for (uint32_t i = 0; i < size; i++)
		post(work(IBV_WR_SEND, 0, 8, 0));
	wr = work(IBV_WR_SEND, 0, 8, 0);
	FAILS(ENOMEM, ibv_post_send(w.near.qp, wr, &bad));
	assert_ptr_equal(bad, wr);
	for (uint32_t i = 0; i < size; i++)
		far_recv(i, 0, 8);
	for (uint32_t i = 0; i < size; i++)
		EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	done(work(IBV_WR_RDMA_WRITE, 0, 8, 0));
}

TEST(post_recv__more_than_fits_is_refused, setup_end, teardown_end)
{
	struct ibv_qp_init_attr init;

	query(end.qp, &init);
	for (uint32_t i = 0; i < init.cap.max_recv_wr; i++)
		OK(post_recv());
	FAILS(ENOMEM, post_recv());
}

TEST(post_recv__takes_no_more_sge_than_agreed, setup_end, teardown_end)
{
	struct ibv_sge sge[64] = {{(uintptr_t)end.memory, 8, end.mr->lkey}};
	struct ibv_recv_wr wr = {.sg_list = sge}, *bad = NULL;
	struct ibv_qp_init_attr init;

	query(end.qp, &init);
	assert_true(init.cap.max_recv_sge < ARRAY_LENGTH(sge));
	wr.num_sge = (int)init.cap.max_recv_sge + 1;
	FAILS(EINVAL, ibv_post_recv(end.qp, &wr, &bad));
	assert_ptr_equal(bad, &wr);
}

/* The bad request is named; those before it are posted, those after it not. */
PAIR_TEST(post_send__names_the_bad_request)
{
	struct ibv_sge many[64] = {{0}};
	struct ibv_send_wr *first = work(IBV_WR_RDMA_WRITE, 0, 8, 0), *bad = NULL;
	struct ibv_send_wr *wrong = work(IBV_WR_RDMA_WRITE, 0, 8, 0);

	first->next = wrong;
	wrong->next = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	wrong->sg_list = many;
	wrong->num_sge = ARRAY_LENGTH(many);
	FAILS(EINVAL, ibv_post_send(w.near.qp, first, &bad));
	assert_ptr_equal(bad, wrong);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	done(work(IBV_WR_RDMA_READ, 0, 8, 0));
	expect_no_wc(w.near.cq);
}

PAIR_TEST(post_send__takes_no_more_inline_than_agreed)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 0, 0), *bad = NULL;
	struct ibv_qp_init_attr init;

	query(w.near.qp, &init);
	wr->sg_list->length = init.cap.max_inline_data + 1;
	wr->send_flags |= IBV_SEND_INLINE;
	FAILS(EINVAL, ibv_post_send(w.near.qp, wr, &bad));
	assert_ptr_equal(bad, wr);
}

PAIR_TEST(post_send__takes_no_read_into_inline)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_READ, 0, 0, 0), *bad = NULL;

	NOT_ON_RXE("it ignores the flag");
	wr->send_flags |= IBV_SEND_INLINE;
	FAILS(EINVAL, ibv_post_send(w.near.qp, wr, &bad));
}

PAIR_TEST(post_send__takes_no_opcode_it_does_not_know)
{
	struct ibv_send_wr *wr = work((enum ibv_wr_opcode)99, 0, 8, 0), *bad = NULL;

	NOT_ON_RXE("its user side takes any opcode, and the kernel fails the request");
	FAILS(EINVAL, ibv_post_send(w.near.qp, wr, &bad));
}
