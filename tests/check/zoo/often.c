/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * often.c -- writes many times from one place, and changes the source too early in the last ones.
 *
 * Usage: rpma-soft --check often RIGHT WRONG
 */
#include "zoo.h"

int main(int argc, char **argv)
{
	const unsigned right = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	const unsigned wrong = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	if (argc != 3)
		return 64;
	pair_open(NULL);
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
	for (unsigned i = 0; i < right + wrong; i++) {
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
		if (i >= right)
			near.memory[i % 64]++;
		await(near.cq);
	}
	return 0;
}
