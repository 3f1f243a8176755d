/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-byte-swapped; at main; region */
/* SHOWS: remote access error */
/* A novice believed that keys go into a request in network byte order, as immediate data does. */
#include "zoo.h"

#include <arpa/inet.h>

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", there.rkey);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, htonl(there.rkey));
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
