/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_req.c -- connection requests: outgoing ones made here, incoming ones by
 * ep.c, and both turned into connections.
 */
#include "conn_req.h"
#include "status.h"
#include "work.h"

#include <errno.h>
#include <stdlib.h>

int rpma_conn_req_from_id(struct rpma_peer *peer, struct rdma_cm_id *id,
			  const struct rpma_conn_cfg *cfg, enum rpma_side side,
			  struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req = malloc(sizeof(*req));
	if (req == NULL)
		return RPMA_E_NOMEM;
	req->side = side;

	int ret = rpma_conn_new(peer, id, cfg, &req->conn);
	if (ret) {
		free(req);
		return ret;
	}
	*req_ptr = req;
	return 0;
}

/* A blocking id that knows its device and its path to the other side. */
static int resolve(const char *addr, const char *port, int timeout_ms, struct rdma_cm_id **id_ptr)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	int ret = rpma_address_new(addr, port, RPMA_ACTIVE, &info);
	if (ret)
		return ret;
	ret = rpma_address_create_id(NULL, &id);
	if (ret)
		goto free_info;

	ret = rpma_address_resolve(info, id, timeout_ms);
	if (ret)
		goto destroy_id;
	if (rdma_resolve_route(id, timeout_ms)) {
		RPMA_LOG_ERRNO(errno, "rdma_resolve_route(timeout_ms=%d)", timeout_ms);
		ret = RPMA_E_PROVIDER;
		goto destroy_id;
	}
	*id_ptr = id;
	goto free_info;

destroy_id:
	(void)rdma_destroy_id(id);
free_info:
	rdma_freeaddrinfo(info);
	return ret;
}

int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port,
		      const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr)
{
	struct rdma_cm_id *id;

	if (peer == NULL || addr == NULL || port == NULL || req_ptr == NULL)
		return RPMA_E_INVAL;

	int ret = resolve(addr, port, (cfg ? cfg : &rpma_conn_cfg_default)->timeout_ms, &id);
	if (ret)
		return ret;
	ret = rpma_conn_req_from_id(peer, id, cfg, RPMA_ACTIVE, req_ptr);
	if (ret) {
		(void)rdma_destroy_id(id);
		return ret;
	}
	RPMA_LOG_NOTICE("a connection to %s:%s is requested", addr, port);
	return 0;
}

/* Tell the other side no; what is left of the request is its connection. */
static int reject(struct rpma_conn *conn)
{
	if (rdma_reject(conn->id, NULL, 0) == 0)
		return 0;

	RPMA_LOG_ERRNO(errno, "rdma_reject()");
	return RPMA_E_PROVIDER;
}

int rpma_conn_req_delete(struct rpma_conn_req **req_ptr)
{
	int ret = 0;

	if (req_ptr == NULL)
		return RPMA_E_INVAL;
	struct rpma_conn_req *req = *req_ptr;
	if (req == NULL)
		return 0;

	if (req->side == RPMA_PASSIVE)
		ret = reject(req->conn);
	rpma_status_keep(&ret, rpma_conn_delete(&req->conn));
	free(req);
	*req_ptr = NULL;
	return ret;
}

int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
		       size_t len, const void *op_context)
{
	struct rpma_recv_work work;

	if (req == NULL || dst == NULL || !rpma_recv_work_init(&work, dst, offset, len, op_context))
		return RPMA_E_INVAL;

	return rpma_post_recv(req->conn, &work);
}

int rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
				   struct rpma_conn_private_data *pdata)
{
	if (req == NULL || pdata == NULL)
		return RPMA_E_INVAL;

	return rpma_conn_get_private_data(req->conn, pdata);
}

int rpma_conn_req_get_peer_addr(const struct rpma_conn_req *req, struct sockaddr_storage *addr)
{
	if (req == NULL || addr == NULL)
		return RPMA_E_INVAL;

	*addr = req->conn->id->route.addr.dst_storage;
	return 0;
}

static int start(struct rpma_conn *conn, enum rpma_side side,
		 const struct rpma_conn_private_data *pdata)
{
	struct rdma_conn_param param = {
		.private_data = pdata ? pdata->ptr : NULL,
		.private_data_len = pdata ? pdata->len : 0,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.flow_control = 1,
		.retry_count = 7,     /* the most that three bits hold */
		.rnr_retry_count = 7, /* for ever */
	};
	const char *call = side == RPMA_ACTIVE ? "rdma_connect()" : "rdma_accept()";

	int err = side == RPMA_ACTIVE ? rdma_connect(conn->id, &param)
				      : rdma_accept(conn->id, &param);
	if (err) {
		RPMA_LOG_ERRNO(errno, "%s with %u bytes of private data", call,
			       param.private_data_len);
		return RPMA_E_PROVIDER;
	}
	return 0;
}

int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
			  const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr)
{
	int ret = RPMA_E_INVAL;

	if (req_ptr == NULL || *req_ptr == NULL)
		return RPMA_E_INVAL;
	struct rpma_conn_req *req = *req_ptr;

	if (conn_ptr == NULL || (pdata != NULL && (pdata->ptr == NULL || pdata->len == 0)))
		goto delete_req;

	/*
	 * The events of the connection go to a channel of its own before the
	 * first of them can come: an answer that arrived on the endpoint's
	 * channel would be lost there (rdma_migrate_id(3)).
	 */
	ret = rpma_conn_prepare(req->conn);
	if (ret)
		goto delete_req;
	ret = start(req->conn, req->side, pdata);
	if (ret)
		goto delete_req;

	*conn_ptr = req->conn;
	free(req);
	*req_ptr = NULL;
	return 0;

delete_req:
	(void)rpma_conn_req_delete(req_ptr);
	return ret;
}
