/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rc_data.c -- what requests on a reliable connection do to memory and to
 * completion queues when all goes well.
 */
#include "pair.h"

#include <arpa/inet.h>

#define MAX_MESSAGE (8 * 1024 * 1024)

PAIR_TEST(write__changes_just_its_bytes)
{
	unsigned char expected[300];

	memcpy(expected, w.far_memory, sizeof(expected));
	memcpy(expected + 100, w.near.memory + 7, 50);
	post(work(IBV_WR_RDMA_WRITE, 7, 50, 100));
	struct ibv_wc wc = EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RDMA_WRITE), (wc.qp_num, w.near.qp->qp_num));
	assert_memory_equal(w.far_memory, expected, sizeof(expected));
	far_expect_nothing();
}

PAIR_TEST(read__changes_just_its_bytes)
{
	unsigned char expected[300];

	memcpy(expected, w.near.memory, sizeof(expected));
	memcpy(expected + 100, w.far_memory + 7, 50);
	post(work(IBV_WR_RDMA_READ, 100, 50, 7));
	struct ibv_wc wc = EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RDMA_READ), (wc.byte_len, 50));
	assert_memory_equal(w.near.memory, expected, sizeof(expected));
	far_expect_nothing();
}

PAIR_TEST(send__arrives_in_the_receive)
{
	far_recv(77, 1000, 200);
	post(work(IBV_WR_SEND, 5, 60, 0));
	struct ibv_wc wc = EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
	wc = far_expect(77, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV), (wc.byte_len, 60), (wc.wc_flags & IBV_WC_WITH_IMM, 0),
	      (wc.qp_num, w.far.qp_num));
	assert_memory_equal(w.far_memory + 1000, w.near.memory + 5, 60);
}

PAIR_TEST(send__takes_receives_in_order)
{
	for (unsigned i = 0; i < 4; i++)
		far_recv(i, 1000 * i, 100);
	for (unsigned i = 0; i < 4; i++)
		done(work(IBV_WR_SEND, 200 * i, 100, 0));
	for (unsigned i = 0; i < 4; i++) {
		far_expect(i, IBV_WC_SUCCESS);
		assert_memory_equal(w.far_memory + 1000 * i, w.near.memory + 200 * i, 100);
	}
}

PAIR_TEST(send__goes_both_ways)
{
	recv_near(5, 0, 100);
	far_recv(6, 0, 100);
	far_send(7, 500, 30);
	post(work(IBV_WR_SEND, 600, 40, 0));
	struct ibv_wc near[2] = {next_wc(w.near.cq), next_wc(w.near.cq)};
	struct ibv_wc far[2] = {far_wc(), far_wc()};
	unsigned recv_near_at = near[0].wr_id == 5 ? 0 : 1, recv_far_at = far[0].wr_id == 6 ? 0 : 1;

	EQUAL((near[recv_near_at].byte_len, 30), (far[recv_far_at].byte_len, 40));
	assert_memory_equal(w.near.memory, w.far_memory + 500, 30);
	assert_memory_equal(w.far_memory, w.near.memory + 600, 40);
}

PAIR_TEST(send_with_imm__tells_it)
{
	struct ibv_send_wr *wr = work(IBV_WR_SEND_WITH_IMM, 0, 10, 0);

	wr->imm_data = htonl(0x01020304);
	far_recv(3, 0, 10);
	post(wr);
	assert_int_equal(EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	struct ibv_wc wc = far_expect(3, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV), (wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM),
	      (ntohl(wc.imm_data), 0x01020304), (wc.byte_len, 10));
}

PAIR_TEST(write_with_imm__takes_a_receive_and_leaves_its_buffer)
{
	unsigned char buffer[64];
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100, 5000);

	wr->imm_data = htonl(0xfffefdfc);
	memcpy(buffer, w.far_memory, sizeof(buffer));
	far_recv(9, 0, 64);
	post(wr);
	assert_int_equal(EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_WRITE);
	struct ibv_wc wc = far_expect(9, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM),
	      (wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM), (ntohl(wc.imm_data), 0xfffefdfc),
	      (wc.byte_len, 100));
	assert_memory_equal(w.far_memory + 5000, w.near.memory, 100);
	assert_memory_equal(w.far_memory, buffer, sizeof(buffer));
}

PAIR_TEST(write_with_imm__of_nothing_tells_the_imm)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0);

	wr->num_sge = 0;
	wr->imm_data = htonl(5);
	far_recv(9, 0, 64);
	done(wr);
	struct ibv_wc wc = far_expect(9, IBV_WC_SUCCESS);
	EQUAL((wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM), (wc.byte_len, 0), (ntohl(wc.imm_data), 5));
}

