/* SPDX-License-Identifier: BSD-3-Clause */
/* test_append.c -- several operations by one call, lists with native ones, and several ranges. */
#include "pipeline.h"

#include <arpa/inet.h>

/* --- several operations by one call ----------------------------------------------------------- */

TEST(write_flush__is_a_write_and_a_read, setup_log, teardown)
{
	expect(0, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 100, RPMA_FLUSH_TYPE_PERSISTENT,
				   ALWAYS, (void *)9));
	EQUAL((provider.sends[0].opcode, IBV_WR_RDMA_WRITE),
	      (provider.sends[0].wr.rdma.remote_addr, (uintptr_t)region + 64),
	      (provider.sends[1].opcode, IBV_WR_RDMA_READ),
	      (provider.sends[1].wr.rdma.remote_addr, (uintptr_t)region + 64));
	assert_got(1, "9 9! ");
}

TEST(append__is_four_in_order, setup_log, teardown)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						     IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
	static const uint64_t offsets[] = {512, 512, 8, 8};

	expect(0, append(512, 100, 8, "12345678", ALWAYS, (void *)9));
	assert_int_equal(provider.sends_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		EQUAL((provider.sends[i].opcode, opcodes[i]),
		      (provider.sends[i].wr.rdma.remote_addr, (uintptr_t)region + offsets[i]));
	}
	/* the end waits for the flush of the record */
	assert_true(provider.sends[2].send_flags & IBV_SEND_FENCE);
	assert_memory_equal(provider.sends_data[2], "12345678", 8);
	assert_got(1, "9 9 9 9! ");
}

TEST(parts__may_wait_too, setup_log, teardown)
{
	expect(0, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 100, RPMA_FLUSH_TYPE_VISIBILITY,
				   MORE, (void *)1));
	expect(0, append(512, 16, 8, "12345678", MORE | RPMA_F_INLINE, (void *)2));
	assert_got(0, "");
	expect(0, rpma_submit(w.conn));
	assert_got(1, "1 2 2 2 2 ");
}

TEST(parts__are_posted_whole_or_not_at_all, setup_nothing, teardown)
{
	connect_for_log(4, 1, 8);
	post(1, ON_ERROR);
	expect(RPMA_E_AGAIN, append(512, 16, 8, "12345678", ALWAYS, NULL));
	post(2, ON_ERROR);
	post(3, ON_ERROR);
	expect(RPMA_E_AGAIN, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 8,
					      RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	assert_got(3, "1! 2! 3! ");
}

TEST(write_flush__refuses_bad_arguments, setup_log, teardown)
{
	const enum rpma_flush_type type = RPMA_FLUSH_TYPE_VISIBILITY;

	expect(RPMA_E_INVAL, rpma_write_flush(NULL, w.remote, 0, w.mr, 0, 8, type, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, NULL, 0, w.mr, 0, 8, type, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 0, NULL, 0, 8, type, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 0, w.mr, 0, 8, type, 0, NULL));
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 0, w.mr, 0, 8,
					      (enum rpma_flush_type)2, ALWAYS, NULL));
	expect(RPMA_E_INVAL,
	       rpma_write_flush(w.conn, w.remote, REGION_SIZE, w.mr, 0, 1, type, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 0, w.mr, 0, 33, type,
					      ALWAYS | RPMA_F_INLINE, NULL));
	assert_got(0, "");
}

