/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp.c -- the QP of an id: made, and taken through its states as a program would do it.
 *
 * rdma_init_qp_attr() names the attributes of each state, for programs that drive their
 * QPs themselves and for rdma_accept() and rdma_get_cm_event(), which drive the id's own. Sources
 * of the values: cm_init_qp_init_attr() and its two neighbours in the kernel's cm.c.
 */
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"
#include "soft_device/transport/request.h"

#define ROCE_HOP_LIMIT 64

/* Before there is a connection nothing is allowed to the peer. */
static void fill_init(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	attr->pkey_index = 0;
	attr->port_num = 1;
	attr->qp_access_flags = 0;
	if (id->state < CM_REQ_SENT)
		return;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources > 0)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
					 SOFT_ACCESS_FLUSH_GLOBAL | SOFT_ACCESS_FLUSH_PERSISTENT;
}

static void fill_rtr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	memset(&attr->ah_attr, 0, sizeof(attr->ah_attr));
	attr->ah_attr.is_global = 1;
	attr->ah_attr.port_num = 1;
	attr->ah_attr.grh.sgid_index = SOFT_CM_GID;
	attr->ah_attr.grh.hop_limit = ROCE_HOP_LIMIT;
	attr->ah_attr.grh.traffic_class = id->tos;
	gid_from_sockaddr(&attr->ah_attr.grh.dgid, (const struct sockaddr *)&id->remote);
	attr->path_mtu = IBV_MTU_4096;
	attr->dest_qp_num = id->peer_qpn;
	attr->rq_psn = id->psn;
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->min_rnr_timer = 0;
}

static void fill_rts(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT;
	attr->sq_psn = id->peer_psn;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->max_rd_atomic = id->initiator_depth;
	attr->timeout = id->ack_timeout_set ? id->ack_timeout : CM_ACK_TIMEOUT;
}

/* The peer's QP is known, and the connection has not ended. */
static bool knows_peer(const struct cm_id *id)
{
	switch (id->state) {
	case CM_REP_RECEIVED:
	case CM_REQ_RECEIVED:
	case CM_REP_SENT:
	case CM_ESTABLISHED:
		return true;
	default:
		return false;
	}
}

static int refuse_attr(const struct cm_id *id, enum ibv_qp_state state)
{
	return CM_REFUSE(-EINVAL, "rdma_init_qp_attr", id, "no attributes of %s in state %s",
			 name_of_state(state), cm_state_name(id->state));
}

/* cma_ib_init_qp_attr() of the kernel: the same for all states. */
static int fill_datagram(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	if (id->device == NULL)
		return refuse_attr(id, attr->qp_state);
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	attr->pkey_index = 0;
	attr->port_num = 1;
	attr->qkey = RDMA_UDP_QKEY;
	return 0;
}

/* Lock held. */
static int fill(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	if (cm_is_datagram(id))
		return fill_datagram(id, attr, mask);
	if (attr->qp_state == IBV_QPS_INIT && id->device != NULL &&
	    (id->state <= CM_REQ_SENT || knows_peer(id)))
		fill_init(id, attr, mask);
	else if (attr->qp_state == IBV_QPS_RTR && knows_peer(id))
		fill_rtr(id, attr, mask);
	else if (attr->qp_state == IBV_QPS_RTS && knows_peer(id))
		fill_rts(id, attr, mask);
	else
		return refuse_attr(id, attr->qp_state);
	return 0;
}

static int move_to(struct cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask, error;

	pthread_mutex_lock(&cm_lock);
	error = fill(id, &attr, &mask);
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		return error;
	error = ibv_modify_qp(id->pub.qp, &attr, mask);
	return error > 0 ? -error : error;
}

/* It has no peer to wait for. */
static int make_ready(struct cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	int error = move_to(id, IBV_QPS_INIT);

	if (error != 0 || !cm_is_datagram(id))
		return error;
	error = ibv_modify_qp(id->pub.qp, &attr, IBV_QP_STATE);
	if (error == 0) {
		attr.qp_state = IBV_QPS_RTS;
		error = ibv_modify_qp(id->pub.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	}
	return error > 0 ? -error : error;
}

/* INIT again first: the access flags depend on what was negotiated. */
int cm_qp_connect(struct cm_id *id)
{
	int error = move_to(id, IBV_QPS_INIT);

	if (error == 0)
		error = move_to(id, IBV_QPS_RTR);
	if (error == 0)
		error = move_to(id, IBV_QPS_RTS);
	return error;
}

void cm_qp_fail(struct cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (id->pub.qp != NULL)
		ibv_modify_qp(id->pub.qp, &attr, IBV_QP_STATE);
}

SOFT_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
				  int *qp_attr_mask)
{
	int error;

	CM_ENTER(id);
	if (qp_attr == NULL || qp_attr_mask == NULL)
		return call_failed(REFUSE(EINVAL, __func__, "%s is NULL",
					  qp_attr == NULL ? "qp_attr" : "qp_attr_mask"));
	pthread_mutex_lock(&cm_lock);
	error = -fill(cm_id_of(id), qp_attr, qp_attr_mask);
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? 0 : call_failed(error);
}

/*
 * The CQs that librdmacm made for the id, or that the program put there, as rsockets do: one for
 * both.
 */
