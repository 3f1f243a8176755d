/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions that are not solicited wait when the queue is armed for solicited ones: they are to
 * be taken with the next one of these, which comes late. */
#include "zoo.h"

#include <pthread.h>

static void *solicit_late(void *unused)
{
	struct ibv_send_wr wr = a_send(0, 64), *bad;

	usleep(1500000);
	wr.send_flags |= IBV_SEND_SOLICITED;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return unused;
}

int main(void)
{
	pthread_t thread;
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	for (size_t i = 0; i < 4; i++)
		receive(&far, 64 * i, 64);
	fill(near.memory, 64, 3);
	for (int i = 0; i < 3; i++) {
		POST(near, a_send(0, 64));
		await(near.cq);
	}
	MUST(ibv_req_notify_cq(far.cq, 1));
	MUST(pthread_create(&thread, NULL, solicit_late, NULL));
	MUST(ibv_get_cq_event(far.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	for (size_t i = 0; i < 4; i++)
		CHECK(is_filled(far.memory + await(far.cq).wr_id, 64, 3));
	MUST(pthread_join(thread, NULL));
	pair_close();
	return 0;
}
