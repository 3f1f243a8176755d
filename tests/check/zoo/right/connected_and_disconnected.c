/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection of the RDMA CM from its first event to its last, each copied and acknowledged once.
 */
#include "zoo.h"

static void send_one(struct end *from, struct end *to)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, one_piece(from, 0, 64), 0, 0), *bad;

	receive(to, PAGE, 64);
	fill(from->memory, 64, 5);
	MUST(ibv_post_send(from->qp, &wr, &bad));
	await(from->cq);
	await(to->cq);
	CHECK(is_filled(to->memory + PAGE, 64, 5));
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		cm_open(NULL, NULL, NULL);
		send_one(&near, &far);
		send_one(&far, &near);
		receive(&near, 0, 64); /* which is flushed */
		MUST(rdma_disconnect(cm.client));
		cm_pass(cm.listening, RDMA_CM_EVENT_DISCONNECTED);
		MUST(rdma_disconnect(cm.server));
		cm_pass(cm.calling, RDMA_CM_EVENT_DISCONNECTED);
		CHECK(next_wc(near.cq).status == IBV_WC_WR_FLUSH_ERR);
		cm_close();
	}
	return 0;
}
