/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_trouble.c -- which cause is named for which symptom.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tools/rpma-ping/trouble.h"

struct row {
	struct trouble_facts facts;
	const char *word; /* of the cause; "": there is none */
};

/* Without a text it is empty, without a limit there is none. */
static struct trouble_facts complete(struct trouble_facts facts)
{
	if (facts.text == NULL)
		facts.text = "";
	if (facts.memlock_bytes == 0)
		facts.memlock_bytes = UINT64_MAX;
	return facts;
}

#define FACTS(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static const struct row rows[] = {
	{FACTS(.step = "resolve"), "name server"},
	{FACTS(.step = "device", .text = "--"), ""},
	{FACTS(.step = "request"), "GID"},
	{FACTS(.step = "connect", .text = "server x refused the connection"), "rpma-ping --server"},
	{FACTS(.step = "connect", .text = "server x refused the connection"), "--allow"},
	{FACTS(.step = "connect", .text = "server x refused the connection"), "many clients"},
	{FACTS(.step = "connect", .text = "Connection unreachable"), "firewall"},
	{FACTS(.step = "connect", .text = "did not answer within 5 s"), "4791"},
	{FACTS(.step = "hello"), ""},
	{FACTS(.step = "register", .text = "x: Cannot allocate memory", .memlock_bytes = 8192),
	 "ulimit -l lets no more than 8 KiB"},
	{FACTS(.step = "request", .text = "x: Cannot allocate memory", .memlock_bytes = 65536),
	 "LimitMEMLOCK"},
	{FACTS(.step = "register", .text = "x: Cannot allocate memory"), "no memory left"},
	{FACTS(.step = "register", .target = TARGET_FSDAX), "ODP"},
	{FACTS(.step = "register", .target = TARGET_DEVDAX), ""},
	{FACTS(.step = "listen", .text = "x: Address already in use"), "another server"},
	{FACTS(.step = "write", .wc_status = IBV_WC_RETRY_EXC_ERR, .size_bytes = 64), "4791"},
	{FACTS(.step = "write", .wc_status = IBV_WC_RETRY_EXC_ERR, .size_bytes = 65536), "MTU"},
	{FACTS(.step = "write", .wc_status = IBV_WC_RETRY_EXC_ERR, .size_bytes = 65536,
	       .any_back = true),
	 "down"},
	{FACTS(.step = "write", .wc_status = IBV_WC_REM_ACCESS_ERR), "registered"},
	{FACTS(.step = "flush", .wc_status = IBV_WC_REM_ACCESS_ERR), "--flush visibility"},
	{FACTS(.step = "flush", .wc_status = IBV_WC_REM_INV_REQ_ERR), "native flush"},
	{FACTS(.step = "read", .wc_status = IBV_WC_REM_OP_ERR), "ODP"},
	{FACTS(.step = "read", .wc_status = IBV_WC_WR_FLUSH_ERR), "killed"},
	{FACTS(.step = "read", .wc_status = IBV_WC_LOC_PROT_ERR), "this host"},
	{FACTS(.step = "read", .late = true, .size_bytes = 64), "down"},
	{FACTS(.step = "read", .late = true, .device = DEVICE_SOFT), "stopped"},
	{FACTS(.step = "write", .gone = true), "killed"},
	{FACTS(.step = "compare", .corrupt = true), "memory"},
};

static void each_symptom_has_its_cause(void **state)
{
	struct trouble_facts facts;
	char cause[384];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		facts = complete(rows[i].facts);
		trouble_cause(&facts, cause);
		if (rows[i].word[0] == '\0' ? cause[0] != '\0'
					    : strstr(cause, rows[i].word) == NULL)
			fail_msg("row %zu (%s): \"%s\" has no \"%s\"", i, rows[i].facts.step, cause,
				 rows[i].word);
	}
}

/* The names are those of librpma.h. */
static void codes_have_their_names(void **state)
{
	assert_string_equal(trouble_code_name(RPMA_E_UNKNOWN), "RPMA_E_UNKNOWN");
	assert_string_equal(trouble_code_name(RPMA_E_PROVIDER), "RPMA_E_PROVIDER");
	assert_string_equal(trouble_code_name(RPMA_E_AGAIN), "RPMA_E_AGAIN");
	assert_string_equal(trouble_code_name(RPMA_E_NOT_SHARED_CHNL), "RPMA_E_NOT_SHARED_CHNL");
	assert_null(trouble_code_name(0));
	assert_null(trouble_code_name(RPMA_E_NOT_SHARED_CHNL - 1));
	assert_null(trouble_code_name(RPMA_E_UNKNOWN + 1));
}

static void wrong_usage_needs_no_cause(void **state)
{
	const struct trouble_facts facts = FACTS(.step = "resolve");
	struct trouble trouble;

	failure_set(EXIT_WRONG_USAGE, "parse", "--count 0: expected more");
	trouble_take(&trouble, &facts);
	assert_int_equal(trouble.exit_code, EXIT_WRONG_USAGE);
	assert_string_equal(trouble.cause, "");
}

static void all_that_is_known_is_taken(void **state)
{
	const struct trouble_facts facts =
		FACTS(.step = "write", .code = RPMA_E_PROVIDER, .wc_status = IBV_WC_REM_ACCESS_ERR);
	struct trouble t;

	failure_set(EXIT_NEGATIVE, "write", "it failed");
	trouble_take(&t, &facts);
	assert_int_equal(t.exit_code, EXIT_NEGATIVE);
	assert_string_equal(t.step, "write");
	assert_string_equal(t.text, "it failed");
	assert_string_equal(t.librpma, "RPMA_E_PROVIDER");
	assert_string_equal(t.wc_status, "REM_ACCESS_ERR");
	assert_string_not_equal(t.cause, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_symptom_has_its_cause),
		cmocka_unit_test(codes_have_their_names),
		cmocka_unit_test(wrong_usage_needs_no_cause),
		cmocka_unit_test(all_that_is_known_is_taken),
	};

	return cmocka_run_group_tests_name("ping.trouble", tests, NULL, NULL);
}