static void destroy_cqs(struct rdma_cm_id *id)
{
	if (id->recv_cq != NULL)
		ibv_destroy_cq(id->recv_cq);
	if (id->send_cq != NULL && id->send_cq != id->recv_cq)
		ibv_destroy_cq(id->send_cq);
	if (id->recv_cq_channel != NULL)
		ibv_destroy_comp_channel(id->recv_cq_channel);
	if (id->send_cq_channel != NULL && id->send_cq_channel != id->recv_cq_channel)
		ibv_destroy_comp_channel(id->send_cq_channel);
	id->recv_cq = NULL;
	id->recv_cq_channel = NULL;
	id->send_cq = NULL;
	id->send_cq_channel = NULL;
}

static int create_cq(struct rdma_cm_id *id, uint32_t size, struct ibv_comp_channel **channel,
		     struct ibv_cq **cq)
{
	if (size == 0 || *cq != NULL)
		return 0;
	*channel = ibv_create_comp_channel(id->verbs);
	if (*channel == NULL)
		return -1;
	*cq = ibv_create_cq(id->verbs, (int)size, id, *channel, 0);
	return *cq == NULL ? -1 : 0;
}

/* The reason to refuse it, or NULL. */
static const char *wrong_attr(const struct rdma_cm_id *id, const struct ibv_qp_init_attr_ex *attr)
{
	if (id->qp != NULL)
		return "it has a QP";
	if (id->verbs == NULL)
		return "it has no device: resolve its address first";
	if (attr->qp_type != id->qp_type)
		return "another QP type than that of its port space";
	if (attr->pd == NULL || attr->pd->context != id->verbs)
		return "the PD is NULL, or of another device";
	if ((id->recv_cq != NULL && attr->recv_cq != NULL && id->recv_cq != attr->recv_cq) ||
	    (id->send_cq != NULL && attr->send_cq != NULL && id->send_cq != attr->send_cq))
		return "it has another CQ already";
	return NULL;
}

static int check_attr(const struct cm_id *id, const struct ibv_qp_init_attr_ex *attr)
{
	const char *wrong = wrong_attr(&id->pub, attr);

	return wrong == NULL ? 0 : CM_REFUSE(EINVAL, "rdma_create_qp", id, "%s", wrong);
}

static int create_qp(struct cm_id *of, struct ibv_qp_init_attr_ex *attr)
{
	struct rdma_cm_id *id = &of->pub;
	int error = check_attr(of, attr);

	if (error != 0)
		return call_failed(error);
	if ((attr->send_cq == NULL &&
	     create_cq(id, attr->cap.max_send_wr, &id->send_cq_channel, &id->send_cq) != 0) ||
	    (attr->recv_cq == NULL &&
	     create_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq) != 0))
		goto no_cq;
	if (attr->send_cq == NULL)
		attr->send_cq = id->send_cq;
	if (attr->recv_cq == NULL)
		attr->recv_cq = id->recv_cq;
	if (attr->srq == NULL)
		attr->srq = id->srq;
	id->qp = ibv_create_qp_ex(id->verbs, attr);
	if (id->qp == NULL)
		goto no_cq;
	error = make_ready(of);
	if (error != 0) {
		ibv_destroy_qp(id->qp);
		id->qp = NULL;
		errno = -error;
		goto no_cq;
	}
	id->pd = id->qp->pd;
	return 0;
no_cq:
	error = errno;
	destroy_cqs(id);
	return call_failed(error);
}

SOFT_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	CM_ENTER(id);
	if (attr == NULL)
		return call_failed(REFUSE(EINVAL, __func__, "attr is NULL"));
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	return create_qp(cm_id_of(id), attr);
}

/* ibv_qp_init_attr is the front of ibv_qp_init_attr_ex; what is returned in it is copied back. */
SOFT_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			       struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD};

	CM_ENTER(id);
	if (qp_init_attr == NULL)
		return call_failed(REFUSE(EINVAL, __func__, "qp_init_attr is NULL"));
	memcpy(&attr, qp_init_attr, sizeof(*qp_init_attr));
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = pd != NULL ? pd : id->pd;
	if (create_qp(cm_id_of(id), &attr) != 0)
		return -1;
	memcpy(qp_init_attr, &attr, sizeof(*qp_init_attr));
	return 0;
}

SOFT_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (id->qp == NULL)
		return;
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
	destroy_cqs(id);
}

/* 0 or EINVAL. */
static int check_srq(const struct rdma_cm_id *id, const void *attr)
{
	const char *wrong = attr == NULL	? "attr is NULL"
			    : id->srq != NULL	? "it has an SRQ"
			    : id->verbs == NULL ? "it has no device: resolve its address first"
						: NULL;

	return wrong == NULL ? 0
			     : CM_REFUSE(EINVAL, "rdma_create_srq", (const struct cm_id *)id, "%s",
					 wrong);
}

SOFT_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	CM_ENTER(id);
	if (check_srq(id, attr) != 0)
		return -1;
	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr->pd == NULL) {
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	id->srq = ibv_create_srq_ex(id->verbs, attr);
	return id->srq == NULL ? -1 : 0;
}

SOFT_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr)
{
	CM_ENTER(id);
	if (check_srq(id, attr) != 0)
		return -1;
	id->srq = ibv_create_srq(pd != NULL ? pd : id->pd, attr);
	return id->srq == NULL ? -1 : 0;
}

SOFT_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (id->srq == NULL)
		return;
	ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
