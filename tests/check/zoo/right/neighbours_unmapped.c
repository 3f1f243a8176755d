/* SPDX-License-Identifier: BSD-3-Clause */
/* The pages around a region are none of its business, nor is a block freed beside it. */
#include "zoo.h"

int main(void)
{
	unsigned char *pages, *beside;
	struct ibv_mr *mr;

	pair_open(NULL);
	pages = HAVE(
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mr = HAVE(ibv_reg_mr(far.pd, pages + PAGE, PAGE, ACCESS));
	beside = HAVE(malloc(64));
	MUST(munmap(pages, PAGE));
	MUST(munmap(pages + 2 * PAGE, PAGE));
	free(beside);
	fill(near.memory, PAGE, 1);
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), (uintptr_t)pages + PAGE,
			   mr->rkey));
	await(near.cq);
	CHECK(is_filled(pages + PAGE, PAGE, 1));
	MUST(ibv_dereg_mr(mr));
	MUST(munmap(pages + PAGE, PAGE));
	pair_close();
	return 0;
}
