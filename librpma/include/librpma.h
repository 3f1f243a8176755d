/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma.h -- remote persistent memory access over RDMA.
 *
 * The API of librpma.so.0 at version node LIBRPMA_1.0, and the calls added
 * since at LIBRPMA_1.4. This header is the source of the section 3 manuals:
 * doc/header2man.py cuts one page out of each comment that opens with two
 * stars, so every such comment has the same parts in the same order -- name
 * and purpose, parameters, description, Return, Threads, Since, See also.
 * librpma(7) tells how the calls work together.
 */
#ifndef LIBRPMA_H
#define LIBRPMA_H 1

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * RPMA_E_* - what a librpma call returns when it fails
 * @RPMA_E_UNKNOWN: a library beneath failed without saying why, or reported
 *   something that librpma has no name for
 * @RPMA_E_NOSUPP: the device, the region or the peer does not allow this
 * @RPMA_E_PROVIDER: a call of libibverbs or librdmacm failed; rpma_err_errno() has its errno,
 *   rpma_err_text() the whole story
 * @RPMA_E_NOMEM: out of memory
 * @RPMA_E_INVAL: an argument is wrong
 * @RPMA_E_NO_COMPLETION: no completion is waiting
 * @RPMA_E_NO_EVENT: no event is waiting
 * @RPMA_E_AGAIN: the send queue is full until completions were fetched, or, from
 *   rpma_cq_await_wc(), it has room again; never returned before 1.4
 * @RPMA_E_SHARED_CHANNEL: the completion channel is shared, so one completion
 *   queue cannot be waited for alone; since 1.0
 * @RPMA_E_NOT_SHARED_CHNL: the completion channel is not shared; since 1.0
 * @RPMA_E_TIMEOUT: nothing came within the time given; since 1.4
 *
 * All are negative and stable: a program may compare against them. Success
 * is 0. What it was this time is in rpma_err_text().
 */
#define RPMA_E_UNKNOWN	       (-100000)
#define RPMA_E_NOSUPP	       (-100001)
#define RPMA_E_PROVIDER	       (-100002)
#define RPMA_E_NOMEM	       (-100003)
#define RPMA_E_INVAL	       (-100004)
#define RPMA_E_NO_COMPLETION   (-100005)
#define RPMA_E_NO_EVENT	       (-100006)
#define RPMA_E_AGAIN	       (-100007)
#define RPMA_E_SHARED_CHANNEL  (-100008)
#define RPMA_E_NOT_SHARED_CHNL (-100009)
#define RPMA_E_TIMEOUT	       (-100010)

/** RPMA_DEFAULT_TIMEOUT_MS - timeout of a new connection configuration, ms */
#define RPMA_DEFAULT_TIMEOUT_MS 1000
/** RPMA_ATOMIC_WRITE_ALIGNMENT - what rpma_atomic_write() aligns to, bytes */
#define RPMA_ATOMIC_WRITE_ALIGNMENT 8
/** RPMA_W_WAIT_FOR_COMPLETION - no call takes it; kept for old sources */
#define RPMA_W_WAIT_FOR_COMPLETION (1 << 0)

/**
 * RPMA_F_* - when an operation leaves a completion, and how it is sent
 * @RPMA_F_COMPLETION_ON_ERROR: only if it fails
 * @RPMA_F_COMPLETION_ALWAYS: whether it succeeds or fails
 * @RPMA_F_MORE: another operation of this connection follows: wait for it, and post both
 *   at once, which costs a device one doorbell instead of two; since 1.4
 * @RPMA_F_INLINE: the bytes are copied during the call, so the program may
 *   change them at once; up to RPMA_CONN_OPT_INLINE_SIZE of them, for writes and messages;
 *   since 1.4
 * @RPMA_F_SOLICITED: the receive that a message or a write with immediate data
 *   completes raises an event also where the peer has armed its queue for solicited
 *   ones only; since 1.4
 *
 * An operation without a completion keeps its slot in the send queue until
 * a later one of the same connection has completed and was fetched with
 * rpma_cq_get_wc(): ask for a completion at least once per send queue, or leave it to
 * RPMA_CONN_OPT_SIGNAL_EVERY.
 *
 * Operations with RPMA_F_MORE wait until one without it, rpma_submit(), a full batch, a full
 * send queue or rpma_conn_disconnect() posts them, in the order in which they were started. Nothing
 * completes before. Native flushes and atomic writes wait too and are posted with the others,
 * if the device's provider can post every operation by ibv_wr_start(3); else they are posted at
 * once, behind a doorbell for what waits.
 *
 * A call that fails has not started its operation. Operations that waited before and could
 * not be posted wait still: the next call that posts tries them again, or rpma_discard() drops
 * them.
 * rpma_conn_delete() drops them and logs how many. With RPMA_F_MORE, as with
 * RPMA_CONN_OPT_SIGNAL_EVERY, rpma_write_flush() and rpma_append(), only one thread at a
 * time starts operations of a connection; another may fetch the completions.
 */
#define RPMA_F_COMPLETION_ON_ERROR (1 << 0)
#define RPMA_F_COMPLETION_ALWAYS   (1 << 1 | RPMA_F_COMPLETION_ON_ERROR)
#define RPMA_F_MORE		   (1 << 16)
#define RPMA_F_SOLICITED	   (1 << 18)
#define RPMA_F_INLINE		   (1 << 19)

/**
 * RPMA_MR_USAGE_* - what a memory region is registered for
 * @RPMA_MR_USAGE_READ_SRC: the peer may rpma_read() from it
 * @RPMA_MR_USAGE_READ_DST: rpma_read() may store into it
 * @RPMA_MR_USAGE_WRITE_SRC: rpma_write() may fetch from it
 * @RPMA_MR_USAGE_WRITE_DST: the peer may rpma_write() and
 *   rpma_atomic_write() to it
 * @RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY: the peer may rpma_flush() it for
 *   visibility
 * @RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT: the peer may rpma_flush() it for
 *   persistence
 * @RPMA_MR_USAGE_SEND: rpma_send() may fetch from it
 * @RPMA_MR_USAGE_RECV: rpma_recv() may store into it
 * @RPMA_MR_USAGE_ATOMIC: the peer may rpma_atomic_compare_swap() and
 *   rpma_atomic_fetch_add() on it; since 1.4
 *
 * The uses are bits: join them with |. They are also in the region's descriptor, see
 * rpma_mr_get_descriptor().
 */
#define RPMA_MR_USAGE_READ_SRC		    (1 << 0)
#define RPMA_MR_USAGE_READ_DST		    (1 << 1)
#define RPMA_MR_USAGE_WRITE_SRC		    (1 << 2)
#define RPMA_MR_USAGE_WRITE_DST		    (1 << 3)
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4)
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5)
#define RPMA_MR_USAGE_SEND		    (1 << 6)
#define RPMA_MR_USAGE_RECV		    (1 << 7)
#define RPMA_MR_USAGE_ATOMIC		    (1 << 8)

/**
 * RPMA_PEER_CAP_* - what a device can do
 * @RPMA_PEER_CAP_ODP: register memory without pinning it, for reads and writes
 * @RPMA_PEER_CAP_NATIVE_FLUSH: the RDMA FLUSH of IBTA 1.5
 * @RPMA_PEER_CAP_NATIVE_ATOMIC_WRITE: the RDMA ATOMIC WRITE of IBTA 1.5
 * @RPMA_PEER_CAP_ATOMICS: rpma_atomic_compare_swap() and rpma_atomic_fetch_add()
 */
#define RPMA_PEER_CAP_ODP		  (1 << 0)
#define RPMA_PEER_CAP_NATIVE_FLUSH	  (1 << 1)
#define RPMA_PEER_CAP_NATIVE_ATOMIC_WRITE (1 << 2)
#define RPMA_PEER_CAP_ATOMICS		  (1 << 3)

/** RPMA_LOG_USE_DEFAULT_FUNCTION - makes rpma_log_set_function() restore it */
#define RPMA_LOG_USE_DEFAULT_FUNCTION (NULL)

/**
 * enum rpma_util_ibv_context_type - on which side of the wire an address is
 * @RPMA_UTIL_IBV_CONTEXT_LOCAL: on an interface of this host
 * @RPMA_UTIL_IBV_CONTEXT_REMOTE: on another host, reached through this one
 */
enum rpma_util_ibv_context_type { RPMA_UTIL_IBV_CONTEXT_LOCAL, RPMA_UTIL_IBV_CONTEXT_REMOTE };

/**
 * enum rpma_flush_type - what a flush makes of the bytes written before it
 * @RPMA_FLUSH_TYPE_PERSISTENT: they survive a loss of power at the target
 * @RPMA_FLUSH_TYPE_VISIBILITY: every reader at the target sees them
 *
 * Persistent is 0, so a zeroed variable asks for the stronger of the two.
 */
enum rpma_flush_type { RPMA_FLUSH_TYPE_PERSISTENT, RPMA_FLUSH_TYPE_VISIBILITY };

/**
 * enum rpma_flush_method - how a flush reaches memory
 * @RPMA_FLUSH_METHOD_AUTO: natively if connection and region can, else by a read
 * @RPMA_FLUSH_METHOD_READ: by a small read behind the writes, which every device
 *   can do
 * @RPMA_FLUSH_METHOD_NATIVE: by the RDMA FLUSH of IBTA 1.5
 */
enum rpma_flush_method { RPMA_FLUSH_METHOD_AUTO, RPMA_FLUSH_METHOD_READ, RPMA_FLUSH_METHOD_NATIVE };

/**
 * enum rpma_conn_option - a number that a connection is configured with
 * @RPMA_CONN_OPT_CQ_SIZE: entries of the completion queue; 10. A completion takes one until it
 *   is fetched; if the queue overflows, the connection fails
 * @RPMA_CONN_OPT_RCQ_SIZE: entries of the completion queue of receives; 0: there is
 *   none
 * @RPMA_CONN_OPT_SQ_SIZE: operations that the send queue holds; 10
 * @RPMA_CONN_OPT_RQ_SIZE: receives that the receive queue holds; 10
 * @RPMA_CONN_OPT_INLINE_SIZE: bytes that an operation with RPMA_F_INLINE may have; 8
 * @RPMA_CONN_OPT_SEND_SGES: ranges that rpma_writev() may take, at most RPMA_SGES_MAX; 1
 * @RPMA_CONN_OPT_BATCH_SIZE: operations with RPMA_F_MORE that wait, at most, before they are
 *   posted all the same, up to 65535 and the size of the send queue; 32
 * @RPMA_CONN_OPT_SIGNAL_EVERY: the library counts the slots in the send queue, and lets every
 *   Nth operation leave a completion, which it keeps to itself if the program
 *   has not asked for it; at most half of the queue, and 1 if the queue has four slots or
 *   fewer. A queue without room is RPMA_E_AGAIN then: what waits is posted, so wait in
 *   rpma_cq_await_wc() and try again. The completion queue gets at least RPMA_CONN_OPT_SQ_SIZE
 *   entries and, where receives complete in it, RPMA_CONN_OPT_RQ_SIZE more, or as many as the
 *   shared receive queue has. It cannot overflow: rpma_recv() is RPMA_E_AGAIN when
 *   RPMA_CONN_OPT_RQ_SIZE receives are posted or not fetched yet. 0: the program counts.
 *   If it is not set, it is half of the queue where RPMA_CONN_OPT_SQ_SIZE is set or
 *   rpma_conn_connect() connects, and 0 for others, as in librpma before 1.4
 * @RPMA_CONN_OPT_COMP_VECTOR: the device's completion vector, so the interrupt and the
 *   CPU that it goes to; 0
 * @RPMA_CONN_OPT_CQ_MODERATION_COUNT: completions before an event is raised, at most
 *   65535; 0: each
 * @RPMA_CONN_OPT_CQ_MODERATION_US: microseconds before an event is raised all the same,
 *   at most 65535; 0: at once
 * @RPMA_CONN_OPT_RETRIES: how often a device sends again what is not acknowledged, 0
 *   to 7; 7. The side that connects chooses for both sides: rdma_accept(3) ignores it
 * @RPMA_CONN_OPT_RNR_RETRIES: how often the peer's device sends again a message for which
 *   this side has no receive posted, 0 to 6, or 7 for without end; 7. Each side chooses
 *   for the other; how often this side's messages are sent again is the peer's choice
 * @RPMA_CONN_OPT_RNR_TIMER: how long this side lets a peer wait whose message finds no
 *   receive, 0 to 31 as the IBA encodes it (table "Encoding for RNR NAK Timer
 *   Field": 1 is 0.01 ms, 14 is 1.28 ms, 31 is 491.52 ms, 0 is 655.36 ms); the
 *   connection manager's choice
 * @RPMA_CONN_OPT_ACK_TIMEOUT: how long the device waits for an acknowledgement, 4.096 us
 *   times 2 to the power of this, 1 to 31; 0: without end; the connection manager's
 *   choice
 * @RPMA_CONN_OPT_TRAFFIC_CLASS: the traffic class of InfiniBand's global route header, and
 *   of the IP header of RoCE v2; the host's choice
 * @RPMA_CONN_OPT_FLUSH_METHOD: an enum rpma_flush_method; RPMA_FLUSH_METHOD_AUTO. With
 *   RPMA_FLUSH_METHOD_NATIVE nothing is flushed otherwise, so persistent flushes need no
 *   declaration of Direct Write to PMem
 * @RPMA_CONN_OPT_CONNECT_MS: milliseconds from rpma_conn_connect() or
 *   rpma_conn_req_connect() to RPMA_CONN_ESTABLISHED, at most INT32_MAX: when they are
 *   over the event is RPMA_CONN_UNREACHABLE; 0: the connection manager gives up, after a
 *   minute or more
 *
 * The value at the end is that of a new configuration.
 */
