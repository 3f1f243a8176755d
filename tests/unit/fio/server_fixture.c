/* SPDX-License-Identifier: BSD-3-Clause */
/* server_fixture.c -- the server's thread, its clock and its words; the clients. */
#include "server_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "fio_engine/memory_server_private.h"

#define LIMIT_MS 100000 /* for what has to happen */

static struct {
	struct settings settings;
	struct memory_server *server;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	atomic_uint served; /* whose connection it knows to stand */
	atomic_uint clients;
	int ret;
	struct failure failure;
	int words; /* stderr of the test */
	int stderr_fd;
	struct rpma_peer *peer; /* the clients' */
} fixture;
static atomic_llong shift_ns;
static atomic_llong held_ns; /* where the clock stands still; 0: it does not */
static atomic_bool patient;
static _Thread_local bool is_server;

int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);
	long long ns = atomic_load(&held_ns);

	if (ns == 0)
		ns = now->tv_sec * 1000000000LL + now->tv_nsec + atomic_load(&shift_ns);
	now->tv_sec = (time_t)(ns / 1000000000);
	now->tv_nsec = (long)(ns % 1000000000);
	return ret;
}

void fixture_hold_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	atomic_store(&held_ns, now.tv_sec * 1000000000LL + now.tv_nsec);
}

void fixture_pass_ms(int64_t ms)
{
	atomic_fetch_add(&shift_ns, ms * 1000000);
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (timeout_ms > 0 && is_server && atomic_load(&patient))
		timeout_ms = 2 * LIMIT_MS;
	return __real_poll(fds, count, timeout_ms);
}

/* No event announces what comes meanwhile. */
int __real_rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq);

int __wrap_rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq)
{
	if (atomic_load(&patient))
		__real_poll(NULL, 0, 1);
	return __real_rpma_conn_wait(conn, flags, cq, is_rcq);
}

void fixture_only_events(void)
{
	atomic_store(&patient, true);
}

/* --- the server ----------------------------------------------------------- */

static void hear(void)
{
	fixture.words = memfd_create("stderr", MFD_CLOEXEC);
	fixture.stderr_fd = dup(2);
	assert_true(fixture.words >= 0 && fixture.stderr_fd >= 0);
	assert_int_equal(dup2(fixture.words, 2), 2);
}

static void hear_no_more(void)
{
	if (fixture.words <= 0)
		return;
	dup2(fixture.stderr_fd, 2);
	close(fixture.stderr_fd);
	close(fixture.words);
	fixture.words = 0;
}

