/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * append_power.c -- a log in a file of a target whose power fails while a writer appends to it:
 * once for each seed, with both in processes of their own, on the software device.
 *
 *	rpma_append_power HOW auto|read PLATFORM SEEDS FILE
 *
 * HOW: append, listed or unflushed, which are rpma_append(), each by itself or in lists of one to
 * four, or the same without the flush of the record; msync, fdatasync, pmem or nothing, by which
 * the target persists the log when a message asks for it, before it answers. PLATFORM is that of
 * the fault `powerfail`, such as domain=adr,ddio=off. The end of the log, a number of bytes, is at
 * the start of the file, the records begin at RECORDS_AT. Lengths and contents of records follow
 * from the seed, so do the operation at which the power fails and how many appends are under way.
 *
 * Prints "N failures, G ends that name what is gone, L with acknowledged records lost". Exit
 * status 0 if both are 0 of N, 1 if not, 2 if something else went wrong.
 */
#include <fcntl.h>
#include <librpma.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_LIBPMEM
#include <libpmem.h>
#endif

#include "tests/lib/random.h"
#include "tests/vm/session.h"

#define ADDR	      "127.0.0.1"
#define LOG_BYTES     ((size_t)1 << 16)
#define RECORDS_AT    ((size_t)64) /* what is before has a cache line of its own */
#define RECORDS	      96
#define LENGTH_MAX    300
#define IN_FLIGHT     8
#define LIST_MAX      4
#define MESSAGE_BYTES 8
#define OPERATIONS    4						 /* an append has these */
#define FAILS_BEFORE  60					 /* appends */
#define FAILS_LISTED  (FAILS_BEFORE * (LIST_MAX + 3) / LIST_MAX) /* operations: so many at least */
#define SLOTS	      ((IN_FLIGHT + LIST_MAX) * OPERATIONS)
#define LIMIT_S	      60
#define ON_ERROR      RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	      RPMA_F_COMPLETION_ALWAYS

struct run {
	uint64_t seed;
	bool flushes; /* the record, before the end is written */
	bool listed;
	const char *persists; /* how the target does, when it is asked to; else NULL */
	enum rpma_flush_method method;
	const char *platform;
	const char *file;
	uint64_t ends[RECORDS]; /* what the end of the log is with so many records */
	uint64_t under_way;	/* appends */
	uint64_t list;		/* appends with one completion */
	uint64_t fails_at;	/* an operation, from 1 on */
};

static uint64_t one_of(uint64_t *random, uint64_t count)
{
	return test_random(random) % count;
}

/* Without the flush the failure is before that of the end: then it can be seen. */
static void choose(struct run *run)
{
	uint64_t random = run->seed, end = RECORDS_AT;

	for (int i = 0; i < RECORDS; i++)
		run->ends[i] = end += 1 + one_of(&random, LENGTH_MAX);
	run->under_way = 1 + one_of(&random, IN_FLIGHT);
	run->list = run->listed ? 1 + one_of(&random, LIST_MAX) : 1;
	if (run->listed)
		run->fails_at = 1 + one_of(&random, FAILS_LISTED);
	else if (run->flushes || run->persists != NULL)
		run->fails_at = 1 + one_of(&random, FAILS_BEFORE * OPERATIONS);
	else
		run->fails_at = 3 * (1 + one_of(&random, FAILS_BEFORE));
}

/* All that the log may have; no byte is 0, as those are that were never written. */
static void fill(const struct run *run, unsigned char *log)
{
	uint64_t random = ~run->seed;

	for (uint64_t i = RECORDS_AT; i < run->ends[RECORDS - 1]; i++)
		log[i] = (unsigned char)(1 + one_of(&random, 255));
}

/* --- target --------------------------------------------------------------------------------- */

