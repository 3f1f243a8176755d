/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_io_queue_failures.c -- what operations are told when something fails, and
 * a server that answers what it should not.
 */
#include "common/base/failure.h"
#include "fake_device.h"

#define DEPTH 4

static struct io_queue *with_writes(enum method method, enum flush_policy policy)
{
	struct io_queue *q;

	fake_begin(method, DEPTH);
	q = fake_io_queue(policy, WRITE_PLAIN, DEPTH);
	for (uint32_t i = 0; i < 3; i++)
		fake_add(q, i, OPERATION_WRITE, i * 8, 8);
	return q;
}

static enum ibv_wc_status status_of(struct io_queue *q, uint32_t number)
{
	assert_int_equal(io_queue_operation(q, number)->error, EIO);
	return io_queue_operation(q, number)->status;
}

QUEUE_TEST(a_write_that_fails_is_told_from_the_others)
{
	io_queue = with_writes(METHOD_APM, FLUSH_AUTO);
	fake.fail = 'w';
	fake.fail_after = 1;
	fake.status = IBV_WC_REM_ACCESS_ERR;
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((io_queue_wait(io_queue, 3, UINT64_MAX), 3),
	      (status_of(io_queue, 0), IBV_WC_WR_FLUSH_ERR),
	      (status_of(io_queue, 1), IBV_WC_REM_ACCESS_ERR),
	      (io_queue_operation(io_queue, 1)->vendor_error, 0x77),
	      (status_of(io_queue, 2), IBV_WC_WR_FLUSH_ERR), (fake_done(io_queue), "0x 1x 2x "),
	      (io_queue_broken(io_queue), EIO),
	      (failure_get()->text, HAS(": a write failed: REM_ACCESS_ERR")));
}

QUEUE_TEST(a_flush_that_fails_fails_its_group)
{
	static const enum method methods[] = {METHOD_APM, METHOD_NATIVE, METHOD_GPSPM};

	for (size_t i = 0; i < 3; i++) {
		io_queue = with_writes(methods[i], FLUSH_AUTO);
		fake_add(io_queue, 3, OPERATION_WRITE, 800, 8);
		fake.fail = methods[i] == METHOD_GPSPM ? 's' : 'f';
		fake.status = IBV_WC_REM_ACCESS_ERR;
		io_queue_commit(io_queue, NULL, NULL);
		assert_int_equal(io_queue_wait(io_queue, 4, UINT64_MAX), 4);
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(status_of(io_queue, k), IBV_WC_REM_ACCESS_ERR);
		EQUAL((status_of(io_queue, 3), IBV_WC_WR_FLUSH_ERR),
		      (failure_get()->text, HAS("a flush failed")));
		io_queue_close(&io_queue);
	}
}

