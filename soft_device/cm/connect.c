/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect.c -- the calls by which programs connect, accept, reject and disconnect.
 *
 * Each sends one message and moves the state; what comes back is state.c's. On a
 * synchronous id the call then waits for the event that tells its end.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "cm.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"

/* 0 to 7 in the messages */
static uint8_t retries(uint8_t count)
{
	return count < CM_RETRIES ? count : CM_RETRIES;
}

/* 0 or EINVAL. */
static int check_depths(const char *call, struct cm_id *id, const struct rdma_conn_param *param)
{
	if (param->responder_resources != RDMA_MAX_RESP_RES &&
	    param->responder_resources > SOFT_MAX_RD_ATOMIC)
		return CM_REFUSE(EINVAL, call, id, "responder_resources is %u, at most %d",
				 param->responder_resources, SOFT_MAX_RD_ATOMIC);
	if (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
	    param->initiator_depth > SOFT_MAX_RD_ATOMIC)
		return CM_REFUSE(EINVAL, call, id, "initiator_depth is %u, at most %d",
				 param->initiator_depth, SOFT_MAX_RD_ATOMIC);
	return 0;
}

/* Parameters that librdmacm refuses before the kernel gets to see them; 0 or an errno. */
static int check_param(const char *call, struct cm_id *id, const struct rdma_conn_param *param,
		       size_t private_max)
{
	if (id->pub.verbs == NULL)
		return CM_REFUSE(EINVAL, call, id, "it has no device: resolve its address first");
	if (param == NULL && id->pub.qp == NULL && !cm_is_datagram(id))
		return CM_REFUSE(EINVAL, call, id, "it has no QP, and conn_param is NULL");
	if (param == NULL)
		return 0;
	if (!cm_is_datagram(id) && check_depths(call, id, param) != 0)
		return EINVAL;
	if (param->private_data_len > private_max)
		return CM_REFUSE(EINVAL, call, id, "private_data_len is %u, at most %zu",
				 param->private_data_len, private_max);
	if (param->private_data_len > 0 && param->private_data == NULL)
		return CM_REFUSE(EINVAL, call, id, "private_data is NULL");
	return 0;
}

static void take_param(struct cm_id *id, const struct rdma_conn_param *param,
		       struct cm_message *message)
{
	message->psn = id->psn;
	message->ece_vendor = id->local_ece.vendor_id;
	message->ece_options = id->local_ece.options;
	message->responder_resources = id->responder_resources;
	message->initiator_depth = id->initiator_depth;
	message->retry_count = CM_RETRIES;
	message->rnr_retry_count = CM_RETRIES;
	if (id->pub.qp != NULL || param != NULL) {
		message->qpn = id->pub.qp != NULL ? id->pub.qp->qp_num : param->qp_num & 0xffffff;
		message->srq = id->pub.qp != NULL ? id->pub.qp->srq != NULL : param->srq != 0;
	}
	if (param == NULL)
		return;
	message->retry_count = retries(param->retry_count);
	message->rnr_retry_count = retries(param->rnr_retry_count);
	message->flow_control = param->flow_control != 0;
	message->private_data_len = param->private_data_len;
	if (param->private_data_len > 0)
		memcpy(message->private_data, param->private_data, param->private_data_len);
}

/* Private data given to rdma_create_ep() goes before that of the call. */
static int put_ep_private(const struct cm_id *id, struct cm_message *message)
{
	const size_t length = (size_t)id->ep_private_len + message->private_data_len;
	const size_t most = cm_wire_private_max(message->kind);

	if (id->ep_private_len == 0)
		return 0;
	if (length > most)
		return CM_REFUSE(-EINVAL, "rdma_connect", id,
				 "%zu bytes of private data with those of rdma_create_ep(), at "
				 "most %zu",
				 length, most);
	memmove(message->private_data + id->ep_private_len, message->private_data,
		message->private_data_len);
	memcpy(message->private_data, id->ep_private, id->ep_private_len);
	message->private_data_len = (uint8_t)length;
	return 0;
}

/* RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH are one number. */
static uint8_t depth(uint8_t wanted)
{
	return wanted == RDMA_MAX_INIT_DEPTH ? SOFT_MAX_RD_ATOMIC : wanted;
}

/* A connection to one's own port is TCP's simultaneous open, not a listener. */
static bool is_own_port(const struct cm_id *id)
{
	union ibv_gid gid;

	gid_from_sockaddr(&gid, (const struct sockaddr *)&id->remote);
	return memcmp(&gid, &id->device->gid, sizeof(gid)) == 0 &&
	       cm_address_port(&id->local) == cm_address_port(&id->remote);
}

/* Lock held. -errno: the TCP connection cannot even be tried. */
static int dial(struct cm_stream *stream, struct cm_id *id)
{
	switch (fault_connect()) {
	case CONNECT_REFUSED:
		return -ECONNREFUSED;
	case CONNECT_UNREACHABLE:
		return -EHOSTUNREACH;
	default:
		break;
	}
	if (is_own_port(id))
		return -ECONNREFUSED;
	return cm_stream_connect(stream);
}

