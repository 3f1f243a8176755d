/* SPDX-License-Identifier: BSD-3-Clause */
/* Two queue pairs take from one shared queue and complete into one queue: qp_num tells them apart.
 */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();
	struct ibv_qp *far_qp[2], *near_qp[2];
	struct address here, second;
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	receiver.srq_wr = 8;
	pair_open_with(&sender, &receiver);
	near_qp[0] = near.qp;
	far_qp[0] = far.qp;
	near_qp[1] = end_make_qp(&near);
	far_qp[1] = end_make_qp(&far);
	here = end_address(&near);
	second = there;
	here.qp_num = near_qp[1]->qp_num;
	second.qp_num = far_qp[1]->qp_num;
	qp_to_init(&near, near_qp[1]);
	qp_to_init(&far, far_qp[1]);
	qp_connect(&far, far_qp[1], &here);
	qp_connect(&near, near_qp[1], &second);
	for (size_t i = 0; i < 6; i++)
		receive(&far, 64 * i, 64);
	for (unsigned i = 0; i < 6; i++) {
		fill(near.memory, 64, i);
		wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
		MUST(ibv_post_send(near_qp[i % 2], &wr, &bad));
		await(near.cq);
		wc = await(far.cq);
		CHECK(wc.qp_num == far_qp[i % 2]->qp_num &&
		      is_filled(far.memory + wc.wr_id, 64, i));
	}
	MUST(ibv_destroy_qp(near_qp[1]));
	MUST(ibv_destroy_qp(far_qp[1]));
	pair_close();
	return 0;
}
