/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_listener.c -- listens, tells expected connections from others, and answers with the
 * descriptors of the target.
 */
#include "qp_listener.h"

#include <sys/random.h>

#include "common/base/failure.h"

int qp_listener_open(struct qp_listener *listener, struct server_state *server,
		     const struct exported_region *exported, const struct connection_knobs *knobs)
{
	struct qp_listener *r = listener;

	*r = (struct qp_listener){.server = server, .exported = exported, .knobs = knobs, .fd = -1};
	if (getrandom(&r->token, sizeof(r->token), 0) != sizeof(r->token))
		return failure_set(EXIT_INTERNAL, "begin", "the kernel gave no random bytes");
	return endpoint_listen(server->service.peer, server->service.address, &r->port, &r->ep,
			       &r->fd);
}

void qp_listener_close(struct qp_listener *listener)
{
	rpma_ep_shutdown(&listener->ep);
	listener->fd = -1;
}

static bool expected(const struct qp_listener *r, const struct rpma_conn_req *req, uint32_t index)
{
	struct rpma_conn_private_data handshake;
	struct handshake_request request;
	enum handshake_answer answer;

	return service_handshake(r->server->service.allow, req, &handshake) == 0 &&
	       handshake_judge_request(handshake.ptr, handshake.len, HANDSHAKE_MEASURE, &request,
				       &answer) == 0 &&
	       answer == HANDSHAKE_WELCOME && request.token == r->token && request.number == index;
}

static int accept_qp(struct qp_listener *r, struct rpma_conn_req **req,
		     const struct connection_cfg *cfg, struct connection **connection)
{
	uint8_t bytes[HANDSHAKE_REPLY_BYTES];

	region_encode_reply(&r->exported->region, HANDSHAKE_WELCOME, 0, bytes);
	return connection_accept(connection, r->server->service.peer, req, cfg, bytes,
				 sizeof(bytes));
}

int qp_listener_accept(struct qp_listener *listener, uint32_t index,
		       const struct connection_queues *queues, struct connection **connection)
{
	const struct connection_cfg cfg = {
		.peer_name = "a client",
		.stop_fd = listener->server->service.stop_fd,
		.queues = queues,
	};
	struct rpma_conn_req *req;
	int ret = endpoint_next(listener->ep, queues, listener->knobs, &req);

	if (ret == -ECONNABORTED) {
		service_complain(&listener->server->service);
		return 0;
	}
	if (ret || req == NULL)
		return ret;
	if (expected(listener, req, index)) {
		/* one that comes to nothing is its client's to complain of */
		accept_qp(listener, &req, &cfg, connection);
	} else {
		char name[SERVICE_CLIENT_MAX];

		service_client_name(req, name);
		rpma_conn_req_delete(&req);
		service_say(&listener->server->service,
			    "rejected %s: it is none of the connections of a repeat", name);
	}
	return 0;
}
