/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_why.c -- why a request failed, for `rpma-soft --check`: the check that refused it, with
 * the region as it is at the side that has it, and the places where both were made.
 */
#include <byteswap.h>
#include <unistd.h>

#include "mr_check.h"
#include "recv_ring.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/mapping.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"
#include "sq_check.h"
#include "sq_region.h"
#include "sq_watch.h"

static const char *const operations[REQUEST_NAMES] = {
	[REQUEST_WRITE] = "an RDMA write",
	[REQUEST_WRITE_IMM] = "an RDMA write with immediate data",
	[REQUEST_READ] = "an RDMA read",
	[REQUEST_SEND] = "a send",
	[REQUEST_SEND_IMM] = "a send with immediate data",
	[REQUEST_COMPARE_SWAP] = "a compare and swap",
	[REQUEST_FETCH_ADD] = "a fetch and add",
	[REQUEST_ATOMIC_WRITE] = "an atomic write",
	[REQUEST_FLUSH] = "a flush",
	[REQUEST_SEND_INV] = "a send with invalidate",
	[REQUEST_BIND_MW] = "a bind of a memory window",
	[REQUEST_LOCAL_INV] = "a local invalidate",
};

static const char *operation(const struct send_work *work)
{
	return operations[sq_opcodes[work->opcode].op];
}

static unsigned long long length_of(const struct send_work *work)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];

	if (opcode->op == REQUEST_FLUSH)
		return work->request.length;
	return opcode->eight ? 8 : sq_length(work);
}

/* --- which kind --- */

static const enum check_kind remote_kinds[VENDOR_ERRS] = {
	[VENDOR_KEY_UNKNOWN] = CHECK_RKEY_UNKNOWN,  [VENDOR_KEY_STALE] = CHECK_RKEY_STALE,
	[VENDOR_KEY_PD] = CHECK_RKEY_OTHER_PD,	    [VENDOR_KEY_RANGE] = CHECK_RANGE_BEYOND,
	[VENDOR_KEY_RIGHT] = CHECK_RIGHT_MISSING,   [VENDOR_UNMAPPED] = CHECK_MEMORY_UNMAPPED,
	[VENDOR_WINDOW_UNBOUND] = CHECK_RKEY_STALE,
};

static const enum check_kind local_kinds[VENDOR_ERRS] = {
	[VENDOR_KEY_UNKNOWN] = CHECK_LKEY_UNKNOWN,
	[VENDOR_KEY_STALE] = CHECK_LKEY_STALE,
	[VENDOR_KEY_PD] = CHECK_LKEY_OTHER_PD,
	[VENDOR_KEY_RANGE] = CHECK_LOCAL_RANGE_BEYOND,
	[VENDOR_KEY_RIGHT] = CHECK_LOCAL_RIGHT_MISSING,
	[VENDOR_UNMAPPED] = CHECK_MEMORY_UNMAPPED,
};

static bool is_about_key(enum vendor_err why)
{
	return (why >= VENDOR_KEY_UNKNOWN && why <= VENDOR_UNMAPPED) ||
	       why == VENDOR_WINDOW_UNBOUND;
}

/* The lkey as the program has it. */
static uint32_t lkey_given(uint32_t key)
{
	return key >> 8 < SEGMENT_MRS ? key | CHECK_LKEY : key;
}

/* The right that the operation needs in the peer's region. */
static uint32_t right_of(const struct send_work *work)
{
	const enum soft_op kind = sq_opcodes[work->opcode].kind;

	if (kind == SOFT_OP_READ)
		return IBV_ACCESS_REMOTE_READ;
	return kind == SOFT_OP_ATOMIC ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_WRITE;
}

/* Other errors of a request. CHECK_KINDS: none that the program made. */
static enum check_kind other_kind(enum ibv_wc_status status, enum vendor_err why)
{
	switch (why) {
	case VENDOR_QP_RIGHT:
	case VENDOR_NO_READS:
		return CHECK_RIGHT_MISSING;
	case VENDOR_ALIGNMENT:
		return CHECK_ATOMIC_UNALIGNED;
	case VENDOR_TOO_LONG:
		return CHECK_MESSAGE_TOO_LONG;
	case VENDOR_NO_RECEIVE:
		return status == IBV_WC_RNR_RETRY_EXC_ERR ? CHECK_RNR : CHECK_KINDS;
	case VENDOR_SHORT_RECEIVE:
		return CHECK_RECEIVE_TOO_SMALL;
	case VENDOR_MTU:
		return CHECK_PATH_MTU;
	case VENDOR_ROCE:
		return CHECK_GID_VERSION;
	case VENDOR_QKEY:
		return CHECK_QKEY;
	default:
		return CHECK_KINDS;
	}
}

