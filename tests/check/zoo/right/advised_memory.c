/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice that keeps the pages is no harm to a region: what to expect, and what forks see. */
#include "zoo.h"

int main(void)
{
	static const int advices[] = {MADV_WILLNEED, MADV_SEQUENTIAL, MADV_RANDOM, MADV_DONTDUMP,
				      MADV_DONTFORK, MADV_DOFORK,     MADV_NORMAL};
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), there.memory, there.rkey);
	for (unsigned i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		MUST(madvise(far.memory, SIZE, advices[i]));
		fill(near.memory, PAGE, i);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		CHECK(is_filled(far.memory, PAGE, i));
	}
	pair_close();
	return 0;
}
