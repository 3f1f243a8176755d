/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_new.c -- build a connection's verbs objects, and take them down.
 *
 * conn_req.c and ep.c build, rpma_conn_delete() and every failure take down:
 * rpma_conn_delete() is the one list of what a connection holds.
 */
#include "conn.h"
#include "native.h"
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static int create_cq(const struct rpma_conn *conn, uint32_t size, struct rpma_cq **cq)
{
	const uint32_t *options = conn->options;
	int ret = rpma_cq_open(conn->peer->pd->context, size,
			       (int)options[RPMA_CONN_OPT_COMP_VECTOR], conn->channel, cq);

	if (ret)
		return ret;
	return rpma_cq_moderate(*cq, options[RPMA_CONN_OPT_CQ_MODERATION_COUNT],
				options[RPMA_CONN_OPT_CQ_MODERATION_US]);
}

/* Receives that may complete in the CQ of sends. */
static uint32_t receives_in_cq(const struct rpma_conn *conn)
{
	const struct rpma_srq *srq = conn->srq;
	const bool elsewhere =
		conn->options[RPMA_CONN_OPT_RCQ_SIZE] > 0 || (srq != NULL && srq->rcq != NULL);

	if (elsewhere)
		return 0;
	return srq != NULL ? srq->size : conn->options[RPMA_CONN_OPT_RQ_SIZE];
}

/* This connection's share of a queue that several use. */
static uint32_t entries_needed(const struct rpma_conn *conn)
{
	const uint64_t needed =
		(uint64_t)conn->options[RPMA_CONN_OPT_SQ_SIZE] + receives_in_cq(conn);

	return needed > INT_MAX ? INT_MAX : (uint32_t)needed;
}

/* Counted operations need room for a completion each: all operations leave one on failure. */
static uint32_t cq_size(const struct rpma_conn *conn)
{
	const uint32_t size = conn->options[RPMA_CONN_OPT_CQ_SIZE];
	const uint32_t needed = entries_needed(conn);

	return conn->options[RPMA_CONN_OPT_SIGNAL_EVERY] == 0 || needed <= size ? size : needed;
}

/* An SRQ with a receive queue of its own brings it along; else the option decides. */
static int create_cqs(struct rpma_conn *conn, bool shared_channel)
{
	struct ibv_context *ibv_ctx = conn->peer->pd->context;
	bool srq_has_rcq = conn->srq != NULL && conn->srq->rcq != NULL;

	if (conn->shares_cq) {
		if (shared_channel)
			return RPMA_FAIL_WITH(
				RPMA_E_INVAL,
				"a completion queue of rpma_cq_new() has a channel already");
		int ret = rpma_cq_reserve(conn->cq, entries_needed(conn));
		if (ret) {
			conn->cq = NULL;
			return ret;
		}
		conn->cq_entries = entries_needed(conn);
		if (conn->options[RPMA_CONN_OPT_RCQ_SIZE] == 0 || srq_has_rcq)
			return 0;
		return create_cq(conn, conn->options[RPMA_CONN_OPT_RCQ_SIZE], &conn->rcq);
	}
	if (shared_channel && srq_has_rcq) {
		RPMA_LOG_ERROR("a shared completion channel cannot serve the receive CQ of an SRQ");
		return RPMA_E_INVAL;
	}
	if (shared_channel) {
		conn->channel = ibv_create_comp_channel(ibv_ctx);
		if (conn->channel == NULL) {
			RPMA_LOG_ERRNO(errno, "ibv_create_comp_channel(%s)", ibv_ctx->device->name);
			return RPMA_E_PROVIDER;
		}
	}

	int ret = create_cq(conn, cq_size(conn), &conn->cq);
	if (ret || conn->options[RPMA_CONN_OPT_RCQ_SIZE] == 0 || srq_has_rcq)
		return ret;
	return create_cq(conn, conn->options[RPMA_CONN_OPT_RCQ_SIZE], &conn->rcq);
}

static struct ibv_cq *recv_cq(const struct rpma_conn *conn)
{
	if (conn->srq != NULL && conn->srq->rcq != NULL)
		return conn->srq->rcq->ibv_cq;
	return conn->rcq != NULL ? conn->rcq->ibv_cq : conn->cq->ibv_cq;
}

/* A list with native operations is posted by ibv_wr_* as a whole. */
#define LIST_OPERATIONS                                                                            \
	((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |               \
		    IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |                           \
		    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                 \
		    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD))

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

/* Native operations and those that a list has besides, or the native ones alone. */
static int create_qp_for_lists(struct rpma_conn *conn, struct ibv_qp_init_attr_ex *attr,
			       uint64_t natives)
{
	if (natives != 0 && create_qp_with(conn, attr, natives | LIST_OPERATIONS) == 0)
		return 0;
	return create_qp_with(conn, attr, natives);
}

