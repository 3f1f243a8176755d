/* SPDX-License-Identifier: BSD-3-Clause */
/* A region with on-demand paging follows the mapping: its pages may be given back. */
#include "zoo.h"

int main(void)
{
	struct ibv_device_attr_ex device;
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	MUST(ibv_query_device_ex(near.context, NULL, &device));
	pair_close();
	if ((device.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_WRITE) == 0) {
		show("this device has no paging on demand");
		return 0;
	}
	PAIR_OPEN(o.mr_access |= IBV_ACCESS_ON_DEMAND);
	fill(near.memory, 2 * PAGE, 3);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 2 * PAGE);
	for (int i = 0; i < 3; i++) {
		MUST(madvise(far.memory, SIZE, MADV_DONTNEED));
		CHECK(far.memory[0] == 0);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		CHECK(is_filled(far.memory, 2 * PAGE, 3));
	}
	pair_close();
	return 0;
}
