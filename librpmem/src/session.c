/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- requests to the daemon, and how a session ends.
 *
 * A request is sent by its caller, who then waits until the conversation is
 * complete or the stream is over.
 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "common/base/monotonic.h"
#include "session_state.h"

#define BYTES_PER_MS (64 << 10) /* a disk that allocates 64 MiB a second has time enough */

/* Under lock. The first reason stays. */
static void end_locked(struct session *s, int error)
{
	if (s->ended != 0)
		return;
	s->ended_why = *failure_get();
	__atomic_store_n(&s->ended, error, __ATOMIC_RELEASE);
	eventfd_write(s->end_fd, 1);
}

void session_stream_over(struct session *s, int error)
{
	if (s->stream_over == 0) {
		s->stream_over = error;
		s->stream_why = *failure_get();
	}
	end_locked(s, error);
	pthread_cond_broadcast(&s->changed);
}

void session_end(struct session *s, int error)
{
	pthread_mutex_lock(&s->lock);
	end_locked(s, error);
	pthread_mutex_unlock(&s->lock);
}

int session_ended(const struct session *s)
{
	int error = __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE);

	if (error != 0)
		*failure_get() = s->ended_why;
	return error;
}

int session_fd(const struct session *s)
{
	return s->end_fd;
}

int session_wait(struct session *s, const char *failed, int timeout_ms)
{
	const struct timespec end = timespec_of_ns(monotonic_ns() + (uint64_t)timeout_ms * 1000000);
	int error = 0;

	while (!s->conversation.complete && s->stream_over == 0 && error != ETIMEDOUT)
		error = pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &end);
	if (s->conversation.complete)
		return 0;
	if (s->stream_over == 0) {
		ssh_failed("rpmemd on %s %s within %d ms", s->host, failed, timeout_ms);
		session_stream_over(s, -ECONNRESET);
	}
	*failure_get() = s->stream_why;
	return s->stream_over;
}

int session_status(struct session *s)
{
	const struct control_header *header = &s->conversation.header;
	char reason[CONTROL_REASON_MAX];

	if (header->status == 0)
		return 0;
	control_decode_reason(conversation_body(&s->conversation), header->body_bytes, reason);
	failure_set(EXIT_RUN_FAILED, "rpmemd", "rpmemd on %s: %s", s->host,
		    reason[0] != '\0' ? reason : strerror((int)header->status));
	return -(int)header->status;
}

/*
 * Under lock. A frame of one request fits into the socket's buffer. That the other end is gone
 * is for the reader to find, with the reason.
 */
static int send_locked(struct session *s, const uint8_t *frame, size_t len)
{
	ssize_t n = send(s->ssh.in, frame, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n == (ssize_t)len || (n < 0 && (errno == EPIPE || errno == ECONNRESET)))
		return 0;
	ssh_failed("the ssh client to %s takes no bytes: %s", s->host,
		   n < 0 ? strerror(errno) : "its buffer is full");
	session_stream_over(s, -ECONNRESET);
	return -ECONNRESET;
}

struct request {
	enum control_type type;
	const char *name; /* for error messages */
	const uint8_t *frame;
	size_t len;
	int timeout_ms;
	struct control_pool_reply *reply; /* NULL: the reply has no body */
};

/* Under lock. */
static int reply_locked(struct session *s, const struct request *request)
{
	const struct conversation *c = &s->conversation;
	char failed[64];
	int ret;

	snprintf(failed, sizeof(failed), "did not answer %s", request->name);
	ret = session_wait(s, failed, request->timeout_ms);
	if (ret == 0)
		ret = session_status(s);
	if (ret != 0)
		return ret;
	if (request->reply != NULL)
		ret = control_decode_pool_reply(conversation_body(c), c->header.body_bytes,
						request->reply);
	else if (c->header.body_bytes != 0)
		ret = -EPROTO;
	if (ret != 0) {
		ssh_failed("rpmemd on %s sent a reply to %s that is out of range", s->host,
			   request->name);
		session_stream_over(s, ret);
	}
	return ret;
}

