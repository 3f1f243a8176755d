/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- reads a request, performs it, replies; strictly in turn.
 *
 * Requests are hostile: the codec checks each field, and nothing is allocated by
 * what they claim. The lanes have threads of their own.
 */
#include "session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "lanes.h"
#include "log.h"
#include "reason.h"

#define FRAME_MAX (CONTROL_HEADER_BYTES + CONTROL_BODY_MAX)

struct conversation {
	const struct session_cfg *cfg;
	struct pool *pool; /* NULL: none is open */
	struct lanes *lanes;
	struct lanes_tcp *lanes_tcp;
	bool created;		      /* by this session */
	bool persisted;		      /* the client's first persist has completed */
	struct control_header header; /* the request's */
	struct control_pool_request request;
	uint8_t frame[FRAME_MAX];
};

/* The outcome of a request: go on, or how the session ends. */
#define GO_ON (-1)

/* --- bytes ---------------------------------------------------------------- */

/* 0; -ENODATA: the end; -ECANCELED: stop_fd. */
static int wait_for_input(const struct session_cfg *cfg)
{
	struct pollfd fds[] = {{cfg->in, POLLIN, 0}, {cfg->stop_fd, POLLIN, 0}};

	if (TEMP_FAILURE_RETRY(poll(fds, 2, -1)) < 0)
		return -errno;
	return fds[1].revents != 0 ? -ECANCELED : 0;
}

static int read_all(const struct session_cfg *cfg, uint8_t *bytes, size_t len)
{
	int ret = 0;

	while (len > 0 && ret == 0) {
		ssize_t got;

		ret = wait_for_input(cfg);
		if (ret)
			break;
		got = read(cfg->in, bytes, len);
		if (got == 0)
			return -ENODATA;
		if (got > 0) {
			bytes += got;
			len -= (size_t)got;
		} else if (errno != EINTR && errno != EAGAIN) {
			ret = -errno;
		}
	}
	return ret;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = write(fd, bytes, len);

		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0) {
			bytes += sent;
			len -= (size_t)sent;
		}
	}
	return 0;
}

/* A status and, where it is not 0, the error message set. */
static int reply(struct conversation *c, int ret)
{
	const size_t len = control_encode_plain(c->header.type, true, (uint32_t)-ret,
						ret != 0 ? failure_get()->text : NULL, c->frame,
						sizeof(c->frame));

	if (ret)
		log_line(LEVEL_ERR, "%s", failure_get()->text);
	return write_all(c->cfg->out, c->frame, len) == 0 ? GO_ON : SESSION_GONE;
}

void session_refuse(int out, int status)
{
	uint8_t frame[CONTROL_HEADER_BYTES + CONTROL_REASON_MAX];
	const size_t len = control_encode_plain(CONTROL_STARTED, false, (uint32_t)status,
						failure_get()->text, frame, sizeof(frame));

	write_all(out, frame, len);
}

/* --- the pool ------------------------------------------------------------- */

static int try_pool(struct conversation *c, struct control_pool_reply *body)
{
	const struct control_pool_request *r = &c->request;

	if (c->header.type == CONTROL_CREATE)
		return pool_create(&c->pool, c->cfg->poolset_dir, r->name, r->pool_size,
				   r->has_attr ? &r->attr : NULL);
	return pool_open(&c->pool, c->cfg->poolset_dir, r->name, r->pool_size, &body->attr);
}

static int open_pool(struct conversation *c, struct control_pool_reply *body)
{
	const struct control_pool_request *r = &c->request;
	struct busy busy = busy_begin(c->cfg->busy_wait_ms);
	int ret;

	do
		ret = try_pool(c, body);
	while (busy_wait(&busy, ret));
	if (ret)
		return ret;
	c->created = c->header.type == CONTROL_CREATE;
	if (c->created && r->has_attr)
		body->attr = r->attr;
	body->pool_size = pool_size(c->pool);
	body->has_headers = pool_has_headers(c->pool);
	return 0;
}

static int open_lanes(struct conversation *c, struct control_pool_reply *body)
{
	struct lanes_cfg cfg = {
		.pool = c->pool, .address = c->cfg->address, .persist_apm = c->cfg->persist_apm};
	struct method method;
	int ret = lanes_most(cfg.address, c->request.transport, &cfg.nlanes);

	if (ret)
		return ret;
	if (cfg.nlanes > c->request.nlanes)
		cfg.nlanes = c->request.nlanes;
	if (c->request.transport == CONTROL_TCP)
		ret = lanes_tcp_open(&c->lanes_tcp, &cfg, &method, body);
	else
		ret = lanes_open(&c->lanes, &cfg, &method, body);
	if (ret)
		return ret;
	log_line(LEVEL_NOTICE, "%s: %u lanes at %s port %u, method %s: %s", c->request.name,
		 cfg.nlanes, body->address, body->port, method_name(method.method), method.why);
	body->nlanes = cfg.nlanes;
	body->method = method.method;
	return 0;
}

