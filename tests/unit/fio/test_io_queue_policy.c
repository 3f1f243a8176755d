/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_io_queue_policy.c -- what is posted for which operations, with which
 * flags, and in which order operations are done.
 */
#include "fake_device.h"

#define DEPTH 8

struct access {
	enum operation_kind kind;
	uint64_t begin;
	uint32_t bytes;
};

#define W(begin, bytes)                                                                            \
	{                                                                                          \
		OPERATION_WRITE, begin, bytes                                                      \
	}
#define R(begin, bytes)                                                                            \
	{                                                                                          \
		OPERATION_READ, begin, bytes                                                       \
	}
#define T(begin, bytes)                                                                            \
	{                                                                                          \
		OPERATION_TRIM, begin, bytes                                                       \
	}

struct batch {
	enum method method;
	enum flush_policy policy;
	enum write_op write_op;
	struct access accesses[DEPTH]; /* to the first of no bytes */
	const char *posted;
	const char *done;
};

#define BATCH(method, policy, op, posted, done, ...)                                               \
	{                                                                                          \
		METHOD_##method, FLUSH_##policy, WRITE_##op, {__VA_ARGS__}, posted, done           \
	}

static void commit_batch(const struct batch *b)
{
	struct io_queue *q;

	fake_begin(b->method, DEPTH);
	q = fake_io_queue(b->policy, b->write_op, DEPTH);
	for (uint32_t i = 0; i < DEPTH && b->accesses[i].bytes != 0; i++)
		fake_add(q, i, b->accesses[i].kind, b->accesses[i].begin, b->accesses[i].bytes);
	io_queue_commit(q, NULL, NULL);
	EQUAL((fake.log, b->posted), (fake.doorbells, 1), (io_queue_added(q), 0));
	io_queue_wait(q, DEPTH, UINT64_MAX);
	EQUAL((fake_done(q), b->done), (io_queue_out(q), 0), (fake.posted, fake.reclaimed));
	io_queue_close(&q);
}

static void commit_batches(const struct batch *batches, size_t count)
{
	for (size_t i = 0; i < count; i++)
		commit_batch(&batches[i]);
}

#define COUNT(batches) (sizeof(batches) / sizeof((batches)[0]))

TEST(auto_flushes_runs_that_adjoin)
{
	static const struct batch batches[] = {
		/* one, adjacent ones, and two runs */
		BATCH(NATIVE, AUTO, PLAIN, "w8+8 f8+8! ", "0 ", W(8, 8)),
		BATCH(NATIVE, AUTO, PLAIN, "w0+8 w8+8 w16+16 f0+32! ", "0 1 2 ", W(0, 8), W(8, 8),
		      W(16, 16)),
		BATCH(NATIVE, AUTO, PLAIN, "w0+8 w8+8 f0+16! w32+8 w40+8 f32+16! ", "0 1 2 3 ",
		      W(0, 8), W(8, 8), W(32, 8), W(40, 8)),
		/* from the end of the region to its beginning */
		BATCH(NATIVE, AUTO, PLAIN, "w4080+8 w4088+8 f4080+16! w0+8 f0+8! ", "0 1 2 ",
		      W(4080, 8), W(4088, 8), W(0, 8)),
		/* descending, and overlapping */
		BATCH(NATIVE, AUTO, PLAIN, "w16+8 f16+8! w8+8 f8+8! ", "0 1 ", W(16, 8), W(8, 8)),
		BATCH(NATIVE, AUTO, PLAIN, "w0+16 f0+16! w8+16 f8+16! ", "0 1 ", W(0, 16),
		      W(8, 16)),
		/* reads do not part writes, and end themselves */
		BATCH(NATIVE, AUTO, PLAIN, "w0+8 r64+8! w8+8 f0+16! ", "1 0 2 ", W(0, 8), R(64, 8),
		      W(8, 8)),
		BATCH(NATIVE, AUTO, PLAIN, "z0+8 w8+8 f0+16! ", "0 1 ", T(0, 8), W(8, 8)),
	};

	commit_batches(batches, COUNT(batches));
}

