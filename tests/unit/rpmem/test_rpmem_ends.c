/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rpmem_ends.c -- how a pool ends: a lost lane or daemon, a close while others
 * use it, a fork. And what the caller and the user are told.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "rpmem_test.h"

POOL_TEST(a_lost_lane_is_the_end_of_the_pool)
{
	pool = create();
	fake_lanes.result = -ECONNRESET;
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), ECONNRESET);
	assert_non_null(strstr(rpmem_errormsg(), "the fake lane failed"));
	fake_lanes.result = 0;
	fake_lanes.calls = 0;
	expect_failure(rpmem_persist(pool, PAGE, 8, 1, 0), ECONNRESET);
	expect_failure(rpmem_persist(pool, PAGE, 8, 1, 2), ECONNRESET); /* before the flags */
	expect_failure(rpmem_drain(pool, 0, 0), ECONNRESET);
	expect_failure(rpmem_read(pool, memory, PAGE, 8, 0), ECONNRESET);
	expect_failure(rpmem_set_attr(pool, &attr), ECONNRESET);
	assert_int_equal(fake_lanes.calls, 0);
	expect_failure(rpmem_close(pool), ECONNRESET);
	assert_non_null(strstr(rpmem_errormsg(), "the fake lane failed"));
	pool = NULL;
	assert_string_equal(test_file("log"), "2 5 "); /* the daemon lives, and has closed it */
}

POOL_TEST(a_lane_that_breaks_the_protocol_is_too)
{
	pool = create();
	fake_lanes.result = -EPROTO;
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), EPROTO);
	fake_lanes.result = 0;
	expect_failure(rpmem_persist(pool, PAGE, 8, 1, 0), EPROTO);
	expect_failure(rpmem_close(pool), EPROTO);
	pool = NULL;
}

POOL_TEST(other_failures_are_not)
{
	static const struct {
		int result, expected;
	} cases[] = {{-EIO, EIO},	{-ETIMEDOUT, ETIMEDOUT}, {-EMFILE, EMFILE},
		     {-ENOMEM, ENOMEM}, {-EREMOTEIO, EREMOTEIO}, {-EBUSY, EREMOTEIO}};

	pool = create();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_lanes.result = cases[i].result;
		expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), cases[i].expected);
	}
	fake_lanes.result = 0;
	assert_int_equal(rpmem_persist(pool, PAGE, 8, 0, 0), 0);
}

POOL_TEST(a_lost_daemon_is_the_end_of_the_pool)
{
	set_script("started,take,reply,kill=9");
	pool = create();
	assert_non_null(pool);
	fake_lanes.is_blocking = true; /* as a persist that is on its way */
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), ECONNRESET);
	assert_non_null(strstr(rpmem_errormsg(), "signal 9"));
	expect_failure(rpmem_close(pool), ECONNRESET);
	pool = NULL;
}

/* It may not know of the first persist, and then it removes the parts: the data are not safe. */
POOL_TEST(a_daemon_lost_in_the_first_persist_of_a_new_pool)
{
	set_script("started,take,reply,take,kill=9");
	pool = create();
	assert_non_null(pool);
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), ECONNRESET);
	expect_failure(rpmem_close(pool), ECONNRESET);
	pool = NULL;
}

POOL_TEST(bytes_that_were_not_asked_for_are_the_end_of_the_pool)
{
	set_script("started,take,reply,meet=$D/go,raw=x,eof");
	pool = create();
	assert_non_null(pool);
	fake_lanes.is_blocking = true;
	test_meet();
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), EPROTO);
	expect_failure(rpmem_close(pool), EPROTO);
	pool = NULL;
}

static void *persist_for_ever(void *unused)
{
	int ret = rpmem_persist(pool, PAGE, 8, 1, 0);

	return (void *)(intptr_t)(ret == 0 ? 0 : errno);
}

POOL_TEST(close_cancels_other_lanes_and_waits_for_them)
{
	pthread_t thread;
	void *result;

	pool = create();
	fake_lanes.is_blocking = true;
	assert_int_equal(pthread_create(&thread, NULL, persist_for_ever, NULL), 0);
	while (__atomic_load_n(&fake_lanes.blocked, __ATOMIC_ACQUIRE) == 0)
		usleep(1000);
	assert_int_equal(rpmem_close(pool), 0);
	pthread_join(thread, &result);
	EQUAL(((intptr_t)result, ECONNRESET), (test_file("log"), "2 5 "));
	pool = NULL;
}

static bool is_closed;

static void *persist_beyond_the_end(void *lane)
{
	intptr_t wrong = 0;

	for (int after = 0; after < 1000; after += __atomic_load_n(&is_closed, __ATOMIC_ACQUIRE))
		wrong += rpmem_persist(pool, PAGE, 8, (unsigned)(uintptr_t)lane, 0) != -1 ||
			 errno != ECONNRESET;
	return (void *)wrong;
}

/* libpmemobj closes the pool in the thread whose persist failed; the others do not know. */
POOL_TEST(calls_may_begin_after_a_lost_pool_was_closed)
{
	pthread_t threads[4];

	set_script("started,take,reply,meet=$D/go,kill=9");
	pool = create();
	fake_lanes.is_blocking = true;
	__atomic_store_n(&is_closed, false, __ATOMIC_RELEASE);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, persist_beyond_the_end, (void *)(i + 1)),
			0);
	test_meet();
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), ECONNRESET);
	expect_failure(rpmem_close(pool), ECONNRESET);
	__atomic_store_n(&is_closed, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 4; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	expect_failure(rpmem_close(pool), ECONNRESET);
	pool = NULL;
}