enum rpma_conn_option {
	RPMA_CONN_OPT_CQ_SIZE,
	RPMA_CONN_OPT_RCQ_SIZE,
	RPMA_CONN_OPT_SQ_SIZE,
	RPMA_CONN_OPT_RQ_SIZE,
	RPMA_CONN_OPT_INLINE_SIZE,
	RPMA_CONN_OPT_SEND_SGES,
	RPMA_CONN_OPT_BATCH_SIZE,
	RPMA_CONN_OPT_SIGNAL_EVERY,
	RPMA_CONN_OPT_COMP_VECTOR,
	RPMA_CONN_OPT_CQ_MODERATION_COUNT,
	RPMA_CONN_OPT_CQ_MODERATION_US,
	RPMA_CONN_OPT_RETRIES,
	RPMA_CONN_OPT_RNR_RETRIES,
	RPMA_CONN_OPT_RNR_TIMER,
	RPMA_CONN_OPT_ACK_TIMEOUT,
	RPMA_CONN_OPT_TRAFFIC_CLASS,
	RPMA_CONN_OPT_FLUSH_METHOD,
	RPMA_CONN_OPT_CONNECT_MS
};

/** RPMA_SGES_MAX - the most that RPMA_CONN_OPT_SEND_SGES may be */
#define RPMA_SGES_MAX 16

/** RPMA_CONN_OPT_UNSET - an option whose choice is left to others */
#define RPMA_CONN_OPT_UNSET UINT32_MAX

/**
 * enum rpma_rejection - who refused a connection
 * @RPMA_REJECTION_NONE: it was not refused
 * @RPMA_REJECTION_NO_LISTENER: no server listens on the port
 * @RPMA_REJECTION_PROGRAM: the program that listens
 * @RPMA_REJECTION_OTHER: the peer's connection manager for another reason, or it did
 *   not say (iWARP)
 */
enum rpma_rejection {
	RPMA_REJECTION_NONE,
	RPMA_REJECTION_NO_LISTENER,
	RPMA_REJECTION_PROGRAM,
	RPMA_REJECTION_OTHER
};

/**
 * enum rpma_conn_event - what happened to a connection
 * @RPMA_CONN_UNDEFINED: nothing yet; a start value, no call reports it
 * @RPMA_CONN_ESTABLISHED: both sides may use the connection
 * @RPMA_CONN_CLOSED: one side disconnected; may be reported twice, once for
 *   the disconnection and once when the queue pair number is free again
 * @RPMA_CONN_LOST: the handshake failed half-way, or the device went away
 * @RPMA_CONN_REJECTED: no server listens there, or the server refused
 * @RPMA_CONN_UNREACHABLE: the peer did not answer; since 0.14
 */
enum rpma_conn_event {
	RPMA_CONN_UNDEFINED = -1,
	RPMA_CONN_ESTABLISHED,
	RPMA_CONN_CLOSED,
	RPMA_CONN_LOST,
	RPMA_CONN_REJECTED,
	RPMA_CONN_UNREACHABLE
};

/**
 * enum rpma_log_threshold - which of the two thresholds is meant
 * @RPMA_LOG_THRESHOLD: messages above it are dropped
 * @RPMA_LOG_THRESHOLD_AUX: of the rest, the default log function also prints
 *   those up to this one on standard error
 * @RPMA_LOG_THRESHOLD_MAX: how many thresholds there are
 */
enum rpma_log_threshold { RPMA_LOG_THRESHOLD, RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_THRESHOLD_MAX };

/**
 * enum rpma_log_level - severity of a message
 * @RPMA_LOG_DISABLED: as a threshold: nothing passes
 * @RPMA_LOG_LEVEL_FATAL: the library cannot go on
 * @RPMA_LOG_LEVEL_ERROR: a call failed; the message has the cause
 * @RPMA_LOG_LEVEL_WARNING: something is wrong that the call survived
 * @RPMA_LOG_LEVEL_NOTICE: connections come and go
 * @RPMA_LOG_LEVEL_INFO: which of several ways the library chose
 * @RPMA_LOG_LEVEL_DEBUG: everything else
 */
enum rpma_log_level {
	RPMA_LOG_DISABLED = -1,
	RPMA_LOG_LEVEL_FATAL,
	RPMA_LOG_LEVEL_ERROR,
	RPMA_LOG_LEVEL_WARNING,
	RPMA_LOG_LEVEL_NOTICE,
	RPMA_LOG_LEVEL_INFO,
	RPMA_LOG_LEVEL_DEBUG
};

/** struct rpma_peer - this host's end of any number of connections: a device */
struct rpma_peer;
/** struct rpma_peer_cfg - what one peer has to tell another of its platform */
struct rpma_peer_cfg;
/** struct rpma_mr_local - memory of this process, registered with a device */
struct rpma_mr_local;
/** struct rpma_mr_remote - a region of the peer, known by its descriptor */
struct rpma_mr_remote;
struct rdma_cm_id; /* librdmacm defines it */

/** struct rpma_conn_cfg - queue sizes and waits of connections to be made */
struct rpma_conn_cfg;
/** struct rpma_conn_req - a connection not yet asked for or not yet accepted */
struct rpma_conn_req;
/** struct rpma_conn - a connection: a queue pair and its completions */
struct rpma_conn;
/** struct rpma_cq - a completion queue; its connection or SRQ owns it */
struct rpma_cq;
/** struct rpma_ep - a listening endpoint */
struct rpma_ep;
/** struct rpma_srq - receive buffers that several connections share */
struct rpma_srq;
/** struct rpma_srq_cfg - queue sizes of a shared receive queue to be made */
struct rpma_srq_cfg;

/**
 * struct rpma_conn_private_data - bytes that travel with the handshake
 * @ptr: first byte, NULL if there are none
 * @len: how many bytes
 *
 * InfiniBand and RoCE carry at most 56 bytes in the request and 196 in the
 * reply (IBTA volume 1, chapter 12: REQ has 92, of which rdma_cm takes 36, and
 * REP 196), and the receiver always gets the full field, zeros behind what was
 * sent: put a length into the bytes if it matters. iWARP gives the exact
 * length.
 */
struct rpma_conn_private_data {
	void *ptr;
	uint8_t len;
};

/**
 * rpma_log_function - receives the messages of librpma
 * @level: severity, RPMA_LOG_LEVEL_FATAL to RPMA_LOG_LEVEL_DEBUG
 * @file_name: source file of librpma
 * @line_no: line in it
 * @function_name: function in it
 * @message_format: printf(3) format of the message; it ends in a newline
 *
 * The arguments of the format follow. The function may be called by several
 * threads at once and must not call librpma.
 */
typedef void rpma_log_function(enum rpma_log_level level, const char *file_name, const int line_no,
			       const char *function_name, const char *message_format, ...);

/* device */

/**
 * rpma_utils_get_ibv_context - find the RDMA device that serves an address
 * @addr: IPv4 or IPv6 address or host name
 * @type: whether @addr is one of this host or of another
 * @ibv_ctx_ptr: where to store the device context
 *
 * For a local address it is the device behind the interface that has it, for
 * a remote one the device through which this host would reach it; that of a
 * local loopback address is the one the RDMA CM takes for connections to it.
 * The latter two wait up to 1000 ms for the address to resolve. The context belongs to
 * librdmacm, which keeps it open until the process ends: never close it.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @addr or @ibv_ctx_ptr is NULL, or @type is unknown
 *   RPMA_E_PROVIDER - no RDMA device serves the address, the name or the
 *     address does not resolve, or rdma_getaddrinfo(3), rdma_create_id(3),
 *     rdma_bind_addr(3) or rdma_resolve_addr(3) failed; the log names the call
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_new(), rpma_utils_ibv_context_is_odp_capable()
 */
int rpma_utils_get_ibv_context(const char *addr, enum rpma_util_ibv_context_type type,
			       struct ibv_context **ibv_ctx_ptr);

/**
 * rpma_utils_ibv_context_is_odp_capable - ask whether a device pages on demand
 * @ibv_ctx: the device, borrowed
 * @is_odp_capable: where to store 1 if it can, else 0
 *
 * On-demand paging lets a device use memory that cannot be pinned, such as a
 * file mapping on an fsdax file system. The answer is 1 if the device reports
 * it for reliable connections with both RDMA reads and RDMA writes.
 * rpma_mr_reg() uses it by itself when pinning is refused.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @ibv_ctx or @is_odp_capable is NULL
 *   RPMA_E_PROVIDER - ibv_query_device_ex(3) failed; @is_odp_capable is 0
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_utils_get_ibv_context(), rpma_mr_reg(), rpma_mr_advise()
 */
int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable);

/* peer */

/**
 * rpma_peer_new - open a protection domain on a device
 * @ibv_ctx: the device, borrowed: must stay open as long as the peer lives
 * @peer_ptr: where to store the new peer
 *
 * A peer is what regions, shared receive queues and connections are made on;
 * only those of one peer work together. The device is asked once, here, for
 * on-demand paging, native flush and native atomic write. Release the peer
 * with rpma_peer_delete(). On failure @peer_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @ibv_ctx or @peer_ptr is NULL
 *   RPMA_E_NOMEM - out of memory, here or in ibv_alloc_pd(3)
 *   RPMA_E_PROVIDER - asking the device or ibv_alloc_pd(3) failed
 *   RPMA_E_UNKNOWN - ibv_alloc_pd(3) failed without an errno
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_delete(), rpma_utils_get_ibv_context(), rpma_mr_reg(),
 *   rpma_conn_req_new(), rpma_ep_listen(), rpma_srq_new()
 */
int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr);

/**
 * rpma_peer_delete - delete a peer
 * @peer_ptr: the peer; set to NULL. A NULL peer is fine.
 *
 * Delete whatever was made on the peer first. The peer is gone even when an
 * error comes back; what the device could not release then stays with it
 * until the process ends.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer_ptr is NULL
 *   RPMA_E_PROVIDER - ibv_dealloc_pd(3) failed, usually because a region, a
 *     shared receive queue or a connection of the peer is still alive
 * Threads: safe on different peers.
 * Since: 0.9
 * See also: rpma_peer_new()
 */
int rpma_peer_delete(struct rpma_peer **peer_ptr);

/**
 * rpma_peer_get_pd - get the protection domain of a peer
 * @peer: the peer
 * @pd: where to store it, borrowed; lives as long as the peer
 *
 * For verbs that librpma has no call for, such as memory windows. What is made on it
 * has to be gone before rpma_peer_delete(). One must not deallocate it.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer or @pd is NULL
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_get_id(), rpma_peer_new()
 */
int rpma_peer_get_pd(const struct rpma_peer *peer, struct ibv_pd **pd);

/**
 * rpma_peer_get_caps - ask what the device of a peer can do
 * @peer: the peer
 * @caps: where to store it, RPMA_PEER_CAP_* joined with |
 *
 * The other side's device is asked by its own peer. Whether a connection flushes natively
 * is known when it exists: rpma_conn_get_option().
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer or @caps is NULL
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_peer_new(), rpma_conn_get_flush_method()
 */
int rpma_peer_get_caps(const struct rpma_peer *peer, int *caps);

/**
 * rpma_peer_next_async_event - fetch what happened to a device and what was made on it
 * @peer: the peer
 * @event: where to store it; it is acknowledged already
 *
 * Asynchronous events of verbs, about queues and ports rather than requests:
 * IBV_EVENT_CQ_ERR for a completion queue that overflowed, so completions are lost and its
 * connections broken; IBV_EVENT_QP_FATAL and its like for a connection whose device found an error;
 * IBV_EVENT_DEVICE_FATAL; IBV_EVENT_PORT_ERR and IBV_EVENT_PORT_ACTIVE.
 * ibv_event_type_str(3) names them all, ibv_get_async_event(3) explains them.
 *
 * For those of librpma, element.qp->qp_context is the struct rpma_conn, and
 * element.cq->cq_context the struct rpma_cq. The events are those of the device as this process has
 * it open: they are delivered once, to one of its peers.
 *
 * The call does not wait. rpma_wait() does, or poll(2) on the async_fd of the device context:
 * rpma_peer_get_pd() has the protection domain, whose context it is.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer or @event is NULL
 *   RPMA_E_NO_EVENT - nothing has happened
 *   RPMA_E_PROVIDER - poll(2) or ibv_get_async_event(3) failed
 * Threads: safe on different devices.
 * Since: 1.4
 * See also: rpma_wait(), rpma_conn_next_event()
 */
int rpma_peer_next_async_event(struct rpma_peer *peer, struct ibv_async_event *event);

/* peer configuration */

/**
 * rpma_peer_cfg_new - make a peer configuration
 * @pcfg_ptr: where to store it
 *
 * It declares that Direct Write to PMem is not possible, until
 * rpma_peer_cfg_set_direct_write_to_pmem() changes that. On failure
 * @pcfg_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @pcfg_ptr is NULL
 *   RPMA_E_NOMEM - out of memory
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_delete(), rpma_peer_cfg_get_descriptor(),
 *   rpma_peer_cfg_from_descriptor()
 */
int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr);

/**
 * rpma_peer_cfg_delete - delete a peer configuration
 * @pcfg_ptr: the configuration; set to NULL. A NULL configuration is fine.
 *
 * Connections it was applied to keep what it said.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @pcfg_ptr is NULL
 * Threads: safe on different configurations.
 * Since: 0.9
 * See also: rpma_peer_cfg_new(), rpma_peer_cfg_from_descriptor()
 */
int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr);

/**
 * rpma_peer_cfg_set_direct_write_to_pmem - declare what the platform can do
 * @pcfg: the configuration
 * @supported: true if what the RDMA device writes to this host's persistent
 *   memory is persistent as soon as it has left the device's and the bus's
 *   buffers
 *
 * Nothing checks the declaration. If it is wrong, for instance because inbound
 * writes go to the CPU cache (DDIO on Intel platforms) and the cache is not
 * flushed when power fails, peers lose data they were told is safe. See
 * DIRECT WRITE TO PMEM in librpma(7).
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @pcfg is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_get_direct_write_to_pmem(),
 *   rpma_peer_cfg_get_descriptor(), rpma_conn_apply_remote_peer_cfg()
 */
int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported);

/**
 * rpma_peer_cfg_get_direct_write_to_pmem - read what a configuration declares
 * @pcfg: the configuration
 * @supported: where to store whether Direct Write to PMem is possible
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @pcfg or @supported is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_set_direct_write_to_pmem()
 */
int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported);

