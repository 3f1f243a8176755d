/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rc_errors.c -- requests that fail: with which status, at which end, and
 * what becomes of the queue pairs and of what else is posted.
 */
#include "pair.h"

/* The requester sees STATUS and its QP is in ERR; far memory is as before. */
static void expect_failure(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	static unsigned char before[END_MEMORY];

	memcpy(before, w.far_memory, sizeof(before));
	post(wr);
	EXPECT_WC(w.near.cq, wr->wr_id, status);
	end_expect_error(&w.near);
	assert_memory_equal(w.far_memory, before, sizeof(before));
}

static void expect_local_protection_error(struct ibv_send_wr *wr)
{
	if (!on_rxe()) {
		expect_failure(wr, IBV_WC_LOC_PROT_ERR);
		return;
	}
	post(wr);
	expect_own_mistake(w.near.cq);
	end_expect_error(&w.near);
}

PAIR_TEST(lkey__unknown_is_a_local_protection_error)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->sg_list->lkey = ~w.near.mr->lkey;
	expect_local_protection_error(wr);
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

PAIR_TEST(lkey__does_not_cover_more_than_its_region)
{
	expect_local_protection_error(work(IBV_WR_RDMA_WRITE, END_MEMORY - 63, 64, 0));
}

PAIR_TEST(lkey__of_another_pd_is_a_local_protection_error)
{
	struct ibv_pd *pd = ibv_alloc_pd(w.near.context);
	struct ibv_mr *mr = ibv_reg_mr(pd, w.near.memory, 100, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->sg_list->lkey = mr->lkey;
	expect_local_protection_error(wr);
	OK(ibv_dereg_mr(mr));
	OK(ibv_dealloc_pd(pd));
}

PAIR_TEST(read__into_memory_without_local_write_fails)
{
	struct ibv_mr *mr = ibv_reg_mr(w.near.pd, w.near.memory, 100, 0);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_READ, 0, 64, 0);
	unsigned char before[64];

	memcpy(before, w.near.memory, sizeof(before));
	wr->sg_list->lkey = mr->lkey;
	expect_failure(wr, IBV_WC_LOC_PROT_ERR);
	assert_memory_equal(w.near.memory, before, sizeof(before));
	OK(ibv_dereg_mr(mr));
}

/* IBA 9.7.5.1.4: the response is where it is noticed, and the target has changed by then. */
PAIR_TEST(atomic__with_an_unknown_lkey_is_executed_and_fails)
{
	struct ibv_send_wr *wr = work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 0);
	uint64_t before, after;

	memcpy(&before, w.far_memory, sizeof(before));
	wr->sg_list->lkey = ~w.near.mr->lkey;
	wr->wr.atomic.compare_add = 5;
	post(wr);
	EXPECT_WC(w.near.cq, 1, IBV_WC_LOC_PROT_ERR);
	end_expect_error(&w.near);
	memcpy(&after, w.far_memory, sizeof(after));
	EQUAL((after, before + 5), (far_state(), IBV_QPS_RTS));
}

/* The target refuses it: the requester learns of it, and the target's QP fails. */
static void expect_refused(struct ibv_send_wr *wr)
{
	expect_failure(wr, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
}

PAIR_TEST(rkey__unknown_is_refused)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr.rdma.rkey = ~w.far.rkey;
	expect_refused(wr);
	if (!on_rxe()) /* rxe raises no event; IBA 11.6.3.2 wants the affiliated error */
		far_expect_async(IBV_EVENT_QP_ACCESS_ERR);
}

PAIR_TEST(write__past_the_end_is_refused)
{
	expect_refused(work(IBV_WR_RDMA_WRITE, 0, 64, END_MEMORY - 63));
}

PAIR_TEST(write__before_the_start_is_refused)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr.rdma.remote_addr--;
	expect_refused(wr);
}

PAIR_TEST(write__around_the_end_of_addresses_is_refused)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr.rdma.remote_addr = UINT64_MAX - 8;
	expect_refused(wr);
}

PAIR_TEST(read__past_the_end_is_refused)
{
	expect_refused(work(IBV_WR_RDMA_READ, 0, 64, END_MEMORY - 63));
}

/* OPCODE fails on memory registered with ACCESS and on a region it may use it works. */
static void refused_with(enum ibv_wr_opcode opcode, int access)
{
	struct ibv_send_wr *wr = work(opcode, 0, 8, 0);
	uint32_t rkey = far_reg(0, 4096, access);

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr->wr.atomic.rkey = rkey;
	else
		wr->wr.rdma.rkey = rkey;
	expect_refused(wr);
}

