/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: post-in-state; at main; INIT */
/* SHOWS: Invalid argument */
/* A novice believed that requests which are posted early go out as soon as there is a peer. */
#include "zoo.h"

int main(void)
{
	end_open(&near, NULL);
	names("%#x", near.qp->qp_num);
	POST(near, a_send(0, 64)); /* HERE */
	return 0;
}
