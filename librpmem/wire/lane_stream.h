/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_stream.h -- bytes of a lane over TCP, for both ends of it.
 *
 * Each call moves all bytes or fails: -ECANCELED where stop_fd is readable and
 * nothing can be moved, or some MiB were; -ECONNRESET where the peer has gone, or
 * its host was silent for half a minute; else the errno of the call, such as
 * -EFAULT. No error message is stored.
 */
#pragma once

#include <stddef.h>
#include <sys/uio.h>

struct lane_stream {
	int fd; /* borrowed; does not block */
	int stop_fd;
	/* kept by the calls */
	unsigned spins; /* attempts before it sleeps */
	size_t moved;	/* bytes since the last look at stop_fd */
};

/* Makes the socket what the calls need. */
int lane_stream_open(struct lane_stream *stream, int fd, int stop_fd);
/* Changes the parts as it goes. */
int lane_stream_send(struct lane_stream *stream, struct iovec *parts, size_t count);
/* timeout_ms -1: none; else -ETIMEDOUT. */
int lane_stream_receive(struct lane_stream *stream, void *bytes, size_t len, int timeout_ms);