/* Sizes around cache lines, packets and pages. */
static const size_t sizes[] = {1, 2, 7, 8, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097, 60000};

PAIR_TEST(write__of_each_size_arrives)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		unsigned char guard = w.far_memory[sizes[i] + 3];

		fill(w.near.memory, sizes[i] + 10, (unsigned)i + 20);
		done(work(IBV_WR_RDMA_WRITE, 1, sizes[i], 3));
		assert_memory_equal(w.far_memory + 3, w.near.memory + 1, sizes[i]);
		assert_int_equal(w.far_memory[sizes[i] + 3], guard);
	}
}

PAIR_TEST(read__of_each_size_arrives)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		unsigned char guard = w.near.memory[sizes[i] + 3];

		fill(w.far_memory, sizes[i] + 10, (unsigned)i + 20);
		done(work(IBV_WR_RDMA_READ, 3, sizes[i], 1));
		assert_memory_equal(w.near.memory + 3, w.far_memory + 1, sizes[i]);
		assert_int_equal(w.near.memory[sizes[i] + 3], guard);
	}
}

PAIR_TEST(send__of_each_size_arrives)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		fill(w.near.memory, sizes[i] + 10, (unsigned)i + 20);
		far_recv(i, 3, sizes[i]);
		done(work(IBV_WR_SEND, 1, sizes[i], 0));
		assert_int_equal(far_expect(i, IBV_WC_SUCCESS).byte_len, sizes[i]);
		assert_memory_equal(w.far_memory + 3, w.near.memory + 1, sizes[i]);
	}
}

OWN_PAIR_TEST(large__messages_arrive)
{
	static const size_t large[] = {1024 * 1024, MAX_MESSAGE - 1, MAX_MESSAGE};
	PAIR_MAKE(o.memory_size = MAX_MESSAGE + 4096);
	for (size_t i = 0; i < ARRAY_LENGTH(large); i++) {
		fill(w.near.memory, large[i], (unsigned)i + 20);
		done(work(IBV_WR_RDMA_WRITE, 0, large[i], 100));
		assert_memory_equal(w.far_memory + 100, w.near.memory, large[i]);
		done(work(IBV_WR_RDMA_READ, 200, large[i], 0));
		assert_memory_equal(w.near.memory + 200, w.far_memory, large[i]);
		far_recv(3, 0, large[i]);
		done(work(IBV_WR_SEND, 10, large[i], 0));
		far_expect(3, IBV_WC_SUCCESS);
		assert_memory_equal(w.far_memory, w.near.memory + 10, large[i]);
	}
}

/* Under way together, with small ones and another operation between them, at odd offsets. */
OWN_PAIR_TEST(large__writes_follow_each_other)
{
	static const size_t bytes[] = {65536, 65536, 13, 32767, 300001, 8, 32768, 131072 + 63};
	size_t at = 5;

	PAIR_MAKE(o.memory_size = 1024 * 1024);
	for (size_t i = 0; i < ARRAY_LENGTH(bytes); i++) {
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, at, bytes[i], at + 1);

		wr->send_flags = 0;
		post(wr);
		at += bytes[i];
	}
	done(work(IBV_WR_RDMA_READ, 700000, 200, 900000));
	assert_memory_equal(w.far_memory + 6, w.near.memory + 5, at - 5);
	assert_memory_equal(w.near.memory + 700000, w.far_memory + 900000, 200);
}

/* Requests of no bytes succeed and touch nothing, whatever the address. */
PAIR_TEST(zero_length__succeeds)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};

	for (size_t i = 0; i < ARRAY_LENGTH(opcodes); i++) {
		done(work(opcodes[i], 0, 0, 0));
		struct ibv_send_wr *wr = work(opcodes[i], 0, 0, 0);
		wr->num_sge = 0;
		wr->wr.rdma.remote_addr = 0;
		wr->wr.rdma.rkey = 0;
		done(wr);
	}
	far_recv(4, 0, 10);
	struct ibv_send_wr *wr = work(IBV_WR_SEND, 0, 0, 0);
	wr->num_sge = 0;
	done(wr);
	assert_int_equal(far_expect(4, IBV_WC_SUCCESS).byte_len, 0);
}

/* Cut memory in three, out of order, with an empty piece. */
static uint32_t scatter(struct ibv_sge *sge, const unsigned char *memory, uint32_t lkey)
{
	sge[0] = (struct ibv_sge){(uintptr_t)(memory + 3000), 1000, lkey};
	sge[1] = (struct ibv_sge){(uintptr_t)(memory + 10), 1, lkey};
	sge[2] = (struct ibv_sge){(uintptr_t)(memory + 5001), 3333, lkey};
	return 1000 + 1 + 3333;
}

