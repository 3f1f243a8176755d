/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of a shared queue fires once, and is set again when receives were posted. */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();
	struct ibv_srq_attr limit = {.srq_limit = 3};
	struct ibv_async_event event;
	struct ibv_send_wr wr, *bad;

	receiver.srq_wr = 8;
	pair_open_with(&sender, &receiver);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	for (size_t i = 0; i < 5; i++)
		receive(&far, 64 * i, 64);
	for (unsigned round = 0; round < 3; round++) {
		MUST(ibv_modify_srq(far.srq, &limit, IBV_SRQ_LIMIT));
		for (unsigned i = 0; i < 3; i++) {
			fill(near.memory, 64, i + round);
			MUST(ibv_post_send(near.qp, &wr, &bad));
			await(near.cq);
			CHECK(is_filled(far.memory + await(far.cq).wr_id, 64, i + round));
		}
		MUST(ibv_get_async_event(far.context, &event));
		CHECK(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED &&
		      event.element.srq == far.srq);
		ibv_ack_async_event(&event);
		for (size_t i = 0; i < 3; i++)
			receive(&far, 64 * (8 + i), 64);
	}
	pair_close();
	return 0;
}
