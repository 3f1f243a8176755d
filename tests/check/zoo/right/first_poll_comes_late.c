/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients have sent before the server polls for the first time, and one queue pair of that queue
 * has been destroyed by then. */
#include "zoo.h"

int main(void)
{
	struct ibv_qp *unused;

	pair_open(NULL);
	unused = end_make_qp(&far);
	fill(near.memory, 64, 6);
	for (size_t i = 0; i < 6; i++) {
		receive(&far, 64 * i, 64);
		POST(near, a_send(0, 64));
		await(near.cq);
	}
	MUST(ibv_destroy_qp(unused));
	for (size_t i = 0; i < 6; i++)
		CHECK(is_filled(far.memory + await(far.cq).wr_id, 64, 6));
	pair_close();
	return 0;
}
