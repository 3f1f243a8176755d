/* SPDX-License-Identifier: BSD-3-Clause */
/* The send queue is full when the process forks. The child uses a device of its own, and ends; the
 * parent polls, and posts what had no room. */
#include "zoo.h"

#include <sys/wait.h>

static void write_one(void)
{
	fill(near.memory, 64, 7);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	await(near.cq);
	CHECK(is_filled(far.memory, 64, 7));
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	int status, posted = 0;
	pid_t child;

	pair_open(NULL);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64);
	/* rxe grants more slots than the completion queue has room for */
	while (posted < 64 && ibv_post_send(near.qp, &wr, &bad) == 0)
		posted++;
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		pair_open(NULL);
		write_one();
		pair_close();
		exit(0);
	}
	await(near.cq);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	while (posted-- > 0)
		await(near.cq);
	write_one();
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	pair_close();
	return 0;
}
