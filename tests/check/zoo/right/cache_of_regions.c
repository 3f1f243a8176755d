/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache keeps 600 regions: when it is full, the oldest one goes for each that is made. It is full
 * at the end, as it was for most of the time. */
#include "zoo.h"

#define KEPT 600u

int main(void)
{
	static struct ibv_mr *cache[KEPT];

	pair_open(NULL);
	fill(near.memory, SIZE, 1);
	for (unsigned i = 0; i < 5 * KEPT; i++) {
		unsigned char *memory = near.memory + 64 * (i % 1000);
		struct ibv_mr **one = &cache[i % KEPT];

		if (*one != NULL)
			MUST(ibv_dereg_mr(*one));
		*one = HAVE(ibv_reg_mr(near.pd, memory, 64, ACCESS));
		POST(near, by_key(IBV_WR_RDMA_WRITE, memory, 64, (*one)->lkey));
		await(near.cq);
		CHECK(memcmp(far.memory, memory, 64) == 0);
	}
	return 0;
}