TEST(each_flushes_every_write)
{
	static const struct batch batches[] = {
		BATCH(NATIVE, EACH, PLAIN, "w0+8 f0+8! w8+8 f8+8! r0+8! z16+8 f16+8! ", "0 1 2 3 ",
		      W(0, 8), W(8, 8), R(0, 8), T(16, 8)),
	};

	commit_batches(batches, COUNT(batches));
}

TEST(batch_flushes_what_remains_when_sorted_and_joined)
{
	static const struct batch batches[] = {
		BATCH(NATIVE, BATCH, PLAIN, "w32+8 w0+8 w40+8 w8+8 f0+16 f32+16! ", "0 1 2 3 ",
		      W(32, 8), W(0, 8), W(40, 8), W(8, 8)),
		BATCH(NATIVE, BATCH, PLAIN, "w0+64 w8+8 w56+16 w0+8 f0+72! ", "0 1 2 3 ", W(0, 64),
		      W(8, 8), W(56, 16), W(0, 8)),
		BATCH(NATIVE, BATCH, PLAIN, "w64+8 r8+8! z0+8 f0+8 f64+8! ", "1 0 2 ", W(64, 8),
		      R(8, 8), T(0, 8)),
		BATCH(NATIVE, BATCH, PLAIN, "r8+8! ", "0 ", R(8, 8)),
		/* a read flushes whatever was written before it */
		BATCH(APM, BATCH, PLAIN, "w32+8 w0+8 w40+8 f32+8! ", "0 1 2 ", W(32, 8), W(0, 8),
		      W(40, 8)),
	};

	commit_batches(batches, COUNT(batches));
}

TEST(fsync_and_none_flush_nothing)
{
	static const enum flush_policy policies[] = {FLUSH_FSYNC, FLUSH_NONE};
	static const enum method methods[] = {METHOD_APM, METHOD_GPSPM, METHOD_NATIVE};

	for (size_t i = 0; i < 6; i++) {
		const struct batch b = {methods[i % 3],
					policies[i / 3],
					WRITE_PLAIN,
					{W(8, 8), W(0, 8), T(0, 8), R(8, 8)},
					"w8+8! w0+8! z0+8! r8+8! ",
					"0 1 2 3 "};

		commit_batch(&b);
		assert_int_equal(fake.flushes, 0);
	}
}

/* Eight bytes are read, even behind the last that there are. */
TEST(apm_reads_within_the_region)
{
	static const struct batch batches[] = {
		BATCH(APM, AUTO, PLAIN, "w4092+4 f4088+8! ", "0 ", W(4092, 4)),
		BATCH(APM, AUTO, PLAIN, "w16+64 f16+8! ", "0 ", W(16, 64)),
	};

	commit_batches(batches, COUNT(batches));
}

TEST(gpspm_asks_for_each_range)
{
	static const struct batch batches[] = {
		BATCH(GPSPM, AUTO, PLAIN, "w0+8 w8+8 r0+8! s0+16! w32+8 s32+8! ", "2 0 1 3 ",
		      W(0, 8), W(8, 8), R(0, 8), W(32, 8)),
		BATCH(GPSPM, BATCH, PLAIN, "w64+8 w0+8 w32+8 s0+8 s32+8 s64+8! ", "0 1 2 ",
		      W(64, 8), W(0, 8), W(32, 8)),
	};

	commit_batches(batches, COUNT(batches));
}

TEST(writes_with_immediate_data_are_flushed_like_others)
{
	static const struct batch batches[] = {
		BATCH(APM, AUTO, IMM, "i0+8 i8+8 r0+8! f0+8! z64+8 f64+8! ", "2 0 1 3 ", W(0, 8),
		      W(8, 8), R(0, 8), T(64, 8)),
		BATCH(GPSPM, FSYNC, IMM, "i0+8! ", "0 ", W(0, 8)),
	};

	commit_batches(batches, COUNT(batches));
}

TEST(atomic_writes_take_the_bytes_themselves)
{
	static const struct batch batches[] = {
		BATCH(APM, EACH, ATOMIC, "a8+8 f8+8! z64+8 f64+8! ", "0 1 ", W(8, 8), T(64, 8)),
	};

	commit_batches(batches, COUNT(batches));
	assert_memory_equal(fake.region + 8, fake.memory + 8, 8);
}

