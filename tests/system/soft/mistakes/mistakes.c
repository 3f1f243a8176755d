/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mistakes.c -- mistakes that beginners make with verbs, one a test. Each prints on standard
 * output the line that `rpma-soft -v` has to print about it, with the numbers of this run;
 * test_mistakes.py compares. What a failed completion carries in vendor_err is checked here: the
 * codes are those of rpma-soft(1), COMPLETION ERRORS.
 */
#include "pair.h"

enum code {
	KEY_UNKNOWN = 2,
	KEY_STALE = 3,
	KEY_RANGE = 5,
	QP_RIGHT = 8,
	NO_RECEIVE = 12,
	SHORT_RECEIVE = 13,
	NO_QP = 16,
	NOT_CONNECTED = 19,
};

#define EXPECT(...) (printf("expect: rpma-soft: "), printf(__VA_ARGS__), printf("\n"))

static const char *code_text(enum code code)
{
	switch (code) {
	case KEY_UNKNOWN:
		return "no region has this key";
	case KEY_STALE:
		return "the region of this key was deregistered";
	case KEY_RANGE:
		return "the bytes are not all inside the region";
	case QP_RIGHT:
		return "qp_access_flags of the peer's queue pair do not allow it";
	case NO_RECEIVE:
		return "no receive was posted, and rnr_retry is used up";
	case SHORT_RECEIVE:
		return "the message is longer than the receive";
	case NO_QP:
		return "the peer has no queue pair of this number";
	case NOT_CONNECTED:
		return "the peer has no such queue pair that is connected here";
	}
	return NULL;
}

static void fails_with(struct ibv_send_wr *wr, enum ibv_wc_status status, enum code code)
{
	struct ibv_wc wc;

	post(wr);
	wc = EXPECT_WC(w.near.cq, wr->wr_id, status);
	assert_int_equal(wc.vendor_err, code);
}

/* A write of 8 bytes that the far end refuses: both ends are told. */
static void write_is_refused(uint32_t rkey, size_t far_offset, enum ibv_wc_status status,
			     const char *name, enum code code, const char *more)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 8, far_offset);

	wr->wr_id = 7;
	wr->wr.rdma.rkey = rkey;
	EXPECT("QP %#x: RDMA write, wr_id 0x7, fails with IBV_WC_%s, %s (vendor_err %d): rkey %#x, "
	       "8 bytes at %#llx of QP %#x%s",
	       w.near.qp->qp_num, name, code_text(code), code, rkey,
	       (unsigned long long)wr->wr.rdma.remote_addr, w.far.qp_num, more);
	EXPECT("QP %#x goes to ERR: its peer's RDMA write of 8 bytes at %#llx with rkey %#x is "
	       "refused: %s (vendor_err %d)",
	       w.far.qp_num, (unsigned long long)wr->wr.rdma.remote_addr, rkey, code_text(code),
	       code);
	fails_with(wr, status, code);
	far_expect_async(status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR
							 : IBV_EVENT_QP_REQ_ERR);
}

PAIR_TEST(rtr_without_the_rnr_timer)
{
	struct ibv_qp *qp = end_make_qp(&w.near);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	OK(ibv_modify_qp(qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	EXPECT("ibv_modify_qp of QP %#x: INIT to RTR lacks IBV_QP_MIN_RNR_TIMER (EINVAL)",
	       qp->qp_num);
	attr.qp_state = IBV_QPS_RTR;
	FAILS(EINVAL, ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC));
	OK(ibv_destroy_qp(qp));
}

PAIR_TEST(post_before_the_qp_is_ready_to_send)
{
	struct ibv_qp *qp = end_make_qp(&w.near);
	struct ibv_send_wr *wr = work(IBV_WR_SEND, 0, 8, 0), *bad = NULL;

	EXPECT("ibv_post_send of QP %#x: it is in RESET, not in RTS (EINVAL)", qp->qp_num);
	errno = 0;
	EQUAL((ibv_post_send(qp, wr, &bad), EINVAL), (errno, EINVAL));
	assert_ptr_equal(bad, wr);
	OK(ibv_destroy_qp(qp));
}

PAIR_TEST(send_queue_that_is_never_polled)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0), *bad = NULL;
	int error;

	wr->send_flags = 0;
	EXPECT("ibv_post_send of QP %#x: its send queue is full: 16 requests (max_send_wr) wait "
	       "for a completion, theirs or a later one's, to be polled (ENOMEM)",
	       w.near.qp->qp_num);
	do
		error = ibv_post_send(w.near.qp, wr, &bad);
	while (error == 0);
	assert_int_equal(error, ENOMEM);
}

