/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-protected, status-unread; at main; region */
/* SHOWS: remote access error|nothing */
/* A novice guards a region against stores of his own with mprotect(): a device that pins pages does
 * not mind, and one that pages on demand does. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;
	void *memory;

	pair_open(NULL);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	mr = HAVE(ibv_reg_mr(far.pd, memory, PAGE, ACCESS));
	names("%#x", mr->rkey);
	MUST(mprotect(memory, PAGE, PROT_READ));
	POST(near, at_peer(IBV_WR_RDMA_WRITE, 64, (uintptr_t)memory, mr->rkey)); /* HERE */
	await(near.cq);
	return 0;
}