static void assert_scattered(const unsigned char *memory, const unsigned char *whole)
{
	assert_memory_equal(whole, memory + 3000, 1000);
	assert_memory_equal(whole + 1000, memory + 10, 1);
	assert_memory_equal(whole + 1001, memory + 5001, 3333);
}

PAIR_TEST(write__gathers)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 0, 20000);

	scatter(wr->sg_list, w.near.memory, w.near.mr->lkey);
	wr->num_sge = 3;
	done(wr);
	assert_scattered(w.near.memory, w.far_memory + 20000);
}

PAIR_TEST(read__scatters)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_READ, 0, 0, 20000);

	scatter(wr->sg_list, w.near.memory, w.near.mr->lkey);
	wr->num_sge = 3;
	done(wr);
	assert_scattered(w.near.memory, w.far_memory + 20000);
}

PAIR_TEST(recv__scatters_what_send_gathers)
{
	struct ibv_sge sge[3];
	struct ibv_recv_wr wr = {.wr_id = 2, .sg_list = sge, .num_sge = 3}, *bad = NULL;
	uint32_t size = scatter(sge, w.near.memory, w.near.mr->lkey);

	OK(ibv_post_recv(w.near.qp, &wr, &bad));
	far_send(8, 30000, size);
	far_expect(8, IBV_WC_SUCCESS);
	assert_int_equal(EXPECT_WC(w.near.cq, 2, IBV_WC_SUCCESS).byte_len, size);
	assert_scattered(w.near.memory, w.far_memory + 30000);
}

/* Short messages fill the first pieces only. */
PAIR_TEST(recv__leaves_what_the_message_does_not_reach)
{
	struct ibv_sge sge[3];
	struct ibv_recv_wr wr = {.wr_id = 2, .sg_list = sge, .num_sge = 3}, *bad = NULL;
	unsigned char untouched = w.near.memory[5001];

	scatter(sge, w.near.memory, w.near.mr->lkey);
	OK(ibv_post_recv(w.near.qp, &wr, &bad));
	far_send(8, 30000, 1001);
	assert_int_equal(EXPECT_WC(w.near.cq, 2, IBV_WC_SUCCESS).byte_len, 1001);
	assert_memory_equal(w.near.memory + 3000, w.far_memory + 30000, 1000);
	assert_int_equal(w.near.memory[5001], untouched);
}

OWN_PAIR_TEST(inline__data_may_change_after_the_post)
{
	unsigned char copy[32];

	PAIR_MAKE(o.cap.max_inline_data = 32);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 32, 64);
	wr->send_flags |= IBV_SEND_INLINE;
	memcpy(copy, w.near.memory, sizeof(copy));
	post(wr);
	memset(w.near.memory, 0xee, 32);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(w.far_memory + 64, copy, sizeof(copy));
}

OWN_PAIR_TEST(inline__needs_no_registered_memory)
{
	unsigned char bytes[24];

	PAIR_MAKE(o.cap.max_inline_data = 32);
	fill(bytes, sizeof(bytes), 9);
	far_recv(2, 0, 100);
	struct ibv_send_wr *wr = work(IBV_WR_SEND, 0, 24, 0);
	wr->sg_list->addr = (uintptr_t)bytes;
	wr->sg_list->lkey = 0xdeadbeef;
	wr->send_flags |= IBV_SEND_INLINE;
	done(wr);
	far_expect(2, IBV_WC_SUCCESS);
	assert_memory_equal(w.far_memory, bytes, sizeof(bytes));
}

PAIR_TEST(list__is_done_in_order)
{
	struct ibv_send_wr *first = work(IBV_WR_RDMA_WRITE, 0, 100, 0);

	first->next = work(IBV_WR_RDMA_WRITE, 100, 100, 100);
	first->next->wr_id = 2;
	first->next->next = work(IBV_WR_RDMA_READ, 5000, 200, 0);
	first->next->next->wr_id = 3;
	post(first);
	for (uint64_t id = 1; id <= 3; id++)
		EXPECT_WC(w.near.cq, id, IBV_WC_SUCCESS);
	assert_memory_equal(w.near.memory + 5000, w.near.memory, 200);
}

PAIR_TEST(read__sees_the_writes_before_it)
{
	for (unsigned i = 0; i < 100; i++) {
		struct ibv_send_wr *write = work(IBV_WR_RDMA_WRITE, 0, 8192, 0);

		fill(w.near.memory, 8192, i);
		write->send_flags = 0;
		write->next = work(IBV_WR_RDMA_READ, 10000, 8192, 0);
		done(write);
		assert_memory_equal(w.near.memory, w.near.memory + 10000, 8192);
	}
}

