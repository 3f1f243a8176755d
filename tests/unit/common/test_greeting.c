/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_greeting.c -- the private data codec against good and foreign bytes.
 */
#include <errno.h>
#include <string.h>

#include "common/greeting.h"
#include "common/target.h"
#include "test.h"

static const struct greeting_reply sample = {
	.version = GREETING_VERSION,
	.answer = GREETING_WELCOME,
	.target_kind = TARGET_DEVDAX,
	.target_numa_node = -1,
	.target_bytes = 0x123456789abcULL,
	.mr_desc_bytes = 22,
	.pcfg_desc_bytes = 1,
	.mr_desc = {1, 2, 3},
	.pcfg_desc = {1},
};

static void a_request_comes_back(void **state)
{
	const struct greeting_request request = {GREETING_VERSION, GREETING_MEASURE};
	struct greeting_request got = {0};
	uint8_t bytes[56] = {0};

	/* InfiniBand pads with zeros */
	greeting_encode_request(&request, bytes);
	assert_int_equal(greeting_decode_request(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.version, request.version);
	assert_int_equal(got.role, request.role);
}

static void foreign_requests_are_refused(void **state)
{
	const struct greeting_request request = {GREETING_VERSION, GREETING_CONTROL};
	struct greeting_request got;
	uint8_t bytes[GREETING_REQUEST_BYTES];

	greeting_encode_request(&request, bytes);
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(greeting_decode_request(bytes, len, &got), -EPROTO);
	bytes[0] ^= 1;
	assert_int_equal(greeting_decode_request(bytes, sizeof(bytes), &got), -EPROTO);
	bytes[0] ^= 1;
	bytes[10] = 3;
	assert_int_equal(greeting_decode_request(bytes, sizeof(bytes), &got), -EPROTO);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(greeting_decode_request(bytes, sizeof(bytes), &got), -EPROTO);
}

static void another_version_is_for_the_caller_to_refuse(void **state)
{
	const struct greeting_request request = {GREETING_VERSION + 1, (enum greeting_role)9};
	struct greeting_request got = {0};
	uint8_t bytes[GREETING_REQUEST_BYTES];

	greeting_encode_request(&request, bytes);
	assert_int_equal(greeting_decode_request(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.version, GREETING_VERSION + 1);
}

static void a_reply_comes_back(void **state)
{
	struct greeting_reply got;
	uint8_t bytes[196] = {0};

	greeting_encode_reply(&sample, bytes);
	assert_int_equal(greeting_decode_reply(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.version, sample.version);
	assert_int_equal(got.answer, sample.answer);
	assert_int_equal(got.target_kind, sample.target_kind);
	assert_int_equal(got.target_numa_node, -1);
	assert_int_equal(got.target_bytes, sample.target_bytes);
	assert_int_equal(got.mr_desc_bytes, 22);
	assert_int_equal(got.pcfg_desc_bytes, 1);
	assert_memory_equal(got.mr_desc, sample.mr_desc, sizeof(got.mr_desc));
	assert_memory_equal(got.pcfg_desc, sample.pcfg_desc, sizeof(got.pcfg_desc));
}

static void replies_out_of_range_are_refused(void **state)
{
	struct greeting_reply bad[7], got;
	uint8_t bytes[GREETING_REPLY_BYTES];

	for (size_t i = 0; i < 7; i++)
		bad[i] = sample;
	bad[0].answer = (enum greeting_answer)3;
	bad[1].target_kind = TARGET_KINDS;
	bad[2].target_bytes = 0;
	bad[3].mr_desc_bytes = GREETING_MR_DESC_MAX + 1;
	bad[4].pcfg_desc_bytes = GREETING_PCFG_DESC_MAX + 1;
	bad[5].mr_desc_bytes = 0;
	bad[6].target_bytes = (uint64_t)INT64_MAX + 1;
	for (size_t i = 0; i < 7; i++) {
		greeting_encode_reply(&bad[i], bytes);
		assert_int_equal(greeting_decode_reply(bytes, sizeof(bytes), &got), -EPROTO);
	}
	greeting_encode_reply(&sample, bytes);
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(greeting_decode_reply(bytes, len, &got), -EPROTO);
}

/* Who refuses describes no target. */
static void a_refusal_needs_no_target(void **state)
{
	const struct greeting_reply refusal = {.version = 9, .answer = GREETING_WRONG_VERSION};
	struct greeting_reply got;
	uint8_t bytes[GREETING_REPLY_BYTES];

	greeting_encode_reply(&refusal, bytes);
	assert_int_equal(greeting_decode_reply(bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.answer, GREETING_WRONG_VERSION);
	assert_int_equal(got.version, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_comes_back),
		cmocka_unit_test(foreign_requests_are_refused),
		cmocka_unit_test(another_version_is_for_the_caller_to_refuse),
		cmocka_unit_test(a_reply_comes_back),
		cmocka_unit_test(replies_out_of_range_are_refused),
		cmocka_unit_test(a_refusal_needs_no_target),
	};

	return cmocka_run_group_tests_name("common.greeting", tests, NULL, NULL);
}