static void *close_it(void *unused)
{
	return (void *)(intptr_t)(rpmem_close(pool) == 0 ? 0 : errno);
}

POOL_TEST(a_lost_pool_may_be_closed_by_two_threads)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;

		set_script("started,take,reply,kill=9");
		pool = create();
		fake_lanes.is_blocking = true;
		expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), ECONNRESET);
		assert_int_equal(pthread_create(&thread, NULL, close_it, NULL), 0);
		expect_failure(rpmem_close(pool), ECONNRESET);
		pthread_join(thread, &result);
		assert_int_equal((intptr_t)result, ECONNRESET);
	}
	pool = NULL;
}

static int use_in_child(void)
{
	struct {
		int ret, error;
	} results[7];
	int wrong = 0;

#define TRY(i, call) (errno = 0, results[i].ret = (call), results[i].error = errno)
	TRY(0, rpmem_persist(pool, PAGE, 8, 0, 0));
	TRY(1, rpmem_flush(pool, PAGE, 8, 0, 0));
	TRY(2, rpmem_drain(pool, 0, 0));
	TRY(3, rpmem_deep_persist(pool, PAGE, 8, 0));
	TRY(4, rpmem_read(pool, memory, PAGE, 8, 0));
	TRY(5, rpmem_set_attr(pool, &attr));
	TRY(6, rpmem_close(pool));
#undef TRY
	for (size_t i = 0; i < 7; i++)
		wrong += results[i].ret != -1 || results[i].error != EINVAL;
	return wrong + (fake_lanes.calls != 0);
}

POOL_TEST(a_forked_child_cannot_use_the_pool)
{
	int status;
	pid_t pid;

	pool = create();
	pid = fork();
	if (pid == 0)
		_exit(use_in_child());
	EQUAL((waitpid(pid, &status, 0), pid), (status, 0), (rpmem_persist(pool, PAGE, 8, 0, 0), 0),
	      (rpmem_close(pool), 0));
	pool = NULL;
	assert_string_equal(test_file("log"), "2 6 5 ");
}

POOL_TEST(a_forked_child_has_pools_of_its_own)
{
	int status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	print_message("ThreadSanitizer does not support threads after a fork\n");
	skip();
#endif
	pool = create();
	pid = fork();
	if (pid == 0) {
		RPMEMpool *own = create();

		_exit(own == NULL || rpmem_persist(own, PAGE, 8, 0, 0) != 0 ||
		      rpmem_close(own) != 0);
	}
	EQUAL((waitpid(pid, &status, 0), pid), (status, 0));
}

/* --- the library --- */

POOL_TEST(versions_are_those_of_the_manual)
{
	EQUAL((rpmem_check_version(1, 0), NULL), (rpmem_check_version(1, 3), NULL));
	assert_non_null(rpmem_check_version(1, 4));
	assert_non_null(rpmem_check_version(2, 0));
	assert_non_null(rpmem_check_version(0, 3));
}

static void *fail_elsewhere(void *text)
{
	rpmem_close(NULL);
	strcpy(text, rpmem_errormsg());
	return NULL;
}

POOL_TEST(each_thread_has_its_message)
{
	char elsewhere[1024], before[1024];
	pthread_t thread;

	pool = create();
	expect_failure(rpmem_drain(pool, 0, 0x40), EINVAL);
	strcpy(before, rpmem_errormsg());
	EQUAL((before, HAS("0x40")), (pthread_create(&thread, NULL, fail_elsewhere, elsewhere), 0));
	pthread_join(thread, NULL);
	assert_string_equal(rpmem_errormsg(), before);
	assert_string_not_equal(elsewhere, before);
	assert_int_equal(rpmem_drain(pool, 0, 0), 0);
	assert_string_equal(rpmem_errormsg(), before); /* success leaves it */
}

POOL_TEST(the_user_is_told_once)
{
	char log[PATH_MAX];
	const char *at;

	scratch_path("report", log);
	report_open(REPORT_ERROR, log);
	set_script("started,take,err=rpmemd:_no_memory,exit=255");
	expect_no_pool(create(), ECONNRESET);
	assert_non_null(strstr(test_file("report"), "librpmem: rpmem_create of pool set 'pool.set' "
						    "on host failed: rpmemd on host was lost: "
						    "rpmemd: no memory\n"));
	unlink(log);
	report_open(REPORT_ERROR, log);
	set_script("started,serve");
	pool = create();
	fake_lanes.result = -ECONNRESET;
	rpmem_persist(pool, PAGE, 8, 0, 0);
	rpmem_persist(pool, PAGE, 8, 0, 0);
	rpmem_close(pool);
	pool = NULL;
	report_open(REPORT_NOTHING, NULL);
	at = strstr(test_file("report"), "the fake lane failed");
	assert_non_null(at);
	assert_null(strstr(at + 1, "librpmem:"));
}

int main(void)
{
	if (!prepare())
		return EXIT_FAILURE;
	return test_run(NULL, NULL);
}
