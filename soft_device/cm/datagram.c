/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram.c -- ids of RDMA_PS_UDP: the client asks for the QP number behind a port, and the
 * server's answer is the end of it (IBTA 12.11: SIDR; drivers/infiniband/core/cma.c).
 */
#include <string.h>

#include "cm.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"

#define HOP_LIMIT 64

void cm_sidr_carry(struct cm_event *event, const struct cm_message *message)
{
	struct rdma_ud_param *param = &event->pub.param.ud;

	param->private_data = event->private_data;
	param->private_data_len = (uint8_t)cm_wire_private_max(message->kind);
	if (message->kind != CM_SIDR_REP || message->reason != CM_SIDR_SUCCESS)
		return;
	param->ah_attr.is_global = 1;
	param->ah_attr.port_num = 1;
	param->ah_attr.grh.sgid_index = SOFT_CM_GID;
	param->ah_attr.grh.hop_limit = HOP_LIMIT;
	param->ah_attr.grh.traffic_class = event->owner->tos;
	gid_from_sockaddr(&param->ah_attr.grh.dgid, (const struct sockaddr *)&event->owner->remote);
	param->qp_num = message->qpn;
	param->qkey = message->qkey;
}

int cm_sidr_answered(struct cm_id *id, const struct cm_message *message)
{
	if (message->kind != CM_SIDR_REP)
		return -EPROTO;
	cm_end(id);
	cm_raise_with(id,
		      message->reason == CM_SIDR_SUCCESS ? RDMA_CM_EVENT_ESTABLISHED
							 : RDMA_CM_EVENT_UNREACHABLE,
		      message->reason, message);
	return 0;
}

void cm_sidr_failed(struct cm_id *id, int status)
{
	const struct cm_message message = {.kind = CM_SIDR_REP, .reason = (uint16_t)status};

	cm_end(id);
	cm_raise_with(id, RDMA_CM_EVENT_UNREACHABLE, status, &message);
}

/* Lock held. No process is told where the one that asked has gone. */
static int answer(const char *call, struct cm_id *id, const struct cm_message *reply)
{
	if (id->state != CM_REQ_RECEIVED)
		return CM_REFUSE_STATE(-EINVAL, call, id);
	if (id->stream != NULL)
		cm_stream_send(id->stream, reply);
	cm_end(id);
	return 0;
}

int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param)
{
	struct cm_message reply = {.kind = CM_SIDR_REP, .qkey = RDMA_UDP_QKEY};
	int error;

	if (id->pub.qp != NULL)
		reply.qpn = id->pub.qp->qp_num;
	else if (param != NULL)
		reply.qpn = param->qp_num & 0xffffff;
	if (param != NULL && param->private_data_len > 0) {
		reply.private_data_len = param->private_data_len;
		memcpy(reply.private_data, param->private_data, param->private_data_len);
	}
	pthread_mutex_lock(&cm_lock);
	error = answer("rdma_accept", id, &reply);
	pthread_mutex_unlock(&cm_lock);
	return error;
}

int cm_sidr_reject(struct cm_id *id, const void *data, uint8_t length)
{
	struct cm_message reply = {.kind = CM_SIDR_REP, .reason = CM_SIDR_REJECT};
	int error;

	if (length > CM_SIDR_REP_PRIVATE)
		return CM_REFUSE(-EINVAL, "rdma_reject", id, "%u bytes of private data, at most %d",
				 length, CM_SIDR_REP_PRIVATE);
	reply.private_data_len = length;
	if (length > 0)
		memcpy(reply.private_data, data, length);
	pthread_mutex_lock(&cm_lock);
	error = answer("rdma_reject", id, &reply);
	pthread_mutex_unlock(&cm_lock);
	return error;
}

void cm_refuse_kind(struct cm_stream *stream, enum cm_kind kind)
{
	const struct cm_message rep = {.kind = CM_SIDR_REP, .reason = CM_SIDR_UNSUPPORTED};
	const struct cm_message rej = {.kind = CM_REJ, .reason = CM_REASON_INVALID_SERVICE};

	cm_stream_send(stream, kind == CM_SIDR_REQ ? &rep : &rej);
}
