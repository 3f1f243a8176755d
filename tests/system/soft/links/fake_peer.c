/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_peer.c -- see fake_peer.h. */
#include "fake_peer.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
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

void fake_peer_say(int fd, const struct wire_handshake *handshake)
{
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	wire_put_handshake(bytes, handshake);
	fake_peer_send(fd, bytes, sizeof(bytes));
}

/* The abstract name of the unix socket beside the listener at this port. */
static socklen_t unix_name(uint16_t port, struct sockaddr_un *addr)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};
	int length = sprintf(addr->sun_path + 1, "rpma-soft-");

	if (inet_pton(AF_INET, test_addr(), &gid.raw[12]) != 1)
		assert_int_equal(inet_pton(AF_INET6, test_addr(), gid.raw), 1);
	addr->sun_family = AF_UNIX;
	addr->sun_path[0] = '\0';
	for (size_t i = 0; i < sizeof(gid.raw); i++)
		length += sprintf(addr->sun_path + 1 + length, "%02x", gid.raw[i]);
	length += sprintf(addr->sun_path + 1 + length, "-%u", port);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int fake_peer_connect_unix(uint32_t qp_num, const struct wire_handshake *handshake)
{
	struct sockaddr_un addr;
	const socklen_t length = unix_name((uint16_t)(qp_num >> 8), &addr);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_true(fd >= 0);
	OK(connect(fd, (struct sockaddr *)&addr, length));
	if (handshake != NULL)
		fake_peer_say(fd, handshake);
	return fd;
}

struct fake_listener fake_peer_listen(void)
{
	struct fake_listener listener;
	struct sockaddr_storage at;
	struct sockaddr_un addr;
	socklen_t length = sizeof(at);

	listener.tcp = socket(test_sockaddr(test_addr(), 0, &at)->sa_family, SOCK_STREAM, 0);
	assert_true(listener.tcp >= 0);
	OK(bind(listener.tcp, (struct sockaddr *)&at,
		at.ss_family == AF_INET ? sizeof(struct sockaddr_in)
					: sizeof(struct sockaddr_in6)));
	OK(listen(listener.tcp, 1));
	OK(getsockname(listener.tcp, (struct sockaddr *)&at, &length));
	listener.port = ntohs(((struct sockaddr_in *)&at)->sin_port);
	listener.unix_fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_true(listener.unix_fd >= 0);
	length = unix_name(listener.port, &addr);
	OK(bind(listener.unix_fd, (struct sockaddr *)&addr, length));
	OK(listen(listener.unix_fd, 1));
	return listener;
}

int fake_peer_meet(int listener)
{
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	int fd;

	wait_readable(listener, "a connection");
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0 && fake_peer_receive(fd, bytes, sizeof(bytes)));
	return fd;
}

int fake_peer_accept(const struct fake_listener *listener)
{
	const struct wire_handshake own = {.identity = FAKE_IDENTITY, .token = "answer"};
	const int unix_fd = fake_peer_meet(listener->unix_fd);
	int fd;

	fake_peer_say(unix_fd, &own);
	fd = fake_peer_meet(listener->tcp);
	fake_peer_say(fd, &own);
	close(unix_fd);
	return fd;
}

/* Over the unix socket, then over TCP. */
struct wire_handshake fake_peer_handshake(int fd, uint32_t qp_num)
{
	static unsigned char visits;
	const struct wire_handshake handshake = {.identity = FAKE_IDENTITY,
						 .token = {++visits, 0x54}};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct wire_handshake met, reply;
	const int unix_fd = fake_peer_connect_unix(qp_num, &handshake);

	assert_true(fake_peer_receive(unix_fd, bytes, sizeof(bytes)));
	OK(wire_get_handshake(bytes + WIRE_HEADER_BYTES, WIRE_HANDSHAKE_BYTES, &met));
	close(unix_fd);
	fake_peer_say(fd, &handshake);
	assert_true(fake_peer_receive(fd, bytes, sizeof(bytes)));
	OK(wire_get_handshake(bytes + WIRE_HEADER_BYTES, WIRE_HANDSHAKE_BYTES, &reply));
	assert_memory_equal(reply.token, met.token, sizeof(met.token));
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

void fake_peer_open_idle(int *fds, int count)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rlimit limit;
	socklen_t length = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	OK(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max;
	OK(setrlimit(RLIMIT_NOFILE, &limit));
	OK(bind(listener, (struct sockaddr *)&at, length));
	OK(listen(listener, 128));
	OK(getsockname(listener, (struct sockaddr *)&at, &length));
	for (int i = 0; i < count; i++) {
		const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		assert_true(fd >= 0);
		OK(connect(fd, (struct sockaddr *)&at, length));
		assert_true(accept(listener, NULL, NULL) >= 0);
		if (fds != NULL)
			fds[i] = fd;
	}
}
