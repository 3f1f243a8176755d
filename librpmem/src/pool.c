/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c -- connects a pool, from the target's name to lane 0, and closes it. */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/failure.h"
#include "report.h"

#define LEAVE_POLL_MS 1

static unsigned long forks;

static void count_fork(void)
{
	forks++;
}

void pool_watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* --- gates --- */

/* A lane that there is not has that of lane 0, while it is being refused. */
static struct pool_gate *gate_of(const struct rpmem_pool *pool, unsigned lane)
{
	return &pool->gates[lane < pool->nlanes ? lane : 0];
}

static int refuse_closing(void)
{
	failure_set(EXIT_WRONG_USAGE, "pool", "the pool is being closed");
	return -ECONNRESET;
}

int pool_enter(struct rpmem_pool *pool, unsigned lane)
{
	if (pool->forks != forks) {
		failure_set(EXIT_WRONG_USAGE, "pool",
			    "the parent process opened this pool: a forked child cannot use it");
		return -EINVAL;
	}
	__atomic_fetch_add(&gate_of(pool, lane)->users, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&pool->is_closing, __ATOMIC_SEQ_CST))
		return 0;
	pool_leave(pool, lane);
	return refuse_closing();
}

void pool_leave(struct rpmem_pool *pool, unsigned lane)
{
	__atomic_fetch_sub(&gate_of(pool, lane)->users, 1, __ATOMIC_RELEASE);
}

static bool is_used(struct rpmem_pool *pool)
{
	for (unsigned i = 0; i < pool->nlanes; i++)
		if (__atomic_load_n(&pool->gates[i].users, __ATOMIC_ACQUIRE) != 0)
			return true;
	return false;
}

/* No call begins any more; those in progress end. */
static void empty_gates(struct rpmem_pool *pool)
{
	if (!is_used(pool))
		return;
	failure_set(EXIT_RUN_FAILED, "pool", "the pool was closed while other threads used it");
	session_end(pool->session, -ECONNRESET);
	while (is_used(pool))
		pause_ms(LEAVE_POLL_MS);
}

/* --- connecting --- */

/* Chooses the transport, and how many lanes it can have. */
static int choose_transport(const struct pool_cfg *cfg, const char *host,
			    struct control_pool_request *request)
{
	unsigned most = POOL_LANES_MAX;
	int ret = -ENOMEDIUM;

	failure_set(EXIT_NO_DEVICE, "transport",
		    "RPMEM_ENABLE_VERBS and RPMEM_ENABLE_SOCKETS leave no transport for lanes");
	if (settings_verbs()) {
		request->transport = CONTROL_RDMA;
		ret = lanes_most(host, CONTROL_RDMA, &most);
	}
	if (ret != 0 && settings_sockets()) {
		request->transport = CONTROL_TCP;
		ret = lanes_most(host, CONTROL_TCP, &most);
	}
	if (ret != 0)
		return ret == -ENOMEM || ret == -EMFILE ? ret : -ENOMEDIUM;
	if (most > POOL_LANES_MAX)
		most = POOL_LANES_MAX;
	if (most > cfg->settings->max_nlanes)
		most = cfg->settings->max_nlanes;
	request->nlanes = cfg->nlanes < most ? cfg->nlanes : most;
	return 0;
}

static int make_request(const struct pool_cfg *cfg, struct control_pool_request *request)
{
	size_t len = strlen(cfg->pool_set);

	*request = (struct control_pool_request){
		.pool_size = cfg->size,
		.has_attr = cfg->create_attr != NULL,
	};
	if (cfg->create_attr != NULL)
		request->attr = *cfg->create_attr;
	if (len == 0 || len >= sizeof(request->name)) {
		failure_set(EXIT_WRONG_USAGE, "pool set",
			    "the name of the pool set has %zu characters: expected 1 to %zu", len,
			    sizeof(request->name) - 1);
		return -EINVAL;
	}
	memcpy(request->name, cfg->pool_set, len);
	return 0;
}

static struct rpmem_pool *new_pool(const struct pool_cfg *cfg)
{
	struct rpmem_pool *pool = calloc(1, sizeof(*pool));

	if (pool == NULL)
		return NULL;
	pool->forks = forks;
	pool->size = cfg->size;
	pool->is_new = cfg->create;
	if (asprintf(&pool->name, "pool set '%s' on %s", cfg->pool_set, cfg->target) >= 0)
		return pool;
	free(pool);
	return NULL;
}

/* The error message of what failed before stays. */
static int end(struct rpmem_pool *pool, bool remove)
{
	struct failure why = *failure_get();
	int ret;

	lanes_close(&pool->lanes);
	ret = session_close(&pool->session, remove);
	if (ret == 0)
		*failure_get() = why;
	free(pool->name);
	pool->name = NULL;
	return ret;
}

static void free_pool(struct rpmem_pool *pool)
{
	free(pool->gates);
	free(pool);
}

