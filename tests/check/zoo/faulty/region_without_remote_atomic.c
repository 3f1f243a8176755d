/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: right-missing; at main; REMOTE_ATOMIC */
/* SHOWS: remote access error */
/* A novice believed that who may read and write may also add. */
#include "zoo.h"

int main(void)
{
	PAIR_OPEN(o.mr_access &= ~(unsigned)IBV_ACCESS_REMOTE_ATOMIC);
	names("%#x", there.rkey);
	POST(near, to_peer(IBV_WR_ATOMIC_CMP_AND_SWP, 0, 8)); /* HERE */
	await(near.cq);
	return 0;
}