PAIR_TEST(write__needs_remote_write)
{
	refused_with(IBV_WR_RDMA_WRITE, END_ACCESS & ~IBV_ACCESS_REMOTE_WRITE);
}

PAIR_TEST(read__needs_remote_read)
{
	refused_with(IBV_WR_RDMA_READ, END_ACCESS & ~IBV_ACCESS_REMOTE_READ);
}

PAIR_TEST(atomic__needs_remote_atomic)
{
	refused_with(IBV_WR_ATOMIC_FETCH_AND_ADD, END_ACCESS & ~IBV_ACCESS_REMOTE_ATOMIC);
}

/* The target's QP does not take requests of this kind at all. */
static void refused_by_qp(enum ibv_wr_opcode opcode, int access)
{
	struct end_options near = end_defaults(), far = end_defaults();

	far.qp_access = END_ACCESS & ~access;
	pair_make(&near, &far);
	expect_failure(work(opcode, 0, 8, 0), IBV_WC_REM_INV_REQ_ERR);
}

OWN_PAIR_TEST(write__needs_a_qp_that_takes_writes)
{
	refused_by_qp(IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE);
}

OWN_PAIR_TEST(read__needs_a_qp_that_takes_reads)
{
	refused_by_qp(IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ);
}

OWN_PAIR_TEST(atomic__needs_a_qp_that_takes_atomics)
{
	refused_by_qp(IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC);
}

/* Refused when it is posted, or by the target as in IBA 9.4.5. */
PAIR_TEST(atomic__needs_an_aligned_address)
{
	struct ibv_send_wr *wr = work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 4), *bad = NULL;
	uint64_t before[2];
	int refused = 0;

	memcpy(before, w.far_memory, sizeof(before));
	refused = ibv_post_send(w.near.qp, wr, &bad);
	if (refused != 0)
		assert_int_equal(refused, EINVAL);
	else
		expect_code(EXPECT_WC(w.near.cq, 1, IBV_WC_REM_INV_REQ_ERR), 9);
	assert_memory_equal(w.far_memory, before, sizeof(before));
}

PAIR_TEST(atomic__is_of_eight_bytes)
{
	struct ibv_send_wr *wr = work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4, 0), *bad = NULL;
	uint64_t before[1];

	memcpy(before, w.far_memory, sizeof(before));
	wr->wr.atomic.compare_add = 1;
	FAILS(EINVAL, ibv_post_send(w.near.qp, wr, &bad));
	assert_ptr_equal(bad, wr);
	assert_memory_equal(w.far_memory, before, sizeof(before));
}

/* max_dest_rd_atomic 0: the target takes no reads and no atomics. */
OWN_PAIR_TEST(read__needs_a_qp_with_resources)
{
	struct end_options near = end_defaults(), far = end_defaults();

	far.reads = 0;
	pair_make(&near, &far);
	expect_failure(work(IBV_WR_RDMA_READ, 0, 8, 0), IBV_WC_REM_INV_REQ_ERR);
}

/* Same process only: a key of another PD of the target. */
PAIR_TEST(rkey__of_another_pd_is_refused)
{
	struct end *far = &w.partner.end;

	SKIP_UNLESS(far->context != NULL, "needs the far end in this process");
	struct ibv_pd *pd = ibv_alloc_pd(far->context);
	struct ibv_mr *mr = ibv_reg_mr(pd, far->memory, 4096, END_ACCESS);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr.rdma.rkey = mr->rkey;
	expect_refused(wr);
	OK(ibv_dereg_mr(mr));
	OK(ibv_dealloc_pd(pd));
}

PAIR_TEST(rkey__dies_with_its_region)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr.rdma.rkey = far_reg(0, 4096, END_ACCESS);
	done(wr);
	far_dereg();
	expect_refused(wr);
}

PAIR_TEST(write__without_access_touches_no_part)
{
	/* the first packets are good ones: rxe, as IBA, checks the key at the first */
	expect_refused(work(IBV_WR_RDMA_WRITE, 0, 8192, END_MEMORY - 4096));
}