TEST(append__refuses_bad_arguments, setup_log, teardown)
{
	static const char end[8];

	const struct rpma_record good = {w.remote, 64, w.mr, 0, 8, 0, end};
	struct rpma_record no_dst = good, no_src = good, no_end = good;

	no_dst.dst = NULL;
	no_src.src = NULL;
	no_end.end = NULL;
	expect(RPMA_E_INVAL, rpma_append(NULL, &good, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_append(w.conn, NULL, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_append(w.conn, &no_dst, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_append(w.conn, &no_src, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_append(w.conn, &no_end, ALWAYS, NULL));
	expect(RPMA_E_INVAL, append(64, 8, 0, end, 0, NULL));
	expect(RPMA_E_INVAL, append(64, 8, 4, end, ALWAYS, NULL));
	expect(RPMA_E_INVAL, append(64, 8, REGION_SIZE, end, ALWAYS, NULL));
	expect(RPMA_E_INVAL, append(REGION_SIZE, 8, 0, end, ALWAYS, NULL));
	assert_got(0, "");
}

/* A record over the end of its log, in whole, in part or beside it. */
TEST(append__refuses_an_end_inside_the_record, setup_log, teardown)
{
	static const struct {
		size_t end_offset;
		int ret;
	} cases[] = {{48, 0}, {56, RPMA_E_INVAL}, {64, RPMA_E_INVAL}, {72, RPMA_E_INVAL}, {80, 0}};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		expect(cases[i].ret, append(63, 17, cases[i].end_offset, "12345678", ALWAYS, NULL));
}

/* The region starts at an odd address, so its multiples of 8 are none. */
TEST(parts__refuse_an_end_that_may_be_torn, setup_log, teardown)
{
	unsigned char desc[21];

	write_descriptor(desc, 0x10004, 4096, 1,
			 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
				 RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
	expect(0, rpma_mr_remote_delete(&w.remote));
	expect(0, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote));
	expect(RPMA_E_INVAL, append(64, 8, 0, "12345678", ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_write(w.conn, w.remote, 56, "12345678", ALWAYS, NULL));
	expect(0, rpma_atomic_write(w.conn, w.remote, 48, "12345678", ALWAYS, NULL));
}

/* The peer has not declared direct write. */
TEST(parts__need_what_a_flush_needs, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	expect(RPMA_E_NOSUPP, rpma_write_flush(w.conn, w.remote, 0, w.mr, 0, 8,
					       RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, NULL));
	expect(RPMA_E_NOSUPP, append(64, 8, 0, "12345678", ALWAYS, NULL));
	assert_got(0, "");
}

TEST(parts__take_back_what_was_not_posted, setup_log, teardown)
{
	post(1, MORE);
	provider.send_fails_at = 3; /* behind the write of the call */
	expect(RPMA_E_PROVIDER, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 100,
						 RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, (void *)2));
	assert_got(1, "1 2 ");
	post(3, MORE);
	provider.send_fails_at = 1;
	expect(RPMA_E_PROVIDER, append(512, 8, 8, "12345678", ALWAYS, (void *)4));
	assert_got(1, "");
	provider.send_fails_at = 0;
	expect(0, rpma_submit(w.conn));
	assert_got(1, "3 ");
}

/* Each operation was to leave a completion, and none was posted. */
TEST(parts__may_all_be_taken_back, setup_nothing, teardown)
{
	connect_for_log(4, 1, 8);
	provider.send_fails_at = 1;
	expect(RPMA_E_PROVIDER, append(512, 8, 8, "12345678", ALWAYS, NULL));
	provider.send_fails_at = 0;
	assert_got(1, "");
	expect(0, append(512, 8, 8, "12345678", ALWAYS, (void *)1));
	assert_got(1, "1! 1! 1! 1! ");
}

/* RPMA_E_AGAIN passes when completions are fetched, whatever was started before. */
TEST(parts__find_room_once_completions_are_fetched, setup_nothing, teardown)
{
	for (uint32_t size = 4; size <= 8; size++) {
		for (uint32_t before = 1; before <= size; before++) {
			connect_for_log(size, size, 8);
			for (uint32_t i = 1; i <= before; i++)
				post(i, ON_ERROR);
			for (uint32_t i = 0; i < before; i++) {
				if (provider.sends[i].send_flags & IBV_SEND_SIGNALED)
					provider_queue_wc(provider.cqs[0], &(struct ibv_wc){0});
			}
			assert_fetched("");
			expect(0, append(512, 8, 8, "12345678", ALWAYS, NULL));
			teardown(NULL);
		}
	}
	setup_nothing(NULL);
}

/* However small the batch, and however full. */
TEST(parts__have_one_doorbell, setup_nothing, teardown)
{
	connect_with(16, 0, 2);
	expect(0, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 8, RPMA_FLUSH_TYPE_VISIBILITY,
				   ALWAYS, (void *)1));
	assert_got(1, "1 1! ");
	post(2, MORE);
	expect(0, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 8, RPMA_FLUSH_TYPE_VISIBILITY,
				   MORE, (void *)3));
	assert_got(1, "2 3 3 ");
	for (uint64_t i = 0; i < 2; i++)
		post(i, MORE);
	assert_got(1, "0 1 ");
	/* a slot was posted, and the next one taken back */
	allow_persistence();
	post(1, MORE);
	provider.send_fails_at = 2;
	expect_named(RPMA_E_PROVIDER, "rpma_write", write_8(2, ON_ERROR));
	provider.send_fails_at = 0;
	assert_got(1, "1 ");
	expect(0, append(512, 8, 8, "12345678", ALWAYS, (void *)4));
	assert_got(1, "4 4 4 4! ");
}

TEST(parts__need_a_queue_that_holds_them, setup_nothing, teardown)
{
	static const uint32_t everies[] = {0, 1};

	for (size_t i = 0; i < ARRAY_LENGTH(everies); i++) {
		connect_with(1, everies[i], 8);
		expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 8,
						      RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
		assert_got(0, "");
		teardown(NULL);
	}
	setup_nothing(NULL);
}

/* --- native operations --------------------------------------------------------------------- */

#if RPMA_NATIVE

static int flush_8(uint64_t number, int flags)
{
	return rpma_flush(w.conn, w.remote, 8 * number, 8, RPMA_FLUSH_TYPE_VISIBILITY, flags,
			  (void *)(uintptr_t)number);
}

static int append_9(int flags)
{
	return append(512, 100, 8, "12345678", flags, (void *)9);
}

TEST(native_list__has_one_doorbell, setup_nothing, teardown)
{
	connect_natively(0, 0);
	post(1, MORE);
	expect_named(0, "rpma_flush", flush_8(2, MORE));
	expect(0, rpma_atomic_write(w.conn, w.remote, 8, "12345678", MORE, (void *)3));
	assert_got(0, "");
	expect_named(0, "rpma_flush", flush_8(4, ALWAYS));
	EQUAL((provider.sends[0].opcode, IBV_WR_RDMA_WRITE),
	      (provider.sends[1].opcode, PROVIDER_WR_FLUSH),
	      (provider.sends[2].opcode, PROVIDER_WR_ATOMIC_WRITE),
	      (provider.sends[2].send_flags, IBV_SEND_FENCE),
	      (provider.sends[3].wr.rdma.remote_addr, (uintptr_t)region + 32));
	assert_memory_equal(provider.native.atomic_data, "12345678", 8);
	EQUAL((provider.native.flush_len, 8), (provider.native.flush_type, 1),
	      (provider.native.flush_level, 0));
	assert_got(1, "1 2 3 4! ");
	post(5, ON_ERROR); /* and back to single posts */
	expect_named(0, "rpma_flush", flush_8(6, ALWAYS));
	assert_got(2, "5 6! ");
}

TEST(native_append__has_one_doorbell, setup_nothing, teardown)
{
	static const int opcodes[] = {IBV_WR_RDMA_WRITE, PROVIDER_WR_FLUSH,
				      PROVIDER_WR_ATOMIC_WRITE, PROVIDER_WR_FLUSH};

	connect_natively(0, 0);
	expect_named(0, "rpma_append", append_9(ALWAYS));
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(provider.sends[i].opcode, opcodes[i]);
	assert_int_equal(provider.native.flush_type, 2);
	assert_got(1, "9 9 9 9! ");
}

/* Each operation that may stand beside a native one. */
TEST(native_list__takes_all_operations, setup_nothing, teardown)
{
	static const char inline_bytes[] = "inline!";

	connect_natively(0, 0);
	strcpy(region, inline_bytes);
	expect(0, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, MORE | RPMA_F_INLINE, (void *)1));
	memset(region, 0, 8);
	expect(0, rpma_write_with_imm(w.conn, w.remote, 8, w.mr, 0, 16, MORE, 77, (void *)2));
	expect(0, rpma_read(w.conn, w.mr, 0, w.remote, 16, 24, MORE, (void *)3));
	expect(0, rpma_send(w.conn, w.mr, 0, 32, MORE | RPMA_F_SOLICITED, (void *)4));
	expect(0, rpma_send_with_imm(w.conn, NULL, 0, 0, MORE, 78, (void *)5));
	expect_named(0, "rpma_flush", flush_8(6, ALWAYS));
	assert_memory_equal(provider.sends_data[0], inline_bytes, 8);
	EQUAL((provider.sends[0].send_flags, IBV_SEND_INLINE),
	      (provider.sends[1].opcode, IBV_WR_RDMA_WRITE_WITH_IMM),
	      (ntohl(provider.sends[1].imm_data), 77), (provider.sends_bytes[1], 16),
	      (provider.sends[2].opcode, IBV_WR_RDMA_READ),
	      (provider.sends[2].wr.rdma.remote_addr, (uintptr_t)region + 16),
	      (provider.sends[3].opcode, IBV_WR_SEND),
	      (provider.sends[3].send_flags, IBV_SEND_SOLICITED),
	      (provider.sends[4].opcode, IBV_WR_SEND_WITH_IMM),
	      (ntohl(provider.sends[4].imm_data), 78));
	assert_got(1, "1 2 3 4 5 6! ");
}

/* librxe takes all SGEs of a list for as long as the first one. */
TEST(native_list__posts_pieces_apart, setup_nothing, teardown)
{
	connect_natively(0, 0);
	const struct rpma_range pieces[] = {{w.mr, 0, 4}, {w.mr, 100, 5}};
	strcpy(region + 100, "abcde");
	expect(0, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, MORE, (void *)1));
	expect(0, rpma_writev(w.conn, w.remote, 8, pieces, 2, MORE, (void *)2));
	expect(0, rpma_writev(w.conn, w.remote, 17, pieces, 2, MORE | RPMA_F_INLINE, (void *)3));
	expect_named(0, "rpma_flush", flush_8(4, ALWAYS));
	assert_int_equal(provider.sends_bytes[1], 9);
	assert_int_equal(provider.sends_bytes[2], 9);
	assert_memory_equal(provider.sends_data[2] + 4, "abcde", 5);
	assert_got(4, "1 2 3 4! ");
}

