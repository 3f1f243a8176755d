/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: path-mtu; at main; QP */
/* SHOWS: remote invalid request|bad response|transport retry|nothing */
/*
 * From a transfer engine (Mooncake issue 3868): each end sets the path MTU from a setting of its
 * own, and small transfers work; the first one that is longer than a packet does not.
 */
#include "zoo.h"

static struct options with_mtu(enum ibv_mtu mtu)
{
	struct options options = defaults();

	options.mtu = mtu;
	return options;
}

int main(void)
{
	const struct options here = with_mtu(IBV_MTU_1024), far_away = with_mtu(IBV_MTU_4096);
	static const uint32_t lengths[] = {64, 1000, 4096, 60000};
	struct ibv_send_wr wr, *bad;

	pair_open_with(&here, &far_away); /* HERE */
	names("1024");
	names("4096");
	for (int i = 0; i < 4; i++) {
		wr = to_peer(IBV_WR_RDMA_READ, 0, lengths[i]);
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE: where it comes to light */
		await(near.cq);
	}
	return 0;
}