unsigned fixture_count(const char *part)
{
	char text[65536];
	ssize_t len = pread(fixture.words, text, sizeof(text) - 1, 0);
	unsigned count = 0;

	text[len > 0 ? len : 0] = '\0';
	for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

static void moment(int *left_ms)
{
	assert_true(*left_ms > 0);
	*left_ms -= 5;
	poll(NULL, 0, 5);
}

void fixture_said(const char *part)
{
	int left_ms = LIMIT_MS;

	while (fixture_count(part) == 0)
		moment(&left_ms);
}

static void wait_until(const atomic_uint *number, unsigned count)
{
	int left_ms = LIMIT_MS;

	while (atomic_load(number) != count)
		moment(&left_ms);
}

void fixture_wait_served(unsigned count)
{
	wait_until(&fixture.served, count);
}

void fixture_wait_clients(unsigned count)
{
	wait_until(&fixture.clients, count);
}

static bool is_stopped(void *arg)
{
	if (fixture.server != NULL) {
		unsigned served = 0;

		for (unsigned i = 0; i < fixture.server->count; i++)
			served += fixture.server->sessions[i]->state == SESSION_SERVED;
		atomic_store(&fixture.served, served);
		atomic_store(&fixture.clients, memory_server_clients(fixture.server));
	}
	return atomic_load(&fixture.stop);
}

static void *serve(void *arg)
{
	is_server = true;
	failure_get()->text[0] = '\0';
	fixture.ret = memory_server_serve(fixture.server);
	fixture.failure = *failure_get();
	return NULL;
}

void fixture_begin(const struct fixture_cfg *cfg)
{
	char dram[32];
	const struct memory_server_cfg server_cfg = {
		.settings = &fixture.settings,
		.target = cfg->target != NULL ? cfg->target : dram,
		.offset = cfg->offset,
		.bytes = cfg->bytes,
		.stopped = is_stopped,
	};

	snprintf(dram, sizeof(dram), "dram:%u", FIXTURE_BYTES);
	fixture.settings = (struct settings){.role = ROLE_SERVER,
					     .method = cfg->method,
					     .address = "127.0.0.1",
					     .poll = cfg->poll,
					     .clients = cfg->clients};
	if (cfg->allow != NULL)
		assert_int_equal(allow_add(&fixture.settings.allow, cfg->allow), 0);
	atomic_store(&fixture.stop, false);
	atomic_store(&fixture.served, 0);
	atomic_store(&fixture.clients, 0);
	hear();
	if (memory_server_open(&fixture.server, &server_cfg) != 0)
		fail_msg("%s", failure_get()->text);
	assert_int_equal(pthread_create(&fixture.thread, NULL, serve, NULL), 0);
	fixture.running = true;
}

int fixture_end(void)
{
	assert_int_equal(pthread_join(fixture.thread, NULL), 0);
	fixture.running = false;
	memory_server_close(&fixture.server);
	return fixture.ret;
}

void fixture_stop(void)
{
	atomic_store(&fixture.stop, true);
}

const char *fixture_failure(void)
{
	return fixture.failure.text;
}

int fixture_clear(void **state)
{
	atomic_store(&held_ns, 0);
	atomic_store(&patient, false);
	fixture_stop();
	if (fixture.running)
		fixture_end();
	hear_no_more();
	rpma_peer_delete(&fixture.peer);
	return 0;
}

/* --- clients --------------------------------------------------------------- */

static int post_answers(struct rpma_conn_req *req, void *arg)
{
	struct test_client *g = arg;
	int ret = 0;

	for (uintptr_t i = 0; ret == 0 && i < CLIENT_DEPTH; i++)
		ret = rpma_conn_req_recv(req, g->mr, i * PERSIST_ANSWER_BYTES, PERSIST_ANSWER_BYTES,
					 (const void *)i);
	return ret;
}

static void take_reply(struct test_client *g)
{
	const void *bytes;
	size_t len;

	assert_int_equal(connection_handshake(g->connection, &bytes, &len), 0);
	assert_int_equal(handshake_decode_reply(bytes, len, &g->reply), 0);
	if (g->reply.answer != HANDSHAKE_WELCOME)
		return;
	assert_int_equal(job_reply_decode(g->reply.word, &g->job_reply), 0);
	if (g->reply.desc.mr_bytes > 0)
		assert_int_equal(rpma_mr_remote_from_descriptor(g->reply.desc.mr,
								g->reply.desc.mr_bytes, &g->remote),
				 0);
}

static struct rpma_peer *guests_peer(void)
{
	char device[64];

	if (fixture.peer == NULL)
		assert_int_equal(connection_open_device("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_REMOTE,
							&fixture.peer, device),
				 0);
	return fixture.peer;
}

void client_request_only(const struct job_request *job_request, struct rpma_conn **conn)
{
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	const struct rpma_conn_private_data pdata = {bytes, sizeof(bytes)};
	struct rpma_conn_req *req = NULL;
	char service[8];

	job_request_encode(job_request, bytes);
	snprintf(service, sizeof(service), "%u", fixture.server->port);
	assert_int_equal(rpma_conn_req_new(guests_peer(), "127.0.0.1", service, NULL, &req), 0);
	assert_int_equal(rpma_conn_req_connect(&req, &pdata, conn), 0);
}

struct test_client *client_connect(const void *bytes, size_t len)
{
	struct test_client *g = calloc(1, sizeof(*g));
	const struct connection_queues queues = {.sq_size = 2 * CLIENT_DEPTH,
						 .cq_size = 3 * CLIENT_DEPTH,
						 .rq_size = CLIENT_DEPTH,
						 .post = post_answers,
						 .arg = g};
	const struct connection_cfg cfg = {
		.peer_name = "the server", .stop_fd = -1, .queues = &queues};

	assert_non_null(g);
	assert_int_equal(
		rpma_mr_reg(guests_peer(), g->memory, sizeof(g->memory),
			    RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_SRC,
			    &g->mr),
		0);
	if (connection_connect(&g->connection, fixture.peer, "127.0.0.1", fixture.server->port,
			       &cfg, bytes, len) == 0)
		take_reply(g);
	return g;
}

struct test_client *client_open(const struct job_request *job_request)
{
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];

	job_request_encode(job_request, bytes);
	return client_connect(bytes, sizeof(bytes));
}

