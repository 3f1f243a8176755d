/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush_peers.c -- one cell of the flush matrix: a target and an initiator,
 * each with the librpma.so.0 that LD_LIBRARY_PATH names.
 *
 *	flush_peers target ADDR dram|DEVICE visibility|persistent USAGE COUNT
 *	flush_peers initiator ADDR PORT visibility|persistent [RECORDS]
 *
 * USAGE is flush-only, with-read, or a number of RPMA_MR_USAGE_* bits. The target serves COUNT
 * connections and prints its port. The initiator writes, flushes, and prints what became of
 * the flush: by-flush or by-read, as in its completion, or refused. With RECORDS it writes so many
 * records of 64 bytes in turn, byte K + 1 in record K, flushes each, and prints how many flushes
 * have succeeded: until the target's power fails.
 */
#include "session.h"

#define REGION_BYTES ((size_t)2 << 20)
#define WRITE_OFFSET 4096
#define OPCODE_FLUSH 8 /* IBV_WC_FLUSH, which older headers lack */

static const char text[64] = "written before the flush";

static enum rpma_flush_type flush_type(const char *name)
{
	MUST_HOLD(strcmp(name, "visibility") == 0 || strcmp(name, "persistent") == 0);
	return name[0] == 'p' ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
}

static void serve(struct rpma_ep *ep, const struct rpma_mr_local *mr, char *memory)
{
	struct rpma_conn_req *req = NULL;

	memset(memory + WRITE_OFFSET, 0, sizeof(text));
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	struct rpma_conn *conn = session_accept(req, mr);
	session_expect_event(conn, RPMA_CONN_CLOSED);
	MUST_HOLD(memcmp(memory + WRITE_OFFSET, text, sizeof(text)) == 0);
	MUST(rpma_conn_disconnect(conn));
	session_delete(conn);
}

static int usage_of(const char *name, enum rpma_flush_type type)
{
	const int flush = type == RPMA_FLUSH_TYPE_PERSISTENT ? RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
							     : RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;

	if (strcmp(name, "with-read") == 0)
		return RPMA_MR_USAGE_WRITE_DST | flush | RPMA_MR_USAGE_READ_SRC;
	if (strcmp(name, "flush-only") == 0)
		return RPMA_MR_USAGE_WRITE_DST | flush;
	return (int)strtol(name, NULL, 0);
}

static int target(const char *addr, const char *place, const char *type, const char *usage_name,
		  int count)
{
	const int usage = usage_of(usage_name, flush_type(type));
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	char *memory = session_memory(place, REGION_BYTES);
	struct rpma_mr_local *mr = NULL;

	MUST(rpma_mr_reg(peer, memory, REGION_BYTES, usage, &mr));
	struct rpma_ep *ep = session_serve(peer, addr);
	while (count-- > 0)
		serve(ep, mr, memory);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_mr_dereg(&mr));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

static const char *outcome(const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_REM_ACCESS_ERR)
		return "refused";
	if (wc->status != IBV_WC_SUCCESS)
		return ibv_wc_status_str(wc->status);
	if (wc->opcode == IBV_WC_RDMA_READ)
		return "by-read";
	return (int)wc->opcode == OPCODE_FLUSH ? "by-flush" : "unknown";
}

static void flush_once(struct rpma_conn *conn, struct rpma_mr_remote *dst,
		       struct rpma_mr_local *src, enum rpma_flush_type type)
{
	MUST(rpma_write(conn, dst, WRITE_OFFSET, src, 0, sizeof(text), RPMA_F_COMPLETION_ON_ERROR,
			NULL));
	MUST(rpma_flush(conn, dst, WRITE_OFFSET, sizeof(text), type, RPMA_F_COMPLETION_ALWAYS,
			text));
	struct ibv_wc wc = session_conn_completion(conn);
	MUST_HOLD(wc.wr_id == (uintptr_t)text);
	printf("%s\n", outcome(&wc));

	MUST(rpma_conn_disconnect(conn));
	session_expect_event(conn, RPMA_CONN_CLOSED);
}

static void write_records(struct rpma_conn *conn, struct rpma_mr_remote *dst, char *source,
			  struct rpma_mr_local *src, enum rpma_flush_type type, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		const size_t at = (size_t)i * sizeof(text);

		memset(source, i + 1, sizeof(text));
		if (rpma_write(conn, dst, at, src, 0, sizeof(text), RPMA_F_COMPLETION_ON_ERROR,
			       NULL) ||
		    rpma_flush(conn, dst, at, sizeof(text), type, RPMA_F_COMPLETION_ALWAYS, NULL))
			break;
		if (session_conn_completion(conn).status != IBV_WC_SUCCESS)
			break;
		kept++;
	}
	printf("%d\n", kept);
}

static int initiator(const char *addr, const char *port, const char *type, int records)
{
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	char *source = session_memory("dram", sizeof(text));
	struct rpma_mr_local *src = NULL;
	struct rpma_mr_remote *dst = NULL;
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_conn_req *req = NULL;

	memcpy(source, text, sizeof(text));
	MUST(rpma_mr_reg(peer, source, sizeof(text), RPMA_MR_USAGE_WRITE_SRC, &src));
	MUST(rpma_conn_req_new(peer, addr, port, NULL, &req));
	struct rpma_conn *conn = session_connect(req, "flush");
	session_take_region(conn, &dst, &pcfg);
	MUST(rpma_conn_apply_remote_peer_cfg(conn, pcfg));

	if (records > 0)
		write_records(conn, dst, source, src, flush_type(type), records);
	else
		flush_once(conn, dst, src, flush_type(type));
	session_delete(conn);
	MUST(rpma_peer_cfg_delete(&pcfg));
	MUST(rpma_mr_remote_delete(&dst));
	MUST(rpma_mr_dereg(&src));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

int main(int argc, char **argv)
{
	session_start("flush_peers", 60);
	if (argc == 7 && strcmp(argv[1], "target") == 0)
		return target(argv[2], argv[3], argv[4], argv[5], atoi(argv[6]));
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "initiator") == 0)
		return initiator(argv[2], argv[3], argv[4], argc == 6 ? atoi(argv[5]) : 0);
	fprintf(stderr, "flush_peers: expected the arguments of target or initiator\n");
	return 64;
}
