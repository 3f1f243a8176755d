/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_wire.c -- messages between processes: their sizes, byte for byte where the layout demands
 * it, and what no encoder makes is refused. That what is put comes back: fuzz_soft_link.c.
 */
#include "soft_device/transport/wire.h"
#include "tests/lib/test.h"

static const union ibv_gid there = {.raw = {[10] = 0xff, 0xff, 192, 0, 2, 2}};

TEST(test_header_is_big_endian)
{
	static const unsigned char expected[WIRE_HEADER_BYTES] = {'R', 'P', 'S', 'F', 0, 4,
								  0,   1,   0,	 0,   0, 44};
	unsigned char bytes[WIRE_HEADER_BYTES];

	wire_put_header(bytes, WIRE_HANDSHAKE, WIRE_HANDSHAKE_BYTES);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

TEST(test_header_has_the_length_of_its_kind)
{
	static const struct {
		int kind;
		uint32_t length;
		int result;
	} cases[] = {
		{WIRE_HANDSHAKE, WIRE_HANDSHAKE_BYTES, 0},
		{WIRE_HANDSHAKE, WIRE_HANDSHAKE_BYTES - 1, -EPROTO},
		{WIRE_CARRY, 0, 0},
		{WIRE_CARRY, 1, -EPROTO},
		{WIRE_REQUEST, WIRE_REQUEST_BYTES, 0},
		{WIRE_REQUEST, WIRE_REQUEST_BYTES - 1, -EPROTO},
		{WIRE_REQUEST, WIRE_REQUEST_BYTES + SOFT_MAX_MESSAGE, 0},
		{WIRE_REQUEST, WIRE_REQUEST_BYTES + SOFT_MAX_MESSAGE + 1, -EPROTO},
		{WIRE_ANSWER, WIRE_ANSWER_BYTES + SOFT_MAX_MESSAGE, 0},
		{WIRE_ANSWER, WIRE_ANSWER_BYTES + SOFT_MAX_MESSAGE + 1, -EPROTO},
		{WIRE_ANSWER, WIRE_ANSWER_BYTES - 1, -EPROTO},
		{WIRE_CHANNEL_NEW, WIRE_CHANNEL_BYTES, 0},
		{WIRE_CHANNEL_GONE, WIRE_CHANNEL_BYTES + 1, -EPROTO},
		{WIRE_CM_FIRST, WIRE_CM_MAX, 0},
		{WIRE_CM_LAST, WIRE_CM_MAX + 1, -EPROTO},
		{WIRE_CM_LAST + 1, 0, -EPROTO},
		{WIRE_CM_FIRST - 1, 0, -EPROTO},
		{0, 0, -EPROTO},
		{65535, 0xffffffff, -EPROTO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[WIRE_HEADER_BYTES];
		struct wire_header header;

		wire_put_header(bytes, (enum wire_kind)cases[i].kind, cases[i].length);
		assert_int_equal(wire_get_header(bytes, &header), cases[i].result);
		if (cases[i].result == 0) {
			assert_int_equal(header.kind, cases[i].kind);
			assert_int_equal(header.length, cases[i].length);
		}
	}
}

TEST(test_header_of_another_is_refused)
{
	for (size_t i = 0; i < 6; i++) {
		unsigned char bytes[WIRE_HEADER_BYTES];
		struct wire_header header;

		wire_put_header(bytes, WIRE_CARRY, 0);
		bytes[i] ^= 1; /* magic, then version */
		assert_int_equal(wire_get_header(bytes, &header), -EPROTO);
	}
}

TEST(test_handshake_without_identity_is_refused)
{
	struct wire_handshake handshake = {.token = {1}};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	wire_put_handshake(bytes, &handshake);
	assert_int_equal(
		wire_get_handshake(bytes + WIRE_HEADER_BYTES, WIRE_HANDSHAKE_BYTES, &handshake),
		-EPROTO);
}

TEST(test_request_and_answer_have_the_data_of_their_kind)
{
	static const struct {
		enum request_op op;
		uint32_t length, payload, data;
	} cases[] = {
		{REQUEST_WRITE, 4096, 4096, 0},	 {REQUEST_WRITE, 0, 0, 0},
		{REQUEST_WRITE_IMM, 64, 64, 0},	 {REQUEST_SEND, SOFT_MAX_MESSAGE, 0x800000, 0},
		{REQUEST_SEND_IMM, 1, 1, 0},	 {REQUEST_READ, 4096, 0, 4096},
		{REQUEST_COMPARE_SWAP, 8, 0, 0}, {REQUEST_FETCH_ADD, 8, 0, 0},
		{REQUEST_ATOMIC_WRITE, 8, 0, 0}, {REQUEST_FLUSH, 0xffffffff, 0, 0},
		{REQUEST_DATAGRAM, 0, 0, 0},	 {REQUEST_DATAGRAM_IMM, 4096, 4096, 0},
		{REQUEST_SEND_INV, 100, 100, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request request = {.op = cases[i].op, .length = cases[i].length};
		unsigned char bytes[WIRE_REQUEST_START];
		struct wire_header header;

		assert_int_equal(wire_payload(&request), cases[i].payload);
		assert_int_equal(wire_answer_data(&request), cases[i].data);
		wire_put_request(bytes, 77, 78, &there, 0xbeef01, &request);
		assert_int_equal(wire_get_header(bytes, &header), 0);
		assert_int_equal(header.length, WIRE_REQUEST_BYTES + cases[i].payload);
	}
}

TEST(test_unsound_requests_are_refused)
{
	static const struct {
		struct request request;
		size_t length; /* the body's */
	} cases[] = {
		{{.op = 0}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_OPS}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_FLUSH, .flush_type = 4}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_FLUSH, .flush_level = 2}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_READ, .framing = IBV_MTU_4096 + 1}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_READ, .framing = 2 * FRAMING_ROCE_V1}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_READ, .length = SOFT_MAX_MESSAGE + 1}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_WRITE, .length = 8}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_WRITE, .length = 8}, WIRE_REQUEST_BYTES + 9},
		{{.op = REQUEST_READ, .length = 8}, WIRE_REQUEST_BYTES + 8},
		{{.op = REQUEST_DATAGRAM, .length = 8}, WIRE_REQUEST_BYTES},
		{{.op = REQUEST_DATAGRAM, .length = 4097}, WIRE_REQUEST_BYTES + 4097},
		{{.op = REQUEST_READ}, WIRE_REQUEST_BYTES - 1},
		{{.op = REQUEST_READ}, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[WIRE_REQUEST_START + 16] = {0};
		struct wire_request back;

		wire_put_request(bytes, 0, 0, &there, 1, &cases[i].request);
		assert_int_equal(
			wire_get_request(bytes + WIRE_HEADER_BYTES, cases[i].length, &back),
			-EPROTO);
	}
}

