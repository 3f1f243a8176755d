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

#include "soft_device/process/cancel.h"

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
	free(stream->in.bytes);
	free(stream->out.bytes);
	stream_open(stream, -1);
}

/* Room for `more` bytes at its end: moves to the front, or grows. */
static int make_room(struct stream_buffer *buffer, size_t more)
{
	unsigned char *larger;
	size_t need = buffer->end - buffer->start + more;

	if (buffer->size - buffer->end >= more)
		return 0;
	if (buffer->start > 0) {
		memmove(buffer->bytes, buffer->bytes + buffer->start, buffer->end - buffer->start);
		buffer->end -= buffer->start;
		buffer->start = 0;
	}
	if (buffer->size >= need)
		return 0;
	if (need < SMALL_BYTES)
		need = SMALL_BYTES;
	if (need < 2 * buffer->size && 2 * buffer->size <= DOUBLE_BYTES)
		need = 2 * buffer->size;
	larger = realloc(buffer->bytes, need);
	if (larger == NULL)
		return -ENOMEM;
	buffer->bytes = larger;
	buffer->size = need;
	return 0;
}

static void settle_empty(struct stream_buffer *buffer)
{
	if (buffer->start != buffer->end)
		return;
	buffer->start = buffer->end = 0;
	if (buffer->size > KEPT_BYTES) {
		free(buffer->bytes);
		*buffer = (struct stream_buffer){.bytes = NULL};
	}
}

/* Bytes the socket took, 0 when it is full, or -errno. */
static ssize_t send_now(int fd, const struct iovec *parts, size_t count)
{
	const struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
	const int cancel = cancel_off();
	ssize_t sent = TEMP_FAILURE_RETRY(sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));

	cancel_restore(cancel);
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
	if (make_room(&stream->out, total - skip) != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		const size_t length = parts[i].iov_len;
		const size_t from = skip < length ? skip : length;

		if (from < length)
			memcpy(stream->out.bytes + stream->out.end,
			       (const unsigned char *)parts[i].iov_base + from, length - from);
		stream->out.end += length - from;
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
	const struct iovec rest = {stream->out.bytes + stream->out.start, stream_queued(stream)};
	ssize_t sent;

	if (rest.iov_len == 0)
		return 0;
	sent = send_now(stream->fd, &rest, 1);
	if (sent < 0)
		return (int)sent;
	stream->out.start += (size_t)sent;
	settle_empty(&stream->out);
	return 0;
}

int stream_receive(struct stream *stream)
{
	ssize_t got;

	settle_empty(&stream->in);
	if (make_room(&stream->in, 1) != 0)
		return -ENOMEM;
	got = TEMP_FAILURE_RETRY(recv(stream->fd, stream->in.bytes + stream->in.end,
				      stream->in.size - stream->in.end, MSG_DONTWAIT));
	if (got == 0)
		return -EPIPE;
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	stream->in.end += (size_t)got;
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
	settle_empty(&stream->in);
	if (make_room(&stream->in, ahead) != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		parts[i] = into[i];
		room += into[i].iov_len;
	}
	parts[count] = (struct iovec){stream->in.bytes + stream->in.end, ahead};
	got = TEMP_FAILURE_RETRY(recvmsg(stream->fd, &message, MSG_DONTWAIT));
	if (got == 0)
		return -EPIPE;
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	*stored = (size_t)got < room ? (size_t)got : room;
	stream->in.end += (size_t)got - *stored;
	return 0;
}

int stream_take(struct stream *stream, size_t bytes, const unsigned char **at)
{
	const size_t at_hand = stream_at_hand(stream);

	if (at_hand < bytes)
		return make_room(&stream->in, bytes - at_hand);
	*at = stream->in.bytes + stream->in.start;
	stream->in.start += bytes;
	return 1;
}

int stream_next_start(struct stream *stream, size_t bytes, struct wire_header *header,
		      const unsigned char **body)
{
	const unsigned char *start = NULL;
	int result;

	if (stream_at_hand(stream) < WIRE_HEADER_BYTES)
		return 0;
	if (wire_get_header(stream->in.bytes + stream->in.start, header) != 0)
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
