/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_new.c -- build a connection's verbs objects, and take them down.
 *
 * conn_req.c and ep.c build, rpma_conn_delete() and every failure take down:
 * rpma_conn_delete() is the one list of what a connection holds.
 */
#include "conn.h"
#include "native.h"
#include "srq.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

/* An SRQ with a receive queue of its own brings it along; else rcq_size decides. */
static int create_cqs(struct rpma_conn *conn, const struct rpma_conn_cfg *cfg)
{
	struct ibv_context *ibv_ctx = conn->peer->pd->context;
	const struct rpma_srq *srq = cfg->srq;
	bool srq_has_rcq = srq != NULL && srq->rcq != NULL;

	if (cfg->shared_channel && srq_has_rcq) {
		RPMA_LOG_ERROR("a shared completion channel cannot serve the receive CQ of an SRQ");
		return RPMA_E_INVAL;
	}
	if (cfg->shared_channel) {
		conn->channel = ibv_create_comp_channel(ibv_ctx);
		if (conn->channel == NULL) {
			RPMA_LOG_ERRNO(errno, "ibv_create_comp_channel()");
			return RPMA_E_PROVIDER;
		}
	}

	int ret = rpma_cq_new(ibv_ctx, cfg->cq_size, conn->channel, &conn->cq);
	if (ret || cfg->rcq_size == 0 || srq_has_rcq)
		return ret;
	return rpma_cq_new(ibv_ctx, cfg->rcq_size, conn->channel, &conn->rcq);
}

static struct ibv_cq *recv_cq(const struct rpma_conn *conn, const struct rpma_srq *srq)
{
	if (srq != NULL && srq->rcq != NULL)
		return srq->rcq->ibv_cq;
	return conn->rcq != NULL ? conn->rcq->ibv_cq : conn->cq->ibv_cq;
}

/* The extended operations that the device has and we use. */
static uint64_t native_operations(const struct rpma_device_caps *caps)
{
	return (caps->atomic_write ? RPMA_QP_EX_WITH_ATOMIC_WRITE : 0) |
	       (caps->flush ? RPMA_QP_EX_WITH_FLUSH : 0);
}

/* Providers without extended operations refuse their mere mention: the mask has them if some. */
static int create_qp_with(struct rpma_conn *conn, struct ibv_qp_init_attr_ex *attr,
			  uint64_t operations)
{
	attr->comp_mask = IBV_QP_INIT_ATTR_PD;
	if (operations != 0)
		attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = operations;
	if (rdma_create_qp_ex(conn->id, attr))
		return -1;

	conn->native_flush = (operations & RPMA_QP_EX_WITH_FLUSH) != 0;
	conn->native_atomic_write = (operations & RPMA_QP_EX_WITH_ATOMIC_WRITE) != 0;
	conn->qpx = operations != 0 ? ibv_qp_to_qp_ex(conn->id->qp) : NULL;
	return 0;
}

/*
 * What the device has, its provider in this process may be too old for: that of rdma-core 44
 * knows the atomic write and no flush. A refusal is not the end.
 */
static int create_qp_natively(struct rpma_conn *conn, struct ibv_qp_init_attr_ex *attr)
{
	const uint64_t wanted = native_operations(&conn->peer->caps);
	const uint64_t attempts[] = {wanted, wanted & RPMA_QP_EX_WITH_ATOMIC_WRITE, 0};
	uint64_t refused = 0;
	int refusal = 0;

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		if (i > 0 && attempts[i] == attempts[i - 1])
			continue;
		if (create_qp_with(conn, attr, attempts[i]) == 0) {
			refused = wanted & ~attempts[i];
			break;
		}
		if (attempts[i] == 0)
			return -1;
		refusal = errno;
	}
	if (refused != 0)
		RPMA_LOG_WARNING("libibverbs' provider of %s refused a QP with native %s: %s",
				 attr->pd->context->device->name,
				 !(refused & RPMA_QP_EX_WITH_FLUSH) ? "atomic write"
				 : !(refused & RPMA_QP_EX_WITH_ATOMIC_WRITE)
					 ? "flush"
					 : "flush or atomic write",
				 strerror(refusal));
	return 0;
}

