/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-freed; at pool_delete; region */
/* SHOWS: nothing|remote access error */
/*
 * From a cache of key-value blocks (pegaflow issue 403): the pool is freed by its owner while the
 * registration of its memory lives on in the transport, and peers go on writing.
 */
#include "zoo.h"

#define POOL_BYTES (256 * PAGE)

struct pool {
	char *memory;
};

static struct ibv_mr *transport_mr; /* outlives the pool */

static struct pool *pool_new(void)
{
	struct pool *pool = HAVE(malloc(sizeof(*pool)));

	pool->memory = HAVE(malloc(POOL_BYTES));
	transport_mr = HAVE(ibv_reg_mr(far.pd, pool->memory, POOL_BYTES, ACCESS));
	return pool;
}

static void pool_delete(struct pool *pool)
{
	free(pool->memory); /* HERE */
	free(pool);
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct pool *pool;
	uint64_t block;

	pair_open(NULL);
	pool = pool_new();
	names("%#x", transport_mr->rkey);
	block = (uintptr_t)pool->memory + 16 * PAGE;
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), block, transport_mr->rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	pool_delete(pool);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return 0;
}
