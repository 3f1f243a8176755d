/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer ends; a write to it fails, the program sees that it does, and ends well itself. */
#include "zoo.h"

#include <sys/wait.h>

int main(void)
{
	struct ibv_wc wc;
	int status;

	if (!processes_open(NULL))
		return 0;
	CHECK(wait(&status) > 0 && status == 0);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	wc = next_wc(near.cq);
	/* or the queue pair had failed before the post, as the device notices the end by itself */
	CHECK(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
	qp_to(near.qp, IBV_QPS_ERR);
	end_close(&near);
	return 0;
}
