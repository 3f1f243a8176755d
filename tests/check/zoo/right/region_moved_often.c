/* SPDX-License-Identifier: BSD-3-Clause */
/* One region is moved by ibv_rereg_mr() to each buffer that is sent, beside others that come and
 * go.
 */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *moved, *other;

	pair_open(NULL);
	fill(near.memory, SIZE, 1);
	moved = HAVE(ibv_reg_mr(near.pd, near.memory, 64, ACCESS));
	for (unsigned i = 0; i < 700; i++) {
		unsigned char *memory = near.memory + 64 * (i % 1000);

		other = HAVE(ibv_reg_mr(near.pd, far.memory + PAGE, 64, ACCESS));
		if (ibv_rereg_mr(moved, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, 64, 0) !=
		    0) {
			show("this device cannot move a region");
			return 0;
		}
		POST(near, by_key(IBV_WR_RDMA_WRITE, memory, 64, moved->lkey));
		await(near.cq);
		CHECK(memcmp(far.memory, memory, 64) == 0);
		MUST(ibv_dereg_mr(other));
	}
	MUST(ibv_dereg_mr(moved));
	pair_close();
	return 0;
}
