/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: atomic-unaligned; at take_lock; QP */
/* SHOWS: remote invalid request error|remote access error */
/* A novice packed a struct to save room, and believed that its lock word can still be swapped. */
#include "zoo.h"

struct slot {
	uint16_t owner;
	uint64_t lock;
} __attribute__((packed));

static void take_lock(uint64_t slot)
{
	struct ibv_send_wr wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, one_piece(&near, 0, 8),
					slot + offsetof(struct slot, lock), there.rkey);
	struct ibv_send_wr *bad;

	wr.wr.atomic.swap = 1;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
}

int main(void)
{
	if (!processes_open(NULL)) {
		meet();
		return 0;
	}
	names("%#llx", (unsigned long long)there.memory + 2);
	take_lock(there.memory);
	return 0;
}
