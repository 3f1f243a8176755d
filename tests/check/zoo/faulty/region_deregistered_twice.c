/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: double-destroy; at release; region */
/* SHOWS: killed|double free|nothing|Invalid|hangs */
/* A novice had two owners of a region, and both of them released it. */
#include "zoo.h"

static void release(struct ibv_mr *mr)
{
	ibv_dereg_mr(mr); /* HERE */
}

int main(void)
{
	struct ibv_mr *mr;

	end_open(&near, NULL);
	mr = near.mr;
	names("%#x", mr->lkey);
	release(mr);
	may_hang();
	release(mr);
	return 0;
}
