/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect.c -- the handshake of both sides; and rpma_conn_connect(), which tries the addresses
 * of a name one after the other, each with an id and a queue pair of its own:
 *
 *	rdma_resolve_addr() -> ADDR_RESOLVED: the queue pair, rdma_resolve_route()
 *	-> ROUTE_RESOLVED: rdma_connect() -> ESTABLISHED
 *
 * Each arrow is an event, which rpma_conn_next_event() brings here. A step that fails, or an
 * event that reports a failure, begins the next address. The last failure is the outcome.
 */
#include "connect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "conn.h"
#include "log.h"

static int watch(const struct rpma_deadline *deadline, int fd)
{
	struct epoll_event readable = {.events = EPOLLIN};

	return epoll_ctl(deadline->fd, EPOLL_CTL_ADD, fd, &readable);
}

static int set(struct rpma_deadline *deadline, int evch_fd, uint32_t timeout_ms)
{
	const struct itimerspec once = {
		.it_value = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000},
	};
	const int flags = fcntl(evch_fd, F_GETFL);

	deadline->fd = epoll_create1(EPOLL_CLOEXEC);
	if (deadline->fd < 0)
		return -1;
	deadline->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (deadline->timer_fd < 0 || timerfd_settime(deadline->timer_fd, 0, &once, NULL))
		return -1;
	if (watch(deadline, evch_fd) || watch(deadline, deadline->timer_fd))
		return -1;
	return flags < 0 ? -1 : fcntl(evch_fd, F_SETFL, flags | O_NONBLOCK);
}

int rpma_deadline_set(struct rpma_deadline *deadline, const struct rdma_event_channel *evch,
		      uint32_t timeout_ms)
{
	*deadline = (struct rpma_deadline){.is_set = true, .fd = -1, .timer_fd = -1};
	if (set(deadline, evch->fd, timeout_ms) == 0)
		return 0;

	RPMA_LOG_ERRNO(errno, "a timer of %u ms: epoll_create1() or timerfd_create()", timeout_ms);
	return RPMA_E_PROVIDER;
}

void rpma_deadline_drop(struct rpma_deadline *deadline)
{
	if (!deadline->is_set || deadline->timer_fd < 0)
		return;
	(void)close(deadline->timer_fd); /* and epoll(7) forgets it */
	deadline->timer_fd = -1;
}

void rpma_deadline_close(struct rpma_deadline *deadline)
{
	rpma_deadline_drop(deadline);
	if (deadline->is_set && deadline->fd >= 0)
		(void)close(deadline->fd);
	deadline->is_set = false;
}

bool rpma_deadline_is_over(const struct rpma_deadline *deadline)
{
	uint64_t times;

	return deadline->is_set && deadline->timer_fd >= 0 &&
	       read(deadline->timer_fd, &times, sizeof(times)) == sizeof(times);
}

int rpma_deadline_wait(const struct rpma_deadline *deadline)
{
	struct pollfd fd = {.fd = deadline->fd, .events = POLLIN};

	if (fcntl(deadline->fd, F_GETFL) & O_NONBLOCK)
		return RPMA_E_NO_EVENT;
	if (poll(&fd, 1, -1) >= 0)
		return 0;
	if (errno == EINTR)
		return RPMA_E_NO_EVENT;
	RPMA_LOG_ERRNO(errno, "poll()");
	return RPMA_E_PROVIDER;
}

struct rpma_connecting {
	struct addrinfo *addresses;
	const struct addrinfo *next;	     /* to be tried, or NULL */
	uint32_t options[RPMA_CONN_OPTIONS]; /* as configured: a device changes the connection's */
	int timeout_ms;			     /* for the address, and again for the route */
	struct rpma_conn_private_data pdata; /* its bytes are below */
	uint8_t bytes[UINT8_MAX];
	/* what the queue pair has, while it is held back */
	bool native_flush, native_atomic_write;
	struct rpma_sendq sendq;
};

/* An option of one byte. */
static int set_id_option(struct rdma_cm_id *id, int name, const char *text, uint32_t value)
{
	uint8_t byte = (uint8_t)value;

	if (value == RPMA_CONN_OPT_UNSET ||
	    rdma_set_option(id, RDMA_OPTION_ID, name, &byte, sizeof(byte)) == 0)
		return 0;

	const int ret = errno == ENOSYS ? RPMA_E_NOSUPP : RPMA_E_PROVIDER;
	RPMA_LOG_ERRNO(errno, "rdma_set_option(%s, %u)", text, value);
	return ret;
}

