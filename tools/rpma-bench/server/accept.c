/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept.c -- listens, tells lanes from strangers, and answers with the
 * descriptors of the target.
 */
#include "accept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>

#include "tools/common/base/error.h"
#include "tools/common/rdma/listen.h"

int reception_open(struct reception *reception, struct host *host, const struct offer *offer)
{
	struct reception *r = reception;
	int ret;

	*r = (struct reception){.host = host, .offer = offer, .fd = -1};
	if (getrandom(&r->token, sizeof(r->token), 0) != sizeof(r->token))
		return failure_set(EXIT_INTERNAL, "begin", "the kernel gave no random bytes");
	ret = rpma_ep_listen(host->peer, host->address, "0", &r->ep);
	if (ret == 0)
		ret = rpma_ep_get_port(r->ep, &r->port);
	if (ret == 0)
		ret = rpma_ep_get_fd(r->ep, &r->fd);
	if (ret)
		return failure_because(link_cause_of(ret), EXIT_RUN_FAILED, "begin",
				       "it cannot listen for lanes: %s", link_cause(ret));
	/* a client that gives up between the event and the call must not hold the session */
	if (fcntl(r->fd, F_SETFL, fcntl(r->fd, F_GETFL) | O_NONBLOCK) != 0)
		return failure_set(EXIT_INTERNAL, "begin", "fcntl: %s", strerror(errno));
	return 0;
}

void reception_close(struct reception *reception)
{
	rpma_ep_shutdown(&reception->ep);
	reception->fd = -1;
}

static bool expected(const struct reception *r, const struct rpma_conn_req *req, uint32_t index)
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	struct greeting_request request;

	return host_allows(r->host, req) && rpma_conn_req_get_private_data(req, &pdata) == 0 &&
	       pdata.ptr != NULL && greeting_decode_request(pdata.ptr, pdata.len, &request) == 0 &&
	       request.version == GREETING_VERSION && request.role == GREETING_MEASURE &&
	       request.token == r->token && request.lane == index;
}

static int accept_lane(struct reception *r, struct rpma_conn_req **req, const struct link_cfg *cfg,
		       struct link **link)
{
	uint8_t bytes[GREETING_REPLY_BYTES];

	region_encode_reply(&r->offer->region, GREETING_WELCOME, 0, bytes);
	return link_accept(link, r->host->peer, req, cfg, bytes, sizeof(bytes));
}

int reception_look(struct reception *reception, uint32_t index, const struct link_lane *queues,
		   struct link **link)
{
	const struct link_cfg cfg = {
		.peer_name = "a client",
		.stop_fd = reception->host->stop_fd,
		.lane = queues,
	};
	struct rpma_conn_req *req;
	int ret = endpoint_next(reception->ep, queues, &req);

	if (ret || req == NULL)
		return ret;
	if (expected(reception, req, index)) {
		/* one that comes to nothing is its client's to complain of */
		accept_lane(reception, &req, &cfg, link);
	} else {
		rpma_conn_req_delete(&req);
		host_say(reception->host, "turned a stranger away from a client's lanes");
	}
	return 0;
}
