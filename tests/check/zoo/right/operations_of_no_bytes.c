/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, reads and messages may be empty: without a piece, or with one of length 0. */
#include "zoo.h"

int main(void)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad_recv;
	struct ibv_sge empty;

	pair_open(NULL);
	empty = piece(&near, 0, 0);
	for (int i = 0; i < 2; i++) {
		POST(near, request(opcodes[i], NULL, there.memory, there.rkey));
		await(near.cq);
		POST(near, request(opcodes[i], &empty, there.memory + SIZE, there.rkey));
		await(near.cq);
	}
	MUST(ibv_post_recv(far.qp, &recv, &bad_recv));
	POST(near, request(IBV_WR_SEND, NULL, 0, 0));
	await(near.cq);
	CHECK(await(far.cq).byte_len == 0);
	pair_close();
	return 0;
}
