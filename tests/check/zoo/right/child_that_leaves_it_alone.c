/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() that uses none of the parent's objects, and ends, leaves them as they are. */
#include "zoo.h"

#include <sys/wait.h>

int main(void)
{
	struct ibv_send_wr wr, *bad;
	int status = 1;
	pid_t pid;

	MUST(ibv_fork_init());
	pair_open(NULL);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), there.memory, there.rkey);
	for (unsigned i = 0; i < 3; i++) {
		fill(near.memory, PAGE, i);
		pid = fork();
		if (pid == 0)
			_exit(0);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		CHECK(is_filled(far.memory, PAGE, i));
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	pair_close();
	return 0;
}
