/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.h -- whole messages over a nonblocking stream socket.
 *
 * Bytes that the socket does not take wait in `out`; those that are not a whole message yet wait in
 * `in`. The two halves are independent: reading is the agent's, sending belongs to the
 * holder of the caller's lock.
 */
#pragma once

#include <stddef.h>
#include <sys/uio.h>

#include "wire.h"

struct stream_buffer {
	unsigned char *bytes;
	size_t size;
	size_t start; /* where the first message not taken, or sent, begins */
	size_t end;
};

struct stream {
	int fd;
	struct stream_buffer in, out;
};

#define STREAM_PARTS_MAX (SOFT_MAX_SGE + 1)

/* Takes the fd over. */
void stream_open(struct stream *stream, int fd);
/* Closes the fd; fine when closed. */
void stream_close(struct stream *stream);

/* Sends all parts, at once or later by stream_flush(); 0, -ENOMEM, or send()'s error. */
int stream_send(struct stream *stream, const struct iovec *parts, unsigned count);
int stream_flush(struct stream *stream);
/* Keeps them until then. 0 or -ENOMEM. */
int stream_queue(struct stream *stream, const struct iovec *parts, unsigned count);

static inline size_t stream_queued(const struct stream *stream)
{
	return stream->out.end - stream->out.start;
}

/* Reads once what is there; 0, also for nothing; -EPIPE at the end, or -errno. */
int stream_receive(struct stream *stream);

/*
 * Reads once what is there: into these parts first, STREAM_INTO_MAX at most, and `ahead` bytes
 * more to be taken as below. Nothing is at hand before. *stored: bytes of the parts. 0, also for
 * nothing; -EFAULT, a part is not mapped; else as above.
 */
#define STREAM_INTO_MAX 2
int stream_receive_into(struct stream *stream, const struct iovec *into, unsigned count,
			size_t ahead, size_t *stored);

/*
 * Takes the next message: 1, with its body, which is valid until more is received; 0, it
 * is not whole yet; -EPROTO, it is none; -ENOMEM.
 */
int stream_next(struct stream *stream, struct wire_header *header, const unsigned char **body);
/*
 * The same of its beginning, so many bytes of the body or all: the rest comes by stream_take() and
 * stream_receive_into().
 */
int stream_next_start(struct stream *stream, size_t bytes, struct wire_header *header,
		      const unsigned char **body);

static inline size_t stream_at_hand(const struct stream *stream)
{
	return stream->in.end - stream->in.start;
}
/* Takes so many bytes: 1; 0, not all of them are at hand, and all have room now; -ENOMEM. */
int stream_take(struct stream *stream, size_t bytes, const unsigned char **at);
