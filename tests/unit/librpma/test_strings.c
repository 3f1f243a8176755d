/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_strings.c -- the texts of errors and events. `test_strings --print` lists
 * them, so that ours can be compared with those of the reference.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#define LAST_ERROR RPMA_E_NOT_SHARED_CHNL /* in 1.2; RPMA_E_TIMEOUT is behind it */
#define LAST_EVENT RPMA_CONN_UNREACHABLE

static void err_2str__has_a_text_of_its_own_for_each_error(void **unused)
{
	for (int a = RPMA_E_UNKNOWN; a >= LAST_ERROR; a--)
		for (int b = RPMA_E_UNKNOWN; b > a; b--)
			assert_string_not_equal(rpma_err_2str(a), rpma_err_2str(b));
	assert_string_not_equal(rpma_err_2str(0), rpma_err_2str(RPMA_E_UNKNOWN));
}

static void err_2str__does_not_know_other_values(void **unused)
{
	static const int others[] = {1, -1, RPMA_E_UNKNOWN + 1, LAST_ERROR - 2, INT32_MIN};

	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		assert_string_equal(rpma_err_2str(others[i]), rpma_err_2str(RPMA_E_UNKNOWN));
}

static const char *event_text(int event)
{
	return rpma_utils_conn_event_2str((enum rpma_conn_event)event);
}

static void conn_event_2str__has_a_text_of_its_own_for_each_event(void **unused)
{
	for (int a = RPMA_CONN_UNDEFINED; a <= LAST_EVENT + 1; a++)
		for (int b = RPMA_CONN_UNDEFINED; b < a; b++)
			assert_string_not_equal(event_text(a), event_text(b));
}

static void conn_event_2str__does_not_know_other_values(void **unused)
{
	assert_string_equal(event_text(RPMA_CONN_UNDEFINED - 1), event_text(LAST_EVENT + 1));
	assert_string_equal(event_text(INT32_MAX), event_text(LAST_EVENT + 1));
}

static int print_texts(void)
{
	for (int error = 1; error >= -1; error--)
		printf("%d %s\n", error, rpma_err_2str(error));
	for (int error = RPMA_E_UNKNOWN + 1; error >= LAST_ERROR; error--)
		printf("%d %s\n", error, rpma_err_2str(error));
	for (int event = RPMA_CONN_UNDEFINED - 1; event <= LAST_EVENT + 1; event++)
		printf("event %d %s\n", event, event_text(event));
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(err_2str__has_a_text_of_its_own_for_each_error, setup_nothing),
		TEST(err_2str__does_not_know_other_values, setup_nothing),
		TEST(conn_event_2str__has_a_text_of_its_own_for_each_event, setup_nothing),
		TEST(conn_event_2str__does_not_know_other_values, setup_nothing),
	};

	if (argc == 2 && strcmp(argv[1], "--print") == 0)
		return print_texts();
	return run_library_tests(tests, argc, argv);
}
