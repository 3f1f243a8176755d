/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_control.c -- the messages over ssh: sizes, and each field with values that it may not have.
 * Offsets and sizes are sums of those in control.c. Round trips: fuzz_control.c.
 */
#include "librpmem/wire/control.h"
#include "tests/lib/test.h"

#define ATTR_BYTES    104
#define REQUEST_BYTES (8 + 4 + 1 + 1 + ATTR_BYTES + 2) /* and the name */
#define REPLY_BYTES   (4 + 2 + 64 + 1 + 1 + 8 + 8 + ATTR_BYTES)

static const struct rpmem_pool_attr attr = {
	.signature = {'P', 'M', 'E', 'M', 'O', 'B', 'J', 0},
	.major = 6,
	.compat_features = 0x01020304,
	.incompat_features = 0xfffffffe,
	.ro_compat_features = 7,
	.poolset_uuid = {1, 2, 3},
	.uuid = {4, 5, 6},
	.next_uuid = {7, 8, 9},
	.prev_uuid = {10, 11, 12},
	.user_flags = {13, 14, 15},
};

static struct control_pool_request good_request(void)
{
	return (struct control_pool_request){
		.pool_size = 0x1122334455667788ULL,
		.nlanes = 1024,
		.transport = CONTROL_TCP,
		.has_attr = true,
		.attr = attr,
		.name = "sub/pool.set",
	};
}

static struct control_pool_reply good_reply(void)
{
	return (struct control_pool_reply){
		.nlanes = 3,
		.port = 65535,
		.address = "fe80::1%eth0",
		.method = CONTROL_APM,
		.has_headers = true,
		.pool_size = 16773120,
		.token = 0xfedcba9876543210ULL,
		.attr = attr,
	};
}

static uint8_t frame[CONTROL_HEADER_BYTES + CONTROL_BODY_MAX];
static uint8_t *const body = frame + CONTROL_HEADER_BYTES;
static struct control_header header; /* the last frame has it */

/* A message that was encoded in so many bytes has a header that fits. */
static void look_at(size_t len)
{
	assert_true(len >= CONTROL_HEADER_BYTES);
	EQUAL((control_decode_header(frame, &header), 0),
	      (header.body_bytes, len - CONTROL_HEADER_BYTES));
}

static size_t encode_request(enum control_type type, const struct control_pool_request *request)
{
	return control_encode_pool_request(type, request, frame, sizeof(frame));
}

static size_t encode_reply(const struct control_pool_reply *reply)
{
	return control_encode_pool_reply(CONTROL_OPEN, reply, frame, sizeof(frame));
}

static struct control_pool_request got_request;
static struct control_pool_reply got_reply;

static int decode_request(enum control_type type, size_t len)
{
	memset(&got_request, 0x5a, sizeof(got_request));
	return control_decode_pool_request(type, body, len, &got_request);
}

static int decode_reply(size_t len)
{
	return control_decode_pool_reply(body, len, &got_reply);
}

TEST(attributes_that_are_not_given_come_back_as_zeros)
{
	static const struct rpmem_pool_attr zero;
	struct control_pool_request request = good_request();

	request.has_attr = false;
	look_at(encode_request(CONTROL_OPEN, &request));
	EQUAL((decode_request(CONTROL_OPEN, header.body_bytes), 0), (got_request.has_attr, false));
	assert_memory_equal(&got_request.attr, &zero, sizeof(zero));
}

TEST(a_status_comes_with_its_reason)
{
	char reason[CONTROL_REASON_MAX];
	size_t len = control_encode_plain(CONTROL_STARTED, true, ENOENT, "no such set", frame,
					  sizeof(frame));

	look_at(len);
	EQUAL((header.type, CONTROL_STARTED), (header.is_reply, false), (header.status, ENOENT));
	control_decode_reason(body, header.body_bytes, reason);
	assert_string_equal(reason, "no such set");
	len = control_encode_plain(CONTROL_CLOSE, true, EIO, NULL, frame, sizeof(frame));
	assert_int_equal(len, CONTROL_HEADER_BYTES);
	look_at(len);
	assert_true(header.is_reply);
}

TEST(a_reason_is_cut_at_its_limit_and_at_control_characters)
{
	char text[2 * CONTROL_REASON_MAX], reason[CONTROL_REASON_MAX];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	look_at(control_encode_plain(CONTROL_OPEN, true, EIO, text, frame, sizeof(frame)));
	assert_int_equal(header.body_bytes, CONTROL_REASON_MAX - 1);
	control_decode_reason((const uint8_t *)text, sizeof(text), reason);
	assert_int_equal(strlen(reason), CONTROL_REASON_MAX - 1);
	control_decode_reason((const uint8_t *)"one\ntwo", 7, reason);
	assert_string_equal(reason, "one");
	control_decode_reason((const uint8_t *)"a\033[2J", 5, reason);
	assert_string_equal(reason, "a");
	control_decode_reason(NULL, 0, reason);
	assert_string_equal(reason, "");
}