void client_close(struct test_client *g)
{
	rpma_mr_remote_delete(&g->remote);
	connection_close(&g->connection);
	rpma_mr_dereg(&g->mr);
	free(g);
}

/* The next completion; it has to come. */
static struct ibv_wc completion(struct test_client *g)
{
	struct ibv_wc wc;
	int left_ms = LIMIT_MS;

	while (rpma_cq_get_wc(connection_cq(g->connection), 1, &wc, NULL) != 0)
		moment(&left_ms);
	return wc;
}

#define GOODBYE 1000

void client_leave(struct test_client *g)
{
	struct ibv_wc wc;
	int ret = rpma_send(connection_conn(g->connection), NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
			    (const void *)(uintptr_t)GOODBYE);

	assert_int_equal(ret, 0);
	do {
		wc = completion(g);
	} while (wc.status == IBV_WC_SUCCESS && wc.wr_id != GOODBYE);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	client_close(g);
}

void client_ends(struct test_client *g)
{
	client_leave(g);
	assert_int_equal(fixture_end(), 0);
}

#define OUT (CLIENT_DEPTH * PERSIST_ANSWER_BYTES)

void client_send(struct test_client *g, const void *bytes, size_t len)
{
	memcpy(g->memory + OUT, bytes, len);
	assert_int_equal(rpma_send(connection_conn(g->connection), g->mr, OUT, len,
				   RPMA_F_COMPLETION_ALWAYS, NULL),
			 0);
	completion(g);
}

void client_ask(struct test_client *g, uint32_t slot, uint64_t offset, uint64_t length)
{
	const struct persist_request request = {slot, offset, length};
	uint8_t *at = g->memory + OUT + (size_t)(slot % CLIENT_DEPTH) * PERSIST_REQUEST_BYTES;

	persist_encode_request(&request, at);
	assert_int_equal(rpma_send(connection_conn(g->connection), g->mr, (size_t)(at - g->memory),
				   PERSIST_REQUEST_BYTES, RPMA_F_COMPLETION_ALWAYS, NULL),
			 0);
}

void client_number(struct test_client *g, uint32_t number)
{
	assert_int_equal(rpma_write_with_imm(connection_conn(g->connection), NULL, 0, NULL, 0, 0,
					     RPMA_F_COMPLETION_ALWAYS, number, NULL),
			 0);
}

static struct ibv_wc received(struct test_client *g)
{
	struct ibv_wc wc;

	do { /* what it sent itself completes too */
		wc = completion(g);
	} while (wc.status == IBV_WC_SUCCESS && wc.opcode != IBV_WC_RECV);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

void client_receives(struct test_client *g)
{
	assert_int_equal(received(g).byte_len, 0);
}

struct persist_answer client_answer(struct test_client *g)
{
	struct persist_answer answer = {0};
	const struct ibv_wc wc = received(g);
	const size_t at = (size_t)wc.wr_id * PERSIST_ANSWER_BYTES;

	assert_int_equal(persist_decode_answer(g->memory + at, wc.byte_len, &answer), 0);
	assert_int_equal(rpma_recv(connection_conn(g->connection), g->mr, at, PERSIST_ANSWER_BYTES,
				   (const void *)(uintptr_t)wc.wr_id),
			 0);
	return answer;
}

void client_is_dropped(struct test_client *g)
{
	int left_ms = LIMIT_MS;

	while (connection_alive(g->connection, 0))
		moment(&left_ms);
}
