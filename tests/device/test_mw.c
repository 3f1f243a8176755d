/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_mw.c -- memory windows of both types: ibv_bind_mw(3), IBV_WR_BIND_MW, IBV_WR_LOCAL_INV and
 * IBV_WR_SEND_WITH_INV. The far end has the windows, unless it is about requests that fail.
 * Numbers C10-... and o10-... are of the InfiniBand specification.
 */
#include "pair.h"

#define READ_WRITE (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define OFFSET	   4096u /* where the window is in the far memory */
#define BYTES	   1000u
#define WINDOW_OPS                                                                                 \
	(IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV)

static void make(uint64_t send_ops)
{
	PAIR_MAKE(o.mr_access |= IBV_ACCESS_MW_BIND, o.send_ops = send_ops);
}

static int setup_mw(void **unused)
{
	make(0);
	return 0;
}

static struct ibv_mw *mw; /* the near end has it, or there is none */

static void end_mw(void)
{
	OK(ibv_dealloc_mw(mw));
	mw = NULL;
}

static int teardown_mw(void **state)
{
	if (mw != NULL)
		end_mw();
	return teardown_pair(state);
}

#define MW_TEST(name) TEST(name, setup_mw, teardown_mw)

/* A write of so much with this key, to an address as the key's region has it. */
static void write_to(uint32_t rkey, uint64_t addr, uint32_t length, enum ibv_wc_status status)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, length, 0);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = addr;
	post(wr);
	EXPECT_WC(w.near.cq, 1, status);
}

static uint64_t far_at(size_t offset)
{
	return w.far.memory + offset;
}

static void can_write(uint32_t rkey)
{
	fill(w.near.memory, BYTES, rkey);
	write_to(rkey, far_at(OFFSET), BYTES, IBV_WC_SUCCESS);
	assert_memory_equal(w.far_memory + OFFSET, w.near.memory, BYTES);
}

static void cannot_write(uint32_t rkey)
{
	memset(w.far_memory + OFFSET, 0x55, BYTES);
	write_to(rkey, far_at(OFFSET), BYTES, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(w.far_memory[OFFSET], 0x55);
}

TEST(device__tells_of_windows)
{
	struct ibv_context *context = open_device();
	struct ibv_device_attr attr;

	OK(ibv_query_device(context, &attr));
	assert_int_not_equal(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW, 0);
	assert_true(attr.max_mw > 0);
	OK(ibv_close_device(context));
}

MW_TEST(type_1__gives_access)
{
	struct ibv_send_wr *wr;

	can_write(far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, READ_WRITE));
	wr = work(IBV_WR_RDMA_READ, 0, BYTES, OFFSET);
	wr->wr.rdma.rkey = far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, READ_WRITE);
	fill(w.far_memory + OFFSET, BYTES, 17);
	done(wr);
	assert_memory_equal(w.near.memory, w.far_memory + OFFSET, BYTES);
}

MW_TEST(window__has_its_own_rights)
{
	cannot_write(far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, IBV_ACCESS_REMOTE_READ));
}

MW_TEST(window__ends_where_it_was_bound)
{
	NOT_ON_RXE("it checks the bounds of the region alone");
	write_to(far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, READ_WRITE), far_at(OFFSET) + 1, BYTES,
		 IBV_WC_REM_ACCESS_ERR);
}

MW_TEST(window__begins_where_it_was_bound)
{
	NOT_ON_RXE("it checks the bounds of the region alone");
	write_to(far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE), far_at(OFFSET) - 1, 8,
		 IBV_WC_REM_ACCESS_ERR);
}

/* The bind of a window of type 1 that is bound takes the old key out of force. */
MW_TEST(type_1__bound_anew_has_another_key)
{
	uint32_t first = far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, READ_WRITE);
	uint32_t second = far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, READ_WRITE);

	assert_int_not_equal(first, second);
	can_write(second);
	cannot_write(first);
}

/* "until invalidated by: ibv_bind_mw verb with zero length for type 1": ibv_alloc_mw(3) */
MW_TEST(type_1__bound_to_nothing_gives_no_access)
{
	uint32_t bound = far_bind_mw(IBV_MW_TYPE_1, OFFSET, BYTES, READ_WRITE);

	can_write(bound);
	far_bind_mw(IBV_MW_TYPE_1, OFFSET, 0, 0);
	cannot_write(bound);
}

MW_TEST(type_2__is_bound_again_after_it_was_invalidated)
{
	uint32_t first = far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE), second;

	can_write(first);
	far_invalidate_mw();
	second = far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE);
	can_write(second);
	cannot_write(first);
}

