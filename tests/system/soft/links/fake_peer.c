/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_peer.c -- see fake_peer.h. */
#include "fake_peer.h"

#include <sys/socket.h>
#include <unistd.h>

int fake_peer_connect(uint32_t qp_num)
{
	struct sockaddr_storage room;
	struct sockaddr *addr = test_sockaddr(test_addr(), (uint16_t)(qp_num >> 8), &room);
	int fd = socket(addr->sa_family, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	OK(connect(fd, addr,
		   addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					      : sizeof(struct sockaddr_in6)));
	return fd;
}

void fake_peer_send(int fd, const void *bytes, size_t length)
{
	assert_int_equal(send(fd, bytes, length, MSG_NOSIGNAL), length);
}

bool fake_peer_receive(int fd, void *bytes, size_t length)
{
	unsigned char *at = bytes;

	while (length > 0) {
		ssize_t got;

		wait_readable(fd, "an answer");
		got = recv(fd, at, length, 0);
		if (got <= 0)
			return false;
		at += got;
		length -= (size_t)got;
	}
	return true;
}

struct wire_hello fake_peer_handshake(int fd)
{
	const struct wire_hello hello = {.identity = 0x5417};
	unsigned char bytes[WIRE_HELLO_MESSAGE];
	struct wire_hello reply;

	wire_put_hello(bytes, &hello);
	fake_peer_send(fd, bytes, sizeof(bytes));
	assert_true(fake_peer_receive(fd, bytes, sizeof(bytes)));
	OK(wire_get_hello(bytes + WIRE_HEADER_BYTES, WIRE_HELLO_BYTES, &reply));
	assert_int_equal(reply.welcome, WIRE_WELCOME);
	return reply;
}

void fake_peer_send_carry(int fd)
{
	unsigned char bytes[WIRE_HEADER_BYTES];

	wire_put_header(bytes, WIRE_CARRY, 0);
	fake_peer_send(fd, bytes, sizeof(bytes));
}

struct wire_answer fake_peer_receive_answer(int fd)
{
	unsigned char bytes[WIRE_ANSWER_START];
	struct wire_header header;
	struct wire_answer answer;

	assert_true(fake_peer_receive(fd, bytes, sizeof(bytes)));
	OK(wire_get_header(bytes, &header));
	assert_int_equal(header.kind, WIRE_ANSWER);
	OK(wire_get_answer(bytes + WIRE_HEADER_BYTES, header.length, &answer));
	return answer;
}
