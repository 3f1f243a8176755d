/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c -- two growing buffers around a socket.
 *
 * Both start small, grow to what one message or the backlog needs, and are given back
 * when they are empty and have become large.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SMALL_BYTES  (64 * 1024)
#define DOUBLE_BYTES (512 * 1024)  /* small buffers grow by doubling */
#define KEPT_BYTES   (1024 * 1024) /* an empty buffer above this is freed */

void stream_open(struct stream *stream, int fd)
{
	memset(stream, 0, sizeof(*stream));
	stream->fd = fd;
}

void stream_close(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->in);
	free(stream->out);
	stream_open(stream, -1);
}

/* Room for `more` bytes behind *end: moves to the front, or grows. */
static int make_room(unsigned char **bytes, size_t *size, size_t *start, size_t *end, size_t more)
{
	unsigned char *larger;
	size_t need = *end - *start + more;

	if (*size - *end >= more)
		return 0;
	if (*start > 0) {
		memmove(*bytes, *bytes + *start, *end - *start);
		*end -= *start;
		*start = 0;
	}
	if (*size >= need)
		return 0;
	if (need < SMALL_BYTES)
		need = SMALL_BYTES;
	if (need < 2 * *size && 2 * *size <= DOUBLE_BYTES)
		need = 2 * *size;
	larger = realloc(*bytes, need);
	if (larger == NULL)
		return -ENOMEM;
	*bytes = larger;
	*size = need;
	return 0;
}

static void settle_empty(unsigned char **bytes, size_t *size, size_t *start, size_t *end)
{
	if (*start != *end)
		return;
	*start = 0;
	*end = 0;
	if (*size > KEPT_BYTES) {
		free(*bytes);
		*bytes = NULL;
		*size = 0;
	}
}

/* Bytes the socket took, 0 when it is full, or -errno. */
static ssize_t send_now(int fd, const struct iovec *parts, size_t count)
{
	const struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
	ssize_t sent = TEMP_FAILURE_RETRY(sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));

	if (sent < 0)
		return errno == EAGAIN ? 0 : -errno;
	return sent;
}

static int queue(struct stream *stream, const struct iovec *parts, unsigned count, size_t skip)
{
	size_t total = 0;

	for (unsigned i = 0; i < count; i++)
		total += parts[i].iov_len;
	if (total == skip)
		return 0;
	if (make_room(&stream->out, &stream->out_size, &stream->out_start, &stream->out_end,
		      total - skip) != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		const size_t length = parts[i].iov_len;
		const size_t from = skip < length ? skip : length;

		if (from < length)
			memcpy(stream->out + stream->out_end,
			       (const unsigned char *)parts[i].iov_base + from, length - from);
		stream->out_end += length - from;
		skip -= from;
	}
	return 0;
}

int stream_send(struct stream *stream, const struct iovec *parts, unsigned count)
{
	ssize_t sent = 0;

	if (stream_queued(stream) == 0)
		sent = send_now(stream->fd, parts, count);
	if (sent < 0)
		return (int)sent;
	return queue(stream, parts, count, (size_t)sent);
}

int stream_queue(struct stream *stream, const struct iovec *parts, unsigned count)
{
	return queue(stream, parts, count, 0);
}

int stream_flush(struct stream *stream)
{
	const struct iovec rest = {stream->out + stream->out_start, stream_queued(stream)};
	ssize_t sent;

	if (rest.iov_len == 0)
		return 0;
	sent = send_now(stream->fd, &rest, 1);
	if (sent < 0)
		return (int)sent;
	stream->out_start += (size_t)sent;
	settle_empty(&stream->out, &stream->out_size, &stream->out_start, &stream->out_end);
	return 0;
}

int stream_receive(struct stream *stream)
{
	ssize_t got;

	settle_empty(&stream->in, &stream->in_size, &stream->in_start, &stream->in_end);
	if (make_room(&stream->in, &stream->in_size, &stream->in_start, &stream->in_end, 1) != 0)
		return -ENOMEM;
	got = TEMP_FAILURE_RETRY(recv(stream->fd, stream->in + stream->in_end,
				      stream->in_size - stream->in_end, MSG_DONTWAIT));
	if (got == 0)
		return -EPIPE;
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	stream->in_end += (size_t)got;
	return 0;
}

int stream_receive_into(struct stream *stream, const struct iovec *into, unsigned count,
			size_t ahead, size_t *stored)
{
	struct iovec parts[STREAM_INTO_MAX + 1];
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = count + 1};
	size_t room = 0;
	ssize_t got;

	*stored = 0;
	settle_empty(&stream->in, &stream->in_size, &stream->in_start, &stream->in_end);
	if (make_room(&stream->in, &stream->in_size, &stream->in_start, &stream->in_end, ahead) !=
	    0)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		parts[i] = into[i];
		room += into[i].iov_len;
	}
	parts[count] = (struct iovec){stream->in + stream->in_end, ahead};
	got = TEMP_FAILURE_RETRY(recvmsg(stream->fd, &message, MSG_DONTWAIT));
	if (got == 0)
		return -EPIPE;
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	*stored = (size_t)got < room ? (size_t)got : room;
	stream->in_end += (size_t)got - *stored;
	return 0;
}

int stream_take(struct stream *stream, size_t bytes, const unsigned char **at)
{
	const size_t at_hand = stream_at_hand(stream);

	if (at_hand < bytes)
		return make_room(&stream->in, &stream->in_size, &stream->in_start, &stream->in_end,
				 bytes - at_hand);
	*at = stream->in + stream->in_start;
	stream->in_start += bytes;
	return 1;
}

int stream_next_start(struct stream *stream, size_t bytes, struct wire_header *header,
		      const unsigned char **body)
{
	const unsigned char *start = NULL;
	int result;

	if (stream_at_hand(stream) < WIRE_HEADER_BYTES)
		return 0;
	if (wire_get_header(stream->in + stream->in_start, header) != 0)
		return -EPROTO;
	if (bytes > header->length)
		bytes = header->length;
	result = stream_take(stream, WIRE_HEADER_BYTES + bytes, &start);
	if (result == 1)
		*body = start + WIRE_HEADER_BYTES;
	return result;
}

int stream_next(struct stream *stream, struct wire_header *header, const unsigned char **body)
{
	return stream_next_start(stream, SIZE_MAX, header, body);
}
