/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-unacknowledged; at main; SRQ */
/* SHOWS: hangs */
/* A novice believed that the events of a device are only news. */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();
	struct ibv_srq_attr limit = {.srq_limit = 2};
	struct ibv_async_event event;

	receiver.srq_wr = 4;
	pair_open_with(&sender, &receiver);
	receive(&far, 0, 64);
	receive(&far, 64, 64);
	MUST(ibv_modify_srq(far.srq, &limit, IBV_SRQ_LIMIT));
	POST(near, a_send(0, 64));
	await(near.cq);
	await(far.cq);
	MUST(ibv_get_async_event(far.context, &event)); /* HERE */
	CHECK(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
	MUST(ibv_destroy_qp(far.qp));
	may_hang();
	MUST(ibv_destroy_srq(far.srq)); /* HERE: where it waits */
	return 0;
}
