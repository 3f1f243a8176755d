/* SPDX-License-Identifier: BSD-3-Clause */
/* A target may poll an aligned word that its peer writes, if that word is all it takes from it. */
#include "zoo.h"

#define COUNT 100u

int main(void)
{
	const bool is_writer = processes_open(NULL);
	volatile uint64_t *word = (uint64_t *)near.memory;
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;
	uint64_t seen = 0;

	if (!is_writer) {
		while (seen < COUNT) {
			const uint64_t now = *word;

			CHECK(now >= seen && now <= COUNT);
			seen = now;
			CHECK(ibv_poll_cq(near.cq, 1, &wc) == 0);
		}
		return processes_close();
	}
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 8), there.memory, there.rkey);
	for (uint64_t i = 1; i <= COUNT; i++) {
		*word = i;
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
	}
	return processes_close();
}