/*
 * The provider in this process may be too old for what the device has: that of rdma-core 44
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
		if (create_qp_for_lists(conn, attr, attempts[i]) == 0) {
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

/* At least what rpma_atomic_write() sends where there is no native one. */
static uint32_t inline_size(const struct rpma_conn *conn)
{
	const uint32_t size = conn->options[RPMA_CONN_OPT_INLINE_SIZE];

	return size > RPMA_ATOMIC_WRITE_ALIGNMENT ? size : RPMA_ATOMIC_WRITE_ALIGNMENT;
}

static uint32_t send_sges(const struct rpma_conn *conn)
{
	const uint32_t sges = conn->options[RPMA_CONN_OPT_SEND_SGES];

	return sges > 0 ? sges : 1;
}

/* Logs what verbs have granted, and how the connection will flush. */
static int take_granted(struct rpma_conn *conn, const struct ibv_qp_cap *cap)
{
	uint32_t *options = conn->options;

	options[RPMA_CONN_OPT_CQ_SIZE] = (uint32_t)conn->cq->ibv_cq->cqe;
	options[RPMA_CONN_OPT_RCQ_SIZE] = conn->rcq != NULL ? (uint32_t)conn->rcq->ibv_cq->cqe : 0;
	/* where operations are counted no more are under way than there are entries of the CQ */
	if (options[RPMA_CONN_OPT_SIGNAL_EVERY] == 0)
		options[RPMA_CONN_OPT_SQ_SIZE] = cap->max_send_wr;
	options[RPMA_CONN_OPT_RQ_SIZE] = cap->max_recv_wr;
	options[RPMA_CONN_OPT_INLINE_SIZE] = cap->max_inline_data;
	if (options[RPMA_CONN_OPT_FLUSH_METHOD] == RPMA_FLUSH_METHOD_NATIVE &&
	    !conn->native_flush) {
		RPMA_LOG_ERROR("device %s lacks native flush, which this connection requires",
			       conn->qp->context->device->name);
		return RPMA_E_NOSUPP;
	}
	conn->flushes_natively_only =
		options[RPMA_CONN_OPT_FLUSH_METHOD] == RPMA_FLUSH_METHOD_NATIVE;
	if (options[RPMA_CONN_OPT_FLUSH_METHOD] == RPMA_FLUSH_METHOD_READ)
		conn->native_flush = false;
	options[RPMA_CONN_OPT_FLUSH_METHOD] =
		conn->native_flush ? RPMA_FLUSH_METHOD_NATIVE : RPMA_FLUSH_METHOD_READ;
	return 0;
}

static int create_qp(struct rpma_conn *conn)
{
	/* the device may give more, for whose completions the CQ has no room */
	const uint32_t sends = conn->options[RPMA_CONN_OPT_SQ_SIZE];
	const uint32_t receives = conn->options[RPMA_CONN_OPT_RQ_SIZE];
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = conn->cq->ibv_cq,
		.recv_cq = recv_cq(conn),
		.srq = conn->srq ? conn->srq->ibv_srq : NULL,
		.cap =
			{
				.max_send_wr = conn->options[RPMA_CONN_OPT_SQ_SIZE],
				.max_recv_wr = conn->options[RPMA_CONN_OPT_RQ_SIZE],
				.max_send_sge = send_sges(conn),
				.max_recv_sge = 1,
				.max_inline_data = inline_size(conn),
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
	conn->qp->qp_context = conn; /* for rpma_peer_next_async_event() */
	int ret = take_granted(conn, &attr.cap);
	if (ret == 0)
		ret = rpma_sendq_open(conn, sends, send_sges(conn),
				      attr.send_ops_flags & LIST_OPERATIONS);
	if (ret)
		return ret;
	conn->options[RPMA_CONN_OPT_BATCH_SIZE] = conn->sendq.batch;
	conn->options[RPMA_CONN_OPT_SEND_SGES] = conn->sendq.max_sge;
	if (conn->shares_cq)
		rpma_cq_join(conn->cq, conn->qp->qp_num, conn);
	if (conn->sendq.every == 0)
		return 0;
	conn->options[RPMA_CONN_OPT_SIGNAL_EVERY] = conn->sendq.every;
	conn->sendq.has_srq = conn->srq != NULL && receives_in_cq(conn) > 0;
	if (conn->srq == NULL && conn->rcq == NULL) /* the CQ has room for these */
		conn->sendq.receives_max = receives;
	if (!conn->shares_cq)
		conn->cq->sendq = &conn->sendq;
	return 0;
}

static int refuse_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	return ENOTCONN;
}

static int refuse_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	return ENOTCONN;
}

/* Never written. */
static struct ibv_context nowhere = {.ops = {.post_send = refuse_send, .post_recv = refuse_recv}};
struct ibv_qp rpma_no_qp = {.context = &nowhere};

/* Every operation goes to rpma_sendq_post(), which finds no slots. */
const struct rpma_sendq rpma_no_sendq = {.every = 1, .max_sge = RPMA_SGES_MAX};

static void leave_cq(struct rpma_conn *conn, uint32_t qp_num)
{
	if (conn->shares_cq)
		rpma_cq_leave(conn->cq, qp_num);
}

