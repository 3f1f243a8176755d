/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_qp_ex.c -- the extended way to post, ibv_wr_start() to ibv_wr_complete().
 * What the headers or the device lack is skipped and said.
 */
#include "pair.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define ALL_OPS                                                                                    \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |    \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                                 \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static struct ibv_qp_ex *qp;

static int make(uint64_t ops, int access)
{
	struct end_options near = end_defaults(), far = end_defaults();

	near.send_ops = ops;
	near.cap.max_inline_data = 64;
	far.mr_access |= access;
	far.qp_access |= access;
	pair_make(&near, &far);
	qp = ibv_qp_to_qp_ex(w.near.qp);
	assert_non_null(qp);
	return 0;
}

static int setup_ex(void **unused)
{
	return make(ALL_OPS, 0);
}

/* Begin request ID, signaled. */
static void begin(uint64_t id)
{
	ibv_wr_start(qp);
	qp->wr_id = id;
	qp->wr_flags = IBV_SEND_SIGNALED;
}

/* The same for inline data. The manual has no flag for it; rxe's provider wants one. */
static void begin_inline(uint64_t id)
{
	begin(id);
	if (on_rxe())
		qp->wr_flags |= IBV_SEND_INLINE;
}

static void from_near(size_t offset, uint32_t length)
{
	ibv_wr_set_sge(qp, w.near.mr->lkey, (uintptr_t)(w.near.memory + offset), length);
}

/* Writes the start of the near memory. */
static void begin_write(uint64_t id, size_t far_offset, uint32_t length)
{
	begin(id);
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory + far_offset);
	from_near(0, length);
}

static struct ibv_wc finish(uint64_t id, enum ibv_wc_opcode opcode)
{
	OK(ibv_wr_complete(qp));
	struct ibv_wc wc = EXPECT_WC(w.near.cq, id, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, opcode);
	return wc;
}

static uint64_t word_at(const unsigned char *memory)
{
	uint64_t word;

	memcpy(&word, memory, sizeof(word));
	return word;
}

TEST(qp_to_qp_ex__is_for_qps_with_send_ops, setup_ex, teardown_pair)
{
	assert_ptr_equal(&qp->qp_base, w.near.qp);
	struct end_options options = end_defaults();
	struct end plain = {0};

	NOT_ON_RXE("every QP of it is an extended one");
	end_open(&plain, &options, -1);
	assert_null(ibv_qp_to_qp_ex(plain.qp));
	end_close(&plain);
}

TEST(write__arrives, setup_ex, teardown_pair)
{
	begin_write(5, 100, 200);
	finish(5, IBV_WC_RDMA_WRITE);
	assert_memory_equal(w.far_memory + 100, w.near.memory, 200);
}

TEST(write_imm__tells_it, setup_ex, teardown_pair)
{
	far_recv(2, 0, 8);
	begin(5);
	ibv_wr_rdma_write_imm(qp, w.far.rkey, w.far.memory + 100, htonl(0xabcdef));
	from_near(0, 200);
	finish(5, IBV_WC_RDMA_WRITE);
	struct ibv_wc wc = far_expect(2, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM), (ntohl(wc.imm_data), 0xabcdef));
	assert_memory_equal(w.far_memory + 100, w.near.memory, 200);
}

TEST(read__fetches, setup_ex, teardown_pair)
{
	begin(5);
	ibv_wr_rdma_read(qp, w.far.rkey, w.far.memory + 100);
	from_near(0, 200);
	finish(5, IBV_WC_RDMA_READ);
	assert_memory_equal(w.far_memory + 100, w.near.memory, 200);
}

TEST(send__arrives, setup_ex, teardown_pair)
{
	far_recv(2, 400, 300);
	begin(5);
	ibv_wr_send(qp);
	from_near(0, 200);
	finish(5, IBV_WC_SEND);
	assert_int_equal(far_expect(2, IBV_WC_SUCCESS).byte_len, 200);
	assert_memory_equal(w.far_memory + 400, w.near.memory, 200);
}

TEST(send_imm__tells_it, setup_ex, teardown_pair)
{
	far_recv(2, 400, 300);
	begin(5);
	ibv_wr_send_imm(qp, htonl(77));
	from_near(0, 20);
	finish(5, IBV_WC_SEND);
	struct ibv_wc wc = far_expect(2, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV), (wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM),
	      (ntohl(wc.imm_data), 77));
}

