/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_superseded.c -- flushes by reading, and ends of a log, that wait and are taken back because
 * the next call does their work.
 */
#include "pipeline.h"

static int write_flush(uint64_t number, struct rpma_mr_remote *dst, int flags)
{
	return rpma_write_flush(w.conn, dst, 64 * number, w.mr, 8, 8, RPMA_FLUSH_TYPE_PERSISTENT,
				flags, (void *)(uintptr_t)number);
}

/* w for a write, r for a read, f for one behind the fence; in the order of the provider */
static void assert_kinds(const char *kinds)
{
	char got[PROVIDER_MAX_SENDS + 1] = "";

	for (unsigned i = 0; i < provider.sends_count; i++) {
		const struct ibv_send_wr *wr = &provider.sends[i];
		const char *kind = wr->send_flags & IBV_SEND_FENCE ? "f" : "w";

		got[i] = *(wr->opcode == IBV_WR_RDMA_READ ? "r" : kind);
	}
	assert_string_equal(got, kinds);
}

TEST(flushes__of_a_list_are_one, setup_log, teardown)
{
	for (uint64_t i = 1; i <= 3; i++)
		expect(0, write_flush(i, w.remote, MORE));
	expect(0, write_flush(4, w.remote, ALWAYS));
	assert_kinds("wwwwr");
	assert_int_equal(provider.sends[4].wr.rdma.remote_addr, (uintptr_t)region + 4 * 64);
	assert_got(1, "1 2 3 4 4! ");
}

TEST(flushes__of_a_list_are_one_when_it_is_submitted, setup_log, teardown)
{
	expect(0, write_flush(1, w.remote, MORE));
	expect(0, write_flush(2, w.remote, MORE));
	expect(0, rpma_submit(w.conn));
	assert_kinds("wwr");
	assert_got(1, "1 2 2 ");
}

static int append_numbered(uint64_t number, size_t end_offset, int flags)
{
	const uint64_t end = number;

	return append(512 + 64 * number, 16, end_offset, &end, flags, (void *)(uintptr_t)number);
}

/* All records, their flush, the last end behind the fence, and its flush. */
TEST(appends__of_a_list_are_one, setup_log, teardown)
{
	const uint64_t last = 2;

	expect(0, append_numbered(1, 8, MORE));
	expect(0, append_numbered(2, 8, ALWAYS));
	assert_kinds("wwrfr");
	assert_memory_equal(provider.sends_data[3], &last, 8);
	assert_got(1, "1 2 2 2 2! ");
}

TEST(appends__with_another_end_share_a_flush, setup_log, teardown)
{
	expect(0, append_numbered(1, 8, MORE));
	expect(0, append_numbered(2, 16, ALWAYS));
	assert_kinds("wrfwrfr");
	assert_got(1, "1 1 1 2 2 2 2! ");
}

TEST(append__takes_the_flush_of_a_write, setup_log, teardown)
{
	expect(0, write_flush(1, w.remote, MORE));
	expect(0, append_numbered(2, 8, MORE));
	expect(0, write_flush(3, w.remote, ALWAYS));
	assert_kinds("wwrfwr");
	assert_got(1, "1 2 2 2 3 3! ");
}

/* The record before has its end again, and its flushes. */
TEST(append__comes_back_when_its_successor_fails, setup_nothing, teardown)
{
	static const char *const kinds[] = {"wrfr", "wrfr", "wwrfr", "wwrrfr", "wwrfrfr"};

	for (unsigned at = 1; at <= 5; at++) {
		uint64_t end = 1;

		setup_log(NULL);
		expect(0, append_numbered(1, 8, MORE));
		provider.send_fails_at = at;
		expect(RPMA_E_PROVIDER, append_numbered(2, 8, ALWAYS));
		provider.send_fails_at = 0;
		expect(0, rpma_submit(w.conn));
		assert_kinds(kinds[at - 1]);
		assert_memory_equal(provider.sends_data[provider.sends_count - 2], &end, 8);
		teardown(NULL);
	}
}

TEST(flush__with_a_completion_stays, setup_log, teardown)
{
	expect(0, write_flush(1, w.remote, ALWAYS | RPMA_F_MORE));
	expect(0, write_flush(2, w.remote, ALWAYS));
	assert_kinds("wrwr");
	assert_got(1, "1 1! 2 2! ");
}

