/* SPDX-License-Identifier: BSD-3-Clause */
/* One completion frees the slots of all requests before it: with 16 slots 4 times 4 are under way.
 */
#include "zoo.h"

#define EVERY 4u
#define SLOTS 16u
#define COUNT 200u

int main(void)
{
	unsigned under_way = 0, free_from = 0;
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	for (unsigned i = 0; i < COUNT; i++) {
		if (under_way == SLOTS) {
			CHECK(await(near.cq).wr_id == free_from + EVERY - 1);
			free_from += EVERY;
			under_way -= EVERY;
		}
		fill(near.memory + 64 * (i % SLOTS), 64, i);
		wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 64 * (i % SLOTS), 64),
			     there.memory + 64 * i, there.rkey);
		wr.wr_id = i;
		wr.send_flags = i % EVERY == EVERY - 1 ? IBV_SEND_SIGNALED : 0;
		MUST(ibv_post_send(near.qp, &wr, &bad));
		under_way++;
	}
	for (; under_way > 0; under_way -= EVERY)
		await(near.cq);
	for (unsigned i = 0; i < COUNT; i++)
		CHECK(is_filled(far.memory + 64 * i, 64, i));
	pair_close();
	return 0;
}
