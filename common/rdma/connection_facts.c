/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_facts.c -- asks librpma, the RDMA CM and the queue pair of a connection.
 *
 * A device that cannot tell leaves a figure unknown: no measurement depends on it.
 */
#include "connection_facts.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

#include "librpma_1_4.h"

/* IBV_MTU_256 is 1, and each next one is twice as large. */
static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

static void take_path(struct connection_facts *f, struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {.path_mtu = 0};

	if (ibv_query_qp(qp, &attr, IBV_QP_AV | IBV_QP_PATH_MTU, &init) != 0)
		return;
	f->path_mtu_bytes = mtu_bytes(attr.path_mtu);
	if (attr.ah_attr.is_global)
		f->gid_index = attr.ah_attr.grh.sgid_index;
}

/* The type is that of the entry which the queue pair uses: a table has several. */
static void take_gid(struct connection_facts *f, const struct rdma_cm_id *id)
{
	static const char *const types[] = {
		[IBV_GID_TYPE_IB] = "ib",
		[IBV_GID_TYPE_ROCE_V1] = "roce-v1",
		[IBV_GID_TYPE_ROCE_V2] = "roce-v2",
	};
	struct ibv_gid_entry entry;

	if (inet_ntop(AF_INET6, &id->route.addr.addr.ibaddr.sgid, f->gid, sizeof(f->gid)) == NULL)
		f->gid[0] = '\0';
	if (f->gid_index >= 0 &&
	    ibv_query_gid_ex(id->verbs, id->port_num, (uint32_t)f->gid_index, &entry, 0) == 0 &&
	    entry.gid_type < sizeof(types) / sizeof(types[0]))
		f->gid_type = types[entry.gid_type];
}

void connection_facts_take(struct connection_facts *facts, const struct connection *connection)
{
	const struct librpma_1_4 newer = librpma_1_4_calls();
	const struct rpma_conn *conn = connection_conn(connection);
	struct connection_facts f = {.gid_index = -1};
	struct rdma_cm_id *id = NULL;

	*facts = f;
	if (newer.conn_get_option == NULL)
		return;
	if (newer.conn_get_option(conn, RPMA_CONN_OPT_SQ_SIZE, &f.sq_size) != 0 ||
	    newer.conn_get_option(conn, RPMA_CONN_OPT_RQ_SIZE, &f.rq_size) != 0 ||
	    newer.conn_get_option(conn, RPMA_CONN_OPT_CQ_SIZE, &f.cq_size) != 0)
		return;
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (newer.conn_get_option(conn, connection_knob_rows[i].number,
					  &f.knobs.value[i]) != 0)
			f.knobs.value[i] = CONNECTION_KNOB_UNSET;
	}
	if (newer.conn_get_id(conn, &id) == 0) {
		take_path(&f, id->qp);
		take_gid(&f, id);
	}
	f.known = true;
	*facts = f;
}