/* --- sentences --- */

/* A key that no region has may have another meaning. */
static enum check_kind what_key_is(const struct send_queue *sq, uint32_t rkey)
{
	const uint32_t key = rkey & ~CHECK_LKEY;

	if ((rkey & CHECK_LKEY) != 0 && (sq_region_is_live(sq, key) || sq_own_region(key).is_known))
		return CHECK_LKEY_FOR_RKEY;
	if (sq_region_is_live(sq, bswap_32(rkey)))
		return CHECK_RKEY_BYTE_SWAPPED;
	return CHECK_RKEY_UNKNOWN;
}

/* It has changed since, or what its process told over TCP is not so. */
static bool is_contradicted(const struct sq_region *region, enum check_kind kind,
			    const struct send_work *work)
{
	const uint64_t offset = work->request.remote_addr - region->object.addr;
	const uint64_t length = length_of(work);

	if (kind == CHECK_RKEY_STALE)
		return !region->object.is_gone;
	return kind == CHECK_RANGE_BEYOND && offset <= region->object.length &&
	       length <= region->object.length - offset;
}

static void put_region(struct check_finding *finding, const struct send_queue *sq,
		       enum check_kind kind, const struct sq_region *region, bool contradicted)
{
	if (contradicted)
		check_line(finding, "region",
			   "unknown: what its process tells of it does not agree with the refusal");
	else if (region->is_known)
		sq_region_put(finding, "region", region);
	else if (kind != CHECK_RKEY_UNKNOWN && sq->peer != NULL && sq->peer->segment == NULL)
		check_line(finding, "region",
			   "not told over TCP: the peer is not checked, or has forgotten it");
}

static void tell_remote_key(struct check_finding *finding, const struct send_queue *sq,
			    const struct send_work *work, enum check_kind kind, uint32_t stack)
{
	const unsigned long long length = length_of(work);
	const char *what = operation(work);
	uint32_t key = work->request.rkey;
	char distance[CHECK_TEXT_BYTES], names[NAMES_BYTES];
	struct sq_region region;
	bool contradicted;

	if (kind == CHECK_LKEY_FOR_RKEY)
		key &= ~CHECK_LKEY;
	else if (kind == CHECK_RKEY_BYTE_SWAPPED)
		key = bswap_32(key);
	region = kind == CHECK_LKEY_FOR_RKEY && !sq_region_is_live(sq, key)
			 ? sq_own_region(key)
			 : sq_target_region(sq, key);
	contradicted = region.is_known && is_contradicted(&region, kind, work);
	if (kind == CHECK_RANGE_BEYOND && region.is_known && !contradicted) {
		sq_region_put_distance(&region.object, work->request.remote_addr, length, distance);
		check_find(finding, kind, stack, "%s of %llu bytes %s the %s of rkey %#x", what,
			   length, distance, region.is_window ? "window" : "region",
			   work->request.rkey);
	} else if (kind == CHECK_RKEY_BYTE_SWAPPED) {
		check_find(finding, kind, stack,
			   "%s has rkey %#x, and the peer has a region with rkey %#x", what,
			   work->request.rkey, key);
	} else {
		check_find(finding, kind, stack, "%s of %llu bytes with rkey %#x: %s", what, length,
			   work->request.rkey, check_kinds[kind].what);
	}
	check_line(finding, "requested",
		   "%#llx .. %#llx   rkey %#x, wr_id %#llx, QP %#x, process %d",
		   (unsigned long long)work->request.remote_addr,
		   (unsigned long long)(work->request.remote_addr + length), work->request.rkey,
		   (unsigned long long)work->wr_id, sq->qpn, (int)getpid());
	put_region(finding, sq, kind, &region, contradicted);
	if (kind == CHECK_RIGHT_MISSING)
		check_line(finding, "lacks", "%s", sq_check_rights(right_of(work), names));
}

