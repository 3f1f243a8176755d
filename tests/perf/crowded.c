/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crowded.c -- a process with 1,000 queue pairs, in each of which 100 writes of 64 bytes have
 * slots that are not free again; check_memory.py compares its memory with and without checks.
 */
#include "tests/device/end.h"

#define PAIRS  500
#define WRITES 100

static struct end end;
static struct ibv_qp *qps[2 * PAIRS];

static void connect_all(void)
{
	for (int i = 0; i < PAIRS; i++) {
		if (i > 0) {
			end.qp = end_make_qp(&end);
			end_to_init(&end);
		}
		qps[2 * i] = end.qp;
		qps[2 * i + 1] = end_to_another(&end);
	}
}

/* The last one has a completion. */
static void post_all(struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)end.memory, 64, end.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {(uintptr_t)end.memory + 4096, end.mr->rkey}};
	struct ibv_send_wr *bad;

	for (int i = 1; i <= WRITES; i++) {
		wr.send_flags = i == WRITES ? IBV_SEND_SIGNALED : 0;
		OK(ibv_post_send(qp, &wr, &bad));
	}
}

int main(void)
{
	struct end_options options = end_defaults();

	options.cap.max_send_wr = WRITES;
	options.cqe = 2 * PAIRS;
	end_open(&end, &options, -1);
	connect_all();
	for (int i = 0; i < 2 * PAIRS; i++)
		post_all(qps[i]);
	for (int i = 0; i < 2 * PAIRS; i++)
		assert_int_equal(next_wc(end.cq).status, IBV_WC_SUCCESS);
	return 0;
}
