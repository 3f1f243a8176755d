/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_ud.c -- see sq_ud.h.
 *
 * A destination is a process, by the address and the port in the QP number, and is linked when the
 * first datagram goes there. Requests leave in order: while one waits for its peer to be found, so
 * do those behind it. A process that cannot be reached is not asked for again before some time is
 * over, and what is sent to it meanwhile is lost.
 */
#include "sq_ud.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grh.h"
#include "responder_ud.h"
#include "soft_device/faults/fault.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "soft_device/transport/groups.h"
#include "soft_device/transport/tcp.h"

#define BUCKETS	       64
#define UNREACHABLE_NS UINT64_C(100000000) /* at least; else as long as the last try took */
#define DRAIN_NS       UINT64_C(1000000000)
#define DRAIN_PAUSE_NS 100000
#define QKEY_OWN       0x80000000u /* IBA 10.2.5: the QP's own one is sent */

struct destination {
	struct destination *next;
	struct send_queue *sq;
	union ibv_gid gid;
	uint16_t port;
	bool linking;
	struct peer_wait *wait; /* NULL: it was known */
	struct peer *peer;	/* NULL: linking, or unreachable */
	uint64_t asked_ns;
	uint64_t again_ns; /* unreachable until then */
};

/* Under sq.lock. */
struct sq_ud {
	struct destination *bucket[BUCKETS];
	struct destination *in_flight; /* has a request over TCP that is not answered */
	bool leaving;		       /* sq_ud_unlink() is under way */
};

struct sq_ud *sq_ud_new(void)
{
	return calloc(1, sizeof(struct sq_ud));
}

/* --- destinations --- */

static struct destination **bucket_of(struct sq_ud *ud, const union ibv_gid *gid, uint16_t port)
{
	const uint32_t hash = (uint32_t)gid->raw[15] * 31u + gid->raw[14] + port;

	return &ud->bucket[hash % BUCKETS];
}

/* On the agent. */
static void linked(void *arg, struct peer *peer, int error)
{
	struct destination *to = arg;
	struct send_queue *sq = to->sq;
	uint64_t now_ns, took_ns;

	shared_lock_take(&sq->lock);
	to->linking = false;
	to->peer = peer;
	if (error != 0) {
		now_ns = process_now_ns();
		took_ns = now_ns - to->asked_ns;
		to->again_ns = now_ns + (took_ns > UNREACHABLE_NS ? took_ns : UNREACHABLE_NS);
	}
	sq_run_locked(sq);
	shared_lock_release(&sq->lock);
}

/* Has its peer, or waits for it, or neither: it is unreachable. Callers hold sq.lock. */
static void link_to(struct destination *to)
{
	if (to->linking || process_now_ns() < to->again_ns)
		return;
	peer_link_cancel(to->wait); /* its call is over, or we are in it */
	to->asked_ns = process_now_ns();
	to->peer = peer_find(&to->sq->gid, &to->gid, to->port, linked, to, &to->wait);
	to->linking = to->wait != NULL;
}

/* NULL: no memory. Callers hold sq.lock. */
static struct destination *destination_of(struct send_queue *sq, const union ibv_gid *gid,
					  uint16_t port)
{
	struct destination **bucket = bucket_of(sq->ud, gid, port), *to = *bucket;

	while (to != NULL && (to->port != port || memcmp(&to->gid, gid, sizeof(*gid)) != 0))
		to = to->next;
	if (to == NULL) {
		to = calloc(1, sizeof(*to));
		if (to == NULL)
			return NULL;
		to->sq = sq;
		to->gid = *gid;
		to->port = port;
		to->next = *bucket;
		*bucket = to;
	}
	if (to->peer != NULL && atomic_load_explicit(&to->peer->gone, memory_order_relaxed)) {
		peer_put(to->peer);
		to->peer = NULL;
	}
	if (to->peer == NULL)
		link_to(to);
	return to;
}

static void destination_delete(struct destination *to)
{
	peer_link_cancel(to->wait);
	peer_put(to->peer);
	free(to);
}

