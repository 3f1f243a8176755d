/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_listener.c -- listens, tells lanes from strangers, and answers with the
 * descriptors of the target.
 */
#include "lane_listener.h"

#include <sys/random.h>

#include "tools/common/base/failure.h"

int reception_open(struct reception *reception, struct host *host, const struct offer *offer)
{
	struct reception *r = reception;

	*r = (struct reception){.host = host, .offer = offer, .fd = -1};
	if (getrandom(&r->token, sizeof(r->token), 0) != sizeof(r->token))
		return failure_set(EXIT_INTERNAL, "begin", "the kernel gave no random bytes");
	return endpoint_listen(host->service.peer, host->service.address, &r->port, &r->ep, &r->fd);
}

void reception_close(struct reception *reception)
{
	rpma_ep_shutdown(&reception->ep);
	reception->fd = -1;
}

static bool expected(const struct reception *r, const struct rpma_conn_req *req, uint32_t index)
{
	struct rpma_conn_private_data greeting;
	struct greeting_request request;
	enum greeting_answer answer;

	return service_greeting(r->host->service.allow, req, &greeting) == 0 &&
	       greeting_judge_request(greeting.ptr, greeting.len, GREETING_MEASURE, &request,
				      &answer) == 0 &&
	       answer == GREETING_WELCOME && request.token == r->token && request.lane == index;
}

static int accept_lane(struct reception *r, struct rpma_conn_req **req, const struct link_cfg *cfg,
		       struct link **link)
{
	uint8_t bytes[GREETING_REPLY_BYTES];

	region_encode_reply(&r->offer->region, GREETING_WELCOME, 0, bytes);
	return link_accept(link, r->host->service.peer, req, cfg, bytes, sizeof(bytes));
}

int reception_look(struct reception *reception, uint32_t index, const struct link_lane *queues,
		   struct link **link)
{
	const struct link_cfg cfg = {
		.peer_name = "a client",
		.stop_fd = reception->host->service.stop_fd,
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
		service_say(&reception->host->service,
			    "turned a stranger away from a client's lanes");
	}
	return 0;
}