int rpma_connect_set_traffic_class(struct rdma_cm_id *id, uint32_t value)
{
	return set_id_option(id, RDMA_OPTION_ID_TOS, "TOS", value);
}

/*
 * A client that gives up before it is accepted leaves an event. The program gets that
 * as the first event of its connection, as if the client had given up a moment later.
 */
static bool is_gone(const struct rpma_conn *conn, int err)
{
	struct pollfd fd = {.fd = conn->evch->fd, .events = POLLIN};

	if (poll(&fd, 1, 0) != 1) {
		errno = err;
		return false;
	}
	RPMA_LOG_NOTICE("a client is gone that was to be accepted: %s", strerror(err));
	return true;
}

int rpma_connect_begin(struct rpma_conn *conn, enum rpma_side side,
		       const struct rpma_conn_private_data *pdata)
{
	struct rdma_conn_param param = {
		.private_data = pdata ? pdata->ptr : NULL,
		.private_data_len = pdata ? pdata->len : 0,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.flow_control = 1,
		.retry_count = (uint8_t)conn->options[RPMA_CONN_OPT_RETRIES],
		.rnr_retry_count = (uint8_t)conn->options[RPMA_CONN_OPT_RNR_RETRIES],
	};
	const bool connects = side == RPMA_ACTIVE;
	char text[RPMA_ADDRESS_TEXT_MAX];

	int ret = set_id_option(conn->id, RDMA_OPTION_ID_ACK_TIMEOUT, "ACK_TIMEOUT",
				conn->options[RPMA_CONN_OPT_ACK_TIMEOUT]);
	if (ret == 0 && !connects)
		ret = rpma_connect_set_traffic_class(conn->id,
						     conn->options[RPMA_CONN_OPT_TRAFFIC_CLASS]);
	if (ret)
		return ret;
	if ((connects ? rdma_connect(conn->id, &param) : rdma_accept(conn->id, &param)) == 0)
		return 0;
	if (!connects && is_gone(conn, errno))
		return 0;

	RPMA_LOG_ERRNO(errno, "%s(%s) with %u bytes of private data",
		       connects ? "rdma_connect" : "rdma_accept",
		       rpma_address_print(rdma_get_peer_addr(conn->id), text),
		       param.private_data_len);
	return RPMA_E_PROVIDER;
}

/* --- without blocking -------------------------------------------------------------------- */

void rpma_connecting_delete(struct rpma_connecting **connecting_ptr)
{
	if (*connecting_ptr == NULL)
		return;
	rpma_sendq_close(&(*connecting_ptr)->sendq);
	freeaddrinfo((*connecting_ptr)->addresses);
	free(*connecting_ptr);
	*connecting_ptr = NULL;
}

/* The id of the address before is kept if there can be no other: a connection has one. */
static int try_address(struct rpma_conn *conn, const struct addrinfo *address)
{
	struct rpma_connecting *connecting = conn->connecting;
	struct rdma_cm_id *id;

	int ret = rpma_address_create_id(conn->evch, &id);
	if (ret)
		return ret;
	rpma_conn_drop_id(conn);
	rpma_sendq_close(&connecting->sendq);
	conn->id = id;
	memcpy(conn->options, connecting->options, sizeof(conn->options));
	free(conn->private_data.ptr); /* that came with a refusal */
	conn->private_data = (struct rpma_conn_private_data){0};
	atomic_store(&conn->rejection, RPMA_REJECTION_NONE);

	ret = rpma_connect_set_traffic_class(id, conn->options[RPMA_CONN_OPT_TRAFFIC_CLASS]);
	if (ret)
		return ret;
	return rpma_address_resolve_to(address->ai_addr, id, connecting->timeout_ms);
}

/* True: another address is under way. False: there is none; *ret is of the last that was tried. */
static bool try_next(struct rpma_conn *conn, int *ret)
{
	struct rpma_connecting *connecting = conn->connecting;

	while (connecting->next != NULL) {
		const struct addrinfo *address = connecting->next;

		connecting->next = address->ai_next;
		*ret = try_address(conn, address);
		if (*ret == 0)
			return true;
	}
	return false;
}

/* Operations before the connection stands could be lost with this attempt: they are refused. */
static void hold_back(struct rpma_conn *conn)
{
	struct rpma_connecting *connecting = conn->connecting;

	connecting->native_flush = conn->native_flush;
	connecting->native_atomic_write = conn->native_atomic_write;
	conn->native_flush = conn->native_atomic_write = false;
	connecting->sendq = conn->sendq;
	conn->sendq = rpma_no_sendq;
	conn->qp = &rpma_no_qp;
}