static void tell_local_key(struct check_finding *finding, const struct ibv_sge *part,
			   enum check_kind kind, uint32_t stack, const char *what, uint32_t qpn)
{
	const struct sq_region region = sq_own_region(part->lkey);
	char distance[CHECK_TEXT_BYTES];

	if (kind == CHECK_LOCAL_RANGE_BEYOND && region.is_known) {
		sq_region_put_distance(&region.object, part->addr, part->length, distance);
		check_find(finding, kind, stack,
			   "a piece of %s, of %u bytes, %s the region of its lkey", what,
			   part->length, distance);
	} else {
		check_find(finding, kind, stack, "a piece of %s, of %u bytes with lkey %#x: %s",
			   what, part->length, lkey_given(part->lkey), check_kinds[kind].what);
	}
	check_line(finding, "memory", "%#llx .. %#llx   lkey %#x, QP %#x",
		   (unsigned long long)part->addr, (unsigned long long)part->addr + part->length,
		   lkey_given(part->lkey), qpn);
	sq_region_put(finding, "region", &region);
	if (kind == CHECK_LOCAL_RIGHT_MISSING)
		check_line(finding, "lacks", "LOCAL_WRITE");
}

/* The target of the requests, and its segment; NULL: it is not seen from here. */
static const struct shared_qp *target_of(const struct send_queue *sq, const struct send_work *work,
					 struct segment **segment)
{
	const bool is_datagram = sq->ud != NULL;

	*segment = process_current->segment;
	if (!is_datagram && !sq_is_own_process(sq))
		*segment = sq->peer == NULL ? NULL : sq->peer->segment;
	if (*segment == NULL)
		return NULL;
	return segment_qp(*segment, is_datagram ? &work->request.to : &sq->path.gid,
			  is_datagram ? work->qpn : sq->path.qpn);
}

static const struct shared_ring *ring_of(const struct segment *segment, const struct shared_qp *qp)
{
	return qp->srq < SEGMENT_SRQS ? &segment->srq[qp->srq].rq : &qp->rq;
}

/* The receive that a message was refused for; NULL: a newer one has taken its slot. */
static const struct shared_recv *refused_receive(struct segment *segment,
						 const struct shared_ring *ring,
						 const struct shared_refusal *refusal)
{
	const uint32_t slots = ring->slots;
	const struct shared_recv *recv;

	if (slots == 0 || slots > SOFT_MAX_WR ||
	    atomic_load(&ring->head) - refusal->position > slots)
		return NULL;
	recv = segment_at(segment, ring->offset + (uint64_t)(refusal->position & (slots - 1)) *
							  ring->stride);
	return recv->wr_id == refusal->wr_id && recv->num_sge <= SOFT_MAX_SGE ? recv : NULL;
}

static uint64_t room_of(const struct shared_recv *recv)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < recv->num_sge; i++)
		room += recv->sge[i].length;
	return room;
}

/* Each end has an rnr_retry, and that of the sender counts. */
static void put_retries(struct check_finding *finding, const struct send_queue *sq,
			const struct shared_qp *target)
{
	check_line(finding, "rnr_retry",
		   "%u here, of ibv_modify_qp(), or rnr_retry_count that the peer gave to "
		   "rdma_connect() or rdma_accept()",
		   sq->path.rnr_retry);
	if (target != NULL)
		check_line(finding, "of the peer", "rnr_retry %u, which is for what the peer sends",
			   target->rnr_retry);
}

static void put_receives(struct check_finding *finding, const struct segment *segment,
			 const struct shared_qp *target)
{
	const struct shared_ring *ring = ring_of(segment, target);
	const uint32_t head = atomic_load(&ring->head);

	check_line(finding, "at the peer", "%u receives wait now%s, %u were posted so far",
		   head - atomic_load(&ring->tail), target->srq < SEGMENT_SRQS ? " in its SRQ" : "",
		   head);
}

