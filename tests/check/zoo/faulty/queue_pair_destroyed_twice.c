/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: double-destroy; at main; QP */
/* SHOWS: killed|double free|nothing|Invalid|hangs */
/* A novice destroyed a queue pair where it failed, and again where everything is released. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	MUST(ibv_destroy_qp(near.qp));
	may_hang();
	ibv_destroy_qp(near.qp); /* HERE */
	return 0;
}