TEST(atomics__change_the_word, setup_ex, teardown_pair)
{
	uint64_t before = word_at(w.far_memory + 64);

	begin(5);
	ibv_wr_atomic_cmp_swp(qp, w.far.rkey, w.far.memory + 64, before, 1000);
	from_near(8, 8);
	finish(5, IBV_WC_COMP_SWAP);
	assert_true(word_at(w.near.memory + 8) == before);
	begin(6);
	ibv_wr_atomic_fetch_add(qp, w.far.rkey, w.far.memory + 64, 11);
	from_near(8, 8);
	finish(6, IBV_WC_FETCH_ADD);
	assert_true(word_at(w.near.memory + 8) == 1000);
	assert_true(word_at(w.far_memory + 64) == 1011);
}

TEST(sge_list__is_gathered, setup_ex, teardown_pair)
{
	NOT_ON_RXE("its provider (rdma-core 44 to 56) posts what the kernel then fails");
	struct ibv_sge sge[3] = {
		{(uintptr_t)(w.near.memory + 3000), 100, w.near.mr->lkey},
		{(uintptr_t)(w.near.memory + 10), 1, w.near.mr->lkey},
		{(uintptr_t)(w.near.memory + 500), 50, w.near.mr->lkey},
	};

	begin(5);
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory);
	ibv_wr_set_sge_list(qp, ARRAY_LENGTH(sge), sge);
	finish(5, IBV_WC_RDMA_WRITE);
	assert_memory_equal(w.far_memory, w.near.memory + 3000, 100);
	assert_int_equal(w.far_memory[100], w.near.memory[10]);
	assert_memory_equal(w.far_memory + 101, w.near.memory + 500, 50);
}

TEST(inline_data__is_taken_when_set, setup_ex, teardown_pair)
{
	unsigned char bytes[30], copy[30];

	fill(bytes, sizeof(bytes), 9);
	memcpy(copy, bytes, sizeof(copy));
	begin_inline(5);
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory);
	ibv_wr_set_inline_data(qp, bytes, sizeof(bytes));
	memset(bytes, 0, sizeof(bytes));
	finish(5, IBV_WC_RDMA_WRITE);
	assert_memory_equal(w.far_memory, copy, sizeof(copy));
}

TEST(inline_data_list__is_gathered, setup_ex, teardown_pair)
{
	NOT_ON_RXE("its provider (rdma-core 44 to 56) puts each piece at the start");
	unsigned char bytes[30];
	struct ibv_data_buf pieces[] = {{bytes + 20, 10}, {bytes, 5}};

	fill(bytes, sizeof(bytes), 9);
	begin_inline(5);
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory);
	ibv_wr_set_inline_data_list(qp, ARRAY_LENGTH(pieces), pieces);
	finish(5, IBV_WC_RDMA_WRITE);
	assert_memory_equal(w.far_memory, bytes + 20, 10);
	assert_memory_equal(w.far_memory + 10, bytes, 5);
}

TEST(several__requests_go_at_once, setup_ex, teardown_pair)
{
	ibv_wr_start(qp);
	for (uint64_t id = 1; id <= 4; id++) {
		qp->wr_id = id;
		qp->wr_flags = id == 2 ? 0 : IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory + 100 * id);
		from_near(0, 100);
	}
	OK(ibv_wr_complete(qp));
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 3, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 4, IBV_WC_SUCCESS);
	for (unsigned i = 1; i <= 4; i++)
		assert_memory_equal(w.far_memory + 100L * i, w.near.memory, 100);
}

TEST(abort__posts_nothing, setup_ex, teardown_pair)
{
	unsigned char before[200];

	memcpy(before, w.far_memory, sizeof(before));
	begin_write(5, 0, 200);
	ibv_wr_abort(qp);
	begin(6);
	ibv_wr_rdma_read(qp, w.far.rkey, w.far.memory);
	from_near(1000, 200);
	finish(6, IBV_WC_RDMA_READ);
	expect_no_wc(w.near.cq);
	assert_memory_equal(w.far_memory, before, sizeof(before));
	assert_memory_equal(w.near.memory + 1000, before, sizeof(before));
}

/* ibv_wr_post(3): an error while building makes complete fail, and nothing is posted. */
TEST(complete__fails_after_too_much, setup_ex, teardown_pair)
{
	unsigned char bytes[4096] = {0};

	begin_write(5, 0, 200);
	qp->wr_id = 6;
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory);
	ibv_wr_set_inline_data(qp, bytes, sizeof(bytes));
	assert_int_not_equal(ibv_wr_complete(qp), 0);
	expect_no_wc(w.near.cq);
	begin_write(7, 0, 200);
	finish(7, IBV_WC_RDMA_WRITE);
	expect_no_wc(w.near.cq);
}

