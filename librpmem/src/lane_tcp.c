/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_tcp.c -- lanes over TCP, where there is no RDMA: one connection each.
 *
 * Requests and the data of writes follow each other in the stream, so the daemon
 * meets them in order. It makes data durable only when it is asked to.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/rdma/handshake.h"
#include "common/rdma/resolve.h"
#include "lane_private.h"
#include "librpmem/wire/lane_stream.h"

struct network_side {
	char address[RESOLVE_ADDRESS_MAX];
	char fallback[RESOLVE_ADDRESS_MAX]; /* the host that ssh went to; empty: the same */
	char name[CONNECTION_PEER_MAX];
};

struct tcp_lane {
	int fd;
	struct lane_stream stream;
};

/* --- work ----------------------------------------------------------------- */

/* For a failed transfer; a stop is for lane.c to explain. */
static int broken(struct lane *l, int ret)
{
	const struct network_side *n = l->lanes->shared;

	if (ret == 0 || ret == -ECANCELED)
		return ret;
	if (ret == -EFAULT) {
		failure_set(EXIT_WRONG_USAGE, "memory",
			    "lane %u: the memory of the caller is not mapped, or read-only",
			    l->index);
		lanes_lost(l->lanes); /* the stream ends within a message */
		return ret;
	}
	failure_because(CAUSE_CLOSED, EXIT_RUN_FAILED, "connection", "lane %u to %s: %s", l->index,
			n->name, ret == -ECONNRESET ? "the connection ended" : strerror(-ret));
	return lanes_lost(l->lanes);
}

static int send_with(struct lane *l, const struct lane_request *request, const void *data)
{
	struct tcp_lane *c = l->state;
	uint8_t head[LANE_REQUEST_BYTES];
	struct iovec parts[] = {{head, sizeof(head)}, {(void *)(uintptr_t)data, request->length}};

	lane_encode_request(request, head);
	return broken(l, lane_stream_send(&c->stream, parts, data != NULL ? 2 : 1));
}

static int tcp_write(struct lane *l, size_t offset, size_t length)
{
	const struct lane_request request = {LANE_WRITE, 0, offset, length};

	return send_with(l, &request, l->lanes->memory + offset);
}

static int tcp_request(struct lane *l, const struct lane_request *request, const void *data)
{
	return send_with(l, request, data);
}

static int tcp_answer(struct lane *l, struct lane_answer *answer)
{
	const struct network_side *n = l->lanes->shared;
	struct tcp_lane *c = l->state;
	uint8_t bytes[LANE_ANSWER_BYTES];
	int ret = lane_stream_receive(&c->stream, bytes, sizeof(bytes), -1);

	if (ret)
		return broken(l, ret);
	if (lane_decode_answer(bytes, answer) == 0)
		return 0;
	failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "message",
			"lane %u: %s sent bytes that are not an answer", l->index, n->name);
	return lanes_violated(l->lanes);
}

static int tcp_read(struct lane *l, void *buffer, size_t offset, size_t length)
{
	const struct lane_request request = {LANE_READ, 0, offset, length};
	struct tcp_lane *c = l->state;
	struct lane_answer answer = {.status = PERSIST_FAILED};
	int ret = send_with(l, &request, NULL);

	if (ret == 0)
		ret = tcp_answer(l, &answer);
	if (ret)
		return ret;
	if (answer.status != PERSIST_DONE) {
		failure_set(EXIT_RUN_FAILED, "read",
			    "rpmemd on %s refused to read a range that is not within its pool",
			    l->lanes->host);
		return -EINVAL;
	}
	return broken(l, lane_stream_receive(&c->stream, buffer, length, -1));
}

/* --- a connection --------------------------------------------------------- */

static int make_socket(const char *address, uint16_t port, int *fd)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	char service[8];
	int ret = 0;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(address, service, &hints, &found) != 0)
		return -EINVAL;
	*fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0 ||
	    (connect(*fd, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS))
		ret = -errno;
	freeaddrinfo(found);
	return ret;
}

