/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes_tcp.c -- accepts connections, admits lanes, and performs their requests
 * in order.
 *
 * Data to be written are received into a buffer and copied from there by whole
 * words: what arrives ends anywhere.
 */
#include "lanes.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admission.h"
#include "common/base/failure.h"
#include "common/base/thread.h"
#include "common/rdma/handshake.h"
#include "common/rdma/resolve.h"
#include "lane_serve.h"
#include "librpmem/wire/lane_stream.h"
#include "log.h"
#include "reason.h"

#define PENDING_SPARE 64 /* connections without a handshake yet, beside all lanes at once */
#define HANDSHAKE_MS  5000
#define CHUNK_BYTES   65536
#define READ_BYTES    ((uint64_t)1 << 20) /* sent at once: a session that ends waits for no more */
#define CUT	      64		  /* chunks end at multiples of this, so no word is torn */

_Static_assert(CHUNK_BYTES >= LANE_DATA_MAX, "a chunk has room for the data of a request");

struct lanes_tcp {
	const struct pool *pool;
	struct admission admission;
	int listen_fd;
	int stop_fd; /* readable: the lanes end */
	atomic_bool stopping;
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under lock */
	uint32_t connections;
	TAILQ_HEAD(pending, tcp_lane) pending; /* no handshake yet; from the oldest on */
	uint32_t pending_count;
};

struct tcp_lane {
	struct lanes_tcp *lanes;
	int fd;
	TAILQ_ENTRY(tcp_lane) entry;
	bool is_pending; /* under lock */
	uint32_t index;
	struct lane_stream stream;
	uint8_t chunk[CHUNK_BYTES];
};

/* --- requests ------------------------------------------------------------- */

static int send_answer(struct tcp_lane *l, uint32_t slot, enum persist_status status, void *data,
		       size_t len)
{
	const struct lane_answer answer = {slot, status};
	uint8_t bytes[LANE_ANSWER_BYTES];
	struct iovec parts[] = {{bytes, sizeof(bytes)}, {data, len}};

	lane_encode_answer(&answer, bytes);
	return lane_stream_send(&l->stream, parts, len > 0 ? 2 : 1);
}

static size_t next_chunk(uint64_t offset, uint64_t length)
{
	return length <= CHUNK_BYTES ? length : (offset + CHUNK_BYTES) / CUT * CUT - offset;
}

static bool is_stopping(const struct tcp_lane *l)
{
	return atomic_load_explicit(&l->lanes->stopping, memory_order_relaxed);
}

/* Without answer: a range outside ends the lane. */
static int serve_write(struct tcp_lane *l, const struct lane_request *request)
{
	struct lane_request part = *request;
	uint64_t left = request->length;
	int ret = 0;

	while (ret == 0 && left > 0) {
		part.length = next_chunk(part.offset, left);
		ret = is_stopping(l) ? -ECANCELED
				     : lane_stream_receive(&l->stream, l->chunk, part.length, -1);
		if (ret == 0 && lane_serve(l->lanes->pool, &part, l->chunk, LANE_BY_CPU,
					   &l->lanes->stopping) != PERSIST_DONE)
			ret = -EPROTO;
		part.offset += part.length;
		left -= part.length;
	}
	return ret;
}

/* The range was checked. */
static int send_range(struct tcp_lane *l, const struct lane_request *request)
{
	unsigned char *at = pool_memory(l->lanes->pool) + request->offset;
	uint64_t left = request->length, len = left < READ_BYTES ? left : READ_BYTES;
	int ret = send_answer(l, request->slot, PERSIST_DONE, at, len);

	while (ret == 0 && (left -= len) > 0) {
		struct iovec part;

		at += len;
		len = left < READ_BYTES ? left : READ_BYTES;
		part = (struct iovec){at, len};
		ret = is_stopping(l) ? -ECANCELED : lane_stream_send(&l->stream, &part, 1);
	}
	return ret;
}

static int serve_request(struct tcp_lane *l, const struct lane_request *request)
{
	const struct pool *pool = l->lanes->pool;
	enum persist_status status;
	int ret;

	if (request->op == LANE_WRITE)
		return serve_write(l, request);
	ret = lane_stream_receive(&l->stream, l->chunk, lane_serve_data_bytes(request), -1);
	if (ret)
		return ret;
	status = lane_serve(pool, request, l->chunk, LANE_BY_CPU, &l->lanes->stopping);
	if (request->op == LANE_READ && status == PERSIST_DONE)
		return send_range(l, request);
	return send_answer(l, request->slot, status, NULL, 0);
}

