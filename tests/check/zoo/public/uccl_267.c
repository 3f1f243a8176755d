/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: inline-too-long + sq-full; at notify; QP */
/* SHOWS: Invalid argument|Cannot allocate memory */
/*
 * From a library for collectives (uccl-project/uccl issue 267): control messages go inline, some
 * are longer than the queue pair was granted and are lost, and completions are never polled.
 */
#include "zoo.h"

static bool notify(uint32_t length)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, one_piece(&near, 0, length), 0, 0), *bad;
	int error;

	wr.send_flags |= IBV_SEND_INLINE;
	error = ibv_post_send(near.qp, &wr, &bad); /* HERE */
	if (error != 0)
		show("%s", strerror(error));
	return error == 0;
}

int main(void)
{
	PAIR_OPEN(o.cap.max_inline_data = 64, o.recv_cqe = 64);
	names("%#x", near.qp->qp_num);
	for (int i = 0; i < 24; i++) {
		receive(&far, 1024, 1024);
		if (notify(i == 3 ? 600 : 48))
			await(far.recv_cq);
	}
	return 1;
}
