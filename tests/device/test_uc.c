/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_uc.c -- unreliable connections: what arrives is as on a reliable one, and of what does not
 * arrive the sender hears nothing.
 */
#include "pair.h"

#include <arpa/inet.h>

static int setup_uc(void **unused)
{
	PAIR_MAKE(o.type = IBV_QPT_UC);
	return 0;
}

/* A completion tells that the write has left; the message behind it, that it is there. */
TEST(write__arrives, setup_uc, teardown_pair)
{
	far_recv(7, 8000, 1);
	done(work(IBV_WR_RDMA_WRITE, 0, 3000, 100));
	done(work(IBV_WR_SEND, 0, 1, 0));
	far_expect(7, IBV_WC_SUCCESS);
	assert_memory_equal(w.far_memory + 100, w.near.memory, 3000);
}

TEST(write_with_immediate__takes_a_receive, setup_uc, teardown_pair)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100, 200);
	struct ibv_wc wc;

	wr->imm_data = htonl(77);
	far_recv(7, 1000, 100);
	done(wr);
	wc = far_expect(7, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM), (wc.imm_data, htonl(77)));
	assert_memory_equal(w.far_memory + 200, w.near.memory, 100);
}

TEST(send__arrives, setup_uc, teardown_pair)
{
	far_recv(7, 1000, 5000);
	done(work(IBV_WR_SEND, 0, 5000, 0));
	assert_int_equal(far_expect(7, IBV_WC_SUCCESS).byte_len, 5000);
	assert_memory_equal(w.far_memory + 1000, w.near.memory, 5000);
}

/* The next message takes the receive that this one would have taken. */
TEST(send__without_a_receive_is_lost, setup_uc, teardown_pair)
{
	done(work(IBV_WR_SEND, 0, 100, 0));
	far_recv(7, 1000, 100);
	done(work(IBV_WR_SEND, 0, 60, 0));
	assert_int_equal(far_expect(7, IBV_WC_SUCCESS).byte_len, 60);
	far_expect_nothing();
}

TEST(send__that_is_too_long_is_lost, setup_uc, teardown_pair)
{
	NOT_ON_RXE("it fails the receive and its queue pair with LOC_QP_OP_ERR");
	far_recv(7, 1000, 100);
	done(work(IBV_WR_SEND, 0, 101, 0));
	done(work(IBV_WR_SEND, 0, 100, 0));
	assert_int_equal(far_expect(7, IBV_WC_SUCCESS).byte_len, 100);
	far_expect_nothing();
}

/* Requests are executed in order: the second has arrived, so the first never will. */
TEST(write__with_a_wrong_key_is_lost, setup_uc, teardown_pair)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 100, 200);
	unsigned char before[100];

	memcpy(before, w.far_memory + 200, sizeof(before));
	wr->wr.rdma.rkey ^= 0x100;
	done(wr);
	far_recv(7, 1000, 100);
	done(work(IBV_WR_SEND, 0, 100, 0));
	far_expect(7, IBV_WC_SUCCESS);
	assert_memory_equal(w.far_memory + 200, before, sizeof(before));
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

TEST(own_mistake__is_told, setup_uc, teardown_pair)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 100, 0);

	wr->sg_list->lkey ^= 0x100;
	post(wr);
	expect_own_mistake(w.near.cq);
	end_expect_error(&w.near);
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

TEST(requests__with_an_answer_are_refused, setup_uc, teardown_pair)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
						     IBV_WR_ATOMIC_FETCH_AND_ADD};

	NOT_ON_RXE("it takes them, and fails them later");
	for (unsigned i = 0; i < ARRAY_LENGTH(opcodes); i++) {
		struct ibv_send_wr *wr = work(opcodes[i], 0, 8, 0), *bad = NULL;

		FAILS(EINVAL, ibv_post_send(w.near.qp, wr, &bad));
	}
}

TEST(far_end__that_is_gone_takes_what_comes, setup_uc, teardown_pair)
{
	write__arrives(NULL);
	far_destroy_qp();
	done(work(IBV_WR_RDMA_WRITE, 0, 100, 0));
	assert_int_equal(end_state(&w.near), IBV_QPS_RTS);
}

/* qp_state_table in drivers/infiniband/core/verbs.c */
TEST(states__take_their_attributes)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .retry_cnt = 7};
	struct end_options options = end_defaults();
	struct end_address peer;
	struct end end = {0};

	options.type = IBV_QPT_UC;
	end_open(&end, &options, -1);
	peer = end_address(&end);
	end_to_rtr(&end, &peer);
	FAILS(EINVAL, ibv_modify_qp(end.qp, &attr, IBV_QP_STATE));
	FAILS(EINVAL,
	      ibv_modify_qp(end.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT));
	OK(ibv_modify_qp(end.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	end_close(&end);
}
