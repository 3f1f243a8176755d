/* SPDX-License-Identifier: BSD-3-Clause */
/* Aligned counters, each old value taken after its completion, into a place of its own. */
#include "zoo.h"

#define COUNT 8u

int main(void)
{
	const uint64_t begin = 1000;
	struct ibv_send_wr wr, *bad;
	uint64_t old;

	pair_open(NULL);
	memcpy(far.memory + 64, &begin, sizeof(begin));
	for (unsigned i = 0; i < COUNT; i++) {
		wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, one_piece(&near, 8 * i, 8),
			     there.memory + 64, there.rkey);
		wr.wr.atomic.compare_add = 5;
		wr.send_flags = i + 1 < COUNT ? 0 : IBV_SEND_SIGNALED;
		MUST(ibv_post_send(near.qp, &wr, &bad));
	}
	await(near.cq);
	for (unsigned i = 0; i < COUNT; i++) {
		memcpy(&old, near.memory + 8 * i, sizeof(old));
		CHECK(old == begin + 5 * i);
	}
	wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, one_piece(&near, 0, 8), there.memory + 64,
		     there.rkey);
	wr.wr.atomic.compare_add = begin + 5 * COUNT;
	wr.wr.atomic.swap = 7;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	memcpy(&old, near.memory, sizeof(old));
	CHECK(old == begin + 5 * COUNT);
	memcpy(&old, far.memory + 64, sizeof(old));
	CHECK(old == 7);
	pair_close();
	return 0;
}
