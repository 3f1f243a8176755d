/* SPDX-License-Identifier: BSD-3-Clause */
/* conn.c -- what the user asks of a connection besides moving data. */
#include "conn.h"
#include "log.h"

#include <errno.h>

int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata)
{
	if (conn == NULL || pdata == NULL)
		return RPMA_FAIL_NULL(conn, pdata);

	*pdata = conn->private_data;
	return 0;
}

int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg)
{
	if (conn == NULL || pcfg == NULL)
		return RPMA_FAIL_NULL(conn, pcfg);

	atomic_store(&conn->direct_write, atomic_load(&pcfg->direct_write_to_pmem));
	return 0;
}

int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num)
{
	if (conn == NULL || qp_num == NULL)
		return RPMA_FAIL_NULL(conn, qp_num);

	if (conn->qp == &rpma_no_qp)
		return RPMA_FAIL(RPMA_E_INVAL, "the connection is not established yet");
	*qp_num = conn->qp->qp_num;
	return 0;
}

int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd)
{
	if (conn == NULL || fd == NULL)
		return RPMA_FAIL_NULL(conn, fd);

	*fd = conn->deadline.is_set ? conn->deadline.fd : conn->evch->fd;
	return 0;
}

int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr)
{
	if (conn == NULL || cq_ptr == NULL)
		return RPMA_FAIL_NULL(conn, cq_ptr);

	*cq_ptr = conn->cq;
	return 0;
}

int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr)
{
	if (conn == NULL || rcq_ptr == NULL)
		return RPMA_FAIL_NULL(conn, rcq_ptr);

	*rcq_ptr = conn->rcq;
	return 0;
}

int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd)
{
	if (conn == NULL || fd == NULL)
		return RPMA_FAIL_NULL(conn, fd);
	if (conn->channel == NULL)
		return RPMA_FAIL(RPMA_E_NOT_SHARED_CHNL, "no shared completion channel");

	*fd = conn->channel->fd;
	return 0;
}

/* flags are for what is to come: any value is accepted, none means anything yet. */
int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq)
{
	struct ibv_cq *ev_cq;
	void *ev_ctx;

	(void)flags;
	if (conn == NULL || cq == NULL)
		return RPMA_FAIL_NULL(conn, cq);
	if (conn->channel == NULL)
		return RPMA_FAIL(RPMA_E_NOT_SHARED_CHNL, "no shared completion channel");

	if (ibv_get_cq_event(conn->channel, &ev_cq, &ev_ctx))
		return RPMA_E_NO_COMPLETION;

	bool from_rcq = conn->rcq != NULL && ev_cq == conn->rcq->ibv_cq;
	if (!from_rcq && ev_cq != conn->cq->ibv_cq) {
		ibv_ack_cq_events(ev_cq, 1); /* or it could not be destroyed */
		RPMA_LOG_ERROR("ibv_get_cq_event() named a CQ that is not of this connection");
		return RPMA_E_UNKNOWN;
	}
	*cq = from_rcq ? conn->rcq : conn->cq;
	rpma_cq_ack_event(*cq);
	if (is_rcq != NULL)
		*is_rcq = from_rcq;

	int ret = rpma_cq_arm_again(*cq);
	if (ret)
		*cq = NULL;
	return ret;
}

int rpma_conn_get_id(const struct rpma_conn *conn, struct rdma_cm_id **id)
{
	if (conn == NULL || id == NULL)
		return RPMA_FAIL_NULL(conn, id);

	if (conn->qp == &rpma_no_qp)
		return RPMA_FAIL(RPMA_E_INVAL, "the connection is not established yet");
	*id = conn->id;
	return 0;
}

int rpma_conn_set_context(struct rpma_conn *conn, void *context)
{
	if (conn == NULL)
		return RPMA_FAIL_NULL(conn);

	atomic_store(&conn->context, context);
	return 0;
}

int rpma_conn_get_context(const struct rpma_conn *conn, void **context)
{
	if (conn == NULL || context == NULL)
		return RPMA_FAIL_NULL(conn, context);

	*context = atomic_load(&conn->context);
	return 0;
}

int rpma_conn_get_rejection(const struct rpma_conn *conn, enum rpma_rejection *rejection)
{
	if (conn == NULL || rejection == NULL)
		return RPMA_FAIL_NULL(conn, rejection);

	*rejection = (enum rpma_rejection)atomic_load(&conn->rejection);
	return 0;
}

int rpma_conn_disconnect(struct rpma_conn *conn)
{
	if (conn == NULL)
		return RPMA_FAIL_NULL(conn);

	RPMA_LOG_NOTICE("disconnecting QP %u", conn->qp->qp_num);
	/* what waits completes too, with an error at the latest */
	int ret = rpma_sendq_submit(conn);
	if (rdma_disconnect(conn->id)) {
		RPMA_LOG_ERRNO(errno, "rdma_disconnect(QP %u)", conn->qp->qp_num);
		return RPMA_E_PROVIDER;
	}
	return ret ? RPMA_E_PROVIDER : 0;
}
