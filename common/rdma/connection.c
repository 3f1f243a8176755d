/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.c -- connect, accept, send and receive, each within a limit.
 *
 * librpma's calls block on file descriptors; here each is preceded by a poll
 * that knows the time left, the event that ends the connection, and the
 * tool's own request to stop.
 */
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/monotonic.h"
#include "librpma_1_4.h"

#define RECEIVE_SLOTS 4
#define SEND_SLOTS    1
#define SLOTS	      (RECEIVE_SLOTS + SEND_SLOTS) /* the last one is for sending */

struct connection {
	struct rpma_conn *conn;
	struct rpma_cq *cq;	  /* borrowed from conn */
	struct rpma_cq *rcq;	  /* borrowed from conn; NULL if it carries no messages */
	struct rpma_mr_local *mr; /* the slots'; both NULL if it carries none */
	uint8_t *slots;
	int event_fd;
	int stop_fd;
	int timeout_ms; /* for connecting */
	enum cause end; /* how the connection ended, or is told to; CAUSE_UNKNOWN: it has not */
	char peer_name[CONNECTION_PEER_MAX];
	char device[64]; /* empty: not told */
};

static int left_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms - monotonic_ms();

	return left > 0 ? (int)left : 0;
}

static int set_message_queues(struct rpma_conn_cfg *c)
{
	int ret;

	if ((ret = rpma_conn_cfg_set_sq_size(c, SEND_SLOTS)) ||
	    (ret = rpma_conn_cfg_set_cq_size(c, SEND_SLOTS)) ||
	    (ret = rpma_conn_cfg_set_rq_size(c, RECEIVE_SLOTS)))
		return ret;
	return rpma_conn_cfg_set_rcq_size(c, RECEIVE_SLOTS);
}

static int set_work_queues(struct rpma_conn_cfg *c, const struct connection_queues *queues)
{
	int ret;

	if ((ret = rpma_conn_cfg_set_sq_size(c, queues->sq_size)) ||
	    (ret = rpma_conn_cfg_set_cq_size(c, queues->cq_size)) ||
	    (ret = rpma_conn_cfg_set_rq_size(c, queues->rq_size)) ||
	    (ret = rpma_conn_cfg_set_rcq_size(c, 0)))
		return ret;
	if (queues->batch > 0 && (ret = librpma_1_4_calls().conn_cfg_set_option(
					  c, RPMA_CONN_OPT_BATCH_SIZE, queues->batch)))
		return ret;
	return queues->srq != NULL ? rpma_conn_cfg_set_srq(c, queues->srq) : 0;
}

static int timeout_ms(const struct connection_cfg *cfg)
{
	return cfg->timeout_ms > 0 ? cfg->timeout_ms : CONNECTION_TIMEOUT_MS;
}

int connection_conn_cfg(const struct connection_cfg *cfg, struct rpma_conn_cfg **out)
{
	struct rpma_conn_cfg *c = NULL;
	int ret;

	if (cfg->queues != NULL && cfg->queues->batch > 0 &&
	    librpma_1_4_calls().conn_cfg_set_option == NULL)
		return failure_set(EXIT_RUN_FAILED, "connect",
				   "this librpma is older than 1.4 and cannot post batches");
	ret = rpma_conn_cfg_new(&c);
	if (ret == 0)
		ret = rpma_conn_cfg_set_timeout(c, timeout_ms(cfg));
	if (ret == 0)
		ret = cfg->queues != NULL ? set_work_queues(c, cfg->queues) : set_message_queues(c);
	if (ret == 0)
		ret = connection_knobs_set(cfg->knobs, c);
	if (ret) {
		rpma_conn_cfg_delete(&c);
		return failure_set(EXIT_INTERNAL, "connect", "cannot set up a connection: %s",
				   connection_cause(ret));
	}
	*out = c;
	return 0;
}

int connection_open_device(const char *address, enum rpma_util_ibv_context_type type,
			   struct rpma_peer **peer, char device[64])
{
	bool local = type == RPMA_UTIL_IBV_CONTEXT_LOCAL;
	struct ibv_context *context = NULL;
	int ret = rpma_utils_get_ibv_context(address, type, &context);