/* The lanes first: they use the pool. */
static void close_pool(struct conversation *c, bool remove)
{
	lanes_close(&c->lanes);
	lanes_tcp_close(&c->lanes_tcp);
	if (c->pool != NULL)
		pool_close(&c->pool, remove && c->created);
}

/* --- requests ------------------------------------------------------------- */

static int serve_pool(struct conversation *c, const uint8_t *body, size_t len)
{
	struct control_pool_reply answer = {.nlanes = 0};
	size_t bytes;
	int ret;

	if (control_decode_pool_request(c->header.type, body, len, &c->request) != 0)
		return SESSION_VIOLATED;
	if (c->pool != NULL)
		return reply(c, reason_set(EINVAL, "this session has a pool already"));
	ret = open_pool(c, &answer);
	if (ret == 0)
		ret = open_lanes(c, &answer);
	if (ret) {
		struct failure kept = *failure_get();

		close_pool(c, true);
		*failure_get() = kept;
		return reply(c, ret);
	}
	bytes = control_encode_pool_reply(c->header.type, &answer, c->frame, sizeof(c->frame));
	return write_all(c->cfg->out, c->frame, bytes) == 0 ? GO_ON : SESSION_GONE;
}

static int serve_set_attr(struct conversation *c, const uint8_t *body, size_t len)
{
	struct rpmem_pool_attr attr;

	if (control_decode_set_attr(body, len, &attr) != 0)
		return SESSION_VIOLATED;
	if (c->pool == NULL)
		return reply(c, reason_set(EINVAL, "this session has no pool"));
	return reply(c, pool_set_attr(c->pool, &attr));
}

static int serve_close(struct conversation *c, const uint8_t *body, size_t len)
{
	uint32_t flags;

	if (control_decode_close(body, len, &flags) != 0)
		return SESSION_VIOLATED;
	close_pool(c, (flags & CONTROL_CLOSE_REMOVE) != 0);
	return reply(c, 0) == GO_ON ? SESSION_CLOSED : SESSION_GONE;
}

static int serve_request(struct conversation *c, const uint8_t *body, size_t len)
{
	if (c->header.is_reply)
		return SESSION_VIOLATED;
	switch (c->header.type) {
	case CONTROL_CREATE:
	case CONTROL_OPEN:
		return serve_pool(c, body, len);
	case CONTROL_SET_ATTR:
		return serve_set_attr(c, body, len);
	case CONTROL_CLOSE:
		return serve_close(c, body, len);
	case CONTROL_PERSISTED:
		if (len != 0 || c->pool == NULL)
			return SESSION_VIOLATED;
		c->persisted = true;
		return reply(c, 0);
	default:
		return SESSION_VIOLATED;
	}
}

/* The reply overwrites the frame; by then the request was decoded. */
static int next_request(struct conversation *c)
{
	uint8_t *body = c->frame + CONTROL_HEADER_BYTES;
	int ret = read_all(c->cfg, c->frame, CONTROL_HEADER_BYTES);

	if (ret)
		return SESSION_GONE;
	ret = control_decode_header(c->frame, &c->header);
	if (ret == -EPROTONOSUPPORT) {
		reply(c, reason_set(EPROTONOSUPPORT,
				    "this rpmemd speaks version %d of the protocol: use the same "
				    "release on both hosts",
				    CONTROL_VERSION));
		return SESSION_VIOLATED;
	}
	if (ret != 0)
		return SESSION_VIOLATED;
	if (read_all(c->cfg, body, c->header.body_bytes) != 0)
		return SESSION_GONE;
	return serve_request(c, body, c->header.body_bytes);
}

static enum session_end converse(struct conversation *c)
{
	uint8_t frame[CONTROL_HEADER_BYTES];
	const size_t len =
		control_encode_plain(CONTROL_STARTED, false, 0, NULL, frame, sizeof(frame));
	int ret = write_all(c->cfg->out, frame, len) == 0 ? GO_ON : SESSION_GONE;

	while (ret == GO_ON)
		ret = next_request(c);
	return (enum session_end)ret;
}

enum session_end session_run(const struct session_cfg *cfg)
{
	struct conversation *c = calloc(1, sizeof(*c));
	enum session_end end;

	if (c == NULL) {
		reason_set(ENOMEM, "out of memory");
		session_refuse(cfg->out, ENOMEM);
		return SESSION_GONE;
	}
	c->cfg = cfg;
	end = converse(c);
	if (end == SESSION_VIOLATED)
		log_line(LEVEL_ERR, "the client sent what is not a request of this protocol");
	else if (end == SESSION_GONE && c->pool != NULL)
		log_line(LEVEL_WARN, "%s: the client is gone without closing the pool%s",
			 c->request.name,
			 c->created && !c->persisted ? ": its new parts are removed" : "");
	close_pool(c, !c->persisted);
	free(c);
	return end;
}