TEST(complete__fails_when_the_queue_is_full, setup_ex, teardown_pair)
{
	ibv_wr_start(qp);
	for (int i = 0; i < 100; i++) {
		qp->wr_id = 1;
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory);
		from_near(0, 8);
	}
	int error = ibv_wr_complete(
		qp); /* the manual names none: mlx5 gives the first, rxe the second */

	assert_true(error == ENOMEM || error == ENOSPC);
	expect_no_wc(w.near.cq);
	begin_write(7, 0, 8);
	finish(7, IBV_WC_RDMA_WRITE);
}

TEST(fence__is_a_flag, setup_ex, teardown_pair)
{
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = 0;
	ibv_wr_rdma_read(qp, w.far.rkey, w.far.memory);
	from_near(0, 4096);
	qp->wr_id = 2;
	qp->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory + 8192);
	from_near(0, 4096);
	finish(2, IBV_WC_RDMA_WRITE);
	assert_memory_equal(w.far_memory + 8192, w.far_memory, 4096);
}

TEST(error__is_told_as_of_a_plain_post, setup_ex, teardown_pair)
{
	begin(5);
	ibv_wr_rdma_write(qp, ~w.far.rkey, w.far.memory);
	from_near(0, 64);
	OK(ibv_wr_complete(qp));
	EXPECT_WC(w.near.cq, 5, IBV_WC_REM_ACCESS_ERR);
	end_expect_error(&w.near);
}

/* A device refuses operations that it does not know. */
TEST(create__refuses_operations_it_has_not, setup_ex, teardown_pair)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = w.near.cq,
		.recv_cq = w.near.cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = w.near.pd,
		.send_ops_flags = 1ULL << 40,
	};

	NONE(EOPNOTSUPP, ibv_create_qp_ex(w.near.context, &attr));
}

static bool device_has(uint64_t capability)
{
	struct ibv_context *context = open_device();
	struct ibv_device_attr_ex attr;

	OK(ibv_query_device_ex(context, NULL, &attr));
	OK(ibv_close_device(context));
	return attr.device_cap_flags_ex & capability;
}

/* enum ib_device_cap_flags of the kernel, which IBV_DEVICE_... of verbs.h repeat late */
#define CAN_FLUSH_GLOBAL     (1ULL << 38)
#define CAN_FLUSH_PERSISTENT (1ULL << 39)
#define CAN_ATOMIC_WRITE     (1ULL << 40)

#ifdef HAVE_ATOMIC_WRITE
OWN_PAIR_TEST(atomic_write__sets_the_word)
{
	uint64_t word = 0x0123456789abcdef;

	SKIP_UNLESS(device_has(CAN_ATOMIC_WRITE), "the device has no atomic write");
	make(ALL_OPS | IBV_QP_EX_WITH_ATOMIC_WRITE, 0);
	begin(5);
	ibv_wr_atomic_write(qp, w.far.rkey, w.far.memory + 64, &word);
	finish(5, IBV_WC_ATOMIC_WRITE);
	assert_true(word_at(w.far_memory + 64) == word);
}

OWN_PAIR_TEST(atomic_write__needs_an_aligned_address)
{
	uint64_t word = 1, before = 0;

	SKIP_UNLESS(device_has(CAN_ATOMIC_WRITE), "the device has no atomic write");
	make(ALL_OPS | IBV_QP_EX_WITH_ATOMIC_WRITE, 0);
	before = word_at(w.far_memory + 4);
	begin(5);
	ibv_wr_atomic_write(qp, w.far.rkey, w.far.memory + 4, &word);
	if (ibv_wr_complete(qp) == 0)
		EXPECT_WC(w.near.cq, 5, IBV_WC_REM_INV_REQ_ERR);
	assert_true(word_at(w.far_memory + 4) == before);
}
#else
TEST(atomic_write__is_in_the_headers)
{
	SKIP_UNLESS(false, "the headers have no atomic write");
}
#endif

#ifdef HAVE_FLUSH
static void flush(uint64_t id, size_t offset, size_t length, uint8_t type)
{
	begin(id);
	ibv_wr_flush(qp, w.far.rkey, w.far.memory + offset, length, type, IBV_FLUSH_RANGE);
	OK(ibv_wr_complete(qp));
}

