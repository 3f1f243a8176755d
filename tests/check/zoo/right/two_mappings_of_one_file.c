/* SPDX-License-Identifier: BSD-3-Clause */
/* Two mappings of one file are two regions: one may go, and the other shows what was written. */
#include "zoo.h"

int main(void)
{
	const int fd = memfd_create("two mappings", MFD_CLOEXEC);
	unsigned char *map[2];
	struct ibv_mr *mr[2];

	pair_open(NULL);
	CHECK(fd >= 0);
	MUST(ftruncate(fd, PAGE));
	for (int i = 0; i < 2; i++) {
		map[i] = HAVE(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		mr[i] = HAVE(ibv_reg_mr(far.pd, map[i], PAGE, ACCESS));
	}
	fill(near.memory, PAGE, 3);
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), (uintptr_t)map[0], mr[0]->rkey));
	await(near.cq);
	MUST(ibv_dereg_mr(mr[0]));
	MUST(munmap(map[0], PAGE));
	POST(near, request(IBV_WR_RDMA_READ, one_piece(&near, PAGE, PAGE), (uintptr_t)map[1],
			   mr[1]->rkey));
	await(near.cq);
	CHECK(is_filled(near.memory + PAGE, PAGE, 3));
	MUST(ibv_dereg_mr(mr[1]));
	MUST(munmap(map[1], PAGE));
	close(fd);
	pair_close();
	return 0;
}
