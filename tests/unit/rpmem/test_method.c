/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_method.c -- which method is promised: a wrong APM loses data.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tools/rpmemd/method.h"

static struct method chosen(bool persist_apm, bool is_pmem, bool is_forced,
			    enum readiness_verdict verdict)
{
	const struct method_facts facts = {
		.persist_apm = persist_apm,
		.transport = CONTROL_RDMA,
		.is_pmem = is_pmem,
		.is_forced = is_forced,
		.verdict = verdict,
		.reason = "The reason.",
	};
	struct method method;

	method_choose(&facts, &method);
	assert_true(method.why[0] != '\0');
	return method;
}

/* The table of the daemon's manual: requested, and whether the pool is PMem. */
static void apm_takes_the_wish_and_persistent_memory(void **state)
{
	assert_int_equal(chosen(true, true, false, VERDICT_APM_READY).method, CONTROL_APM);
	assert_int_equal(chosen(true, false, false, VERDICT_APM_READY).method, CONTROL_GPSPM);
	assert_int_equal(chosen(false, true, false, VERDICT_APM_READY).method, CONTROL_GPSPM);
	assert_int_equal(chosen(false, false, false, VERDICT_APM_READY).method, CONTROL_GPSPM);
}

static void a_verdict_may_forbid_apm(void **state)
{
	static const struct {
		enum readiness_verdict verdict;
		enum control_method method;
		bool native;
	} cases[] = {
		{VERDICT_APM_READY, CONTROL_APM, false},
		{VERDICT_APM_READY_EADR, CONTROL_APM, false},
		{VERDICT_NATIVE_FLUSH_READY, CONTROL_APM, true},
		{VERDICT_UNDETERMINED, CONTROL_APM, false},
		{VERDICT_GPSPM_ONLY, CONTROL_GPSPM, false},
		{VERDICT_NOT_READY, CONTROL_GPSPM, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct method method = chosen(true, true, false, cases[i].verdict);

		assert_int_equal(method.method, cases[i].method);
		assert_int_equal(method.native, cases[i].native);
		assert_non_null(strstr(method.why, "The reason."));
	}
}

/* PMEM_IS_PMEM_FORCE=1 is the tests' statement of the operator. */
static void a_forced_pool_needs_no_verdict(void **state)
{
	assert_int_equal(chosen(true, true, true, VERDICT_NOT_READY).method, CONTROL_APM);
	assert_int_equal(chosen(false, true, true, VERDICT_NOT_READY).method, CONTROL_GPSPM);
}

static void tcp_has_no_apm(void **state)
{
	const struct method_facts facts = {.persist_apm = true,
					   .transport = CONTROL_TCP,
					   .is_pmem = true,
					   .is_forced = true,
					   .reason = ""};
	struct method method;

	method_choose(&facts, &method);
	assert_int_equal(method.method, CONTROL_GPSPM);
	assert_non_null(strstr(method.why, "TCP"));
	assert_false(method_needs_verdict(&facts));
}

static void only_a_verdict_that_counts_is_asked_for(void **state)
{
	struct method_facts facts = {
		.persist_apm = true, .transport = CONTROL_RDMA, .is_pmem = true, .reason = ""};

	assert_true(method_needs_verdict(&facts));
	facts.is_forced = true;
	assert_false(method_needs_verdict(&facts));
	facts.is_forced = false;
	facts.is_pmem = false;
	assert_false(method_needs_verdict(&facts));
	facts.is_pmem = true;
	facts.persist_apm = false;
	assert_false(method_needs_verdict(&facts));
}

/* The pool of a file on this machine's disk, which it states to be persistent memory. */
bool pool_is_pmem(const struct pool *pool)
{
	return true;
}

const char *pool_path(const struct pool *pool)
{
	return "/proc/self/exe";
}

static void the_platform_is_asked_for_a_pool_that_is_pmem(void **state)
{
	struct method method;

	unsetenv("PMEM_IS_PMEM_FORCE");
	method_find(NULL, CONTROL_RDMA, true, &method);
	/* whatever the machine is, its verdict is in the reason */
	assert_true(strstr(method.why, "NOT_READY") != NULL ||
		    strstr(method.why, "UNDETERMINED") != NULL);
	setenv("PMEM_IS_PMEM_FORCE", "1", 1);
	method_find(NULL, CONTROL_RDMA, true, &method);
	assert_int_equal(method.method, CONTROL_APM);
	assert_non_null(strstr(method.why, "PMEM_IS_PMEM_FORCE=1"));
	method_find(NULL, CONTROL_RDMA, false, &method);
	assert_int_equal(method.method, CONTROL_GPSPM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apm_takes_the_wish_and_persistent_memory),
		cmocka_unit_test(a_verdict_may_forbid_apm),
		cmocka_unit_test(a_forced_pool_needs_no_verdict),
		cmocka_unit_test(tcp_has_no_apm),
		cmocka_unit_test(only_a_verdict_that_counts_is_asked_for),
		cmocka_unit_test(the_platform_is_asked_for_a_pool_that_is_pmem),
	};

	return cmocka_run_group_tests_name("rpmem.method", tests, NULL, NULL);
}
