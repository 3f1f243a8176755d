/* SPDX-License-Identifier: BSD-3-Clause */
/* ep.c -- endpoints: a synchronous id, resolved or bound, and its QP in one call. */
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "soft_device/process/process.h"

#define RESOLVE_MS 2000

/* Requests to it get their QPs in rdma_get_request(). */
static int prepare_passive(struct cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			   const struct ibv_qp_init_attr *attr)
{
	if (rdma_bind_addr(&id->pub, res->ai_src_addr) != 0)
		return -1;
	if (attr == NULL)
		return 0;
	id->ep_pd = pd;
	id->ep_qp = malloc(sizeof(*id->ep_qp));
	if (id->ep_qp == NULL)
		return -1;
	*id->ep_qp = *attr;
	id->ep_qp->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	return 0;
}

static int prepare_active(struct cm_id *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			  struct ibv_qp_init_attr *attr)
{
	if (res->ai_connect_len > CM_REQ_PRIVATE)
		return call_failed(REFUSE(EINVAL, "rdma_create_ep",
					  "ai_connect_len %zu, at most %d", res->ai_connect_len,
					  CM_REQ_PRIVATE));
	if (rdma_resolve_addr(&id->pub, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS) != 0 ||
	    rdma_resolve_route(&id->pub, RESOLVE_MS) != 0)
		return -1;
	if (res->ai_connect_len > 0) {
		memcpy(id->ep_private, res->ai_connect, res->ai_connect_len);
		id->ep_private_len = (uint8_t)res->ai_connect_len;
	}
	if (attr == NULL)
		return 0;
	attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	return rdma_create_qp(&id->pub, pd, attr);
}

SOFT_EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			       struct ibv_qp_init_attr *qp_init_attr)
{
	struct rdma_cm_id *new_id;
	int error = FAULT_CALL();

	if (error == 0 && (id == NULL || res == NULL))
		error = REFUSE(EINVAL, __func__, "%s is NULL", id == NULL ? "id" : "res");
	if (error != 0)
		return call_failed(error);
	if (rdma_create_id(NULL, &new_id, NULL, (enum rdma_port_space)res->ai_port_space) != 0)
		return -1;
	if ((res->ai_flags & RAI_PASSIVE) != 0)
		error = prepare_passive(cm_id_of(new_id), res, pd, qp_init_attr);
	else
		error = prepare_active(cm_id_of(new_id), res, pd, qp_init_attr);
	if (error != 0) {
		error = errno;
		cm_id_delete(cm_id_of(new_id));
		return call_failed(error);
	}
	*id = new_id;
	return 0;
}

SOFT_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (cm_id_usable(id) != 0)
		return;
	if (id->qp != NULL)
		rdma_destroy_qp(id);
	if (id->srq != NULL)
		rdma_destroy_srq(id);
	cm_id_delete(cm_id_of(id));
}

/* The next request on a synchronous listener; the new id has it as its event. */
static int get_request(struct cm_id *listener, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;

	if (cm_id_complete(listener) != 0)
		return -1;
	event = listener->pub.event;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return call_failed(CM_REFUSE(EINVAL, "rdma_get_request", listener,
					     "its event is %s", rdma_event_str(event->event)));
	if (listener->ep_qp != NULL) {
		struct ibv_qp_init_attr attr = *listener->ep_qp;

		if (rdma_create_qp(event->id, listener->ep_pd, &attr) != 0)
			return -1;
	}
	*id = event->id;
	(*id)->event = event;
	listener->pub.event = NULL;
	return 0;
}

SOFT_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	CM_ENTER(listen);
	if (id == NULL)
		return call_failed(REFUSE(EINVAL, __func__, "id is NULL"));
	if (!cm_id_of(listen)->core.sync)
		return call_failed(CM_REFUSE(EINVAL, __func__, cm_id_of(listen),
					     "it has an event channel: requests come there"));
	return get_request(cm_id_of(listen), id);
}