/**
 * rpma_peer_cfg_get_descriptor - serialize a configuration for the peer
 * @pcfg: the configuration
 * @desc: buffer of the caller, rpma_peer_cfg_get_descriptor_size() bytes, with
 *   any alignment
 *
 * How the descriptor gets to the peer is up to the program: private data and
 * messages are the usual ways. It is one byte, 1 if Direct Write to PMem is
 * possible and 0 if not, the same in every release since 0.9.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @pcfg or @desc is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_get_descriptor_size(),
 *   rpma_peer_cfg_from_descriptor(), rpma_conn_req_connect()
 */
int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc);

/**
 * rpma_peer_cfg_get_descriptor_size - ask how long that descriptor is
 * @pcfg: the configuration
 * @desc_size: where to store the size in bytes, 1
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @pcfg or @desc_size is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_get_descriptor()
 */
int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size);

/**
 * rpma_peer_cfg_from_descriptor - make a configuration out of a descriptor
 * @desc: the bytes that came from the peer; not needed afterwards
 * @desc_size: how many; 1 is enough, more are ignored
 * @pcfg_ptr: where to store the new configuration
 *
 * Any value of the byte but 0 means that Direct Write to PMem is possible.
 * On failure @pcfg_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @desc or @pcfg_ptr is NULL, or @desc_size is 0
 *   RPMA_E_NOMEM - out of memory
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_get_descriptor(), rpma_peer_cfg_delete(),
 *   rpma_conn_apply_remote_peer_cfg()
 */
int rpma_peer_cfg_from_descriptor(const void *desc, size_t desc_size,
				  struct rpma_peer_cfg **pcfg_ptr);

/* memory regions */

/**
 * rpma_mr_reg - register memory with the device of a peer
 * @peer: whose device
 * @ptr: first byte; the memory stays the caller's and must stay mapped until
 *   rpma_mr_dereg()
 * @size: its length in bytes
 * @usage: what for, RPMA_MR_USAGE_* joined with |
 * @mr_ptr: where to store the new region
 *
 * The memory is pinned. Where that is not supported and the device pages on
 * demand, it is registered that way instead; see ON-DEMAND PAGING SUPPORT in
 * librpma(7).
 *
 * The rights follow from @usage: remote read for RPMA_MR_USAGE_READ_SRC and
 * both flush types; remote write with local write for
 * RPMA_MR_USAGE_WRITE_DST; local write for RPMA_MR_USAGE_READ_DST (on iWARP
 * remote write too, that is how a read arrives there),
 * RPMA_MR_USAGE_WRITE_SRC and RPMA_MR_USAGE_RECV; remote atomics with local write for
 * RPMA_MR_USAGE_ATOMIC; none for RPMA_MR_USAGE_SEND. If the device has a flush operation of its
 * own, the flush types give the right to use it as well; a device may refuse that for memory which
 * is not persistent, and then such a region is registered without it and is flushed by reading.
 *
 * On failure @mr_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer, @ptr or @mr_ptr is NULL, @size is 0, or @usage is 0
 *     or has an unknown bit
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_NOSUPP - @usage has RPMA_MR_USAGE_ATOMIC, and the device has no atomics
 *   RPMA_E_PROVIDER - ibv_reg_mr(3) failed: the memory is not mapped with the
 *     rights needed, or RLIMIT_MEMLOCK is too low, or the device has no room;
 *     the log has the errno
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_mr_dereg(), rpma_mr_get_descriptor(), rpma_mr_advise(),
 *   rpma_read(), rpma_write(), rpma_flush(), rpma_send(), rpma_recv()
 */
int rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage,
		struct rpma_mr_local **mr_ptr);

/**
 * rpma_mr_dereg - take a registration back
 * @mr_ptr: the region; set to NULL. A NULL region is fine.
 *
 * No operation may be under way on the region. The memory itself is the
 * caller's and is left alone. The region is gone even when an error comes
 * back.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr_ptr is NULL
 *   RPMA_E_PROVIDER - ibv_dereg_mr(3) failed
 * Threads: safe on different regions.
 * Since: 0.9
 * See also: rpma_mr_reg()
 */
int rpma_mr_dereg(struct rpma_mr_local **mr_ptr);

/**
 * rpma_mr_get_descriptor - serialize a region for the peer
 * @mr: the region
 * @desc: buffer of the caller, rpma_mr_get_descriptor_size() bytes, with any
 *   alignment
 *
 * The descriptor is all the peer needs to access the region, so give it only
 * to those who may. It has 22 bytes: base address (bytes 0 to 7), length (8
 * to 15) and remote key (16 to 19), all little endian, the first eight
 * RPMA_MR_USAGE_* bits (20), and flags (21): bit 0 means that the region accepts
 * native flush too, bit 1 is RPMA_MR_USAGE_ATOMIC. librpma before 1.4 writes and reads only the
 * first 21 and ignores the last. A program linked with librpma.so.0 of those releases gets 21 bytes
 * from this one too; if the region has a flush type, its RPMA_MR_USAGE_READ_SRC is set there where
 * the region has to be flushed by reading, and clear where it accepts native flush.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr or @desc is NULL
 * Threads: safe.
 * Since: 0.9; 22 bytes since 1.4
 * See also: rpma_mr_get_descriptor_size(), rpma_mr_remote_from_descriptor()
 */
int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);

/**
 * rpma_mr_get_descriptor_size - ask how long that descriptor is
 * @mr: the region
 * @desc_size: where to store the size in bytes, 22
 *
 * 21 for a program linked with librpma.so.0 before 1.4.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr or @desc_size is NULL
 * Threads: safe.
 * Since: 0.9; 22 since 1.4, 21 before
 * See also: rpma_mr_get_descriptor()
 */
int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size);

/**
 * rpma_mr_get_ptr - ask where a region starts
 * @mr: the region
 * @ptr: where to store the address given to rpma_mr_reg()
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr or @ptr is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_mr_reg(), rpma_mr_get_size()
 */
int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr);

/**
 * rpma_mr_get_size - ask how long a region is
 * @mr: the region
 * @size: where to store the length in bytes
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr or @size is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_mr_reg(), rpma_mr_get_ptr()
 */
int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size);

/**
 * rpma_mr_advise - tell the device how a range will be used
 * @mr: the region
 * @offset: first byte of the range
 * @len: its length in bytes, at most UINT32_MAX
 * @advice: one of enum ib_uverbs_advise_mr_advice, such as
 *   IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
 * @flags: 0 or IBV_ADVISE_MR_FLAG_FLUSH, which waits until the advice is
 *   carried out
 *
 * Useful on regions that are paged on demand: prefetching spares the first
 * access its page faults.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr is NULL, the range is not inside the region, @len is
 *     above UINT32_MAX, the region's usage does not allow the advice, or
 *     @flags are not valid
 *   RPMA_E_NOSUPP - the device or the system cannot do it
 *   RPMA_E_PROVIDER - ibv_advise_mr(3) failed for another reason
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_mr_reg(), rpma_utils_ibv_context_is_odp_capable()
 */
int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags);

/**
 * rpma_mr_remote_from_descriptor - make a remote region out of a descriptor
 * @desc: the bytes that came from the peer; not needed afterwards
 * @desc_size: how many
 * @mr_ptr: where to store the new remote region
 *
 * The bytes are those of rpma_mr_get_descriptor() in any release. Byte 21,
 * the flags, is read only when there are exactly 22, because with more it
 * could be the start of something else that a 21-byte descriptor was put in
 * front of; other bytes past the 21st are ignored. So send the size of the descriptor along with
 * it: private data arrives longer than it was sent (struct rpma_conn_private_data), and without the
 * flags the region is flushed by reading. On failure @mr_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @desc or @mr_ptr is NULL, or @desc_size is below 21
 *   RPMA_E_NOSUPP - the bytes describe no region: no usage, no length, or an
 *     end past the last address
 *   RPMA_E_NOMEM - out of memory
 * Threads: safe.
 * Since: 0.9; no usage is RPMA_E_NOSUPP since 1.4, RPMA_E_INVAL before
 * See also: rpma_mr_get_descriptor(), rpma_mr_remote_delete(), rpma_read(),
 *   rpma_write(), rpma_atomic_write(), rpma_flush()
 */
int rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
				   struct rpma_mr_remote **mr_ptr);

/**
 * rpma_mr_remote_get_size - ask how long a remote region is
 * @mr: the remote region
 * @size: where to store the length in bytes
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr or @size is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_mr_remote_from_descriptor()
 */
int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size);

/**
 * rpma_mr_remote_get_flush_type - ask which flushes a remote region allows
 * @mr: the remote region
 * @flush_type: where to store RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
 *   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, both joined with |, or 0
 *
 * The answer is made of usage bits, not of enum rpma_flush_type values.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr or @flush_type is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_mr_remote_from_descriptor(), rpma_flush()
 */
int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type);

/**
 * rpma_mr_remote_delete - forget a remote region
 * @mr_ptr: the remote region; set to NULL. A NULL region is fine.
 *
 * Nothing happens at the peer.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @mr_ptr is NULL
 * Threads: safe on different regions.
 * Since: 0.9
 * See also: rpma_mr_remote_from_descriptor()
 */
int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr);

/* connection configuration */

/**
 * rpma_conn_cfg_new - make a connection configuration
 * @cfg_ptr: where to store it
 *
 * It starts with a timeout of RPMA_DEFAULT_TIMEOUT_MS, 10 entries in the
 * completion, send and receive queue each, no separate receive completion
 * queue, a completion channel per queue and no shared receive queue. These
 * are also what a NULL configuration stands for. A configuration is read when
 * a request is made and may be changed or deleted right after. On failure
 * @cfg_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg_ptr is NULL
 *   RPMA_E_NOMEM - out of memory
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_delete(), rpma_conn_req_new(),
 *   rpma_ep_next_conn_req(), rpma_conn_cfg_set_cq_size(),
 *   rpma_conn_cfg_set_rcq_size(), rpma_conn_cfg_set_sq_size(),
 *   rpma_conn_cfg_set_rq_size(), rpma_conn_cfg_set_timeout(),
 *   rpma_conn_cfg_set_compl_channel(), rpma_conn_cfg_set_srq()
 */
int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr);

/**
 * rpma_conn_cfg_delete - delete a connection configuration
 * @cfg_ptr: the configuration; set to NULL. A NULL configuration is fine.
 *
 * Requests made with it are not affected.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg_ptr is NULL
 * Threads: safe on different configurations.
 * Since: 0.9
 * See also: rpma_conn_cfg_new()
 */
int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr);

/**
 * rpma_conn_cfg_set_timeout - limit the time it takes to find the peer
 * @cfg: the configuration
 * @timeout_ms: limit in milliseconds, 0 or more
 *
 * rpma_conn_req_new() spends up to this on resolving the address and up to
 * this again on resolving the route; rpma_conn_connect() does so for each address. The
 * handshake after it is bounded by RPMA_CONN_OPT_CONNECT_MS, not by this.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL, or @timeout_ms is negative
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_get_timeout(), rpma_conn_req_new()
 */
int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms);

/**
 * rpma_conn_cfg_get_timeout - read the limit for finding the peer
 * @cfg: the configuration
 * @timeout_ms: where to store it, in milliseconds
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @timeout_ms is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_set_timeout()
 */
int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms);

/**
 * rpma_conn_cfg_set_cq_size - set the size of the completion queue
 * @cfg: the configuration
 * @cq_size: entries; must hold the completions that can wait at once
 *
 * Without a separate receive completion queue the completions of receives
 * wait here too. A queue that overflows breaks its connections. The device
 * may give more than asked for; a size it cannot give, such as 0, fails when
 * the request is made.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_get_cq_size(), rpma_conn_cfg_set_rcq_size(),
 *   rpma_conn_req_new()
 */
int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size);

/**
 * rpma_conn_cfg_get_cq_size - read the size of the completion queue
 * @cfg: the configuration
 * @cq_size: where to store it, in entries
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @cq_size is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_set_cq_size()
 */
int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size);

/**
 * rpma_conn_cfg_set_rcq_size - give receives a completion queue of their own
 * @cfg: the configuration
 * @rcq_size: entries; 0 sends the completions of receives to the main
 *   completion queue
 *
 * The size is ignored when the connection takes its receives from a shared
 * receive queue that has a completion queue of its own.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_conn_cfg_get_rcq_size(), rpma_conn_get_rcq(),
 *   rpma_srq_cfg_set_rcq_size()
 */
int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg, uint32_t rcq_size);

/**
 * rpma_conn_cfg_get_rcq_size - read the size of the receive completion queue
 * @cfg: the configuration
 * @rcq_size: where to store it, in entries; 0 stands for none
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @rcq_size is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_conn_cfg_set_rcq_size()
 */
int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size);

/**
 * rpma_conn_cfg_set_sq_size - set the size of the send queue
 * @cfg: the configuration
 * @sq_size: entries: reads, writes, flushes and sends that may be under way
 *   at once
 *
 * An operation without a completion keeps its entry until a later one has
 * been fetched, see RPMA_F_COMPLETION_ON_ERROR.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_get_sq_size(), rpma_conn_req_new()
 */
int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg *cfg, uint32_t sq_size);

/**
 * rpma_conn_cfg_get_sq_size - read the size of the send queue
 * @cfg: the configuration
 * @sq_size: where to store it, in entries
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @sq_size is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_set_sq_size()
 */
int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size);

/**
 * rpma_conn_cfg_set_rq_size - set the size of the receive queue
 * @cfg: the configuration
 * @rq_size: entries: receives that may be posted at once
 *
 * The size does not matter when the connection takes its receives from a
 * shared receive queue.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_get_rq_size(), rpma_conn_req_recv(), rpma_recv(),
 *   rpma_srq_cfg_set_rq_size()
 */
int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg *cfg, uint32_t rq_size);

/**
 * rpma_conn_cfg_get_rq_size - read the size of the receive queue
 * @cfg: the configuration
 * @rq_size: where to store it, in entries
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @rq_size is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_cfg_set_rq_size()
 */
int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size);

/**
 * rpma_conn_cfg_set_compl_channel - let both completion queues share a channel
 * @cfg: the configuration
 * @shared: true for one completion channel, false for one per queue
 *
 * With a shared channel one descriptor and one call, rpma_conn_wait(), watch
 * the completions of sends and of receives; rpma_cq_wait() is then refused.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_conn_cfg_get_compl_channel(), rpma_conn_wait(),
 *   rpma_conn_get_compl_fd()
 */