TEST(flush__of_another_region_stays, setup_log, teardown)
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	unsigned char descriptor[64];
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *other;
	size_t size;

	expect(0, rpma_mr_reg(w.peer, region, REGION_SIZE, usage, &mr));
	expect(0, rpma_mr_get_descriptor_size(mr, &size));
	expect(0, rpma_mr_get_descriptor(mr, descriptor));
	expect(0, rpma_mr_remote_from_descriptor(descriptor, size, &other));
	expect(0, write_flush(1, other, MORE));
	expect(0, write_flush(2, w.remote, ALWAYS));
	assert_kinds("wrwr");
	assert_got(1, "1 1 2 2! ");
	expect(0, rpma_mr_remote_delete(&other));
	expect(0, rpma_mr_dereg(&mr));
}

/* An operation between the two may complete, and tells that the flush has. */
TEST(flush__before_another_operation_stays, setup_log, teardown)
{
	expect(0, write_flush(1, w.remote, MORE));
	post(2, MORE);
	expect(0, write_flush(3, w.remote, ALWAYS));
	assert_kinds("wrwwr");
	assert_got(1, "1 1 2 3 3! ");
}

/* A record's end is behind the fence: what the user writes there between two flushes is data. */
TEST(write__is_not_taken_for_an_end, setup_log, teardown)
{
	expect(0, write_flush(1, w.remote, MORE));
	expect(0, rpma_write(w.conn, w.remote, 8, w.mr, 8, 8, MORE, (void *)2));
	expect(0, rpma_flush(w.conn, w.remote, 8, 8, RPMA_FLUSH_TYPE_PERSISTENT, MORE, (void *)3));
	expect(0, append_numbered(4, 8, ALWAYS));
	assert_kinds("wrwwrfr");
	assert_got(1, "1 1 2 4 4 4 4! ");
}

TEST(read__is_not_taken_for_a_flush, setup_log, teardown)
{
	expect(0, rpma_read(w.conn, NULL, 0, NULL, 0, 0, MORE, (void *)1));
	expect(0, rpma_read(w.conn, w.mr, 0, w.remote, 0, 8, MORE, (void *)2));
	expect(0, write_flush(3, w.remote, ALWAYS));
	assert_kinds("rrwr");
	assert_got(1, "1 2 3 3! ");
}

/* In mid-list, so that the others are posted; at last all are there, once each. */
TEST(flush__comes_back_when_its_successor_fails, setup_nothing, teardown)
{
	for (unsigned at = 1; at <= 4; at++) {
		setup_log(NULL);
		expect(0, write_flush(1, w.remote, MORE));
		expect(0, write_flush(2, w.remote, MORE));
		provider.send_fails_at = at;
		expect(RPMA_E_PROVIDER, write_flush(3, w.remote, ALWAYS));
		provider.send_fails_at = 0;
		expect(0, rpma_submit(w.conn));
		assert_kinds(at == 4 ? "wwwr" : "wwr");
		assert_got(2, at == 4 ? "1 2 3 2 " : "1 2 2 ");
		teardown(NULL);
	}
}

TEST(flush__that_frees_places_stays, setup_nothing, teardown)
{
	connect_for_log(16, 4, 8);
	for (uint64_t i = 1; i <= 4; i++)
		expect(0, write_flush(i, w.remote, MORE));
	expect(0, rpma_submit(w.conn));
	assert_got(1, "1 2 3 3! 4 4 ");
}

#if RPMA_NATIVE

/* A device with a native atomic write, and memory that lacks native flush. */
static void connect_with_native_end(void)
{
	setup_device(CAP_ATOMIC_WRITE);
	connect_now(16, 0, 8);
	allow_persistence();
}

TEST(native_end__is_replaced_too, setup_nothing, teardown)
{
	const uint64_t last = 2;

	connect_with_native_end();
	expect(0, append_numbered(1, 8, MORE));
	expect(0, append_numbered(2, 8, ALWAYS));
	assert_kinds("wwrfr");
	assert_memory_equal(provider.native.atomic_data, &last, 8);
	assert_got(1, "1 2 2 2 2! ");
}

TEST(native_end__comes_back, setup_nothing, teardown)
{
	const uint64_t first = 1;

	connect_with_native_end();
	expect(0, append_numbered(1, 8, MORE));
	calls_fail_on("ibv_wr_complete", ENOMEM);
	expect(RPMA_E_PROVIDER, append_numbered(2, 8, ALWAYS));
	provider.sends_count = 0; /* what the provider was told before it refused */
	expect(0, rpma_submit(w.conn));
	assert_kinds("wrfr");
	assert_memory_equal(provider.native.atomic_data, &first, 8);
}

TEST(native_flushes__stay, setup_nothing, teardown)
{
	connect_natively(0, 0);
	for (uint64_t i = 1; i <= 2; i++)
		expect(0, write_flush(i, w.remote, i == 2 ? ALWAYS : MORE));
	assert_got(1, "1 1 2 2! ");
}

#endif /* RPMA_NATIVE */