PAIR_TEST(more_inline_data_than_there_is_room_for)
{
	struct ibv_send_wr *wr = work(IBV_WR_SEND, 0, 4096, 0), *bad = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(w.near.qp, &attr, IBV_QP_CAP, &init));
	wr->wr_id = 9;
	wr->send_flags |= IBV_SEND_INLINE;
	EXPECT("ibv_post_send of QP %#x: wr_id 0x9: 4096 bytes of inline data, max_inline_data is "
	       "%u (EINVAL)",
	       w.near.qp->qp_num, init.cap.max_inline_data);
	assert_int_equal(ibv_post_send(w.near.qp, wr, &bad), EINVAL);
}

PAIR_TEST(domain_with_regions_in_it)
{
	struct ibv_pd *pd = ibv_alloc_pd(w.near.context);
	struct ibv_mr *mr = ibv_reg_mr(pd, w.near.memory, 4096, 0);

	assert_non_null(mr);
	EXPECT("ibv_dealloc_pd of PD %u: 1 memory regions, QPs or SRQs are in it (EBUSY)",
	       pd->handle);
	errno = 0;
	EQUAL((ibv_dealloc_pd(pd), EBUSY), (errno, EBUSY));
	OK(ibv_dereg_mr(mr));
	OK(ibv_dealloc_pd(pd));
}

PAIR_TEST(memory_that_is_not_registered)
{
	struct ibv_send_wr *wr = work(IBV_WR_SEND, 0, 8, 0);

	wr->wr_id = 3;
	wr->sg_list->lkey = 0;
	EXPECT("QP %#x: send, wr_id 0x3, fails with IBV_WC_LOC_PROT_ERR, no region has this key "
	       "(vendor_err 2): lkey 0, 8 bytes at %#llx",
	       w.near.qp->qp_num, (unsigned long long)wr->sg_list->addr);
	fails_with(wr, IBV_WC_LOC_PROT_ERR, KEY_UNKNOWN);
}

