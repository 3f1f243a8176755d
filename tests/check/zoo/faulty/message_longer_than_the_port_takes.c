/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: message-too-long; at main; QP */
/* SHOWS: local length error|local QP operation error|Invalid argument|local protection error */
/* A novice believed that a request may be as long as its memory. */
#include "zoo.h"

int main(void)
{
	struct ibv_port_attr port;
	struct ibv_mr *from, *to;
	struct ibv_sge sge;
	size_t size;
	void *memory;

	pair_open(NULL);
	MUST(ibv_query_port(near.context, 1, &port));
	size = (size_t)port.max_msg_sz + 1;
	memory = HAVE(mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	from = HAVE(ibv_reg_mr(near.pd, memory, size, ACCESS));
	to = HAVE(ibv_reg_mr(far.pd, memory, size, ACCESS));
	names("%zu", size);
	names("%u", port.max_msg_sz);
	sge = (struct ibv_sge){(uintptr_t)memory, (uint32_t)size, from->lkey};
	POST(near, request(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)memory, to->rkey)); /* HERE */
	await(near.cq);
	return 0;
}
