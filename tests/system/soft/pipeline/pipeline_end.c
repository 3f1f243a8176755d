/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_end.c -- a connection ends in the middle of a batch: what was reported done is done, and
 * every operation is reported.
 *
 * Usage: rpma-soft pipeline_end kill|disconnect
 *
 * A client writes and flushes numbers to a server process, in batches, with places counted by the
 * library. At some number the server is killed, or the client disconnects. The memory of the
 * server is shared, so that the client can look at it whatever has become of the server.
 */
#include <librpma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS "127.0.0.1"

enum { SQ_SIZE = 32, EVERY = 4, BATCH = 8, NUMBERS = 64, ASKED = 5, BEHIND = 40, ENDS = 8 };
enum { SECONDS = 30 };

#define CHECK(call)                                                                                \
	do {                                                                                       \
		int ret_ = (call);                                                                 \
		if (ret_)                                                                          \
			fail(#call, rpma_err_2str(ret_));                                          \
	} while (0)

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;
static uint64_t *target; /* the server's NUMBERS, shared with the client */
static uint64_t *source;

__attribute__((noreturn)) static void fail(const char *what, const char *why)
{
	fprintf(stderr, "pipeline_end: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void open_memory(uint64_t *numbers)
{
	const int usage = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	struct ibv_context *context;

	CHECK(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	CHECK(rpma_peer_new(context, &peer));
	CHECK(rpma_mr_reg(peer, numbers, NUMBERS * sizeof(*numbers), usage, &mr));
}

static void close_memory(void)
{
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

static void expect_event(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event;

	CHECK(rpma_conn_next_event(conn, &event));
	if (event != expected)
		fail("unexpected event", rpma_utils_conn_event_2str(event));
}

__attribute__((noreturn)) static void serve(int port_fd)
{
	unsigned char desc[32];
	struct rpma_conn_private_data pdata = {desc, sizeof(desc)};
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_ep *ep;
	uint16_t port;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_memory(target);
	CHECK(rpma_mr_get_descriptor(mr, desc));
	CHECK(rpma_ep_listen(peer, ADDRESS, "0", &ep));
	CHECK(rpma_ep_get_port(ep, &port));
	if (write(port_fd, &port, sizeof(port)) != sizeof(port))
		_exit(EXIT_FAILURE);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	CHECK(rpma_conn_req_connect(&req, &pdata, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	expect_event(conn, RPMA_CONN_CLOSED);
	_exit(EXIT_SUCCESS);
}

static void set(struct rpma_conn_cfg *cfg, enum rpma_conn_option option, uint32_t value)
{
	CHECK(rpma_conn_cfg_set_option(cfg, option, value));
}

static struct rpma_conn *connect_to(uint16_t port, struct rpma_mr_remote **remote)
{
	struct rpma_conn_private_data pdata;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	size_t desc_size;
	char service[8];

	CHECK(rpma_conn_cfg_new(&cfg));
	set(cfg, RPMA_CONN_OPT_SQ_SIZE, SQ_SIZE);
	set(cfg, RPMA_CONN_OPT_SIGNAL_EVERY, EVERY);
	set(cfg, RPMA_CONN_OPT_BATCH_SIZE, BATCH);
	set(cfg, RPMA_CONN_OPT_CQ_SIZE, 1); /* the library makes room */
	set(cfg, RPMA_CONN_OPT_RETRIES, 1);
	set(cfg, RPMA_CONN_OPT_ACK_TIMEOUT, 10);
	snprintf(service, sizeof(service), "%u", port);
	CHECK(rpma_conn_req_new(peer, ADDRESS, service, cfg, &req));
	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	CHECK(rpma_conn_get_private_data(conn, &pdata));
	CHECK(rpma_mr_get_descriptor_size(mr, &desc_size));
	CHECK(rpma_mr_remote_from_descriptor(pdata.ptr, desc_size, remote));
	return conn;
}

/* --- what the client has seen --------------------------------------------------------------- */

static struct {
	uint64_t started; /* numbers from 1 */
	uint64_t reported;
	bool has_failed; /* from then on each operation leaves a completion */
} seen;

static bool is_asked(uint64_t number)
{
	return number % ASKED == 0;
}

/* The numbers up to this one that were not reported alone are done, too. */
static void succeeded(uint64_t number)
{
	if (seen.has_failed)
		fail("a success", "after a failure");
	if (!is_asked(number) || number != (seen.reported / ASKED + 1) * ASKED)
		fail("a success", "not the next one that was asked for");
	for (uint64_t i = seen.reported + 1; i <= number; i++) {
		if (target[i % NUMBERS] < i)
			fail("a success", "of a write that is not there");
	}
}

/* The write or the flush of this number failed: each number at most twice, in order, without a gap.
 */
static void failed(uint64_t number)
{
	const uint64_t next = seen.reported + 1;

	if (seen.has_failed && number != seen.reported && number != next)
		fail("a failure", "an operation was left out");
	if (!seen.has_failed && number > (seen.reported / ASKED + 1) * ASKED)
		fail("a failure", "an operation that was asked for was left out");
	seen.has_failed = true;
}

static void fetch(struct rpma_cq *cq)
{
	struct ibv_wc wc[4];
	int got = 0;

	int ret = rpma_cq_get_wc(cq, 4, wc, &got);
	if (ret == RPMA_E_NO_COMPLETION)
		return;
	CHECK(ret);
	for (int i = 0; i < got; i++) {
		if (wc[i].wr_id == 0 || wc[i].wr_id > seen.started)
			fail("a completion", "of nothing that was started");
		if (wc[i].status == IBV_WC_SUCCESS)
			succeeded(wc[i].wr_id);
		else
			failed(wc[i].wr_id);
		seen.reported = wc[i].wr_id;
	}
}

static void start_next(struct rpma_conn *conn, struct rpma_mr_remote *remote, struct rpma_cq *cq)
{
	const uint64_t number = seen.started + 1;
	const size_t at = number % NUMBERS * sizeof(*source);
	const int flags =
		(is_asked(number) ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR) |
		(number % 3 != 0 ? RPMA_F_MORE : 0) | (number % 2 != 0 ? RPMA_F_INLINE : 0);
	int ret;

	source[number % NUMBERS] = number;
	while ((ret = rpma_write_flush(conn, remote, at, mr, at, sizeof(*source),
				       RPMA_FLUSH_TYPE_VISIBILITY, flags,
				       (void *)(uintptr_t)number)) == RPMA_E_AGAIN)
		fetch(cq);
	CHECK(ret);
	seen.started = number;
	if (number % 7 == 0)
		fetch(cq);
}

/* The last of what was started, or all that it asked for if nothing has failed. */
static bool is_all_reported(void)
{
	return seen.reported == (seen.has_failed ? seen.started : seen.started / ASKED * ASKED);
}

static void run(bool kills, uint64_t end)
{
	const uint64_t last = kills ? end + BEHIND : end;
	struct rpma_mr_remote *remote;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	uint16_t port;
	int fds[2];
	pid_t server;

	memset(&seen, 0, sizeof(seen));
	memset(target, 0, NUMBERS * sizeof(*target));
	if (pipe(fds) != 0 || (server = fork()) < 0)
		fail("fork", "cannot start");
	if (server == 0)
		serve(fds[1]);
	if (read(fds[0], &port, sizeof(port)) != sizeof(port))
		fail("read", "the server is gone");
	open_memory(source);
	conn = connect_to(port, &remote);
	CHECK(rpma_conn_get_cq(conn, &cq));
	while (seen.started < last) {
		start_next(conn, remote, cq);
		if (kills && seen.started == end)
			kill(server, SIGKILL);
	}
	CHECK(rpma_conn_disconnect(conn)); /* posts what waits */
	for (const time_t until = time(NULL) + SECONDS; !is_all_reported();) {
		fetch(cq);
		if (time(NULL) > until)
			fail("the end", "operations were not reported");
	}
	printf("%s at %lu: %lu reported, %s\n", kills ? "killed" : "disconnected",
	       (unsigned long)end, (unsigned long)seen.reported,
	       seen.has_failed ? "the last ones failed" : "none failed");
	CHECK(rpma_conn_delete(&conn));
	CHECK(rpma_mr_remote_delete(&remote));
	close_memory();
	close(fds[0]);
	close(fds[1]);
	waitpid(server, NULL, 0);
}

/*
 * A process has threads once it has opened the device, and one that has threads must not fork: a
 * sanitizer's allocator may be locked by one of them.
 */
static void run_in_child(bool kills, uint64_t end)
{
	int status = -1;
	pid_t child = fork();

	if (child < 0)
		fail("fork", "cannot start");
	if (child == 0) {
		run(kills, end);
		exit(EXIT_SUCCESS);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	const bool kills = argc == 2 && strcmp(argv[1], "kill") == 0;

	if (!kills && !(argc == 2 && strcmp(argv[1], "disconnect") == 0)) {
		fprintf(stderr, "Usage: rpma-soft pipeline_end kill|disconnect\n");
		return 64;
	}
	CHECK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING));
	target = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	source = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (target == MAP_FAILED || source == MAP_FAILED)
		fail("mmap", "no memory");
	for (uint64_t i = 0; i < ENDS; i++)
		run_in_child(kills, 1 + 37 * i);
	return EXIT_SUCCESS;
}