/* Lock held. What goes wrong on the way to the peer comes as an event. */
static int start_connecting(struct cm_id *id, const struct cm_message *request)
{
	struct cm_stream *stream;
	int error;

	if (id->state != CM_ROUTE_RESOLVED)
		return CM_REFUSE(-EINVAL, "rdma_connect", id, "it is in state %s, not in %s",
				 cm_state_name(id->state), cm_state_name(CM_ROUTE_RESOLVED));
	stream = cm_stream_new(id->fd, id, NULL);
	if (stream == NULL)
		return -ENOMEM;
	memcpy(stream->token, request->token, sizeof(stream->token));
	id->fd = -1;
	id->stream = stream;
	id->state = CM_REQ_SENT;
	id->responder_resources = request->responder_resources;
	id->initiator_depth = request->initiator_depth;
	id->retry_count = request->retry_count;
	id->deadline_ns = process_now_ns() + CM_ANSWER_NS;
	cm_deadline(id->deadline_ns);
	stream->length = cm_wire_put(request, stream->bytes);
	error = dial(stream, id);
	if (error != 0) {
		cm_stream_delete(stream);
		cm_connecting_failed(id, error);
	}
	return 0;
}

SOFT_EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct cm_id *of = cm_id_of(id);
	struct cm_message request = {.kind = CM_REQ};
	int error;

	CM_ENTER(id);
	if (cm_is_datagram(of))
		request.kind = CM_SIDR_REQ;
	error = check_param(__func__, of, conn_param, cm_wire_private_max(request.kind));
	if (error == 0 &&
	    getrandom(request.token, sizeof(request.token), 0) != sizeof(request.token))
		error = EIO;
	if (error != 0)
		return call_failed(error);
	pthread_mutex_lock(&cm_lock);
	take_param(of, conn_param, &request);
	request.responder_resources =
		depth(conn_param != NULL ? conn_param->responder_resources : RDMA_MAX_RESP_RES);
	request.initiator_depth =
		depth(conn_param != NULL ? conn_param->initiator_depth : RDMA_MAX_INIT_DEPTH);
	error = -put_ep_private(of, &request);
	if (error == 0)
		error = -start_connecting(of, &request);
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? cm_id_complete(of) : call_failed(error);
}

/* Lock held: the last word of the active side. */
static int confirm(struct cm_id *id)
{
	if (id->state != CM_REP_RECEIVED || id->stream == NULL)
		return -EINVAL;
	cm_stream_say(id->stream, CM_RTU);
	id->state = CM_ESTABLISHED;
	return 0;
}

int cm_respond(struct cm_id *id)
{
	int error = cm_qp_connect(id);

	pthread_mutex_lock(&cm_lock);
	if (error == 0)
		error = confirm(id);
	if (error != 0)
		id->connect_error = true;
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		cm_qp_fail(id);
	return error;
}

SOFT_EXPORT int rdma_establish(struct rdma_cm_id *id)
{
	int error;

	CM_ENTER(id);
	if (id->qp != NULL)
		return call_failed(CM_REFUSE(EINVAL, __func__, cm_id_of(id),
					     "it has a QP, so rdma_connect() does that"));
	pthread_mutex_lock(&cm_lock);
	error = -confirm(cm_id_of(id));
	if (error != 0)
		CM_REFUSE_STATE(error, __func__, cm_id_of(id));
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? 0 : call_failed(error);
}

/* Lock held. */
static int send_reply(struct cm_id *id, const struct cm_message *reply)
{
	if (id->state != CM_REQ_RECEIVED || id->stream == NULL)
		return CM_REFUSE_STATE(-EINVAL, "rdma_accept", id);
	id->state = CM_REP_SENT;
	id->deadline_ns = process_now_ns() + CM_ANSWER_NS;
	cm_deadline(id->deadline_ns);
	cm_stream_send(id->stream, reply);
	return 0;
}

/* Lock held. */
static int send_reject(struct cm_id *id, enum cm_reason reason, const void *data, uint8_t length)
{
	struct cm_message reject = {.kind = CM_REJ, .reason = (uint16_t)reason};

	if (id->stream == NULL || (id->state != CM_REQ_RECEIVED && id->state != CM_REP_RECEIVED &&
				   id->state != CM_REP_SENT && id->state != CM_REQ_SENT))
		return CM_REFUSE_STATE(-EINVAL, "rdma_reject", id);
	reject.private_data_len = length;
	if (length > 0)
		memcpy(reject.private_data, data, length);
	cm_stream_send(id->stream, &reject);
	cm_end(id);
	return 0;
}

