/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; QP */
/* SHOWS: RNR retry counter exceeded */
/* A novice set rnr_retry_count where the server accepts, and believed that it is for its sends. */
#include "zoo.h"

int main(void)
{
	struct rdma_conn_param client = cm_param(), server = cm_param();

	client.rnr_retry_count = 0; /* which is that of the server's sends */
	server.rnr_retry_count = 7;
	cm_open(NULL, &client, &server);
	names("%#x", far.qp->qp_num);
	names("0 here");
	names("rnr_retry 7");
	names("rdma_connect");
	POST(far, request(IBV_WR_SEND, one_piece(&far, 0, 64), 0, 0)); /* HERE */
	await(far.cq);
	return 0;
}
