/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adversary_instructions.c -- on the software device: a write of 64 bytes and the polls until its
 * completion; adversary_instructions.py runs it and counts.
 */
#include "counting.h"
#include "tests/device/pair.h"

static struct ibv_send_wr *write_wr;

static int nothing(void)
{
	return 0;
}

static int write_64(void)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int polled;

	if (ibv_post_send(w.near.qp, write_wr, &bad) != 0)
		return -1;
	do
		polled = ibv_poll_cq(w.near.cq, 1, &wc);
	while (polled == 0);
	return polled == 1 && wc.status == IBV_WC_SUCCESS ? 0 : -1;
}

int main(void)
{
	int ret = 0;

	setup_pair(NULL);
	write_wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);
	done(write_wr); /* the ends are linked then */
	ret |= count("nothing", nothing);
	ret |= count("write", write_64);
	return ret != 0;
}
