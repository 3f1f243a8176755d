/* SPDX-License-Identifier: BSD-3-Clause */
/* send.c -- one message, which the server sends back: timed until the echo has arrived. */
#include "tools/rpma-bench/measure/operation.h"

static int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	uint64_t source = access_source(&qp->access, target_slot);

	return rpma_send(qp->conn, qp->source, qp->source_offset + source, qp->size_bytes,
			 flags | qp->inlined, operation_context(slot));
}

static int post(struct qp *qp, uint32_t slot, int flags)
{
	return operation_post_in(qp, &qp->access, slot, flags, post_at);
}

static int arm(struct qp *qp, uint32_t slot)
{
	return rpma_recv(qp->conn, qp->sink, qp->sink_offset + slot * qp->sink_stride,
			 qp->size_bytes, operation_context(slot));
}

static const char *refusal(const struct qp *qp, uint32_t slot, uint32_t at, uint32_t bytes)
{
	(void)slot;
	(void)at;
	return bytes == qp->size_bytes ? NULL : "the server sent back another number of bytes";
}

const struct operation operation_send = {
	.op = BENCH_SEND,
	.persist = BENCH_NONE,
	.latency_kind = "send_rtt",
	.work_requests = 1,
	.answered = true,
	.source_usage = RPMA_MR_USAGE_SEND,
	.sink_usage = RPMA_MR_USAGE_RECV,
	.post = post,
	.arm = arm,
	.refusal = refusal,
};