PAIR_TEST(fenced_write__follows_the_read)
{
	for (unsigned i = 0; i < 100; i++) {
		struct ibv_send_wr *read = work(IBV_WR_RDMA_READ, 0, 4096, 0);

		fill(w.far_memory, 4096, i);
		read->send_flags = 0;
		read->next = work(IBV_WR_RDMA_WRITE, 0, 4096, 8192);
		read->next->send_flags |= IBV_SEND_FENCE;
		post(read);
		EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
		assert_memory_equal(w.far_memory + 8192, w.far_memory, 4096);
	}
}

PAIR_TEST(unsignaled__requests_complete_in_silence)
{
	for (uint64_t id = 1; id <= 4; id++) {
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 64 * id);

		wr->wr_id = id;
		wr->send_flags = id == 4 ? IBV_SEND_SIGNALED : 0;
		post(wr);
	}
	EXPECT_WC(w.near.cq, 4, IBV_WC_SUCCESS);
	expect_no_wc(w.near.cq);
	for (unsigned i = 1; i <= 4; i++)
		assert_memory_equal(w.far_memory + 64L * i, w.near.memory, 64);
}

OWN_PAIR_TEST(sq_sig_all__signals_each)
{
	PAIR_MAKE(o.sq_sig_all = 1);
	for (uint64_t id = 1; id <= 3; id++) {
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

		wr->wr_id = id;
		wr->send_flags = 0;
		post(wr);
	}
	for (uint64_t id = 1; id <= 3; id++)
		EXPECT_WC(w.near.cq, id, IBV_WC_SUCCESS);
}

/* The queue is full of them, more than may be under way: the others wait their turn. */
PAIR_TEST(reads__of_a_full_queue_come_back_in_order)
{
	for (unsigned round = 0; round < 5; round++) {
		fill(w.far_memory, END_MEMORY, round + 10);
		for (uint64_t id = 0; id < 16; id++) {
			struct ibv_send_wr *wr = work(IBV_WR_RDMA_READ, 2048 * id, 2000, 3000 * id);

			wr->wr_id = id;
			post(wr);
		}
		for (uint64_t id = 0; id < 16; id++) {
			EXPECT_WC(w.near.cq, id, IBV_WC_SUCCESS);
			assert_memory_equal(w.near.memory + 2048 * id, w.far_memory + 3000 * id,
					    2000);
		}
	}
}

/* Many times through the rings, each message whole and in order. */
PAIR_TEST(messages__keep_their_order_for_long)
{
	for (unsigned i = 0; i < 200; i++) {
		unsigned length = 1 + i * 37 % 3000;

		memset(w.near.memory, (int)(i & 0xff), length);
		far_recv(i, 0, 4096);
		done(work(IBV_WR_SEND, 0, length, 0));
		struct ibv_wc wc = far_expect(i, IBV_WC_SUCCESS);
		EQUAL((wc.byte_len, length), (w.far_memory[0], i & 0xff),
		      (w.far_memory[length - 1], i & 0xff));
	}
}

static uint64_t far_word(size_t offset)
{
	uint64_t word;

	memcpy(&word, w.far_memory + offset, sizeof(word));
	return word;
}

static uint64_t near_word(size_t offset)
{
	uint64_t word;

	memcpy(&word, w.near.memory + offset, sizeof(word));
	return word;
}

static void compare_and_swap(uint64_t compare, uint64_t swap)
{
	struct ibv_send_wr *wr = work(IBV_WR_ATOMIC_CMP_AND_SWP, 8, 8, 64);

	wr->wr.atomic.compare_add = compare;
	wr->wr.atomic.swap = swap;
	post(wr);
	assert_int_equal(EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_COMP_SWAP);
}

PAIR_TEST(compare_and_swap__swaps_what_is_equal)
{
	uint64_t before = far_word(64);

	compare_and_swap(before, 0x1122334455667788);
	assert_true(near_word(8) == before);
	assert_true(far_word(64) == 0x1122334455667788);
}

PAIR_TEST(compare_and_swap__leaves_what_differs)
{
	uint64_t before = far_word(64);

	compare_and_swap(before + 1, 5);
	assert_true(near_word(8) == before);
	assert_true(far_word(64) == before);
}

PAIR_TEST(fetch_and_add__adds_and_wraps)
{
	uint64_t before = far_word(64);

	for (unsigned i = 0; i < 3; i++) {
		struct ibv_send_wr *wr = work(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8, 64);

		wr->wr.atomic.compare_add = i == 2 ? ~0ULL : 1ULL << 62;
		post(wr);
		struct ibv_wc wc = EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, IBV_WC_FETCH_ADD);
		assert_true(near_word(8) == before);
		before += i == 2 ? ~0ULL : 1ULL << 62;
		assert_true(far_word(64) == before);
	}
}
