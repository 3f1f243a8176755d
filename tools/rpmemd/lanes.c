/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.c -- listens with a service of librpma, admits lanes, and answers their
 * requests.
 *
 * There is one receive more than a client has requests unanswered, so a request is
 * answered first and its buffer posted again after that: the client's next one
 * finds another. A client that does not keep to this slows down itself alone.
 */
#include "lanes.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "admission.h"
#include "common/base/failure.h"
#include "common/base/thread.h"
#include "common/host/rlimits.h"
#include "common/rdma/limits.h"
#include "common/rdma/resolve.h"
#include "common/rdma/service.h"
#include "lane_serve.h"
#include "log.h"
#include "reason.h"

#define RECEIVES     (LANE_SLOTS + 1)
#define SLOT_BYTES   8256 /* a request with its data, in whole cache lines */
#define ANSWER_BYTES 64
#define ANSWERS_AT   ((size_t)RECEIVES * SLOT_BYTES)
#define LANE_BYTES   (ANSWERS_AT + (size_t)SENDS * ANSWER_BYTES)
#define SENDS	     (4 * RECEIVES) /* a signalled one frees those before it, somewhat later */
#define BATCH	     4
#define SENT	     ((uint64_t)1 << 63) /* in a wr_id: an answer, and its number */

/* Connections that are being looked at, and may turn out to be another's. */
#define STRANGERS_MAX 64

/* Polls of an empty queue before a thread sleeps; fewer where that was in vain. */
#define SPINS_MAX 2000
#define SPINS_MIN 50

/* File descriptors that a lane takes, at the most that was seen; those of the rest. */
#define FILES_PER_LANE 4
#define FILES_SPARE    32

struct lanes {
	const struct pool *pool;
	struct service service;
	struct region region;
	struct admission admission;
	uint64_t word; /* for the replies */
	atomic_bool stopping;
	pthread_t thread;
	bool is_running;
};

/* One lane, while its client is connected. */
struct server_lane {
	struct lanes *lanes;
	struct service_client *client;
	uint32_t index;
	struct connection_queues queues;
	unsigned char *memory;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn; /* borrowed from the client's connection, as cq is */
	struct rpma_cq *cq;
	int cq_fd;
	unsigned spins;
	uint64_t sent;
	uint64_t reaped; /* as many have left */
};

/* --- requests ------------------------------------------------------------- */

/* False: the lane is over. */
static bool answer(struct server_lane *l, uint64_t slot, uint32_t bytes)
{
	unsigned char *message = l->memory + slot * SLOT_BYTES;
	const size_t at = ANSWERS_AT + l->sent % SENDS * ANSWER_BYTES;
	const uint64_t number = l->sent + 1;
	int flags = number % RECEIVES == 0 ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;

	if (l->sent - l->reaped == SENDS) {
		log_line(LEVEL_WARN,
			 "lane %u: the RDMA device does not complete what is sent to %s", l->index,
			 l->client->name);
		return false;
	}
	if (lane_serve_message(l->lanes->pool, message, bytes, &l->lanes->stopping,
			       l->memory + at) != 0) {
		log_line(LEVEL_WARN, "lane %u: %s sent a message of %u bytes that is not a request",
			 l->index, l->client->name, bytes);
		return false;
	}
	l->sent = number;
	return rpma_send(l->conn, l->mr, at, LANE_ANSWER_BYTES, flags,
			 (const void *)(uintptr_t)(SENT | number)) == 0 &&
	       rpma_recv(l->conn, l->mr, slot * SLOT_BYTES, SLOT_BYTES,
			 (const void *)(uintptr_t)slot) == 0;
}

/* How many completions there were; -1: the lane is over. */
static int poll_cq(struct server_lane *l)
{
	struct ibv_wc wc[BATCH];
	int got = 0, ret = rpma_cq_get_wc(l->cq, BATCH, wc, &got);

	if (ret == RPMA_E_NO_COMPLETION)
		return 0;
	if (ret)
		return -1;
	for (int i = 0; i < got; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			return -1;
		if ((wc[i].wr_id & SENT) != 0)
			l->reaped = wc[i].wr_id & ~SENT;
		else if (!answer(l, wc[i].wr_id, wc[i].byte_len))
			return -1;
	}
	return got;
}

/* False: the client has left, or the lanes end. */
static bool sleep_until_event(struct server_lane *l)
{
	struct pollfd fds[] = {{l->cq_fd, POLLIN, 0},
			       {connection_event_fd(l->client->connection), POLLIN, 0},
			       {l->lanes->service.stop_fd, POLLIN, 0}};

	if (poll(fds, 3, -1) < 0)
		return errno == EINTR;
	if (fds[2].revents != 0)
		return false;
	if (fds[0].revents != 0)
		return rpma_cq_wait(l->cq) != RPMA_E_PROVIDER;
	return connection_alive(l->client->connection, 0);
}

