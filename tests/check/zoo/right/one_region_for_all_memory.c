/* SPDX-License-Identifier: BSD-3-Clause */
/* An implicit region is all the memory of the process, also what is mapped and unmapped later. */
#include "zoo.h"

int main(void)
{
	const unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;
	struct ibv_device_attr_ex device;
	struct ibv_mr *all;

	pair_open(NULL);
	MUST(ibv_query_device_ex(near.context, NULL, &device));
	if ((device.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT) == 0) {
		show("this device has no implicit regions");
		pair_close();
		return 0;
	}
	all = HAVE(ibv_reg_mr(near.pd, NULL, SIZE_MAX, access));
	for (unsigned i = 0; i < 3; i++) {
		unsigned char *text = HAVE(malloc(1 << 20));

		fill(text, PAGE, i);
		POST(near, request(IBV_WR_RDMA_WRITE, keyed_piece(text, PAGE, all->lkey),
				   there.memory, there.rkey));
		await(near.cq);
		CHECK(is_filled(far.memory, PAGE, i));
		free(text);
	}
	MUST(ibv_dereg_mr(all));
	pair_close();
	return 0;
}
