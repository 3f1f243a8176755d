/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_events.c -- the filters that count events: which they hit, with what,
 * and what fault_report() prints of it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault_test.h"

/* "..x" when of the first events the third was hit. */
static const char *calls_hit(const char *name, int events)
{
	static char hits[64];

	for (int i = 0; i < events; i++)
		hits[i] = fault_call_slow(name) != 0 ? 'x' : '.';
	hits[events] = '\0';
	return hits;
}

static void at_hits_one_event(void **state)
{
	use_faults("call:at=3");
	assert_string_equal(calls_hit("ibv_reg_mr", 8), "..x.....");
}

static void every_hits_each_nth(void **state)
{
	use_faults("call:every=3");
	assert_string_equal(calls_hit("ibv_reg_mr", 8), "..x..x..");
}

static void without_a_number_each_event_is_hit(void **state)
{
	use_faults("call:name=ibv_reg_mr");
	assert_string_equal(calls_hit("ibv_reg_mr", 3), "xxx");
}

static void a_call_fails_with_its_errno(void **state)
{
	use_faults("call:name=rdma_listen,errno=EADDRINUSE call:name=ibv_reg_mr");
	assert_int_equal(fault_call_slow("rdma_listen"), EADDRINUSE);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), ENOMEM);
	assert_int_equal(fault_call_slow("ibv_create_cq"), 0);
}

static void only_calls_of_the_name_count(void **state)
{
	use_faults("call:name=ibv_reg_mr,at=2");
	assert_string_equal(calls_hit("ibv_alloc_pd", 3), "...");
	assert_string_equal(calls_hit("ibv_reg_mr", 3), ".x.");
}

static int a_call(void)
{
	return FAULT_CALL();
}

static void a_hook_names_its_function(void **state)
{
	use_faults("");
	assert_int_equal(a_call(), 0);
	use_faults("call:name=ibv_poll_cq");
	assert_int_equal(a_call(), 0);
	assert_int_equal(FAULT_CALL_AS("ibv_poll_cq"), ENOMEM);
	use_faults("call:at=1,errno=EIO");
	assert_int_equal(a_call(), EIO);
}

static void stacked_filters_count_for_themselves(void **state)
{
	use_faults("call:at=2,errno=EIO call:at=2,errno=EBUSY call:at=3,errno=EAGAIN");
	assert_int_equal(fault_call_slow("ibv_reg_mr"), 0);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), EIO); /* the first decides */
	assert_int_equal(fault_call_slow("ibv_reg_mr"), EAGAIN);
}

static void rnr_says_how_many_tries_fail(void **state)
{
	use_faults("rnr:every=2,times=3");
	assert_int_equal(fault_rnr(), 0);
	assert_int_equal(fault_rnr(), 3);
	assert_int_equal(fault_rnr(), 0);
	use_faults("rnr:at=1 rnr:at=1,times=4");
	assert_int_equal(fault_rnr(), 5);
	use_faults("rnr:at=1,times=4294967295 rnr:at=1");
	assert_int_equal(fault_rnr(), UINT32_MAX);
}

static void drop_breaks_after_the_first_operations(void **state)
{
	use_faults("drop:after=2");
	assert_false(fault_drop(0));
	assert_false(fault_drop(1));
	assert_true(fault_drop(2));
	use_faults("drop:after=0");
	assert_true(fault_drop(0));
}

static void connecting_is_refused_or_finds_nobody(void **state)
{
	use_faults("refuse:at=1 unreachable:every=2");
	assert_int_equal(fault_connect(), CONNECT_REFUSED);
	assert_int_equal(fault_connect(), CONNECT_UNREACHABLE);
	assert_int_equal(fault_connect(), CONNECT_ALLOWED);
	use_faults("unreachable refuse");
	assert_int_equal(fault_connect(), CONNECT_UNREACHABLE);
}

static void registering_fails(void **state)
{
	use_faults("register:at=2,errno=EOPNOTSUPP");
	assert_int_equal(fault_register(), 0);
	assert_int_equal(fault_register(), EOPNOTSUPP);
	assert_int_equal(fault_register(), 0);
}

