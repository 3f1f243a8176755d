/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive of datagrams has 40 bytes more than the data, which begin behind them. */
#include "zoo.h"

int main(void)
{
	struct ibv_wc wc;
	struct ibv_ah *ah;

	PAIR_OPEN(o.type = IBV_QPT_UD);
	ah = end_ah(&near, &far);
	for (size_t i = 0; i < 4; i++)
		receive(&far, 1024 * i, GRH + 512);
	for (unsigned i = 0; i < 4; i++) {
		fill(near.memory, 512, i);
		POST(near, datagram(one_piece(&near, 0, 512), ah, far.qp->qp_num));
		await(near.cq);
		wc = await(far.cq);
		CHECK(wc.byte_len == GRH + 512 && wc.src_qp == near.qp->qp_num);
		CHECK(is_filled(far.memory + wc.wr_id + GRH, 512, i));
	}
	MUST(ibv_destroy_ah(ah));
	pair_close();
	return 0;
}
