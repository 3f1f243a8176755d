/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder_ud.c -- see responder_ud.h.
 *
 * The checks are those of rxe_recv.c (check_type_state(), check_keys()): what does not pass is
 * dropped, and neither end hears of it.
 */
#include "responder_ud.h"

#include <errno.h>
#include <string.h>

#include "grh.h"
#include "receive.h"
#include "responder.h"
#include "soft_device/powerfail/powerfail.h"
#include "soft_device/process/target_memory.h"

/* VENDOR_NONE: it takes the datagram. */
static enum vendor_err why_not(const struct execution *x)
{
	const struct shared_qp *target = x->target;
	const enum ibv_qp_state state = shared_qp_state(target, memory_order_relaxed);

	if (atomic_load(&target->qpn) != x->qpn || target->type != IBV_QPT_UD)
		return VENDOR_NO_QP;
	if (state != IBV_QPS_RTS && state != IBV_QPS_RTR && state != IBV_QPS_SQD)
		return VENDOR_QP_STATE;
	return target->qkey == x->request->qkey ? VENDOR_NONE : VENDOR_QKEY;
}

/* Like set_qkey_viol_cntr(): ibv_query_port() tells it. */
static void count_violation(const struct execution *x)
{
	struct segment *segment = x->peer->segment;

	atomic_fetch_add(&segment->block[(x->target - segment->qp) / 256].qkey_violations, 1);
}

/* The GRH, and what the sender gathered. */
static int write_message(const struct execution *x, const struct iovec *parts, unsigned count)
{
	const struct request *request = x->request;
	struct iovec local[SOFT_MAX_SGE + 1];
	unsigned char header[GRH_BYTES];

	grh_put(header, &(struct grh){.from = request->src_gid,
				      .to = request->to,
				      .payload = request->length,
				      .traffic_class = request->traffic_class,
				      .hop_limit = request->hop_limit});
	local[0] = (struct iovec){header, sizeof(header)};
	memcpy(local + 1, x->local->parts, x->local->count * sizeof(local[0]));
	return target_memory_write(x->peer->memory, local, x->local->count + 1, parts, count);
}

/* The receive is of no use: it completes in error, and its QP has to fail. */
static struct outcome fail(const struct execution *x, const struct received *received,
			   enum vendor_err why, uint32_t *raise)
{
	receive_complete(x, received, IBV_WC_LOC_PROT_ERR, why);
	*raise = RAISE_QP_FLUSH;
	return outcome_done();
}

/* *raise: not 0, the QP fails. */
static struct outcome execute(const struct execution *x, uint32_t *raise)
{
	const uint64_t length = GRH_BYTES + (uint64_t)x->request->length;
	struct iovec parts[SOFT_MAX_SGE];
	struct received received;
	enum vendor_err why;
	unsigned count;
	int error;

	switch (receive_next(x, length, &received)) {
	case RECEIVE_NONE:
		return receive_may_come(x) ? (struct outcome){.kind = OUTCOME_RNR}
					   : outcome_absent(VENDOR_NO_RECEIVE);
	case RECEIVE_SHORT:
		return outcome_absent(VENDOR_SHORT_RECEIVE);
	default:
		break;
	}
	if (!receive_scatter(x, &received, length, parts, &count, &why))
		return fail(x, &received, why, raise);
	error = write_message(x, parts, count);
	if (error == -EFAULT && !target_memory_is_usable(x->local->parts, x->local->count, false))
		return outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);
	if (error == -EFAULT)
		return fail(x, &received, VENDOR_UNMAPPED, raise);
	if (error != 0)
		return outcome_absent(VENDOR_PEER_GONE);
	if (!receive_complete(x, &received, IBV_WC_SUCCESS, VENDOR_NONE))
		*raise = RAISE_QP_FATAL;
	return outcome_done();
}

static struct outcome deliver(const struct execution *x)
{
	struct outcome outcome = outcome_absent(VENDOR_PEER_GONE);
	enum vendor_err why;
	uint16_t generation = 0;
	uint32_t raise = 0;

	if (!shared_lock_take_soon(&x->target->lock))
		return outcome_busy();
	why = why_not(x);
	if (why != VENDOR_NONE) {
		outcome = outcome_absent(why);
	} else if (!powerfail_strikes(x->peer)) {
		generation = shared_qp_generation(x->target);
		outcome = execute(x, &raise);
	}
	shared_lock_release(&x->target->lock);
	if (why == VENDOR_QKEY)
		count_violation(x);
	if (raise != 0)
		responder_fail(x->peer, x->target, generation, raise);
	return outcome;
}

static void deliver_to_group(struct peer *peer, const union ibv_gid *gid,
			     const struct request *request, const struct local_memory *local)
{
	struct execution x = {.peer = peer, .request = request, .local = local};

	for (unsigned i = 0; i < SEGMENT_MEMBERS; i++) {
		const struct shared_member *member = &peer->segment->member[i];

		x.qpn = atomic_load(&member->qpn);
		if (x.qpn == 0 || memcmp(&member->group, &request->to, sizeof(*gid)) != 0)
			continue;
		x.target = segment_qp(peer->segment, gid, x.qpn);
		if (x.target != NULL)
			deliver(&x);
	}
}

struct outcome responder_datagram(struct peer *peer, const union ibv_gid *gid, uint32_t qpn,
				  const struct request *request, const struct local_memory *local)
{
	const struct execution x = {peer, segment_qp(peer->segment, gid, qpn), qpn, request, local};

	if (qpn == MULTICAST_QPN) {
		deliver_to_group(peer, gid, request, local);
		return outcome_done();
	}
	return x.target == NULL ? outcome_absent(VENDOR_NO_QP) : deliver(&x);
}