int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared);

/**
 * rpma_conn_cfg_get_compl_channel - read whether the channel is shared
 * @cfg: the configuration
 * @shared: where to store it
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @shared is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_conn_cfg_set_compl_channel()
 */
int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared);

/**
 * rpma_conn_cfg_set_srq - take receives from a shared receive queue
 * @cfg: the configuration
 * @srq: the shared receive queue, borrowed: must outlive every connection
 *   made with this configuration
 *
 * It cannot be taken back: make a new configuration instead. If the queue has
 * a completion queue of its own, receives complete there and the connection
 * gets none for them; that excludes a shared completion channel.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @srq is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_conn_cfg_get_srq(), rpma_srq_new(), rpma_srq_get_rcq()
 */
int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq);

/**
 * rpma_conn_cfg_get_srq - read which shared receive queue is used
 * @cfg: the configuration
 * @srq_ptr: where to store it, NULL if none
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @srq_ptr is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_conn_cfg_set_srq()
 */
int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr);

/**
 * rpma_conn_cfg_set_cq - let connections share a completion queue
 * @cfg: the configuration
 * @cq: a queue of rpma_cq_new(), borrowed: must outlive every connection made with this
 *   configuration; NULL for a queue each
 *
 * Operations complete there, and so do receives, unless they have a queue of their own. Each
 * connection takes as many entries of the queue as it may need, RPMA_CONN_OPT_SQ_SIZE and, where
 * receives complete in it, RPMA_CONN_OPT_RQ_SIZE: a connection for which not enough are left is
 * RPMA_E_INVAL of the call that makes it, so the queue cannot overflow. Slots are counted as where
 * RPMA_CONN_OPT_SQ_SIZE is set. It excludes a shared completion channel.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL, or @cq is the queue of a connection or a shared receive queue
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_cq_new(), rpma_cq_get_conn()
 */
int rpma_conn_cfg_set_cq(struct rpma_conn_cfg *cfg, struct rpma_cq *cq);

/**
 * rpma_conn_cfg_set_option - set a number of a connection configuration
 * @cfg: the configuration
 * @option: which, an enum rpma_conn_option
 * @value: the number; RPMA_CONN_OPT_UNSET where the choice may be left to others
 *
 * The four queue sizes are those of rpma_conn_cfg_set_cq_size() and its siblings. A
 * device may refuse what is valid here when the connection is made, and gives at
 * least what was asked for otherwise: rpma_conn_get_option() has what it gave.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL, @option is unknown, or @value is more than the option
 *     may be
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_get_option(), rpma_conn_cfg_new()
 */
int rpma_conn_cfg_set_option(struct rpma_conn_cfg *cfg, enum rpma_conn_option option,
			     uint32_t value);

/* connections */

/**
 * rpma_conn_req_new - prepare a connection to a listening peer
 * @peer: whose device
 * @addr: IPv4 or IPv6 address or name of the remote host
 * @port: port number or service name
 * @cfg: sizes and waits, read during the call; NULL for the defaults of
 *   rpma_conn_cfg_new()
 * @req_ptr: where to store the new request
 *
 * Resolves the address and the route, each within the timeout of @cfg, and
 * makes the completion queues and the queue pair. Nothing reaches the remote
 * program before rpma_conn_req_connect(); receives may be posted before that
 * with rpma_conn_req_recv(). The first address that the name resolves to is
 * the one tried; rpma_conn_connect() tries all, and does not block. On failure @req_ptr
 * is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer, @addr, @port or @req_ptr is NULL, @cfg has both a
 *     shared completion channel and a shared receive queue with a completion
 *     queue of its own, or the queue of rpma_conn_cfg_set_cq() has too few entries left
 *   RPMA_E_NOSUPP - an option of @cfg is not supported here: native flush only, the
 *     moderation of completions, or a traffic class
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - rdma_getaddrinfo(3), rdma_create_id(3),
 *     rdma_resolve_addr(3), rdma_resolve_route(3), ibv_create_cq(3),
 *     ibv_req_notify_cq(3) or rdma_create_qp(3) failed; also when the route
 *     leaves through another device than that of @peer
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_req_connect(), rpma_conn_req_recv(),
 *   rpma_conn_req_delete(), rpma_conn_cfg_new()
 */
int rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port,
		      const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr);

/**
 * rpma_conn_req_delete - give a request up
 * @req_ptr: the request; set to NULL. A NULL request is fine.
 *
 * A request that came from rpma_ep_next_conn_req() is rejected, so the other
 * side gets RPMA_CONN_REJECTED. The request is gone even when an error comes
 * back.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @req_ptr is NULL
 *   RPMA_E_PROVIDER - rdma_reject(3), ibv_destroy_cq(3),
 *     ibv_destroy_comp_channel(3) or rdma_destroy_id(3) failed
 * Threads: safe on different requests.
 * Since: 0.9
 * See also: rpma_conn_req_new(), rpma_ep_next_conn_req()
 */
int rpma_conn_req_delete(struct rpma_conn_req **req_ptr);

/**
 * rpma_conn_req_reject - refuse a connection request, and say why
 * @req_ptr: the request of a client; set to NULL
 * @pdata: what the client gets with RPMA_CONN_REJECTED, as its private data, 1 to 148
 *   bytes; NULL: nothing
 *
 * The request is gone even with RPMA_E_PROVIDER. A client tells a refusal from a
 * port where no server listens by rpma_conn_get_rejection().
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @req_ptr is NULL or points to NULL; it is a request of
 *     rpma_conn_req_new(); or @pdata has no or too many bytes. The request is left alone then
 *   RPMA_E_PROVIDER - rdma_reject(3) or a teardown failed
 * Threads: safe on different requests.
 * Since: 1.4
 * See also: rpma_conn_req_delete(), rpma_conn_get_rejection(),
 *   rpma_conn_get_private_data()
 */
int rpma_conn_req_reject(struct rpma_conn_req **req_ptr,
			 const struct rpma_conn_private_data *pdata);

/**
 * rpma_conn_req_recv - post a receive before the connection exists
 * @req: the request
 * @dst: region to receive into, registered with RPMA_MR_USAGE_RECV
 * @offset: where in it, in bytes
 * @len: room there, in bytes, at most UINT32_MAX
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * The way to have a buffer ready for a peer that sends as soon as the
 * connection stands. The message may be shorter than @len. The range is not
 * checked against the region; the device does that when a message arrives.
 * Unlike rpma_recv() it takes no empty buffer.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @req or @dst is NULL, or @len is above UINT32_MAX
 *   RPMA_E_AGAIN - the library counts the slots of the queues
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and RPMA_CONN_OPT_RQ_SIZE receives are posted
 *   RPMA_E_PROVIDER - ibv_post_recv(3) failed, for instance because the
 *     receive queue is full or the connection uses a shared receive queue
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_recv(), rpma_conn_req_connect(), rpma_srq_recv()
 */
int rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
		       size_t len, const void *op_context);

/**
 * rpma_conn_req_get_private_data - read what came with an incoming request
 * @req: the request
 * @pdata: where to store pointer and length
 *
 * The bytes belong to the request, and to the connection it becomes: they
 * stay until that is deleted. A request made by rpma_conn_req_new() has none,
 * pointer NULL and length 0.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @req or @pdata is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_ep_next_conn_req(), rpma_conn_get_private_data()
 */
int rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
				   struct rpma_conn_private_data *pdata);

/**
 * rpma_conn_req_get_peer_addr - ask for the address of the other side
 * @req: the request
 * @addr: where to store the address: a struct sockaddr_in or sockaddr_in6,
 *   according to its ss_family, with the port
 *
 * Of an incoming request it is whom it came from, so that a server can reject
 * it by that before anything else; of one made by rpma_conn_req_new() it is
 * the address that the name was resolved to.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @req or @addr is NULL
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_ep_next_conn_req(), rpma_conn_req_delete()
 */
int rpma_conn_req_get_peer_addr(const struct rpma_conn_req *req, struct sockaddr_storage *addr);

/**
 * rpma_conn_req_connect - ask for the connection, or accept it
 * @req_ptr: the request; consumed and set to NULL
 * @pdata: bytes for the other side, read during the call; NULL for none
 * @conn_ptr: where to store the new connection
 *
 * The call does not wait for the other side: use rpma_conn_next_event() until
 * it returns RPMA_CONN_ESTABLISHED. A request of rpma_conn_req_new() is sent, one
 * of rpma_ep_next_conn_req() is accepted. If the client of that one has given up meanwhile, the
 * first event tells, such as RPMA_CONN_REJECTED or RPMA_CONN_CLOSED.
 *
 * The request is consumed by success and failure alike, unless @req_ptr or
 * the request is NULL; a failure rejects an incoming one. On failure
 * @conn_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @req_ptr, the request or @conn_ptr is NULL, or @pdata is
 *     given but its pointer is NULL or its length 0
 *   RPMA_E_NOSUPP - an option of the request is not supported by the connection manager
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - an event channel, the buffer for flushes, rdma_connect(3)
 *     or rdma_accept(3) failed; too long private data ends here, see struct
 *     rpma_conn_private_data
 * Threads: safe on different requests.
 * Since: 0.9
 * See also: rpma_conn_req_new(), rpma_ep_next_conn_req(),
 *   rpma_conn_next_event(), rpma_conn_get_private_data(), rpma_conn_delete()
 */
int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
			  const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr);

/**
 * rpma_conn_connect - connect to a listening peer without blocking
 * @peer: whose device
 * @addr: IPv4 or IPv6 address or name of the remote host
 * @port: port number or service name
 * @cfg: sizes and waits, read during the call; NULL for the defaults of
 *   rpma_conn_cfg_new()
 * @pdata: bytes for the other side, read during the call; NULL for none
 * @conn_ptr: where to store the new connection
 *
 * In place of rpma_conn_req_new() and rpma_conn_req_connect(). The call only looks the name
 * up, which may ask a name server; an address needs none. The rest happens in
 * rpma_conn_next_event(), a step at a time: address, route and handshake of each address
 * of the name in turn, until one is established. The event is RPMA_CONN_ESTABLISHED then,
 * and otherwise what became of the last address: RPMA_CONN_UNREACHABLE also for one that
 * does not resolve. A refusal by the program that listens there is final. An error of
 * rpma_conn_next_event() other than RPMA_E_NO_EVENT ends it too: that the address belongs
 * to another device than @peer, for instance. Then delete the connection.
 *
 * Set O_NONBLOCK on the descriptor of rpma_conn_get_event_fd(), and call rpma_conn_next_event()
 * when it is readable, as rpma_wait() tells, until it returns something else than
 * RPMA_E_NO_EVENT. A program that has nothing else to do leaves it as it is, and one call of
 * rpma_conn_next_event() returns the outcome. RPMA_CONN_OPT_CONNECT_MS bounds all of it.
 *
 * Before RPMA_CONN_ESTABLISHED the connection has completion queues, but no queue pair: what
 * is started on it is refused with RPMA_E_PROVIDER. To have receives posted by then, take
 * a shared receive queue or rpma_conn_req_new(); otherwise a message that comes earlier
 * waits at the peer, see RPMA_CONN_OPT_RNR_RETRIES. rpma_conn_delete() gives up at any
 * time. On failure @conn_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer, @addr, @port or @conn_ptr is NULL; @pdata is given but its pointer
 *     is NULL or its length 0; @cfg has both a shared completion channel and a shared
 *     receive queue with a completion queue of its own; or the queue of rpma_conn_cfg_set_cq() has
 *     too few entries left
 *   RPMA_E_NOSUPP - an option of @cfg is not supported here: the moderation of completions,
 *     or a traffic class
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - getaddrinfo(3), ibv_create_cq(3), ibv_req_notify_cq(3), an event
 *     channel, a timer, the buffer for flushes, or rdma_create_id(3) or
 *     rdma_resolve_addr(3) for the last address failed
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_next_event(), rpma_conn_get_event_fd(), rpma_wait(),
 *   rpma_conn_cfg_set_option(), rpma_conn_get_rejection(), rpma_err_text()
 */
int rpma_conn_connect(struct rpma_peer *peer, const char *addr, const char *port,
		      const struct rpma_conn_cfg *cfg, const struct rpma_conn_private_data *pdata,
		      struct rpma_conn **conn_ptr);

/**
 * rpma_conn_next_event - fetch what happened to a connection
 * @conn: the connection
 * @event: where to store the event
 *
 * Waits for the next event, unless the descriptor of rpma_conn_get_event_fd()
 * was made non-blocking. RPMA_CONN_OPT_CONNECT_MS bounds the wait for the handshake. To
 * bound others, set O_NONBLOCK on that descriptor and use rpma_wait() or poll(2).
 * poll(2) alone does not bound it, as rdma_get_cm_event(3) may drop what made the
 * descriptor readable and wait for the next. For a connection of rpma_conn_connect() it
 * takes the next step of the handshake. After RPMA_CONN_CLOSED or RPMA_CONN_LOST nothing reaches
 * the peer any more: call rpma_conn_disconnect(), and what is under way completes with
 * IBV_WC_WR_FLUSH_ERR. What is started before that call may be taken without an error and leave no
 * completion until then. After RPMA_CONN_REJECTED or
 * RPMA_CONN_UNREACHABLE delete the connection; to try again start from rpma_conn_req_new(). With
 * those and RPMA_CONN_LOST rpma_err_text() tells the address and the reason.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @event is NULL
 *   RPMA_E_NO_EVENT - nothing is waiting on a non-blocking descriptor, or a
 *     signal interrupted the wait
 *   RPMA_E_UNKNOWN - the connection manager reported an event that has no
 *     name here; it is consumed
 *   RPMA_E_PROVIDER - rdma_get_cm_event(3), rdma_ack_cm_event(3) or, with
 *     RPMA_CONN_OPT_RNR_TIMER set, ibv_modify_qp(3) failed; or a step of
 *     rpma_conn_connect() with the last address
 *   RPMA_E_NOSUPP - rpma_conn_connect() cannot have an option that it was configured with
 *   RPMA_E_NOMEM - out of memory for the private data of the peer, or for a step of
 *     rpma_conn_connect()
 * Threads: safe on different connections; calls on one take turns.
 * Since: 0.9
 * See also: rpma_conn_get_event_fd(), rpma_utils_conn_event_2str(),
 *   rpma_conn_get_private_data(), rpma_conn_disconnect(), rpma_conn_delete()
 */
