/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_chain.c -- what all faults share: which events they hit, their order, the words that no
 * fault has, and what fault_report() prints.
 */
#include <unistd.h>

#include "soft_device/faults/list.h"
#include "tests/unit/soft/fault_test.h"

/* "..x" when of the first events the third was hit. */
static const char *calls_hit(int events)
{
	static char hits[64];

	for (int i = 0; i < events; i++)
		hits[i] = fault_call_slow("ibv_reg_mr") != 0 ? 'x' : '.';
	hits[events] = '\0';
	return hits;
}

TEST(a_when_counts_from_one)
{
	static const struct {
		const char *word;
		const char *hits;
	} cases[] = {
		{"call", "xxxxxx"},	    {"call:at=1", "x....."},	{"call:at=4", "...x.."},
		{"call:every=1", "xxxxxx"}, {"call:every=3", "..x..x"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		use_faults(cases[i].word);
		assert_string_equal(calls_hit(6), cases[i].hits);
	}
}

TEST(stacked_faults_count_for_themselves)
{
	use_faults("call:at=2,errno=EIO call:at=2,errno=EBUSY call:at=3,errno=EAGAIN");
	assert_int_equal(fault_call_slow("ibv_reg_mr"), 0);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), EIO); /* the first decides */
	assert_int_equal(fault_call_slow("ibv_reg_mr"), EAGAIN);
}

TEST(a_trace_meets_every_operation_as_well)
{
	use_faults("");
	assert_false(fault_any);
	use_faults("trace:/tmp/%p");
	assert_true(fault_any);
	assert_true(fault_only_delays());
}

TEST(only_delays_and_rates_leave_operations_whole)
{
	use_faults("delay:time=1us rate:1GB call register refuse");
	assert_true(fault_only_delays());
	use_faults("delay:time=1us rnr:at=1");
	assert_false(fault_only_delays());
	use_faults("drop:after=1");
	assert_false(fault_only_delays());
	use_faults("complete:status=FATAL_ERR");
	assert_false(fault_only_delays());
	use_faults("corrupt");
	assert_false(fault_only_delays());
}

TEST(words_that_no_fault_has_are_refused)
{
	ASSERT_REFUSED("dely:time=2us", ":", "=", "VERBOSE", "call:at=1,at=2", "call:at=1,every=2",
		       "call:at=1,", "call:at", "call:17", "call:at=1,op=write");
}

#define NAME_OF(name) #name ", "

TEST(the_message_lists_the_faults_and_settings)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	soft_options_parse("dely:time=2us", &options, error);
	assert_int_equal(fault_init(&options, error), -EINVAL);
	assert_string_equal(error, "dely:time=2us: no such fault or setting: " FAULT_LIST(NAME_OF)
					   SOFT_SETTING_NAMES);
	assert_non_null(strstr(error, " delay, "));
	assert_non_null(strstr(error, ", transport, seed, trace, "));
}

/* The output of fault_report(). */
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

TEST(the_report_counts_hits_and_events)
{
	char text[512];

	use_faults("call:every=3 powerfail:at=1 complete:op=read,status=GENERAL_ERR");
	calls_hit(7);
	fault_complete(SOFT_OP_WRITE);
	fault_complete(SOFT_OP_READ);
	report(text, sizeof(text));
	assert_non_null(strstr(text, "rpma-soft: fault call:every=3: 2 of 7 hit"));
	assert_non_null(
		strstr(text, "rpma-soft: fault complete:op=read,status=GENERAL_ERR: 1 of 1 hit"));
	assert_null(strstr(text, "powerfail")); /* its peers count */
}
