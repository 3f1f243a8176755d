/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: receive-too-small; at main; SRQ */
/* SHOWS: remote invalid request error */
/* A novice believed that a shared queue finds a receive that is long enough. */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();

	receiver.srq_wr = 4;
	pair_open_with(&sender, &receiver);
	receive(&far, 0, 128);
	receive(&far, PAGE, 4000);
	names("1000");
	names("128");
	POST(near, a_send(0, 1000)); /* HERE */
	await(near.cq);
	return 0;
}