PAIR_TEST(recv__too_small_fails_at_both_ends)
{
	far_recv(3, 0, 63);
	post(work(IBV_WR_SEND, 0, 64, 0));
	EXPECT_WC(w.near.cq, 1,
		  DIFFERS(IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR, "rxe blames its own receive"));
	far_expect(3, DIFFERS(IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR, "as above"));
	end_expect_error(&w.near);
	far_expect_error();
}

PAIR_TEST(recv__with_an_unknown_lkey_fails_at_both_ends)
{
	struct ibv_sge sge = {(uintptr_t)w.near.memory, 64, ~w.near.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 4, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

	OK(ibv_post_recv(w.near.qp, &wr, &bad));
	far_send(5, 0, 64);
	expect_code(EXPECT_WC(w.near.cq, 4,
			      DIFFERS(IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR,
				      "rxe has one status for bad receives")),
		    2);
	expect_code(far_expect(5, IBV_WC_REM_OP_ERR), 14);
}

PAIR_TEST(flush__follows_the_error_in_order)
{
	struct ibv_send_wr *first = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	for (uint64_t id = 10; id < 13; id++)
		recv_near(id, 0, 64);
	first->wr.rdma.rkey = ~w.far.rkey;
	first->next = work(IBV_WR_RDMA_WRITE, 0, 64, 0);
	first->next->wr_id = 2;
	first->next->send_flags = 0; /* a flushed request completes, signaled or not */
	first->next->next = work(IBV_WR_SEND, 0, 64, 0);
	first->next->next->wr_id = 3;
	post(first);

	uint64_t sends = 1, receives = 10;
	while (sends < 4 || receives < 13) {
		struct ibv_wc wc = next_wc(w.near.cq);
		uint64_t expected = wc.wr_id < 10 ? sends++ : receives++;

		EQUAL((wc.wr_id, expected),
		      (wc.status, expected == 1 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR));
	}
	expect_no_wc(w.near.cq);
}

PAIR_TEST(requests_before__the_error_are_good)
{
	struct ibv_send_wr *first = work(IBV_WR_RDMA_WRITE, 0, 64, 128);

	first->next = work(IBV_WR_RDMA_WRITE, 0, 64, 0);
	first->next->wr_id = 2;
	first->next->wr.rdma.rkey = ~w.far.rkey;
	post(first);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 2, IBV_WC_REM_ACCESS_ERR);
	assert_memory_equal(w.far_memory + 128, w.near.memory, 64);
}

/* Small ones that are moved together: those before it are placed, none behind it is. */
static void fail_the_fifth_of_seven(bool listed)
{
	static unsigned char before[8 * 64];
	struct ibv_send_wr *first = NULL, **next = &first;

	memcpy(before, w.far_memory, sizeof(before));
	for (uint64_t i = 0; i < 7; i++) {
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 64 * i, 64, 64 * i);

		wr->wr_id = i;
		wr->send_flags = 0;
		if (i == 4)
			wr->wr.rdma.rkey = ~w.far.rkey;
		if (!listed)
			post(wr);
		*next = wr;
		next = &wr->next;
	}
	if (listed)
		post(first);
	EXPECT_WC(w.near.cq, 4, IBV_WC_REM_ACCESS_ERR);
	EXPECT_WC(w.near.cq, 5, IBV_WC_WR_FLUSH_ERR);
	EXPECT_WC(w.near.cq, 6, IBV_WC_WR_FLUSH_ERR);
	assert_memory_equal(w.far_memory, w.near.memory, 4 * 64);
	assert_memory_equal(w.far_memory + 4 * 64, before + 4 * 64, 4 * 64);
}

PAIR_TEST(one__of_many_writes_fails)
{
	fail_the_fifth_of_seven(false);
}

PAIR_TEST(one__of_a_list_of_writes_fails)
{
	fail_the_fifth_of_seven(true);
}

PAIR_TEST(error_state__flushes_sends_posted_later)
{
	end_to_error(&w.near);
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	expect_code(EXPECT_WC(w.near.cq, 1, IBV_WC_WR_FLUSH_ERR), 1);
}

PAIR_TEST(error_state__flushes_receives_posted_later)
{
	NOT_ON_RXE("it looks at a user's receives when a packet comes, and none does");
	end_to_error(&w.near);
	recv_near(4, 0, 64);
	expect_code(EXPECT_WC(w.near.cq, 4, IBV_WC_WR_FLUSH_ERR), 1);
}

