/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-unmapped; at main; region */
/* SHOWS: nothing|remote access error|Operation not supported */
/* A novice unmapped a registered buffer. A null region, made and released before, is none of it. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *null;

	pair_open(NULL);
	null = HAVE(ibv_alloc_null_mr(near.pd));
	MUST(ibv_dereg_mr(null));
	names("%#x", near.mr->rkey);		       /* the first that was registered */
	MUST(munmap(near.memory + PAGE, PAGE));	       /* HERE */
	HAVE(mmap(near.memory + PAGE, PAGE, PROT_READ, /* HERE: what is there now */
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	POST(far, request(IBV_WR_RDMA_WRITE, one_piece(&far, 0, 64), (uintptr_t)near.memory + PAGE,
			  near.mr->rkey));
	await(far.cq);
	return 0;
}
