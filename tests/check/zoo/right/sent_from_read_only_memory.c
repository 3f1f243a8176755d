/* SPDX-License-Identifier: BSD-3-Clause */
/* Local read access is always there: constants can be registered without any right, and sent. */
#include "zoo.h"

static const unsigned char text[] = "a constant, in pages that cannot be written";

int main(void)
{
	struct ibv_sge sge;
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = ibv_reg_mr(near.pd, (void *)(uintptr_t)text, sizeof(text), 0);
	if (mr == NULL) {
		show("this device pins pages for writing");
		return 0;
	}
	sge = (struct ibv_sge){(uintptr_t)text, sizeof(text), mr->lkey};
	POST(near, request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey));
	await(near.cq);
	CHECK(memcmp(far.memory, text, sizeof(text)) == 0);
	MUST(ibv_dereg_mr(mr));
	pair_close();
	return 0;
}
