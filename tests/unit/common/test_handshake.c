/* SPDX-License-Identifier: BSD-3-Clause */
/* test_handshake.c -- the private data codec against good and foreign bytes. */
#include "common/rdma/handshake.h"
#include "tests/lib/test.h"

static const struct handshake_reply sample = {
	.version = HANDSHAKE_VERSION,
	.answer = HANDSHAKE_WELCOME,
	.desc.mr_bytes = 22,
	.desc.pcfg_bytes = 1,
	.word = 0xfedcba9876543210ULL,
	.desc.mr = {1, 2, 3},
	.desc.pcfg = {1},
};

TEST(a_request_comes_back)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_MEASURE, 255,
						  0xfedcba9876543210ULL};
	struct handshake_request got = {0};
	uint8_t bytes[56] = {0};

	/* InfiniBand pads with zeros */
	handshake_encode_request(&request, bytes);
	EQUAL((handshake_decode_request(bytes, sizeof(bytes), &got), 0),
	      (got.version, request.version), (got.role, request.role),
	      (got.number, request.number), (got.token, request.token));
}

TEST(foreign_requests_are_refused)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_CONTROL, 0, 0};
	struct handshake_request got;
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];

	handshake_encode_request(&request, bytes);
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(handshake_decode_request(bytes, len, &got), -EPROTO);
	for (size_t i = 0; i < 8; i++) { /* the magic */
		bytes[i] ^= 1;
		assert_int_equal(handshake_decode_request(bytes, sizeof(bytes), &got), -EPROTO);
		bytes[i] ^= 1;
	}
	bytes[10] = HANDSHAKE_RPMEM + 1;
	assert_int_equal(handshake_decode_request(bytes, sizeof(bytes), &got), -EPROTO);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(handshake_decode_request(bytes, sizeof(bytes), &got), -EPROTO);
}

/* All that versions share is their beginning: the first one had 12 bytes. */
TEST(another_version_is_for_the_caller_to_refuse)
{
	const uint8_t first[12] = {'r', 'p', 'm', 'a', 't', 'o', 'o', 'l', 1, 0, 2, 0};
	const struct handshake_request later = {HANDSHAKE_VERSION + 1, (enum handshake_role)9, 7,
						8};
	struct handshake_request got = {0};
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];

	EQUAL((handshake_decode_request(first, sizeof(first), &got), 0), (got.version, 1),
	      (got.token, 0));
	handshake_encode_request(&later, bytes);
	EQUAL((handshake_decode_request(bytes, sizeof(bytes), &got), 0),
	      (got.version, HANDSHAKE_VERSION + 1));
}

TEST(a_reply_comes_back)
{
	struct handshake_reply got;
	uint8_t bytes[196] = {0};

	handshake_encode_reply(&sample, bytes);
	EQUAL((handshake_decode_reply(bytes, sizeof(bytes), &got), 0),
	      (got.version, sample.version), (got.answer, sample.answer), (got.desc.mr_bytes, 22),
	      (got.desc.pcfg_bytes, 1), (got.word, sample.word));
	assert_memory_equal(got.desc.mr, sample.desc.mr, sizeof(got.desc.mr));
	assert_memory_equal(got.desc.pcfg, sample.desc.pcfg, sizeof(got.desc.pcfg));
}

TEST(replies_out_of_range_are_refused)
{
	struct handshake_reply bad[6], got;
	uint8_t bytes[HANDSHAKE_REPLY_BYTES];

	for (size_t i = 0; i < 6; i++)
		bad[i] = sample;
	bad[0].answer = (enum handshake_answer)(HANDSHAKE_OTHER_TOOL + 1);
	bad[1].desc.mr_bytes = HANDSHAKE_MR_DESC_MAX + 1;
	bad[2].desc.pcfg_bytes = HANDSHAKE_PCFG_DESC_MAX + 1;
	bad[3].desc.mr_bytes = 0;
	bad[4].desc.pcfg_bytes = 0;
	/* who welcomes speaks this version */
	bad[5].version = HANDSHAKE_VERSION + 1;
	for (size_t i = 0; i < 6; i++) {
		handshake_encode_reply(&bad[i], bytes);
		assert_int_equal(handshake_decode_reply(bytes, sizeof(bytes), &got), -EPROTO);
	}
	handshake_encode_reply(&sample, bytes);
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(handshake_decode_reply(bytes, len, &got), -EPROTO);
}

TEST(a_control_connection_describes_no_target)
{
	const struct handshake_reply welcome = {.version = HANDSHAKE_VERSION};
	struct handshake_reply got = {.desc.mr_bytes = 1};
	uint8_t bytes[HANDSHAKE_REPLY_BYTES];

	handshake_encode_reply(&welcome, bytes);
	EQUAL((handshake_decode_reply(bytes, sizeof(bytes), &got), 0), (got.desc.mr_bytes, 0),
	      (got.desc.pcfg_bytes, 0));
}

/* A server that refuses describes nothing, and may speak any version. */
TEST(a_refusal_needs_no_target)
{
	const struct handshake_reply refusal = {.version = 9, .answer = HANDSHAKE_WRONG_VERSION};
	struct handshake_reply got;
	uint8_t bytes[HANDSHAKE_REPLY_BYTES];

	handshake_encode_reply(&refusal, bytes);
	for (size_t len = 11; len <= sizeof(bytes); len++) {
		EQUAL((handshake_decode_reply(bytes, len, &got), 0),
		      (got.answer, HANDSHAKE_WRONG_VERSION), (got.version, 9));
	}
}