MW_TEST(type_2__invalidated_by_its_owner_gives_no_access)
{
	uint32_t rkey = far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE);

	can_write(rkey);
	far_invalidate_mw();
	cannot_write(rkey);
}

static void send_with_inv(uint32_t rkey)
{
	struct ibv_send_wr *wr = work(IBV_WR_SEND_WITH_INV, 0, 100, 0);

	wr->invalidate_rkey = rkey;
	post(wr);
}

MW_TEST(type_2__invalidated_by_its_peer_gives_no_access)
{
	uint32_t rkey = far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE);
	struct ibv_wc wc;

	can_write(rkey);
	far_recv(7, 0, 200);
	send_with_inv(rkey);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	wc = far_expect(7, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV), (wc.byte_len, 100));
	if (!on_rxe()) /* its provider passes on the kernel's flag, which is another bit */
		assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, rkey);
	assert_memory_equal(w.far_memory, w.near.memory, 100);
	cannot_write(rkey);
}

MW_TEST(send_with_inv__of_what_is_not_bound_fails)
{
	NOT_ON_RXE("it does not answer, and its sender tries until its retries are used up");
	far_recv(7, 0, 200);
	send_with_inv(w.far.rkey); /* a region's */
	EXPECT_WC(w.near.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	far_expect(7, IBV_WC_REM_INV_REQ_ERR);
	far_expect_error();
	end_expect_error(&w.near);
}

MW_TEST(dealloc__takes_the_access_away)
{
	uint32_t rkey = far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE);

	can_write(rkey);
	far_dealloc_mw();
	cannot_write(rkey);
}

/* --- windows of the near end: its own memory, and requests that fail --- */

static void alloc_mw(enum ibv_mw_type type)
{
	mw = ibv_alloc_mw(w.near.pd, type);
	assert_non_null(mw);
	assert_ptr_equal(mw->pd, w.near.pd);
	assert_ptr_equal(mw->context, w.near.context);
	assert_int_equal(mw->type, type);
}

static struct ibv_mw_bind_info info_of(struct ibv_mr *mr, size_t offset, size_t length,
				       unsigned access)
{
	return (struct ibv_mw_bind_info){.mr = mr,
					 .addr = (uintptr_t)w.near.memory + offset,
					 .length = length,
					 .mw_access_flags = access};
}

/* The next completion, of request 1. rxe of Linux 6.12 flushes all that it cannot start. */
static struct ibv_wc expect_near(enum ibv_wc_status status)
{
	struct ibv_wc wc;

	if (status == IBV_WC_SUCCESS || !on_rxe())
		return EXPECT_WC(w.near.cq, 1, status);
	wc = next_wc(w.near.cq);
	assert_int_equal(wc.wr_id, 1);
	if (wc.status != IBV_WC_WR_FLUSH_ERR)
		assert_int_equal(wc.status, status);
	return wc;
}

/* Posts the bind of `mw` with the next key, and takes its completion. */
static uint32_t bind_near(struct ibv_mw_bind_info info, enum ibv_wc_status status)
{
	struct ibv_send_wr *wr = work(IBV_WR_BIND_MW, 0, 0, 0);
	struct ibv_wc wc;

	wr->num_sge = 0;
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr->bind_mw.bind_info = info;
	post(wr);
	wc = expect_near(status);
	if (status == IBV_WC_SUCCESS) {
		assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
		mw->rkey = wr->bind_mw.rkey;
	} else {
		end_expect_error(&w.near);
	}
	return mw->rkey;
}

