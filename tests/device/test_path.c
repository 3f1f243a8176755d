/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_path.c -- what both ends of a connection have to agree on before they connect: the path MTU
 * and the RoCE version of the GID index. A message of one packet does not show two MTUs.
 */
#include "pair.h"

#define SMALLER 256u

static void pair_of(enum ibv_qp_type type, enum ibv_mtu near_mtu, enum ibv_mtu far_mtu)
{
	struct end_options near = end_defaults(), far = end_defaults();

	near.type = far.type = type;
	near.mtu = near_mtu;
	far.mtu = far_mtu;
	pair_make(&near, &far);
}

/* Either end may have the smaller one. */
static int setup_small_requester(void **unused)
{
	pair_of(IBV_QPT_RC, IBV_MTU_256, IBV_MTU_1024);
	return 0;
}

static int setup_small_responder(void **unused)
{
	pair_of(IBV_QPT_RC, IBV_MTU_1024, IBV_MTU_256);
	return 0;
}

/* Two tests, with the smaller MTU at either end. */
#define MTUS_TEST(name)                                                                            \
	static void name(void **state);                                                            \
	TEST_AGAIN(name, setup_small_responder, teardown_pair)                                     \
	TEST(name, setup_small_requester, teardown_pair)

MTUS_TEST(one_packet__arrives)
{
	struct ibv_send_wr *wr = work(IBV_WR_ATOMIC_FETCH_AND_ADD, 8192, 8, 0);
	struct ibv_wc wc;

	far_recv(7, 4096, SMALLER);
	far_recv(8, 0, 0);
	done(work(IBV_WR_RDMA_WRITE, 0, SMALLER, 128));
	assert_memory_equal(w.far_memory + 128, w.near.memory, SMALLER);
	done(work(IBV_WR_SEND, 0, SMALLER, 0));
	assert_int_equal(far_expect(7, IBV_WC_SUCCESS).byte_len, SMALLER);
	done(work(IBV_WR_RDMA_WRITE_WITH_IMM, 0, SMALLER, 128));
	wc = far_expect(8, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	done(work(IBV_WR_RDMA_READ, 16384, SMALLER, 1024));
	assert_memory_equal(w.near.memory + 16384, w.far_memory + 1024, SMALLER);
	wr->wr.atomic.compare_add = 1;
	done(wr);
}

/* A device remembers the other end by these requests, whatever went before. */
static void after_short_writes(void)
{
	for (int i = 0; i < 3; i++)
		done(work(IBV_WR_RDMA_WRITE, 0, 8, 0));
}

static void expect_refused(struct ibv_send_wr *wr)
{
	static unsigned char before[END_MEMORY];

	memcpy(before, w.far_memory, sizeof(before));
	post(wr);
	EXPECT_WC(w.near.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	end_expect_error(&w.near);
	far_expect_error();
	assert_memory_equal(w.far_memory, before, sizeof(before));
}

MTUS_TEST(longer_write__is_an_invalid_request)
{
	after_short_writes();
	expect_refused(work(IBV_WR_RDMA_WRITE, 0, SMALLER + 1, 128));
	if (!on_rxe()) /* as in test_rc_errors.c */
		far_expect_async(IBV_EVENT_QP_REQ_ERR);
}

MTUS_TEST(long_write__is_an_invalid_request)
{
	expect_refused(work(IBV_WR_RDMA_WRITE, 0, END_MEMORY, 0));
}

/* One of a list: those before it are good, those behind it flushed. */
MTUS_TEST(longer_write__of_a_list_is_an_invalid_request)
{
	struct ibv_send_wr *first = NULL, **next = &first;

	after_short_writes();
	for (uint64_t i = 0; i < 4; i++) {
		const size_t length = i == 2 ? SMALLER + 1 : 64;
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, length, 1024 * i);

		wr->wr_id = i;
		*next = wr;
		next = &wr->next;
	}
	post(first);
	EXPECT_WC(w.near.cq, 0, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 2, IBV_WC_REM_INV_REQ_ERR);
	EXPECT_WC(w.near.cq, 3, IBV_WC_WR_FLUSH_ERR);
}

MTUS_TEST(longer_send__is_an_invalid_request)
{
	NOT_ON_RXE("before Linux 6.4 it looks at the packets of writes alone");
	far_recv(7, 4096, 4096);
	post(work(IBV_WR_SEND, 0, SMALLER + 1, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	far_expect(7, IBV_WC_WR_FLUSH_ERR);
	far_expect_error();
}

/* The answer comes in other packets than those expected. The responder has done nothing wrong. */
MTUS_TEST(longer_read__is_a_bad_response)
{
	NOT_ON_RXE("it takes answers of any size, and loses count of the packets");
	post(work(IBV_WR_RDMA_READ, 0, SMALLER + 1, 0));
	expect_code(EXPECT_WC(w.near.cq, 1, IBV_WC_BAD_RESP_ERR), 23);
	end_expect_error(&w.near);
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

OWN_PAIR_TEST(equal_mtus__take_all_lengths)
{
	static const enum ibv_mtu mtus[] = {IBV_MTU_256, IBV_MTU_1024};

	for (unsigned i = 0; i < ARRAY_LENGTH(mtus); i++) {
		pair_of(IBV_QPT_RC, mtus[i], mtus[i]);
		done(work(IBV_WR_RDMA_WRITE, 0, END_MEMORY, 0));
		assert_memory_equal(w.far_memory, w.near.memory, END_MEMORY);
		done(work(IBV_WR_RDMA_READ, 0, END_MEMORY, 0));
		teardown_pair(NULL);
	}
}

/* A connection without acknowledgements: neither end hears of it, and the next message is good. */
OWN_PAIR_TEST(unreliable__loses_what_is_longer)
{
	unsigned char before[SMALLER + 1];

	pair_of(IBV_QPT_UC, IBV_MTU_256, IBV_MTU_1024);
	memcpy(before, w.far_memory + 1024, sizeof(before));
	done(work(IBV_WR_RDMA_WRITE, 0, SMALLER + 1, 1024));
	far_recv(7, 8192, SMALLER);
	done(work(IBV_WR_SEND, 0, SMALLER, 0));
	far_expect(7, IBV_WC_SUCCESS);
	assert_memory_equal(w.far_memory + 1024, before, sizeof(before));
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

/* --- the GID index --- */

static void pair_of_versions(enum ibv_gid_type near_type, enum ibv_gid_type far_type)
{
	struct end_options near = end_defaults(), far = end_defaults();

	near.timeout = 8;
	near.retry_cnt = 2;
	near.gid_type = near_type;
	far.gid_type = far_type;
	pair_make(&near, &far);
}

OWN_PAIR_TEST(roce_v1__at_both_ends_works)
{
	NOT_ON_RXE("its GIDs are of RoCE v2");
	pair_of_versions(IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V1);
	done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
}

/* The packets of one have an Ethernet type of their own, those of the other are UDP. */
OWN_PAIR_TEST(roce_v1__is_not_heard_by_v2)
{
	NOT_ON_RXE("its GIDs are of RoCE v2");
	pair_of_versions(IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2);
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	expect_code(EXPECT_WC(w.near.cq, 1, IBV_WC_RETRY_EXC_ERR), 28);
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

OWN_PAIR_TEST(roce_v2__is_not_heard_by_v1)
{
	NOT_ON_RXE("its GIDs are of RoCE v2");
	pair_of_versions(IBV_GID_TYPE_ROCE_V2, IBV_GID_TYPE_ROCE_V1);
	post(work(IBV_WR_SEND, 0, 64, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(far_state(), IBV_QPS_RTS);
}
