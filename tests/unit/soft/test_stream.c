/* SPDX-License-Identifier: BSD-3-Clause */
/* test_stream.c -- messages over a socket that takes and gives what it likes. */
#include <sys/socket.h>
#include <unistd.h>

#include "soft_device/transport/stream.h"
#include "tests/lib/test.h"

struct pair {
	struct stream near;
	struct stream far;
};

static int connect_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int fds[2];

	assert_non_null(pair);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	stream_open(&pair->near, fds[0]);
	stream_open(&pair->far, fds[1]);
	*state = pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	stream_close(&pair->near);
	stream_close(&pair->far);
	free(pair);
	return 0;
}

/* A write of this many bytes, each of the value `fill`. */
static unsigned char *make_write(uint32_t length, int fill)
{
	const struct request request = {.op = REQUEST_WRITE, .length = length};
	unsigned char *bytes = malloc(WIRE_REQUEST_START + length);
	const union ibv_gid gid = {.raw = {1}};

	assert_non_null(bytes);
	wire_put_request(bytes, 0, 0, &gid, 1, &request);
	memset(bytes + WIRE_REQUEST_START, fill, length);
	return bytes;
}

static void assert_write(const struct wire_header *header, const unsigned char *body,
			 uint32_t length, int fill)
{
	assert_int_equal(header->kind, WIRE_REQUEST);
	assert_int_equal(header->length, WIRE_REQUEST_BYTES + length);
	for (uint32_t i = 0; i < length; i++)
		assert_int_equal(body[WIRE_REQUEST_BYTES + i], fill);
}

TEST(test_message_comes_byte_by_byte, connect_pair, close_pair)
{
	struct pair *pair = *state;
	unsigned char *bytes = make_write(8, 5);
	const size_t whole = WIRE_REQUEST_START + 8;
	const unsigned char *body;
	struct wire_header header;

	for (size_t i = 0; i < whole; i++) {
		assert_int_equal(stream_next(&pair->far, &header, &body), 0);
		assert_int_equal(write(pair->near.fd, bytes + i, 1), 1);
		assert_int_equal(stream_receive(&pair->far), 0);
	}
	assert_int_equal(stream_next(&pair->far, &header, &body), 1);
	assert_write(&header, body, 8, 5);
	assert_int_equal(stream_next(&pair->far, &header, &body), 0);
	free(bytes);
}

TEST(test_messages_come_together, connect_pair, close_pair)
{
	struct pair *pair = *state;
	const unsigned char *body;
	struct wire_header header;

	for (int fill = 1; fill <= 3; fill++) {
		unsigned char *bytes = make_write((uint32_t)fill, fill);
		const struct iovec parts[2] = {
			{bytes, 20}, {bytes + 20, WIRE_REQUEST_START + (size_t)fill - 20}};

		assert_int_equal(stream_send(&pair->near, parts, 2), 0);
		free(bytes);
	}
	assert_int_equal(stream_receive(&pair->far), 0);
	for (int fill = 1; fill <= 3; fill++) {
		assert_int_equal(stream_next(&pair->far, &header, &body), 1);
		assert_write(&header, body, (uint32_t)fill, fill);
	}
	assert_int_equal(stream_next(&pair->far, &header, &body), 0);
}

/* More than the socket takes: the rest is queued, and all of it arrives in order. */
TEST(test_largest_messages_arrive, connect_pair, close_pair)
{
	struct pair *pair = *state;
	const unsigned char *body;
	struct wire_header header;
	int fill = 1;

	for (int i = 1; i <= 2; i++) {
		unsigned char *bytes = make_write(SOFT_MAX_MESSAGE, i);
		const struct iovec part = {bytes, WIRE_REQUEST_START + (size_t)SOFT_MAX_MESSAGE};

		assert_int_equal(stream_send(&pair->near, &part, 1), 0);
		free(bytes);
	}
	assert_true(stream_queued(&pair->near) > SOFT_MAX_MESSAGE);
	while (fill <= 2) {
		int got;

		assert_int_equal(stream_flush(&pair->near), 0);
		assert_int_equal(stream_receive(&pair->far), 0);
		got = stream_next(&pair->far, &header, &body);
		assert_in_range(got, 0, 1);
		if (got == 1) {
			assert_write(&header, body, SOFT_MAX_MESSAGE, fill);
			fill++;
		}
	}
	assert_int_equal(stream_queued(&pair->near), 0);
}