static void drop_qp(struct rpma_conn *conn, struct rdma_cm_id *id)
{
	if (id->qp != NULL) {
		leave_cq(conn, id->qp->qp_num);
		rdma_destroy_qp(id);
	}
	rpma_sendq_close(&conn->sendq);
	conn->sendq = rpma_no_sendq;
	if (!conn->shares_cq)
		conn->cq->sendq = NULL;
	conn->qp = &rpma_no_qp;
	conn->qpx = NULL;
	conn->native_flush = conn->native_atomic_write = false;
}

/* Refuses what the device cannot, as each value by itself is one that it may have. */
static int check_options(const struct rpma_conn *conn)
{
	if (conn->options[RPMA_CONN_OPT_SIGNAL_EVERY] > 0 &&
	    conn->options[RPMA_CONN_OPT_SQ_SIZE] == 0)
		return RPMA_FAIL_WITH(RPMA_E_INVAL,
				      "RPMA_CONN_OPT_SQ_SIZE is 0, expected 1 or more to count");
	return 0;
}

int rpma_conn_new(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg, bool counts,
		  struct rpma_conn **conn_ptr)
{
	struct rpma_conn *conn = calloc(1, sizeof(*conn));
	if (conn == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*conn));
	conn->peer = peer;
	conn->srq = cfg->srq;
	conn->cq = cfg->cq;
	conn->shares_cq = conn->cq != NULL;
	conn->qp = &rpma_no_qp;
	conn->sendq = rpma_no_sendq;
	for (int i = 0; i < RPMA_CONN_OPTIONS; i++)
		conn->options[i] = atomic_load(&cfg->options[i]);
	if (conn->options[RPMA_CONN_OPT_SIGNAL_EVERY] == RPMA_CONN_OPT_UNSET && !counts &&
	    !cfg->sizes_sq && !conn->shares_cq)
		conn->options[RPMA_CONN_OPT_SIGNAL_EVERY] = 0;

	int ret = check_options(conn);
	if (ret == 0)
		ret = create_cqs(conn, cfg->shared_channel);
	if (ret) {
		(void)rpma_conn_delete(&conn);
		return ret;
	}
	*conn_ptr = conn;
	return 0;
}

int rpma_conn_adopt_id(struct rpma_conn *conn, struct rdma_cm_id *id)
{
	conn->id = id;
	int ret = check_device(conn);
	if (ret == 0)
		ret = create_qp(conn);
	if (ret) {
		drop_qp(conn, id);
		conn->id = NULL; /* stays with the caller */
	}
	return ret;
}

void rpma_conn_drop_id(struct rpma_conn *conn)
{
	if (conn->id == NULL)
		return;
	drop_qp(conn, conn->id);
	if (rdma_destroy_id(conn->id))
		RPMA_LOG_ERRNO(errno, "rdma_destroy_id()");
	conn->id = NULL;
}

int rpma_conn_prepare(struct rpma_conn *conn)
{
	conn->evch = rdma_create_event_channel();
	if (conn->evch == NULL) {
		RPMA_LOG_ERRNO(errno, "rdma_create_event_channel()");
		return RPMA_E_PROVIDER;
	}
	if (conn->id != NULL && rdma_migrate_id(conn->id, conn->evch)) {
		RPMA_LOG_ERRNO(errno, "rdma_migrate_id()");
		return RPMA_E_PROVIDER;
	}
	const uint32_t timeout_ms = conn->options[RPMA_CONN_OPT_CONNECT_MS];
	if (timeout_ms > 0) {
		int ret = rpma_deadline_set(&conn->deadline, conn->evch, timeout_ms);
		if (ret)
			return ret;
	}
	return rpma_flush_sink_open(&conn->sink, conn->peer);
}

int rpma_conn_delete(struct rpma_conn **conn_ptr)
{
	int ret = 0;

	if (conn_ptr == NULL)
		return RPMA_FAIL_NULL(conn_ptr);
	struct rpma_conn *conn = *conn_ptr;
	if (conn == NULL)
		return 0;

	rpma_status_keep(&ret, rpma_flush_sink_close(&conn->sink));
	if (conn->id != NULL && conn->id->qp != NULL) {
		leave_cq(conn, conn->id->qp->qp_num);
		rdma_destroy_qp(conn->id);
	}
	rpma_status_keep(&ret, rpma_cq_close(&conn->rcq));
	if (!conn->shares_cq)
		rpma_status_keep(&ret, rpma_cq_close(&conn->cq));
	else if (conn->cq != NULL)
		rpma_cq_release(conn->cq, conn->cq_entries);
	if (conn->id != NULL && rdma_destroy_id(conn->id))
		rpma_status_fail(&ret, "rdma_destroy_id()", errno);
	if (conn->channel != NULL)
		rpma_status_verb(&ret, "ibv_destroy_comp_channel()",
				 ibv_destroy_comp_channel(conn->channel));
	rpma_deadline_close(&conn->deadline);
	if (conn->evch != NULL)
		rdma_destroy_event_channel(conn->evch);
	rpma_connecting_delete(&conn->connecting);
	rpma_sendq_close(&conn->sendq);
	free(conn->private_data.ptr);
	free(conn);
	*conn_ptr = NULL;
	return ret;
}
