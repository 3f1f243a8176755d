/* SPDX-License-Identifier: BSD-3-Clause */
/* test_diagnosis.c -- which remedy is named for which cause. */
#include "tests/lib/test.h"
#include "tools/rpma-ping/diagnosis.h"

struct row {
	struct diagnosis_facts facts;
	const char *word; /* in the remedy; "": there is none */
};

/* Without a limit there is none; without a step it is that of a ping. */
static struct diagnosis_facts complete(struct diagnosis_facts facts)
{
	if (facts.step == NULL)
		facts.step = "write";
	if (facts.memlock_bytes == 0 && facts.cause != CAUSE_MEMLOCK)
		facts.memlock_bytes = UINT64_MAX;
	return facts;
}

#define FACTS(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static const struct row rows[] = {
	{FACTS(.cause = CAUSE_NAME, .step = "resolve"), "name server"},
	{FACTS(.cause = CAUSE_NO_DEVICE, .step = "device"), ""},
	{FACTS(.cause = CAUSE_NO_PERMISSION, .step = "device"), ""},
	{FACTS(.step = "request"), "GID"},
	{FACTS(.cause = CAUSE_REFUSED, .step = "connect"), "rpma-ping --server"},
	{FACTS(.cause = CAUSE_REFUSED, .step = "connect"), "--allow"},
	{FACTS(.cause = CAUSE_REFUSED, .step = "connect"), "many clients"},
	{FACTS(.cause = CAUSE_UNREACHABLE, .step = "device"), "route"},
	{FACTS(.cause = CAUSE_UNREACHABLE, .any_back = true), "moved"},
	{FACTS(.cause = CAUSE_UNREACHABLE, .step = "connect", .device = DEVICE_SOFT),
	 "another user"},
	{FACTS(.cause = CAUSE_LIMIT, .step = "device"), ""},
	/* a stopped server and a host that is not there are both silent */
	{FACTS(.cause = CAUSE_NO_ANSWER, .step = "connect"), "the server is stopped"},
	{FACTS(.cause = CAUSE_NO_ANSWER, .step = "connect"), "no host"},
	{FACTS(.cause = CAUSE_NO_ANSWER, .step = "connect"), "4791"},
	{FACTS(.cause = CAUSE_NO_ANSWER, .device = DEVICE_SOFT), "stopped"},
	{FACTS(.cause = CAUSE_NO_ANSWER), "link to it is down"},
	{FACTS(.cause = CAUSE_WRONG_PEER, .step = "handshake"), ""},
	{FACTS(.cause = CAUSE_MEMLOCK, .step = "register", .memlock_bytes = 8192),
	 "no more than 8 KiB"},
	{FACTS(.cause = CAUSE_MEMLOCK, .step = "connect", .memlock_bytes = 65536), "LimitMEMLOCK"},
	{FACTS(.cause = CAUSE_MEMLOCK, .step = "connect"), "RLIMIT_MEMLOCK of this process is 0"},
	{FACTS(.cause = CAUSE_NO_MEMORY, .step = "register"), "no memory left"},
	{FACTS(.step = "register", .target = TARGET_FSDAX), "ODP"},
	{FACTS(.step = "register", .target = TARGET_DEVDAX), ""},
	{FACTS(.cause = CAUSE_ADDRESS_IN_USE, .step = "listen"), ""},
	{FACTS(.cause = CAUSE_LOST, .wc_status = IBV_WC_RETRY_EXC_ERR), "4791"},
	{FACTS(.cause = CAUSE_LOST, .wc_status = IBV_WC_RETRY_EXC_ERR), "down"},
	{FACTS(.cause = CAUSE_MTU, .size_bytes = 65536), "MTU"},
	{FACTS(.cause = CAUSE_MTU, .size_bytes = 65536), "--size 64"},
	{FACTS(.cause = CAUSE_CLOSED), "killed"},
	{FACTS(.cause = CAUSE_LINK_DOWN, .wc_status = IBV_WC_LOC_QP_OP_ERR), "cable"},
	{FACTS(.cause = CAUSE_DEVICE_GONE), "driver"},
	{FACTS(.cause = CAUSE_NO_ACCESS, .wc_status = IBV_WC_REM_ACCESS_ERR), "registered"},
	{FACTS(.cause = CAUSE_NO_ACCESS, .step = "flush", .wc_status = IBV_WC_REM_ACCESS_ERR),
	 "--flush visibility"},
	{FACTS(.step = "flush", .wc_status = IBV_WC_REM_INV_REQ_ERR), "native flush"},
	{FACTS(.step = "read", .wc_status = IBV_WC_REM_OP_ERR), "ODP"},
	{FACTS(.step = "read", .wc_status = IBV_WC_LOC_PROT_ERR), "this host"},
	{FACTS(.step = "write", .wc_status = IBV_WC_LOC_LEN_ERR), "limit"},
	{FACTS(.step = "write", .wc_status = IBV_WC_GENERAL_ERR), "reset"},
	{FACTS(.step = "write", .wc_status = IBV_WC_FATAL_ERR), ""},
	{FACTS(.cause = CAUSE_CORRUPT, .step = "compare"), "memory"},
};