static void set_fault(const struct run *run)
{
	const char *given = getenv("RPMA_SOFT");
	char words[256];

	snprintf(words, sizeof(words), "%s seed:%llu powerfail:at=%llu,%s", given ? given : "",
		 (unsigned long long)run->seed, (unsigned long long)run->fails_at, run->platform);
	setenv("RPMA_SOFT", words, 1);
}

static void persist(const char *how, void *log, int fd)
{
	if (strcmp(how, "msync") == 0)
		MUST_HOLD(msync(log, LOG_BYTES, MS_SYNC) == 0);
	else if (strcmp(how, "fdatasync") == 0)
		MUST_HOLD(fdatasync(fd) == 0);
#ifdef HAVE_LIBPMEM
	else if (strcmp(how, "pmem") == 0)
		pmem_persist(log, LOG_BYTES);
#endif
	else
		MUST_HOLD(strcmp(how, "nothing") == 0);
}

/* Answers each message when the log is persisted. */
static void answer(const struct run *run, struct rpma_conn *conn, struct rpma_mr_local *message,
		   void *log, int fd)
{
	for (;;) {
		if (session_conn_completion(conn).opcode != IBV_WC_RECV)
			continue;
		MUST(rpma_recv(conn, message, 0, MESSAGE_BYTES, NULL));
		persist(run->persists, log, fd);
		MUST(rpma_send(conn, message, 0, MESSAGE_BYTES, ALWAYS, NULL));
	}
}

/* Both ends have room for all appends under way and, where the target answers, its messages. */
static struct rpma_conn_cfg *configuration(const struct run *run)
{
	struct rpma_conn_cfg *cfg = NULL;

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, SLOTS));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CQ_SIZE, SLOTS));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_FLUSH_METHOD, run->method));
	return cfg;
}

static struct rpma_mr_local *message_memory(struct rpma_peer *peer)
{
	struct rpma_mr_local *mr = NULL;

	MUST(rpma_mr_reg(peer, session_memory("dram", MESSAGE_BYTES), MESSAGE_BYTES,
			 RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &mr));
	return mr;
}

