/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_job_connection.c -- connecting, leaving and coming back, over one that is made
 * up: what is asked for, how often, and that nothing is left behind. What a
 * server may say is in test_job_connection_reply.c.
 */
#include "fake_connection.h"

#define MS 1000000ULL

JOB_TEST(a_client_sends_its_request_and_takes_the_region)
{
	struct job_request job_request;
	enum handshake_answer answer;

	fake_connection_begin(METHOD_APM);
	fake.cfg.job_request.job = 1;
	fake.cfg.job_request.jobs = 3;
	EQUAL((job_connection_open(&connection, &fake.cfg), 0),
	      (job_request_decode(fake.handshake, sizeof(fake.handshake), &job_request, &answer),
	       0),
	      (answer, HANDSHAKE_WELCOME), (job_request.method, METHOD_APM), (job_request.job, 1),
	      (job_request.jobs, 3), (job_request.again, false),
	      (connection.server, "server 127.0.0.1:7204"), (connection.device, "fake0"),
	      (connection.remote_bytes, FAKE_REGION_BYTES));
	assert_non_null(connection.remote);
	assert_ptr_equal(connection.conn, FAKE_CONN);
	assert_ptr_equal(connection.cq, FAKE_CQ);
	EQUAL((fake.queues.sq_size, 10), (fake.queues.cq_size, 14), (fake.queues.rq_size, 1),
	      (fake.receives, 0));
}

JOB_TEST(gpspm_has_a_receive_for_each_message)
{
	opened(METHOD_GPSPM);
	EQUAL((fake.queues.rq_size, 4), (fake.receives, 4));
}

/* The server reports how many more it can take where they are not answered. */
JOB_TEST(immediate_data_has_a_few)
{
	fake_connection_begin(METHOD_APM);
	fake.cfg.job_request.depth = 256;
	EQUAL((job_connection_open(&connection, &fake.cfg), 0),
	      (fake.queues.rq_size, JOB_CONNECTION_CREDITS),
	      (fake.receives, JOB_CONNECTION_CREDITS));
}

JOB_TEST(a_receive_that_cannot_be_posted_is_told)
{
	fake_connection_begin(METHOD_GPSPM);
	fake.receive_fails = true;
	EQUAL((job_connection_open(&connection, &fake.cfg), -EIO), (fake.tries, 1),
	      (failure_get()->text, HAS("cannot post a receive")));
}

JOB_TEST(memory_is_registered_for_what_it_does)
{
	static char buffers[4096];

	opened(METHOD_APM);
	EQUAL((job_connection_register_buffers(&connection, buffers, sizeof(buffers)), 0),
	      (fake.usage, RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC));
	assert_ptr_equal(connection.buffer_memory, buffers);
	EQUAL((job_connection_make_zeros(&connection, 4096), 0),
	      (fake.usage, RPMA_MR_USAGE_WRITE_SRC));
}

JOB_TEST(memory_that_cannot_be_registered_is_told)
{
	static char buffers[4096];

	opened(METHOD_APM);
	fake.register_fails = true;
	EQUAL((job_connection_register_buffers(&connection, buffers, sizeof(buffers)), -EIO),
	      (failure_get()->text, HAS("cannot register the job's buffers of 4 KiB with fake0")),
	      (job_connection_make_zeros(&connection, 4096), -EIO));
	job_connection_close(&connection);
	fake_connection_begin(METHOD_GPSPM);
	fake.register_fails = true;
	EQUAL((job_connection_open(&connection, &fake.cfg), -EIO),
	      (failure_get()->text, HAS("cannot register messages")));
}

JOB_TEST(a_device_that_is_not_there_is_told)
{
	fake_connection_begin(METHOD_APM);
	fake.no_device = true;
	EQUAL((job_connection_open(&connection, &fake.cfg), -EIO), (fake.tries, 0),
	      (failure_get()->text, HAS("no such device")));
}

/* --- patience ---------------------------------------------------------------------- */

JOB_TEST(a_server_that_comes_late_is_waited_for)
{
	fake_connection_begin(METHOD_APM);
	fake.failures = 15;
	EQUAL((job_connection_open(&connection, &fake.cfg), 0), (fake.tries, 16),
	      (fake.now_ns, 1500 * MS));
}

JOB_TEST(a_server_that_never_comes_is_waited_for_so_long)
{
	static const struct {
		unsigned timeout_s, tries;
	} cases[] = {{0, 1}, {2, 21}};

	for (size_t i = 0; i < 2; i++) {
		fake_connection_begin(METHOD_APM);
		fake.failures = 1000;
		fake.settings.connect_timeout_s = cases[i].timeout_s;
		EQUAL((job_connection_open(&connection, &fake.cfg), -EIO),
		      (fake.tries, cases[i].tries),
		      (failure_get()->text, HAS("no server listens (connect_timeout=")));
		connection_end();
	}
}

