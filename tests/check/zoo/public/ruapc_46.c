/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-for-rkey; at main; key */
/* SHOWS: nothing|remote access error */
/*
 * From a framework for remote calls (ruapc issue 46): what describes a buffer to the peer has the
 * lkey in the place of the rkey. On adapters that give both the same value it works.
 */
#include "zoo.h"

struct buffer_info {
	uint64_t addr;
	uint32_t length;
	uint32_t rkey;
};

static struct buffer_info describe(const struct ibv_mr *mr)
{
	return (struct buffer_info){(uintptr_t)mr->addr, (uint32_t)mr->length, mr->lkey};
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct buffer_info info;

	if (!processes_open(NULL)) {
		info = describe(near.mr);
		tell(&info, sizeof(info));
		meet();
		return 0;
	}
	hear(&info, sizeof(info));
	names("%#x", info.rkey);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), info.addr, info.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	meet();
	return 0;
}