	if (ret || context == NULL)
		return librpma_failed(
			ret, "device",
			local ? "no RDMA device of this host owns the address %s (%s): rdma link "
				"shows which interfaces have one"
			      : "%s cannot be reached over RDMA (%s): check the address and the "
				"route to it, rdma link and ip route show them",
			address, connection_cause(ret));
	ret = rpma_peer_new(context, peer);
	if (ret)
		return librpma_failed(ret, "device", "cannot use the RDMA device %s: %s",
				      context->device->name, connection_cause(ret));
	snprintf(device, 64, "%s", context->device->name);
	return 0;
}

static int make_slots(struct connection *l, struct rpma_peer *peer)
{
	size_t bytes = (size_t)SLOTS * CONNECTION_MESSAGE_MAX;
	int ret;

	l->slots = aligned_alloc(CONNECTION_MESSAGE_MAX, bytes);
	if (l->slots == NULL)
		return failure_set(EXIT_INTERNAL, "register", "out of memory");
	memset(l->slots, 0, bytes);
	ret = rpma_mr_reg(peer, l->slots, bytes, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &l->mr);
	if (ret)
		return librpma_failed(ret, "register", "cannot register message buffers: %s",
				      connection_cause(ret));
	return 0;
}

static struct connection *connection_new(const struct connection_cfg *cfg)
{
	struct connection *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		failure_set(EXIT_INTERNAL, "connect", "out of memory");
		return NULL;
	}
	l->event_fd = -1;
	l->stop_fd = cfg->stop_fd;
	l->timeout_ms = timeout_ms(cfg);
	snprintf(l->peer_name, sizeof(l->peer_name), "%s", cfg->peer_name);
	if (cfg->device != NULL)
		snprintf(l->device, sizeof(l->device), "%s", cfg->device);
	return l;
}

/* A peer may speak as soon as it is connected: all receives are posted before. */
static int post_receives(struct connection *l, struct rpma_conn_req *req)
{
	for (uintptr_t slot = 0; slot < RECEIVE_SLOTS; slot++) {
		int ret = rpma_conn_req_recv(req, l->mr, slot * CONNECTION_MESSAGE_MAX,
					     CONNECTION_MESSAGE_MAX, (void *)slot);

		if (ret)
			return failure_set(EXIT_RUN_FAILED, "connect", "cannot post a receive: %s",
					   connection_cause(ret));
	}
	return 0;
}

static int make_ready(struct connection *l, struct rpma_peer *peer,
		      const struct connection_cfg *cfg, struct rpma_conn_req *req)
{
	int ret;

	if (cfg->queues != NULL)
		return cfg->queues->post != NULL ? cfg->queues->post(req, cfg->queues->arg) : 0;
	ret = make_slots(l, peer);
	return ret ? ret : post_receives(l, req);
}

static int take_queues(struct connection *l)
{
	int ret;

	if ((ret = rpma_conn_get_cq(l->conn, &l->cq)) ||
	    (ret = rpma_conn_get_rcq(l->conn, &l->rcq)) ||
	    (ret = rpma_conn_get_event_fd(l->conn, &l->event_fd)))
		return failure_set(EXIT_INTERNAL, "connect", "%s: %s", l->peer_name,
				   connection_cause(ret));
	return 0;
}

static int not_established(const struct connection *l, enum rpma_conn_event event)
{
	if (event == RPMA_CONN_REJECTED)
		return failure_because(CAUSE_REFUSED, EXIT_RUN_FAILED, "connect",
				       "%s refused the connection: nothing listens on that port, "
				       "or the server there is of another tool, does not allow "
				       "this host, or lacks something (see its messages)",
				       l->peer_name);
	return failure_because(event == RPMA_CONN_UNREACHABLE ? CAUSE_UNREACHABLE : CAUSE_CLOSED,
			       EXIT_RUN_FAILED, "connect", "cannot connect to %s: %s", l->peer_name,
			       rpma_utils_conn_event_2str(event));
}

static int wait_established(struct connection *l)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct pollfd fds[] = {{l->event_fd, POLLIN, 0}, {l->stop_fd, POLLIN, 0}};
	int64_t deadline = monotonic_ms() + l->timeout_ms;
	int ret = (int)TEMP_FAILURE_RETRY(poll(fds, 2, left_ms(deadline)));

	if (ret > 0 && fds[1].revents != 0)
		return -ECANCELED;
	if (ret <= 0)
		return failure_because(CAUSE_NO_ANSWER, EXIT_RUN_FAILED, "connect",
				       "%s did not answer within %g s", l->peer_name,
				       l->timeout_ms / 1000.0);
	ret = rpma_conn_next_event(l->conn, &event);
	if (ret)
		return librpma_failed(ret, "connect", "cannot connect to %s: %s", l->peer_name,
				      connection_cause(ret));
	if (event == RPMA_CONN_ESTABLISHED)
		return 0;
	ret = not_established(l, event);
	l->end = failure_get()->cause;
	return ret;
}

