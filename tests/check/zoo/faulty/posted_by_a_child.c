/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: used-by-fork-child; at main; QP */
/* SHOWS: Input/output error|nothing|hangs */
/* A novice believed that a child of fork() shares a queue pair as it shares a socket. */
#include "zoo.h"

#include <sys/wait.h>

int main(void)
{
	struct ibv_send_wr wr, *bad;
	int status = 0;
	pid_t pid;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	may_hang();
	pid = fork();
	if (pid == 0) {
		may_hang();
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
		await(near.cq);
		return 0;
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