/* The receive that was too small: by now it was taken, or for a datagram it is the next one. */
static void put_room(struct check_finding *finding, const struct send_queue *sq,
		     struct segment *segment, const struct shared_qp *target)
{
	const struct shared_ring *ring = ring_of(segment, target);
	const struct shared_recv *recv;

	if (sq->ud != NULL)
		check_line(finding, "header", "40 bytes of each receive are for it");
	recv = sq->ud != NULL ? recv_ring_peek(segment, ring)
			      : refused_receive(segment, ring, &target->refusal);
	if (recv != NULL)
		check_line(finding, "receive", "%llu bytes, wr_id %#llx%s",
			   (unsigned long long)room_of(recv), (unsigned long long)recv->wr_id,
			   target->srq < SEGMENT_SRQS ? ", of an SRQ" : "");
}

static void find_other(struct check_finding *finding, const struct send_queue *sq,
		       const struct send_work *work, enum check_kind kind, uint32_t stack)
{
	const unsigned long long length = length_of(work);
	const char *what = operation(work);
	struct segment *segment;
	const struct shared_qp *target = target_of(sq, work, &segment);

	if (kind == CHECK_RNR)
		check_find(finding, kind, stack,
			   "%s of %llu bytes found no receive at the peer, %u times", what, length,
			   sq->path.rnr_retry + 1u);
	else if (kind == CHECK_ATOMIC_UNALIGNED)
		check_find(finding, kind, stack,
			   "%s at %#llx, which is %llu bytes behind a multiple of 8", what,
			   (unsigned long long)work->request.remote_addr,
			   (unsigned long long)(work->request.remote_addr % 8));
	else if (kind == CHECK_MESSAGE_TOO_LONG)
		check_find(finding, kind, stack, "%s of %llu bytes, and max_msg_sz is %u", what,
			   (unsigned long long)sq_length(work), SOFT_MAX_MESSAGE);
	else if (kind == CHECK_PATH_MTU && target != NULL)
		check_find(finding, kind, stack,
			   "%s of %llu bytes: path_mtu is %u here and %u at the peer", what, length,
			   framing_bytes(sq->path.framing),
			   framing_bytes(atomic_load(&target->framing)));
	else if (kind == CHECK_QKEY && target != NULL)
		check_find(finding, kind, stack,
			   "%s of %llu bytes with Q_Key %#x, and the Q_Key of its QP is %#x", what,
			   length, work->request.qkey, target->qkey);
	else
		check_find(finding, kind, stack, "%s of %llu bytes: %s", what, length,
			   check_kinds[kind].what);
}

static void tell_other(struct check_finding *finding, const struct send_queue *sq,
		       const struct send_work *work, enum check_kind kind, uint32_t stack)
{
	struct segment *segment;
	const struct shared_qp *target = target_of(sq, work, &segment);
	char names[NAMES_BYTES];

	find_other(finding, sq, work, kind, stack);
	check_line(finding, "request", "wr_id %#llx, QP %#x to QP %#x, process %d",
		   (unsigned long long)work->wr_id, sq->qpn,
		   sq->ud != NULL ? work->qpn : sq->path.qpn, (int)getpid());
	if (kind == CHECK_RNR)
		put_retries(finding, sq, target);
	if (kind == CHECK_RNR && target != NULL)
		put_receives(finding, segment, target);
	if (kind == CHECK_RECEIVE_TOO_SMALL && target != NULL)
		put_room(finding, sq, segment, target);
	if (kind == CHECK_RIGHT_MISSING && target != NULL)
		check_line(finding, "of the peer", "qp_access_flags %s, max_dest_rd_atomic %u",
			   sq_check_rights(target->access, names), target->max_dest_rd_atomic);
}

static enum check_kind kind_of(const struct send_queue *sq, const struct send_work *work,
			       enum ibv_wc_status status, enum vendor_err why)
{
	if (sq_is_local(work))
		return CHECK_KINDS;
	if (!is_about_key(why))
		return other_kind(status, why);
	if (status == IBV_WC_LOC_PROT_ERR)
		return local_kinds[why];
	return why == VENDOR_KEY_UNKNOWN ? what_key_is(sq, work->request.rkey) : remote_kinds[why];
}

/*
 * Pages that a call of the program took away are known; others went with free() or its like, or can
 * still be read: mprotect() has them read-only.
 */
