/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send.c -- one message, which the server sends back: timed until
 * the echo has arrived.
 */
#include "tools/rpma-bench/measure/operation.h"

static int post_at(struct lane *lane, uint64_t target_slot, uint32_t slot, int flags)
{
	uint64_t source = access_source(&lane->access, target_slot);

	return rpma_send(lane->conn, lane->source, lane->source_offset + source, lane->size_bytes,
			 flags | lane->inlined, operation_context(slot));
}

static int post(struct lane *lane, uint32_t slot, int flags)
{
	return operation_post_in(lane, &lane->access, slot, flags, post_at);
}

static int arm(struct lane *lane, uint32_t slot)
{
	return rpma_recv(lane->conn, lane->sink, lane->sink_offset + slot * lane->sink_stride,
			 lane->size_bytes, operation_context(slot));
}

static const char *refusal(const struct lane *lane, uint32_t slot, uint32_t at, uint32_t bytes)
{
	(void)slot;
	(void)at;
	return bytes == lane->size_bytes ? NULL : "the server sent back another number of bytes";
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