static void the_nth_of_the_named_operations_completes_with_an_error(void **state)
{
	use_faults("complete:op=write,at=2,status=REM_ACCESS_ERR");
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_SUCCESS);
	assert_int_equal(fault_complete(SOFT_OP_READ), IBV_WC_SUCCESS);
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_SUCCESS);
}

static unsigned complemented(const unsigned char *bytes, size_t length)
{
	unsigned count = 0;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == 0xff)
			count++;
		else
			assert_int_equal(bytes[i], 0);
	}
	return count;
}

static void one_byte_of_the_nth_is_corrupted(void **state)
{
	unsigned char bytes[100] = {0};

	use_faults("corrupt:op=write,at=2");
	assert_true(fault_corrupt_wanted());
	fault_corrupt(SOFT_OP_WRITE, bytes, sizeof(bytes));
	fault_corrupt(SOFT_OP_SEND, bytes, sizeof(bytes));
	fault_corrupt(SOFT_OP_WRITE, bytes, 0); /* moves nothing: is not counted */
	assert_int_equal(complemented(bytes, sizeof(bytes)), 0);
	fault_corrupt(SOFT_OP_WRITE, bytes, sizeof(bytes));
	assert_int_equal(complemented(bytes, sizeof(bytes)), 1);
}

static void corruption_reaches_every_byte(void **state)
{
	unsigned char bytes[4], seen = 0;

	use_faults("corrupt seed:3");
	for (int i = 0; i < 200; i++) { /* all but certain: 4 * (3/4)^200 */
		memset(bytes, 0, sizeof(bytes));
		fault_corrupt(SOFT_OP_SEND, bytes, sizeof(bytes));
		assert_int_equal(complemented(bytes, sizeof(bytes)), 1);
		for (int n = 0; n < 4; n++)
			seen |= (unsigned char)(bytes[n] != 0 ? 1 << n : 0);
	}
	assert_int_equal(seen, 0xf);
}

static void nothing_is_corrupted_without_the_filter(void **state)
{
	use_faults("delay:time=1us");
	assert_false(fault_corrupt_wanted());
}

/* What fault_report() writes. */
static void report(char *text, size_t room)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t length;

	assert_non_null(file);
	assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	fault_report();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	length = fread(text, 1, room - 1, file);
	text[length] = '\0';
	fclose(file);
}

static void the_report_counts_hits_and_events(void **state)
{
	char text[512];

	use_faults("call:every=3 complete:op=read,status=GENERAL_ERR");
	calls_hit("ibv_reg_mr", 7);
	fault_complete(SOFT_OP_WRITE);
	fault_complete(SOFT_OP_READ);
	report(text, sizeof(text));
	assert_non_null(strstr(text, "rpma-soft: fault call:every=3: 2 of 7 hit"));
	assert_non_null(
		strstr(text, "rpma-soft: fault complete:op=read,status=GENERAL_ERR: 1 of 1 hit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_hits_one_event),
		cmocka_unit_test(every_hits_each_nth),
		cmocka_unit_test(without_a_number_each_event_is_hit),
		cmocka_unit_test(a_call_fails_with_its_errno),
		cmocka_unit_test(only_calls_of_the_name_count),
		cmocka_unit_test(a_hook_names_its_function),
		cmocka_unit_test(stacked_filters_count_for_themselves),
		cmocka_unit_test(rnr_says_how_many_tries_fail),
		cmocka_unit_test(drop_breaks_after_the_first_operations),
		cmocka_unit_test(connecting_is_refused_or_finds_nobody),
		cmocka_unit_test(registering_fails),
		cmocka_unit_test(the_nth_of_the_named_operations_completes_with_an_error),
		cmocka_unit_test(one_byte_of_the_nth_is_corrupted),
		cmocka_unit_test(corruption_reaches_every_byte),
		cmocka_unit_test(nothing_is_corrupted_without_the_filter),
		cmocka_unit_test(the_report_counts_hits_and_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