/* Connects or accepts; the request is gone in any case. */
static int establish(struct connection **connection, struct rpma_peer *peer,
		     struct rpma_conn_req **req, const struct connection_cfg *cfg,
		     const void *handshake, size_t len)
{
	struct rpma_conn_private_data pdata = {(void *)(uintptr_t)handshake, (uint8_t)len};
	struct connection *l = connection_new(cfg);
	int ret = l == NULL ? -EIO : make_ready(l, peer, cfg, *req);

	if (ret) {
		rpma_conn_req_delete(req);
		connection_close(&l);
		return ret;
	}
	ret = rpma_conn_req_connect(req, &pdata, &l->conn);
	if (ret)
		ret = librpma_failed(ret, "connect", "cannot connect to %s: %s", l->peer_name,
				     connection_cause(ret));
	else if ((ret = take_queues(l)) == 0)
		ret = wait_established(l);
	if (ret) {
		connection_close(&l);
		return ret;
	}
	*connection = l;
	return 0;
}

int connection_connect(struct connection **connection, struct rpma_peer *peer, const char *address,
		       uint16_t port, const struct connection_cfg *cfg, const void *handshake,
		       size_t handshake_len)
{
	struct rpma_conn_cfg *conn_cfg = NULL;
	struct rpma_conn_req *req = NULL;
	char service[8];
	int ret = connection_conn_cfg(cfg, &conn_cfg);

	if (ret)
		return ret;
	snprintf(service, sizeof(service), "%u", port);
	ret = rpma_conn_req_new(peer, address, service, conn_cfg, &req);
	rpma_conn_cfg_delete(&conn_cfg);
	if (ret)
		return librpma_failed(ret, "request",
				      "cannot prepare a connection to %s with %u work requests: %s",
				      cfg->peer_name,
				      cfg->queues != NULL ? cfg->queues->sq_size : 1,
				      connection_cause(ret));
	if (cfg->requested != NULL)
		clock_gettime(CLOCK_MONOTONIC, cfg->requested);
	return establish(connection, peer, &req, cfg, handshake, handshake_len);
}

int connection_accept(struct connection **connection, struct rpma_peer *peer,
		      struct rpma_conn_req **req, const struct connection_cfg *cfg,
		      const void *reply, size_t reply_len)
{
	return establish(connection, peer, req, cfg, reply, reply_len);
}

int connection_handshake(const struct connection *connection, const void **bytes, size_t *len)
{
	struct rpma_conn_private_data pdata = {NULL, 0};

	if (rpma_conn_get_private_data(connection->conn, &pdata) != 0 || pdata.ptr == NULL)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "handshake",
				       "%s answered without a handshake: it is not a server of "
				       "this tool",
				       connection->peer_name);
	*bytes = pdata.ptr;
	*len = pdata.len;
	return 0;
}

static int timed_out(const struct connection *l, const char *what, int timeout_ms)
{
	failure_because(CAUSE_NO_ANSWER, EXIT_RUN_FAILED, "message", "%s: no %s within %d s",
			l->peer_name, what, timeout_ms / 1000);
	return -ETIMEDOUT;
}

/*
 * Waits for one completion of cq. The end of the connection is looked at only
 * when the queue is empty: what arrived before it still counts.
 */
static int next_completion(struct connection *l, struct rpma_cq *cq, const char *what,
			   int timeout_ms, struct ibv_wc *wc)
{
	int64_t deadline = monotonic_ms() + timeout_ms;
	struct pollfd fds[] = {{-1, POLLIN, 0}, {l->event_fd, POLLIN, 0}, {l->stop_fd, POLLIN, 0}};
	int ret = rpma_cq_get_fd(cq, &fds[0].fd);
	char work[CONNECTION_PEER_MAX + 32];

	while (ret == 0) {
		ret = rpma_cq_get_wc(cq, 1, wc, NULL);
		if (ret != RPMA_E_NO_COMPLETION)
			break;
		if (l->end != CAUSE_UNKNOWN)
			return connection_ended(l->end, l->peer_name);
		ret = poll(fds, 3, left_ms(deadline));
		if (ret == 0)
			return timed_out(l, what, timeout_ms);
		if (ret < 0) {
			ret = errno == EINTR ? 0 : -errno;
			continue;
		}
		ret = 0;
		if (fds[0].revents != 0)
			rpma_cq_wait(cq);
		else if (fds[1].revents != 0)
			connection_alive(l, 0);
		else
			return -ECANCELED;
	}
	if (ret)
		return librpma_failed(ret, "message", "%s: %s", l->peer_name,
				      connection_cause(ret));
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	snprintf(work, sizeof(work), "a message %s %s", cq == l->rcq ? "from" : "to", l->peer_name);
	return connection_work_failed(l, "message", work, wc);
}