static void serve_requests(struct tcp_lane *l)
{
	uint8_t bytes[LANE_REQUEST_BYTES];
	struct lane_request request;
	int ret = 0;

	while (ret == 0 && !is_stopping(l)) {
		ret = lane_stream_receive(&l->stream, bytes, sizeof(bytes), -1);
		if (ret == 0)
			ret = lane_decode_request(bytes, &request);
		if (ret == 0)
			ret = serve_request(l, &request);
	}
	if (ret == -EPROTO)
		log_line(LEVEL_WARN, "lane %u: the client sent what is not a request", l->index);
	else if (ret != 0 && ret != -ECONNRESET && ret != -ECANCELED)
		log_line(LEVEL_ERR, "lane %u: %s", l->index, strerror(-ret));
}

/* --- a connection --------------------------------------------------------- */

/* Under lock. */
static void settle(struct tcp_lane *l)
{
	struct lanes_tcp *lanes = l->lanes;

	if (!l->is_pending)
		return;
	l->is_pending = false;
	TAILQ_REMOVE(&lanes->pending, l, entry);
	lanes->pending_count--;
	pthread_cond_broadcast(&lanes->changed);
}

/* From now on it is not dropped for another one: its token decides. */
static void handshake_arrived(struct tcp_lane *l)
{
	pthread_mutex_lock(&l->lanes->lock);
	settle(l);
	pthread_mutex_unlock(&l->lanes->lock);
}

static int take_handshake(struct tcp_lane *l)
{
	const struct handshake_reply reply = {.version = HANDSHAKE_VERSION,
					      .answer = HANDSHAKE_WELCOME};
	uint8_t got[HANDSHAKE_REQUEST_BYTES], sent[HANDSHAKE_REPLY_BYTES];
	struct iovec part = {sent, sizeof(sent)};
	int ret = lane_stream_open(&l->stream, l->fd, l->lanes->stop_fd);

	if (ret == 0)
		ret = lane_stream_receive(&l->stream, got, sizeof(got), HANDSHAKE_MS);
	if (ret)
		return ret;
	handshake_arrived(l);
	ret = admission_enter(&l->lanes->admission, got, sizeof(got), &l->index);
	if (ret) {
		log_line(LEVEL_WARN, "rejected a connection: %s", admission_refusal(ret));
		return ret;
	}
	handshake_encode_reply(&reply, sent);
	ret = lane_stream_send(&l->stream, &part, 1);
	if (ret)
		admission_leave(&l->lanes->admission, l->index);
	return ret;
}

/* Takes the descriptor with it, so that the accepting thread never sees a closed one. */
static void leave(struct tcp_lane *l)
{
	struct lanes_tcp *lanes = l->lanes;

	pthread_mutex_lock(&lanes->lock);
	settle(l);
	close(l->fd);
	lanes->connections--;
	pthread_cond_broadcast(&lanes->changed);
	pthread_mutex_unlock(&lanes->lock);
	free(l);
}

static void *run_lane(void *lane)
{
	struct tcp_lane *l = lane;

	if (take_handshake(l) == 0) {
		serve_requests(l);
		admission_leave(&l->lanes->admission, l->index);
	}
	leave(l);
	return NULL;
}

/*
 * Under lock. The oldest one without a handshake goes, so that however many are silent, a client
 * has time to show its token. False: there is none.
 */
static bool drop_pending(struct lanes_tcp *l)
{
	const uint32_t count = l->pending_count;

	if (count == 0)
		return false;
	shutdown(TAILQ_FIRST(&l->pending)->fd, SHUT_RDWR);
	while (l->pending_count == count)
		pthread_cond_wait(&l->changed, &l->lock);
	return true;
}

static void enter(struct tcp_lane *l)
{
	struct lanes_tcp *lanes = l->lanes;

	pthread_mutex_lock(&lanes->lock);
	if (lanes->pending_count == lanes->admission.nlanes + PENDING_SPARE)
		drop_pending(lanes);
	l->is_pending = true;
	TAILQ_INSERT_TAIL(&lanes->pending, l, entry);
	lanes->pending_count++;
	lanes->connections++;
	pthread_mutex_unlock(&lanes->lock);
}

/* Takes the descriptor in any case. */
static void start_lane(struct lanes_tcp *lanes, int fd)
{
	struct tcp_lane *l = malloc(sizeof(*l));

	if (l == NULL) {
		log_line(LEVEL_ERR, "no memory for a connection");
		close(fd);
		return;
	}
	l->lanes = lanes;
	l->fd = fd;
	enter(l);
	if (thread_start(NULL, run_lane, l) != 0) {
		log_line(LEVEL_ERR, "no thread for a connection");
		leave(l);
	}
}

