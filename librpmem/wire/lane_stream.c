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
#include <sys/socket.h>

#include "tools/common/base/monotonic.h"

#define SPINS_MAX 64
#define SPINS_MIN 1

int lane_stream_open(struct lane_stream *stream, int fd, int stop_fd)
{
	const int yes = 1;

	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) != 0)
		return -errno;
	*stream = (struct lane_stream){.fd = fd, .stop_fd = stop_fd, .spins = SPINS_MAX};
	return 0;
}

static int sleep_for(const struct lane_stream *stream, short events, int timeout_ms)
{
	struct pollfd fds[] = {{stream->fd, events, 0}, {stream->stop_fd, POLLIN, 0}};
	int ret = poll(fds, 2, timeout_ms);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	if (ret == 0)
		return -ETIMEDOUT;
	return fds[0].revents == 0 ? -ECANCELED : 0;
}

/* What a call that moved nothing stands for; 0: there is nothing yet. */
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

		if (sent >= 0)
			skip(&parts, &count, (size_t)sent);
		else if ((ret = reason(errno)) == 0)
			ret = sleep_for(stream, POLLOUT, -1);
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
		} else if ((ret = reason(errno)) == 0) {
			ret = wait_for_bytes(stream, &tries, deadline_ms);
		}
	}
	return ret;
}
