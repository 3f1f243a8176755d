/* SPDX-License-Identifier: BSD-3-Clause */
/* A request gathers from regions with different keys, and a receive scatters over two. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_recv_wr recv = {.num_sge = 2}, *bad_recv;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge to[2], from[2];
	struct ibv_mr *header;
	unsigned char text[32];

	options.cap.max_send_sge = options.cap.max_recv_sge = 2;
	pair_open(&options);
	header = HAVE(ibv_reg_mr(near.pd, text, sizeof(text), 0)); /* to read from only */
	to[0] = piece(&far, 0, sizeof(text));
	to[1] = piece(&far, PAGE, PAGE);
	recv.sg_list = to;
	MUST(ibv_post_recv(far.qp, &recv, &bad_recv));
	fill(text, sizeof(text), 1);
	fill(near.memory, 1000, 2);
	from[0] = (struct ibv_sge){(uintptr_t)text, sizeof(text), header->lkey};
	from[1] = piece(&near, 0, 1000);
	wr = request(IBV_WR_SEND, from, 0, 0);
	wr.num_sge = 2;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(await(far.cq).byte_len == 1032);
	CHECK(is_filled(far.memory, sizeof(text), 1) && is_filled(far.memory + PAGE, 1000, 2));
	MUST(ibv_dereg_mr(header));
	pair_close();
	return 0;
}