int connection_send(struct connection *connection, const void *message, size_t len)
{
	const size_t offset = (size_t)RECEIVE_SLOTS * CONNECTION_MESSAGE_MAX;
	struct ibv_wc wc;
	int ret;

	memcpy(connection->slots + offset, message, len);
	ret = rpma_send(connection->conn, connection->mr, offset, len, RPMA_F_COMPLETION_ALWAYS,
			NULL);
	if (ret)
		return librpma_failed(ret, "message", "cannot send to %s: %s",
				      connection->peer_name, connection_cause(ret));
	return next_completion(connection, connection->cq, "acknowledgement", CONNECTION_TIMEOUT_MS,
			       &wc);
}

int connection_receive(struct connection *connection, void *message, size_t *len, int timeout_ms)
{
	size_t room = *len, offset;
	struct ibv_wc wc = {0};
	int ret = next_completion(connection, connection->rcq, "message", timeout_ms, &wc);

	if (ret)
		return ret;
	if (wc.byte_len > room || wc.wr_id >= RECEIVE_SLOTS)
		return failure_set(EXIT_RUN_FAILED, "message",
				   "%s: a message of %u bytes is too long", connection->peer_name,
				   wc.byte_len);
	offset = (size_t)wc.wr_id * CONNECTION_MESSAGE_MAX;
	memcpy(message, connection->slots + offset, wc.byte_len);
	*len = wc.byte_len;
	ret = rpma_recv(connection->conn, connection->mr, offset, CONNECTION_MESSAGE_MAX,
			(void *)(uintptr_t)wc.wr_id);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "message", "cannot post a receive for %s: %s",
				   connection->peer_name, connection_cause(ret));
	return 0;
}

bool connection_alive(struct connection *connection, int timeout_ms)
{
	struct pollfd fd = {connection->event_fd, POLLIN, 0};
	enum rpma_conn_event event;

	if (connection->end == CAUSE_UNKNOWN && poll(&fd, 1, timeout_ms) > 0 &&
	    rpma_conn_next_event(connection->conn, &event) == 0 && event != RPMA_CONN_ESTABLISHED)
		connection->end = connection_end_of(event);
	if (connection->end != CAUSE_UNKNOWN)
		connection_ended(connection->end, connection->peer_name);
	return connection->end == CAUSE_UNKNOWN;
}

/* Waiting for the answer to the disconnect lets the peer see an orderly end. */
void connection_close_within(struct connection **connection, int wait_ms)
{
	struct connection *l = *connection;
	struct failure kept = *failure_get();

	*connection = NULL;
	if (l == NULL)
		return;
	if (l->conn != NULL && rpma_conn_disconnect(l->conn) == 0 && l->end == CAUSE_UNKNOWN)
		connection_alive(l, wait_ms);
	rpma_conn_delete(&l->conn);
	rpma_mr_dereg(&l->mr);
	free(l->slots);
	free(l);
	*failure_get() = kept;
}

void connection_close(struct connection **connection)
{
	connection_close_within(connection, CONNECTION_CLOSE_MS);
}

int connection_event_fd(const struct connection *connection)
{
	return connection->event_fd;
}

/* -1, which poll(2) passes over: there is no such queue. */
static int fd_of(const struct rpma_cq *cq)
{
	int fd = -1;

	return rpma_cq_get_fd(cq, &fd) == 0 ? fd : -1;
}

int connection_receive_fd(const struct connection *connection)
{
	return fd_of(connection->rcq);
}

int connection_cq_fd(const struct connection *connection)
{
	return fd_of(connection->cq);
}

struct rpma_conn *connection_conn(const struct connection *connection)
{
	return connection->conn;
}

struct rpma_cq *connection_cq(const struct connection *connection)
{
	return connection->cq;
}

const char *connection_peer_name(const struct connection *connection)
{
	return connection->peer_name;
}

const char *connection_device(const struct connection *connection)
{
	return connection->device;
}
