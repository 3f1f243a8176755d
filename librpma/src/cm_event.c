/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_event.c -- RDMA CM events, for endpoints and connections, and what they
 * mean to a connection.
 */
#include "cm_event.h"
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
		return RPMA_E_NOMEM;
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

int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event)
{
	struct rpma_conn_private_data received = {0};
	struct rdma_cm_event *cm_event;
	int ret;

	if (conn == NULL || event == NULL)
		return RPMA_E_INVAL;

	ret = rpma_cm_event_get(conn->evch, &cm_event);
	if (ret)
		return ret;

	enum rdma_cm_event_type type = cm_event->event;
	if (type == RDMA_CM_EVENT_ESTABLISHED && conn->private_data.ptr == NULL)
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

	RPMA_LOG_NOTICE("connection event: %s", rdma_event_str(type));
	if (meaning(type) == RPMA_CONN_UNDEFINED) {
		RPMA_LOG_WARNING("an event that no connection expects: %s", rdma_event_str(type));
		return RPMA_E_UNKNOWN;
	}
	*event = meaning(type);
	return 0;
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