int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event);

/**
 * rpma_utils_conn_event_2str - name a connection event
 * @conn_event: the event
 *
 * Return: a constant string, for unknown values too; never NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_next_event(), rpma_err_2str()
 */
const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event);

/**
 * rpma_conn_get_private_data - read what came with the other side's handshake
 * @conn: the connection
 * @pdata: where to store pointer and length; NULL and 0 if nothing came yet
 *
 * The side that accepted has it at once, the side that asked after it got
 * RPMA_CONN_ESTABLISHED. The bytes belong to the connection and stay until it
 * is deleted. On InfiniBand and RoCE zeros fill the field behind what was
 * sent, so the length is not that of the sender.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @pdata is NULL
 * Threads: safe, but not while another thread fetches the first event.
 * Since: 0.9
 * See also: rpma_conn_req_connect(), rpma_conn_next_event(),
 *   rpma_conn_req_get_private_data()
 */
int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata);

/**
 * rpma_conn_apply_remote_peer_cfg - tell a connection of the peer's platform
 * @conn: the connection
 * @pcfg: what the peer sent, borrowed for the call
 *
 * A new connection assumes that the peer has no Direct Write to PMem, so
 * rpma_flush() refuses RPMA_FLUSH_TYPE_PERSISTENT until this call
 * changes that, unless it flushes natively only (RPMA_CONN_OPT_FLUSH_METHOD). It may be called
 * again; later flushes use the last call.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @pcfg is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_peer_cfg_from_descriptor(), rpma_flush()
 */
int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg);

/**
 * rpma_conn_get_qp_num - ask for the number of the queue pair
 * @conn: the connection
 * @qp_num: where to store it
 *
 * Completions carry the same number in qp_num: that is how to tell whose
 * message came through a shared receive queue.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @qp_num is NULL, or rpma_conn_connect() has not established
 *     @conn yet
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_srq_recv(), rpma_cq_get_wc()
 */
int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num);

/**
 * rpma_conn_get_event_fd - ask for the descriptor that events arrive on
 * @conn: the connection
 * @fd: where to store the descriptor, borrowed: do not close it
 *
 * It becomes readable when rpma_conn_next_event() has something to fetch. It
 * blocks, whichever call made the connection; set O_NONBLOCK with fcntl(2) for use with poll(2),
 * epoll(7) or rpma_wait(). It is the same as long as the connection lives.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @fd is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_next_event(), rpma_cq_get_fd(), rpma_ep_get_fd()
 */
int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd);

/**
 * rpma_conn_get_cq - ask for the completion queue
 * @conn: the connection
 * @cq_ptr: where to store it, borrowed; lives as long as the connection, or is the queue of
 *   rpma_conn_cfg_set_cq()
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @cq_ptr is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_conn_get_rcq(), rpma_cq_wait(), rpma_cq_get_wc()
 */
int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr);

/**
 * rpma_conn_get_rcq - ask for the completion queue of receives
 * @conn: the connection
 * @rcq_ptr: where to store it, borrowed; lives as long as the connection;
 *   NULL if receives complete elsewhere
 *
 * Elsewhere is the main completion queue, or that of the shared receive queue
 * the connection uses.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @rcq_ptr is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_conn_cfg_set_rcq_size(), rpma_conn_get_cq(),
 *   rpma_srq_get_rcq()
 */
int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr);

/**
 * rpma_conn_get_compl_fd - ask for the descriptor of the shared channel
 * @conn: the connection
 * @fd: where to store the descriptor, borrowed: do not close it
 *
 * It becomes readable when rpma_conn_wait() has something to report.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @fd is NULL
 *   RPMA_E_NOT_SHARED_CHNL - the connection was configured without a shared
 *     completion channel
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_conn_cfg_set_compl_channel(), rpma_conn_wait(),
 *   rpma_cq_get_fd()
 */
int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd);

/**
 * rpma_conn_wait - wait for completions of either queue
 * @conn: the connection, configured with a shared completion channel
 * @flags: reserved; pass 0
 * @cq: where to store the queue that has completions, borrowed; NULL is stored
 *   with RPMA_E_PROVIDER
 * @is_rcq: where to store whether it is the one of receives; may be NULL
 *
 * Waits until one of the two queues has a completion event, unless the descriptor of
 * rpma_conn_get_compl_fd() was made non-blocking, and arms that queue again.
 * Then fetch with rpma_cq_get_wc() until it returns RPMA_E_NO_COMPLETION; that
 * may be its first answer, because the event can be for a completion that was
 * fetched before.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @cq is NULL
 *   RPMA_E_NOT_SHARED_CHNL - the channel is not shared; use rpma_cq_wait()
 *   RPMA_E_NO_COMPLETION - nothing is waiting on a non-blocking descriptor, a
 *     signal interrupted the wait, or ibv_get_cq_event(3) failed
 *   RPMA_E_UNKNOWN - the event was for neither of the two queues
 *   RPMA_E_PROVIDER - ibv_req_notify_cq(3) failed
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_conn_cfg_set_compl_channel(), rpma_conn_get_compl_fd(),
 *   rpma_cq_get_wc()
 */
int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq);

/**
 * rpma_conn_get_option - ask what a connection has
 * @conn: the connection
 * @option: which number, an enum rpma_conn_option
 * @value: where to store it
 *
 * Queue sizes and RPMA_CONN_OPT_INLINE_SIZE are what the device gave; RPMA_CONN_OPT_BATCH_SIZE and
 * RPMA_CONN_OPT_SIGNAL_EVERY what the queue has use for; the others what the
 * connection was configured with. With RPMA_CONN_OPT_SIGNAL_EVERY the size of the send queue is
 * what was asked for, even if the device gave more: so many operations find room.
 * RPMA_CONN_OPT_FLUSH_METHOD is what its queue pair can do: RPMA_FLUSH_METHOD_NATIVE or
 * RPMA_FLUSH_METHOD_READ.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @value is NULL, or @option is unknown
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_cfg_set_option(), rpma_conn_get_flush_method()
 */
int rpma_conn_get_option(const struct rpma_conn *conn, enum rpma_conn_option option,
			 uint32_t *value);

/**
 * rpma_conn_get_flush_method - ask how a region would be flushed
 * @conn: the connection
 * @mr: the remote region
 * @method: where to store it, RPMA_FLUSH_METHOD_NATIVE or RPMA_FLUSH_METHOD_READ
 *
 * A flush is native if the queue pair can do it and the peer has registered the region
 * for it; there is no queue pair before rpma_conn_connect() has established @conn. That does not
 * tell whether the peer's platform keeps what is flushed.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @mr or @method is NULL
 *   RPMA_E_NOSUPP - the connection is to flush natively only, and the region is not
 *     registered for it
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_flush(), rpma_mr_remote_get_flush_type(), rpma_conn_cfg_set_option()
 */
int rpma_conn_get_flush_method(const struct rpma_conn *conn, const struct rpma_mr_remote *mr,
			       enum rpma_flush_method *method);

/**
 * rpma_conn_get_rejection - ask who refused a connection
 * @conn: the connection, after RPMA_CONN_REJECTED
 * @rejection: where to store it
 *
 * The peer's own reason, if it gave one, is in rpma_conn_get_private_data().
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @rejection is NULL
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_req_reject(), rpma_conn_next_event()
 */
int rpma_conn_get_rejection(const struct rpma_conn *conn, enum rpma_rejection *rejection);

/**
 * rpma_conn_get_id - get the RDMA CM identifier of a connection
 * @conn: the connection
 * @id: where to store it, borrowed; lives as long as the connection
 *
 * For what librpma has no call for; <rdma/rdma_cma.h> declares it. Its addresses are in
 * rdma_get_local_addr(3) and rdma_get_peer_addr(3), and one may set options of it
 * (rdma_set_option(3)). One must not connect, disconnect, migrate or destroy it, nor take events
 * from its channel.
 *
 * Its qp is the queue pair. One may query it, post to it and modify attributes that leave its state
 * alone. Work that is posted to it takes slots in the queues of the connection, and its
 * completions are fetched by rpma_cq_get_wc(). With RPMA_CONN_OPT_SIGNAL_EVERY one must not post to
 * its send queue. One must not change its state or destroy it.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @id is NULL, or rpma_conn_connect() has not established @conn yet
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_peer_get_pd(), rpma_conn_get_qp_num()
 */
int rpma_conn_get_id(const struct rpma_conn *conn, struct rdma_cm_id **id);

/**
 * rpma_conn_set_context - keep a pointer of the program with a connection
 * @conn: the connection
 * @context: the pointer; NULL until it is set
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_get_context()
 */
int rpma_conn_set_context(struct rpma_conn *conn, void *context);

/**
 * rpma_conn_get_context - get the pointer that is kept with a connection
 * @conn: the connection
 * @context: where to store it
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @context is NULL
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_conn_set_context()
 */
int rpma_conn_get_context(const struct rpma_conn *conn, void **context);

/**
 * rpma_conn_disconnect - start closing a connection
 * @conn: the connection
 *
 * Either side may do it; both then get RPMA_CONN_CLOSED. Operations that wait are posted
 * first (RPMA_F_MORE). Operations under way complete with IBV_WC_WR_FLUSH_ERR.
 * Disconnecting again, or after RPMA_CONN_CLOSED or RPMA_CONN_REJECTED, does no harm.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL
 *   RPMA_E_PROVIDER - rdma_disconnect(3) failed; or operations that waited could not be
 *     posted and wait still (rpma_submit()), and the connection closes all the same
 * Threads: safe, if no operation waits.
 * Since: 0.9
 * See also: rpma_conn_next_event(), rpma_conn_delete()
 */
int rpma_conn_disconnect(struct rpma_conn *conn);

/**
 * rpma_conn_delete - delete a connection
 * @conn_ptr: the connection; set to NULL. A NULL connection is fine.
 *
 * Legal at any time, with or without rpma_conn_disconnect() before: a connection that still stands
 * is torn down. Its completion queues, descriptors and private data go with it; regions stay, and
 * the device uses their memory no longer for this connection. Operations that wait (RPMA_F_MORE)
 * are not posted; the log has a warning.
 *
 * One that shares a queue of rpma_cq_new() is deleted while no thread fetches from it. Its
 * completions that were not fetched are dropped, and another connection may take its entries.
 *
 * The connection is gone even when an error comes back, which is then the
 * first of those met.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn_ptr is NULL, or munmap(2) of the flush buffer failed
 *   RPMA_E_PROVIDER - ibv_dereg_mr(3) of the flush buffer,
 *     ibv_destroy_cq(3), ibv_destroy_comp_channel(3) or rdma_destroy_id(3)
 *     failed
 * Threads: safe on different connections.
 * Since: 0.9
 * See also: rpma_conn_disconnect(), rpma_conn_req_connect()
 */
int rpma_conn_delete(struct rpma_conn **conn_ptr);

/* endpoints */

/**
 * rpma_ep_listen - listen for connection requests
 * @peer: whose device
 * @addr: IPv4 or IPv6 address or name of this host
 * @port: port number or service name; "0" for one that is free
 * @ep_ptr: where to store the new endpoint
 *
 * The kernel limits how many requests may wait for rpma_ep_next_conn_req() (rdma_ucm's
 * max_backlog). On failure @ep_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer, @addr, @port or @ep_ptr is NULL
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - rdma_create_event_channel(3), rdma_create_id(3),
 *     rdma_getaddrinfo(3), rdma_bind_addr(3) or rdma_listen(3) failed: the
 *     address is not one of an RDMA device here, or the port is taken
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_ep_next_conn_req(), rpma_ep_get_port(), rpma_ep_get_fd(),
 *   rpma_ep_shutdown()
 */
int rpma_ep_listen(struct rpma_peer *peer, const char *addr, const char *port,
		   struct rpma_ep **ep_ptr);

/**
 * rpma_ep_get_fd - ask for the descriptor that requests arrive on
 * @ep: the endpoint
 * @fd: where to store the descriptor, borrowed: do not close it
 *
 * It becomes readable when rpma_ep_next_conn_req() has something to fetch. It
 * blocks; set O_NONBLOCK with fcntl(2) for use with poll(2) or epoll(7).
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @ep or @fd is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_ep_next_conn_req(), rpma_conn_get_event_fd()
 */
int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd);

/**
 * rpma_ep_get_port - ask on which port an endpoint listens
 * @ep: the endpoint
 * @port: where to store the port number, in host byte order
 *
 * The way to learn the port after rpma_ep_listen() with port "0".
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @ep or @port is NULL
 * Threads: safe.
 * Since: 1.4, the first call of version node LIBRPMA_1.4
 * See also: rpma_ep_listen()
 */
int rpma_ep_get_port(const struct rpma_ep *ep, uint16_t *port);

/**
 * rpma_ep_next_conn_req - take the next incoming request
 * @ep: the endpoint
 * @cfg: sizes of the connection, read during the call; NULL for the defaults
 *   of rpma_conn_cfg_new()
 * @req_ptr: where to store the new request
 *
 * Waits for a request, unless the descriptor of rpma_ep_get_fd() was made
 * non-blocking. Look at its private data, post receives, then accept it with
 * rpma_conn_req_connect() or reject it with rpma_conn_req_delete(). If the
 * call itself fails after a request came, that request is rejected. A client that has given up
 * meanwhile is no failure: the next request is taken. On
 * failure @req_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @ep or @req_ptr is NULL; the event was of the endpoint, such as the removal
 *     of its device, and is consumed; @cfg has both a shared completion channel and a shared
 *     receive queue with a completion queue of its own; or the queue of rpma_conn_cfg_set_cq() has
 *     too few entries left
 *   RPMA_E_NO_EVENT - nothing is waiting on a non-blocking descriptor, or a
 *     signal interrupted the wait
 *   RPMA_E_NOSUPP - an option of @cfg is not supported here: native flush only, or
 *     the moderation of completions
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - rdma_get_cm_event(3), rdma_ack_cm_event(3),
 *     ibv_create_cq(3), ibv_req_notify_cq(3) or rdma_create_qp(3) failed; also
 *     when the request came in through another device than the peer's
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_req_get_private_data(), rpma_conn_req_recv(),
 *   rpma_conn_req_connect(), rpma_conn_req_delete(), rpma_ep_get_fd()
 */
int rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
			  struct rpma_conn_req **req_ptr);

/**
 * rpma_ep_shutdown - stop listening
 * @ep_ptr: the endpoint; set to NULL. A NULL endpoint is fine.
 *
 * Connections already made stay. Requests not yet fetched are turned down by
 * the kernel. The endpoint is gone even when an error comes back.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @ep_ptr is NULL
 *   RPMA_E_PROVIDER - rdma_destroy_id(3) failed
 * Threads: safe on different endpoints.
 * Since: 0.9
 * See also: rpma_ep_listen()
 */
int rpma_ep_shutdown(struct rpma_ep **ep_ptr);

/* remote memory access */

/**
 * rpma_read - start copying remote memory to local memory
 * @conn: the connection
 * @dst: region to copy into, registered with RPMA_MR_USAGE_READ_DST
 * @dst_offset: where in @dst, in bytes
 * @src: region of the peer, registered with RPMA_MR_USAGE_READ_SRC
 * @src_offset: where in @src, in bytes
 * @len: how much, in bytes, at most UINT32_MAX
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and maybe
 *   RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * The bytes are there when the completion, of opcode IBV_WC_RDMA_READ, has
 * been fetched. To read 0 bytes pass NULL for both regions and 0 for both
 * offsets and @len. The ranges are not checked here: the devices do that, and
 * the completion has the outcome.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL; @flags is 0; @len is above UINT32_MAX; only
 *     one region is NULL; both are but an offset or @len is not 0
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.9
 * See also: rpma_mr_reg(), rpma_mr_remote_from_descriptor(),
 *   rpma_cq_get_wc(), rpma_write()
 */
int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
	      const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
	      const void *op_context);

/**
 * rpma_write - start copying local memory to remote memory
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_WRITE_DST
 * @dst_offset: where in @dst, in bytes
 * @src: region to copy from, registered with RPMA_MR_USAGE_WRITE_SRC
 * @src_offset: where in @src, in bytes
 * @len: how much, in bytes, at most UINT32_MAX
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE and RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * The completion, of opcode IBV_WC_RDMA_WRITE, means that the source may be
 * used again. It does not mean that the bytes can be read at the target, let
 * alone that they are persistent: rpma_flush() does. To write 0 bytes pass
 * NULL for both regions and 0 for both offsets and @len. The ranges are not
 * checked here: the devices do that, and the completion has the outcome.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL; @flags is 0; @len is above UINT32_MAX; only
 *     one region is NULL; both are but an offset or @len is not 0;
 *     @flags has RPMA_F_INLINE and @len is above RPMA_CONN_OPT_INLINE_SIZE
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.9
 * See also: rpma_mr_reg(), rpma_mr_remote_from_descriptor(), rpma_flush(),
 *   rpma_write_with_imm(), rpma_atomic_write(), rpma_cq_get_wc()
 */
int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	       const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
	       const void *op_context);

/** struct rpma_range - a part of a local region
 * @mr: the region
 * @offset: where in @mr, in bytes
 * @len: how much, in bytes
 */
struct rpma_range {
	const struct rpma_mr_local *mr;
	size_t offset;
	size_t len;
};

/**
 * rpma_writev - start copying several local ranges to one remote range
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_WRITE_DST
 * @dst_offset: where in @dst, in bytes
 * @src: the ranges, of regions registered with RPMA_MR_USAGE_WRITE_SRC; the array is
 *   read during the call
 * @num_ranges: how many, 1 to RPMA_CONN_OPT_SEND_SGES
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE and RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Writes all ranges as rpma_write() does, one behind the other.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @dst, @src or the region of a range is NULL; @flags is 0;
 *     @num_ranges is below 1 or above RPMA_CONN_OPT_SEND_SGES; the ranges have more than
 *     UINT32_MAX bytes; @flags has RPMA_F_INLINE and they have more than
 *     RPMA_CONN_OPT_INLINE_SIZE
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 1.4
 * See also: rpma_write(), rpma_conn_cfg_set_option()
 */
int rpma_writev(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		const struct rpma_range *src, int num_ranges, int flags, const void *op_context);

/**
 * rpma_write_with_imm - write, and tell the peer with a number
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_WRITE_DST
 * @dst_offset: where in @dst, in bytes
 * @src: region to copy from, registered with RPMA_MR_USAGE_WRITE_SRC
 * @src_offset: where in @src, in bytes
 * @len: how much, in bytes, at most UINT32_MAX
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE, RPMA_F_MORE and RPMA_F_SOLICITED
 * @imm: the number, in host byte order
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Writes as rpma_write() does; then the peer's oldest receive completes, without
 * a byte stored in its buffer: opcode IBV_WC_RECV_RDMA_WITH_IMM, byte_len the
 * bytes written, IBV_WC_WITH_IMM set in wc_flags, and imm_data the number in
 * network byte order, so the peer takes ntohl(3) of it. Where the bytes went
 * is not in the completion. To send the number alone pass NULL for both
 * regions and 0 for both offsets and @len.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL; @flags is 0; @len is above UINT32_MAX; only
 *     one region is NULL; both are but an offset or @len is not 0;
 *     @flags has RPMA_F_INLINE and @len is above RPMA_CONN_OPT_INLINE_SIZE
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.10
 * See also: rpma_write(), rpma_send_with_imm(), rpma_recv(),
 *   rpma_cq_get_wc()
 */
int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
			uint32_t imm, const void *op_context);

/**
 * rpma_atomic_write - start writing 8 bytes that arrive all or not at all
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_WRITE_DST
 * @dst_offset: where in @dst; a multiple of RPMA_ATOMIC_WRITE_ALIGNMENT
 * @src: the 8 bytes, read during the call
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and maybe
 *   RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * The bytes are sent as they are, in the byte order of @src. Operations of
 * the same connection that came before, reads and flushes included, take
 * effect first. So the usual append to a log in persistent memory is: write
 * the record, flush it, write the new end of the log with this call, flush
 * that.
 *
 * For the target to be aligned the region has to start on a multiple of 8 as well.
 * Devices with an atomic write of their own
 * use it, and the opcode of the completion is IBV_WC_ATOMIC_WRITE; on others
 * it is a fenced inline write, opcode IBV_WC_RDMA_WRITE, which is atomic on
 * platforms that store an aligned 8-byte write of a device at once. So 8 bytes at the peer that
 * would lie in two cache lines of 64 bytes are refused there.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @dst or @src is NULL; @flags is 0; @dst_offset is
 *     not a multiple of 8; or, where the device has no atomic write, the 8 bytes cross a
 *     cache line of the peer (not checked before 1.4)
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.13
 * See also: rpma_write(), rpma_flush(), rpma_cq_get_wc()
 */
int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      const char src[8], int flags, const void *op_context);

/**
 * rpma_atomic_compare_swap - start replacing 8 remote bytes if they are as expected
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_ATOMIC
 * @dst_offset: where in @dst; a multiple of 8
 * @result: region for the 8 bytes that were there before, registered with
 *   RPMA_MR_USAGE_READ_DST
 * @result_offset: where in @result, in bytes
 * @compare: what is expected to be there
 * @swap: what is stored if it is
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and maybe
 *   RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * The peer's memory holds a 64-bit number in the byte order of its CPU, @result gets it in
 * that of this host: both have to be the same here. It is atomic towards operations of
 * the same RDMA device; whether also towards the peer's CPU, ibv_query_device(3) tells
 * there (IBV_ATOMIC_GLOB). The number was stored if @result equals @compare, once
 * the completion, of opcode IBV_WC_COMP_SWAP, has been fetched. Unlike rpma_atomic_write()
 * it need not take effect after an earlier flush: if it has to, fetch the completion of the
 * flush first. To make it persistent, flush it.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @dst or @result is NULL; @flags is 0; @dst_offset is not a
 *     multiple of 8
 *   RPMA_E_NOSUPP - the peer has not registered the region with RPMA_MR_USAGE_ATOMIC
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 1.4
 * See also: rpma_atomic_fetch_add(), rpma_atomic_write(), rpma_peer_get_caps(),
 *   rpma_cq_get_wc()
 */
int rpma_atomic_compare_swap(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			     struct rpma_mr_local *result, size_t result_offset, uint64_t compare,
			     uint64_t swap, int flags, const void *op_context);

/**
 * rpma_atomic_fetch_add - start adding to 8 remote bytes
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_ATOMIC
 * @dst_offset: where in @dst; a multiple of 8
 * @result: region for the 8 bytes that were there before, registered with
 *   RPMA_MR_USAGE_READ_DST
 * @result_offset: where in @result, in bytes
 * @add: what is added, modulo 2 to the power of 64
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and maybe
 *   RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Like rpma_atomic_compare_swap(); the opcode of the completion is IBV_WC_FETCH_ADD.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @dst or @result is NULL; @flags is 0; @dst_offset is not a
 *     multiple of 8
 *   RPMA_E_NOSUPP - the peer has not registered the region with RPMA_MR_USAGE_ATOMIC
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 1.4
 * See also: rpma_atomic_compare_swap(), rpma_peer_get_caps(), rpma_cq_get_wc()
 */
int rpma_atomic_fetch_add(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			  struct rpma_mr_local *result, size_t result_offset, uint64_t add,
			  int flags, const void *op_context);

/**
 * rpma_flush - start making earlier writes visible or persistent
 * @conn: the connection
 * @dst: region of the peer, registered with the usage of this flush type
 * @dst_offset: where in @dst, in bytes
 * @len: how much, in bytes
 * @type: RPMA_FLUSH_TYPE_VISIBILITY or RPMA_FLUSH_TYPE_PERSISTENT
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and maybe
 *   RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * When its completion has been fetched with status IBV_WC_SUCCESS, the writes
 * to the range that were started on the same connection before are visible
 * at the target, or persistent. Writes outside [@dst_offset, @dst_offset + @len)
 * are not covered: the read of releases before 1.3 covered them by accident.
 * Persistence rests on the peer's word that Direct Write to PMem is possible:
 * see rpma_conn_apply_remote_peer_cfg().
 *
 * If device and region allow, it is the flush operation of the device for the
 * range (for the whole region if @len is above UINT32_MAX), and the opcode of
 * the completion is IBV_WC_FLUSH. Otherwise up to 8 bytes are read where the
 * range starts, or just before the end of the region if that is nearer, and
 * the opcode is IBV_WC_RDMA_READ: on a reliable connection the answer to a
 * read comes after the writes before it were placed. Regions of librpma 1.4
 * declare in their descriptor which they allow. For others the read is used if the
 * region also has RPMA_MR_USAGE_READ_SRC, and else the device's flush where
 * there is one; see INTEROPERABILITY in librpma(7) for the cases in which the
 * peer refuses that with IBV_WC_REM_ACCESS_ERR.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @dst is NULL; @flags is 0; @type is unknown; the
 *     range is not inside the region
 *   RPMA_E_NOSUPP - the region was not registered for this type; or it is
 *     RPMA_FLUSH_TYPE_PERSISTENT, the peer did not declare Direct Write to
 *     PMem, and the connection may flush by reading; or it flushes natively only, and the region is
 *     not registered for it
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.9; uses the device's flush and checks range and type since 1.4
 * See also: rpma_write(), rpma_atomic_write(), rpma_mr_reg(),
 *   rpma_mr_remote_get_flush_type(), rpma_conn_apply_remote_peer_cfg(),
 *   rpma_cq_get_wc()
 */
int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	       enum rpma_flush_type type, int flags, const void *op_context);

/**
 * rpma_write_flush - start copying local memory to remote memory, and flushing it there
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_WRITE_DST and the usage of
 *   this flush type
 * @dst_offset: where in @dst, in bytes
 * @src: region to copy from, registered with RPMA_MR_USAGE_WRITE_SRC
 * @src_offset: where in @src, in bytes
 * @len: how much, in bytes, at most UINT32_MAX
 * @type: RPMA_FLUSH_TYPE_VISIBILITY or RPMA_FLUSH_TYPE_PERSISTENT
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE and RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * rpma_write() and rpma_flush() of the same range in one call, with the one completion of
 * the flush; if one fails, both may leave one with @op_context. They take two slots in the
 * send queue, and are posted with one doorbell (see RPMA_F_MORE for native flushes).
 *
 * A flush by reading covers the writes before it as well. So where one waits (RPMA_F_MORE) that
 * leaves no completion, this call and rpma_append() to the same region take it back: theirs does
 * its work, and a list of such calls has one flush. If that fails, it alone may leave a completion,
 * and the records of all these calls may be lost. Native flushes are all posted.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @dst or @src is NULL; @flags is 0; @type is unknown; the
 *     range is not inside the remote region, or above UINT32_MAX; @flags has
 *     RPMA_F_INLINE and @len is above RPMA_CONN_OPT_INLINE_SIZE; the send queue has fewer than
 *     two slots
 *   RPMA_E_NOSUPP - as for rpma_flush()
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it has no two left
 *   RPMA_E_PROVIDER - ibv_post_send(3) or ibv_wr_complete(3) failed; the write may have been
 *     posted, the flush was not
 * Threads: safe on different connections.
 * Since: 1.4
 * See also: rpma_write(), rpma_flush(), rpma_append()
 */
int rpma_write_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		     const struct rpma_mr_local *src, size_t src_offset, size_t len,
		     enum rpma_flush_type type, int flags, const void *op_context);

/**
 * struct rpma_record - a record for a log, and the end that the log has with it
 * @dst: region of the peer with the log, registered with RPMA_MR_USAGE_WRITE_DST and
 *   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
 * @dst_offset: where the record goes in @dst, in bytes
 * @src: region with the record, registered with RPMA_MR_USAGE_WRITE_SRC
 * @src_offset: where in @src, in bytes
 * @len: its length in bytes, at most UINT32_MAX
 * @end_offset: where in @dst the end of the log is kept; a multiple of 8, outside the record
 * @end: the 8 bytes of the new end, read during the call
 */