static enum check_kind how_region_went(const struct object *region, uint64_t addr, uint64_t length)
{
	const uint64_t memory = region->memory + (addr - region->addr);

	if (region->unmapped_at != 0)
		return CHECK_MEMORY_UNMAPPED;
	return region->freed_at == 0 && mapping_check(memory, length, false) == 0
		       ? CHECK_MEMORY_PROTECTED
		       : CHECK_MEMORY_FREED;
}

static enum check_kind how_memory_went(const struct send_queue *sq, const struct send_work *work,
				       const struct ibv_sge *part, enum ibv_wc_status status)
{
	struct object region;

	if (status == IBV_WC_LOC_PROT_ERR) {
		if (part != NULL && objects_find(OBJECT_MR, part->lkey, &region))
			return how_region_went(&region, part->addr, part->length);
	} else if (sq_is_own_process(sq) && objects_find(OBJECT_MR, work->request.rkey, &region)) {
		return how_region_went(&region, work->request.remote_addr, length_of(work));
	}
	return CHECK_MEMORY_UNMAPPED;
}

void sq_check_failed(const struct send_queue *sq, const struct send_work *work,
		     enum ibv_wc_status status, enum vendor_err why)
{
	const uint32_t stack = sq_check_stack(sq, sq->completed);
	enum check_kind kind = kind_of(sq, work, status, why);
	struct check_finding finding;
	const struct ibv_sge *part;
	enum vendor_err now;

	if (kind == CHECK_KINDS)
		return;
	part = sq_bad_part(sq, work, &now);
	if (kind == CHECK_LKEY_STALE && part != NULL && sq_check_is_lost(sq, work, part))
		return;
	if (part == NULL && work->num_sge > 0)
		part = work->sge;
	if (kind == CHECK_MEMORY_UNMAPPED)
		kind = how_memory_went(sq, work, part, status);
	if (is_about_key(why) && status == IBV_WC_LOC_PROT_ERR && part != NULL)
		tell_local_key(&finding, part, kind, stack, operation(work), sq->qpn);
	else if (is_about_key(why))
		tell_remote_key(&finding, sq, work, kind, stack);
	else
		tell_other(&finding, sq, work, kind, stack);
	check_place(&finding, "posted at", stack);
	check_line(&finding, "outcome", "IBV_WC_%s (vendor_err %d), and QP %#x is in ERR",
		   name_of_status(status), (int)why, sq->qpn);
	check_report(&finding);
}

/* The same checks refuse what is unreliable, and neither end is told. */
void sq_check_lost(const struct send_queue *sq, const struct send_work *work, enum vendor_err why)
{
	const uint32_t stack = sq_check_stack(sq, sq->completed);
	const enum check_kind kind = kind_of(sq, work, IBV_WC_REM_ACCESS_ERR, why);
	struct check_finding finding;

	if (kind == CHECK_KINDS)
		return;
	if (is_about_key(why))
		tell_remote_key(&finding, sq, work, kind, stack);
	else
		tell_other(&finding, sq, work, kind, stack);
	check_place(&finding, "posted at", stack);
	check_line(&finding, "outcome", "the message is lost, and no completion tells it");
	check_report(&finding);
}

/* --- at the other end --- */

/* An SRQ has a domain of its own. */
static uint32_t pd_of_receives(const struct segment *segment, const struct shared_qp *qp)
{
	return qp->srq < SEGMENT_SRQS ? segment->srq[qp->srq].pd : qp->pd;
}

/* The first piece that cannot be used; the first of all where all can by now. */
static const struct ibv_sge *bad_receive_part(const struct shared_recv *recv, uint32_t pd)
{
	for (uint32_t i = 0; i < recv->num_sge; i++)
		if (recv->sge[i].length != 0 &&
		    mr_reason(process_current->segment, recv->sge[i].lkey, pd, recv->sge[i].addr,
			      recv->sge[i].length, IBV_ACCESS_LOCAL_WRITE) != VENDOR_NONE)
			return &recv->sge[i];
	return recv->sge;
}

