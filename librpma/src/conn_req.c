/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_req.c -- connection requests: outgoing ones made here, incoming ones by
 * ep.c, and both turned into connections.
 */
#include "conn.h"
#include "status.h"
#include "work.h"

#include <errno.h>
#include <stdlib.h>

enum { REJECT_MAX = 148 }; /* bytes of private data in a REJ: IBA 12.6.7 */

int rpma_conn_req_from_id(struct rpma_peer *peer, struct rdma_cm_id *id,
			  const struct rpma_conn_cfg *cfg, enum rpma_side side,
			  struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_cfg defaults;
	struct rpma_conn_req *req = calloc(1, sizeof(*req));
	if (req == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*req));
	req->side = side;

	rpma_conn_cfg_init(&defaults);
	int ret = rpma_conn_new(peer, cfg != NULL ? cfg : &defaults, false, &req->conn);
	if (ret == 0)
		ret = rpma_conn_adopt_id(req->conn, id);
	if (ret) {
		(void)rpma_conn_delete(&req->conn);
		free(req);
		return ret;
	}
	*req_ptr = req;
	return 0;
}

/* A blocking id that knows its device and its path to the other side. */
static int resolve(const char *addr, const char *port, const struct rpma_conn_cfg *cfg,
		   struct rdma_cm_id **id_ptr)
{
	const int timeout_ms = cfg->timeout_ms;
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	int ret = rpma_address_new(addr, port, RPMA_ACTIVE, &info);
	if (ret)
		return ret;
	ret = rpma_address_create_id(NULL, &id);
	if (ret)
		goto free_info;

	/* before the route, which depends on it */
	ret = rpma_connect_set_traffic_class(id, cfg->options[RPMA_CONN_OPT_TRAFFIC_CLASS]);
	if (ret == 0)
		ret = rpma_address_resolve(info, id, timeout_ms);
	if (ret == 0)
		ret = rpma_address_resolve_route(id, timeout_ms);
	if (ret)
		goto destroy_id;
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
	struct rpma_conn_cfg defaults;
	struct rdma_cm_id *id;

	if (peer == NULL || addr == NULL || port == NULL || req_ptr == NULL)
		return RPMA_FAIL_NULL(peer, addr, port, req_ptr);

	rpma_conn_cfg_init(&defaults);
	int ret = resolve(addr, port, cfg != NULL ? cfg : &defaults, &id);
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
static int reject(struct rpma_conn *conn, const struct rpma_conn_private_data *pdata)
{
	if (rdma_reject(conn->id, pdata != NULL ? pdata->ptr : NULL,
			pdata != NULL ? pdata->len : 0) == 0)
		return 0;

	RPMA_LOG_ERRNO(errno, "rdma_reject()");
	return RPMA_E_PROVIDER;
}

int rpma_conn_req_delete(struct rpma_conn_req **req_ptr)
{
	int ret = 0;

	if (req_ptr == NULL)
		return RPMA_FAIL_NULL(req_ptr);
	struct rpma_conn_req *req = *req_ptr;
	if (req == NULL)
		return 0;

	if (req->side == RPMA_PASSIVE)
		ret = reject(req->conn, NULL);
	rpma_status_keep(&ret, rpma_conn_delete(&req->conn));
	free(req);
	*req_ptr = NULL;
	return ret;
}

int rpma_conn_req_reject(struct rpma_conn_req **req_ptr, const struct rpma_conn_private_data *pdata)
{
	if (req_ptr == NULL || *req_ptr == NULL)
		return RPMA_FAIL(RPMA_E_INVAL, "there is no request");
	if ((*req_ptr)->side != RPMA_PASSIVE)
		return RPMA_FAIL(RPMA_E_INVAL, "the request is this side's, not a client's");
	if (pdata != NULL && (pdata->ptr == NULL || pdata->len == 0 || pdata->len > REJECT_MAX))
		return RPMA_FAIL(RPMA_E_INVAL,
				 "pdata has ptr %p and len %u, expected 1 to %d bytes", pdata->ptr,
				 pdata->len, REJECT_MAX);
	struct rpma_conn_req *req = *req_ptr;

	int ret = reject(req->conn, pdata);
	rpma_status_keep(&ret, rpma_conn_delete(&req->conn));
	free(req);
	*req_ptr = NULL;
	return ret;
}

int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
		       size_t len, const void *op_context)
{
	struct rpma_recv_work work;

	if (req == NULL || dst == NULL)
		return RPMA_FAIL_NULL(req, dst);
	if (!rpma_recv_work_init(&work, dst, offset, len, op_context))
		return RPMA_FAIL_RANGE(offset, len);

	return rpma_post_recv(req->conn, &work);
}

int rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
				   struct rpma_conn_private_data *pdata)
{
	if (req == NULL || pdata == NULL)
		return RPMA_FAIL_NULL(req, pdata);

	return rpma_conn_get_private_data(req->conn, pdata);
}

int rpma_conn_req_get_peer_addr(const struct rpma_conn_req *req, struct sockaddr_storage *addr)
{
	if (req == NULL || addr == NULL)
		return RPMA_FAIL_NULL(req, addr);

	*addr = req->conn->id->route.addr.dst_storage;
	return 0;
}

int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
			  const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr)
{
	int ret;

	if (req_ptr == NULL || *req_ptr == NULL)
		return RPMA_FAIL(RPMA_E_INVAL, "there is no request");
	struct rpma_conn_req *req = *req_ptr;

	if (conn_ptr == NULL) {
		ret = RPMA_FAIL_NULL(conn_ptr);
		goto delete_req;
	}
	if (pdata != NULL && (pdata->ptr == NULL || pdata->len == 0)) {
		ret = RPMA_FAIL(RPMA_E_INVAL, "pdata has ptr %p and len %u, expected some bytes",
				pdata->ptr, pdata->len);
		goto delete_req;
	}

	/*
	 * The events of the connection go to a channel of its own before the
	 * first of them can come: an answer that arrived on the endpoint's
	 * channel would be lost there (rdma_migrate_id(3)).
	 */
	ret = rpma_conn_prepare(req->conn);
	if (ret)
		goto delete_req;
	ret = rpma_connect_begin(req->conn, req->side, pdata);
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