/* The number is exact for any block size. */
QUEUE_TEST(gpspm_with_immediate_data_numbers_blocks)
{
	static const uint32_t blocks[] = {2, 3, 24, 160, 512, 4096, 1000, 4095};

	for (size_t i = 0; i < COUNT(blocks); i++) {
		uint32_t bytes = blocks[i], last = FAKE_REGION / bytes - 1;

		fake_begin(METHOD_GPSPM, DEPTH);
		fake.connection.cfg.job_request.imm_bytes = bytes;
		io_queue = fake_io_queue(FLUSH_AUTO, WRITE_IMM, DEPTH);
		fake_add(io_queue, 0, OPERATION_WRITE, (uint64_t)last * bytes, bytes);
		fake_add(io_queue, 1, OPERATION_WRITE, 0, bytes);
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((fake.works[0].imm, last), (fake.works[0].signalled, true),
		      (fake.works[1].imm, 0));
		io_queue_wait(io_queue, 2, UINT64_MAX);
		assert_string_equal(fake_done(io_queue), "0 1 ");
		fake_all_flushed();
		io_queue_close(&io_queue);
	}
}

/* Its zeros are no block that a number could name. */
QUEUE_TEST(a_trim_among_answered_writes_is_asked_for)
{
	fake_begin(METHOD_GPSPM, DEPTH);
	fake.connection.cfg.job_request.imm_bytes = 8;
	io_queue = fake_io_queue(FLUSH_AUTO, WRITE_IMM, DEPTH);
	fake_add(io_queue, 0, OPERATION_TRIM, 64, 64);
	fake_add(io_queue, 1, OPERATION_WRITE, 8, 8);
	io_queue_commit(io_queue, NULL, NULL);
	assert_string_equal(fake.log, "z64+64 i8+8! s64+64! ");
	io_queue_wait(io_queue, 2, UINT64_MAX);
	assert_string_equal(fake_done(io_queue), "1 0 ");
}

QUEUE_TEST(gpspm_is_done_when_both_have_come)
{
	fake_begin(METHOD_GPSPM, DEPTH);
	io_queue = fake_io_queue(FLUSH_AUTO, WRITE_PLAIN, DEPTH);
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	io_queue_commit(io_queue, NULL, NULL);
	fake.deaf = true;
	EQUAL((io_queue_poll(io_queue), 0), (fake.polled, 1));
	fake.deaf = false;
	EQUAL((io_queue_poll(io_queue), 1), (fake_done(io_queue), "0 "));
}

/* --- who is told ------------------------------------------------------------------- */

static void note(void *arg, struct operation *operation)
{
	sprintf((char *)arg + strlen(arg), "%zu:%s", operation->local_offset, fake.log);
	fake_forget();
}

QUEUE_TEST(posting_is_told_right_before_each_post)
{
	char notes[256] = "";

	fake_begin(METHOD_NATIVE, DEPTH);
	io_queue = fake_io_queue(FLUSH_EACH, WRITE_PLAIN, DEPTH);
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	fake_add(io_queue, 1, OPERATION_READ, 8, 8);
	fake_add(io_queue, 2, OPERATION_WRITE, 16, 8);
	io_queue_commit(io_queue, note, notes);
	EQUAL((notes, "0:8:w0+8 f0+8! 16:r8+8! "), (fake.log, "w16+8 f16+8! "));
}

QUEUE_TEST(no_more_are_taken_than_the_depth)
{
	struct operation *third;

	fake_begin(METHOD_APM, 2);
	io_queue = fake_io_queue(FLUSH_AUTO, WRITE_PLAIN, 2);
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	fake_add(io_queue, 1, OPERATION_WRITE, 8, 8);
	third = io_queue_operation(io_queue, 0);
	EQUAL((io_queue_added(io_queue), 2), (io_queue_add(io_queue, third), false));
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((io_queue_out(io_queue), 2), (io_queue_add(io_queue, third), false),
	      (io_queue_wait(io_queue, 1, UINT64_MAX), 2), (io_queue_add(io_queue, third), false),
	      (fake_done(io_queue), "0 1 "), (io_queue_add(io_queue, third), true));
}
