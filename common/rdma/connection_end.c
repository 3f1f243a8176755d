/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_end.c -- how an established connection ends, and why work on it fails.
 *
 * The RDMA CM tells of a peer that closes, or whose kernel closes for it, of a
 * device that goes, and, since Linux 6.0, of a neighbour entry that gets another
 * link address (cma_netevent_callback() in drivers/infiniband/core/cma.c), which
 * librpma calls unreachable. Of a path that drops packets only completions tell.
 */
#include "connection_end.h"

#include <errno.h>
#include <stdio.h>

#include "device.h"

#define END_WAIT_MS 1000

enum cause connection_end_of(enum rpma_conn_event event)
{
	switch (event) {
	case RPMA_CONN_CLOSED:
		return CAUSE_CLOSED;
	case RPMA_CONN_UNREACHABLE:
		return CAUSE_UNREACHABLE;
	default:
		return CAUSE_DEVICE_GONE;
	}
}

int connection_ended(enum cause end, const char *peer_name)
{
	switch (end) {
	case CAUSE_UNREACHABLE:
		return failure_because(end, EXIT_RUN_FAILED, "connection",
				       "%s became unreachable: the neighbour entry of its address "
				       "changed on this host",
				       peer_name);
	case CAUSE_DEVICE_GONE:
		return failure_because(end, EXIT_RUN_FAILED, "connection",
				       "the connection to %s broke: the RDMA device of this host "
				       "was removed or reset",
				       peer_name);
	default:
		return failure_because(end, EXIT_RUN_FAILED, "connection",
				       "%s closed the connection", peer_name);
	}
}

enum cause connection_status_cause(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
	case IBV_WC_WR_FLUSH_ERR:
		return CAUSE_LOST;
	case IBV_WC_REM_ACCESS_ERR:
		return CAUSE_NO_ACCESS;
	case IBV_WC_FATAL_ERR:
		return CAUSE_DEVICE_GONE;
	default:
		return CAUSE_UNKNOWN;
	}
}

static bool port_down(const struct connection *connection)
{
	struct sysroot root;
	bool down;

	if (connection_device(connection)[0] == '\0' || sysroot_open(&root, "/") != 0)
		return false;
	down = device_is_down(&root, connection_device(connection));
	sysroot_close(&root);
	return down;
}

int connection_work_failed(struct connection *connection, const char *step, const char *what,
			   const struct ibv_wc *wc)
{
	enum cause cause = connection_status_cause(wc->status);
	char status[64];

	snprintf(status, sizeof(status), wc->vendor_err != 0 ? "%s (vendor error 0x%x)" : "%s",
		 connection_wc_status_name(wc->status), wc->vendor_err);
	/* the peer's own refusal ends nothing that it has not named */
	if (cause != CAUSE_NO_ACCESS && !connection_alive(connection, END_WAIT_MS))
		return -EIO;
	if (cause != CAUSE_NO_ACCESS && port_down(connection))
		return failure_because(CAUSE_LINK_DOWN, EXIT_RUN_FAILED, step,
				       "%s failed: %s: no port of the RDMA device %s is active",
				       what, status, connection_device(connection));
	return failure_because(cause, EXIT_RUN_FAILED, step, "%s failed: %s", what, status);
}