static void make_flushing(int access)
{
	SKIP_UNLESS(device_has(CAN_FLUSH_GLOBAL), "the device has no flush");
	make(ALL_OPS | IBV_QP_EX_WITH_FLUSH, access);
}

OWN_PAIR_TEST(flush__follows_the_write)
{
	make_flushing(IBV_ACCESS_FLUSH_GLOBAL);
	post(work(IBV_WR_RDMA_WRITE, 0, 8192, 0));
	flush(5, 0, 8192, IBV_FLUSH_GLOBAL);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	assert_int_equal(EXPECT_WC(w.near.cq, 5, IBV_WC_SUCCESS).opcode, IBV_WC_FLUSH);
	assert_memory_equal(w.far_memory, w.near.memory, 8192);
}

OWN_PAIR_TEST(flush__of_no_bytes_is_of_the_region)
{
	make_flushing(IBV_ACCESS_FLUSH_GLOBAL);
	begin(5);
	ibv_wr_flush(qp, w.far.rkey, w.far.memory, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	finish(5, IBV_WC_FLUSH);
}

OWN_PAIR_TEST(flush__needs_access_for_it)
{
	make_flushing(0);
	flush(5, 0, 64, IBV_FLUSH_GLOBAL);
	enum ibv_wc_status status = next_wc(w.near.cq).status;
	assert_true(status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR);
}

OWN_PAIR_TEST(flush__past_the_end_is_refused)
{
	make_flushing(IBV_ACCESS_FLUSH_GLOBAL);
	flush(5, END_MEMORY - 63, 64, IBV_FLUSH_GLOBAL);
	EXPECT_WC(w.near.cq, 5, IBV_WC_REM_ACCESS_ERR);
}

/* Memory that is lost with power cannot be made persistent. */
OWN_PAIR_TEST(persistent_flush__is_not_for_dram)
{
	SKIP_UNLESS(device_has(CAN_FLUSH_PERSISTENT), "the device has no persistent flush");
	PAIR_MAKE();
	NONE(EINVAL, ibv_reg_mr(w.near.pd, w.near.memory, 4096, IBV_ACCESS_FLUSH_PERSISTENT));
}
#else
TEST(flush__is_in_the_headers)
{
	SKIP_UNLESS(false, "the headers have no flush");
}
#endif

/* --- a thread posts plainly while another builds --- */

#define REQUESTS 1000

static _Atomic unsigned completed[2]; /* by wr_id */
static _Atomic int wrong;

static void book(void)
{
	struct ibv_wc wcs[4];
	int count = ibv_poll_cq(w.near.cq, 4, wcs);

	for (int i = 0; i < count; i++) {
		if (wcs[i].status != IBV_WC_SUCCESS || wcs[i].wr_id > 1)
			wrong = (int)wcs[i].status;
		else
			atomic_fetch_add(&completed[wcs[i].wr_id], 1);
	}
}

static int build_one(void)
{
	begin(1);
	ibv_wr_rdma_write(qp, w.far.rkey, w.far.memory + 64);
	sched_yield();
	from_near(64, 64);
	return ibv_wr_complete(qp);
}

static int post_one(void)
{
	struct ibv_sge sge = {(uintptr_t)w.near.memory, 64, w.near.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = w.far.memory, .rkey = w.far.rkey},
	};
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(w.near.qp, &wr, &bad);
}

/* Each time there is room. */
static void *repeat(void *argument)
{
	int (*one)(void) = *(int (**)(void))argument;
	double until = deadline();

	for (unsigned posted = 0; posted < REQUESTS && wrong == 0 && deadline() < until + WAIT_S;) {
		int error = one();

		posted += error == 0;
		/* rxe has another word for a full queue when it is built */
		if (error != 0 && error != ENOMEM && error != ENOSPC)
			wrong = error;
		book();
	}
	return NULL;
}

TEST(plain_posts__go_between_those_of_a_builder, setup_ex, teardown_pair)
{
	int (*plain)(void) = post_one, (*built)(void) = build_one;
	double until = deadline();
	pthread_t thread;

	completed[0] = completed[1] = 0;
	wrong = 0;
	OK(pthread_create(&thread, NULL, repeat, &plain));
	repeat(&built);
	OK(pthread_join(thread, NULL));
	while (completed[0] + completed[1] < 2 * REQUESTS && deadline() < until + WAIT_S)
		book();
	EQUAL((wrong, 0), (completed[0], REQUESTS), (completed[1], REQUESTS));
	assert_memory_equal(w.far_memory, w.near.memory, 128);
}
