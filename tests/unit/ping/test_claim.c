/* SPDX-License-Identifier: BSD-3-Clause */
/* test_claim.c -- which servers --expect-persistent takes. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-ping/claim.h"

#define PERSISTENT (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

static const struct region_remote stated = {.flush_types = PERSISTENT,
					    .direct_write_to_pmem = true};

TEST(a_row_comes_back_as_it_was)
{
	for (size_t i = 0; i < READINESS_ROWS; i++)
		assert_ptr_equal(claim_decode(claim_encode(&readiness_rows[i])),
				 &readiness_rows[i]);
	EQUAL((claim_encode(NULL), 0), (claim_decode(0), NULL));
}

/* Three bytes mean something, and they have to agree: all others are nothing. */
TEST(any_other_word_tells_nothing)
{
	size_t known = 0;

	for (uint64_t word = 0; word < 1 << 24; word++)
		known += claim_decode(word) != NULL;
	assert_int_equal(known, READINESS_ROWS);
	for (int bit = 24; bit < 64; bit++)
		assert_null(claim_decode(claim_encode(&readiness_rows[0]) | 1ULL << bit));
}

/* The verdicts that are ready, by the table of rpma-ddio-check(1), have exit status 0. */
TEST(only_verdicts_that_are_ready_support_it)
{
	for (size_t i = 0; i < READINESS_ROWS; i++) {
		const struct verdict_row *row = &readiness_rows[i];
		bool native = false, ready = row->verdict == VERDICT_APM_READY ||
					     row->verdict == VERDICT_APM_READY_EADR ||
					     row->verdict == VERDICT_NATIVE_FLUSH_READY;
		int ret = claim_check("server", &stated, claim_encode(row), &native);

		EQUAL((ret == 0, ready), (native, row->verdict == VERDICT_NATIVE_FLUSH_READY));
		if (ready)
			continue;
		assert_int_equal(failure_get()->code, EXIT_NEGATIVE);
		assert_non_null(strstr(failure_get()->text, row->reason));
	}
}

TEST(without_a_statement_or_memory_for_it_it_is_refused)
{
	const struct region_remote silent = {.flush_types = PERSISTENT};
	const struct region_remote dram = {.flush_types = RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
					   .direct_write_to_pmem = true};
	const uint64_t ready = (uint64_t)1 | (uint64_t)(VERDICT_APM_READY + 1) << 8;
	bool native;

	assert_int_not_equal(claim_check("server", &silent, ready, &native), 0);
	assert_non_null(strstr(failure_get()->text, "does not state"));
	assert_int_not_equal(claim_check("server", &dram, ready, &native), 0);
	assert_non_null(strstr(failure_get()->text, "not persistent"));
	assert_int_not_equal(claim_check("server", &stated, 0, &native), 0);
	assert_non_null(strstr(failure_get()->text, "no verdict"));
}
