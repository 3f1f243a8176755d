/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_text.c -- causes in words: librpma's log lines and completion states.
 *
 * librpma's codes are coarse ("provider error"), its log has the errno. The
 * last warning or error of each thread is kept for the error message.
 */
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/host/rlimits.h"
#include "device.h"
#include "librpma_1_4.h"
#include "names/wc_status.h"

/* IBV_MTU_256 is 1, and each next one is twice as large. */
static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

static void take_path(struct connection_facts *f, struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {.path_mtu = 0};

	if (ibv_query_qp(qp, &attr, IBV_QP_AV | IBV_QP_PATH_MTU, &init) != 0)
		return;
	f->path_mtu_bytes = mtu_bytes(attr.path_mtu);
	if (attr.ah_attr.is_global)
		f->gid_index = attr.ah_attr.grh.sgid_index;
}

/* The type is that of the entry which the queue pair uses: a table has several. */
static void take_gid(struct connection_facts *f, const struct rdma_cm_id *id)
{
	static const char *const types[] = {
		[IBV_GID_TYPE_IB] = "ib",
		[IBV_GID_TYPE_ROCE_V1] = "roce-v1",
		[IBV_GID_TYPE_ROCE_V2] = "roce-v2",
	};
	struct ibv_gid_entry entry;

	if (inet_ntop(AF_INET6, &id->route.addr.addr.ibaddr.sgid, f->gid, sizeof(f->gid)) == NULL)
		f->gid[0] = '\0';
	if (f->gid_index >= 0 &&
	    ibv_query_gid_ex(id->verbs, id->port_num, (uint32_t)f->gid_index, &entry, 0) == 0 &&
	    entry.gid_type < sizeof(types) / sizeof(types[0]))
		f->gid_type = types[entry.gid_type];
}

void connection_facts_take(struct connection_facts *facts, const struct connection *connection)
{
	const struct librpma_1_4 newer = librpma_1_4_calls();
	const struct rpma_conn *conn = connection_conn(connection);
	struct connection_facts f = {.gid_index = -1};
	struct rdma_cm_id *id = NULL;

	*facts = f;
	if (newer.conn_get_option == NULL)
		return;
	if (newer.conn_get_option(conn, RPMA_CONN_OPT_SQ_SIZE, &f.sq_size) != 0 ||
	    newer.conn_get_option(conn, RPMA_CONN_OPT_RQ_SIZE, &f.rq_size) != 0 ||
	    newer.conn_get_option(conn, RPMA_CONN_OPT_CQ_SIZE, &f.cq_size) != 0)
		return;
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (newer.conn_get_option(conn, connection_knob_rows[i].number,
					  &f.knobs.value[i]) != 0)
			f.knobs.value[i] = CONNECTION_KNOB_UNSET;
	}
	if (newer.conn_get_id(conn, &id) == 0) {
		take_path(&f, id->qp);
		take_gid(&f, id);
	}
	f.known = true;
	*facts = f;
}

/*
 * How an established connection ends, and why work on it fails.
 *
 * The RDMA CM tells of a peer that closes, or whose kernel closes for it, of a
 * device that goes, and, since Linux 6.0, of a neighbour entry that gets another
 * link address (cma_netevent_callback() in drivers/infiniband/core/cma.c), which
 * librpma calls unreachable. Of a path that drops packets only completions tell.
 */

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
	const char *device = connection_device(connection);

	return device[0] != '\0' && device_is_down(&sysroot_machine, device);
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

static _Thread_local char last_error[256];
static _Thread_local int last_code;
static _Thread_local int last_errno;
static bool echo;

/* librpma logs while errno is still that of the call; a line that ends otherwise has none. */
static bool tells(const char *text, int error)
{
	const char *words = strerror(error);
	size_t len = strlen(text), tail = strlen(words);

	return len >= tail && strcmp(text + len - tail, words) == 0;
}

static void keep_log(enum rpma_log_level level, const char *file_name, const int line_no,
		     const char *function_name, const char *message_format, ...)
{
	char text[sizeof(last_error)];
	int error = errno;
	va_list args;

	va_start(args, message_format);
	vsnprintf(text, sizeof(text), message_format, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	if (level <= RPMA_LOG_LEVEL_ERROR && file_name != NULL) {
		memcpy(last_error, text, sizeof(last_error));
		last_errno = tells(text, error) ? error : 0;
	}
	if (echo)
		fprintf(stderr, "librpma: %s%s%s\n", function_name != NULL ? function_name : "",
			function_name != NULL ? ": " : "", text);
	(void)line_no;
}

void connection_log_to_failures(bool verbose)
{
	echo = verbose;
	rpma_log_set_function(keep_log);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
			       verbose ? RPMA_LOG_LEVEL_INFO : RPMA_LOG_LEVEL_WARNING);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED);
}

const char *connection_cause(int rpma_code)
{
	static _Thread_local char cause[sizeof(last_error) + 64];

	last_code = rpma_code;
	if (last_error[0] == '\0')
		return rpma_err_2str(rpma_code);
	snprintf(cause, sizeof(cause), "%s%s", last_error,
		 last_errno == EMFILE ? " (ulimit -n)" : "");
	last_error[0] = '\0';
	return cause;
}

int connection_cause_code(void)
{
	return last_code;
}

void connection_cause_clear(void)
{
	last_code = 0;
	last_errno = 0;
	last_error[0] = '\0';
}

/* The kernel pins for who may lock nothing with EPERM, beyond a limit with ENOMEM. */
static enum cause cause_of_errno(int error, uint64_t memlock_bytes)
{
	switch (error) {
	case EPERM:
		return memlock_bytes == 0 ? CAUSE_MEMLOCK : CAUSE_NO_PERMISSION;
	case EACCES:
		return CAUSE_NO_PERMISSION;
	case ENOMEM:
		return memlock_bytes != UINT64_MAX ? CAUSE_MEMLOCK : CAUSE_NO_MEMORY;
	case EMFILE:
	case ENFILE:
		return CAUSE_LIMIT;
	case EADDRINUSE:
		return CAUSE_ADDRESS_IN_USE;
	case ECONNREFUSED:
		return CAUSE_REFUSED;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EADDRNOTAVAIL:
	case ENODEV:
	case ETIMEDOUT: /* resolving an address: no host answered for it */
		return CAUSE_UNREACHABLE;
	default:
		return CAUSE_UNKNOWN;
	}
}

enum cause connection_cause_of(int rpma_code)
{
	if (rpma_code == RPMA_E_NOMEM)
		return CAUSE_NO_MEMORY;
	/* the other codes are librpma's own verdict, without a call that failed */
	return rpma_code == RPMA_E_PROVIDER ? cause_of_errno(last_errno, memlock_limit())
					    : CAUSE_UNKNOWN;
}

const char *connection_wc_status_name(enum ibv_wc_status status)
{
	const char *name = wc_status_name(status);

	return name != NULL ? name : "an unknown status";
}