static void hand_over(struct rpma_conn *conn)
{
	struct rpma_connecting *connecting = conn->connecting;

	conn->qp = conn->id->qp;
	conn->native_flush = connecting->native_flush;
	conn->native_atomic_write = connecting->native_atomic_write;
	conn->sendq = connecting->sendq;
	connecting->sendq = rpma_no_sendq;
}

static int make_qp(struct rpma_conn *conn)
{
	struct rdma_cm_id *id = conn->id;

	int ret = rpma_conn_adopt_id(conn, id);
	conn->id = id; /* in any case */
	if (ret)
		return ret;
	hold_back(conn);
	return rpma_address_resolve_route(id, conn->connecting->timeout_ms);
}

bool rpma_connecting_step(struct rpma_conn *conn, enum rdma_cm_event_type type,
			  enum rpma_conn_event *event, int *ret)
{
	const struct rpma_conn_private_data *pdata = &conn->connecting->pdata;

	*ret = 0;
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		*ret = make_qp(conn);
		if (*ret == 0)
			return true;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		*ret = rpma_connect_begin(conn, RPMA_ACTIVE, pdata->ptr != NULL ? pdata : NULL);
		if (*ret == 0)
			return true;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		hand_over(conn);
		rpma_connecting_delete(&conn->connecting);
		return false;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		*event = RPMA_CONN_UNREACHABLE;
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (atomic_load(&conn->rejection) == RPMA_REJECTION_PROGRAM)
			conn->connecting->next = NULL; /* its answer */
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_DISCONNECTED:
		break;
	default: /* no step waits for it: ADDR_CHANGE, for one */
		return true;
	}
	if (try_next(conn, ret))
		return true;
	rpma_connecting_delete(&conn->connecting);
	return false;
}

static int connecting_new(const char *addr, const char *port, const struct rpma_conn_cfg *cfg,
			  const struct rpma_conn_private_data *pdata,
			  struct rpma_connecting **connecting_ptr)
{
	struct rpma_connecting *connecting = calloc(1, sizeof(*connecting));
	if (connecting == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*connecting));

	int ret = rpma_address_list(addr, port, &connecting->addresses);
	if (ret) {
		free(connecting);
		return ret;
	}
	connecting->next = connecting->addresses;
	connecting->timeout_ms = cfg->timeout_ms;
	if (pdata != NULL) {
		memcpy(connecting->bytes, pdata->ptr, pdata->len);
		connecting->pdata.ptr = connecting->bytes;
		connecting->pdata.len = pdata->len;
	}
	*connecting_ptr = connecting;
	return 0;
}

static int begin(struct rpma_conn *conn)
{
	int ret = rpma_conn_prepare(conn);

	if (ret == 0)
		(void)try_next(conn, &ret);
	return ret;
}

int rpma_conn_connect(struct rpma_peer *peer, const char *addr, const char *port,
		      const struct rpma_conn_cfg *cfg, const struct rpma_conn_private_data *pdata,
		      struct rpma_conn **conn_ptr)
{
	struct rpma_connecting *connecting;
	struct rpma_conn_cfg defaults;
	struct rpma_conn *conn;

	if (peer == NULL || addr == NULL || port == NULL || conn_ptr == NULL)
		return RPMA_FAIL_NULL(peer, addr, port, conn_ptr);
	if (pdata != NULL && (pdata->ptr == NULL || pdata->len == 0))
		return RPMA_FAIL(RPMA_E_INVAL, "pdata has ptr %p and len %u, expected some bytes",
				 pdata->ptr, pdata->len);
	rpma_conn_cfg_init(&defaults);
	if (cfg == NULL)
		cfg = &defaults;

	int ret = connecting_new(addr, port, cfg, pdata, &connecting);
	if (ret)
		return ret;
	ret = rpma_conn_new(peer, cfg, true, &conn);
	if (ret) {
		rpma_connecting_delete(&connecting);
		return ret;
	}
	memcpy(connecting->options, conn->options, sizeof(conn->options));
	conn->connecting = connecting;
	ret = begin(conn);
	if (ret) {
		(void)rpma_conn_delete(&conn);
		return ret;
	}
	RPMA_LOG_NOTICE("a connection to %s:%s is begun", addr, port);
	*conn_ptr = conn;
	return 0;
}