/* A new window of type 2 cannot be bound so. The region ends with it, unless it is the pair's. */
static void bind_fails(struct ibv_mr *mr, size_t offset, size_t length, unsigned access)
{
	assert_non_null(mr);
	mw = ibv_alloc_mw(mr->pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	bind_near(info_of(mr, offset, length, access), IBV_WC_MW_BIND_ERR);
	end_mw();
	if (mr != w.near.mr)
		OK(ibv_dereg_mr(mr));
}

/* o10-37.2.30: a window of type 2 is bound in the free state alone. */
MW_TEST(bind__of_a_bound_window_of_type_2_fails)
{
	alloc_mw(IBV_MW_TYPE_2);
	bind_near(info_of(w.near.mr, 0, BYTES, READ_WRITE), IBV_WC_SUCCESS);
	bind_near(info_of(w.near.mr, 0, BYTES, READ_WRITE), IBV_WC_MW_BIND_ERR);
}

/* o10-37.2.40 */
MW_TEST(bind__of_type_2_to_nothing_fails)
{
	bind_fails(w.near.mr, 0, 0, READ_WRITE);
}

/* C10-75 */
MW_TEST(bind__beyond_the_region_fails)
{
	bind_fails(w.near.mr, 1, END_MEMORY, READ_WRITE);
}

/* C10-73 */
MW_TEST(bind__to_a_region_without_the_right_fails)
{
	bind_fails(ibv_reg_mr(w.near.pd, w.near.memory, BYTES, END_ACCESS), 0, BYTES,
		   IBV_ACCESS_REMOTE_READ);
}

/* C10-74 */
MW_TEST(bind__for_writes_to_a_region_that_is_read_only_fails)
{
	struct ibv_mr *mr = ibv_reg_mr(w.near.pd, w.near.memory, BYTES,
				       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);

	bind_fails(mr, 0, BYTES, IBV_ACCESS_REMOTE_WRITE);
}

/* C10-72 */
MW_TEST(bind__of_another_domain_fails)
{
	struct ibv_pd *other = ibv_alloc_pd(w.near.context);

	bind_fails(ibv_reg_mr(other, w.near.memory, BYTES, END_ACCESS | IBV_ACCESS_MW_BIND), 0,
		   BYTES, READ_WRITE);
	OK(ibv_dealloc_pd(other));
}

static void local_inv(uint32_t rkey, enum ibv_wc_status status)
{
	struct ibv_send_wr *wr = work(IBV_WR_LOCAL_INV, 0, 0, 0);

	wr->num_sge = 0;
	wr->invalidate_rkey = rkey;
	post(wr);
	struct ibv_wc wc = expect_near(status);

	if (status == IBV_WC_SUCCESS)
		assert_int_equal(wc.opcode, IBV_WC_LOCAL_INV);
}

/* o10-37.2.26: windows of type 1 are not invalidated. */
MW_TEST(invalidate__of_type_1_fails)
{
	alloc_mw(IBV_MW_TYPE_1);
	local_inv(mw->rkey, IBV_WC_LOC_QP_OP_ERR);
}

MW_TEST(invalidate__of_an_old_key_fails)
{
	uint32_t first;

	alloc_mw(IBV_MW_TYPE_2);
	first = bind_near(info_of(w.near.mr, 0, BYTES, READ_WRITE), IBV_WC_SUCCESS);
	local_inv(first, IBV_WC_SUCCESS);
	bind_near(info_of(w.near.mr, 0, BYTES, READ_WRITE), IBV_WC_SUCCESS);
	local_inv(first, IBV_WC_LOC_QP_OP_ERR);
}

/* Two more queue pairs of the near end, connected: `w.near.qp`, which a test posts to, and ... */
static struct ibv_qp *target;

static struct ibv_qp *more_qps(void)
{
	struct ibv_qp *first = w.near.qp;

	w.near.qp = end_make_qp(&w.near);
	assert_non_null(w.near.qp);
	end_to_init(&w.near);
	target = end_to_another(&w.near);
	return first;
}

static void end_more_qps(struct ibv_qp *first)
{
	OK(ibv_destroy_qp(target));
	OK(ibv_destroy_qp(w.near.qp));
	w.near.qp = first;
}

static void swap_qps(void)
{
	struct ibv_qp *posts = w.near.qp;

	w.near.qp = target;
	target = posts;
}

/* Type 2 is associated with a queue pair; of type 1 any of the domain may use it. */
static void write_by_second_qp(enum ibv_mw_type type, enum ibv_wc_status status)
{
	uint32_t rkey;
	struct ibv_qp *first;

	alloc_mw(type);
	rkey = bind_near(info_of(w.near.mr, OFFSET, BYTES, READ_WRITE), IBV_WC_SUCCESS);
	first = more_qps();
	write_to(rkey, (uintptr_t)w.near.memory + OFFSET, 8, status);
	end_more_qps(first);
}

MW_TEST(type_1__is_for_all_queue_pairs)
{
	write_by_second_qp(IBV_MW_TYPE_1, IBV_WC_SUCCESS);
}

MW_TEST(type_2__is_for_its_queue_pair)
{
	write_by_second_qp(IBV_MW_TYPE_2, IBV_WC_REM_ACCESS_ERR);
}

MW_TEST(type_2__may_be_zero_based)
{
	struct ibv_qp *first = more_qps();
	uint32_t rkey;

	alloc_mw(IBV_MW_TYPE_2);
	swap_qps();
	rkey = bind_near(info_of(w.near.mr, OFFSET, BYTES, READ_WRITE | IBV_ACCESS_ZERO_BASED),
			 IBV_WC_SUCCESS);
	swap_qps();
	write_to(rkey, 100, 8, IBV_WC_SUCCESS);
	assert_memory_equal(w.near.memory + OFFSET + 100, w.near.memory, 8);
	end_more_qps(first);
}

/* o10-36.2.2 */
MW_TEST(type_1__may_not_be_zero_based)
{
	struct ibv_mw_bind attr = {
		.bind_info = info_of(w.near.mr, 0, BYTES, READ_WRITE | IBV_ACCESS_ZERO_BASED)};

	alloc_mw(IBV_MW_TYPE_1);
	FAILS(EINVAL, ibv_bind_mw(w.near.qp, mw, &attr));
}

/* The R_Key of a window is no L_Key. */
MW_TEST(key__of_a_window_is_for_peers)
{
	struct ibv_send_wr *wr;
	uint32_t rkey;

	alloc_mw(IBV_MW_TYPE_1);
	rkey = bind_near(info_of(w.near.mr, 0, BYTES, READ_WRITE), IBV_WC_SUCCESS);
	wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	wr->sg_list->lkey = rkey;
	post(wr);
	expect_own_mistake(w.near.cq);
}

/* "ibv_dereg_mr() fails if any memory window is still bound to this MR": ibv_alloc_mw(3) */
MW_TEST(dereg_mr__fails_while_a_window_is_bound)
{
	struct ibv_mr *mr =
		ibv_reg_mr(w.near.pd, w.near.memory, BYTES, END_ACCESS | IBV_ACCESS_MW_BIND);

	alloc_mw(IBV_MW_TYPE_2);
	bind_near(info_of(mr, 0, BYTES, READ_WRITE), IBV_WC_SUCCESS);
	FAILS(EINVAL, ibv_dereg_mr(mr));
	local_inv(mw->rkey, IBV_WC_SUCCESS);
	OK(ibv_dereg_mr(mr));
}

MW_TEST(dealloc_pd__is_busy_while_a_window_is_there)
{
	struct ibv_pd *pd = ibv_alloc_pd(w.near.context);

	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	FAILS(EBUSY, ibv_dealloc_pd(pd));
	end_mw();
	OK(ibv_dealloc_pd(pd));
}

MW_TEST(alloc__knows_two_types)
{
	EQUAL((ibv_alloc_mw(w.near.pd, (enum ibv_mw_type)3), NULL),
	      (ibv_alloc_mw(w.near.pd, (enum ibv_mw_type)0), NULL));
}

/* --- by the extended interface --- */

static void finish(struct ibv_qp_ex *ex, enum ibv_wc_opcode opcode)
{
	OK(ibv_wr_complete(ex));
	assert_int_equal(EXPECT_WC(w.near.cq, 9, IBV_WC_SUCCESS).opcode, opcode);
}

static struct ibv_qp_ex *begin(void)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(w.near.qp);

	assert_non_null(ex);
	ibv_wr_start(ex);
	ex->wr_id = 9;
	ex->wr_flags = IBV_SEND_SIGNALED;
	return ex;
}

