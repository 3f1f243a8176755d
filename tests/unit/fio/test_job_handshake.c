/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_job_handshake.c -- request and reply of a job within the handshake, against good and foreign
 * numbers. Where the bytes lie is the handshake's layout, which other versions of
 * the engine read too: they are written down here. Round trips: fuzz_job_handshake.c.
 */
#include "fio_engine/job_handshake.h"
#include "tests/lib/test.h"

static const struct job_request sample = {.method = METHOD_GPSPM,
					  .job = 0x102,
					  .jobs = 0x304,
					  .tag = 0xb,
					  .again = true,
					  .depth = 0x506,
					  .imm_bytes = 0x708090a};
static const uint8_t sample_bytes[HANDSHAKE_REQUEST_BYTES] = {
	'r', 'p', 'm', 'a', 't', 'o', 'o',  'l', 2, 0, 4, 0, /* magic, version, role */
	2,   1,	  4,   3,				     /* lane */
	0xa, 9,	  8,   7,   6,	 5,   0x82, 0xb,	     /* token */
};
static const struct job_reply sample_reply = {
	.refusal = REFUSAL_NONE,
	.method = METHOD_APM,
	.kind = TARGET_DEVDAX,
	.persist = PERSIST_LIBPMEM,
	.direct_write_to_pmem = true,
	.depth = 512,
};
#define SAMPLE_WORD 0xf101020401000200ULL

TEST(a_request_has_its_bytes)
{
	uint8_t bytes[56] = {0};
	enum handshake_answer answer;
	struct job_request got;

	job_request_encode(&sample, bytes);
	assert_memory_equal(bytes, sample_bytes, sizeof(sample_bytes));
	/* InfiniBand pads with zeros */
	EQUAL((job_request_decode(bytes, sizeof(bytes), &got, &answer), 0),
	      (answer, HANDSHAKE_WELCOME));
}

TEST(bytes_of_another_are_told_apart)
{
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	enum handshake_answer answer;
	struct job_request got;

	memcpy(bytes, sample_bytes, sizeof(bytes));
	bytes[8] = HANDSHAKE_VERSION + 1;
	EQUAL((job_request_decode(bytes, sizeof(bytes), &got, &answer), 0),
	      (answer, HANDSHAKE_WRONG_VERSION));
	bytes[8] = HANDSHAKE_VERSION;
	bytes[10] = HANDSHAKE_PING;
	EQUAL((job_request_decode(bytes, sizeof(bytes), &got, &answer), 0),
	      (answer, HANDSHAKE_OTHER_TOOL));
	bytes[0] = 'R';
	assert_int_equal(job_request_decode(bytes, sizeof(bytes), &got, &answer), -EPROTO);
	for (size_t len = 0; len < sizeof(sample_bytes); len++)
		assert_int_equal(job_request_decode(sample_bytes, len, &got, &answer), -EPROTO);
}

TEST(what_no_client_means_is_refused)
{
	static const struct job_request bad[] = {
		{.method = METHOD_ANY, .jobs = 1, .depth = 1},
		{.method = METHODS, .jobs = 1, .depth = 1},
		{.method = METHOD_APM, .job = 0, .jobs = 0},
		{.method = METHOD_APM, .job = 4, .jobs = 4},
		{.method = METHOD_GPSPM, .jobs = 1, .depth = 0},
		{.method = METHOD_APM, .jobs = 1, .depth = 8, .imm_bytes = 4096},
	};
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	enum handshake_answer answer;
	struct job_request got;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		job_request_encode(&bad[i], bytes);
		assert_int_equal(job_request_decode(bytes, sizeof(bytes), &got, &answer), -EPROTO);
	}
}

TEST(a_reply_has_its_word)
{
	assert_true(job_reply_encode(&sample_reply) == SAMPLE_WORD);
}

TEST(no_server_makes_other_replies)
{
	static const uint64_t bad[] = {
		0, /* another tool's */
		SAMPLE_WORD & ~(1ULL << 56),
		(SAMPLE_WORD & ~(0xffULL << 48)) | 2ULL << 48,
		(SAMPLE_WORD & ~(0xffULL << 40)) | (uint64_t)PERSIST_METHODS << 40,
		(SAMPLE_WORD & ~(0xffULL << 32)) | (uint64_t)TARGET_KINDS << 32,
		(SAMPLE_WORD & ~(0xffULL << 24)) | (uint64_t)METHODS << 24,
		(SAMPLE_WORD & ~(0xffULL << 16)) | (uint64_t)REFUSALS << 16,
	};
	struct job_reply got;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(job_reply_decode(bad[i], &got), -EPROTO);
}

TEST(methods_have_the_names_of_the_option)
{
	EQUAL((method_name(METHOD_ANY), "any"), (method_name(METHOD_APM), "apm"),
	      (method_name(METHOD_GPSPM), "gpspm"), (method_name(METHOD_NATIVE), "native"));
}
