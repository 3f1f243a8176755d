/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_fails.c -- see every_call_fails.h. */
#include "every_call_fails.h"

#include <errno.h>
#include <string.h>

/* No operation makes more calls than this. */
#define MAX_CALLS 100

static bool is_allocation(const char *call)
{
	return strcmp(call, "malloc") == 0 || strcmp(call, "calloc") == 0 ||
	       strcmp(call, "mmap") == 0;
}

static int expected_result(const struct operation *operation, const char *failed)
{
	if (failed == NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_LENGTH(operation->exceptions); i++)
		if (operation->exceptions[i].call != NULL &&
		    strcmp(operation->exceptions[i].call, failed) == 0)
			return operation->exceptions[i].result;
	if (is_allocation(failed))
		return RPMA_E_NOMEM;
	return strcmp(failed, "munmap") == 0 ? RPMA_E_INVAL : RPMA_E_PROVIDER;
}

/* Run the operation with its nth call failing; false when it makes no nth call. */
static bool nth_call_fails(const struct operation *operation, unsigned nth,
			   enum rpma_log_level level)
{
	const char *failed;
	int result;

	operation->setup(NULL);
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, level));
	logged[RPMA_LOG_LEVEL_ERROR] = 0;
	calls_watch_allocations(true);
	calls_fail_nth(nth, EIO);
	result = operation->act();
	calls_fail_never();
	calls_watch_allocations(false);
	failed = calls_first_failed();
	if (result != expected_result(operation, failed))
		print_error("call %u (%s) failed:\n", nth, failed == NULL ? "none" : failed);
	expect_named(expected_result(operation, failed), operation->function, result);
	if (result == RPMA_E_PROVIDER && !on_reference()) /* which forgets some */
		assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR] > 0, level >= RPMA_LOG_LEVEL_ERROR);
	if (result != 0)
		reference_leaks(id, operation->reference_leaks_ids, "see the operation");
	teardown(NULL);
	return failed != NULL;
}

void every_call_fails(const struct operation *operation)
{
	unsigned nth = 1;

	while (nth_call_fails(operation, nth, RPMA_LOG_LEVEL_DEBUG))
		assert_true(++nth < MAX_CALLS);
	for (; nth > 0; nth--) /* the log changes nothing */
		nth_call_fails(operation, nth, RPMA_LOG_DISABLED);
}