/* A client that never lets the queue be empty must not keep its lane from ending. */
static void serve_requests(struct server_lane *l)
{
	while (!atomic_load_explicit(&l->lanes->stopping, memory_order_relaxed)) {
		unsigned empty = 0;
		int got;

		while ((got = poll_cq(l)) == 0 && empty < l->spins)
			empty++;
		if (got < 0)
			return;
		if (got > 0) {
			l->spins += (SPINS_MAX - l->spins) / 8;
			continue;
		}
		l->spins = l->spins / 2 > SPINS_MIN ? l->spins / 2 : SPINS_MIN;
		if (!sleep_until_event(l))
			return;
	}
}

/* --- a lane connects ------------------------------------------------------ */

static int post_receives(struct rpma_conn_req *req, void *lane)
{
	const struct server_lane *l = lane;

	for (uintptr_t slot = 0; slot < RECEIVES; slot++) {
		int ret = rpma_conn_req_recv(req, l->mr, slot * SLOT_BYTES, SLOT_BYTES,
					     (const void *)slot);

		if (ret)
			return failure_set(EXIT_RUN_FAILED, "connect", "cannot post a receive: %s",
					   connection_cause(ret));
	}
	return 0;
}

static int make_messages(struct server_lane *l)
{
	void *memory =
		mmap(NULL, LANE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char limit[UNITS_TEXT_BYTES];
	int ret;

	if (memory == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, "connect", "no memory for messages: %s",
				   strerror(errno));
	l->memory = memory;
	ret = rpma_mr_reg(l->lanes->service.peer, memory, LANE_BYTES,
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &l->mr);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "connect",
				   "cannot register %zu bytes for messages: %s (this process may "
				   "lock %s: see ulimit -l)",
				   LANE_BYTES, connection_cause(ret), memlock_print_limit(limit));
	return 0;
}

static int accept_lane(struct server_lane *l)
{
	const struct service *service = &l->lanes->service;
	const struct connection_cfg cfg = {
		.peer_name = l->client->name, .stop_fd = service->stop_fd, .queues = &l->queues};
	uint8_t reply[HANDSHAKE_REPLY_BYTES];
	int ret = make_messages(l);

	if (ret)
		return ret;
	l->queues = *service->queues;
	l->queues.post = post_receives;
	l->queues.arg = l;
	region_encode_reply(&l->lanes->region, HANDSHAKE_WELCOME, l->lanes->word, reply);
	ret = connection_accept(&l->client->connection, service->peer, &l->client->req, &cfg, reply,
				sizeof(reply));
	if (ret)
		return ret;
	l->conn = connection_conn(l->client->connection);
	l->cq = connection_cq(l->client->connection);
	l->cq_fd = connection_cq_fd(l->client->connection);
	return 0;
}

static void run_lane(struct server_lane *l)
{
	int ret = accept_lane(l);

	if (ret == 0) {
		log_line(LEVEL_DEBUG, "lane %u: %s connected", l->index, l->client->name);
		serve_requests(l);
		log_line(LEVEL_DEBUG, "lane %u: ended", l->index);
	} else if (ret != -ECANCELED) {
		log_line(LEVEL_ERR, "lane %u of %s: %s", l->index, l->client->name,
			 failure_get()->text);
	}
	connection_close(&l->client->connection);
	rpma_mr_dereg(&l->mr);
	if (l->memory != NULL)
		munmap(l->memory, LANE_BYTES);
}

/* A connection that is not admitted is rejected: it gets no answer. */
static void serve(void *server, struct service_client *client)
{
	struct lanes *lanes = server;
	struct server_lane l = {.lanes = lanes, .client = client, .spins = SPINS_MAX};
	struct rpma_conn_private_data handshake;
	int ret = service_handshake(lanes->service.allow, client->req, &handshake);

	if (ret == 0)
		ret = admission_enter(&lanes->admission, handshake.ptr, handshake.len, &l.index);
	if (ret) {
		log_line(LEVEL_WARN, "rejected %s: %s", client->name, admission_refusal(ret));
		return;
	}
	run_lane(&l);
	admission_leave(&lanes->admission, l.index);
}

/* --- the service ---------------------------------------------------------- */

static void *run_service(void *service)
{
	if (service_run(service) != 0)
		log_line(LEVEL_ERR, "%s", failure_get()->text);
	return NULL;
}

/* The kernel and librpma say the same of a forced pool as of DAX: it is a file. */
static enum target_kind kind_of(const struct pool *pool, const struct method *method)
{
	enum target_kind kind = pool_kind(pool);

	return method->method == CONTROL_APM && target_is_memory(kind) ? TARGET_FSDAX : kind;
}

