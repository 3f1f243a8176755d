/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_wire.c -- messages between processes: what is put comes back, byte for
 * byte where the layout demands it, and what no encoder makes is refused.
 */
#include "soft_device/transport/wire.h"
#include "tests/lib/test.h"

static const union ibv_gid there = {.raw = {[10] = 0xff, 0xff, 192, 0, 2, 2}};
static const union ibv_gid here = {.raw = {0xfd, [15] = 7}};

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

static struct wire_handshake some_handshake(void)
{
	struct wire_handshake handshake = {.layout = 7,
					   .identity = UINT64_C(0x0123456789abcdef),
					   .probe = UINT64_C(0x7fff00001000),
					   .pid_namespace = 4026531836};

	memset(handshake.token, 0xb0, sizeof(handshake.token));
	return handshake;
}

TEST(test_handshake_comes_back)
{
	const struct wire_handshake handshake = some_handshake();
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct wire_handshake back;

	memset(&back, 0, sizeof(back));
	wire_put_handshake(bytes, &handshake);
	assert_int_equal(wire_get_handshake(bytes + WIRE_HEADER_BYTES, WIRE_HANDSHAKE_BYTES, &back),
			 0);
	assert_int_equal(back.layout, handshake.layout);
	assert_int_equal(back.identity, handshake.identity);
	assert_int_equal(back.probe, handshake.probe);
	assert_int_equal(back.pid_namespace, handshake.pid_namespace);
	assert_memory_equal(back.token, handshake.token, sizeof(handshake.token));
}

TEST(test_handshake_without_identity_is_refused)
{
	struct wire_handshake handshake = some_handshake();
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	handshake.identity = 0;
	wire_put_handshake(bytes, &handshake);
	assert_int_equal(
		wire_get_handshake(bytes + WIRE_HEADER_BYTES, WIRE_HANDSHAKE_BYTES, &handshake),
		-EPROTO);
}

static struct request some_request(enum request_op op, uint32_t length)
{
	return (struct request){.op = op,
				.solicited = true,
				.flush_type = SOFT_FLUSH_PERSISTENT,
				.flush_level = SOFT_FLUSH_MR,
				.framing = FRAMING_ROCE_V1 | IBV_MTU_4096,
				.imm_data = 0x01020304,
				.rkey = 0xabcd01,
				.length = length,
				.remote_addr = UINT64_C(0x7f0000001008),
				.compare_add = UINT64_C(0x1112131415161718),
				.swap = UINT64_C(0x2122232425262728),
				.src_qpn = 0xc0ffee,
				.src_gid = here};
}

TEST(test_request_comes_back)
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
		const struct request request = some_request(cases[i].op, cases[i].length);
		unsigned char bytes[WIRE_REQUEST_START];
		struct wire_header header;
		struct wire_request back;

		assert_int_equal(wire_payload(&request), cases[i].payload);
		assert_int_equal(wire_answer_data(&request), cases[i].data);
		wire_put_request(bytes, 77, 78, &there, 0xbeef01, &request);
		assert_int_equal(wire_get_header(bytes, &header), 0);
		assert_int_equal(header.length, WIRE_REQUEST_BYTES + cases[i].payload);
		assert_int_equal(wire_get_request(bytes + WIRE_HEADER_BYTES, header.length, &back),
				 0);
		assert_int_equal(back.number, 77);
		assert_int_equal(back.after, 78);
		assert_int_equal(back.qpn, 0xbeef01);
		assert_memory_equal(&back.gid, &there, sizeof(there));
		assert_int_equal(back.request.op, cases[i].op);
		assert_int_equal(back.request.length, cases[i].length);
		assert_true(back.request.solicited);
		assert_int_equal(back.request.flush_type, SOFT_FLUSH_PERSISTENT);
		assert_int_equal(back.request.flush_level, SOFT_FLUSH_MR);
		assert_int_equal(back.request.framing, FRAMING_ROCE_V1 | IBV_MTU_4096);
		assert_int_equal(back.request.imm_data, request.imm_data);
		assert_int_equal(back.request.rkey, request.rkey);
		assert_int_equal(back.request.remote_addr, request.remote_addr);
		assert_int_equal(back.request.compare_add, request.compare_add);
		assert_int_equal(back.request.swap, request.swap);
		assert_int_equal(back.request.src_qpn, request.src_qpn);
		assert_memory_equal(&back.request.src_gid, &here, sizeof(here));
		assert_int_equal(back.request.local_count, 0);
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

