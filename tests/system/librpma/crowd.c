/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crowd.c -- clients of examples/12-surviving-server, of which every second one misbehaves: it
 * gives up while it connects, dies or goes without a word at a point that the seed chooses, sends
 * too much, or stops.
 *
 *	rpma_crowd ADDR PORT GOOD SEED
 *
 * Starts twice as many clients as GOOD, each a process of its own, a few at a time. Exit status 0:
 * the good ones have sent their numbers. A number may have to be sent again, by a new connection,
 * while the server is full. With GOOD 0 it is one client that gives up soon: the server is stopped.
 */
#include <fcntl.h>
#include <librpma.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/random.h"
#include "tests/vm/session.h"

#define AT_ONCE	 12
#define LIMIT_S	 120
#define ATTEMPTS 200
#define BUFFER	 4096
#define WAIT_MS	 20000
#define SOON_MS	 300

enum conduct { GOOD, GIVES_UP, DIES, GOES, SENDS_TOO_MUCH, STOPS, CONDUCTS };

struct end {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	struct rpma_mr_local *src;
};

/* True: established. Gives up after that number of calls, or milliseconds. */
static bool connect_in(struct end *end, const char *addr, const char *port, unsigned steps,
		       uint32_t limit_ms)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rpma_conn_cfg *cfg = NULL;
	int fd, ret;

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CONNECT_MS, limit_ms));
	MUST(rpma_conn_connect(end->peer, addr, port, cfg, NULL, &end->conn));
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_conn_get_event_fd(end->conn, &fd));
	MUST_HOLD(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
	do {
		struct rpma_wait_item item = {.conn = end->conn};

		if (steps-- == 0)
			return false;
		MUST(rpma_wait(&item, 1, WAIT_MS, NULL));
		ret = rpma_conn_next_event(end->conn, &event);
	} while (ret == RPMA_E_NO_EVENT);
	return ret == 0 && event == RPMA_CONN_ESTABLISHED;
}

static bool send_bytes(struct end *end, size_t bytes)
{
	struct rpma_cq *cq = NULL;
	struct ibv_wc wc;

	MUST(rpma_conn_get_cq(end->conn, &cq));
	if (rpma_send(end->conn, end->src, 0, bytes, RPMA_F_COMPLETION_ALWAYS, NULL))
		return false;
	return rpma_cq_await_wc(cq, 1, &wc, NULL, 0, WAIT_MS) == 0 && wc.status == IBV_WC_SUCCESS;
}

static void begin(struct end *end, const char *addr)
{
	static char buffer[BUFFER];

	end->peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	MUST(rpma_mr_reg(end->peer, buffer, sizeof(buffer), RPMA_MR_USAGE_SEND, &end->src));
}

static void leave(struct end *end)
{
	(void)rpma_conn_disconnect(end->conn);
	(void)rpma_conn_delete(&end->conn);
}

static void be_good(struct end *end, const char *addr, const char *port)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		const bool done = connect_in(end, addr, port, UINT32_MAX, WAIT_MS) &&
				  send_bytes(end, sizeof(uint64_t));

		leave(end);
		if (done)
			return;
	}
	session_must_hold(false, "the number is sent");
}

static void misbehave(struct end *end, const char *addr, const char *port, enum conduct conduct,
		      unsigned point)
{
	const bool stands =
		connect_in(end, addr, port, conduct == GIVES_UP ? point % 4 : 1 + point, WAIT_MS);

	if (stands && conduct == SENDS_TOO_MUCH)
		(void)send_bytes(end, BUFFER);
	if (conduct == DIES)
		raise(SIGKILL);
	if (conduct == STOPS)
		raise(SIGSTOP);
	if (conduct == GIVES_UP)
		(void)rpma_conn_delete(&end->conn);
	else if (conduct != GOES)
		leave(end);
	_exit(0);
}

static pid_t start(const char *addr, const char *port, uint64_t *random, bool is_good)
{
	const enum conduct conduct =
		is_good ? GOOD : (enum conduct)(1 + test_random(random) % (CONDUCTS - 1));
	const unsigned point = (unsigned)(test_random(random) % 8);
	pid_t child = fork();

	MUST_HOLD(child >= 0);
	if (child > 0)
		return child;
	struct end end = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	session_start("client", LIMIT_S);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
	begin(&end, addr);
	if (conduct == GOOD)
		be_good(&end, addr, port);
	else
		misbehave(&end, addr, port, conduct, point);
	exit(0);
}

/* One that stopped stays so for a while, and dies. False: a good one failed. */
static bool reap(const pid_t *good, unsigned long count)
{
	int status;
	pid_t child = waitpid(-1, &status, WUNTRACED);

	MUST_HOLD(child > 0);
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		return reap(good, count);
	}
	for (unsigned long i = 0; i < count; i++)
		if (good[i] == child)
			return status == 0;
	return true;
}

static int give_up_soon(const char *addr, const char *port)
{
	struct end end = {0};

	session_start("client", LIMIT_S);
	begin(&end, addr);
	MUST_HOLD(!connect_in(&end, addr, port, UINT32_MAX, SOON_MS));
	leave(&end);
	MUST(rpma_mr_dereg(&end.src));
	MUST(rpma_peer_delete(&end.peer));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: rpma_crowd ADDR PORT GOOD SEED\n");
		return 64;
	}
	const unsigned long good_wanted = strtoul(argv[3], NULL, 10);
	uint64_t random = strtoull(argv[4], NULL, 10);
	if (good_wanted == 0)
		return give_up_soon(argv[1], argv[2]);
	pid_t *good = calloc(good_wanted, sizeof(*good));
	unsigned long failed = 0, running = 0, goods = 0;

	MUST_HOLD(good != NULL);
	for (unsigned long i = 0; i < 2 * good_wanted; i++) {
		if (running++ >= AT_ONCE)
			failed += !reap(good, goods);
		const pid_t child = start(argv[1], argv[2], &random, i % 2 == 0);
		if (i % 2 == 0)
			good[goods++] = child;
	}
	for (running = running > AT_ONCE ? AT_ONCE : running; running > 0; running--)
		failed += !reap(good, goods);
	free(good);
	printf("%lu good clients, %lu failed\n", goods, failed);
	return failed != 0;
}
