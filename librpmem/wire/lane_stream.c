/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_stream.c -- sends and receives, and sleeps only after trying for a while:
 * an answer is there sooner than a thread wakes up.
 */
#include "lane_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/monotonic.h"

#define SPINS_MAX   64
#define SPINS_MIN   1
#define CHECK_BYTES ((size_t)4 << 20) /* moved between two looks at stop_fd, while it is busy */

/* A peer's host that has died is noticed after 30 s, by one of these. */
#define KEEPALIVE_IDLE_S  10
#define KEEPALIVE_EVERY_S 5
#define KEEPALIVE_COUNT	  4
#define SILENCE_MS	  30000

int lane_stream_open(struct lane_stream *stream, int fd, int stop_fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT},
	};

	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
		return -errno;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			       sizeof(options[i].value)) != 0)
			return -errno;
	*stream = (struct lane_stream){.fd = fd, .stop_fd = stop_fd, .spins = SPINS_MAX};
	return 0;
}

/*
 * After a sleep of SILENCE_MS: bytes wait for an acknowledgement, and none has come, which turns
 * keep-alives off. TCP_USER_TIMEOUT would also end a connection whose peer lives and takes
 * no bytes, as a daemon in a long msync(2) does.
 */
static bool is_silent(int fd)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_unacked > 0 &&
	       info.tcpi_last_ack_recv >= SILENCE_MS;
}

static int sleep_for(const struct lane_stream *stream, short events, int timeout_ms)
{
	struct pollfd fds[] = {{stream->fd, events, 0}, {stream->stop_fd, POLLIN, 0}};
	int ret = poll(fds, 2, timeout_ms >= 0 ? timeout_ms : SILENCE_MS);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	if (ret == 0 && timeout_ms < 0)
		return is_silent(stream->fd) ? -ECONNRESET : 0;
	if (ret == 0)
		return -ETIMEDOUT;
	return fds[0].revents == 0 ? -ECANCELED : 0;
}

/* A stream that is never out of bytes never sleeps. */
static int check_stop(struct lane_stream *stream, size_t moved)
{
	struct pollfd stop = {stream->stop_fd, POLLIN, 0};

	stream->moved += moved;
	if (stream->moved < CHECK_BYTES)
		return 0;
	stream->moved = 0;
	return poll(&stop, 1, 0) == 1 ? -ECANCELED : 0;
}

/* The reason why a call moved nothing; 0: there is nothing yet. */
static int reason(int error)
{
	switch (error) {
	case EAGAIN:
	case EINTR:
		return 0;
	case EPIPE:
	case ETIMEDOUT:
		return -ECONNRESET;
	default:
		return -error;
	}
}

/* Leaves out what was sent. */
static void skip(struct iovec **parts, size_t *count, size_t sent)
{
	while (*count > 0 && sent >= (*parts)->iov_len) {
		sent -= (*parts)->iov_len;
		++*parts;
		--*count;
	}
	if (*count > 0) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + sent;
		(*parts)->iov_len -= sent;
	}
}

int lane_stream_send(struct lane_stream *stream, struct iovec *parts, size_t count)
{
	int ret = 0;

	while (ret == 0 && count > 0) {
		const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
		ssize_t sent = sendmsg(stream->fd, &message, MSG_NOSIGNAL);

		if (sent >= 0) {
			skip(&parts, &count, (size_t)sent);
			ret = check_stop(stream, (size_t)sent);
		} else if ((ret = reason(errno)) == 0) {
			ret = sleep_for(stream, POLLOUT, -1);
		}
	}
	return ret;
}

static int wait_for_bytes(struct lane_stream *stream, unsigned *tries, int64_t deadline_ms)
{
	int left = -1;

	if (++*tries < stream->spins)
		return 0;
	stream->spins = stream->spins / 2 > SPINS_MIN ? stream->spins / 2 : SPINS_MIN;
	if (deadline_ms >= 0) {
		int64_t now = monotonic_ms();

		left = now < deadline_ms ? (int)(deadline_ms - now) : 0;
	}
	return sleep_for(stream, POLLIN, left);
}

int lane_stream_receive(struct lane_stream *stream, void *bytes, size_t len, int timeout_ms)
{
	const int64_t deadline_ms = timeout_ms >= 0 ? monotonic_ms() + timeout_ms : -1;
	char *at = bytes;
	unsigned tries = 0;
	int ret = 0;

	while (ret == 0 && len > 0) {
		ssize_t got = recv(stream->fd, at, len, 0);

		if (got == 0)
			return -ECONNRESET;
		if (got > 0) {
			at += got;
			len -= (size_t)got;
			stream->spins += (SPINS_MAX - stream->spins) / 4;
			tries = 0;
			ret = check_stop(stream, (size_t)got);
		} else if ((ret = reason(errno)) == 0) {
			ret = wait_for_bytes(stream, &tries, deadline_ms);
		}
	}
	return ret;
}
