/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-byte-swapped; at add; region */
/* SHOWS: remote access error */
/* A novice swapped the address that came in a message, and believed that the key was right. */
#include "zoo.h"

#include <endian.h>

struct offer {
	uint64_t addr;
	uint32_t rkey;
};

static void add(const struct offer *offer)
{
	struct ibv_sge sge = piece(&near, PAGE, 8);
	struct ibv_send_wr wr =
		request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, be64toh(offer->addr), offer->rkey);
	struct ibv_send_wr *bad;

	wr.wr.atomic.compare_add = 1;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
}

int main(void)
{
	struct offer *offer;

	cm_open(NULL, NULL, NULL);
	names("%#x", there.rkey);
	receive(&near, 0, sizeof(*offer));
	offer = (struct offer *)far.memory;
	*offer = (struct offer){htobe64(there.memory + 64), htobe32(there.rkey)};
	POST(far, request(IBV_WR_SEND, one_piece(&far, 0, sizeof(*offer)), 0, 0));
	await(far.cq);
	await(near.cq);
	add((struct offer *)near.memory);
	return 0;
}
