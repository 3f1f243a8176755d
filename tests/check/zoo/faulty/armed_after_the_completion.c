/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lost-wakeup; at main; CQ */
/* SHOWS: no event */
/* A novice believed that arming a queue tells of what is in it already. */
#include "zoo.h"

int main(void)
{
	struct pollfd waiting = {.events = POLLIN};
	volatile unsigned char *written;
	struct ibv_send_wr wr, *bad;

	PAIR_OPEN(o.has_channel = true);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	memset(near.memory, 1, 64);
	written = far.memory;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	while (*written != 1)
		;
	usleep(100000);			     /* its completion is there by now */
	MUST(ibv_req_notify_cq(near.cq, 0)); /* HERE */
	waiting.fd = near.channel->fd;
	if (poll(&waiting, 1, 1500) == 0) /* HERE: where it sleeps */
		show("no event");
	await(near.cq);
	return 0;
}