/* Fills what the program left open from the peer's request. Lock held. */
static void settle_depths(struct cm_id *id, const struct rdma_conn_param *param)
{
	if (param != NULL && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = param->initiator_depth;
	else if (id->initiator_depth > SOFT_MAX_RD_ATOMIC)
		id->initiator_depth = SOFT_MAX_RD_ATOMIC;
	if (param != NULL && param->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = param->responder_resources;
	else if (id->responder_resources > SOFT_MAX_RD_ATOMIC)
		id->responder_resources = SOFT_MAX_RD_ATOMIC;
}

/* 0 or an errno; after a failure the peer is rejected, as by the kernel. */
static int accept_request(struct cm_id *id, const struct rdma_conn_param *param)
{
	struct cm_message reply = {.kind = CM_REP};
	int error;

	pthread_mutex_lock(&cm_lock);
	error = id->state == CM_REQ_RECEIVED ? 0 : CM_REFUSE_STATE(EINVAL, "rdma_accept", id);
	if (error == 0) {
		settle_depths(id, param);
		take_param(id, param, &reply);
		reply.retry_count = 0;
	}
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		return error;
	if (id->pub.qp != NULL)
		error = -cm_qp_connect(id);
	pthread_mutex_lock(&cm_lock);
	if (error == 0)
		error = -send_reply(id, &reply);
	if (error != 0)
		send_reject(id, CM_REASON_CONSUMER, NULL, 0);
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		cm_qp_fail(id);
	return error;
}

SOFT_EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct cm_id *of = cm_id_of(id);
	int error;

	CM_ENTER(id);
	if (cm_is_datagram(of)) {
		error = check_param(__func__, of, conn_param, CM_SIDR_REP_PRIVATE);
		if (error == 0)
			error = -cm_sidr_accept(of, conn_param);
		return error == 0 ? 0 : call_failed(error);
	}
	error = check_param(__func__, of, conn_param, CM_REP_PRIVATE);
	if (error == 0)
		error = accept_request(of, conn_param);
	return error == 0 ? cm_id_complete(of) : call_failed(error);
}

static int reject(struct rdma_cm_id *id, enum cm_reason reason, const void *data, uint8_t length)
{
	int error;

	if (length > CM_REJ_PRIVATE || (length > 0 && data == NULL))
		return call_failed(CM_REFUSE(EINVAL, "rdma_reject", cm_id_of(id),
					     "%u bytes of private data%s, at most %d", length,
					     data == NULL ? " at NULL" : "", CM_REJ_PRIVATE));
	if (cm_is_datagram(cm_id_of(id))) {
		error = -cm_sidr_reject(cm_id_of(id), data, length);
		return error == 0 ? 0 : call_failed(error);
	}
	pthread_mutex_lock(&cm_lock);
	error = -send_reject(cm_id_of(id), reason, data, length);
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? 0 : call_failed(error);
}

SOFT_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *private_data,
			    uint8_t private_data_len)
{
	CM_ENTER(id);
	return reject(id, CM_REASON_CONSUMER, private_data, private_data_len);
}

SOFT_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
				uint8_t private_data_len)
{
	CM_ENTER(id);
	return reject(id, CM_REASON_ECE, private_data, private_data_len);
}

/* Lock held: cm_establish() of the kernel. */
static int notify(struct cm_id *id, enum ibv_event_type event)
{
	if (event != IBV_EVENT_COMM_EST)
		return CM_REFUSE(-EINVAL, "rdma_notify", id, "event %d, expected %d", (int)event,
				 (int)IBV_EVENT_COMM_EST);
	if (id->state == CM_ESTABLISHED)
		return CM_REFUSE_STATE(-EISCONN, "rdma_notify", id);
	if (id->state != CM_REP_SENT)
		return CM_REFUSE_STATE(-EINVAL, "rdma_notify", id);
	if (cm_event_raise(id, RDMA_CM_EVENT_ESTABLISHED, 0) != 0)
		return -ENOMEM;
	id->state = CM_ESTABLISHED;
	id->deadline_ns = 0;
	return 0;
}

SOFT_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	int error;

	CM_ENTER(id);
	pthread_mutex_lock(&cm_lock);
	error = -notify(cm_id_of(id), event);
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? 0 : call_failed(error);
}

/* Lock held: the first to disconnect asks, the second answers. */
static int disconnect(struct cm_id *id)
{
	if (id->state < CM_REQ_SENT)
		return CM_REFUSE_STATE(-EINVAL, "rdma_disconnect", id);
	if (id->state == CM_ESTABLISHED && id->stream != NULL) {
		cm_stream_say(id->stream, CM_DREQ);
		id->state = CM_DREQ_SENT;
		id->deadline_ns = process_now_ns() + CM_ANSWER_NS;
		cm_deadline(id->deadline_ns);
	} else if (id->state == CM_DREQ_RECEIVED) {
		if (id->stream != NULL)
			cm_stream_say(id->stream, CM_DREP);
		cm_wait_to_end(id);
	}
	return 0;
}

SOFT_EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	struct cm_id *of = cm_id_of(id);
	int error;

	CM_ENTER(id);
	cm_qp_fail(of);
	pthread_mutex_lock(&cm_lock);
	error = -disconnect(of);
	pthread_mutex_unlock(&cm_lock);
	if (error == 0 && cm_is_datagram(of))
		return 0; /* there is nothing to be told of */
	return error == 0 ? cm_id_complete(of) : call_failed(error);
}
