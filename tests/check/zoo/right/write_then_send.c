/* SPDX-License-Identifier: BSD-3-Clause */
/* A message tells of the writes before it on the same queue pair: requests execute in order. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr write, message, *bad;
	struct ibv_sge body, none;

	if (!processes_open(NULL)) {
		receive(&near, 2 * PAGE, 64);
		meet();
		await(near.cq);
		CHECK(is_filled(near.memory, 2 * PAGE, 7));
		return processes_close();
	}
	meet();
	fill(near.memory, 2 * PAGE, 7);
	body = piece(&near, 0, 2 * PAGE);
	none = piece(&near, 2 * PAGE, 4);
	write = request(IBV_WR_RDMA_WRITE, &body, there.memory, there.rkey);
	write.send_flags = 0;
	message = request(IBV_WR_SEND, &none, 0, 0);
	write.next = &message;
	MUST(ibv_post_send(near.qp, &write, &bad));
	await(near.cq);
	return processes_close();
}