static int register_pool(struct lanes *l, const struct lanes_cfg *cfg, struct method *method)
{
	const struct region_memory memory = {
		.bytes = pool_memory(cfg->pool),
		.size = pool_size(cfg->pool),
		.kind = kind_of(cfg->pool, method),
		.of = "the pool",
		.direct_write_to_pmem = method->method == CONTROL_APM,
	};
	int ret = region_open(&l->region, l->service.peer, l->service.device, &memory);

	if (ret)
		return -EREMOTEIO;
	if (method->method == CONTROL_APM &&
	    (l->region.flush_types & 1 << RPMA_FLUSH_TYPE_PERSISTENT) == 0) {
		method->method = CONTROL_GPSPM;
		snprintf(method->why, sizeof(method->why),
			 "the RDMA device %s does not register the pool for persistent flush",
			 l->service.device);
	}
	l->word = method->method == CONTROL_APM && method->native ? LANE_WORD_NATIVE : 0;
	return 0;
}

static int start(struct lanes *l, const struct lanes_cfg *cfg, struct method *method)
{
	static const struct connection_queues queues = {
		.sq_size = SENDS, .rq_size = RECEIVES, .cq_size = SENDS + RECEIVES};
	static const struct allow any_host = {.count = 0}; /* the token decides */
	int ret;

	l->pool = cfg->pool;
	l->service = (struct service){
		.name = "rpmemd",
		.role = HANDSHAKE_RPMEM,
		.listen = cfg->address,
		.allow = &any_host,
		.allow_option = "",
		.endpoint = {.quiet = true},
		.queues = &queues,
		.clients_max = cfg->nlanes + STRANGERS_MAX,
		.serve = serve,
		.server = l,
	};
	if (service_open(&l->service) != 0)
		return -EREMOTEIO;
	method_find(cfg->pool, CONTROL_RDMA, l->service.device, cfg->persist_apm, method);
	if ((ret = admission_open(&l->admission, cfg->nlanes)) ||
	    (ret = register_pool(l, cfg, method)))
		return ret;
	if (service_listen(&l->service) != 0)
		return -ECONNABORTED;
	ret = thread_start(&l->thread, run_service, &l->service);
	l->is_running = ret == 0;
	return ret == 0 ? 0 : reason_set(-ret, "cannot start a thread: %s", strerror(-ret));
}

int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg, struct method *method,
	       struct control_pool_reply *endpoint)
{
	struct lanes *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return reason_set(ENOMEM, "out of memory");
	ret = start(l, cfg, method);
	if (ret) {
		lanes_close(&l);
		return ret;
	}
	snprintf(endpoint->address, sizeof(endpoint->address), "%s", l->service.address);
	endpoint->port = l->service.port;
	endpoint->token = l->admission.token;
	*lanes = l;
	return 0;
}

void lanes_close(struct lanes **lanes)
{
	struct lanes *l = *lanes;
	struct failure kept = *failure_get();

	*lanes = NULL;
	if (l == NULL)
		return;
	atomic_store(&l->stopping, true);
	service_stop(&l->service);
	if (l->is_running)
		pthread_join(l->thread, NULL);
	service_end(&l->service);
	region_close(&l->region);
	service_close(&l->service);
	admission_close(&l->admission);
	free(l);
	*failure_get() = kept;
}

int lanes_device(const char *address, char device[DEVICE_NAME_MAX])
{
	char resolved[RESOLVE_ADDRESS_MAX];
	struct limits limits;

	if (resolve_host(address, RESOLVE_TIMEOUT_MS, resolved) != 0 ||
	    limits_get(&limits, resolved, RPMA_UTIL_IBV_CONTEXT_LOCAL) != 0)
		return -EINVAL;
	snprintf(device, DEVICE_NAME_MAX, "%s", limits.device);
	return 0;
}

int lanes_most(const char *address, enum control_transport transport, uint32_t *nlanes)
{
	const size_t each = transport == CONTROL_TCP ? 1 : FILES_PER_LANE;
	const size_t by_files = open_files_left(FILES_SPARE) / each;
	uint32_t most = by_files < LANES_MAX ? (uint32_t)by_files : LANES_MAX;
	struct limits limits;

	if (most == 0)
		return reason_set(EMFILE, "too few open files are allowed here for a lane "
					  "(ulimit -n)");
	if (transport == CONTROL_RDMA) {
		if (limits_get(&limits, address, RPMA_UTIL_IBV_CONTEXT_LOCAL) != 0)
			return -EINVAL;
		most = limits.queue_pairs < most ? limits.queue_pairs : most;
		most = limits.completion_queues < most ? limits.completion_queues : most;
	}
	*nlanes = most;
	return 0;
}