TEST(native_list__keeps_what_was_not_posted, setup_nothing, teardown)
{
	connect_natively(0, 0);
	const struct rpma_range pieces[] = {{w.mr, 0, 4}, {w.mr, 100, 5}};
	expect_named(0, "rpma_flush", flush_8(1, MORE));
	expect(0, rpma_writev(w.conn, w.remote, 8, pieces, 2, MORE, (void *)2));
	calls_fail_on("ibv_post_send", EIO);
	expect(RPMA_E_PROVIDER, rpma_submit(w.conn));
	assert_got(2, "1 ");
	provider.native.completed = 0;
	expect(0, rpma_submit(w.conn)); /* without a native one: by ibv_post_send() */
	assert_int_equal(provider.native.completed, 0);
	assert_got(1, "2 ");
}

TEST(native_list__takes_atomics, setup_nothing, teardown)
{
	struct rpma_mr_remote *numbers = NULL;
	unsigned char desc[DESCRIPTOR_SIZE + 1] = {[DESCRIPTOR_SIZE] = 2 /* for atomics */};
	const struct ibv_send_wr *swap = &provider.sends[1], *add = &provider.sends[2];

	connect_natively(0, 0);
	write_descriptor(desc, (uintptr_t)region, 64, 5, 0);
	expect(0, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &numbers));
	expect_named(0, "rpma_flush", flush_8(1, MORE));
	expect(0, rpma_atomic_compare_swap(w.conn, numbers, 16, w.mr, 8, 3, 4, MORE, (void *)2));
	expect(0, rpma_atomic_fetch_add(w.conn, numbers, 24, w.mr, 8, 7, ALWAYS, (void *)3));
	EQUAL((swap->opcode, IBV_WR_ATOMIC_CMP_AND_SWP),
	      (swap->wr.atomic.remote_addr, (uintptr_t)region + 16), (swap->wr.atomic.rkey, 5),
	      (swap->wr.atomic.compare_add, 3), (swap->wr.atomic.swap, 4),
	      (provider.sends_bytes[1], 8), (add->opcode, IBV_WR_ATOMIC_FETCH_AND_ADD),
	      (add->wr.atomic.remote_addr, (uintptr_t)region + 24),
	      (add->wr.atomic.compare_add, 7));
	assert_got(1, "1 2 3! ");
	expect(0, rpma_mr_remote_delete(&numbers));
}

