/* SPDX-License-Identifier: BSD-3-Clause */
/* Two completion queues share a channel. One is slept for; the other, of the sends, is polled when
 * there is time, and never armed. The sleep is a long one. */
#include "zoo.h"

#include <pthread.h>

static void *answer_late(void *unused)
{
	struct ibv_sge sge = piece(&far, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, 0, 0), *bad;

	usleep(1700000);
	MUST(ibv_post_send(far.qp, &wr, &bad));
	await(far.cq);
	return unused;
}

int main(void)
{
	struct ibv_cq *lazy, *woken;
	struct address here;
	pthread_t thread;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	MUST(ibv_destroy_qp(near.qp));
	lazy = HAVE(ibv_create_cq(near.context, 16, NULL, near.channel, 0));
	near.recv_cq = near.cq;
	near.cq = lazy;
	near.qp = end_make_qp(&near);
	qp_to_init(&near, near.qp);
	qp_to(far.qp, IBV_QPS_RESET);
	qp_to_init(&far, far.qp);
	here = end_address(&near);
	qp_connect(&far, far.qp, &here);
	qp_connect(&near, near.qp, &there);
	receive(&near, PAGE, 64);
	MUST(ibv_req_notify_cq(near.recv_cq, 0));
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	MUST(pthread_create(&thread, NULL, answer_late, NULL));
	MUST(ibv_get_cq_event(near.channel, &woken, &context));
	CHECK(woken == near.recv_cq);
	ibv_ack_cq_events(woken, 1);
	CHECK(await(near.recv_cq).wr_id == PAGE && await(lazy).wr_id == 1);
	MUST(pthread_join(thread, NULL));
	pair_close();
	return 0;
}