static bool has_unsent(struct send_queue *sq)
{
	bool unsent;

	shared_lock_take(&sq->lock);
	sq_run_locked(sq);
	unsent = sq->completed != sq->posted && sq_state(sq) == IBV_QPS_RTS;
	shared_lock_release(&sq->lock);
	return unsent;
}

void sq_ud_drain(struct send_queue *sq)
{
	const struct timespec pause = {.tv_nsec = DRAIN_PAUSE_NS};
	const uint64_t until_ns = process_now_ns() + DRAIN_NS;

	while (has_unsent(sq) && process_now_ns() < until_ns)
		nanosleep(&pause, NULL);
}

void sq_ud_unlink(struct send_queue *sq)
{
	struct destination *all[BUCKETS];

	shared_lock_take(&sq->lock);
	memcpy(all, sq->ud->bucket, sizeof(all));
	memset(sq->ud->bucket, 0, sizeof(sq->ud->bucket));
	sq->ud->in_flight = NULL;
	sq->ud->leaving = true;
	shared_lock_release(&sq->lock);
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (all[i] != NULL) {
			struct destination *to = all[i];

			all[i] = to->next;
			destination_delete(to);
		}
	}
	shared_lock_take(&sq->lock);
	sq->ud->leaving = false;
	shared_lock_release(&sq->lock);
}

void sq_ud_delete(struct sq_ud *ud)
{
	if (ud == NULL)
		return;
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (ud->bucket[i] != NULL) {
			struct destination *to = ud->bucket[i];

			ud->bucket[i] = to->next;
			destination_delete(to);
		}
	}
	free(ud);
}

/* --- requests --- */

void sq_ud_set_to(struct send_work *work, const struct ibv_ah *ibv, uint32_t qpn, uint32_t qkey)
{
	const struct ah *ah = (const struct ah *)ibv;

	work->qpn = qpn & 0xffffff;
	work->request.to = ah->gid;
	work->request.qkey = qkey;
	work->request.traffic_class = ah->traffic_class;
	work->request.hop_limit = ah->hop_limit;
}

bool sq_ud_take_to(const struct ibv_send_wr *wr, struct send_work *work)
{
	if (wr->wr.ud.ah == NULL)
		return false;
	sq_ud_set_to(work, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	return true;
}

static enum ibv_wc_status make_request(const struct send_queue *sq, struct send_work *work,
				       struct local_memory *local)
{
	const enum ibv_wc_status status = sq_make_request(sq, work, local);
	struct request *request = &work->request;

	if (status != IBV_WC_SUCCESS)
		return status;
	request->op = work->opcode == IBV_WR_SEND ? REQUEST_DATAGRAM : REQUEST_DATAGRAM_IMM;
	request->framing = 0;
	if (request->qkey & QKEY_OWN)
		request->qkey = sq->shared->qkey;
	return IBV_WC_SUCCESS;
}

/* Over TCP the bytes leave later, so that they are looked at now. */
static bool is_readable(const struct local_memory *local)
{
	return local->count == 0 || target_memory_is_usable(local->parts, local->count, false);
}

static bool settle_unreadable(struct send_queue *sq, struct send_slot *slot)
{
	const struct outcome outcome = outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);

	return sq_settle(sq, slot, &outcome);
}

/* False: it waits. */
static bool send_tcp(struct send_queue *sq, struct send_slot *slot, struct destination *to,
		     const struct local_memory *local)
{
	/* as in sq_tcp.c: answers to an earlier life of the queue are told by it */
	const uint64_t ticket = (uint64_t)sq->life << 32 | sq->next;
	const struct outcome gone = outcome_absent(VENDOR_PEER_GONE);
	int error;

	if (!is_readable(local))
		return settle_unreadable(sq, slot);
	error = tcp_request(to->peer->tcp, &to->gid, slot->work.qpn, ticket, &slot->work.request,
			    local);
	if (error == -EAGAIN)
		return false;
	if (error != 0)
		return sq_settle(sq, slot, &gone);
	sq->ud->in_flight = to;
	sq->next++;
	return true;
}

