/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_event.c -- RDMA CM events, for endpoints and connections, and what they
 * mean to a connection.
 */
#include "conn.h"
#include "log.h"

#include <errno.h>
#include <stdlib.h>

int rpma_cm_event_get(struct rdma_event_channel *evch, struct rdma_cm_event **event_ptr)
{
	if (rdma_get_cm_event(evch, event_ptr) == 0)
		return 0;

	switch (errno) {
	case EAGAIN:
	case ENODATA:
	case EINTR:
		return RPMA_E_NO_EVENT;
	default:
		RPMA_LOG_ERRNO(errno, "rdma_get_cm_event()");
		return RPMA_E_PROVIDER;
	}
}

int rpma_cm_event_ack(struct rdma_cm_event *event)
{
	if (rdma_ack_cm_event(event) == 0)
		return 0;

	RPMA_LOG_ERRNO(errno, "rdma_ack_cm_event()");
	return RPMA_E_PROVIDER;
}

int rpma_cm_event_copy_data(const struct rdma_cm_event *event, struct rpma_conn_private_data *copy)
{
	const void *data = event->param.conn.private_data;
	uint8_t len = event->param.conn.private_data_len;

	if (data == NULL || len == 0)
		return 0;

	void *ptr = malloc(len);
	if (ptr == NULL)
		return RPMA_FAIL_NOMEM(len);
	memcpy(ptr, data, len);
	*copy = (struct rpma_conn_private_data){.ptr = ptr, .len = len};
	return 0;
}

/* Each event has its meaning alone; RPMA_CONN_UNDEFINED: none. */
static enum rpma_conn_event meaning(enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		return RPMA_CONN_ESTABLISHED;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return RPMA_CONN_LOST;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return RPMA_CONN_CLOSED;
	case RDMA_CM_EVENT_REJECTED:
		return RPMA_CONN_REJECTED;
	case RDMA_CM_EVENT_UNREACHABLE:
		return RPMA_CONN_UNREACHABLE;
	default:
		return RPMA_CONN_UNDEFINED;
	}
}

/* The reason in an REJ: IBA 12.6.7.2, enum ib_cm_rej_reason of Linux. */
static enum rpma_rejection rejection(int reason)
{
	enum { INVALID_SERVICE_ID = 8, CONSUMER_DEFINED = 28 };

	switch (reason) {
	case INVALID_SERVICE_ID:
		return RPMA_REJECTION_NO_LISTENER;
	case CONSUMER_DEFINED:
		return RPMA_REJECTION_PROGRAM;
	default:
		return RPMA_REJECTION_OTHER;
	}
}

