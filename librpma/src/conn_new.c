/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_new.c -- build a connection's verbs objects, and take them down.
 *
 * conn_req.c and ep.c build, rpma_conn_delete() and every failure take down:
 * rpma_conn_delete() is the one list of what a connection holds.
 */
#include "conn.h"
#include "srq.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

/* An SRQ with a receive queue of its own brings it along; else rcq_size says. */
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
	uint64_t operations = 0;

#ifdef RPMA_HAVE_ATOMIC_WRITE
	if (caps->atomic_write)
		operations |= IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
#ifdef RPMA_HAVE_FLUSH
	if (caps->flush)
		operations |= IBV_QP_EX_WITH_FLUSH;
#endif
	(void)caps;
	return operations;
}

/*
 * Providers without extended operations refuse their mere mention, so the mask
 * names them only when there are some, and a refusal is not the end.
 */
static int create_qp_with(struct rpma_conn *conn, struct ibv_qp_init_attr_ex *attr)
{
	const struct rpma_device_caps *caps = &conn->peer->caps;

	attr->send_ops_flags = native_operations(caps);
	if (attr->send_ops_flags == 0)
		return rdma_create_qp_ex(conn->id, attr);

	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (rdma_create_qp_ex(conn->id, attr) == 0) {
		conn->native_flush = caps->flush;
		conn->native_atomic_write = caps->atomic_write;
		return 0;
	}

	int refusal = errno;
	attr->comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = 0;
	int ret = rdma_create_qp_ex(conn->id, attr);
	if (ret == 0)
		RPMA_LOG_WARNING("the device refused a QP with native flush or atomic write: %s",
				 strerror(refusal));
	return ret;
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
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = conn->peer->pd,
	};

	if (create_qp_with(conn, &attr)) {
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