/* librdmacm answers EINVAL alone for a device other than the peer's. */
static int check_device(const struct rpma_conn *conn)
{
	const struct ibv_context *peers = conn->peer->pd->context;
	const struct ibv_context *found = conn->id->verbs;

	if (found == NULL || found == peers)
		return 0;
	RPMA_LOG_ERROR("the connection goes through device %s, the peer was made for device %s",
		       found->device->name, peers->device->name);
	return RPMA_E_PROVIDER;
}

static int create_qp(struct rpma_conn *conn, const struct rpma_conn_cfg *cfg)
{
	const struct rpma_srq *srq = cfg->srq;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = conn->cq->ibv_cq,
		.recv_cq = recv_cq(conn, srq),
		.srq = srq ? srq->ibv_srq : NULL,
		.cap =
			{
				.max_send_wr = cfg->sq_size,
				.max_recv_wr = cfg->rq_size,
				.max_send_sge = 1,
				.max_recv_sge = 1,
				.max_inline_data = RPMA_ATOMIC_WRITE_ALIGNMENT,
			},
		.qp_type = IBV_QPT_RC,
		.pd = conn->peer->pd,
	};

	if (create_qp_natively(conn, &attr)) {
		RPMA_LOG_ERRNO(errno,
			       "device %s refused a QP with max_send_wr %u, max_recv_wr %u, "
			       "max_inline_data %u: rdma_create_qp_ex()",
			       attr.pd->context->device->name, attr.cap.max_send_wr,
			       attr.cap.max_recv_wr, attr.cap.max_inline_data);
		return RPMA_E_PROVIDER;
	}
	conn->qp = conn->id->qp;
	return 0;
}

int rpma_conn_new(struct rpma_peer *peer, struct rdma_cm_id *id, const struct rpma_conn_cfg *cfg,
		  struct rpma_conn **conn_ptr)
{
	if (cfg == NULL)
		cfg = &rpma_conn_cfg_default;

	struct rpma_conn *conn = calloc(1, sizeof(*conn));
	if (conn == NULL)
		return RPMA_E_NOMEM;
	conn->peer = peer;
	conn->id = id;

	int ret = check_device(conn);
	if (ret == 0)
		ret = create_cqs(conn, cfg);
	if (ret == 0)
		ret = create_qp(conn, cfg);
	if (ret) {
		conn->id = NULL; /* stays with the caller */
		(void)rpma_conn_delete(&conn);
		return ret;
	}
	*conn_ptr = conn;
	return 0;
}

int rpma_conn_prepare(struct rpma_conn *conn)
{
	conn->evch = rdma_create_event_channel();
	if (conn->evch == NULL) {
		RPMA_LOG_ERRNO(errno, "rdma_create_event_channel()");
		return RPMA_E_PROVIDER;
	}
	if (rdma_migrate_id(conn->id, conn->evch)) {
		RPMA_LOG_ERRNO(errno, "rdma_migrate_id()");
		return RPMA_E_PROVIDER;
	}
	return rpma_flush_sink_open(&conn->sink, conn->peer);
}

int rpma_conn_delete(struct rpma_conn **conn_ptr)
{
	int ret = 0;

	if (conn_ptr == NULL)
		return RPMA_E_INVAL;
	struct rpma_conn *conn = *conn_ptr;
	if (conn == NULL)
		return 0;

	rpma_status_keep(&ret, rpma_flush_sink_close(&conn->sink));
	if (conn->qp != NULL)
		rdma_destroy_qp(conn->id);
	rpma_status_keep(&ret, rpma_cq_delete(&conn->rcq));
	rpma_status_keep(&ret, rpma_cq_delete(&conn->cq));
	if (conn->id != NULL && rdma_destroy_id(conn->id))
		rpma_status_fail(&ret, "rdma_destroy_id()", errno);
	if (conn->channel != NULL)
		rpma_status_verb(&ret, "ibv_destroy_comp_channel()",
				 ibv_destroy_comp_channel(conn->channel));
	if (conn->evch != NULL)
		rdma_destroy_event_channel(conn->evch);
	free(conn->private_data.ptr);
	free(conn);
	*conn_ptr = NULL;
	return ret;
}