/* --- sizes --- */

TEST(the_header_is_big_endian)
{
	static const uint8_t expected[CONTROL_HEADER_BYTES + 4] = {
		'r', 'p', 'm', 'R', 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1};

	assert_int_equal(control_encode_close(1, frame, sizeof(frame)), sizeof(expected));
	assert_memory_equal(frame, expected, sizeof(expected));
	control_encode_plain(CONTROL_SET_ATTR, true, 0x102, NULL, frame, sizeof(frame));
	assert_memory_equal(frame + 6, "\x01\x04\0\0\x01\x02", 6);
}

TEST(a_frame_needs_its_room)
{
	const struct control_pool_request request = good_request();
	const struct control_pool_reply reply = good_reply();
	size_t len = encode_request(CONTROL_CREATE, &request);

	for (size_t room = 0; room < len; room++)
		assert_int_equal(control_encode_pool_request(CONTROL_CREATE, &request, frame, room),
				 0);
	for (size_t room = 0; room < CONTROL_HEADER_BYTES + REPLY_BYTES; room++)
		assert_int_equal(control_encode_pool_reply(CONTROL_OPEN, &reply, frame, room), 0);
	EQUAL((control_encode_close(0, frame, CONTROL_HEADER_BYTES + 3), 0),
	      (control_encode_set_attr(&attr, frame, CONTROL_HEADER_BYTES), 0),
	      (control_encode_plain(CONTROL_STARTED, false, 1, "why", frame, 18), 0));
}

TEST(a_name_has_its_limits)
{
	struct control_pool_request request = good_request();

	request.name[0] = '\0';
	assert_int_equal(encode_request(CONTROL_OPEN, &request), 0);
	memset(request.name, 'n', sizeof(request.name));
	assert_int_equal(encode_request(CONTROL_OPEN, &request), 0);
	request.name[sizeof(request.name) - 1] = '\0';
	look_at(encode_request(CONTROL_CREATE, &request));
	EQUAL((decode_request(CONTROL_CREATE, header.body_bytes), 0),
	      (strlen(got_request.name), CONTROL_NAME_MAX - 1));
}

/* A body is exactly one: none of its beginnings, and nothing behind it. */
TEST(bodies_of_other_sizes_are_refused)
{
	const struct control_pool_request request = good_request();
	const struct control_pool_reply reply = good_reply();
	const size_t len = encode_request(CONTROL_CREATE, &request) - CONTROL_HEADER_BYTES;
	struct rpmem_pool_attr got_attr;
	uint32_t flags;

	for (size_t n = 0; n <= len + 1; n++)
		assert_int_equal(decode_request(CONTROL_CREATE, n) == 0, n == len);
	encode_reply(&reply);
	for (size_t n = 0; n <= REPLY_BYTES + 1; n++)
		assert_int_equal(decode_reply(n) == 0, n == REPLY_BYTES);
	for (size_t n = 0; n <= ATTR_BYTES + 1; n++)
		assert_int_equal(control_decode_set_attr(body, n, &got_attr) == 0, n == ATTR_BYTES);
	control_encode_close(0, frame, sizeof(frame));
	for (size_t n = 0; n <= 5; n++)
		assert_int_equal(control_decode_close(body, n, &flags) == 0, n == 4);
}

/* --- fields out of range --- */

struct flip {
	size_t at;
	uint8_t value;
};