/* Every post of a batch, in turn. */
QUEUE_TEST(what_cannot_be_posted_comes_back)
{
	static const char letters[] = "wrzf";
	static const enum operation_kind kinds[] = {OPERATION_WRITE, OPERATION_READ, OPERATION_TRIM,
						    OPERATION_WRITE};

	for (size_t i = 0; i < 4; i++) {
		fake_begin(METHOD_NATIVE, DEPTH);
		io_queue = fake_io_queue(FLUSH_EACH, WRITE_PLAIN, DEPTH);
		fake.refuse = letters[i];
		fake.refuse_after = 1;
		for (uint32_t k = 0; k < 4; k++)
			fake_add(io_queue, k, kinds[i], k * 8, 8);
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((io_queue_poll(io_queue), 4), (fake_done(io_queue), "0x 1x 2x 3x "),
		      (fake.disconnected, true), (failure_get()->text, HAS("cannot post the")));
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(nothing_is_posted_on_a_broken_connection)
{
	io_queue = with_writes(METHOD_APM, FLUSH_BATCH);
	fake.refuse = 'f';
	io_queue_commit(io_queue, NULL, NULL);
	assert_string_equal(fake_done(io_queue), "0x 1x 2x ");
	fake_forget();
	fake_add(io_queue, 1, OPERATION_READ, 0, 8);
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((fake.log, ""), (fake_done(io_queue), "1x "));
}

QUEUE_TEST(a_queue_that_cannot_be_polled_ends_it)
{
	io_queue = with_writes(METHOD_APM, FLUSH_AUTO);
	io_queue_commit(io_queue, NULL, NULL);
	fake.poll_fails = true;
	EQUAL((io_queue_poll(io_queue), 3), (fake_done(io_queue), "0x 1x 2x "),
	      (failure_get()->text, HAS("cannot poll")));
}

QUEUE_TEST(a_server_that_has_left_is_named)
{
	io_queue = with_writes(METHOD_APM, FLUSH_AUTO);
	io_queue_commit(io_queue, NULL, NULL);
	failure_set(EXIT_RUN_FAILED, "connection", "link's sentence");
	fake.gone = true;
	fake.fail = 'w';
	fake.status = IBV_WC_WR_FLUSH_ERR;
	EQUAL((io_queue_poll(io_queue), 3), (failure_get()->text, HAS("link's sentence")));
}

/* --- native ------------------------------------------------------------------------- */

QUEUE_TEST(a_flush_that_reads_is_not_native)
{
	io_queue = with_writes(METHOD_NATIVE, FLUSH_AUTO);
	fake.flush_opcode = IBV_WC_RDMA_READ;
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((io_queue_wait(io_queue, 3, UINT64_MAX), 3),
	      (io_queue_operation(io_queue, 0)->error, EOPNOTSUPP),
	      (io_queue_broken(io_queue), EOPNOTSUPP), (io_queue_counts(io_queue).covered, 0),
	      (failure_get()->text, HAS("mode=native")), (fake.goodbyes, 1));
}

/* Nothing is covered before it completes. */
QUEUE_TEST(a_native_flush_covers_what_it_follows)
{
	io_queue = with_writes(METHOD_NATIVE, FLUSH_AUTO);
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((io_queue_counts(io_queue).covered, 0), (io_queue_wait(io_queue, 3, UINT64_MAX), 3),
	      (io_queue_counts(io_queue).covered, 3));
}

QUEUE_TEST(a_sync_that_reads_is_not_native)
{
	io_queue = with_writes(METHOD_NATIVE, FLUSH_FSYNC);
	fake.flush_opcode = IBV_WC_RDMA_READ;
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((io_queue_sync(io_queue), -EOPNOTSUPP), (failure_get()->text, HAS("mode=native")));
}

/* --- answers ------------------------------------------------------------------------- */

FORGE(another_slot, answer->slot++)
FORGE(no_such_slot, answer->slot = UINT32_MAX)
FORGE(no_such_status, answer->status = PERSIST_STATUSES)
FORGE(too_short, *bytes = 7)
FORGE(too_long, *bytes = UINT32_MAX)
FORGE(no_message, *opcode = IBV_WC_RECV_RDMA_WITH_IMM)

QUEUE_TEST(a_hostile_answer_ends_the_connection)
{
	static const struct {
		void (*forge)(struct persist_answer *, uint32_t *, enum ibv_wc_opcode *);
		const char *sentence;
	} cases[] = {{another_slot, HAS("something else than it was asked")},
		     {no_such_slot, HAS("something else than it was asked")},
		     {no_such_status, HAS("malformed")},
		     {too_short, HAS("malformed")},
		     {too_long, HAS("malformed")},
		     {no_message, HAS("malformed")}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		io_queue = with_writes(METHOD_GPSPM, FLUSH_EACH);
		fake.forge = cases[i].forge;
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((io_queue_wait(io_queue, 3, UINT64_MAX), 3),
		      (fake_done(io_queue), "0x 1x 2x "), (io_queue_broken(io_queue), EIO),
		      (fake.disconnected, true), (failure_get()->text, cases[i].sentence));
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(an_answer_nobody_waits_for_ends_the_connection)
{
	io_queue = with_writes(METHOD_GPSPM, FLUSH_EACH);
	io_queue_commit(io_queue, NULL, NULL);
	fake_run(6);
	fake.asked++;
	EQUAL((io_queue_poll(io_queue), 3), (fake_done(io_queue), "0 1 2 "),
	      (io_queue_broken(io_queue), EIO), (failure_get()->text, HAS("without being asked")));
}

/* For immediate data that is not answered, an empty message gives credit. */
QUEUE_TEST(a_hostile_credit_ends_the_connection)
{
	for (int i = 0; i < 3; i++) {
		fake_begin(METHOD_APM, 1);
		io_queue = fake_io_queue(FLUSH_NONE, WRITE_IMM, 1);
		fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
		io_queue_commit(io_queue, NULL, NULL);
		if (i == 0)
			fake.forge = too_short;
		else if (i == 1)
			fake.forge = no_message;
		io_queue_wait(io_queue, 1, UINT64_MAX);
		if (i == 2)
			fake.numbers++;
		io_queue_poll(io_queue);
		EQUAL((io_queue_broken(io_queue), EIO),
		      (failure_get()->text, i < 2 ? HAS("malformed") : HAS("without being asked")));
		io_queue_close(&io_queue);
	}
}

FORGE(refuses, answer->status = PERSIST_FAILED)

QUEUE_TEST(what_the_server_could_not_make_durable_fails_alone)
{
	io_queue = with_writes(METHOD_GPSPM, FLUSH_AUTO);
	fake.forge = refuses;
	io_queue_commit(io_queue, NULL, NULL);
	assert_int_equal(io_queue_wait(io_queue, 3, UINT64_MAX), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(status_of(io_queue, i), IBV_WC_SUCCESS);
	EQUAL((fake_done(io_queue), "0x 1x 2x "), (io_queue_broken(io_queue), 0));
	fake.forge = NULL;
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	io_queue_commit(io_queue, NULL, NULL);
	io_queue_wait(io_queue, 1, UINT64_MAX);
	assert_string_equal(fake_done(io_queue), "0 ");
}

QUEUE_TEST(a_receive_that_cannot_be_posted_ends_it)
{
	io_queue = with_writes(METHOD_GPSPM, FLUSH_AUTO);
	fake.receive_fails = true;
	io_queue_commit(io_queue, NULL, NULL);
	EQUAL((io_queue_wait(io_queue, 3, UINT64_MAX), 3), (io_queue_broken(io_queue), EIO),
	      (failure_get()->text, HAS("cannot post a receive")));
}

/* --- another connection ---------------------------------------------------------------- */

/* Does what job_connection_reconnect() does. */
static void reconnect(enum method method)
{
	bool unflushed[FAKE_REGION];

	memcpy(unflushed, fake.unflushed, sizeof(unflushed));
	fake_begin(method, DEPTH);
	memcpy(fake.unflushed, unflushed, sizeof(unflushed));
}

QUEUE_TEST(after_a_reconnect_all_works_again)
{
	static const enum method methods[] = {METHOD_APM, METHOD_NATIVE, METHOD_GPSPM};

	for (size_t i = 0; i < 3; i++) {
		io_queue = with_writes(methods[i], FLUSH_EACH);
		fake.fail = 'w';
		fake.fail_after = 2;
		fake.status = IBV_WC_RETRY_EXC_ERR;
		io_queue_commit(io_queue, NULL, NULL);
		io_queue_wait(io_queue, 3, UINT64_MAX);
		assert_int_equal(io_queue_broken(io_queue), EIO);
		fake_done(io_queue);
		reconnect(methods[i]);
		io_queue_abandon(io_queue, EIO);
		EQUAL((io_queue_broken(io_queue), 0), (io_queue_out(io_queue), 0));
		for (uint32_t k = 0; k < DEPTH; k++)
			fake_add(io_queue, k, OPERATION_WRITE, k * 8, 8);
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((io_queue_wait(io_queue, DEPTH, UINT64_MAX), DEPTH),
		      (fake_done(io_queue), "0 1 2 3 "));
		io_queue_close(&io_queue);
	}
}

QUEUE_TEST(abandoning_ends_what_is_out_and_what_was_added)
{
	io_queue = with_writes(METHOD_APM, FLUSH_AUTO);
	io_queue_commit(io_queue, NULL, NULL);
	fake_add(io_queue, 3, OPERATION_READ, 0, 8);
	io_queue_abandon(io_queue, ECANCELED);
	EQUAL((io_queue_operation(io_queue, 2)->error, ECANCELED),
	      (io_queue_operation(io_queue, 2)->status, IBV_WC_SUCCESS),
	      (fake_done(io_queue), "3x 0x 1x 2x "), (io_queue_added(io_queue), 0));
}

QUEUE_TEST(what_was_dirty_at_a_break_is_told_once)
{
	io_queue = with_writes(METHOD_NATIVE, FLUSH_FSYNC);
	io_queue_commit(io_queue, NULL, NULL);
	io_queue_wait(io_queue, 3, UINT64_MAX);
	assert_string_equal(fake_done(io_queue), "0 1 2 ");
	reconnect(METHOD_NATIVE);
	io_queue_abandon(io_queue, EIO);
	EQUAL((io_queue_dirty(io_queue), true), (io_queue_sync(io_queue), -EIO),
	      (failure_get()->text, HAS("may be lost")), (fake.log, ""),
	      (io_queue_dirty(io_queue), false), (io_queue_sync(io_queue), 0));
}

/* The sync that tells of it waits for nothing: what is on the new connection is flushed by the
 * next. */
QUEUE_TEST(what_is_written_after_a_break_stays_dirty)
{
	static const struct {
		enum method method;
		const char *flush;
	} cases[] = {{METHOD_APM, "f0+8! "}, {METHOD_NATIVE, "f64+8! "}, {METHOD_GPSPM, "s64+8! "}};

	for (size_t i = 0; i < 3; i++) {
		io_queue = with_writes(cases[i].method, FLUSH_FSYNC);
		io_queue_commit(io_queue, NULL, NULL);
		io_queue_wait(io_queue, 3, UINT64_MAX);
		fake_done(io_queue);
		reconnect(cases[i].method);
		io_queue_abandon(io_queue, EIO);
		fake_add(io_queue, 0, OPERATION_WRITE, 64, 8);
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((io_queue_sync(io_queue), -EIO), (io_queue_dirty(io_queue), true));
		fake_forget();
		EQUAL((io_queue_sync(io_queue), 0), (fake.log, cases[i].flush),
		      (io_queue_dirty(io_queue), false));
		io_queue_close(&io_queue);
	}
}

/* --- opening ----------------------------------------------------------------------------- */

QUEUE_TEST(queues_that_are_too_small_are_refused)
{
	for (int i = 0; i < 5; i++) {
		const struct io_queue_cfg cfg = {.connection = &fake.connection,
						 .policy = FLUSH_AUTO,
						 .write_op = i < 3 ? WRITE_PLAIN : WRITE_IMM,
						 .depth = i == 4 ? 0 : DEPTH};
		fake_begin(i < 3 ? METHOD_GPSPM : METHOD_APM, DEPTH);
		fake.connection.cfg.sq_size -= i == 0;
		fake.connection.cfg.cq_size -= i == 1;
		if (i == 2 || i == 3)
			fake.connection.cfg.job_request.depth = i == 2 ? DEPTH - 1 : 2 * DEPTH - 2;
		assert_int_not_equal(io_queue_open(&io_queue, &cfg), 0);
		assert_null(io_queue);
	}
}

static unsigned calloc_fails_in; /* calls; 0: it does not */

void *__real_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes)
{
	if (calloc_fails_in > 0 && --calloc_fails_in == 0)
		return NULL;
	return __real_calloc(count, bytes);
}

/* Each array of the queue, and the two of what is dirty. */
QUEUE_TEST(memory_that_runs_out_is_told)
{
	for (unsigned at = 1; at <= 8; at++) {
		const struct io_queue_cfg cfg = {.connection = &fake.connection,
						 .policy = FLUSH_FSYNC,
						 .depth = DEPTH,
						 .grain = 8};

		fake_begin(METHOD_APM, DEPTH);
		calloc_fails_in = at;
		assert_int_not_equal(io_queue_open(&io_queue, &cfg), 0);
		EQUAL((calloc_fails_in, 0), (failure_get()->text, HAS("out of memory")));
		assert_null(io_queue);
	}
}

QUEUE_TEST(blocks_beyond_32_bits_are_refused)
{
	static const uint32_t blocks[] = {1, 2};

	for (size_t i = 0; i < 2; i++) {
		const struct io_queue_cfg cfg = {.connection = &fake.connection,
						 .policy = FLUSH_AUTO,
						 .write_op = WRITE_IMM,
						 .depth = DEPTH};

		fake_begin(METHOD_GPSPM, DEPTH);
		fake.connection.cfg.job_request.imm_bytes = blocks[i];
		fake.connection.remote_bytes = 1ULL << 34;
		EQUAL((io_queue_open(&io_queue, &cfg), -EINVAL),
		      (failure_get()->text, HAS("write_op=imm")));
	}
}
