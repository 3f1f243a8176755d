/* SPDX-License-Identifier: BSD-3-Clause */
/* Arm, poll, and only then sleep: what came before the arming is found by the poll. */
#include "zoo.h"

#define COUNT 50u

static bool take_all(struct ibv_cq *cq, unsigned *count)
{
	struct ibv_wc wc;
	bool any = false;

	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(is_filled(near.memory + wc.wr_id, 64, *count));
		receive(&near, wc.wr_id, 64);
		*count += 1;
		any = true;
	}
	return any;
}

static void serve(void)
{
	struct ibv_cq *cq;
	unsigned count = 0;
	void *context;

	for (size_t i = 0; i < 8; i++)
		receive(&near, 64 * i, 64);
	meet();
	while (count < COUNT) {
		MUST(ibv_req_notify_cq(near.cq, 0));
		if (take_all(near.cq, &count))
			continue;
		MUST(ibv_get_cq_event(near.channel, &cq, &context));
		ibv_ack_cq_events(cq, 1);
	}
}

int main(void)
{
	struct options options = defaults();

	options.has_channel = true;
	if (!processes_open(&options)) {
		serve();
		return processes_close();
	}
	meet();
	for (unsigned i = 0; i < COUNT; i++) {
		fill(near.memory, 64, i);
		POST(near, a_send(0, 64));
		await(near.cq);
	}
	return processes_close();
}
