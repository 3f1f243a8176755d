/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives of messages without payload may all name one buffer: nothing is written there. */
#include "zoo.h"

#include <arpa/inet.h>

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	pair_open(NULL);
	for (int i = 0; i < 8; i++)
		receive(&far, SIZE - 64, 64);
	memset(far.memory + SIZE - 64, 0x5a, 64);
	fill(near.memory, 64, 1);
	for (uint32_t i = 0; i < 8; i++) {
		wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, 64),
			     there.memory + 64 * i, there.rkey);
		wr.imm_data = htonl(i);
		MUST(ibv_post_send(near.qp, &wr, &bad));
	}
	for (uint32_t i = 0; i < 8; i++) {
		await(near.cq);
		wc = await(far.cq);
		CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0 && ntohl(wc.imm_data) == i);
		CHECK(is_filled(far.memory + 64 * i, 64, 1));
	}
	CHECK(far.memory[SIZE - 64] == 0x5a && far.memory[SIZE - 1] == 0x5a);
	pair_close();
	return 0;
}
