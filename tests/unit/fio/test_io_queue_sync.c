/* SPDX-License-Identifier: BSD-3-Clause */
/* test_io_queue_sync.c -- what a sync flushes, beside which operations, and what stays dirty. */
#include "common/base/failure.h"
#include "fake_device.h"

static void write_at(struct io_queue *q, uint64_t begin, uint32_t bytes)
{
	fake_add(q, 0, OPERATION_WRITE, begin, bytes);
	io_queue_commit(q, NULL, NULL);
	io_queue_wait(q, 1, UINT64_MAX);
	assert_string_equal(fake_done(q), "0 ");
}

static void expect_counts(const struct io_queue *q, uint64_t writes, uint64_t covered,
			  uint64_t pending, uint64_t flushes)
{
	const struct io_queue_counts counts = io_queue_counts(q);

	EQUAL((counts.writes, writes), (counts.covered, covered), (counts.pending, pending),
	      (counts.flushes, flushes));
}

/* Three writes that leave two extents. */
static struct io_queue *with_two_extents(enum method method, uint32_t depth)
{
	struct io_queue *q;

	fake_begin(method, depth);
	q = fake_io_queue(FLUSH_FSYNC, WRITE_PLAIN, depth);
	write_at(q, 64, 8);
	write_at(q, 0, 8);
	write_at(q, 72, 16);
	fake_forget();
	return q;
}

