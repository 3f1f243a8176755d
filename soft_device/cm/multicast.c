/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multicast.c -- groups of an id: its QP is attached when the program gets the event that it has
 * joined, as librdmacm does.
 */
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"

#define HOP_LIMIT 1
#define GROUP_QPN 0xffffff

struct cm_membership {
	LIST_ENTRY(cm_membership) entry;
	struct sockaddr_storage addr;
	union ibv_gid gid;
	void *context;
	bool send_only;
	bool attached; /* the QP of the id */
};

/* cma_iboe_set_mgid() of the kernel, for RoCE v2; the wildcard is no group here. */
static bool group_of(const struct sockaddr *addr, union ibv_gid *gid)
{
	static const union ibv_gid none;

	gid_from_sockaddr(gid, addr);
	return memcmp(gid, &none, sizeof(none)) != 0;
}

/* Lock held. */
static struct cm_membership *find(struct cm_id *id, const struct sockaddr *addr)
{
	const socklen_t bytes = cm_address_bytes(addr);
	struct cm_membership *membership;

	LIST_FOREACH(membership, &id->memberships, entry) {
		if (memcmp(&membership->addr, addr, bytes) == 0)
			return membership;
	}
	return NULL;
}

static struct cm_event *joined_event(struct cm_id *id, const struct cm_membership *membership)
{
	struct cm_event *event = cm_event_new(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	struct rdma_ud_param *param;

	if (event == NULL)
		return NULL;
	param = &event->pub.param.ud;
	param->private_data = membership->context;
	param->ah_attr.is_global = 1;
	param->ah_attr.port_num = 1;
	param->ah_attr.grh.sgid_index = SOFT_CM_GID;
	param->ah_attr.grh.dgid = membership->gid;
	param->ah_attr.grh.hop_limit = HOP_LIMIT;
	param->ah_attr.grh.traffic_class = id->tos;
	param->qp_num = GROUP_QPN;
	param->qkey = RDMA_UDP_QKEY;
	return event;
}

/* Lock held. 0 or an errno; membership is consumed. */
static int start(struct cm_id *id, struct cm_membership *membership)
{
	struct cm_event *event;

	if (id->device == NULL)
		return CM_REFUSE(EINVAL, "rdma_join_multicast", id,
				 "it has no device: resolve an address first");
	if (id->state != CM_BOUND && id->state != CM_ADDR_RESOLVED)
		return CM_REFUSE_STATE(EINVAL, "rdma_join_multicast", id);
	if (find(id, (const struct sockaddr *)&membership->addr) != NULL)
		return CM_REFUSE(EINVAL, "rdma_join_multicast", id, "it is in this group");
	event = joined_event(id, membership);
	if (event == NULL)
		return ENOMEM;
	LIST_INSERT_HEAD(&id->memberships, membership, entry);
	cm_event_push(event);
	return 0;
}

static int join(struct cm_id *id, const struct sockaddr *addr, bool send_only, void *context)
{
	struct cm_membership *membership;
	int error = 0;

	if (!cm_is_datagram(id) || cm_address_bytes(addr) == 0)
		return call_failed(CM_REFUSE(EINVAL, "rdma_join_multicast", id,
					     "expected an id of RDMA_PS_UDP and an IP address"));
	membership = calloc(1, sizeof(*membership));
	if (membership == NULL)
		return -1;
	memcpy(&membership->addr, addr, cm_address_bytes(addr));
	membership->context = context;
	membership->send_only = send_only;
	if (!group_of(addr, &membership->gid))
		error = EINVAL;
	pthread_mutex_lock(&cm_lock);
	if (error == 0)
		error = start(id, membership);
	pthread_mutex_unlock(&cm_lock);
	if (error == 0)
		return cm_id_complete(id);
	free(membership);
	return call_failed(error);
}

/* By the thread that gets the event. */
int cm_joined(struct cm_id *id, struct cm_event *event)
{
	const union ibv_gid *group = &event->pub.param.ud.ah_attr.grh.dgid;
	struct cm_membership *membership;
	bool attach = false;
	int error;

	pthread_mutex_lock(&cm_lock);
	LIST_FOREACH(membership, &id->memberships, entry) {
		if (memcmp(&membership->gid, group, sizeof(*group)) == 0) {
			attach = id->pub.qp != NULL && !membership->send_only;
			membership->attached = attach;
		}
	}
	pthread_mutex_unlock(&cm_lock);
	error = attach ? ibv_attach_mcast(id->pub.qp, group, 0) : 0;
	return error > 0 ? -error : error;
}

static int leave(struct cm_id *id, struct cm_membership *membership)
{
	int error = 0;

	if (membership->attached && id->pub.qp != NULL)
		error = ibv_detach_mcast(id->pub.qp, &membership->gid, 0);
	free(membership);
	return error;
}

void cm_leave_all(struct cm_id *id)
{
	struct cm_membership *membership;

	while ((membership = LIST_FIRST(&id->memberships)) != NULL) {
		LIST_REMOVE(membership, entry);
		leave(id, membership);
	}
}

SOFT_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	CM_ENTER(id);
	return join(cm_id_of(id), addr, false, context);
}

SOFT_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
				       void *context)
{
	const uint32_t known = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

	CM_ENTER(id);
	if (attr == NULL || attr->comp_mask != known ||
	    attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return call_failed(CM_REFUSE(EINVAL, __func__, cm_id_of(id),
					     "expected attributes with an address and join flags"));
	return join(cm_id_of(id), attr->addr,
		    attr->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
}

SOFT_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cm_membership *membership = NULL;
	int error;

	CM_ENTER(id);
	if (cm_address_bytes(addr) == 0)
		return call_failed(CM_REFUSE(EINVAL, __func__, cm_id_of(id),
					     "expected an IPv4 or IPv6 address"));
	pthread_mutex_lock(&cm_lock);
	membership = find(cm_id_of(id), addr);
	if (membership != NULL)
		LIST_REMOVE(membership, entry);
	pthread_mutex_unlock(&cm_lock);
	error = membership == NULL ? CM_REFUSE(EADDRNOTAVAIL, __func__, cm_id_of(id),
					       "it is not in this group")
				   : leave(cm_id_of(id), membership);
	return error == 0 ? 0 : call_failed(error);
}
