/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_gpspm.c -- one RDMA write and a message that asks the server
 * to make it persistent (the general purpose method): timed until its answer
 * has arrived.
 *
 * gpspm and gpspm-rt differ in how the server waits for requests: by events,
 * or by polling its queue.
 */
#include "tools/rpma-bench/measure/operation.h"

#include "common/rdma/gpspm.h"

static uint8_t *note_at(const struct qp *qp, uint64_t offset)
{
	void *notes;

	/* cannot fail: the region is there as long as the queue pair */
	return rpma_mr_get_ptr(qp->notes, &notes) == 0 ? (uint8_t *)notes + offset : NULL;
}

static uint64_t note_offset(const struct qp *qp, uint32_t slot)
{
	return qp->notes_offset + (uint64_t)slot * OPERATION_NOTE_BYTES;
}

static int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	uint64_t note = note_offset(qp, slot);
	const struct persist_request request = {
		.slot = slot,
		.offset = access_offset(&qp->access, target_slot),
		.length = qp->size_bytes,
	};
	int ret = operation_write_slot(qp, target_slot, slot, qp->leading);

	if (ret)
		return ret;
	persist_encode_request(&request, note_at(qp, note));
	return rpma_send(qp->conn, qp->notes, note, PERSIST_REQUEST_BYTES, flags,
			 operation_context(slot));
}

static int post(struct qp *qp, uint32_t slot, int flags)
{
	return operation_post_in(qp, &qp->access, slot, flags, post_at);
}

static int arm(struct qp *qp, uint32_t slot)
{
	return rpma_recv(qp->conn, qp->notes, note_offset(qp, slot) + OPERATION_NOTE_ANSWER,
			 PERSIST_ANSWER_BYTES, operation_context(slot));
}

static const char *refusal(const struct qp *qp, uint32_t slot, uint32_t at, uint32_t bytes)
{
	struct persist_answer answer;

	if (persist_decode_answer(note_at(qp, note_offset(qp, at) + OPERATION_NOTE_ANSWER), bytes,
				  &answer) != 0 ||
	    answer.slot != slot)
		return "the server answered something else than what it was asked";
	switch (answer.status) {
	case PERSIST_DONE:
		return NULL;
	case PERSIST_OUTSIDE:
		return "the server reports that the range is outside its target";
	default:
		return "the server could not make it persistent";
	}
}

#define GPSPM(how)                                                                                 \
	{                                                                                          \
		.op = BENCH_WRITE, .persist = (how), .latency_kind = "gpspm_rtt",                  \
		.work_requests = 2, .answered = true, .source_usage = RPMA_MR_USAGE_WRITE_SRC,     \
		.notes_usage = RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, .post = post, .arm = arm,  \
		.refusal = refusal,                                                                \
	}

const struct operation operation_write_gpspm = GPSPM(BENCH_GPSPM);
const struct operation operation_write_gpspm_rt = GPSPM(BENCH_GPSPM_RT);