struct rpma_record {
	struct rpma_mr_remote *dst;
	size_t dst_offset;
	const struct rpma_mr_local *src;
	size_t src_offset;
	size_t len;
	size_t end_offset;
	const void *end;
};

/**
 * rpma_append - start appending a record to a log in persistent memory
 * @conn: the connection
 * @record: the record and the new end, read during the call
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE and RPMA_F_MORE
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Four operations, with the one completion of the last: the record is written, and
 * flushed to persistence; then the end is written by rpma_atomic_write(), and flushed. If one
 * fails, each of the four may leave a completion with @op_context. Whenever the power fails,
 * the end that is found names a record that is there. They take four slots in the send queue,
 * and are posted with one doorbell (see RPMA_F_MORE for native operations). An append with
 * RPMA_F_MORE is four of the RPMA_CONN_OPT_BATCH_SIZE operations that may wait: eight appends by
 * default.
 *
 * Appends of one list (RPMA_F_MORE) to the same region and end_offset become one, if the earlier
 * ones leave no completion and the region is flushed by reading: all records, a flush, the last
 * end, and a flush. The ends before the last are not written.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @record, its dst, src or end is NULL; @flags is 0; a range is not
 *     inside the remote region; len is above UINT32_MAX; end_offset is not a multiple
 *     of 8, or its address at the peer is not, or it is inside the record; @flags has
 *     RPMA_F_INLINE and len is above RPMA_CONN_OPT_INLINE_SIZE; the send queue has fewer than four
 *     slots
 *   RPMA_E_NOSUPP - as for rpma_flush()
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it has no four left
 *   RPMA_E_PROVIDER - ibv_post_send(3) or ibv_wr_complete(3) failed; any but the last of the
 *     four may have been posted, so the new end may be there
 * Threads: safe on different connections.
 * Since: 1.4
 * See also: rpma_write_flush(), rpma_atomic_write(), rpma_flush()
 */
int rpma_append(struct rpma_conn *conn, const struct rpma_record *record, int flags,
		const void *op_context);

/**
 * rpma_submit - post the operations that wait for another one
 * @conn: the connection
 *
 * For those that were started with RPMA_F_MORE. If none waits, nothing happens.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL
 *   RPMA_E_PROVIDER - ibv_post_send(3) or ibv_wr_complete(3) failed: some or all of them were not
 *     posted, and wait still
 *   RPMA_E_AGAIN - the same, because the send queue of a broken connection is full; only
 *     with RPMA_CONN_OPT_SIGNAL_EVERY
 * Threads: safe on different connections.
 * Since: 1.4
 * See also: rpma_write(), rpma_conn_cfg_set_option()
 */
int rpma_submit(struct rpma_conn *conn);

/**
 * rpma_discard - drop the operations that wait for another one
 * @conn: the connection
 * @count: where to store how many they were; may be NULL
 *
 * For those that were started with RPMA_F_MORE, such as after a call that could not post them.
 * They have not begun, and leave no completion. Part of a call of several operations
 * may have been posted before it failed: what waits is its rest.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL
 * Threads: safe on different connections.
 * Since: 1.4
 * See also: rpma_submit()
 */
int rpma_discard(struct rpma_conn *conn, size_t *count);

/* messaging */

/**
 * rpma_send - start sending a message
 * @conn: the connection
 * @src: region with the message, registered with RPMA_MR_USAGE_SEND; NULL for
 *   an empty message
 * @offset: where in it, in bytes
 * @len: how much, in bytes, at most UINT32_MAX
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE, RPMA_F_MORE and RPMA_F_SOLICITED
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * The message goes into the oldest receive that the peer has posted, which
 * must have room for it; if there is none the device tries again until there
 * is. The completion, of opcode IBV_WC_SEND, means that the memory may be
 * used again.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL; @flags is 0; @len is above UINT32_MAX; @src
 *     is NULL but @offset or @len is not 0;
 *     @flags has RPMA_F_INLINE and @len is above RPMA_CONN_OPT_INLINE_SIZE
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.9
 * See also: rpma_recv(), rpma_send_with_imm(), rpma_mr_reg(),
 *   rpma_cq_get_wc()
 */
int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	      int flags, const void *op_context);

/**
 * rpma_send_with_imm - start sending a message with a number
 * @conn: the connection
 * @src: region with the message, registered with RPMA_MR_USAGE_SEND; NULL for
 *   the number alone
 * @offset: where in it, in bytes
 * @len: how much, in bytes, at most UINT32_MAX
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS, and any of
 *   RPMA_F_INLINE, RPMA_F_MORE and RPMA_F_SOLICITED
 * @imm: the number, in host byte order
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Like rpma_send(); the completion of the peer's receive has IBV_WC_WITH_IMM
 * set in wc_flags, and the number in imm_data in network byte order, so the
 * peer takes ntohl(3) of it.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL; @flags is 0; @len is above UINT32_MAX; @src
 *     is NULL but @offset or @len is not 0;
 *     @flags has RPMA_F_INLINE and @len is above RPMA_CONN_OPT_INLINE_SIZE
 *   RPMA_E_AGAIN - the library counts the slots of the send queue
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and it is full
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed, usually because the send queue
 *     is full
 * Threads: safe; one at a time on a connection whose slots are counted, or where operations wait
 *   (RPMA_F_MORE).
 * Since: 0.10
 * See also: rpma_send(), rpma_write_with_imm(), rpma_recv(),
 *   rpma_cq_get_wc()
 */
int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		       size_t len, int flags, uint32_t imm, const void *op_context);

/**
 * rpma_recv - post a buffer for a message
 * @conn: the connection
 * @dst: region to receive into, registered with RPMA_MR_USAGE_RECV; NULL for
 *   an empty buffer
 * @offset: where in it, in bytes
 * @len: room there, in bytes, at most UINT32_MAX
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Buffers are used in the order posted. The completion always comes: opcode
 * IBV_WC_RECV for a message, with its length in byte_len, or
 * IBV_WC_RECV_RDMA_WITH_IMM for a rpma_write_with_imm() of the peer. A message
 * longer than @len breaks the connection.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL; @len is above UINT32_MAX; @dst is NULL but
 *     @offset or @len is not 0
 *   RPMA_E_AGAIN - the library counts the slots of the queues
 *     (RPMA_CONN_OPT_SIGNAL_EVERY), and RPMA_CONN_OPT_RQ_SIZE receives are posted
 *     or their completions not fetched yet
 *   RPMA_E_PROVIDER - ibv_post_recv(3) failed, for instance because the
 *     receive queue is full or the connection uses a shared receive queue
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_conn_req_recv(), rpma_srq_recv(), rpma_send(),
 *   rpma_mr_reg(), rpma_cq_get_wc()
 */
int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	      const void *op_context);

/* shared receive queues */

/**
 * rpma_srq_cfg_new - make a configuration of a shared receive queue
 * @cfg_ptr: where to store it
 *
 * It starts with room for 20 receives and a completion queue of 20 entries
 * for them, which is also what a NULL configuration stands for. (Manuals of
 * earlier releases document 100; the library always took 20.) On failure @cfg_ptr
 * is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg_ptr is NULL
 *   RPMA_E_NOMEM - out of memory
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_cfg_delete(), rpma_srq_cfg_set_rq_size(),
 *   rpma_srq_cfg_set_rcq_size(), rpma_srq_new()
 */
int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr);

/**
 * rpma_srq_cfg_delete - delete a configuration of a shared receive queue
 * @cfg_ptr: the configuration; set to NULL. A NULL configuration is fine.
 *
 * Queues made with it are not affected.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg_ptr is NULL
 * Threads: safe on different configurations.
 * Since: 1.0
 * See also: rpma_srq_cfg_new()
 */
int rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr);

/**
 * rpma_srq_cfg_set_rq_size - set the size of the shared receive queue
 * @cfg: the configuration
 * @rq_size: entries: receives that may be posted at once
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_cfg_get_rq_size(), rpma_srq_recv()
 */
int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg *cfg, uint32_t rq_size);

/**
 * rpma_srq_cfg_get_rq_size - read the size of the shared receive queue
 * @cfg: the configuration
 * @rq_size: where to store it, in entries
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @rq_size is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_cfg_set_rq_size()
 */
int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size);

/**
 * rpma_srq_cfg_set_rcq_size - give shared receives a completion queue
 * @cfg: the configuration
 * @rcq_size: entries; 0 for none, then each receive completes in the queue of
 *   the connection that its message came through
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_cfg_get_rcq_size(), rpma_srq_get_rcq()
 */
int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg *cfg, uint32_t rcq_size);

/**
 * rpma_srq_cfg_get_rcq_size - read the size of that completion queue
 * @cfg: the configuration
 * @rcq_size: where to store it, in entries; 0 stands for none
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cfg or @rcq_size is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_cfg_set_rcq_size()
 */
int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size);

/**
 * rpma_srq_new - make a shared receive queue
 * @peer: whose device
 * @cfg: sizes, read during the call; NULL for the defaults of
 *   rpma_srq_cfg_new()
 * @srq_ptr: where to store the new queue
 *
 * Connections of the same peer take their receives from it when
 * rpma_conn_cfg_set_srq() names it. On failure @srq_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer or @srq_ptr is NULL
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - ibv_create_srq(3), ibv_create_comp_channel(3),
 *     ibv_create_cq(3) or ibv_req_notify_cq(3) failed
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_delete(), rpma_srq_cfg_new(), rpma_conn_cfg_set_srq(),
 *   rpma_srq_recv(), rpma_srq_get_rcq()
 */
int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr);

/**
 * rpma_srq_delete - delete a shared receive queue
 * @srq_ptr: the queue; set to NULL. A NULL queue is fine.
 *
 * Delete the connections that use it first. Its completion queue goes with
 * it. The queue is gone even when an error comes back.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @srq_ptr is NULL
 *   RPMA_E_PROVIDER - ibv_destroy_cq(3), ibv_destroy_comp_channel(3) or
 *     ibv_destroy_srq(3) failed, usually because a connection still uses it
 * Threads: safe on different queues.
 * Since: 1.0
 * See also: rpma_srq_new()
 */
int rpma_srq_delete(struct rpma_srq **srq_ptr);

/**
 * rpma_srq_recv - post a buffer for a message of any of the connections
 * @srq: the shared receive queue
 * @dst: region to receive into, registered with RPMA_MR_USAGE_RECV; NULL for
 *   an empty buffer
 * @offset: where in it, in bytes
 * @len: room there, in bytes, at most UINT32_MAX
 * @op_context: returned as wr_id of the completion; may be NULL
 *
 * Like rpma_recv(). The completion's qp_num tells whose message it was, see
 * rpma_conn_get_qp_num().
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @srq is NULL; @len is above UINT32_MAX; @dst is NULL but
 *     @offset or @len is not 0
 *   RPMA_E_PROVIDER - ibv_post_srq_recv(3) failed, usually because the queue
 *     is full
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_new(), rpma_srq_get_rcq(), rpma_conn_get_qp_num(),
 *   rpma_recv()
 */
int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset, size_t len,
		  const void *op_context);

/**
 * rpma_srq_get_rcq - ask for the completion queue of a shared receive queue
 * @srq: the shared receive queue
 * @rcq_ptr: where to store it, borrowed; lives as long as @srq; NULL if it
 *   was configured without one
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @srq or @rcq_ptr is NULL
 * Threads: safe.
 * Since: 1.0
 * See also: rpma_srq_cfg_set_rcq_size(), rpma_cq_wait(), rpma_cq_get_wc()
 */
int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr);

/* completions */

/**
 * rpma_cq_new - make a completion queue for several connections
 * @peer: whose device
 * @cfg: RPMA_CONN_OPT_CQ_SIZE, RPMA_CONN_OPT_COMP_VECTOR and RPMA_CONN_OPT_CQ_MODERATION_* are
 *   those of the queue, read during the call; NULL for the defaults of rpma_conn_cfg_new()
 * @cq_ptr: where to store the new queue
 *
 * Set it in the configuration of the connections, which may be the same one, with
 * rpma_conn_cfg_set_cq(), and wait for the completions of all at once. Make it large enough: each
 * connection takes RPMA_CONN_OPT_SQ_SIZE entries and, unless its receives complete elsewhere,
 * RPMA_CONN_OPT_RQ_SIZE more. RPMA_CONN_OPT_RQ_SIZE is 10 unless it is set: for connections that
 * receive nothing, set it to 0.
 *
 * A connection is deleted by the thread that fetches from the queue, or while none does. On
 * failure @cq_ptr is left alone.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @peer or @cq_ptr is NULL
 *   RPMA_E_NOSUPP - the device does not moderate completions
 *   RPMA_E_NOMEM - out of memory
 *   RPMA_E_PROVIDER - ibv_create_comp_channel(3), ibv_create_cq(3), ibv_modify_cq(3) or
 *     ibv_req_notify_cq(3) failed
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_cq_delete(), rpma_conn_cfg_set_cq(), rpma_cq_get_conn(), rpma_cq_get_wc()
 */
int rpma_cq_new(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg, struct rpma_cq **cq_ptr);

/**
 * rpma_cq_delete - delete a completion queue of rpma_cq_new()
 * @cq_ptr: the queue; set to NULL. A NULL queue is fine.
 *
 * Delete its connections first. With RPMA_E_PROVIDER the queue is gone all the same.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cq_ptr is NULL, the queue is that of a connection or a shared receive queue,
 *     or connections still use it; it is left alone then
 *   RPMA_E_PROVIDER - ibv_destroy_cq(3) or ibv_destroy_comp_channel(3) failed
 * Threads: safe on different queues.
 * Since: 1.4
 * See also: rpma_cq_new()
 */
int rpma_cq_delete(struct rpma_cq **cq_ptr);

/**
 * rpma_cq_get_conn - find the connection of a completion
 * @cq: a queue of rpma_cq_new()
 * @qp_num: that of the completion
 * @conn_ptr: where to store the connection, borrowed
 *
 * Other threads may make connections meanwhile. They delete one only while no thread fetches from
 * the queue or waits for it: best leave that to the thread that fetches. Completions of a
 * connection that was deleted are dropped, so each that was fetched has its connection.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cq or @conn_ptr is NULL, the queue is that of a connection or a shared
 *     receive queue, or no connection has this number
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_cq_new(), rpma_cq_get_wc(), rpma_conn_get_context()
 */
