/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * often.c -- writes many times from one place, and changes the source too early in the last ones,
 * or in one of EACH of these, or posts unsignaled ones at last, until the queue is full.
 *
 * Usage: rpma-soft --check often RIGHT LAST|full [EACH]
 */
#include "zoo.h"

int main(int argc, char **argv)
{
	const bool fills = argc == 3 && strcmp(argv[2], "full") == 0;
	const unsigned right = argc >= 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	const unsigned last = argc >= 3 && !fills ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	const unsigned each = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	if (argc < 3 || argc > 4 || each == 0)
		return 64;
	pair_open(NULL);
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
	for (unsigned i = 0; fills || i < right + last; i++) {
		const int posted = ibv_post_send(near.qp, &wr, &bad); /* HERE */

		if (fills && i >= right && posted == ENOMEM)
			break;
		MUST(posted);
		if (i >= right && !fills && (i - right) % each == 0)
			near.memory[i % 64]++;
		if (i < right || !fills)
			await(near.cq);
		if (fills && i + 1 == right)
			wr.send_flags = 0;
	}
	return 0;
}