/* The region was still there when the receive was posted. */
static bool is_gone_since(const struct sq_check_receive *posted, uint32_t lkey)
{
	struct object region;

	return objects_find(OBJECT_MR, lkey, &region) && region.is_gone &&
	       region.gone_as > posted->gone_before;
}

/* A receive of ours had memory that cannot be used: the fault is here. */
static void tell_receive(const struct shared_qp *qp, const struct shared_refusal *refusal)
{
	const enum vendor_err why = (enum vendor_err)refusal->why;
	struct segment *segment = process_current->segment;
	const struct shared_ring *ring = ring_of(segment, qp);
	enum check_kind kind = local_kinds[why];
	struct ibv_sge part = {0, refusal->length, 0};
	const struct shared_recv *recv;
	struct sq_check_receive posted = {0, 0};
	struct check_finding finding;
	struct object region;

	recv = refused_receive(segment, ring, refusal);
	if (recv != NULL) {
		posted = sq_check_receive_at(ring, refusal->position);
		part = *bad_receive_part(recv, pd_of_receives(segment, qp));
	}
	if (kind == CHECK_LKEY_STALE && is_gone_since(&posted, part.lkey))
		kind = CHECK_DEREG_IN_FLIGHT;
	if (kind == CHECK_MEMORY_UNMAPPED && objects_find(OBJECT_MR, part.lkey, &region))
		kind = how_region_went(&region, part.addr, part.length);
	tell_local_key(&finding, &part, kind, posted.stack, "a receive that a message came to",
		       atomic_load(&qp->qpn));
	check_line(&finding, "message", "%u bytes, for the receive of wr_id %#llx", refusal->length,
		   (unsigned long long)refusal->wr_id);
	check_place(&finding, "posted at", posted.stack);
	check_report(&finding);
}

/* A message did not fit: the peer's process reports it, if it is not this one. */
static void tell_short(const struct shared_qp *qp, const struct shared_refusal *refusal)
{
	struct segment *segment = process_current->segment;
	const struct shared_ring *ring = ring_of(segment, qp);
	const struct shared_recv *recv;
	struct check_finding finding;
	uint32_t stack = 0;

	recv = refused_receive(segment, ring, refusal);
	if (recv != NULL)
		stack = sq_check_receive_at(ring, refusal->position).stack;
	check_find(&finding, CHECK_RECEIVE_TOO_SMALL, stack,
		   "a message of %u bytes came to a receive of %llu bytes of QP %#x",
		   refusal->length, recv == NULL ? 0 : (unsigned long long)room_of(recv),
		   atomic_load(&qp->qpn));
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

/* Our half of what the peer's process reports. */
static void tell_half(const struct shared_qp *qp, const struct shared_refusal *refusal)
{
	const enum vendor_err why = (enum vendor_err)refusal->why;
	const struct sq_region region = sq_own_region(refusal->rkey);
	struct check_finding finding;

	if (!region.is_known || !check_wants_notes())
		return;
	check_find(&finding, remote_kinds[why], region.object.made_at,
		   "the peer of QP %#x sent %s of %u bytes for a region of this process: the "
		   "peer reports it",
		   atomic_load(&qp->qpn), operations[refusal->op], refusal->length);
	finding.level = CHECK_NOTE;
	check_line(&finding, "requested", "%#llx .. %#llx   rkey %#x",
		   (unsigned long long)refusal->remote_addr,
		   (unsigned long long)refusal->remote_addr + refusal->length, refusal->rkey);
	sq_region_put(&finding, "region", &region);
	check_report(&finding);
}

void sq_check_refusal(const struct shared_qp *qp, const struct shared_refusal *refusal)
{
	const enum vendor_err why = (enum vendor_err)refusal->why;
	const bool is_own = atomic_load(&qp->partner) == process_current->segment->identity;
	const bool is_receive = refusal->op == REQUEST_SEND || refusal->op == REQUEST_SEND_IMM ||
				refusal->op == REQUEST_SEND_INV;

	if (refusal->op >= REQUEST_OPS)
		return;
	if (is_receive && why == VENDOR_SHORT_RECEIVE && !is_own)
		tell_short(qp, refusal);
	else if (is_about_key(why) && is_receive)
		tell_receive(qp, refusal);
	else if (is_about_key(why) && !is_own)
		tell_half(qp, refusal);
}
