/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; region */
/* SHOWS: remote access error */
/* A novice counted from one: the counter with the number of counters is behind them all. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", there.rkey);
	names("8 bytes");
	wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, one_piece(&near, 0, 8),
		     there.memory + SIZE / 8 * 8, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
