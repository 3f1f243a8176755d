/* SPDX-License-Identifier: BSD-3-Clause */
/* by_hand.c -- one connection, busy waiting. */
#include "by_hand.h"

#include <errno.h>

static int connect_lane(struct by_hand *b, const struct lanes_cfg *cfg, uint32_t lane)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_RPMEM, lane,
						  cfg->daemon->token};
	const struct connection_queues queues = {.sq_size = 4, .cq_size = 4, .rq_size = 1};
	const struct connection_cfg connection = {.stop_fd = -1, .queues = &queues};
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	struct handshake_reply reply;
	int ret;

	handshake_encode_request(&request, handshake);
	if ((ret = dial_connect(&b->connection, &b->dial, handshake, &connection)) ||
	    (ret = dial_answer(&b->dial, b->connection, HANDSHAKE_RPMEM, &reply)))
		return ret;
	return region_take(&b->remote, &reply.desc, connection_conn(b->connection));
}

int by_hand_open(struct by_hand *by_hand, const struct lanes_cfg *cfg, uint32_t lane)
{
	static const struct endpoint_options any = {.quiet = true};
	struct by_hand *b = by_hand;
	int ret;

	*b = (struct by_hand){.type = cfg->daemon->method == CONTROL_APM
					      ? RPMA_FLUSH_TYPE_PERSISTENT
					      : RPMA_FLUSH_TYPE_VISIBILITY};
	if ((ret = dial_resolve(&b->dial, cfg->daemon->address, cfg->daemon->port)) ||
	    (ret = dial_route(&b->dial, &any)) ||
	    (ret = rpma_mr_reg(b->dial.peer, cfg->memory, cfg->bytes, RPMA_MR_USAGE_WRITE_SRC,
			       &b->mr)))
		return ret;
	return connect_lane(b, cfg, lane);
}

void by_hand_close(struct by_hand *by_hand)
{
	connection_close(&by_hand->connection);
	rpma_mr_remote_delete(&by_hand->remote.mr);
	rpma_mr_dereg(&by_hand->mr);
	rpma_peer_delete(&by_hand->dial.peer);
}

int by_hand_persist(struct by_hand *by_hand, size_t offset, size_t length)
{
	struct rpma_conn *conn = connection_conn(by_hand->connection);
	struct rpma_cq *cq = connection_cq(by_hand->connection);
	struct ibv_wc wc;
	int ret = rpma_write(conn, by_hand->remote.mr, offset, by_hand->mr, offset, length,
			     RPMA_F_COMPLETION_ON_ERROR, NULL);

	if (ret == 0)
		ret = rpma_flush(conn, by_hand->remote.mr, offset, length, by_hand->type,
				 RPMA_F_COMPLETION_ALWAYS, NULL);
	while (ret == 0) {
		ret = rpma_cq_get_wc(cq, 1, &wc, NULL);
		if (ret == 0)
			return wc.status == IBV_WC_SUCCESS ? 0 : -EIO;
		if (ret == RPMA_E_NO_COMPLETION)
			ret = 0;
	}
	return -EIO;
}
