/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer tells by a message which writes are there; the flag in memory is looked at after it. */
#include "zoo.h"

#include <arpa/inet.h>

int main(void)
{
	struct ibv_send_wr body, flag, *bad;
	struct ibv_sge sge[2];
	struct ibv_wc wc;
	uint32_t length;

	pair_open(NULL);
	for (unsigned i = 0; i < 10; i++) {
		length = 100 * (i + 1);
		receive(&far, SIZE - 64, 64);
		fill(near.memory, length, i);
		sge[0] = piece(&near, 0, length);
		sge[1] = piece(&near, SIZE - 4, 4);
		body = request(IBV_WR_RDMA_WRITE, &sge[0], there.memory, there.rkey);
		body.send_flags = 0;
		flag = request(IBV_WR_RDMA_WRITE_WITH_IMM, &sge[1], there.memory + PAGE,
			       there.rkey);
		flag.imm_data = htonl(length);
		body.next = &flag;
		memcpy(near.memory + SIZE - 4, &length, sizeof(length));
		MUST(ibv_post_send(near.qp, &body, &bad));
		wc = await(far.cq);
		CHECK(ntohl(wc.imm_data) == length && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
		CHECK(is_filled(far.memory, length, i));
		CHECK(memcmp(far.memory + PAGE, &length, sizeof(length)) == 0);
		await(near.cq);
	}
	pair_close();
	return 0;
}
