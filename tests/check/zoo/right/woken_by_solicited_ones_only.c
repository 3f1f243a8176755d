/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue armed for solicited completions sleeps through the others, and finds them all afterwards.
 */
#include "zoo.h"

int main(void)
{
	struct pollfd waiting = {.events = POLLIN};
	struct ibv_send_wr wr, *bad;
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	for (size_t i = 0; i < 4; i++)
		receive(&far, 64 * i, 64);
	MUST(ibv_req_notify_cq(far.cq, 1));
	fill(near.memory, 64, 2);
	wr = a_send(0, 64);
	for (int i = 0; i < 3; i++) {
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
	}
	waiting.fd = far.channel->fd;
	CHECK(poll(&waiting, 1, 50) == 0);
	wr.send_flags |= IBV_SEND_SOLICITED;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	MUST(ibv_get_cq_event(far.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	for (size_t i = 0; i < 4; i++)
		CHECK(is_filled(far.memory + await(far.cq).wr_id, 64, 2));
	pair_close();
	return 0;
}
