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
#include <librpma.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS "127.0.0.1"

enum { LINE = 64, DEPTH = 64, LIST = 16, IN_FLIGHT = 32, APPEND_LIST = 16, SIZE = 4096 };

#define CHECK(call)                                                                                \
	do {                                                                                       \
		int ret_ = (call);                                                                 \
		if (ret_)                                                                          \
			fail(#call, rpma_err_2str(ret_));                                          \
	} while (0)

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;
static struct rpma_mr_remote *remote;
static struct rpma_conn *conn;
static struct rpma_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *verbs_mr; /* the same memory, for the loop by hand */
static char *memory;

/* What the server offers. */
struct offer {
	char mr[24];
	char peer_cfg;
	uint64_t addr;
	uint32_t rkey;
};

__attribute__((noreturn)) static void fail(const char *call, const char *why)
{
	fprintf(stderr, "pipeline: %s: %s\n", call, why);
	_exit(2);
}

static void open_memory(void)
{
	const int usage = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST |
			  RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	struct ibv_context *context;
	struct ibv_pd *pd;

	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap", "no memory");
	CHECK(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	CHECK(rpma_peer_new(context, &peer));
	CHECK(rpma_mr_reg(peer, memory, SIZE, usage, &mr));
	CHECK(rpma_peer_get_pd(peer, &pd));
	verbs_mr = ibv_reg_mr(pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (verbs_mr == NULL)
		fail("ibv_reg_mr", "refused");
}

static void expect_event(enum rpma_conn_event expected)
{
	enum rpma_conn_event event;

	CHECK(rpma_conn_next_event(conn, &event));
	if (event != expected)
		fail("rpma_conn_next_event", rpma_utils_conn_event_2str(event));
}

static void serve(int port_fd)
{
	struct offer offer = {0};
	const struct rpma_conn_private_data pdata = {&offer, sizeof(offer)};
	struct rpma_peer_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_ep *ep;
	uint16_t port;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_memory();
	CHECK(rpma_mr_get_descriptor(mr, offer.mr));
	CHECK(rpma_peer_cfg_new(&cfg));
	CHECK(rpma_peer_cfg_set_direct_write_to_pmem(cfg, true));
	CHECK(rpma_peer_cfg_get_descriptor(cfg, &offer.peer_cfg));
	offer.addr = (uintptr_t)memory;
	offer.rkey = verbs_mr->rkey;
	CHECK(rpma_ep_listen(peer, ADDRESS, "0", &ep));
	CHECK(rpma_ep_get_port(ep, &port));
	if (write(port_fd, &port, sizeof(port)) != sizeof(port))
		fail("write", "the client is gone");
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	CHECK(rpma_conn_req_connect(&req, &pdata, &conn));
	expect_event(RPMA_CONN_ESTABLISHED);
	expect_event(RPMA_CONN_CLOSED);
	_exit(0);
}

static void connect_to(uint16_t port, struct offer *offer)
{
	struct rpma_conn_private_data pdata;
	struct rpma_peer_cfg *peer_cfg;
	struct rpma_conn_req *req;
	struct rpma_conn_cfg *cfg;
	struct rdma_cm_id *id;
	size_t desc_size;
	char service[8];

	open_memory();
	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_sq_size(cfg, 4 * IN_FLIGHT));
	CHECK(rpma_conn_cfg_set_cq_size(cfg, 4 * IN_FLIGHT));
	snprintf(service, sizeof(service), "%u", port);
	CHECK(rpma_conn_req_new(peer, ADDRESS, service, cfg, &req));
	CHECK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(RPMA_CONN_ESTABLISHED);
	CHECK(rpma_conn_get_private_data(conn, &pdata));
	if (pdata.len < sizeof(*offer))
		fail("rpma_conn_get_private_data", "too short");
	memcpy(offer, pdata.ptr, sizeof(*offer));
	CHECK(rpma_mr_get_descriptor_size(mr, &desc_size));
	CHECK(rpma_mr_remote_from_descriptor(offer->mr, desc_size, &remote));
	CHECK(rpma_peer_cfg_from_descriptor(&offer->peer_cfg, 1, &peer_cfg));
	CHECK(rpma_conn_apply_remote_peer_cfg(conn, peer_cfg));
	CHECK(rpma_conn_get_cq(conn, &cq));
	CHECK(rpma_conn_get_id(conn, &id));
	qp = id->qp;
	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_peer_cfg_delete(&peer_cfg));
}

/* --- the two ways ------------------------------------------------------------------------- */

typedef void way(const struct offer *offer, unsigned operations);

static void check(const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		fail("a completion", ibv_wc_status_str(wc->status));
}

static void fetch(void)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		;
	CHECK(ret);
	check(&wc);
}