TEST(test_answer_comes_back)
{
	static const struct wire_answer cases[] = {
		{1, {.kind = OUTCOME_DONE, .status = IBV_WC_SUCCESS}, 4096},
		{2, {.kind = OUTCOME_DONE, .before = UINT64_C(0x1112131415161718)}, 0},
		{3,
		 {.kind = OUTCOME_DONE,
		  .status = IBV_WC_REM_ACCESS_ERR,
		  .vendor_err = VENDOR_ERRS - 1},
		 0},
		{4, {.kind = OUTCOME_RNR, .rnr_timer = 31}, 0},
		{0xffffffff, {.kind = OUTCOME_ABSENT}, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[WIRE_ANSWER_START];
		struct wire_header header;
		struct wire_answer back;

		wire_put_answer(bytes, &cases[i]);
		assert_int_equal(wire_get_header(bytes, &header), 0);
		assert_int_equal(header.length, WIRE_ANSWER_BYTES + cases[i].bytes);
		assert_int_equal(wire_get_answer(bytes + WIRE_HEADER_BYTES, header.length, &back),
				 0);
		assert_int_equal(back.number, cases[i].number);
		assert_int_equal(back.bytes, cases[i].bytes);
		assert_int_equal(back.outcome.kind, cases[i].outcome.kind);
		assert_int_equal(back.outcome.status, cases[i].outcome.status);
		assert_int_equal(back.outcome.rnr_timer, cases[i].outcome.rnr_timer);
		assert_int_equal(back.outcome.vendor_err, cases[i].outcome.vendor_err);
		assert_int_equal(back.outcome.before, cases[i].outcome.before);
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

TEST(test_region_comes_back)
{
	const struct wire_region region = {.key = 0x301,
					   .pid = 4711,
					   .pd = 2,
					   .access = IBV_ACCESS_REMOTE_READ,
					   .is_gone = true,
					   .addr = UINT64_C(0x7f0102030405),
					   .length = UINT64_C(1) << 40,
					   .made_at = "main a.c:3",
					   .gone_at = "a tab\tand \xc3\xa4"};
	unsigned char bytes[WIRE_REGION_BYTES];
	struct wire_region back;

	wire_put_region(bytes, &region);
	assert_int_equal(wire_get_region(bytes, sizeof(bytes), &back), 0);
	assert_int_equal(back.key, region.key);
	assert_int_equal(back.pid, region.pid);
	assert_int_equal(back.pd, region.pd);
	assert_int_equal(back.access, region.access);
	assert_true(back.is_gone);
	assert_int_equal(back.addr, region.addr);
	assert_int_equal(back.length, region.length);
	assert_string_equal(back.made_at, "main a.c:3");
	assert_string_equal(back.gone_at, "a tab?and ??"); /* no control characters */
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

TEST(test_channel_comes_back)
{
	const struct wire_channel channel = {3, 0x80000001};
	unsigned char bytes[WIRE_CHANNEL_MESSAGE];
	struct wire_header header;
	struct wire_channel back;

	wire_put_channel(bytes, WIRE_CHANNEL_GONE, &channel);
	assert_int_equal(wire_get_header(bytes, &header), 0);
	assert_int_equal(header.kind, WIRE_CHANNEL_GONE);
	assert_int_equal(wire_get_channel(bytes + WIRE_HEADER_BYTES, header.length, &back), 0);
	assert_int_equal(back.slot, channel.slot);
	assert_int_equal(back.id, channel.id);
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