PAIR_TEST(key_of_a_region_that_is_gone)
{
	uint32_t rkey = far_reg(0, 4096, END_ACCESS);

	far_dereg();
	write_is_refused(rkey, 0, IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR", KEY_STALE, "");
}

/* The region of the peer is described where its memory is reached directly. */
PAIR_TEST(write_beyond_the_region)
{
	char region[256] = "";

	if (strcmp(getenv("TRANSPORT"), "tcp") != 0)
		snprintf(
			region, sizeof(region),
			"; the region is %d bytes at %#llx in PD %u, with IBV_ACCESS_LOCAL_WRITE, "
			"IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC",
			END_MEMORY, (unsigned long long)w.far.memory, w.partner.end.pd->handle);
	write_is_refused(w.far.rkey, END_MEMORY - 7, IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR",
			 KEY_RANGE, region);
}

OWN_PAIR_TEST(queue_pair_without_access_flags)
{
	struct end_options near = end_defaults(), far = end_defaults();

	far.qp_access = 0;
	pair_make(&near, &far);
	write_is_refused(w.far.rkey, 0, IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR", QP_RIGHT, "");
}

OWN_PAIR_TEST(send_without_a_receive)
{
	struct end_options near = end_defaults(), far = end_defaults();
	struct ibv_send_wr *wr;

	near.rnr_retry = 1;
	far.min_rnr_timer = 1;
	pair_make(&near, &far);
	wr = work(IBV_WR_SEND, 0, 8, 0);
	EXPECT("QP %#x: send, wr_id 0x1, fails with IBV_WC_RNR_RETRY_EXC_ERR, no receive was "
	       "posted, "
	       "and rnr_retry is used up (vendor_err 12): 8 bytes to QP %#x",
	       w.near.qp->qp_num, w.far.qp_num);
	fails_with(wr, IBV_WC_RNR_RETRY_EXC_ERR, NO_RECEIVE);
}

PAIR_TEST(receive_that_is_too_short)
{
	struct ibv_send_wr *wr = work(IBV_WR_SEND, 0, 64, 0);

	EXPECT("QP %#x: send, wr_id 0x1, fails with IBV_WC_REM_INV_REQ_ERR, the message is longer "
	       "than the receive (vendor_err 13): 64 bytes to QP %#x",
	       w.near.qp->qp_num, w.far.qp_num);
	far_recv(5, 0, 32);
	fails_with(wr, IBV_WC_REM_INV_REQ_ERR, SHORT_RECEIVE);
	assert_int_equal(far_expect(5, IBV_WC_LOC_LEN_ERR).vendor_err, SHORT_RECEIVE);
}

/* The number of the other end, mistyped. */
OWN_PAIR_TEST(connected_to_another_number)
{
	const bool tcp = strcmp(getenv("TRANSPORT"), "tcp") == 0;
	const enum code code = tcp ? NOT_CONNECTED : NO_QP;
	struct end_options options = end_defaults();
	struct ibv_send_wr *wr;

	options.timeout = 8;
	options.retry_cnt = 1;
	pair_make(&options, &options);
	OK(ibv_modify_qp(w.near.qp, &(struct ibv_qp_attr){.qp_state = IBV_QPS_RESET},
			 IBV_QP_STATE));
	w.far.qp_num ^= 0x80;
	end_to_init(&w.near);
	end_to_rtr(&w.near, &w.far);
	end_to_rts(&w.near);
	wr = work(IBV_WR_SEND, 0, 8, 0);
	EXPECT("QP %#x: send, wr_id 0x1, fails with IBV_WC_RETRY_EXC_ERR, %s (vendor_err %d): 8 "
	       "bytes to QP %#x",
	       w.near.qp->qp_num, code_text(code), code, w.far.qp_num);
	fails_with(wr, IBV_WC_RETRY_EXC_ERR, code);
}

OWN_PAIR_TEST(completion_queue_that_overflows)
{
	struct end_options near = end_defaults(), far = end_defaults();
	struct ibv_send_wr *wr, *bad;

	near.cqe = 4;
	pair_make(&near, &far);
	EXPECT("CQ %u overflows: more than %d completions wait to be polled", w.near.cq->handle,
	       w.near.cq->cqe);
	wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	for (int i = 0; i <= w.near.cq->cqe; i++)
		assert_int_equal(ibv_post_send(w.near.qp, wr, &bad), 0);
	expect_async(w.near.context, IBV_EVENT_CQ_ERR);
	expect_async(w.near.context, IBV_EVENT_QP_FATAL);
}

/*
 * Neither is an error that a device can see. As bytes are copied at the post they go unnoticed,
 * unless `delay` has the device do it later, as hardware does: test_mistakes.py.
 */
PAIR_TEST(memory_touched_before_the_completion)
{
	struct ibv_send_wr *read = work(IBV_WR_RDMA_READ, 64, 8, 64);

	done(work(IBV_WR_RDMA_WRITE, 0, 8, 0)); /* the two are linked from here on */
	memset(w.near.memory, 'a', 128);
	memset(w.far_memory, 'b', 128);
	post(work(IBV_WR_RDMA_WRITE, 0, 8, 0));
	memset(w.near.memory, 'c', 8);
	post(read);
	printf("read at the post: %c\n", w.near.memory[64]);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	printf("written: %c\n", w.far_memory[0]);
}

/* --- all of them --- */

#define IN_BOTH(expected, call)                                                                    \
	(errno = 0, assert_int_equal((call), (expected)), assert_int_equal(errno, (expected)))

/* The manuals have the value of errno returned; the kernel's libraries set it as well. */
PAIR_TEST(errors_are_in_errno_too)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w.near.pd, &init);
	struct ibv_qp *qp = end_make_qp(&w.near);
	struct ibv_recv_wr receive = {.num_sge = -1}, *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_port_attr port;

	IN_BOTH(EINVAL, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	IN_BOTH(EINVAL, ibv_query_port(w.near.context, 2, &port));
	IN_BOTH(EINVAL, ibv_resize_cq(w.near.cq, 0));
	IN_BOTH(EINVAL, ibv_modify_srq(srq, &(struct ibv_srq_attr){.srq_limit = 2}, IBV_SRQ_LIMIT));
	IN_BOTH(EINVAL, ibv_post_srq_recv(srq, &receive, &bad));
	IN_BOTH(EINVAL, ibv_post_recv(w.near.qp, &receive, &bad));
	IN_BOTH(EBUSY, ibv_destroy_cq(w.near.cq));
	IN_BOTH(EBUSY, ibv_destroy_comp_channel(w.near.channel));
	IN_BOTH(EBUSY, ibv_dealloc_pd(w.near.pd));
	OK(ibv_destroy_qp(qp));
	w.near.srq = srq;
	qp = end_make_qp(&w.near);
	IN_BOTH(EBUSY, ibv_destroy_srq(srq));
	OK(ibv_destroy_qp(qp));
	w.near.srq = NULL;
	OK(ibv_destroy_srq(srq));
}

/* One place prints 16 lines: test_mistakes.py counts them. */
PAIR_TEST(the_same_mistake_again_and_again)
{
	struct ibv_send_wr *wr = work((enum ibv_wr_opcode)77, 0, 8, 0), *bad;

	for (int i = 0; i < 40; i++) {
		wr->wr_id = (unsigned)i / 2; /* each twice */
		assert_int_equal(ibv_post_send(w.near.qp, wr, &bad), EINVAL);
	}
}
