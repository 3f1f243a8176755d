/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_service_log.c -- a server's lines on its clients: their time, and how many a second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rdma/service_log.h"
#include "tests/lib/test.h"

static char *written;
static size_t length;
static struct service_log log_of_test;

static int setup(void **state)
{
	FILE *to = open_memstream(&written, &length);

	(void)state;
	setenv("TZ", "XXX-02:30", 1); /* two and a half hours east */
	tzset();
	service_log_init(&log_of_test, to, "tool server");
	return to == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	fclose(log_of_test.to);
	service_log_destroy(&log_of_test);
	free(written);
	return 0;
}

static unsigned lines(void)
{
	unsigned count = 0;

	fflush(log_of_test.to);
	for (const char *at = written; (at = strchr(at, '\n')) != NULL; at++)
		count++;
	return count;
}

static void a_line_has_the_local_time_to_the_second(void **state)
{
	(void)state;
	/* date -u -d 2001-09-09T01:46:40Z +%s is 1000000000 */
	service_log_line(&log_of_test, 1000000000, "client 192.0.2.1: refused");
	fflush(log_of_test.to);
	assert_string_equal(written,
			    "tool server: 2001-09-09T04:16:40+0230 client 192.0.2.1: refused\n");
}

static void more_lines_than_a_second_may_have_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < SERVICE_LOG_LINES_MAX + 7; i++)
		service_log_line(&log_of_test, 100, "x");
	assert_int_equal(lines(), SERVICE_LOG_LINES_MAX);
	service_log_line(&log_of_test, 101, "y");
	assert_int_equal(lines(), SERVICE_LOG_LINES_MAX + 2);
	assert_non_null(strstr(written, " 7 more lines not shown\n"));
}

static void the_count_is_written_though_no_line_follows(void **state)
{
	(void)state;
	assert_false(service_log_settle(&log_of_test, 99));
	for (int i = 0; i < SERVICE_LOG_LINES_MAX + 1; i++)
		service_log_line(&log_of_test, 100, "x");
	assert_true(service_log_settle(&log_of_test, 100));
	assert_int_equal(lines(), SERVICE_LOG_LINES_MAX);
	assert_false(service_log_settle(&log_of_test, 101));
	assert_int_equal(lines(), SERVICE_LOG_LINES_MAX + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_has_the_local_time_to_the_second, setup,
						teardown),
		cmocka_unit_test_setup_teardown(more_lines_than_a_second_may_have_are_counted,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_count_is_written_though_no_line_follows, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