static bool stopped(void *arg)
{
	return fake.tries == 3;
}

JOB_TEST(waiting_ends_when_the_job_does)
{
	fake_connection_begin(METHOD_APM);
	fake.failures = 1000;
	fake.cfg.stopped = stopped;
	EQUAL((job_connection_open(&connection, &fake.cfg), -ECANCELED), (fake.tries, 3));
}

JOB_TEST(what_is_wrong_here_is_not_tried_again)
{
	for (int here = 0; here < 2; here++) {
		fake_connection_begin(METHOD_APM);
		fake.failures = 1;
		fake.failure = here ? EXIT_RUN_FAILED : EXIT_INTERNAL;
		fake.here = here;
		EQUAL((job_connection_open(&connection, &fake.cfg), -EIO), (fake.tries, 1));
		connection_end();
	}
}

/* The network may need a moment to find the server again. */
JOB_TEST(what_fails_here_on_coming_back_is_tried_again)
{
	opened(METHOD_APM);
	fake.failures = 5;
	fake.here = true;
	assert_int_equal(job_connection_reconnect(&connection), 0);
}

JOB_TEST(a_client_that_refuses_the_server_says_goodbye)
{
	fake_connection_begin(METHOD_APM);
	fake.settings.flush_type = FLUSH_TYPE_PERSISTENT;
	EQUAL((job_connection_open(&connection, &fake.cfg), -EIO), (fake.goodbyes, 1),
	      (failure_get()->text, HAS("flush_type=persistent")));
}

JOB_TEST(a_refusal_is_not_tried_again)
{
	fake_connection_begin(METHOD_APM);
	fake.job_reply.refusal = REFUSAL_FULL;
	EQUAL((job_connection_open(&connection, &fake.cfg), -EIO), (fake.tries, 1));
}

/* --- coming back --------------------------------------------------------------------- */

JOB_TEST(a_client_that_comes_again_says_so)
{
	enum handshake_answer answer;
	struct job_request job_request;

	opened(METHOD_GPSPM);
	EQUAL((job_connection_reconnect(&connection), 0),
	      (job_request_decode(fake.handshake, sizeof(fake.handshake), &job_request, &answer),
	       0),
	      (job_request.again, true), (fake.receives, 8), (fake.goodbyes, 0));
}

/* It may not have seen yet that the connection broke. */
JOB_TEST(a_server_that_is_full_is_asked_again_then)
{
	opened(METHOD_APM);
	fake.job_reply.refusal = REFUSAL_FULL;
	fake.full_until = 5;
	EQUAL((job_connection_reconnect(&connection), 0), (fake.tries, 5));
}

JOB_TEST(any_other_refusal_is_not_tried_again_then)
{
	opened(METHOD_APM);
	fake.job_reply.refusal = REFUSAL_METHOD;
	EQUAL((job_connection_reconnect(&connection), -EIO), (fake.tries, 2));
}

JOB_TEST(a_server_that_does_not_come_back_is_given_up)
{
	opened(METHOD_APM);
	fake.failures = 1000;
	EQUAL((job_connection_reconnect(&connection), -EIO), (fake.now_ns, 10000 * MS),
	      (connection.conn, NULL), (connection.remote, NULL));
	job_connection_close(&connection);
	assert_int_equal(fake.goodbyes, 0);
}

JOB_TEST(a_region_of_another_size_is_another_one)
{
	opened(METHOD_APM);
	fake.region_bytes = FAKE_REGION_BYTES / 2;
	EQUAL((job_connection_reconnect(&connection), -EIO), (fake.goodbyes, 1),
	      (failure_get()->text, HAS("region of another size")));
}

/* --- leaving -------------------------------------------------------------------------- */

JOB_TEST(a_client_that_is_done_says_goodbye)
{
	opened(METHOD_APM);
	/* completions of abandoned operations */
	fake.others = 3;
	job_connection_close(&connection);
	EQUAL((fake.goodbyes, 1), (fake.goodbye_seen, true));
}

JOB_TEST(a_goodbye_nobody_takes_is_not_waited_for)
{
	for (int gone = 0; gone < 2; gone++) {
		opened(METHOD_APM);
		fake.deaf = true;
		fake.gone = gone;
		job_connection_close(&connection);
		assert_int_equal(fake.goodbyes, 1);
		assert_in_range(fake.now_ns, gone ? 0 : 1000 * MS, gone ? MS : 1002 * MS);
		connection_end();
	}
}

JOB_TEST(closing_keeps_the_sentence)
{
	opened(METHOD_APM);
	failure_set(EXIT_RUN_FAILED, "data", "what went wrong");
	job_connection_close(&connection);
	EQUAL((failure_get()->text, "what went wrong"));
}
