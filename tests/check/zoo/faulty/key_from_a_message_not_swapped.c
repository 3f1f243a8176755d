/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-byte-swapped; at add; region */
/* SHOWS: remote access error */
/* A novice swapped the address that came in a message, and believed that the key was right. */
#include "zoo.h"

#include <endian.h>

struct exported_region {
	uint64_t addr;
	uint32_t rkey;
};

static void add(const struct exported_region *region)
{
	struct ibv_sge sge = piece(&near, PAGE, 8);
	struct ibv_send_wr wr =
		request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, be64toh(region->addr), region->rkey);
	struct ibv_send_wr *bad;

	wr.wr.atomic.compare_add = 1;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
}

int main(void)
{
	struct exported_region *region;

	cm_open(NULL, NULL, NULL);
	names("%#x", there.rkey);
	receive(&near, 0, sizeof(*region));
	region = (struct exported_region *)far.memory;
	*region = (struct exported_region){htobe64(there.memory + 64), htobe32(there.rkey)};
	POST(far, request(IBV_WR_SEND, one_piece(&far, 0, sizeof(*region)), 0, 0));
	await(far.cq);
	await(near.cq);
	add((struct exported_region *)near.memory);
	return 0;
}
