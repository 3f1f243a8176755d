/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive is posted, and its message comes two seconds later: polling for it is legal. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	if (!processes_open(NULL)) {
		receive(&near, 0, 64);
		meet();
		await(near.cq);
		CHECK(is_filled(near.memory, 64, 1));
		return processes_close();
	}
	meet();
	sleep(2);
	fill(near.memory, 64, 1);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return processes_close();
}