int rpma_cq_get_conn(const struct rpma_cq *cq, uint32_t qp_num, struct rpma_conn **conn_ptr);

/**
 * rpma_cq_get_fd - ask for the descriptor that completions arrive on
 * @cq: the completion queue
 * @fd: where to store the descriptor, borrowed: do not close it
 *
 * It becomes readable when rpma_cq_wait() has something to report. It blocks;
 * set O_NONBLOCK with fcntl(2) for use with poll(2) or epoll(7). With a shared
 * completion channel it is the descriptor of rpma_conn_get_compl_fd().
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cq or @fd is NULL
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_cq_wait(), rpma_conn_get_cq(), rpma_conn_get_rcq()
 */
int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd);

/**
 * rpma_cq_wait - wait for completions
 * @cq: the completion queue
 *
 * Waits until the queue has a completion event, unless the descriptor of rpma_cq_get_fd()
 * was made non-blocking, and arms the queue again. Then fetch with
 * rpma_cq_get_wc() until it returns RPMA_E_NO_COMPLETION; that may be its first
 * answer, because the event can be for a completion that was fetched before.
 * A program that polls with rpma_cq_get_wc() does not need this call. Which completions
 * it waits for can be chosen with rpma_cq_arm().
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cq is NULL
 *   RPMA_E_SHARED_CHANNEL - the completion channel is shared with another
 *     queue; use rpma_conn_wait()
 *   RPMA_E_NO_COMPLETION - nothing is waiting on a non-blocking descriptor, a
 *     signal interrupted the wait, or ibv_get_cq_event(3) failed
 *   RPMA_E_PROVIDER - ibv_req_notify_cq(3) failed
 * Threads: safe.
 * Since: 0.10
 * See also: rpma_cq_get_wc(), rpma_cq_get_fd(), rpma_conn_wait()
 */
int rpma_cq_wait(struct rpma_cq *cq);

/**
 * rpma_cq_get_wc - fetch completions without waiting
 * @cq: the completion queue
 * @num_entries: how many @wc has room for, 1 or more
 * @wc: where to store them
 * @num_entries_got: where to store how many came; may be NULL if
 *   @num_entries is 1
 *
 * wr_id of each is the op_context of its operation. Look at status first: if
 * it is not IBV_WC_SUCCESS only wr_id, qp_num and vendor_err are valid beside
 * it, and the connection is broken.
 *
 * If the library counts slots (RPMA_CONN_OPT_SIGNAL_EVERY), this call also takes the completions
 * that the library asked for itself, and does not return them. So when an operation failed with
 * RPMA_E_AGAIN, fetch until RPMA_E_NO_COMPLETION and try it again: there may be room even though
 * no completion came.
 *
 * Return: 0 with at least one completion, or
 *   RPMA_E_INVAL - @cq or @wc is NULL; @num_entries is below 1; @num_entries
 *     is above 1 and @num_entries_got NULL
 *   RPMA_E_NO_COMPLETION - the queue is empty
 *   RPMA_E_PROVIDER - ibv_poll_cq(3) failed
 *   RPMA_E_UNKNOWN - ibv_poll_cq(3) returned more than it was asked for
 * Threads: safe; on a queue of a connection with RPMA_CONN_OPT_SIGNAL_EVERY one at a time.
 * Since: 0.11
 * See also: rpma_cq_wait(), rpma_conn_wait(), rpma_conn_get_cq(),
 *   rpma_conn_get_rcq(), rpma_srq_get_rcq()
 */
int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got);

/**
 * rpma_cq_await_wc - fetch completions, waiting for the first for a while
 * @cq: the completion queue
 * @num_entries: how many @wc has room for, 1 or more
 * @wc: where to store them
 * @num_entries_got: where to store how many came; may be NULL if
 *   @num_entries is 1
 * @spin_us: how long to poll before the thread sleeps, in microseconds
 * @timeout_ms: how long to wait in all, in milliseconds; negative: without end
 *
 * Polls for @spin_us. Then the queue is armed, polled once more, and the thread sleeps
 * until there is an event: so an event is asked for only by who is about to sleep. After
 * rpma_cq_arm() for solicited completions only, the others do not end the sleep. A signal
 * does not end the wait.
 *
 * Nor do completions that the library asked for itself (RPMA_CONN_OPT_SIGNAL_EVERY), unless an
 * operation was refused with RPMA_E_AGAIN: then the wait ends with that code as soon as there is
 * room again, and the program tries once more. So a loop of both cannot hang:
 *
 *	while ((ret = rpma_write(conn, ...)) == RPMA_E_AGAIN) {
 *		ret = rpma_cq_await_wc(cq, 1, &wc, NULL, 20, 1000);
 *		if (ret == 0)
 *			use(&wc);
 *		else if (ret != RPMA_E_AGAIN)
 *			break;
 *	}
 *
 * A wait without end that only a failure could end is refused: where the library counts slots,
 * this thread started the last operation, none under way leaves a completion that the program
 * asked for, and no receive is posted.
 *
 * Return: 0 with at least one completion, or
 *   RPMA_E_INVAL - as for rpma_cq_get_wc(); or @timeout_ms is negative and no completion can come
 *   RPMA_E_AGAIN - the send queue was full and has room again; of a queue of rpma_cq_new(), the
 *     send queue of one of its connections
 *   RPMA_E_SHARED_CHANNEL - the completion channel is shared with another
 *     queue; use rpma_conn_wait()
 *   RPMA_E_TIMEOUT - none came within @timeout_ms
 *   RPMA_E_PROVIDER - ibv_poll_cq(3), ibv_req_notify_cq(3), ibv_get_cq_event(3) or
 *     poll(2) failed
 *   RPMA_E_UNKNOWN - ibv_poll_cq(3) returned more than it was asked for
 * Threads: safe on different queues.
 * Since: 1.4
 * See also: rpma_cq_get_wc(), rpma_cq_wait(), rpma_wait()
 */
int rpma_cq_await_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got,
		     unsigned spin_us, int timeout_ms);

/**
 * rpma_cq_arm - ask for an event, and choose at which completions
 * @cq: the completion queue
 * @solicited_only: only at a receive of a message or write that was sent with
 *   RPMA_F_SOLICITED, and at a failure
 *
 * The next completion makes the descriptor of rpma_cq_get_fd() readable. A completion
 * that is there already may not: fetch after this call, and sleep only then. A
 * queue is armed for any completion when it is made.
 *
 * The choice lasts: rpma_cq_wait(), rpma_cq_await_wc(), rpma_conn_wait() and rpma_wait() arm
 * the queue again for the same completions. A queue that is armed for any completion stays
 * so until its next event, so the first event after this call may be for one that is not
 * solicited.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cq is NULL
 *   RPMA_E_PROVIDER - ibv_req_notify_cq(3) failed
 * Threads: safe.
 * Since: 1.4
 * See also: rpma_cq_wait(), rpma_cq_await_wc(), rpma_cq_get_fd()
 */
int rpma_cq_arm(struct rpma_cq *cq, bool solicited_only);

/**
 * struct rpma_wait_item - what rpma_wait() waits for: one of the first five
 * @cq: a completion queue with a channel of its own, or NULL
 * @conn: a connection, for its events, or NULL
 * @ep: an endpoint, for requests, or NULL
 * @peer: a peer, for asynchronous events of its device, or NULL
 * @pollfd: a descriptor of the program, as poll(2) takes it, or NULL; its revents is stored
 * @context: the program's, to know the item by; left alone
 * @ready: stored: there is something to fetch
 */
struct pollfd;
struct rpma_wait_item {
	struct rpma_cq *cq;
	struct rpma_conn *conn;
	struct rpma_ep *ep;
	struct rpma_peer *peer;
	struct pollfd *pollfd;
	void *context;
	bool ready;
};

/** RPMA_WAIT_ITEMS_MAX - the most that rpma_wait() takes */
#define RPMA_WAIT_ITEMS_MAX 1024

/**
 * rpma_wait - wait for any of many queues, connections, endpoints and descriptors
 * @items: what to wait for; ready is stored in each
 * @count: how many there are, 1 to RPMA_WAIT_ITEMS_MAX
 * @timeout_ms: how long, in milliseconds; negative: without end
 * @num_ready: where to store how many are ready; may be NULL
 *
 * For a queue, its event is taken and it is armed again, as by rpma_cq_wait(): fetch with
 * rpma_cq_get_wc() until it is empty. Completions that the library asked for itself
 * (RPMA_CONN_OPT_SIGNAL_EVERY) wake it as well: fetch, then try again what was RPMA_E_AGAIN. For
 * connections and endpoints call rpma_conn_next_event() or rpma_ep_next_conn_req(), with O_NONBLOCK
 * set on their descriptors: they may find RPMA_E_NO_EVENT all the same, and would wait otherwise.
 * For a peer call rpma_peer_next_async_event(). A signal does not end the wait.
 *
 * Return: 0 with at least one item ready, or
 *   RPMA_E_INVAL - @items is NULL, @count is 0 or too large, or an item has none or
 *     several of the five
 *   RPMA_E_SHARED_CHANNEL - a queue shares its completion channel
 *   RPMA_E_TIMEOUT - none became ready within @timeout_ms
 *   RPMA_E_PROVIDER - poll(2), ibv_get_cq_event(3) or ibv_req_notify_cq(3) failed
 * Threads: safe on different items.
 * Since: 1.4
 * See also: rpma_cq_await_wc(), rpma_conn_next_event(), rpma_ep_next_conn_req(),
 *   rpma_peer_next_async_event()
 */
int rpma_wait(struct rpma_wait_item *items, size_t count, int timeout_ms, size_t *num_ready);

/* errors and logging */

/** RPMA_VERSION_MAJOR - the version of the library whose header this is */
#define RPMA_VERSION_MAJOR 1
/** RPMA_VERSION_MINOR - the same, of its features */
#define RPMA_VERSION_MINOR 4

/**
 * rpma_err_2str - explain an error
 * @ret: what a librpma call returned
 *
 * Return: a constant string, for unknown values that of RPMA_E_UNKNOWN; never
 *   NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_err_text(), rpma_utils_conn_event_2str(), rpma_log_set_function()
 */
const char *rpma_err_2str(int ret);

/**
 * rpma_err_text - explain the last failure of this thread
 *
 * A sentence with the values in it. For RPMA_E_INVAL it has the call, the argument, and what
 * is expected of it: "rpma_conn_cfg_set_timeout(): timeout_ms is -5, expected 0 or
 * more". For RPMA_E_PROVIDER it has the call below, its object and the text of its errno:
 * "rdma_listen(192.0.2.1:7204, backlog=0): Address already in use". Such lines are in the
 * log too.
 *
 * A call that fails stores it. A call that succeeds leaves it alone, unless it had to try
 * another address of rpma_conn_connect(), as do
 * RPMA_E_NO_COMPLETION and RPMA_E_NO_EVENT: nothing is there yet, and a program that polls
 * need not pay for a sentence.
 * rpma_conn_next_event() stores it also with RPMA_CONN_REJECTED, RPMA_CONN_UNREACHABLE and
 * RPMA_CONN_LOST.
 *
 * Return: the sentence, up to 1023 bytes and without a newline, until the next failure of
 *   this thread; "" if there was none yet; never NULL
 * Threads: safe; each thread has its own.
 * Since: 1.4
 * See also: rpma_err_errno(), rpma_err_2str(), rpma_log_set_function()
 */
const char *rpma_err_text(void);

/**
 * rpma_err_errno - get the errno of what failed below the last failure of this thread
 *
 * For programs that decide by it: ENOMEM of a call that posts is a full queue,
 * EADDRINUSE of rpma_ep_listen() a port that is taken. It belongs to the sentence of
 * rpma_err_text(). errno itself has no meaning after a call of librpma.
 *
 * Return: the errno of the call of libibverbs, librdmacm or the system; 0 if none of them failed,
 *   or it gave no reason
 * Threads: safe; each thread has its own.
 * Since: 1.4
 * See also: rpma_err_text()
 */
int rpma_err_errno(void);

/**
 * rpma_log_set_function - choose who receives the messages of the library
 * @log_function: the function, called for every message that passes
 *   RPMA_LOG_THRESHOLD; RPMA_LOG_USE_DEFAULT_FUNCTION restores the default
 *
 * The default function sends messages to syslog(3), facility LOG_LOCAL7,
 * under the identity the program gave to openlog(3) or its name; those that
 * also pass RPMA_LOG_THRESHOLD_AUX it prints on standard error. Messages are
 * cut at 1023 bytes. A function of the program gets everything that passes
 * the first threshold, regardless of the second. The thresholds stay as they
 * are.
 *
 * Return: 0; it cannot fail
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_log_set_threshold(), rpma_log_get_threshold(), rpma_err_2str()
 */
int rpma_log_set_function(rpma_log_function *log_function);

/**
 * rpma_log_set_threshold - set the lowest severity that is logged
 * @threshold: which of the two, RPMA_LOG_THRESHOLD or RPMA_LOG_THRESHOLD_AUX
 * @level: the least severe level that passes; RPMA_LOG_DISABLED for none
 *
 * At the start they are RPMA_LOG_LEVEL_WARNING and RPMA_LOG_DISABLED: faults
 * go to the system log and nothing to standard error. A second threshold
 * looser than the first has no effect. No environment variable changes them.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @threshold is none of the two, or @level is no level
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_log_get_threshold(), rpma_log_set_function()
 */
int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level);

/**
 * rpma_log_get_threshold - read the lowest severity that is logged
 * @threshold: which of the two, RPMA_LOG_THRESHOLD or RPMA_LOG_THRESHOLD_AUX
 * @level: where to store the level
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @threshold is none of the two, or @level is NULL
 * Threads: safe.
 * Since: 0.9
 * See also: rpma_log_set_threshold()
 */
int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level);

#ifdef __cplusplus
}
#endif

#endif /* LIBRPMA_H */
