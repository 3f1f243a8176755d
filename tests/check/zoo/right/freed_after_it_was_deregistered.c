/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is deregistered first may be freed, unmapped or moved. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	for (unsigned i = 0; i < 20; i++) {
		const size_t size = i % 2 == 0 ? 256 : 1 << 20;
		unsigned char *block = HAVE(malloc(size));

		mr = HAVE(ibv_reg_mr(far.pd, block, size, ACCESS));
		fill(near.memory, 64, i);
		POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), (uintptr_t)block,
				   mr->rkey));
		await(near.cq);
		CHECK(is_filled(block, 64, i));
		MUST(ibv_dereg_mr(mr));
		block = HAVE(realloc(block, 2 * size));
		CHECK(is_filled(block, 64, i));
		free(block);
	}
	pair_close();
	return 0;
}