QUEUE_TEST(a_sync_flushes_each_extent)
{
	static const struct {
		enum method method;
		const char *posted;
	} cases[] = {{METHOD_APM, "f0+8! "},
		     {METHOD_NATIVE, "f0+8 f64+24! "},
		     {METHOD_GPSPM, "s0+8 s64+24! "}};

	for (size_t i = 0; i < 3; i++) {
		unsigned doorbells;

		io_queue = with_two_extents(cases[i].method, 4);
		doorbells = fake.doorbells;
		assert_true(io_queue_dirty(io_queue));
		expect_counts(io_queue, 3, 0, 3, 0);
		assert_int_equal(io_queue_sync(io_queue), 0);
		expect_counts(io_queue, 3, 3, 0, i == 0 ? 1 : 2);
		EQUAL((fake.doorbells, doorbells + 1), (fake.log, cases[i].posted),
		      (io_queue_dirty(io_queue), false));
		fake_all_flushed();
		/* and the next one has nothing to do */
		fake_forget();
		EQUAL((io_queue_sync(io_queue), 0), (fake.log, ""));
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(other_policies_leave_nothing_to_sync)
{
	static const enum flush_policy policies[] = {FLUSH_AUTO, FLUSH_EACH, FLUSH_BATCH,
						     FLUSH_NONE};

	for (size_t i = 0; i < 4; i++) {
		fake_begin(METHOD_NATIVE, 4);
		io_queue = fake_io_queue(policies[i], WRITE_PLAIN, 4);
		write_at(io_queue, 0, 8);
		fake_forget();
		EQUAL((io_queue_dirty(io_queue), false), (io_queue_sync(io_queue), 0),
		      (fake.log, ""));
		if (policies[i] == FLUSH_NONE)
			expect_counts(io_queue, 1, 0, 1, 0);
		else
			expect_counts(io_queue, 1, 1, 0, 1);
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(trims_are_counted_as_writes_and_reads_are_not)
{
	fake_begin(METHOD_APM, 4);
	io_queue = fake_io_queue(FLUSH_BATCH, WRITE_PLAIN, 4);
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	fake_add(io_queue, 1, OPERATION_TRIM, 8, 8);
	fake_add(io_queue, 2, OPERATION_READ, 16, 8);
	io_queue_commit(io_queue, NULL, NULL);
	assert_int_equal(io_queue_wait(io_queue, 3, UINT64_MAX), 3);
	expect_counts(io_queue, 2, 2, 0, 1);
}

QUEUE_TEST(more_extents_than_there_is_room_for_take_turns)
{
	static const enum method methods[] = {METHOD_NATIVE, METHOD_GPSPM};

	for (size_t i = 0; i < 2; i++) {
		fake_begin(methods[i], 2);
		io_queue = fake_io_queue(FLUSH_FSYNC, WRITE_PLAIN, 2);
		for (uint32_t k = 0; k < 100; k++)
			write_at(io_queue, k * 40, 8);
		EQUAL((io_queue_sync(io_queue), 0), (fake.flushes, 100));
		fake_all_flushed();
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(what_completes_meanwhile_is_kept)
{
	static const enum method methods[] = {METHOD_APM, METHOD_NATIVE, METHOD_GPSPM};

	for (size_t i = 0; i < 3; i++) {
		io_queue = with_two_extents(methods[i], 4);
		fake.pace = 1;
		for (uint32_t k = 0; k < 4; k++)
			fake_add(io_queue, k, OPERATION_WRITE, 128 + k * 8, 8);
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((io_queue_sync(io_queue), 0), (io_queue_added(io_queue), 0),
		      (io_queue_out(io_queue), 4));
		for (uint32_t k = 0; k < 4; k++)
			assert_true(io_queue_operation(io_queue, k)->done_ns > 0);
		assert_string_equal(fake_done(io_queue), "0 1 2 3 ");
		expect_counts(io_queue, 7, 7, 0, methods[i] == METHOD_APM ? 1 : 3);
		fake_all_flushed();
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(a_large_extent_is_asked_for_in_parts)
{
	fake_begin(METHOD_GPSPM, 4);
	fake.connection.remote_bytes = 1ULL << 30;
	io_queue = fake_io_queue(FLUSH_FSYNC, WRITE_PLAIN, 4);
	dirty_mark(&io_queue->dirty, 0, 150ULL << 20);
	fake.vast = true;
	EQUAL((io_queue_sync(io_queue), 0),
	      (fake.log, "s0+67108864 s67108864+67108864 s134217728+23068672! "));
}

/* --- failures -------------------------------------------------------------------- */

static void refuses(struct persist_answer *answer, uint32_t *bytes, enum ibv_wc_opcode *opcode)
{
	answer->status = PERSIST_FAILED;
}

QUEUE_TEST(what_was_not_made_durable_stays_dirty)
{
	io_queue = with_two_extents(METHOD_GPSPM, 4);
	fake.forge = refuses;
	EQUAL((io_queue_sync(io_queue), -EIO),
	      (failure_get()->text, HAS("could not make the data durable")),
	      (io_queue_broken(io_queue), 0));
	fake.forge = NULL;
	memset(fake.unflushed, 1, sizeof(fake.unflushed));
	fake_forget();
	EQUAL((io_queue_sync(io_queue), 0), (fake.log, "s0+8 s64+24! "));
	/* but what was before the failed one is never counted as covered */
	expect_counts(io_queue, 3, 0, 0, 2);
}

QUEUE_TEST(a_sync_that_breaks_leaves_all_dirty)
{
	static const struct {
		enum method method;
		char letter;
	} cases[] = {{METHOD_APM, 'f'}, {METHOD_NATIVE, 'f'}, {METHOD_GPSPM, 's'}};

	for (size_t i = 0; i < 6; i++) {
		io_queue = with_two_extents(cases[i % 3].method, 4);
		fake.status = IBV_WC_REM_ACCESS_ERR;
		if (i < 3)
			fake.fail = cases[i % 3].letter;
		else
			fake.refuse = cases[i % 3].letter;
		EQUAL((io_queue_sync(io_queue), -EIO), (io_queue_broken(io_queue), EIO),
		      (failure_get()->text, HAS("flush")), (io_queue_dirty(io_queue), true),
		      (fake.disconnected, true));
		/* until there is another connection it fails at once */
		assert_int_equal(io_queue_sync(io_queue), -EIO);
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(operations_that_are_out_fail_with_the_sync)
{
	io_queue = with_two_extents(METHOD_NATIVE, 4);
	fake_add(io_queue, 1, OPERATION_WRITE, 128, 8);
	fake_add(io_queue, 3, OPERATION_READ, 128, 8);
	io_queue_commit(io_queue, NULL, NULL);
	fake.fail = 'w';
	fake.status = IBV_WC_RETRY_EXC_ERR;
	EQUAL((io_queue_sync(io_queue), -EIO),
	      (io_queue_operation(io_queue, 1)->status, IBV_WC_RETRY_EXC_ERR),
	      (io_queue_operation(io_queue, 3)->status, IBV_WC_WR_FLUSH_ERR),
	      (fake_done(io_queue), "1x 3x "));
}
