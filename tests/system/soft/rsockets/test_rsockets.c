/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rsockets.c -- rsocket(7): each of its calls reaches the library of this host, whose own
 * calls reach the device.
 */
#include "device_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <sys/uio.h>

#define MAPPED_BYTES 4096

static struct {
	int listener, client, server;
	struct sockaddr_in address; /* the one that the listener has */
} s;

static void *accept_client(void *unused)
{
	struct sockaddr_in from;
	socklen_t bytes = sizeof(from);

	s.server = raccept(s.listener, (struct sockaddr *)&from, &bytes);
	return unused;
}

static int make(void)
{
	int maps = 1, made = rsocket(AF_INET, SOCK_STREAM, 0);

	assert_true(made >= 0);
	OK(rsetsockopt(made, SOL_RDMA, RDMA_IOMAPSIZE, &maps, sizeof(maps)));
	return made;
}

static int setup(void **unused)
{
	struct sockaddr_storage room;
	socklen_t bytes = sizeof(s.address);
	pthread_t thread;

	(void)unused;
	s.listener = make();
	OK(rbind(s.listener, test_sockaddr(test_addr(), 0, &room), sizeof(s.address)));
	OK(rlisten(s.listener, 1));
	OK(rgetsockname(s.listener, (struct sockaddr *)&s.address, &bytes));
	s.client = make();
	OK(pthread_create(&thread, NULL, accept_client, NULL));
	OK(rconnect(s.client, (struct sockaddr *)&s.address, sizeof(s.address)));
	OK(pthread_join(thread, NULL));
	assert_true(s.server >= 0);
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	OK(rshutdown(s.client, SHUT_RDWR));
	OK(rclose(s.client));
	OK(rclose(s.server));
	OK(rclose(s.listener));
	return 0;
}

static void wait_for(int socket, short events)
{
	struct pollfd poll = {.fd = socket, .events = events};

	assert_int_equal(rpoll(&poll, 1, WAIT_S * 1000), 1);
	assert_int_equal(poll.revents, events);
}

TEST(names__are_those_of_the_two_ends, setup, teardown)
{
	struct sockaddr_in own, peer;
	socklen_t bytes = sizeof(own);

	OK(rgetpeername(s.client, (struct sockaddr *)&peer, &bytes));
	assert_int_equal(peer.sin_port, s.address.sin_port);
	OK(rgetsockname(s.client, (struct sockaddr *)&own, &bytes));
	OK(rgetpeername(s.server, (struct sockaddr *)&peer, &bytes));
	assert_int_equal(peer.sin_port, own.sin_port);
	assert_int_equal(peer.sin_addr.s_addr, own.sin_addr.s_addr);
}

TEST(bytes__go_both_ways_by_each_pair_of_calls, setup, teardown)
{
	char room[8] = "", text[] = "12345";
	struct iovec from = {text, 5}, to = {room, sizeof(room)};
	struct msghdr sent = {.msg_iov = &from, .msg_iovlen = 1};
	struct msghdr received = {.msg_iov = &to, .msg_iovlen = 1};

	assert_int_equal(rsend(s.client, text, 5, 0), 5);
	assert_int_equal(rrecv(s.server, room, sizeof(room), 0), 5);
	assert_string_equal(room, text);
	text[0] = 'a';
	assert_int_equal(rwrite(s.server, text, 5), 5);
	assert_int_equal(rread(s.client, room, sizeof(room)), 5);
	assert_string_equal(room, text);
	text[0] = 'b';
	assert_int_equal(rwritev(s.client, &from, 1), 5);
	assert_int_equal(rreadv(s.server, &to, 1), 5);
	assert_string_equal(room, text);
	text[0] = 'c';
	assert_int_equal(rsendmsg(s.server, &sent, 0), 5);
	assert_int_equal(rrecvmsg(s.client, &received, 0), 5);
	assert_string_equal(room, text);
	text[0] = 'd';
	assert_int_equal(rsendto(s.client, text, 5, 0, NULL, 0), 5);
	assert_int_equal(rrecvfrom(s.server, room, sizeof(room), 0, NULL, NULL), 5);
	assert_string_equal(room, text);
}

TEST(waiting__ends_when_bytes_come, setup, teardown)
{
	struct pollfd poll = {.fd = s.server, .events = POLLIN};
	struct timeval time = {.tv_sec = WAIT_S};
	fd_set readable;
	char byte;

	assert_int_equal(rpoll(&poll, 1, 0), 0);
	OK(rfcntl(s.server, F_SETFL, O_NONBLOCK));
	assert_true(rfcntl(s.server, F_GETFL) & O_NONBLOCK);
	assert_int_equal(rrecv(s.server, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(rsend(s.client, "1", 1, 0), 1);
	wait_for(s.server, POLLIN);
	FD_ZERO(&readable);
	FD_SET(s.server, &readable);
	assert_int_equal(rselect(s.server + 1, &readable, NULL, NULL, &time), 1);
	assert_true(FD_ISSET(s.server, &readable));
	assert_int_equal(rrecv(s.server, &byte, 1, 0), 1);
}

TEST(options__are_told_as_they_were_set, setup, teardown)
{
	int wanted = 100000, value = 0;
	socklen_t bytes = sizeof(value);

	OK(rsetsockopt(s.listener, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted)));
	OK(rgetsockopt(s.listener, SOL_SOCKET, SO_RCVBUF, &value, &bytes));
	assert_true(value >= wanted);
	OK(rgetsockopt(s.client, SOL_RDMA, RDMA_IOMAPSIZE, &value, &bytes));
	assert_true(value >= 1);
}

/* The peer learns of a mapping with the next bytes. */
TEST(memory__that_is_mapped_is_written_to, setup, teardown)
{
	static unsigned char memory[MAPPED_BYTES];
	char byte;
	off_t offset = riomap(s.server, memory, sizeof(memory), PROT_WRITE, 0, -1);

	assert_true(offset >= 0);
	assert_int_equal(rsend(s.server, "1", 1, 0), 1);
	assert_int_equal(rrecv(s.client, &byte, 1, 0), 1);
	assert_int_equal(riowrite(s.client, "hello", 5, offset + 10, 0), 5);
	assert_int_equal(rsend(s.client, "2", 1, 0), 1);
	assert_int_equal(rrecv(s.server, &byte, 1, 0), 1);
	assert_memory_equal(memory + 10, "hello", 5);
	OK(riounmap(s.server, memory, sizeof(memory)));
}
