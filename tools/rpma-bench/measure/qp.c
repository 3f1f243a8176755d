/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp.c -- makes a queue pair of a connection, and takes it apart.
 */
#include "qp.h"

#include "common/base/failure.h"
#include "operation.h"

struct connection_queues qp_queues(const struct operation *operation, const struct operation *reads,
				   const struct params *params)
{
	uint32_t depth = params->depth, each = operation->work_requests;
	struct connection_queues queues = {0};

	if (reads != NULL && reads->work_requests > each)
		each = reads->work_requests;
	queues.sq_size = depth * each;
	/* a queue of no receives is no queue to some devices */
	queues.rq_size = operation->answered ? depth : 1;
	queues.cq_size = queues.sq_size + queues.rq_size;
	if (params->batch > 1)
		queues.batch = params->batch * each;
	return queues;
}

static int take_target(struct qp *qp, const struct region_desc *target)
{
	struct region_remote remote = {.mr = NULL};
	int ret = region_take(&remote, target, qp->conn);

	qp->remote = remote.mr;
	qp->remote_addr = remote.addr;
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "hello",
				   "%s describes its target in a way librpma refuses: %s",
				   connection_peer_name(qp->connection), connection_cause(ret));
	return 0;
}

static int make_ready(struct qp *qp, const struct operation *operation, uint32_t depth)
{
	int ret = rpma_cq_get_fd(qp->cq, &qp->cq_fd);

	if (ret == 0)
		ret = operation_arm(operation, qp, depth);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "connect", "%s: cannot ready a connection: %s",
				   connection_peer_name(qp->connection), connection_cause(ret));
	return 0;
}

int qp_attach(struct qp *qp, struct connection *connection, const struct region_desc *target,
	      const struct operation *operation, uint32_t depth)
{
	int ret;

	qp->connection = connection;
	qp->conn = connection_conn(connection);
	qp->cq = connection_cq(connection);
	ret = take_target(qp, target);
	if (ret == 0)
		ret = make_ready(qp, operation, depth);
	if (ret)
		qp_detach(qp);
	return ret;
}

/* Nothing is told of a server that flushes with its CPU: whether that is durable is in its report.
 */
void qp_mark_durable(const struct qp *qp, const struct operation *operation)
{
	const struct access *a = &qp->access;

	if (!operation->flushes || qp->flush_type != RPMA_FLUSH_TYPE_PERSISTENT)
		return;
	region_mark_durable(qp->conn, qp->remote_addr + a->base, a->slots * a->stride);
	if (operation->up_to_atomic_write != NULL)
		region_mark_durable(qp->conn, qp->remote_addr + access_tail_offset(a),
				    RPMA_ATOMIC_WRITE_ALIGNMENT);
}

void qp_detach(struct qp *qp)
{
	rpma_mr_remote_delete(&qp->remote);
	connection_close(&qp->connection);
	qp->conn = NULL;
	qp->cq = NULL;
}