TEST(each_cause_has_its_remedy)
{
	struct diagnosis_facts facts;
	char remedy[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		facts = complete(rows[i].facts);
		diagnosis_remedy(&facts, remedy);
		if (rows[i].word[0] == '\0' ? remedy[0] != '\0'
					    : strstr(remedy, rows[i].word) == NULL)
			fail_msg("row %zu (%s): \"%s\" has no \"%s\"", i, facts.step, remedy,
				 rows[i].word);
	}
}

/* A path that drops large packets and one that broke look alike once something came back. */
TEST(only_what_is_large_and_first_may_be_the_mtu)
{
	static const struct {
		struct diagnosis_facts facts;
		enum cause found, told;
	} cases[] = {
		{FACTS(.step = "write", .size_bytes = 65536), CAUSE_LOST, CAUSE_MTU},
		{FACTS(.step = "write", .size_bytes = 65536), CAUSE_NO_ANSWER, CAUSE_MTU},
		{FACTS(.step = "write", .size_bytes = 64), CAUSE_LOST, CAUSE_LOST},
		{FACTS(.step = "write", .size_bytes = 65536, .large_back = true), CAUSE_LOST,
		 CAUSE_LOST},
		{FACTS(.step = "connect", .size_bytes = 65536), CAUSE_NO_ANSWER, CAUSE_NO_ANSWER},
		{FACTS(.step = "write", .size_bytes = 65536), CAUSE_CLOSED, CAUSE_CLOSED},
		{FACTS(.step = "write", .size_bytes = 65536, .device = DEVICE_SOFT), CAUSE_LOST,
		 CAUSE_LOST},
	};
	struct diagnosis t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		failure_because(cases[i].found, EXIT_NEGATIVE, "write", "it failed");
		diagnosis_take(&t, &cases[i].facts);
		assert_int_equal(t.cause, cases[i].told);
	}
}

/* The names are those of librpma.h. */
TEST(codes_have_their_names)
{
	EQUAL((diagnosis_code_name(RPMA_E_UNKNOWN), "RPMA_E_UNKNOWN"),
	      (diagnosis_code_name(RPMA_E_PROVIDER), "RPMA_E_PROVIDER"),
	      (diagnosis_code_name(RPMA_E_AGAIN), "RPMA_E_AGAIN"),
	      (diagnosis_code_name(RPMA_E_NOT_SHARED_CHNL), "RPMA_E_NOT_SHARED_CHNL"),
	      (diagnosis_code_name(0), NULL),
	      (diagnosis_code_name(RPMA_E_TIMEOUT), "RPMA_E_TIMEOUT"),
	      (diagnosis_code_name(RPMA_E_TIMEOUT - 1), NULL),
	      (diagnosis_code_name(RPMA_E_UNKNOWN + 1), NULL));
}

TEST(wrong_usage_needs_no_remedy)
{
	const struct diagnosis_facts facts = FACTS(.step = "resolve");
	struct diagnosis diagnosis;

	failure_set(EXIT_WRONG_USAGE, "parse", "--count 0: expected more");
	diagnosis_take(&diagnosis, &facts);
	EQUAL((diagnosis.exit_code, EXIT_WRONG_USAGE), (diagnosis.remedy, ""));
}

TEST(all_that_is_known_is_taken)
{
	const struct diagnosis_facts facts =
		FACTS(.step = "write", .code = RPMA_E_PROVIDER, .wc_status = IBV_WC_REM_ACCESS_ERR);
	struct diagnosis t;

	failure_because(CAUSE_NO_ACCESS, EXIT_NEGATIVE, "write", "it failed");
	diagnosis_take(&t, &facts);
	EQUAL((t.cause, CAUSE_NO_ACCESS), (t.exit_code, EXIT_NEGATIVE), (t.step, "write"),
	      (t.text, "it failed"), (t.librpma, "RPMA_E_PROVIDER"),
	      (t.wc_status, "REM_ACCESS_ERR"));
	assert_string_not_equal(t.remedy, "");
}
