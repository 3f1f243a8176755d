/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instructions.c -- each data call, over a provider whose operations do next to nothing;
 * instructions.py runs it and counts.
 */
#include "counting.h"
#include "tests/unit/librpma/world.h"

static int accept_wr(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return 0;
}

static int one_completion(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	wc->wr_id = 1;
	return 1;
}

static int no_completion(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return 0;
}

/* --- the calls to be counted --------------------------------------------- */

static int nothing(void)
{
	return 0;
}

/* The part that rpma_write() cannot avoid: the same work request, posted as verbs programs do. */
static int bare_write(void)
{
	struct ibv_sge sge = {.addr = (uintptr_t)region, .length = 8, .lkey = 0x10000};
	struct ibv_send_wr *bad_wr;
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)region, .rkey = 0x20000},
	};

	return ibv_post_send(provider.qp, &wr, &bad_wr);
}

static int write_8(void)
{
	return rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, w.conn);
}

static int read_8(void)
{
	return rpma_read(w.conn, w.mr, 0, w.remote, 0, 8, RPMA_F_COMPLETION_ALWAYS, w.conn);
}

static int flush_8(void)
{
	return rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			  RPMA_F_COMPLETION_ALWAYS, w.conn);
}

static int send_8(void)
{
	return rpma_send(w.conn, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, w.conn);
}

static int get_wc(void)
{
	struct ibv_wc wc;

	return rpma_cq_get_wc(w.cq, 1, &wc, NULL);
}

/* A program that polls does this most of the time. */
static int get_no_wc(void)
{
	struct ibv_wc wc;

	return rpma_cq_get_wc(w.cq, 1, &wc, NULL) != RPMA_E_NO_COMPLETION;
}

/* --- DEPTH writes, of which every BATCH-th leaves a completion, and those fetched ------- */

enum { DEPTH = 64, BATCH = 32, LIST = 16, LINE = 64 };

/* Posts a list with one doorbell for each full batch; 1.2.0 has no flag for it, and posts each. */
static int pipeline(int flags_of_most, int flags_of_last)
{
	struct rpma_conn *const conn = w.conn;
	struct rpma_mr_remote *const remote = w.remote;
	const struct rpma_mr_local *const mr = w.mr;
	int ret = 0;

	for (size_t at = 0; at < DEPTH * LINE; at += LINE) {
		struct ibv_wc wc;

		for (size_t end = at + (BATCH - 1) * LINE; at < end; at += LINE)
			ret |= rpma_write(conn, remote, at, mr, at, LINE, flags_of_most, NULL);
		ret |= rpma_write(conn, remote, at, mr, at, LINE, flags_of_last, NULL);
		ret |= rpma_cq_get_wc(w.cq, 1, &wc, NULL);
	}
	return ret;
}

static int writes_of_1_2(void)
{
	return pipeline(RPMA_F_COMPLETION_ON_ERROR, RPMA_F_COMPLETION_ALWAYS);
}

static int writes_with_more(void)
{
	return pipeline(RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE, RPMA_F_COMPLETION_ALWAYS);
}

/* A list, with the completion of its last: what a group commit does. */
static int list_of_16(void)
{
	struct rpma_conn *const conn = w.conn;
	struct ibv_wc wc;
	int ret = 0;

	for (size_t i = 0; i < LIST - 1; i++)
		ret |= rpma_write(conn, w.remote, i * LINE, w.mr, i * LINE, LINE,
				  RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE, NULL);
	ret |= rpma_write(conn, w.remote, (LIST - 1) * LINE, w.mr, (LIST - 1) * LINE, LINE,
			  RPMA_F_COMPLETION_ALWAYS, NULL);
	return ret | rpma_cq_get_wc(w.cq, 1, &wc, NULL);
}

int main(void)
{
	int ret = 0;

	setup_mr(NULL);
	make_cfg();
	expect(0, rpma_conn_cfg_set_sq_size(w.cfg, DEPTH));
	make_req();
	make_conn();
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING));
	provider.context->ops.post_send = accept_wr;
	provider.context->ops.poll_cq = one_completion;
	ret |= count("nothing", nothing);
	ret |= count("bare ibv_post_send", bare_write);
	ret |= count("rpma_write", write_8);
	ret |= count("rpma_read", read_8);
	ret |= count("rpma_flush", flush_8);
	ret |= count("rpma_send", send_8);
	ret |= count("rpma_cq_get_wc", get_wc);
	ret |= count("64 writes", writes_of_1_2);
	ret |= count("64 writes, RPMA_F_MORE", writes_with_more);
	ret |= count("list of 16", list_of_16);
	provider.context->ops.poll_cq = no_completion;
	ret |= count("rpma_cq_get_wc, empty", get_no_wc);
	teardown(NULL);
	return ret != 0;
}
