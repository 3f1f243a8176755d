/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that with two buffers in turns one of them is always free. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	if (!processes_open(NULL)) {
		for (size_t i = 0; i < 6; i++)
			receive(&near, 1024 * i, 1024);
		meet();
		for (size_t i = 0; i < 6; i++) {
			await(near.cq);
			CHECK(near.memory[1024 * i] == i);
		}
		meet();
		return 0;
	}
	meet();
	names("%#x", near.qp->qp_num);
	for (int i = 0; i < 6; i++) {
		memset(near.memory + 1024 * (i % 2), i, 1024); /* HERE */
		wr = request(IBV_WR_SEND, one_piece(&near, 1024 * (size_t)(i % 2), 1024), 0, 0);
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	}
	for (int i = 0; i < 6; i++)
		await(near.cq);
	meet();
	return 0;
}
