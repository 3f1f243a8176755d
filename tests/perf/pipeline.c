/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline.c -- two ways to do the same with one connection, in turns.
 *
 * Usage: rpma-soft pipeline writes|flushes|appends OPERATIONS PAIRS
 *
 * writes: 64 bytes at depth 64, in lists of 16 of which the last leaves a completion; by hand with
 * ibv_post_send() and ibv_poll_cq(), and by rpma_write() with RPMA_F_MORE. flushes and appends:
 * 64 persistent bytes; write, flush and wait each time, and rpma_write_flush() or rpma_append()
 * with 32 in flight. Prints for each pair, after one that does not count, the nanoseconds of
 * an operation each way. pipeline_ratios.py runs it and judges.
 */
#include <endian.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/vm/session.h"

#define ADDRESS "127.0.0.1"
#define LIMIT_S 3600

enum { LINE = 64, DEPTH = 64, LIST = 16, IN_FLIGHT = 32, APPEND_LIST = 16, SIZE = 4096 };

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;
static struct rpma_mr_remote *remote;
static struct rpma_conn *conn;
static struct rpma_cq *cq;
static char *memory;

/* The same memory and the server's, for the loop by hand. */
static struct ibv_qp *qp;
static struct ibv_mr *verbs_mr;
static uint64_t remote_addr;
static uint32_t rkey;

static void open_memory(enum rpma_util_ibv_context_type type)
{
	const int usage = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST |
			  RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;

	peer = session_peer(ADDRESS, type);
	memory = session_memory("dram", SIZE);
	MUST(rpma_mr_reg(peer, memory, SIZE, usage, &mr));
}

static void serve(int port_fd)
{
	struct rpma_conn_req *req;
	struct rpma_ep *ep;
	char port[8];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_memory(RPMA_UTIL_IBV_CONTEXT_LOCAL);
	ep = session_listen(peer, ADDRESS, port);
	MUST_HOLD(write(port_fd, port, sizeof(port)) == sizeof(port));
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = session_accept(req, mr);
	session_expect_event(conn, RPMA_CONN_CLOSED);
	_exit(0);
}

/* rpma_mr_get_descriptor(3): the address, the size, and the key behind them. */
static void take_key(void)
{
	struct rpma_conn_private_data data;
	struct exported_region region;

	MUST(rpma_conn_get_private_data(conn, &data));
	memcpy(&region, data.ptr, sizeof(region));
	memcpy(&remote_addr, region.mr_desc, sizeof(remote_addr));
	memcpy(&rkey, region.mr_desc + 16, sizeof(rkey));
	remote_addr = le64toh(remote_addr);
	rkey = le32toh(rkey);
}

static void connect_to(const char *port)
{
	struct rpma_peer_cfg *peer_cfg;
	struct rpma_conn_req *req;
	struct rpma_conn_cfg *cfg;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;

	open_memory(RPMA_UTIL_IBV_CONTEXT_REMOTE);
	MUST(rpma_peer_get_pd(peer, &pd));
	verbs_mr = ibv_reg_mr(pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE);
	MUST_HOLD(verbs_mr != NULL);
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_sq_size(cfg, 4 * IN_FLIGHT));
	MUST(rpma_conn_cfg_set_cq_size(cfg, 4 * IN_FLIGHT));
	MUST(rpma_conn_req_new(peer, ADDRESS, port, cfg, &req));
	conn = session_connect(req, "pipeline");
	session_take_region(conn, &remote, &peer_cfg);
	take_key();
	MUST(rpma_conn_apply_remote_peer_cfg(conn, peer_cfg));
	MUST(rpma_conn_get_cq(conn, &cq));
	MUST(rpma_conn_get_id(conn, &id));
	qp = id->qp;
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_peer_cfg_delete(&peer_cfg));
}

/* --- the two ways ------------------------------------------------------------------------- */

typedef void way(unsigned operations);

static void fetch(void)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		;
	session_must(ret, 0, "rpma_cq_get_wc()");
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
}

static void poll_by_hand(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(qp->send_cq, 1, &wc) == 0)
		;
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
}

static void writes_by_hand(unsigned operations)
{
	struct ibv_send_wr wrs[LIST], *bad_wr;
	struct ibv_sge sges[LIST];
	unsigned posted = 0, done = 0;

	while (done < operations) {
		for (; posted < operations && posted - done < DEPTH; posted += LIST) {
			for (unsigned i = 0; i < LIST; i++) {
				const size_t at = (posted + i) % DEPTH * LINE;

				sges[i] = (struct ibv_sge){(uintptr_t)memory + at, LINE,
							   verbs_mr->lkey};
				wrs[i] = (struct ibv_send_wr){
					.wr_id = posted + i,
					.next = i + 1 < LIST ? &wrs[i + 1] : NULL,
					.sg_list = &sges[i],
					.num_sge = 1,
					.opcode = IBV_WR_RDMA_WRITE,
					.send_flags = i + 1 < LIST ? 0 : IBV_SEND_SIGNALED,
					.wr.rdma = {remote_addr + at, rkey},
				};
			}
			MUST_HOLD(ibv_post_send(qp, wrs, &bad_wr) == 0);
		}
		poll_by_hand();
		done += LIST;
	}
}

