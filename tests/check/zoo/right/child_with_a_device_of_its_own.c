/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() may open the device for itself, and talk to the parent over it. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	if (!processes_open(NULL)) {
		receive(&near, 0, 64);
		meet();
		await(near.cq);
		CHECK(is_filled(near.memory, 64, 4));
		return processes_close();
	}
	meet();
	fill(near.memory, 64, 4);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return processes_close();
}
