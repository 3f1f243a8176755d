/* SPDX-License-Identifier: BSD-3-Clause */
/* test_service_log.c -- a server's lines on its clients: their time, and how many a second. */
#include "common/base/failure.h"
#include "common/rdma/service.h"
#include "tests/lib/test.h"

static char *written;
static size_t length;
static struct service_log log_of_test;

static int setup(void **state)
{
	FILE *to = open_memstream(&written, &length);

	setenv("TZ", "XXX-02:30", 1); /* two and a half hours east */
	tzset();
	service_log_init(&log_of_test, to, "tool server");
	return to == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	fclose(log_of_test.to);
	service_log_destroy(&log_of_test);
	free(written);
	return 0;
}

/* For all that a service writes. */
time_t __wrap_time(time_t *unused) /* NOLINT(readability-non-const-parameter): as time() has it */
{
	(void)unused;
	return 100;
}

static unsigned lines(void)
{
	unsigned count = 0;

	fflush(log_of_test.to);
	for (const char *at = written; (at = strchr(at, '\n')) != NULL; at++)
		count++;
	return count;
}

TEST(a_line_has_the_local_time_to_the_second, setup, teardown)
{
	/* date -u -d 2001-09-09T01:46:40Z +%s is 1000000000 */
	service_log_line(&log_of_test, 1000000000, "client 192.0.2.1: refused");
	fflush(log_of_test.to);
	assert_string_equal(written,
			    "tool server: 2001-09-09T04:16:40+0230 client 192.0.2.1: refused\n");
}

TEST(more_lines_than_a_second_may_have_are_counted, setup, teardown)
{
	for (int i = 0; i < SERVICE_LOG_LINES_MAX + 7; i++)
		service_log_line(&log_of_test, 100, "x");
	assert_int_equal(lines(), SERVICE_LOG_LINES_MAX);
	service_log_line(&log_of_test, 101, "y");
	EQUAL((lines(), SERVICE_LOG_LINES_MAX + 2), (written, HAS(" 7 more lines not shown\n")));
}

TEST(the_count_is_written_though_no_line_follows, setup, teardown)
{
	assert_false(service_log_settle(&log_of_test, 99));
	for (int i = 0; i < SERVICE_LOG_LINES_MAX + 1; i++)
		service_log_line(&log_of_test, 100, "x");
	EQUAL((service_log_settle(&log_of_test, 100), true), (lines(), SERVICE_LOG_LINES_MAX),
	      (service_log_settle(&log_of_test, 101), false), (lines(), SERVICE_LOG_LINES_MAX + 1));
}

/* One that cannot serve its clients complains of each. */
TEST(a_quiet_service_has_complaints_alone_and_limited, setup, teardown)
{
	struct service service = {.endpoint.quiet = true, .log = log_of_test};

	service_say(&service, "client 192.0.2.1: refused");
	failure_set(EXIT_RUN_FAILED, "connect", "no queue pair");
	for (int i = 0; i < SERVICE_LOG_LINES_MAX + 7; i++)
		service_complain(&service);
	EQUAL((lines(), SERVICE_LOG_LINES_MAX), (service_log_settle(&service.log, 101), false),
	      (lines(), SERVICE_LOG_LINES_MAX + 1), (written, HAS(" no queue pair\n")),
	      (written, HAS(" 7 more lines not shown\n")),
	      (strstr(written, "refused") == NULL, true));
}