TEST(test_unsound_answers_are_refused)
{
	static const struct {
		struct wire_answer answer;
		size_t length; /* the body's */
	} cases[] = {
		{{.outcome = {.kind = OUTCOME_ABSENT + 1}}, WIRE_ANSWER_BYTES},
		{{.outcome = {.status = IBV_WC_TM_RNDV_INCOMPLETE + 1}}, WIRE_ANSWER_BYTES},
		{{.outcome = {.kind = OUTCOME_RNR, .rnr_timer = 32}}, WIRE_ANSWER_BYTES},
		{{.outcome = {.status = IBV_WC_REM_OP_ERR, .vendor_err = VENDOR_ERRS}},
		 WIRE_ANSWER_BYTES},
		{{.outcome = {.kind = OUTCOME_RNR}}, WIRE_ANSWER_BYTES + 8},
		{{.outcome = {.status = IBV_WC_REM_OP_ERR}}, WIRE_ANSWER_BYTES + 8},
		{{.number = 1}, WIRE_ANSWER_BYTES - 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[WIRE_ANSWER_START + 8] = {0};
		struct wire_answer back;

		wire_put_answer(bytes, &cases[i].answer);
		assert_int_equal(wire_get_answer(bytes + WIRE_HEADER_BYTES, cases[i].length, &back),
				 -EPROTO);
	}
}

/* A refusal may have the region that it is about behind it, and nothing else has data. */
TEST(test_refusal_may_tell_of_the_region)
{
	const struct wire_answer answer = {.outcome = {.status = IBV_WC_REM_ACCESS_ERR},
					   .bytes = WIRE_REGION_BYTES};
	unsigned char bytes[WIRE_ANSWER_START];
	struct wire_answer back;

	wire_put_answer(bytes, &answer);
	assert_int_equal(wire_get_answer(bytes + WIRE_HEADER_BYTES,
					 WIRE_ANSWER_BYTES + WIRE_REGION_BYTES, &back),
			 0);
	assert_int_equal(back.bytes, WIRE_REGION_BYTES);
	assert_int_equal(wire_get_answer(bytes + WIRE_HEADER_BYTES,
					 WIRE_ANSWER_BYTES + WIRE_REGION_BYTES - 1, &back),
			 -EPROTO);
}

TEST(test_region_has_no_control_characters)
{
	const struct wire_region region = {.gone_at = "a tab\tand \xc3\xa4"};
	unsigned char bytes[WIRE_REGION_BYTES];
	struct wire_region back;

	wire_put_region(bytes, &region);
	assert_int_equal(wire_get_region(bytes, sizeof(bytes), &back), 0);
	assert_string_equal(back.gone_at, "a tab?and ??");
}

TEST(test_unsound_regions_are_refused)
{
	const size_t places = WIRE_REGION_BYTES - 2 * WIRE_PLACE_BYTES;
	const struct {
		size_t at;
		unsigned char byte;
	} cases[] = {
		{16, 2},			   /* neither there nor gone */
		{places, '\n'},			   /* a line of its own in a report */
		{places + WIRE_PLACE_BYTES, 0x1b}, /* for a terminal */
		{places + 1, 'a'},		   /* behind the end */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[WIRE_REGION_BYTES] = {0};
		struct wire_region back;

		assert_int_equal(wire_get_region(bytes, sizeof(bytes), &back), 0);
		bytes[cases[i].at] = cases[i].byte;
		assert_int_equal(wire_get_region(bytes, sizeof(bytes), &back), -EPROTO);
	}
	unsigned char full[WIRE_REGION_BYTES] = {0}, round[WIRE_REGION_BYTES] = {0};
	struct wire_region back;

	memset(round + 17, 0xff, 16); /* it ends behind the end of memory */
	assert_int_equal(wire_get_region(round, sizeof(round), &back), -EPROTO);
	memset(full + places, 'a', WIRE_PLACE_BYTES); /* without an end */
	assert_int_equal(wire_get_region(full, sizeof(full), &back), -EPROTO);
	assert_int_equal(wire_get_region(full, sizeof(full) - 1, &back), -EPROTO);
}

TEST(test_channel_without_id_is_refused)
{
	const struct wire_channel channel = {3, 0};
	unsigned char bytes[WIRE_CHANNEL_MESSAGE];
	struct wire_channel back;

	wire_put_channel(bytes, WIRE_CHANNEL_NEW, &channel);
	assert_int_equal(wire_get_channel(bytes + WIRE_HEADER_BYTES, WIRE_CHANNEL_BYTES, &back),
			 -EPROTO);
}