/* Until its power fails. */
static void target(const struct run *run, int to_writer)
{
	int fd = open(run->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct rpma_conn_req *req = NULL;
	struct rpma_mr_local *mr = NULL;
	char port[8] = "";

	MUST_HOLD(fd >= 0 && ftruncate(fd, (off_t)LOG_BYTES) == 0);
	void *log = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST_HOLD(log != MAP_FAILED);
	set_fault(run);
	struct rpma_peer *peer = session_peer(ADDR, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	MUST(rpma_mr_reg(peer, log, LOG_BYTES,
			 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
				 RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
			 &mr));
	struct rpma_ep *ep = session_listen(peer, ADDR, port);
	MUST_HOLD(write(to_writer, port, sizeof(port)) == sizeof(port));
	MUST(rpma_ep_next_conn_req(ep, configuration(run), &req));
	struct rpma_mr_local *message = message_memory(peer);
	for (int i = 0; i < IN_FLIGHT; i++)
		MUST(rpma_conn_req_recv(req, message, 0, MESSAGE_BYTES, NULL));
	struct rpma_conn *conn = session_accept(req, mr);
	if (run->persists != NULL)
		answer(run, conn, message, log, fd);
	pause();
}

/* --- writer --------------------------------------------------------------------------------- */

struct writer {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *log;
	struct rpma_mr_local *mr, *message;
};

static bool ends_list(const struct run *run, uint64_t i)
{
	return (i + 1) % run->list == 0 || i + 1 == RECORDS;
}

static int append(const struct run *run, struct writer *w, uint64_t i)
{
	const size_t from = i == 0 ? RECORDS_AT : run->ends[i - 1];
	const size_t length = run->ends[i] - from;
	void *context = (void *)(uintptr_t)i; /* NOLINT: a number, as wr_id */
	const struct rpma_record record = {w->log, from, w->mr, from, length, 0, &run->ends[i]};
	char end[8];

	if (run->flushes)
		return rpma_append(w->conn, &record,
				   ends_list(run, i) ? ALWAYS : ON_ERROR | RPMA_F_MORE, context);
	memcpy(end, &run->ends[i], sizeof(end));
	int ret = rpma_write(w->conn, w->log, from, w->mr, from, length, ON_ERROR | RPMA_F_MORE,
			     context);
	if (ret == 0)
		ret = rpma_atomic_write(w->conn, w->log, 0, end, ON_ERROR | RPMA_F_MORE, context);
	if (ret == 0 && run->persists != NULL) {
		ret = rpma_recv(w->conn, w->message, 0, MESSAGE_BYTES, context);
		return ret != 0 ? ret
				: rpma_send(w->conn, w->message, 0, MESSAGE_BYTES, ALWAYS, context);
	}
	return ret != 0 ? ret
			: rpma_flush(w->conn, w->log, 0, sizeof(end), RPMA_FLUSH_TYPE_PERSISTENT,
				     ALWAYS, context);
}

/* False: the power has failed. */
static bool acknowledge(const struct run *run, struct writer *w, uint64_t *acknowledged)
{
	struct rpma_wait_item items[] = {{.cq = w->cq}, {.conn = w->conn}};
	struct ibv_wc wc;
	int ret;

	do {
		while ((ret = rpma_cq_get_wc(w->cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION) {
			MUST(rpma_wait(items, 2, LIMIT_S * 1000, NULL));
			if (items[1].ready && !items[0].ready)
				return false;
		}
		session_must(ret, 0, "rpma_cq_get_wc()");
		if (wc.status != IBV_WC_SUCCESS)
			return false;
	} while (wc.opcode == IBV_WC_SEND); /* the answer counts */
	MUST_HOLD(wc.wr_id >= *acknowledged && wc.wr_id < *acknowledged + run->list);
	MUST_HOLD(ends_list(run, wc.wr_id));
	*acknowledged = wc.wr_id + 1;
	return true;
}

static void append_until_failure(const struct run *run, struct writer *w, uint64_t *acknowledged)
{
	for (uint64_t i = 0; i < RECORDS; i++) {
		if (append(run, w, i) != 0)
			return;
		while (ends_list(run, i) && i + 1 >= *acknowledged + run->under_way) {
			if (!acknowledge(run, w, acknowledged))
				return;
		}
	}
	session_must_hold(false, "the power fails");
}

/* How many appends were acknowledged, in memory of this process and of its parent. */
static void writer(const struct run *run, int from_target, uint64_t *acknowledged)
{
	struct rpma_conn_cfg *cfg = configuration(run);
	unsigned char *memory = session_memory("dram", LOG_BYTES);
	struct rpma_conn_req *req = NULL;
	struct rpma_peer_cfg *pcfg = NULL;
	struct writer w = {0};
	char port[8];

	MUST_HOLD(read(from_target, port, sizeof(port)) == sizeof(port));
	struct rpma_peer *peer = session_peer(ADDR, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	fill(run, memory);
	MUST(rpma_mr_reg(peer, memory, LOG_BYTES, RPMA_MR_USAGE_WRITE_SRC, &w.mr));
	MUST(rpma_conn_req_new(peer, ADDR, port, cfg, &req));
	w.conn = session_connect(req, "writer");
	session_take_region(w.conn, &w.log, &pcfg);
	MUST(rpma_conn_apply_remote_peer_cfg(w.conn, pcfg));
	MUST(rpma_conn_get_cq(w.conn, &w.cq));
	w.message = message_memory(peer);
	append_until_failure(run, &w, acknowledged);
	session_delete(w.conn);
	MUST(rpma_mr_dereg(&w.message));
	MUST(rpma_mr_remote_delete(&w.log));
	MUST(rpma_mr_dereg(&w.mr));
	MUST(rpma_peer_cfg_delete(&pcfg));
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_peer_delete(&peer));
}

/* --- one failure of many ------------------------------------------------------------------------
 */

static pid_t start(const char *name)
{
	pid_t child = fork();

	MUST_HOLD(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		session_start(name, LIMIT_S);
	}
	return child;
}

/* One log, which is in the file afterwards. */
static void fail_once(const struct run *run, uint64_t *acknowledged)
{
	int port[2], status = -1;

	*acknowledged = 0;
	MUST_HOLD(pipe(port) == 0);
	pid_t target_process = start("target");
	if (target_process == 0) {
		target(run, port[1]);
		exit(2);
	}
	pid_t writer_process = start("writer");
	if (writer_process == 0) {
		close(port[1]);
		writer(run, port[0], acknowledged);
		exit(0);
	}
	close(port[0]);
	close(port[1]);
	MUST_HOLD(waitpid(writer_process, &status, 0) == writer_process);
	if (status != 0)
		kill(target_process, SIGKILL);
	MUST_HOLD(status == 0);
	MUST_HOLD(waitpid(target_process, &status, 0) == target_process);
	MUST_HOLD(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

struct verdict {
	bool gone; /* the end names bytes that are not there, or is none of the ends */
	bool lost; /* it is before what was acknowledged */
};

static struct verdict judge(const struct run *run, uint64_t acknowledged)
{
	static unsigned char found[LOG_BYTES], expected[LOG_BYTES];
	int fd = open(run->file, O_RDONLY | O_CLOEXEC), records = 0;
	uint64_t end = 0;

	MUST_HOLD(fd >= 0 && read(fd, found, LOG_BYTES) == (ssize_t)LOG_BYTES);
	close(fd);
	memcpy(&end, found, sizeof(end));
	while (records < RECORDS && run->ends[records] <= end)
		records++;
	fill(run, expected);
	bool is_end = end == (records == 0 ? 0 : run->ends[records - 1]);
	bool is_there = end <= LOG_BYTES &&
			(end == 0 ||
			 memcmp(found + RECORDS_AT, expected + RECORDS_AT, end - RECORDS_AT) == 0);
	return (struct verdict){!is_end || !is_there, (uint64_t)records < acknowledged};
}

static int run_seeds(struct run *run, uint64_t seeds)
{
	uint64_t *acknowledged = session_memory("dram", sizeof(*acknowledged));
	uint64_t gone = 0, lost = 0;

	for (run->seed = 1; run->seed <= seeds; run->seed++) {
		choose(run);
		fail_once(run, acknowledged);
		struct verdict verdict = judge(run, *acknowledged);
		gone += verdict.gone;
		lost += verdict.lost;
		if (verdict.gone || verdict.lost)
			fprintf(stderr, "seed %llu: %s%s\n", (unsigned long long)run->seed,
				verdict.gone ? "gone " : "", verdict.lost ? "lost" : "");
	}
	unlink(run->file);
	printf("%llu failures, %llu ends that name what is gone, %llu with acknowledged records "
	       "lost\n",
	       (unsigned long long)seeds, (unsigned long long)gone, (unsigned long long)lost);
	return gone + lost != 0;
}

int main(int argc, char **argv)
{
	struct run run;

	if (argc != 6) {
		fprintf(stderr, "usage: rpma_append_power HOW auto|read PLATFORM SEEDS FILE\n");
		return 64;
	}
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
	run = (struct run){
		.listed = strcmp(argv[1], "listed") == 0,
		.flushes = strcmp(argv[1], "append") == 0 || strcmp(argv[1], "listed") == 0,
		.method = strcmp(argv[2], "read") == 0 ? RPMA_FLUSH_METHOD_READ
						       : RPMA_FLUSH_METHOD_AUTO,
		.platform = argv[3],
		.file = argv[5],
	};
	if (!run.flushes && strcmp(argv[1], "unflushed") != 0)
		run.persists = argv[1];
	return run_seeds(&run, strtoull(argv[4], NULL, 10));
}
