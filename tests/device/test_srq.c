/* SPDX-License-Identifier: BSD-3-Clause */
/* test_srq.c -- shared receive queues: two QPs of one end take from the same one. */
#include "end.h"

static struct end sender[2];
static struct end receiver; /* its qp takes from sender[0], `second` from sender[1] */
static struct ibv_qp *second;

/* Replace receiver.qp and connect it with `end`. */
static void connect_to(struct end *end)
{
	struct end_options options = end_defaults();

	receiver.qp = end_make_qp(&receiver);
	assert_non_null(receiver.qp);
	end_open(end, &options, -1);
	struct end_address near = end_address(end), far = end_address(&receiver);
	end_to_init(&receiver);
	end_to_rtr(&receiver, &near);
	end_to_rts(&receiver);
	end_to_rtr(end, &far);
	end_to_rts(end);
	fill(end->memory, END_MEMORY, (unsigned)(end - sender) + 1);
}

static int setup_srq(void **unused)
{
	struct ibv_srq_init_attr attr = {.srq_context = &receiver,
					 .attr = {.max_wr = 10, .max_sge = 2, .srq_limit = 0}};
	struct end_options options = end_defaults();

	/* the queue needs a PD: that of an end without a QP of its own yet */
	end_open(&receiver, &options, -1);
	OK(ibv_destroy_qp(receiver.qp));
	receiver.srq = ibv_create_srq(receiver.pd, &attr);
	assert_non_null(receiver.srq);
	assert_true(attr.attr.max_wr >= 10 && attr.attr.max_sge >= 2);
	receiver.options.cap.max_recv_wr = receiver.options.cap.max_recv_sge = 0;
	connect_to(&sender[0]);
	second = receiver.qp;
	connect_to(&sender[1]);
	return 0;
}

static int teardown_srq(void **unused)
{
	if (second != NULL)
		OK(ibv_destroy_qp(second));
	second = NULL;
	end_close(&receiver);
	end_close(&sender[0]);
	end_close(&sender[1]);
	return 0;
}

static int try_post(uint64_t wr_id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)(receiver.memory + offset), length, receiver.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

	return ibv_post_srq_recv(receiver.srq, &wr, &bad);
}

