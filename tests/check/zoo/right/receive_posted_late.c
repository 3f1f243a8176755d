/* SPDX-License-Identifier: BSD-3-Clause */
/* A message waits for its receive as long as that takes, with rnr_retry 7. */
#include "zoo.h"

int main(void)
{
	struct ibv_wc wc;

	pair_open(NULL);
	fill(near.memory, 64, 1);
	POST(near, a_send(0, 64));
	CHECK(!next_within(near.cq, &wc, 50));
	receive(&far, 0, 64);
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(far.memory, 64, 1));
	pair_close();
	return 0;
}