TEST(headers_with_fields_out_of_range_are_refused)
{
	static const struct {
		struct flip flip;
		int expected;
	} cases[] = {
		{{0, 'R'}, -EPROTO},
		{{3, 0}, -EPROTO},
		{{4, 1}, -EPROTONOSUPPORT},
		{{5, 0}, -EPROTONOSUPPORT},
		{{5, 2}, -EPROTONOSUPPORT},
		{{6, 2}, -EPROTO}, /* no such bit */
		{{7, 0}, -EPROTO},
		{{7, CONTROL_TYPES}, -EPROTO},
		{{7, CONTROL_STARTED}, -EPROTO}, /* with the bit of a reply */
		{{8, 1}, -EPROTO},
		{{10, 0x10}, -EPROTO}, /* status 4096 */
		{{12, 1}, -EPROTO},
		{{13, 2}, -EPROTO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		control_encode_plain(CONTROL_CLOSE, true, 0, NULL, frame, sizeof(frame));
		assert_int_equal(control_decode_header(frame, &header), 0);
		frame[cases[i].flip.at] = cases[i].flip.value;
		assert_int_equal(control_decode_header(frame, &header), cases[i].expected);
	}
}

TEST(limits_of_the_header_are_allowed)
{
	control_encode_plain(CONTROL_CLOSE, true, CONTROL_STATUS_MAX, NULL, frame, sizeof(frame));
	frame[13] = 1; /* 65536 */
	EQUAL((control_decode_header(frame, &header), 0), (header.status, 4095),
	      (header.body_bytes, CONTROL_BODY_MAX));
	frame[15] = 1;
	assert_int_equal(control_decode_header(frame, &header), -EPROTO);
}

TEST(a_request_has_no_status)
{
	control_encode_plain(CONTROL_PERSISTED, false, 1, "why", frame, sizeof(frame));
	assert_int_equal(control_decode_header(frame, &header), -EPROTO);
}

TEST(requests_with_fields_out_of_range_are_refused)
{
	static const struct flip cases[] = {
		{12, 0},
		{12, 3},		   /* transport */
		{13, 2},		   /* has attr */
		{REQUEST_BYTES - 2, 0x10}, /* the name's size */
		{REQUEST_BYTES - 1, 0},
		{REQUEST_BYTES - 1, 11},
		{REQUEST_BYTES - 1, 13},
		{REQUEST_BYTES + 3, 0}, /* in the name */
	};
	const struct control_pool_request request = good_request();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = encode_request(CONTROL_CREATE, &request) - CONTROL_HEADER_BYTES;

		body[cases[i].at] = cases[i].value;
		assert_int_equal(decode_request(CONTROL_CREATE, len), -EPROTO);
	}
}

TEST(requests_for_nothing_are_refused)
{
	struct control_pool_request cases[2] = {good_request(), good_request()};

	cases[0].nlanes = 0;
	cases[1].pool_size = 0;
	for (size_t i = 0; i < 2; i++) {
		look_at(encode_request(CONTROL_CREATE, &cases[i]));
		assert_int_equal(decode_request(CONTROL_CREATE, header.body_bytes), -EPROTO);
	}
}

TEST(attributes_belong_to_create_and_to_their_flag)
{
	const struct control_pool_request request = good_request();
	const size_t len = encode_request(CONTROL_OPEN, &request) - CONTROL_HEADER_BYTES;

	EQUAL((decode_request(CONTROL_OPEN, len), -EPROTO),
	      (decode_request(CONTROL_CREATE, len), 0));
	body[13] = 0; /* has no attr, but there is one */
	assert_int_equal(decode_request(CONTROL_CREATE, len), -EPROTO);
}

TEST(replies_with_fields_out_of_range_are_refused)
{
	static const struct flip cases[] = {
		{6, '/'},    {6, '%'},	    {6 + 8, ' '}, /* address */
		{6 + 20, 1}, {6 + 63, '1'},		  /* behind its end */
		{70, 0},     {70, 3},			  /* method */
		{71, 2},				  /* has headers */
	};
	const struct control_pool_reply reply = good_reply();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		encode_reply(&reply);
		body[cases[i].at] = cases[i].value;
		assert_int_equal(decode_reply(REPLY_BYTES), -EPROTO);
	}
}

TEST(replies_that_give_nothing_are_refused)
{
	struct control_pool_reply cases[3] = {good_reply(), good_reply(), good_reply()};

	cases[0].nlanes = 0;
	cases[1].port = 0;
	cases[2].pool_size = 0;
	for (size_t i = 0; i < 3; i++) {
		encode_reply(&cases[i]);
		assert_int_equal(decode_reply(REPLY_BYTES), -EPROTO);
	}
}

TEST(addresses_are_numeric)
{
	static const struct {
		const char *address;
		int expected;
	} cases[] = {
		{"", 0},
		{"192.0.2.1", 0},
		{"2001:DB8::f", 0},
		{"fe80::1%eth0.7-a_b", 0},
		{"host", -EPROTO},
		{"192.0.2.1 ", -EPROTO},
		{"%eth0", -EPROTO},
		{"::1%e/h", -EPROTO},
	};
	struct control_pool_reply reply = good_reply();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(reply.address, 0, sizeof(reply.address));
		strcpy(reply.address, cases[i].address);
		encode_reply(&reply);
		assert_int_equal(decode_reply(REPLY_BYTES), cases[i].expected);
	}
	memset(body + 6, '1', sizeof(reply.address)); /* no room for a NUL */
	assert_int_equal(decode_reply(REPLY_BYTES), -EPROTO);
}

TEST(close_has_one_flag)
{
	uint32_t flags;

	for (uint32_t bit = 2; bit != 0; bit <<= 1) {
		control_encode_close(bit, frame, sizeof(frame));
		assert_int_equal(control_decode_close(body, 4, &flags), -EPROTO);
	}
}
