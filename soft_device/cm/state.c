/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.c -- what the peer and time make of a connection: messages, hang-ups and
 * deadlines, on the agent's thread.
 *
 * The answers are those of drivers/infiniband/core/cm.c. A hang-up is what the
 * kernel's CM sends for a process that ends: a rejection before the connection
 * is established, a disconnection after.
 */
#include "cm.h"
#include "soft_device/process/process.h"

static void raise_event(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	if (cm_event_raise(id, type, status) != 0)
		process_warn("no memory for %s", rdma_event_str(type));
}

void cm_raise_with(struct cm_id *id, enum rdma_cm_event_type type, int status,
		   const struct cm_message *message)
{
	struct cm_event *event = cm_event_new(id, type, status);

	if (event == NULL) {
		process_warn("no memory for %s", rdma_event_str(type));
		return;
	}
	cm_event_carry(event, message);
	cm_event_push(event);
}

void cm_end(struct cm_id *id)
{
	id->state = CM_ENDED;
	id->deadline_ns = 0;
	cm_stream_end(id->stream);
}

void cm_wait_to_end(struct cm_id *id)
{
	id->state = CM_TIMEWAIT;
	id->deadline_ns = process_now_ns() + CM_TIMEWAIT_NS;
	cm_deadline(id->deadline_ns);
	cm_stream_end(id->stream);
}

void cm_take_peer(struct cm_id *id, const struct cm_message *message)
{
	id->peer_qpn = message->qpn;
	id->peer_psn = message->psn;
	id->responder_resources = message->initiator_depth;
	id->initiator_depth = message->responder_resources;
	id->rnr_retry_count = message->rnr_retry_count;
	id->remote_ece.vendor_id = message->ece_vendor;
	id->remote_ece.options = message->ece_options;
}

static void rejected_by(struct cm_id *id, const struct cm_message *rej)
{
	cm_end(id);
	cm_raise_with(id, RDMA_CM_EVENT_REJECTED, rej->reason, rej);
}

static void rejected(struct cm_id *id, uint16_t reason)
{
	rejected_by(id, &(struct cm_message){.kind = CM_REJ, .reason = reason});
}

static void unreachable(struct cm_id *id)
{
	cm_end(id);
	raise_event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

/* Nothing listens there, or no CM does; else the network did not get us there. */
void cm_connecting_failed(struct cm_id *id, int error)
{
	if (cm_is_datagram(id) &&
	    (error == -ECONNREFUSED || error == -ECONNRESET || error == -EPIPE))
		cm_sidr_failed(id, error == -ECONNREFUSED ? CM_SIDR_UNSUPPORTED : CM_SIDR_REJECT);
	else if (error == -ECONNREFUSED)
		rejected(id, CM_REASON_INVALID_SERVICE);
	else if (error == -ECONNRESET || error == -EPIPE)
		rejected(id, CM_REASON_CONSUMER);
	else
		unreachable(id);
}

static void disconnected(struct cm_id *id, enum cm_state state, bool lost)
{
	struct cm_event *event = cm_event_new(id, RDMA_CM_EVENT_DISCONNECTED, 0);

	id->state = state;
	id->deadline_ns = 0;
	if (state == CM_TIMEWAIT)
		cm_wait_to_end(id);
	if (event == NULL) {
		process_warn("no memory for RDMA_CM_EVENT_DISCONNECTED");
		return;
	}
	event->lost = lost;
	cm_event_push(event);
}

static int got_response(struct cm_id *id, const struct cm_message *message)
{
	if (cm_is_datagram(id))
		return cm_sidr_answered(id, message);
	if (message->kind == CM_REJ) {
		rejected_by(id, message);
		return 0;
	}
	if (message->kind != CM_REP)
		return -EPROTO;
	id->state = CM_REP_RECEIVED;
	id->deadline_ns = 0;
	cm_take_peer(id, message);
	cm_raise_with(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, message);
	return 0;
}

static int got_confirmation(struct cm_id *id, const struct cm_message *message)
{
	switch (message->kind) {
	case CM_RTU:
		id->state = CM_ESTABLISHED;
		id->deadline_ns = 0;
		raise_event(id, RDMA_CM_EVENT_ESTABLISHED, 0);
		return 0;
	case CM_REJ:
		rejected_by(id, message);
		return 0;
	default:
		return -EPROTO;
	}
}

int cm_arrived(struct cm_id *id, const struct cm_message *message)
{
	switch (id->state) {
	case CM_REQ_SENT:
		return got_response(id, message);
	case CM_REP_SENT:
		return got_confirmation(id, message);
	case CM_ESTABLISHED:
		if (message->kind == CM_DREQ)
			disconnected(id, CM_DREQ_RECEIVED, false);
		else if (message->kind != CM_RTU) /* it comes after rdma_notify(), too */
			return -EPROTO;
		return 0;
	case CM_DREQ_SENT:
		if (message->kind == CM_DREQ)
			disconnected(id, CM_DREQ_RECEIVED, false);
		else if (message->kind == CM_DREP)
			disconnected(id, CM_TIMEWAIT, false);
		else
			return -EPROTO;
		return 0;
	case CM_DREQ_RECEIVED:
		return message->kind == CM_DREP ? 0 : -EPROTO;
	default:
		return -EPROTO;
	}
}

void cm_hung_up(struct cm_id *id)
{
	if (cm_is_datagram(id)) {
		if (id->state == CM_REQ_SENT)
			cm_sidr_failed(id, CM_SIDR_REJECT);
		return;
	}
	switch (id->state) {
	case CM_REQ_SENT:
	case CM_REP_RECEIVED:
	case CM_REP_SENT:
		rejected(id, CM_REASON_CONSUMER);
		break;
	case CM_ESTABLISHED:
		disconnected(id, CM_TIMEWAIT, true);
		break;
	case CM_DREQ_SENT:
		disconnected(id, CM_TIMEWAIT, false);
		break;
	case CM_REQ_RECEIVED: /* cm_destroy_id() of the peer in IB_CM_REQ_SENT */
		rejected(id, CM_REASON_TIMEOUT);
		break;
	default:
		break;
	}
}

void cm_id_expired(struct cm_id *id)
{
	switch (id->state) {
	case CM_LISTENING:
		cm_listen_resume(id);
		break;
	case CM_REQ_SENT:
	case CM_REP_SENT:
		unreachable(id);
		break;
	case CM_DREQ_SENT:
		disconnected(id, CM_TIMEWAIT, false);
		break;
	case CM_TIMEWAIT:
		id->state = CM_ENDED;
		raise_event(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		break;
	default:
		break;
	}
}
