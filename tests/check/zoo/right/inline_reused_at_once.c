/* SPDX-License-Identifier: BSD-3-Clause */
/* Inline data are taken when the request is posted: the buffer is free at once (ibv_post_send(3)).
 */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	unsigned char text[48];
	struct ibv_sge sge = {(uintptr_t)text, sizeof(text), 0}; /* not even registered */

	PAIR_OPEN(o.cap.max_inline_data = sizeof(text));
	for (unsigned i = 0; i < 8; i++)
		receive(&far, 64 * i, 64);
	wr = request(IBV_WR_SEND, &sge, 0, 0);
	wr.send_flags |= IBV_SEND_INLINE;
	for (unsigned i = 0; i < 8; i++) {
		fill(text, sizeof(text), i);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		memset(text, 0, sizeof(text));
	}
	for (unsigned i = 0; i < 8; i++) {
		await(near.cq);
		CHECK(await(far.cq).wr_id == 64 * i);
		CHECK(is_filled(far.memory + 64 * i, sizeof(text), i));
	}
	pair_close();
	return 0;
}