OWN_PAIR_TEST(wr__binds_and_invalidates)
{
	struct ibv_mw_bind_info info;
	struct ibv_qp_ex *ex;
	struct ibv_qp *first;
	uint32_t rkey;

	make(WINDOW_OPS | IBV_QP_EX_WITH_RDMA_WRITE);
	first = more_qps();
	alloc_mw(IBV_MW_TYPE_2);
	info = info_of(w.near.mr, OFFSET, BYTES, READ_WRITE);
	rkey = ibv_inc_rkey(mw->rkey);
	swap_qps();
	ex = begin();
	ibv_wr_bind_mw(ex, mw, rkey, &info);
	finish(ex, IBV_WC_BIND_MW);
	swap_qps();
	write_to(rkey, (uintptr_t)w.near.memory + OFFSET, 8, IBV_WC_SUCCESS);
	swap_qps();
	ex = begin();
	ibv_wr_local_inv(ex, rkey);
	finish(ex, IBV_WC_LOCAL_INV);
	swap_qps();
	write_to(rkey, (uintptr_t)w.near.memory + OFFSET, 8, IBV_WC_REM_ACCESS_ERR);
	end_more_qps(first);
	end_mw();
}

OWN_PAIR_TEST(wr__sends_with_invalidate)
{
	struct ibv_qp_ex *ex;
	uint32_t rkey;

	make(WINDOW_OPS);
	rkey = far_bind_mw(IBV_MW_TYPE_2, OFFSET, BYTES, READ_WRITE);
	far_recv(7, 0, 200);
	ex = begin();
	ibv_wr_send_inv(ex, rkey);
	ibv_wr_set_sge(ex, w.near.mr->lkey, (uintptr_t)w.near.memory, 50);
	finish(ex, IBV_WC_SEND);
	assert_int_equal(far_expect(7, IBV_WC_SUCCESS).invalidated_rkey, rkey);
}