static int request_reply(struct session *s, const struct request *request)
{
	int ret;

	pthread_mutex_lock(&s->requests);
	pthread_mutex_lock(&s->lock);
	ret = s->stream_over;
	if (ret != 0) {
		*failure_get() = s->stream_why;
	} else {
		conversation_await(&s->conversation, request->type);
		s->is_closing = request->type == CONTROL_CLOSE;
		ret = send_locked(s, request->frame, request->len);
		if (ret == 0)
			ret = reply_locked(s, request);
		conversation_drop(&s->conversation);
	}
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->requests);
	return ret;
}

static int reply_timeout_ms(const struct session *s, uint64_t pool_bytes)
{
	uint64_t ms = SESSION_REPLY_MS + pool_bytes / BYTES_PER_MS;

	if (s->cfg.reply_timeout_ms != 0)
		return s->cfg.reply_timeout_ms;
	return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

/* Checks that the reply suits the request, which the codec cannot know. */
static int check_pool(struct session *s, const struct control_pool_request *request, bool create,
		      const struct control_pool_reply *reply)
{
	if (reply->nlanes <= request->nlanes && reply->pool_size >= request->pool_size &&
	    (!create || reply->has_headers == request->has_attr))
		return 0;
	ssh_failed("rpmemd on %s promised what was not requested: %u lanes of %u, a pool of %llu "
		   "bytes for %llu, %s headers",
		   s->host, reply->nlanes, request->nlanes, (unsigned long long)reply->pool_size,
		   (unsigned long long)request->pool_size, reply->has_headers ? "with" : "without");
	pthread_mutex_lock(&s->lock);
	session_stream_over(s, -EPROTO);
	pthread_mutex_unlock(&s->lock);
	return -EPROTO;
}

static int request_pool(struct session *s, enum control_type type, const char *name,
			const struct control_pool_request *body, struct control_pool_reply *reply)
{
	uint8_t frame[CONTROL_HEADER_BYTES + sizeof(*body)];
	struct request request = {
		.type = type,
		.name = name,
		.frame = frame,
		.len = control_encode_pool_request(type, body, frame, sizeof(frame)),
		.timeout_ms = reply_timeout_ms(s, body->pool_size),
		.reply = reply,
	};
	int ret;

	if (request.len == 0) {
		failure_set(EXIT_WRONG_USAGE, "rpmemd", "the name of the pool set is empty");
		return -EINVAL;
	}
	ret = request_reply(s, &request);
	if (ret == 0)
		ret = check_pool(s, body, type == CONTROL_CREATE, reply);
	s->has_pool = ret == 0;
	return ret;
}

int session_create_pool(struct session *s, const struct control_pool_request *request,
			struct control_pool_reply *reply)
{
	return request_pool(s, CONTROL_CREATE, "create", request, reply);
}

int session_open_pool(struct session *s, const struct control_pool_request *request,
		      struct control_pool_reply *reply)
{
	return request_pool(s, CONTROL_OPEN, "open", request, reply);
}

/* The reply has no body. */
static int request_plain(struct session *s, enum control_type type, const char *name,
			 const uint8_t *frame, size_t len)
{
	const struct request request = {type, name, frame, len, reply_timeout_ms(s, 0), NULL};

	return request_reply(s, &request);
}

int session_set_attr(struct session *s, const struct rpmem_pool_attr *attr)
{
	uint8_t frame[CONTROL_HEADER_BYTES + sizeof(*attr)];
	size_t len = control_encode_set_attr(attr, frame, sizeof(frame));

	return request_plain(s, CONTROL_SET_ATTR, "set_attr", frame, len);
}

int session_persisted(struct session *s)
{
	uint8_t frame[CONTROL_HEADER_BYTES];
	size_t len = control_encode_plain(CONTROL_PERSISTED, false, 0, NULL, frame, sizeof(frame));

	return request_plain(s, CONTROL_PERSISTED, "the first persist", frame, len);
}

int session_tell_to_close(struct session *s, bool remove)
{
	uint8_t frame[CONTROL_HEADER_BYTES + 4];
	size_t len = control_encode_close(remove ? CONTROL_CLOSE_REMOVE : 0, frame, sizeof(frame));

	return request_plain(s, CONTROL_CLOSE, "close", frame, len);
}