static void send_from(int which, size_t offset, uint32_t length)
{
	struct end *end = &sender[which];
	struct ibv_sge sge = {(uintptr_t)(end->memory + offset), length, end->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;

	OK(ibv_post_send(end->qp, &wr, &bad));
}

static void send_done(int which, size_t offset, uint32_t length)
{
	send_from(which, offset, length);
	EXPECT_WC(sender[which].cq, 1, IBV_WC_SUCCESS);
}

TEST(receive__goes_to_whoever_sends, setup_srq, teardown_srq)
{
	OK(try_post(10, 0, 100));
	OK(try_post(11, 1000, 100));
	send_done(1, 500, 40);
	struct ibv_wc wc = EXPECT_WC(receiver.cq, 10, IBV_WC_SUCCESS);
	EQUAL((wc.qp_num, receiver.qp->qp_num), (wc.byte_len, 40));
	send_done(0, 600, 50);
	wc = EXPECT_WC(receiver.cq, 11, IBV_WC_SUCCESS);
	assert_int_equal(wc.qp_num, second->qp_num);
	assert_memory_equal(receiver.memory, sender[1].memory + 500, 40);
	assert_memory_equal(receiver.memory + 1000, sender[0].memory + 600, 50);
}

TEST(query__gives_what_was_created, setup_srq, teardown_srq)
{
	struct ibv_srq_attr attr;

	OK(ibv_query_srq(receiver.srq, &attr));
	assert_true(attr.max_wr >= 10 && attr.max_sge >= 2);
	assert_int_equal(attr.srq_limit, 0);
	assert_ptr_equal(receiver.srq->srq_context, &receiver);
	assert_ptr_equal(receiver.srq->pd, receiver.pd);
}

TEST(post__more_than_fits_is_refused, setup_srq, teardown_srq)
{
	struct ibv_srq_attr attr;

	OK(ibv_query_srq(receiver.srq, &attr));
	for (uint32_t i = 0; i < attr.max_wr; i++)
		OK(try_post(i, 0, 8));
	FAILS(ENOMEM, try_post(99, 0, 8));
}

TEST(post__takes_no_more_sge_than_agreed, setup_srq, teardown_srq)
{
	struct ibv_sge sge[64] = {{(uintptr_t)receiver.memory, 8, receiver.mr->lkey}};
	struct ibv_recv_wr wr = {.sg_list = sge}, *bad = NULL;
	struct ibv_srq_attr attr;

	OK(ibv_query_srq(receiver.srq, &attr));
	wr.num_sge = (int)attr.max_sge + 1;
	FAILS(EINVAL, ibv_post_srq_recv(receiver.srq, &wr, &bad));
	assert_ptr_equal(bad, &wr);
}

/* A QP with a shared queue has none of its own. */
TEST(post_recv__on_the_qp_is_refused, setup_srq, teardown_srq)
{
	struct ibv_sge sge = {(uintptr_t)receiver.memory, 8, receiver.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad = NULL;

	FAILS(EINVAL, ibv_post_recv(receiver.qp, &wr, &bad));
	assert_true(on_rxe() || bad == &wr); /* rxe forgets to tell */
}

TEST(modify__to_a_limit_above_the_size_is_refused, setup_srq, teardown_srq)
{
	struct ibv_srq_attr attr;

	OK(ibv_query_srq(receiver.srq, &attr));
	attr.srq_limit = attr.max_wr + 1;
	FAILS(EINVAL, ibv_modify_srq(receiver.srq, &attr, IBV_SRQ_LIMIT));
}

/* ibv_modify_srq(3): "an event once the number of WRs drops below it", and no more. */
TEST(limit__is_told_once, setup_srq, teardown_srq)
{
	struct ibv_srq_attr attr = {.srq_limit = 3};

	for (uint64_t id = 0; id < 5; id++)
		OK(try_post(id, 0, 100));
	OK(ibv_modify_srq(receiver.srq, &attr, IBV_SRQ_LIMIT));
	send_done(0, 0, 8); /* 4 are left */
	send_done(0, 0, 8); /* 3 */
	for (uint64_t id = 0; id < 2; id++)
		EXPECT_WC(receiver.cq, id, IBV_WC_SUCCESS);
	expect_no_async(receiver.context);
	send_done(0, 0, 8); /* 2 */
	struct ibv_async_event event = expect_async(receiver.context, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, receiver.srq);
	OK(ibv_query_srq(receiver.srq, &attr));
	assert_int_equal(attr.srq_limit, 0);
	send_done(0, 0, 8); /* 1 */
	for (uint64_t id = 2; id < 4; id++)
		EXPECT_WC(receiver.cq, id, IBV_WC_SUCCESS);
	expect_no_async(receiver.context);
}

TEST(empty__queue_makes_senders_wait, setup_srq, teardown_srq)
{
	send_from(0, 0, 8);
	expect_no_wc(sender[0].cq);
	OK(try_post(5, 0, 100));
	EXPECT_WC(sender[0].cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(receiver.cq, 5, IBV_WC_SUCCESS);
}

/* Receives in the queue belong to no QP: none is flushed. */
TEST(error__of_one_qp_leaves_the_queue_to_the_other, setup_srq, teardown_srq)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	OK(try_post(5, 0, 100));
	OK(ibv_modify_qp(second, &attr, IBV_QP_STATE));
	if (!on_rxe()) /* it has not this event of IBA 11.6.3.1 */
		expect_async(receiver.context, IBV_EVENT_QP_LAST_WQE_REACHED);
	expect_no_wc(receiver.cq);
	send_done(1, 0, 8);
	EXPECT_WC(receiver.cq, 5, IBV_WC_SUCCESS);
}

TEST(destroy__is_busy_while_a_qp_uses_it, setup_srq, teardown_srq)
{
	FAILS(EBUSY, ibv_destroy_srq(receiver.srq));
}

TEST(create__refuses_more_than_the_device_has, setup_srq, teardown_srq)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_device_attr device;

	OK(ibv_query_device(receiver.context, &device));
	attr.attr.max_wr = (uint32_t)device.max_srq_wr + 1;
	NONE(EINVAL, ibv_create_srq(receiver.pd, &attr));
	attr.attr.max_wr = 1;
	attr.attr.max_sge = (uint32_t)device.max_srq_sge + 1;
	NONE(EINVAL, ibv_create_srq(receiver.pd, &attr));
	attr.attr.max_sge = 1;
	attr.attr.max_wr = 0;
	NONE(EINVAL, ibv_create_srq(receiver.pd, &attr));
}
