/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lane_stream.c -- lanes over TCP: how long a silent peer is waited for, and that
 * the end of the session is seen.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "librpmem/wire/lane_stream.h"
#include "tests/lib/test.h"

#define SILENCE_MS 30000
#define MIB	   ((size_t)1 << 20)
#define BYTES	   (64 * MIB)

static struct lane_stream stream;
static int peer, stop_fd;
static char *bytes;

/* The kernel's view of the connection; sleeps of SILENCE_MS take no time. */
static struct tcp_info info;
static unsigned sleeps, sleeps_until_stop;

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (timeout_ms != SILENCE_MS)
		return __real_poll(fds, count, timeout_ms);
	if (++sleeps == sleeps_until_stop)
		eventfd_write(stop_fd, 1);
	return __real_poll(fds, count, 0);
}

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (level != IPPROTO_TCP || name != TCP_INFO)
		return __real_getsockopt(fd, level, name, value, len);
	memcpy(value, &info, sizeof(info));
	return 0;
}

/* A peer that is fast: each call moves a MiB at once. */
static bool is_busy;
static size_t pretended;

static ssize_t pretend(size_t len)
{
	len = len < MIB ? len : MIB;
	pretended += len;
	return (ssize_t)len;
}

ssize_t __real_recv(int fd, void *buffer, size_t len, int flags);

ssize_t __wrap_recv(int fd, void *buffer, size_t len, int flags)
{
	return is_busy ? pretend(len) : __real_recv(fd, buffer, len, flags);
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return is_busy ? pretend(message->msg_iov[0].iov_len) : __real_sendmsg(fd, message, flags);
}

static int set_up(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	memset(&info, 0, sizeof(info));
	sleeps = sleeps_until_stop = 0;
	is_busy = false;
	bytes = calloc(1, BYTES);
	stop_fd = eventfd(0, 0);
	if (bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) != 0 ||
	    connect(fd, (struct sockaddr *)&address, len) != 0)
		return -1;
	peer = accept(listener, NULL, NULL);
	close(listener);
	return lane_stream_open(&stream, fd, stop_fd);
}

static int tear_down(void **state)
{
	close(stream.fd);
	close(peer);
	close(stop_fd);
	free(bytes);
	return 0;
}

static int send_all(void)
{
	struct iovec part = {bytes, BYTES};

	return lane_stream_send(&stream, &part, 1);
}

TEST(idle_connections_are_probed, set_up, tear_down)
{
	static const struct {
		int level, name, expected;
	} options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
		       {IPPROTO_TCP, TCP_KEEPIDLE, 10},
		       {IPPROTO_TCP, TCP_KEEPINTVL, 5},
		       {IPPROTO_TCP, TCP_KEEPCNT, 4}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		socklen_t len = sizeof(int);
		int value = -1;

		EQUAL((getsockopt(stream.fd, options[i].level, options[i].name, &value, &len), 0),
		      (value, options[i].expected));
	}
}

TEST(a_host_that_acknowledges_nothing_is_gone, set_up, tear_down)
{
	info.tcpi_unacked = 1;
	info.tcpi_last_ack_recv = SILENCE_MS;
	EQUAL((lane_stream_receive(&stream, bytes, 1, -1), -ECONNRESET), (send_all(), -ECONNRESET));
}

/* A daemon may be busy for long: the acknowledgements are its kernel's. */
TEST(a_peer_that_is_slow_is_waited_for, set_up, tear_down)
{
	static const struct {
		unsigned unacked, last_ack_ms;
	} cases[] = {{0, 10 * SILENCE_MS}, {1, SILENCE_MS - 1}};

	for (size_t i = 0; i < 2; i++) {
		eventfd_t value;

		info.tcpi_unacked = cases[i].unacked;
		info.tcpi_last_ack_recv = cases[i].last_ack_ms;
		sleeps_until_stop = sleeps + 5;
		EQUAL((send_all(), -ECANCELED), (sleeps, sleeps_until_stop),
		      (eventfd_read(stop_fd, &value), 0));
		sleeps_until_stop = sleeps + 5;
		EQUAL((lane_stream_receive(&stream, bytes, 1, -1), -ECANCELED),
		      (eventfd_read(stop_fd, &value), 0));
	}
}

/* Nothing ever makes it sleep. */
TEST(a_busy_stream_sees_the_end, set_up, tear_down)
{
	is_busy = true;
	EQUAL((send_all(), 0), (lane_stream_receive(&stream, bytes, BYTES, -1), 0));
	eventfd_write(stop_fd, 1);
	pretended = 0;
	assert_int_equal(send_all(), -ECANCELED);
	assert_in_range(pretended, 1, 8 * MIB);
	pretended = 0;
	assert_int_equal(lane_stream_receive(&stream, bytes, BYTES, -1), -ECANCELED);
	assert_in_range(pretended, 1, 8 * MIB);
}
