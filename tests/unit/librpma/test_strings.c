/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_strings.c -- the texts of errors and events; test_abi.py compares them with those of
 * the reference.
 */
#include "world.h"

#define LAST_ERROR RPMA_E_NOT_SHARED_CHNL /* in 1.2; RPMA_E_TIMEOUT is behind it */
#define LAST_EVENT RPMA_CONN_UNREACHABLE

TEST(err_2str__has_a_text_of_its_own_for_each_error, setup_nothing, teardown)
{
	for (int a = RPMA_E_UNKNOWN; a >= LAST_ERROR; a--)
		for (int b = RPMA_E_UNKNOWN; b > a; b--)
			assert_string_not_equal(rpma_err_2str(a), rpma_err_2str(b));
	assert_string_not_equal(rpma_err_2str(0), rpma_err_2str(RPMA_E_UNKNOWN));
}

TEST(err_2str__does_not_know_other_values, setup_nothing, teardown)
{
	static const int others[] = {1, -1, RPMA_E_UNKNOWN + 1, LAST_ERROR - 2, INT32_MIN};

	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		assert_string_equal(rpma_err_2str(others[i]), rpma_err_2str(RPMA_E_UNKNOWN));
}

static const char *event_text(int event)
{
	return rpma_utils_conn_event_2str((enum rpma_conn_event)event);
}

TEST(conn_event_2str__has_a_text_of_its_own_for_each_event, setup_nothing, teardown)
{
	for (int a = RPMA_CONN_UNDEFINED; a <= LAST_EVENT + 1; a++)
		for (int b = RPMA_CONN_UNDEFINED; b < a; b++)
			assert_string_not_equal(event_text(a), event_text(b));
}

TEST(conn_event_2str__does_not_know_other_values, setup_nothing, teardown)
{
	assert_string_equal(event_text(RPMA_CONN_UNDEFINED - 1), event_text(LAST_EVENT + 1));
	assert_string_equal(event_text(INT32_MAX), event_text(LAST_EVENT + 1));
}