/* To one QP. False: it waits. */
static bool send_to_one(struct send_queue *sq, struct send_slot *slot,
			const struct local_memory *local)
{
	const struct request *request = &slot->work.request;
	const uint32_t qpn = slot->work.qpn;
	struct destination *to = destination_of(sq, &request->to, (uint16_t)(qpn >> 8));
	struct outcome outcome = outcome_absent(VENDOR_UNREACHABLE);

	if (to != NULL && to->linking)
		return false;
	if (to != NULL && to->peer != NULL) {
		if (to->peer->transport == PEER_TCP)
			return send_tcp(sq, slot, to, local);
		outcome = responder_datagram(to->peer, &request->to, qpn, request, local);
	}
	return sq_settle(sq, slot, &outcome);
}

static void send_group_to(const struct send_queue *sq, struct peer *peer,
			  const struct request *request, const struct local_memory *local)
{
	const uint64_t ticket = (uint64_t)sq->life << 32 | sq->next; /* nothing waits for it */

	/* one that has much to take yet misses this one */
	if (peer->transport == PEER_TCP)
		tcp_request(peer->tcp, &sq->gid, MULTICAST_QPN, ticket, request, local);
	else
		responder_datagram(peer, &sq->gid, MULTICAST_QPN, request, local);
}

/* The processes with these ports, each once; false: one is being linked. */
static bool find_members(struct send_queue *sq, const uint16_t *ports, unsigned count,
			 struct peer **peers, unsigned *peer_count)
{
	bool known = true;
	unsigned found = 0, same;

	for (unsigned i = 0; i < count; i++) {
		const struct destination *to = destination_of(sq, &sq->gid, ports[i]);

		known = known && (to == NULL || !to->linking);
		if (to == NULL || to->peer == NULL)
			continue;
		for (same = 0; same < found && peers[same] != to->peer; same++)
			;
		if (same == found)
			peers[found++] = to->peer;
	}
	*peer_count = found;
	return known;
}

/* To all members of a group, on this host. False: it waits. */
static bool send_to_group(struct send_queue *sq, struct send_slot *slot,
			  const struct local_memory *local)
{
	const struct request *request = &slot->work.request;
	const struct outcome sent = outcome_done();
	struct peer *peers[GROUP_PORTS_MAX];
	uint16_t ports[GROUP_PORTS_MAX];
	unsigned count;

	if (!is_readable(local))
		return settle_unreadable(sq, slot);
	count = group_ports(&request->to, &sq->gid, ports);
	if (!find_members(sq, ports, count, peers, &count))
		return false;
	for (unsigned i = 0; i < count; i++)
		send_group_to(sq, peers[i], request, local);
	return sq_settle(sq, slot, &sent);
}

bool sq_ud_send(struct send_queue *sq, struct send_slot *slot)
{
	struct outcome outcome = outcome_done();
	struct local_memory local;
	enum ibv_wc_status status;
	void *copy = NULL;
	bool goes_on;

	if (sq->next != sq->completed || sq->ud->leaving)
		return false;
	status = make_request(sq, &slot->work, &local);
	if (status != IBV_WC_SUCCESS)
		outcome = outcome_failed(status, sq_request_reason(sq, &slot->work, status));
	/* longer than the MTU: not sent, and no error (IBA C10-93.1.1) */
	else if (slot->work.request.length > SOFT_MAX_DATAGRAM)
		outcome = outcome_absent(VENDOR_LONG_DATAGRAM);
	if (outcome.kind == OUTCOME_ABSENT || status != IBV_WC_SUCCESS)
		return sq_settle(sq, slot, &outcome);
	if (__builtin_expect(fault_any, 0))
		copy = sq_fault_corrupt_out(&slot->work, &local);
	goes_on = grh_gid_is_multicast(&slot->work.request.to) ? send_to_group(sq, slot, &local)
							       : send_to_one(sq, slot, &local);
	free(copy);
	return goes_on;
}

void sq_ud_peer_gone(struct send_queue *sq, const struct peer *peer)
{
	const struct outcome absent = outcome_absent(VENDOR_PEER_GONE);

	if (sq->ud->in_flight != NULL && sq->ud->in_flight->peer == peer &&
	    sq->completed != sq->next)
		sq_settle(sq, sq_slot(sq, sq->completed), &absent);
	sq_run_locked(sq);
}