/* The queue pair is in RTS now, where its RNR timer may change; the CM has no option for it. */
static int set_rnr_timer(struct rpma_conn *conn)
{
	const uint32_t timer = conn->options[RPMA_CONN_OPT_RNR_TIMER];
	struct ibv_qp_attr attr = {.min_rnr_timer = (uint8_t)timer};

	if (timer == RPMA_CONN_OPT_UNSET)
		return 0;
	int err = ibv_modify_qp(conn->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	if (err == 0)
		return 0;

	RPMA_LOG_ERRNO(err, "ibv_modify_qp(QP %u, min_rnr_timer=%u)", conn->qp->qp_num, timer);
	return RPMA_E_PROVIDER;
}

static bool is_failure(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_ADDR_ERROR || type == RDMA_CM_EVENT_ROUTE_ERROR ||
	       meaning(type) >= RPMA_CONN_LOST;
}

/* For rpma_err_text(): what failed, with which peer, and why. */
__attribute__((cold)) static void explain(const struct rpma_conn *conn,
					  enum rdma_cm_event_type type, int status)
{
	static const char *const refusals[] = {
		[RPMA_REJECTION_NO_LISTENER] = ", no program listens there",
		[RPMA_REJECTION_PROGRAM] = ", the program there refused",
	};
	const char *why = "";
	char text[RPMA_ADDRESS_TEXT_MAX];

	if (type == RDMA_CM_EVENT_REJECTED && conn->rejection < RPMA_REJECTION_OTHER)
		why = refusals[conn->rejection];
	rpma_err_set("connection with %s: %s%s%s%s",
		     rpma_address_print(rdma_get_peer_addr(conn->id), text), rdma_event_str(type),
		     why, status < 0 ? ": " : "", status < 0 ? strerror(-status) : "");
}

/* Takes from the event who refused, and the private data. */
static int take_event(struct rpma_conn *conn, struct rdma_cm_event *cm_event)
{
	struct rpma_conn_private_data received = {0};
	const enum rdma_cm_event_type type = cm_event->event;
	const int status = cm_event->status;
	int ret = 0;

	if (type == RDMA_CM_EVENT_REJECTED)
		atomic_store(&conn->rejection, (int)rejection(status));
	if ((type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_REJECTED) &&
	    conn->private_data.ptr == NULL)
		ret = rpma_cm_event_copy_data(cm_event, &received);
	int err = rpma_cm_event_ack(cm_event);
	if (ret == 0)
		ret = err;
	if (ret) {
		free(received.ptr);
		return ret;
	}
	if (received.ptr != NULL)
		conn->private_data = received;
	if (is_failure(type))
		explain(conn, type, status);
	return 0;
}

/* The next event, or NULL at the end of the handshake's time. */
static int fetch(struct rpma_conn *conn, struct rdma_cm_event **event_ptr)
{
	for (;;) {
		int ret = rpma_cm_event_get(conn->evch, event_ptr);
		if (ret != RPMA_E_NO_EVENT || !conn->deadline.is_set)
			return ret;
		if (rpma_deadline_is_over(&conn->deadline)) {
			*event_ptr = NULL;
			return 0;
		}
		ret = rpma_deadline_wait(&conn->deadline);
		if (ret)
			return ret;
	}
}

static void give_up(struct rpma_conn *conn)
{
	char text[RPMA_ADDRESS_TEXT_MAX];

	rpma_deadline_drop(&conn->deadline);
	rpma_connecting_delete(&conn->connecting);
	conn->is_given_up = true;
	rpma_err_set("connection with %s: not established within %u ms",
		     rpma_address_print(rdma_get_peer_addr(conn->id), text),
		     conn->options[RPMA_CONN_OPT_CONNECT_MS]);
}

enum { GO_ON = 1 }; /* no event for the program */

static int next_event(struct rpma_conn *conn, enum rpma_conn_event *event)
{
	struct rdma_cm_event *cm_event;

	int ret = fetch(conn, &cm_event);
	if (ret)
		return ret;
	if (cm_event == NULL) {
		give_up(conn);
		*event = RPMA_CONN_UNREACHABLE;
		return 0;
	}
	const enum rdma_cm_event_type type = cm_event->event;
	enum rpma_conn_event meant = meaning(type);

	ret = take_event(conn, cm_event);
	if (ret)
		return ret;
	RPMA_LOG_NOTICE("connection event: %s", rdma_event_str(type));
	if (conn->is_given_up)
		return GO_ON;
	if (conn->connecting != NULL && rpma_connecting_step(conn, type, &meant, &ret))
		return GO_ON;
	if (ret == 0 && type == RDMA_CM_EVENT_ESTABLISHED)
		ret = set_rnr_timer(conn);
	if (ret == 0 && meant == RPMA_CONN_UNDEFINED) {
		RPMA_LOG_WARNING("an event that no connection expects: %s", rdma_event_str(type));
		return RPMA_FAIL_WITH(RPMA_E_UNKNOWN, "an event that no connection expects: %s",
				      rdma_event_str(type));
	}
	rpma_deadline_drop(&conn->deadline);
	if (ret == 0)
		*event = meant;
	return ret;
}

int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event)
{
	int ret;

	if (conn == NULL || event == NULL)
		return RPMA_FAIL_NULL(conn, event);

	do
		ret = next_event(conn, event);
	while (ret == GO_ON);
	return ret;
}

const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event)
{
	switch (conn_event) {
	case RPMA_CONN_UNDEFINED:
		return "Undefined connection event";
	case RPMA_CONN_ESTABLISHED:
		return "Connection established";
	case RPMA_CONN_CLOSED:
		return "Connection closed";
	case RPMA_CONN_LOST:
		return "Connection lost";
	case RPMA_CONN_REJECTED:
		return "Connection rejected";
	case RPMA_CONN_UNREACHABLE:
		return "Connection unreachable";
	default:
		return "Unsupported connection event";
	}
}
