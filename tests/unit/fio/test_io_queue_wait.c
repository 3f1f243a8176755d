/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_io_queue_wait.c -- how long is waited, how, and what ends it. The time is
 * that of the fake device.
 */
#include "common/base/failure.h"
#include "fake_device.h"

#define MS    1000000ULL
#define DEPTH 4

static struct io_queue *with_reads(bool poll)
{
	struct io_queue *q;

	fake_begin(METHOD_APM, DEPTH);
	fake.settings.poll = poll;
	q = fake_io_queue(FLUSH_AUTO, WRITE_PLAIN, DEPTH);
	for (uint32_t i = 0; i < 3; i++)
		fake_add(q, i, OPERATION_READ, i * 8, 8);
	io_queue_commit(q, NULL, NULL);
	return q;
}

/* Once by events and once by polling, with a queue that has three reads under way. */
#define EACH_WAY                                                                                   \
	for (int poll = 0; poll < 2 && (io_queue = with_reads(poll != 0)) != NULL;                 \
	     io_queue_close(&io_queue), poll++)

QUEUE_TEST(it_waits_for_as_many_as_are_wanted)
{
	EACH_WAY
	{
		fake.pace = 1;
		EQUAL((io_queue_wait(io_queue, 2, UINT64_MAX), 2), (fake_done(io_queue), "0 1 "),
		      (io_queue_wait(io_queue, 1, UINT64_MAX), 1));
	}
}

QUEUE_TEST(it_waits_for_no_more_than_are_out)
{
	EACH_WAY
	{
		assert_int_equal(io_queue_wait(io_queue, DEPTH, UINT64_MAX), 3);
		fake_done(io_queue);
		assert_int_equal(io_queue_wait(io_queue, 1, UINT64_MAX), 0);
	}
}

QUEUE_TEST(it_sleeps_only_when_told_to)
{
	EACH_WAY
	{
		fake.pace = 1;
		io_queue_wait(io_queue, 3, UINT64_MAX);
		assert_int_equal(fake.waits > 0, !poll);
	}
}

QUEUE_TEST(it_ends_with_its_time)
{
	EACH_WAY
	{
		fake.silent = true;
		assert_int_equal(io_queue_wait(io_queue, 1, 500 * MS), 0);
		assert_in_range(fake.now_ns, 500 * MS, 600 * MS);
		EQUAL((io_queue_broken(io_queue), 0), (io_queue_out(io_queue), 3));
	}
}

QUEUE_TEST(no_time_at_all_is_a_poll)
{
	io_queue = with_reads(false);
	fake.silent = true;
	EQUAL((io_queue_wait(io_queue, 1, 0), 0), (fake.waits, 0));
	fake.silent = false;
	assert_int_equal(io_queue_wait(io_queue, 1, 0), 3);
}

QUEUE_TEST(a_minute_without_progress_ends_the_connection)
{
	EACH_WAY
	{
		fake.silent = true;
		fake.tick_ns = 10 * MS;
		assert_int_equal(io_queue_wait(io_queue, 1, UINT64_MAX), 3);
		assert_in_range(fake.now_ns, 60000 * MS, 61000 * MS);
		EQUAL((io_queue_broken(io_queue), ETIMEDOUT),
		      (io_queue_operation(io_queue, 0)->error, ETIMEDOUT),
		      (fake_done(io_queue), "0x 1x 2x "), (failure_get()->text, HAS("for 60 s")),
		      (fake.disconnected, true));
	}
}

QUEUE_TEST(a_server_that_leaves_ends_the_wait)
{
	EACH_WAY
	{
		fake.silent = true;
		fake.gone = true;
		assert_int_equal(io_queue_wait(io_queue, 1, UINT64_MAX), 3);
		assert_in_range(fake.now_ns, 0, 10 * MS);
		EQUAL((io_queue_broken(io_queue), EIO), (fake_done(io_queue), "0x 1x 2x "));
	}
}

static bool stopped(void *arg)
{
	return *(const bool *)arg;
}

QUEUE_TEST(a_job_that_stops_gets_back_what_still_completes)
{
	bool stop = true;

	io_queue = with_reads(true);
	fake.connection.cfg.stopped = stopped;
	fake.connection.cfg.arg = &stop;
	fake.pace = 1;
	EQUAL((io_queue_wait(io_queue, 3, UINT64_MAX), 3), (fake_done(io_queue), "0 1 2 "));
}

QUEUE_TEST(a_job_that_stops_waits_two_seconds)
{
	EACH_WAY
	{
		bool stop = true;

		fake.connection.cfg.stopped = stopped;
		fake.connection.cfg.arg = &stop;
		fake.silent = true;
		assert_int_equal(io_queue_wait(io_queue, 3, UINT64_MAX), 3);
		assert_in_range(fake.now_ns, 2000 * MS, 2300 * MS);
		EQUAL((io_queue_broken(io_queue), ECANCELED), (fake_done(io_queue), "0x 1x 2x "));
	}
}

QUEUE_TEST(a_sync_waits_within_the_same_limits)
{
	fake_begin(METHOD_APM, DEPTH);
	io_queue = fake_io_queue(FLUSH_FSYNC, WRITE_PLAIN, DEPTH);
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	io_queue_commit(io_queue, NULL, NULL);
	fake.silent = true;
	fake.tick_ns = 10 * MS;
	assert_int_equal(io_queue_sync(io_queue), -ETIMEDOUT);
	assert_in_range(fake.now_ns, 60000 * MS, 61000 * MS);
	assert_string_equal(fake_done(io_queue), "0x ");
}

/* It is asked each time that the wait looks up. */
static bool hears_again(void *arg)
{
	fake.deaf = false;
	return false;
}

/* A write with immediate data that finds no receive would be tried again after 655 ms. */
QUEUE_TEST(a_write_waits_for_a_receive_of_the_server)
{
	fake_begin(METHOD_APM, 1);
	io_queue = fake_io_queue(FLUSH_NONE, WRITE_IMM, 1);
	fake.deaf = true;
	for (int i = 0; i < 2; i++) {
		fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
		io_queue_commit(io_queue, NULL, NULL);
		assert_int_equal(io_queue_wait(io_queue, 1, UINT64_MAX), 1);
		fake_done(io_queue);
	}
	fake.connection.cfg.stopped = hears_again;
	fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
	assert_false(fake.deaf);
}

QUEUE_TEST(a_write_that_never_gets_one_comes_back)
{
	fake_begin(METHOD_APM, 1);
	io_queue = fake_io_queue(FLUSH_NONE, WRITE_IMM, 1);
	fake.deaf = true;
	fake.tick_ns = 10 * MS;
	for (int i = 0; i < 3; i++) {
		fake_add(io_queue, 0, OPERATION_WRITE, 0, 8);
		io_queue_commit(io_queue, NULL, NULL);
		EQUAL((io_queue_wait(io_queue, 1, UINT64_MAX), 1),
		      (fake_done(io_queue), i < 2 ? "0 " : "0x "));
	}
	assert_int_equal(io_queue_broken(io_queue), ETIMEDOUT);
}