/* The beginning by itself, the rest to two parts, and of what follows the beginning. */
TEST(test_body_goes_to_its_parts, connect_pair, close_pair)
{
	struct pair *pair = *state;
	unsigned char *one = make_write(300, 7), *two = make_write(20, 8), first[200], second[100];
	const struct iovec parts[2] = {{one, WIRE_REQUEST_START + 300},
				       {two, WIRE_REQUEST_START + 20}};
	const struct iovec into[2] = {{first, sizeof(first)}, {second, sizeof(second)}};
	const unsigned char *body;
	struct wire_header header;
	size_t stored;

	assert_int_equal(stream_send(&pair->near, parts, 2), 0);
	assert_int_equal(stream_receive_into(&pair->far, NULL, 0, WIRE_REQUEST_START, &stored), 0);
	assert_int_equal(stored, 0);
	assert_int_equal(stream_next_start(&pair->far, WIRE_REQUEST_BYTES, &header, &body), 1);
	assert_int_equal(header.length, WIRE_REQUEST_BYTES + 300);
	assert_memory_equal(body, one + WIRE_HEADER_BYTES, WIRE_REQUEST_BYTES);
	assert_int_equal(stream_at_hand(&pair->far), 0);
	assert_int_equal(stream_receive_into(&pair->far, into, 2, WIRE_REQUEST_START, &stored), 0);
	assert_int_equal(stored, 300);
	assert_memory_equal(first, one + WIRE_REQUEST_START, sizeof(first));
	assert_memory_equal(second, one + WIRE_REQUEST_START, sizeof(second));
	assert_int_equal(stream_next_start(&pair->far, WIRE_REQUEST_BYTES, &header, &body), 1);
	assert_int_equal(stream_take(&pair->far, 20, &body), 0);
	assert_int_equal(stream_receive(&pair->far), 0);
	assert_int_equal(stream_take(&pair->far, 20, &body), 1);
	assert_memory_equal(body, two + WIRE_REQUEST_START, 20);
	free(one);
	free(two);
}

TEST(test_part_that_is_not_mapped_is_told, connect_pair, close_pair)
{
	struct pair *pair = *state;
	const struct iovec part = {(void *)(uintptr_t)8, 16};
	size_t stored;
	char byte;

	assert_int_equal(write(pair->near.fd, "0123456789", 10), 10);
	assert_int_equal(stream_receive_into(&pair->far, &part, 1, 10, &stored), -EFAULT);
	assert_int_equal(stored, 0);
	stream_close(&pair->near);
	assert_int_equal(read(pair->far.fd, &byte, 1), 1); /* it was not taken */
	assert_int_equal(byte, '0');
}

TEST(test_receive_never_blocks, connect_pair, close_pair)
{
	struct pair *pair = *state;

	assert_int_equal(stream_receive(&pair->far), 0);
}

TEST(test_end_is_told, connect_pair, close_pair)
{
	struct pair *pair = *state;

	stream_close(&pair->near);
	assert_int_equal(stream_receive(&pair->far), -EPIPE);
}

TEST(test_sending_to_nobody_fails, connect_pair, close_pair)
{
	struct pair *pair = *state;
	const struct iovec part = {"", 1};

	stream_close(&pair->far);
	assert_int_equal(stream_send(&pair->near, &part, 1), -EPIPE);
}

TEST(test_foreign_bytes_are_refused, connect_pair, close_pair)
{
	struct pair *pair = *state;
	const unsigned char *body;
	struct wire_header header;

	assert_int_equal(write(pair->near.fd, "GET / HTTP/1.1\r\n", 16), 16);
	assert_int_equal(stream_receive(&pair->far), 0);
	assert_int_equal(stream_next(&pair->far, &header, &body), -EPROTO);
}