static void poll_by_hand(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(qp->send_cq, 1, &wc) == 0)
		;
	check(&wc);
}

static void writes_by_hand(const struct offer *offer, unsigned operations)
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
					.wr.rdma = {offer->addr + at, offer->rkey},
				};
			}
			if (ibv_post_send(qp, wrs, &bad_wr) != 0)
				fail("ibv_post_send", "refused");
		}
		poll_by_hand();
		done += LIST;
	}
}

static void writes_by_librpma(const struct offer *unused, unsigned operations)
{
	const int more = RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE;
	unsigned posted = 0, done = 0;

	(void)unused;
	while (done < operations) {
		for (; posted < operations && posted - done < DEPTH; posted += LIST) {
			for (unsigned i = 0; i < LIST; i++) {
				const size_t at = (posted + i) % DEPTH * LINE;

				CHECK(rpma_write(conn, remote, at, mr, at, LINE,
						 i + 1 < LIST ? more : RPMA_F_COMPLETION_ALWAYS,
						 NULL));
			}
		}
		fetch();
		done += LIST;
	}
}

static void sequential(const struct offer *unused, unsigned operations)
{
	(void)unused;
	for (unsigned i = 0; i < operations; i++) {
		const size_t at = i % (DEPTH - 1) * LINE + LINE;

		CHECK(rpma_write(conn, remote, at, mr, at, LINE, RPMA_F_COMPLETION_ON_ERROR, NULL));
		CHECK(rpma_flush(conn, remote, at, LINE, RPMA_FLUSH_TYPE_PERSISTENT,
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
				CHECK(start((posted + i) % (DEPTH - 1) * LINE + LINE,
					    i < APPEND_LIST ? more : RPMA_F_COMPLETION_ALWAYS));
		}
		fetch();
		done += APPEND_LIST;
	}
}

static void flushes_in_flight(const struct offer *unused, unsigned operations)
{
	(void)unused;
	pipelined(write_and_flush, operations);
}

static void appends_in_flight(const struct offer *unused, unsigned operations)
{
	(void)unused;
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

static double measure(way *run, const struct offer *offer, unsigned operations)
{
	const double start = now_ns();

	run(offer, operations);
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
	struct offer offer;
	uint16_t port;
	int fds[2];
	pid_t server;

	if (ways == NULL || operations == 0 || pairs == 0) {
		fprintf(stderr,
			"Usage: rpma-soft pipeline writes|flushes|appends OPERATIONS PAIRS\n");
		return 64;
	}
	if (pipe(fds) != 0 || (server = fork()) < 0)
		fail("fork", "cannot start");
	if (server == 0)
		serve(fds[1]);
	if (read(fds[0], &port, sizeof(port)) != sizeof(port))
		fail("read", "the server is gone");
	connect_to(port, &offer);
	for (unsigned i = 0; i <= pairs; i++) {
		const unsigned first = i % 2;
		double ns[2];

		ns[first] = measure(ways[first], &offer, operations);
		ns[!first] = measure(ways[!first], &offer, operations);
		if (i != 0)
			printf("%.1f %.1f\n", ns[0], ns[1]);
	}
	CHECK(rpma_conn_disconnect(conn));
	return waitpid(server, NULL, 0) == server ? 0 : 2;
}