static int open_lanes(struct rpmem_pool *pool, const struct pool_cfg *cfg, const char *host,
		      const struct control_pool_request *request,
		      const struct control_pool_reply *reply)
{
	const struct lanes_cfg lanes_cfg = {
		.host = host,
		.daemon = reply,
		.transport = request->transport,
		.memory = cfg->memory,
		.bytes = cfg->size,
		.work_queue = cfg->settings->work_queue,
		.end_fd = session_fd(pool->session),
	};
	size_t bytes = reply->nlanes * sizeof(pool->gates[0]);

	pool->nlanes = reply->nlanes;
	pool->has_headers = reply->has_headers;
	pool->gates = aligned_alloc(_Alignof(struct pool_gate), bytes);
	if (pool->gates == NULL) {
		failure_set(EXIT_RUN_FAILED, "pool", "out of memory for %u lanes", pool->nlanes);
		return -ENOMEM;
	}
	memset(pool->gates, 0, bytes);
	return lanes_open(&pool->lanes, &lanes_cfg);
}

static int connect_once(struct rpmem_pool **out, const struct pool_cfg *cfg,
			const struct session_cfg *session_cfg,
			const struct control_pool_request *request,
			struct control_pool_reply *reply, bool *may_pass)
{
	struct rpmem_pool *pool = new_pool(cfg);
	struct failure why;
	int ret;

	*may_pass = false;
	if (pool == NULL) {
		failure_set(EXIT_RUN_FAILED, "pool", "out of memory");
		return -ENOMEM;
	}
	ret = session_open(&pool->session, session_cfg);
	if (ret == 0)
		ret = cfg->create ? session_create_pool(pool->session, request, reply)
				  : session_open_pool(pool->session, request, reply);
	if (ret == 0)
		ret = open_lanes(pool, cfg, session_cfg->target->host, request, reply);
	if (ret == 0) {
		*out = pool;
		return 0;
	}
	*may_pass = ret == -ECONNRESET && pool->session != NULL;
	why = *failure_get();
	end(pool, cfg->create);
	free_pool(pool);
	*failure_get() = why;
	return ret;
}

/*
 * The network may drop a session. Since `pmempool sync` deletes the remote replica that it cannot
 * open, open tries again. For the lock of a client that was killed, the daemon itself waits.
 */
static int connect_again(struct rpmem_pool **pool, const struct pool_cfg *cfg,
			 const struct session_cfg *session_cfg,
			 const struct control_pool_request *request,
			 struct control_pool_reply *reply)
{
	static const long pauses_ms[] = {250, 500, 1000};
	bool may_pass;
	int ret;

	for (size_t i = 0;; i++) {
		ret = connect_once(pool, cfg, session_cfg, request, reply, &may_pass);
		if (!may_pass || cfg->create || i == sizeof(pauses_ms) / sizeof(pauses_ms[0]))
			return ret;
		pause_ms(pauses_ms[i]);
	}
}

int pool_connect(struct rpmem_pool **pool, const struct pool_cfg *cfg, struct rpmem_pool_attr *attr)
{
	static const struct rpmem_pool_attr none;
	char command[SETTINGS_COMMAND_MAX];
	struct control_pool_request request;
	struct control_pool_reply reply;
	struct ssh_target target;
	const struct session_cfg session_cfg = {.target = &target, .command = command};
	int ret;

	ret = make_request(cfg, &request);
	if (ret == 0)
		ret = ssh_target_parse(cfg->target, &target);
	if (ret == 0)
		ret = choose_transport(cfg, target.host, &request);
	if (ret == 0)
		ret = settings_next_command(cfg->settings, command);
	if (ret == 0)
		ret = connect_again(pool, cfg, &session_cfg, &request, &reply);
	if (ret != 0)
		return ret;
	if (attr != NULL)
		*attr = reply.has_headers ? reply.attr : none;
	report_line(REPORT_BASIC, "%s: %s, %u lanes over %s, persistence by %s", (*pool)->name,
		    cfg->create ? "created" : "opened", reply.nlanes,
		    request.transport == CONTROL_RDMA ? "RDMA" : "TCP",
		    reply.method == CONTROL_APM ? "RDMA flush" : "the daemon");
	return 0;
}

/* Not freed before the process ends; from here they can be found, so they are no leaks. */
static void keep_gates(struct rpmem_pool *pool)
{
	static struct rpmem_pool *kept;

	pool->next = __atomic_load_n(&kept, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&kept, &pool->next, pool, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

int pool_close(struct rpmem_pool **pool)
{
	struct rpmem_pool *closed = *pool;
	struct failure why;
	bool is_kept;
	int lost, ret;

	*pool = NULL;
	if (__atomic_exchange_n(&closed->is_closing, true, __ATOMIC_SEQ_CST))
		return refuse_closing();
	lost = session_ended(closed->session);
	why = *failure_get();
	empty_gates(closed);
	if (closed->report == POOL_NOT_REPORTED && session_ended(closed->session) != 0)
		report_failure(closed->name);
	report_line(REPORT_BASIC, "%s: closed", closed->name);
	is_kept = session_ended(closed->session) != 0;
	ret = end(closed, false);
	if (is_kept)
		keep_gates(closed);
	else
		free_pool(closed);
	if (lost == 0)
		return ret;
	*failure_get() = why;
	return lost;
}