static int wait_connected(int fd, int stop_fd)
{
	struct pollfd fds[] = {{fd, POLLOUT, 0}, {stop_fd, POLLIN, 0}};
	socklen_t len = sizeof(int);
	int error = 0, ret = (int)TEMP_FAILURE_RETRY(poll(fds, 2, LANE_CONNECT_MS));

	if (ret <= 0)
		return ret == 0 ? -ETIMEDOUT : -errno;
	if (fds[0].revents == 0)
		return -ECANCELED;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return -errno;
	return -error;
}

static int dial(struct lane *l, const char *address)
{
	struct tcp_lane *c = l->state;
	int ret = make_socket(address, l->lanes->daemon.port, &c->fd);

	if (ret == 0)
		ret = wait_connected(c->fd, l->lanes->stop_fd);
	if (ret && c->fd >= 0) {
		close(c->fd);
		c->fd = -1;
	}
	return ret;
}

static int exchange_handshakes(struct lane *l)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_RPMEM, l->index,
						  l->lanes->daemon.token};
	struct tcp_lane *c = l->state;
	uint8_t sent[HANDSHAKE_REQUEST_BYTES], got[HANDSHAKE_REPLY_BYTES];
	struct iovec part = {sent, sizeof(sent)};
	struct handshake_reply reply;
	int ret;

	handshake_encode_request(&request, sent);
	ret = lane_stream_send(&c->stream, &part, 1);
	if (ret == 0)
		ret = lane_stream_receive(&c->stream, got, sizeof(got), LANE_CONNECT_MS);
	if (ret)
		return ret;
	return handshake_decode_reply(got, sizeof(got), &reply) == 0 &&
			       reply.answer == HANDSHAKE_WELCOME
		       ? 0
		       : -EPROTO;
}

static int tcp_connect(struct lane *l)
{
	const struct network_side *n = l->lanes->shared;
	struct tcp_lane *c = calloc(1, sizeof(*c));
	int ret;

	if (c == NULL)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "connect",
				       "out of memory");
	c->fd = -1;
	l->state = c;
	l->writes_words = true; /* the daemon copies what they carry */
	ret = dial(l, n->address);
	if (ret != 0 && ret != -ECANCELED && n->fallback[0] != '\0')
		ret = dial(l, n->fallback);
	if (ret == 0)
		ret = lane_stream_open(&c->stream, c->fd, l->lanes->stop_fd);
	if (ret == 0)
		ret = exchange_handshakes(l);
	if (ret != 0 && ret != -ECANCELED)
		failure_set(EXIT_RUN_FAILED, "connect", "cannot connect lane %u to %s: %s",
			    l->index, n->name, strerror(-ret));
	if (ret == -ENETUNREACH)
		return -EHOSTUNREACH;
	/* the daemon has ended since it gave its port */
	return ret == -ECONNREFUSED ? -ECONNRESET : ret;
}

static void tcp_hang_up(struct lane *l)
{
	const struct tcp_lane *c = l->state;

	shutdown(c->fd, SHUT_RDWR);
}

static void tcp_disconnect(struct lane *l, int wait_ms)
{
	struct tcp_lane *c = l->state;

	(void)wait_ms; /* TCP ends by itself */
	l->state = NULL;
	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

/* --- the network ---------------------------------------------------------- */

static int tcp_open(struct lanes *lanes)
{
	struct network_side *n = calloc(1, sizeof(*n));
	const char *told = lanes->daemon.address;
	int ret;

	if (n == NULL)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "open", "out of memory");
	lanes->shared = n;
	lanes->write_max = SIZE_MAX / 2;
	ret = resolve_host(told[0] != '\0' ? told : lanes->host, RESOLVE_TIMEOUT_MS, n->address);
	if (ret == 0 && told[0] != '\0' &&
	    resolve_host(lanes->host, RESOLVE_TIMEOUT_MS, n->fallback) != 0)
		n->fallback[0] = '\0';
	lane_daemon_name(lanes, n->address, n->name);
	return ret;
}

static void tcp_close(struct lanes *lanes)
{
	free(lanes->shared);
}

/* No lane over TCP has APM, so none flushes. */
const struct lane_transport lane_tcp = {
	.open = tcp_open,
	.close = tcp_close,
	.connect = tcp_connect,
	.hang_up = tcp_hang_up,
	.disconnect = tcp_disconnect,
	.write = tcp_write,
	.request = tcp_request,
	.answer = tcp_answer,
	.read = tcp_read,
};