/* The provider knows native operations, and not the others by ibv_wr_*. */
TEST(native_operations__have_a_doorbell_of_their_own, setup_nothing, teardown)
{
	connect_natively(IBV_QP_EX_WITH_RDMA_WRITE, 0);
	post(1, MORE);
	post(2, MORE);
	expect_named(0, "rpma_flush", flush_8(3, MORE));
	assert_got(2, "1 2 3 ");
	expect_named(0, "rpma_append", append_9(ALWAYS));
	assert_got(4, "9 9 9 9! ");
	post(4, MORE);
	calls_fail_on("ibv_post_send", EIO);
	expect_named(RPMA_E_PROVIDER, "rpma_flush", flush_8(5, ALWAYS));
	assert_got(1, "");
	expect(0, rpma_submit(w.conn));
	assert_got(1, "4 ");
}

/* ibv_wr_complete() posts all or nothing. */
TEST(native_failure__leaves_the_others_waiting, setup_nothing, teardown)
{
	connect_natively(0, 2);
	post(1, MORE);
	expect_named(0, "rpma_flush", flush_8(2, MORE));
	calls_fail_on("ibv_wr_complete", EIO);
	expect_named(RPMA_E_PROVIDER, "rpma_flush", flush_8(3, ALWAYS));
	calls_fail_on("ibv_wr_complete", EIO);
	expect_named(RPMA_E_PROVIDER, "rpma_append", append_9(ALWAYS));
	assert_got(2, "");
	post(4, MORE);
	expect(0, rpma_submit(w.conn));
	assert_got(1, "1 2! 4 ");
	post(5, ON_ERROR);
	assert_got(1, "5! ");
	calls_fail_on("ibv_wr_complete", EIO);
	expect_named(RPMA_E_PROVIDER, "rpma_flush", flush_8(6, ALWAYS));
	provider.native.completed = 0;
	post(7, ON_ERROR); /* without a native one: by ibv_post_send() */
	assert_int_equal(provider.native.completed, 0);
	assert_got(1, "7 ");
}

