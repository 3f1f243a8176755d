/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_listener.c -- processes that connect to a listener of the RDMA CM and make their request
 * late, as on a host that stood still, or never: then they keep no other one out.
 */
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_peer.h"
#include "soft_device/cm/wire.h"
#include "tests/device/cm.h"

#define STANDSTILL_S 6
#define FILES	     512
#define SILENT_MOST  (FILES / 4) /* PENDING_PART of listen.c */
#define PATIENCE_MS  30000	 /* less than a silent one has if there is room for it */

static struct rlimit files;

static int setup(void **unused)
{
	struct rlimit few;

	OK(getrlimit(RLIMIT_NOFILE, &files));
	few = files;
	few.rlim_cur = FILES;
	OK(setrlimit(RLIMIT_NOFILE, &few));
	return setup_cm(unused);
}

static int teardown(void **unused)
{
	OK(setrlimit(RLIMIT_NOFILE, &files));
	return teardown_cm(unused);
}

static int connect_silently(void)
{
	return fake_peer_connect((uint32_t)cm.port << 8);
}

static void expect_ended(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&poll_fd, 1, PATIENCE_MS), 1);
}

TEST(test_request_may_come_late, setup, teardown)
{
	const struct cm_message request = {.kind = CM_REQ, .qpn = 1, .token = "late"};
	const struct wire_handshake handshake = {.identity = FAKE_IDENTITY, .token = "late"};
	unsigned char bytes[CM_MESSAGE_MAX];
	const int fd = connect_silently();

	close(fake_peer_connect_unix((uint32_t)cm.port << 8, &handshake));
	sleep(STANDSTILL_S);
	fake_peer_send(fd, bytes, cm_wire_put(&request, bytes));
	OK(rdma_destroy_id(cm_take_request().id));
	close(fd);
}

/* The oldest go. */
TEST(test_silent_ones_make_room, setup, teardown)
{
	int fds[SILENT_MOST + 8];

	for (size_t i = 0; i < ARRAY_LENGTH(fds); i++)
		fds[i] = connect_silently();
	expect_ended(fds[7]);
	assert_false(is_readable(fds[8]));
	cm_make_pair(test_addr());
	for (size_t i = 0; i < ARRAY_LENGTH(fds); i++)
		close(fds[i]);
}

TEST(test_silent_one_gives_up_its_descriptor, setup, teardown)
{
	const int silent = connect_silently();
	int fds[FILES], count = 0, next;

	cm_make_pair(test_addr()); /* behind the silent one */
	while ((fds[count] = dup(STDERR_FILENO)) >= 0)
		count++;
	close(fds[--count]);
	next = connect_silently();
	expect_ended(silent);
	while (count > 0)
		close(fds[--count]);
	close(silent);
	close(next);
}