PAIR_TEST(error_state__flushes_what_is_posted)
{
	recv_near(4, 0, 64);
	recv_near(5, 0, 64);
	end_to_error(&w.near);
	EXPECT_WC(w.near.cq, 4, IBV_WC_WR_FLUSH_ERR);
	EXPECT_WC(w.near.cq, 5, IBV_WC_WR_FLUSH_ERR);
}

PAIR_TEST(waiting__send_is_flushed_by_the_error_state)
{
	post(work(IBV_WR_SEND, 0, 64, 0)); /* the far end has no receive */
	end_to_error(&w.near);
	EXPECT_WC(w.near.cq, 1, IBV_WC_WR_FLUSH_ERR);
	expect_no_wc(w.near.cq);
}

PAIR_TEST(waiting__send_goes_with_its_qp)
{
	post(work(IBV_WR_SEND, 0, 64, 0));
	OK(ibv_destroy_qp(w.near.qp));
	w.near.qp = NULL;
	far_recv(3, 0, 64);
	expect_no_wc(w.near.cq);
	far_to_error();
	struct ibv_wc wc = far_wc();
	assert_int_equal(wc.wr_id, 3);
	if (wc.status != IBV_WC_SUCCESS) /* it was still on its way, and came to the receive */
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
}

/* Requests behind one that waits for a receive wait as well. */
PAIR_TEST(waiting__send_holds_what_is_behind_it)
{
	struct ibv_send_wr *send = work(IBV_WR_SEND, 0, 64, 0);
	unsigned char before = w.far_memory[8192];

	send->next = work(IBV_WR_RDMA_WRITE, 0, 64, 8192);
	send->next->wr_id = 2;
	w.near.memory[0] = (unsigned char)(before + 1);
	post(send);
	for (int i = 0; i < 100; i++)
		expect_no_wc(w.near.cq);
	assert_int_equal(w.far_memory[8192], before);
	far_recv(3, 0, 64);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 2, IBV_WC_SUCCESS);
	assert_int_equal(w.far_memory[8192], w.near.memory[0]);
}

OWN_PAIR_TEST(message__longer_than_the_port_takes_fails)
{
	struct ibv_port_attr port;

	PAIR_MAKE();
	OK(ibv_query_port(w.near.context, 1, &port));
	SKIP_UNLESS(port.max_msg_sz <= 64 << 20, "this test has no memory for such a message");
	size_t size = (size_t)port.max_msg_sz + 1;
	unsigned char *large = calloc(1, size);
	struct ibv_mr *mr = ibv_reg_mr(w.near.pd, large, size, 0);
	assert_non_null(mr);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, size, 0), *bad = NULL;
	*wr->sg_list = (struct ibv_sge){(uintptr_t)large, (uint32_t)size, mr->lkey};
	int refused = ibv_post_send(w.near.qp, wr, &bad);
	if (refused == 0)
		expect_code(
			EXPECT_WC(w.near.cq, 1,
				  DIFFERS(IBV_WC_LOC_LEN_ERR, IBV_WC_REM_ACCESS_ERR,
					  "rxe has no check; IBA 9.7.7 wants one before anything "
					  "is sent")),
			11);
	else
		assert_int_equal(refused, EINVAL);
	OK(ibv_dereg_mr(mr));
	free(large);
}

/* The whole length is checked before the first byte is placed. */
OWN_PAIR_TEST(large__write_beyond_the_region_stores_nothing)
{
	const size_t region = 256 * 1024;
	unsigned char *before = malloc(region);

	assert_non_null(before);
	PAIR_MAKE(o.memory_size = 2 * region);
	memcpy(before, w.far_memory, region);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, region, 1);

	wr->wr.rdma.rkey = far_reg(0, region, END_ACCESS);
	post(wr);
	EXPECT_WC(w.near.cq, 1, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
	assert_memory_equal(w.far_memory, before, region);
	far_dereg();
	free(before);
}

/* This holds however much the write has placed by then, and however it ends. */
OWN_PAIR_TEST(large__write_stores_nothing_after_the_region_is_gone)
{
	const size_t bytes = 8 * 1024 * 1024;
	unsigned char *then = malloc(bytes);

	assert_non_null(then);
	PAIR_MAKE(o.memory_size = bytes);
	post(work(IBV_WR_RDMA_WRITE, 0, bytes, 0));
	far_dereg();
	memcpy(then, w.far_memory, bytes);
	struct ibv_wc wc = next_wc(w.near.cq);

	assert_true(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_ACCESS_ERR);
	assert_memory_equal(w.far_memory, then, bytes);
	free(then);
}