TEST(native_operations__are_counted, setup_nothing, teardown)
{
	connect_natively(0, 2);
	for (uint64_t i = 1; i <= 4; i++)
		expect_named(0, "rpma_flush", flush_8(i, ON_ERROR));
	assert_got(4, "1 2! 3 4! ");
}

#endif /* RPMA_NATIVE */

/* --- rpma_writev() ------------------------------------------------------------------------------
 */

TEST(writev__gathers, setup_log, teardown)
{
	const struct rpma_range ranges[] = {{w.mr, 0, 4}, {w.mr, 100, 5}, {w.mr, 200, 6}};

	expect(0, rpma_writev(w.conn, w.remote, 64, ranges, 3, ALWAYS, (void *)9));
	EQUAL((provider.send.wr.num_sge, 3), (provider.sends_bytes[0], 15));
	assert_got(1, "9! ");
	strcpy(region + 100, "abcde");
	expect(0, rpma_writev(w.conn, w.remote, 64, ranges, 2, MORE | RPMA_F_INLINE, (void *)9));
	memset(region + 100, 0, 5);
	expect(0, rpma_submit(w.conn));
	assert_memory_equal(provider.sends_data[0] + 4, "abcde", 5);
}

TEST(writev__refuses_bad_arguments, setup_log, teardown)
{
	struct rpma_range ranges[5] = {
		{w.mr, 0, 8}, {w.mr, 0, 8}, {w.mr, 0, 8}, {w.mr, 0, 8}, {w.mr, 0, 8}};

	expect(RPMA_E_INVAL, rpma_writev(NULL, w.remote, 0, ranges, 1, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_writev(w.conn, NULL, 0, ranges, 1, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, NULL, 1, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 0, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 5, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 1, 0, NULL));
	ranges[1].len = 25;
	expect(RPMA_E_INVAL,
	       rpma_writev(w.conn, w.remote, 0, ranges, 2, ALWAYS | RPMA_F_INLINE, NULL));
	ranges[1].len = UINT32_MAX;
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 2, ALWAYS, NULL));
	ranges[1].mr = NULL;
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 2, ALWAYS, NULL));
	assert_got(0, "");
}

TEST(writev__tells_full_and_failed, setup_nothing, teardown)
{
	connect_with(2, 1, 8); /* full after two */
	const struct rpma_range range = {w.mr, 0, 4};

	post(1, ON_ERROR);
	calls_fail_on("ibv_post_send", EIO);
	expect(RPMA_E_PROVIDER, rpma_writev(w.conn, w.remote, 0, &range, 1, ALWAYS, NULL));
	post(2, ON_ERROR);
	expect(RPMA_E_AGAIN, rpma_writev(w.conn, w.remote, 0, &range, 1, ALWAYS, NULL));
}

TEST(length__beyond_32_bits_is_refused, setup_log, teardown)
{
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 0, w.mr, 0, (size_t)UINT32_MAX + 1,
					      RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, NULL));
	assert_int_equal(provider.sends_count, 0);
}