/* Takes that of a silent connection, or else waits a while for a lane to end. */
static void free_descriptor(struct lanes_tcp *l)
{
	struct pollfd stop = {l->stop_fd, POLLIN, 0};
	bool dropped;

	pthread_mutex_lock(&l->lock);
	dropped = drop_pending(l);
	pthread_mutex_unlock(&l->lock);
	if (!dropped)
		poll(&stop, 1, 100);
}

static void *accept_lanes(void *lanes)
{
	struct lanes_tcp *l = lanes;
	struct pollfd fds[] = {{l->listen_fd, POLLIN, 0}, {l->stop_fd, POLLIN, 0}};

	while (fds[1].revents == 0) {
		int fd;

		if (poll(fds, 2, -1) <= 0 || fds[0].revents == 0)
			continue;
		fd = accept4(l->listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			start_lane(l, fd);
		else if (errno == EMFILE || errno == ENFILE)
			free_descriptor(l);
	}
	return NULL;
}

/* --- open and close ------------------------------------------------------- */

static int bind_to(struct lanes_tcp *l, const char *address)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_PASSIVE};
	struct addrinfo *found = NULL;
	int ret = 0;

	if (getaddrinfo(address, "0", &hints, &found) != 0)
		return -EINVAL;
	l->listen_fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->listen_fd < 0 || bind(l->listen_fd, found->ai_addr, found->ai_addrlen) != 0 ||
	    listen(l->listen_fd, SOMAXCONN) != 0)
		ret = -errno;
	freeaddrinfo(found);
	return ret;
}

static int listen_on(struct lanes_tcp *l, const char *host, struct control_pool_reply *endpoint)
{
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	char port[NI_MAXSERV];
	int ret;

	if (resolve_host(host, RESOLVE_TIMEOUT_MS, endpoint->address) != 0)
		return -ECONNABORTED;
	ret = bind_to(l, endpoint->address);
	if (ret)
		return reason_set(ECONNABORTED, "cannot listen on %s: %s", endpoint->address,
				  strerror(-ret));
	if (getsockname(l->listen_fd, (struct sockaddr *)(void *)&bound, &len) != 0 ||
	    getnameinfo((struct sockaddr *)(void *)&bound, len, NULL, 0, port, sizeof(port),
			NI_NUMERICSERV) != 0)
		return reason_set(ECONNABORTED, "cannot tell which port of %s is free",
				  endpoint->address);
	endpoint->port = (uint16_t)strtoul(port, NULL, 10);
	endpoint->token = l->admission.token;
	return 0;
}

static int start(struct lanes_tcp *l, const struct lanes_cfg *cfg,
		 struct control_pool_reply *endpoint)
{
	int ret = admission_open(&l->admission, cfg->nlanes);

	if (ret == 0)
		ret = listen_on(l, cfg->address, endpoint);
	if (ret)
		return ret;
	l->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->stop_fd < 0)
		return reason_set(errno, "cannot make an eventfd: %s", strerror(errno));
	ret = thread_start(&l->thread, accept_lanes, l);
	l->is_running = ret == 0;
	return ret == 0 ? 0 : reason_set(-ret, "cannot start a thread: %s", strerror(-ret));
}

int lanes_tcp_open(struct lanes_tcp **lanes, const struct lanes_cfg *cfg, struct method *method,
		   struct control_pool_reply *endpoint)
{
	struct lanes_tcp *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return reason_set(ENOMEM, "out of memory");
	method_find(cfg->pool, CONTROL_TCP, NULL, cfg->persist_apm, method);
	l->pool = cfg->pool;
	l->listen_fd = -1;
	l->stop_fd = -1;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	TAILQ_INIT(&l->pending);
	ret = start(l, cfg, endpoint);
	if (ret) {
		lanes_tcp_close(&l);
		return ret;
	}
	*lanes = l;
	return 0;
}

static void wait_for_threads(struct lanes_tcp *l)
{
	pthread_join(l->thread, NULL);
	pthread_mutex_lock(&l->lock);
	while (l->connections > 0)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

void lanes_tcp_close(struct lanes_tcp **lanes)
{
	struct lanes_tcp *l = *lanes;

	*lanes = NULL;
	if (l == NULL)
		return;
	atomic_store(&l->stopping, true);
	if (l->stop_fd >= 0)
		eventfd_write(l->stop_fd, 1);
	if (l->is_running)
		wait_for_threads(l);
	if (l->listen_fd >= 0)
		close(l->listen_fd);
	if (l->stop_fd >= 0)
		close(l->stop_fd);
	admission_close(&l->admission);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
