/* SPDX-License-Identifier: BSD-3-Clause */
/* test_session_replies.c -- what a daemon may answer, and what ends the session. */
#include <pthread.h>

#include "session_script.h"

SESSION_TEST(a_status_does_not_end_the_session)
{
	begin("started,take,reply,take,reply=22,serve");
	EQUAL((session_set_attr(session, &request.attr), -EINVAL), (session_ended(session), 0),
	      (session_set_attr(session, &request.attr), 0), (session_close(&session, false), 0));
}

/* Bytes of the frame: the header has 16, and the reply begins with lanes, port, address. */
SESSION_TEST(a_reply_is_checked_against_its_request)
{
	static const struct {
		int at, value, expected;
	} cases[] = {
		{5, 2, -EPROTONOSUPPORT}, {11, 0x6e, -ETIMEDOUT},
		{15, 191, -EPROTO},				  /* the body has 192 */
		{16 + 3, 17, -EPROTO},	  {16 + 0, 128, -EPROTO}, /* lanes of 16 */
		{16 + 4, 0, 0},		  {16 + 6, 'x', -EPROTO},
		{16 + 71, 0, -EPROTO}, /* has headers */
		{16 + 77, 0, -EPROTO}, /* smaller than requested */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[64];

		snprintf(script, sizeof(script), "started,take,flip=%d:%d,serve", cases[i].at,
			 cases[i].value);
		if (create_with(script) != cases[i].expected)
			fail_msg("%s: expected %d", script, cases[i].expected);
	}
}

SESSION_TEST(a_hang_up_is_told_with_the_last_words)
{
	assert_int_equal(create_with("started,take,half"), -ECONNRESET);
	expect_text("exit status 0");
	assert_int_equal(create_with("started,take,half,err=rpmemd:_out_of_memory"), -ECONNRESET);
	expect_text("rpmemd on host was lost: rpmemd: out of memory");
	assert_int_equal(create_with("err=Authorized_use_only,started,kill=9"), -ECONNRESET);
	expect_text("rpmemd on host was lost: signal 9");
}

SESSION_TEST(a_reply_that_does_not_come_is_given_up)
{
	const struct session_cfg cfg = {
		.target = &host, .command = "started,eof", .reply_timeout_ms = 50};

	EQUAL((session_open(&session, &cfg), 0), (create(), -ECONNRESET));
	expect_text("did not answer create within 50 ms");
	assert_int_equal(session_ended(session), -ECONNRESET);
	session_close(&session, false);
}

/* The errors of a session are sticky: its end is seen by all who wait, and by every request. */
static void expect_end(const char *script, int expected)
{
	int ret;

	assert_int_equal(open_script(script), 0);
	ret = create();
	if (strstr(script, "meet") != NULL) {
		assert_int_equal(ret, 0);
		test_meet();
	} else {
		assert_true(ret == 0 || ret == expected); /* the end may come first: no pool */
	}
	assert_true(has_ended(LIMIT_MS));
	failure_get()->text[0] = '\0';
	assert_int_equal(session_ended(session), expected);
	assert_true(failure_get()->text[0] != '\0');
	EQUAL((session_set_attr(session, &request.attr), expected),
	      (session_persisted(session), expected), (session_ended(session), expected),
	      (session_close(&session, false), ret == 0 ? expected : 0));
}

SESSION_TEST(what_nobody_asked_for_ends_the_session)
{
	expect_end("started,take,reply,meet=$D/go,raw=x,eof", -EPROTO);
}

SESSION_TEST(a_lost_daemon_ends_the_session)
{
	expect_end("started,take,reply,kill=9", -ECONNRESET);
	expect_end("started,take,reply,err=ssh:_Broken_pipe,exit=255", -ECONNRESET);
	expect_text("Broken pipe");
}

SESSION_TEST(a_daemon_that_dies_at_close_is_told)
{
	begin("started,take,reply,take,err=bye,exit=1");
	assert_int_equal(session_close(&session, false), -ECONNRESET);
	expect_text("bye");
}

SESSION_TEST(the_status_of_close_is_told)
{
	begin("started,take,reply,take,reply=5,eof");
	assert_int_equal(session_close(&session, true), -EIO);
	expect_text("because");
}

SESSION_TEST(a_body_where_there_is_none_is_refused)
{
	begin("started,take,reply,take,flip=15:1,raw=x,eof");
	assert_int_equal(session_close(&session, true), -EPROTO);
	expect_text("sent a reply to");
}

/* A lane has failed: the other lanes give up, and the daemon still gets its CLOSE. */
SESSION_TEST(a_lane_can_end_the_session)
{
	begin("started,log=$D/log,serve");
	failure_set(EXIT_RUN_FAILED, "lane", "lane 3 was lost");
	session_end(session, -ECONNRESET);
	failure_set(EXIT_RUN_FAILED, "lane", "lane 4 was lost");
	session_end(session, -EIO);
	EQUAL((has_ended(LIMIT_MS), true), (session_ended(session), -ECONNRESET));
	expect_text("lane 3");
	EQUAL((session_close(&session, false), 0), (test_file("log"), "2 5 "));
}

static void *set_attr_often(void *unused)
{
	intptr_t wrong = 0;

	for (int i = 0; i < 20; i++)
		wrong += session_set_attr(session, &request.attr) != 0 ||
			 session_persisted(session) != 0;
	return (void *)wrong;
}

SESSION_TEST(threads_take_turns)
{
	pthread_t threads[4];
	void *wrong;

	begin("started,serve");
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, set_attr_often, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	assert_int_equal(session_close(&session, false), 0);
}
