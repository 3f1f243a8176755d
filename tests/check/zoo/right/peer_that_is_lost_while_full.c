/* SPDX-License-Identifier: BSD-3-Clause */
/* The send queue is full, as the peer posts no receives, and then the peer ends. What was refused
 * has nowhere to go any more: the program releases the connection, and ends well. */
#include "zoo.h"

#include <sys/wait.h>

int main(void)
{
	struct ibv_send_wr wr, *bad;
	int status, posted = 0;
	struct ibv_wc wc;

	if (!processes_open(NULL)) {
		meet();
		return 0;
	}
	wr = a_send(0, 64);
	while (ibv_post_send(near.qp, &wr, &bad) == 0)
		posted++;
	meet();
	CHECK(wait(&status) > 0 && status == 0);
	while (posted-- > 0) {
		wc = next_wc(near.cq);
		CHECK(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	end_close(&near);
	return 0;
}