static void writes_by_librpma(unsigned operations)
{
	const int more = RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE;
	unsigned posted = 0, done = 0;

	while (done < operations) {
		for (; posted < operations && posted - done < DEPTH; posted += LIST) {
			for (unsigned i = 0; i < LIST; i++) {
				const size_t at = (posted + i) % DEPTH * LINE;

				MUST(rpma_write(conn, remote, at, mr, at, LINE,
						i + 1 < LIST ? more : RPMA_F_COMPLETION_ALWAYS,
						NULL));
			}
		}
		fetch();
		done += LIST;
	}
}

static void sequential(unsigned operations)
{
	for (unsigned i = 0; i < operations; i++) {
		const size_t at = i % (DEPTH - 1) * LINE + LINE;

		MUST(rpma_write(conn, remote, at, mr, at, LINE, RPMA_F_COMPLETION_ON_ERROR, NULL));
		MUST(rpma_flush(conn, remote, at, LINE, RPMA_FLUSH_TYPE_PERSISTENT,
				RPMA_F_COMPLETION_ALWAYS, NULL));
		fetch();
	}
}

static int write_and_flush(size_t at, int flags)
{
	return rpma_write_flush(conn, remote, at, mr, at, LINE, RPMA_FLUSH_TYPE_PERSISTENT, flags,
				NULL);
}

static int append(size_t at, int flags)
{
	const uint64_t end = at + LINE;
	const struct rpma_record record = {
		.dst = remote,
		.dst_offset = at,
		.src = mr,
		.src_offset = at,
		.len = LINE,
		.end = &end,
	};

	return rpma_append(conn, &record, flags, NULL);
}

static void pipelined(int (*start)(size_t at, int flags), unsigned operations)
{
	const int more = RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE;
	unsigned posted = 0, done = 0;

	while (done < operations) {
		for (; posted < operations && posted - done < IN_FLIGHT; posted += APPEND_LIST) {
			for (unsigned i = 1; i <= APPEND_LIST; i++)
				MUST(start((posted + i) % (DEPTH - 1) * LINE + LINE,
					   i < APPEND_LIST ? more : RPMA_F_COMPLETION_ALWAYS));
		}
		fetch();
		done += APPEND_LIST;
	}
}

static void flushes_in_flight(unsigned operations)
{
	pipelined(write_and_flush, operations);
}

static void appends_in_flight(unsigned operations)
{
	pipelined(append, operations);
}

/* --- turns ---------------------------------------------------------------------------------- */

/* Measures processor time: this thread never sleeps, and others may want its processor. */
static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(way *run, unsigned operations)
{
	const double start = now_ns();

	run(operations);
	return (now_ns() - start) / operations;
}

static const struct {
	const char *name;
	way *ways[2];
} subjects[] = {
	{"writes", {writes_by_hand, writes_by_librpma}},
	{"flushes", {sequential, flushes_in_flight}},
	{"appends", {sequential, appends_in_flight}},
};

static way *const *ways_of(const char *name)
{
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		if (strcmp(name, subjects[i].name) == 0)
			return subjects[i].ways;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	way *const *ways = argc == 4 ? ways_of(argv[1]) : NULL;
	/* whole rounds of each way */
	const unsigned operations =
		argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) / DEPTH * DEPTH : 0;
	const unsigned pairs = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	char port[8];
	int fds[2];
	pid_t server;

	if (ways == NULL || operations == 0 || pairs == 0) {
		fprintf(stderr,
			"Usage: rpma-soft pipeline writes|flushes|appends OPERATIONS PAIRS\n");
		return 64;
	}
	session_start("pipeline", LIMIT_S);
	MUST_HOLD(pipe(fds) == 0);
	server = fork();
	MUST_HOLD(server >= 0);
	if (server == 0)
		serve(fds[1]);
	MUST_HOLD(read(fds[0], port, sizeof(port)) == sizeof(port));
	connect_to(port);
	for (unsigned i = 0; i <= pairs; i++) {
		const unsigned first = i % 2;
		double ns[2];

		ns[first] = measure(ways[first], operations);
		ns[!first] = measure(ways[!first], operations);
		if (i != 0)
			printf("%.1f %.1f\n", ns[0], ns[1]);
	}
	MUST(rpma_conn_disconnect(conn));
	return waitpid(server, NULL, 0) == server ? 0 : 2;
}
