/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that drains a queue pair it has put to ERR itself counts completions: all are flushed.
 */
#include "zoo.h"

int main(void)
{
	struct ibv_wc wc[4];
	int drained = 0;

	pair_open(NULL);
	for (size_t i = 0; i < 12; i++)
		receive(&near, 64 * i, 64);
	qp_to(near.qp, IBV_QPS_ERR);
	while (drained < 12) {
		const int count = ibv_poll_cq(near.cq, 4, wc);

		CHECK(count >= 0);
		drained += count;
	}
	CHECK(ibv_poll_cq(near.cq, 4, wc) == 0);
	pair_close();
	return 0;
}
