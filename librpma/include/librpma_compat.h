/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma_compat.h -- the calls of old manuals on top of librpma.h.
 *
 * Programs written to the manual "0.0" or to librpma 0.9 to 0.13 include this
 * in place of librpma.h and compile again. All is inline: nothing is added to
 * the library. New programs use the calls named on the right:
 *
 *	rpma_conn_prepare_completions()	0.0	   rpma_cq_wait()
 *	rpma_conn_next_completion()	0.0	   rpma_cq_get_wc()
 *	rpma_conn_get_completion_fd()	0.0-0.10   rpma_cq_get_fd()
 *	rpma_conn_completion_wait()	0.9-0.10   rpma_cq_wait()
 *	rpma_conn_completion_get()	0.9-0.10   rpma_cq_get_wc()
 *	rpma_cq_get_completion()	0.10-0.11  rpma_cq_get_wc()
 *	rpma_write_atomic()		0.0-0.13   rpma_atomic_write()
 *
 * Calls that kept their names behave as librpma.h documents. What an old program
 * may notice: rpma_conn_req_connect() consumes the request when it fails too,
 * rpma_conn_next_event() knows RPMA_CONN_REJECTED and RPMA_CONN_UNREACHABLE,
 * and a region's descriptor has 22 bytes once the program is rebuilt, so ask
 * for its size.
 */
#ifndef LIBRPMA_COMPAT_H
#define LIBRPMA_COMPAT_H 1

#include <arpa/inet.h>
#include <librpma.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The operation that completed. A flush is RPMA_OP_READ, as it always was: the device may do
 * it by reading, and the completion does not tell.
 */
enum rpma_op {
	RPMA_OP_READ,
	RPMA_OP_WRITE,
	RPMA_OP_FLUSH,
	RPMA_OP_SEND,
	RPMA_OP_RECV,
	RPMA_OP_RECV_RDMA_WITH_IMM
};

/* flags and imm came with 0.10. */
struct rpma_completion {
	void *op_context;	      /* the op_context of the operation */
	enum rpma_op op;	      /* which it was */
	uint32_t byte_len;	      /* bytes received */
	enum ibv_wc_status op_status; /* if not IBV_WC_SUCCESS, only op_context is valid too */
	unsigned flags;		      /* IBV_WC_WITH_IMM: imm is valid */
	uint32_t imm;		      /* immediate data, in host byte order */
};

/*
 * rpma_compat_op - an opcode as enum rpma_op; for the functions below
 *
 * Return: 0, or
 *   RPMA_E_NOSUPP - the opcode is none of librpma's
 */
static inline int rpma_compat_op(enum ibv_wc_opcode opcode, enum rpma_op *op)
{
	switch ((int)opcode) {
	case IBV_WC_RDMA_READ:
	case 8: /* IBV_WC_FLUSH, which libibverbs before 45 has no name for */
		*op = RPMA_OP_READ;
		return 0;
	case IBV_WC_RDMA_WRITE:
	case 9: /* IBV_WC_ATOMIC_WRITE, the same before 44 */
		*op = RPMA_OP_WRITE;
		return 0;
	case IBV_WC_SEND:
		*op = RPMA_OP_SEND;
		return 0;
	case IBV_WC_RECV:
		*op = RPMA_OP_RECV;
		return 0;
	case IBV_WC_RECV_RDMA_WITH_IMM:
		*op = RPMA_OP_RECV_RDMA_WITH_IMM;
		return 0;
	default:
		return RPMA_E_NOSUPP;
	}
}

/*
 * rpma_cq_get_completion - fetch a completion
 * @cq: the completion queue
 * @cmpl: where to store it
 *
 * A failed operation is a success of this call: look at op_status.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @cq or @cmpl is NULL
 *   RPMA_E_NO_COMPLETION - the queue is empty
 *   RPMA_E_PROVIDER - ibv_poll_cq(3) failed
 *   RPMA_E_UNKNOWN - ibv_poll_cq(3) returned more than it was asked for
 *   RPMA_E_NOSUPP - the opcode is none of librpma's; the completion is consumed
 * Threads: safe.
 * Since: 0.10, until 0.11; now rpma_cq_get_wc()
 */
static inline int rpma_cq_get_completion(struct rpma_cq *cq, struct rpma_completion *cmpl)
{
	struct ibv_wc wc;
	enum rpma_op op;
	int ret;

	if (cmpl == NULL)
		return RPMA_E_INVAL;
	ret = rpma_cq_get_wc(cq, 1, &wc, NULL);
	if (ret)
		return ret;

	if (wc.status == IBV_WC_SUCCESS) {
		ret = rpma_compat_op(wc.opcode, &op);
		if (ret)
			return ret;
		cmpl->op = op;
		cmpl->byte_len = wc.byte_len;
		cmpl->flags = (unsigned)wc.wc_flags;
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			cmpl->imm = ntohl(wc.imm_data);
	}
	cmpl->op_context = (void *)(uintptr_t)wc.wr_id;
	cmpl->op_status = wc.status;
	return 0;
}

/*
 * rpma_conn_completion_wait - wait until a connection may have completions
 * @conn: the connection
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn is NULL
 *   RPMA_E_NO_COMPLETION - nothing is waiting on a non-blocking descriptor, a
 *     signal interrupted the wait, or ibv_get_cq_event(3) failed
 *   RPMA_E_SHARED_CHANNEL - the connection shares its completion channel, which
 *     no program of that time asked for
 *   RPMA_E_PROVIDER - ibv_req_notify_cq(3) failed
 * Threads: safe.
 * Since: 0.9, until 0.10; now rpma_cq_wait()
 */
static inline int rpma_conn_completion_wait(struct rpma_conn *conn)
{
	struct rpma_cq *cq;
	int ret = rpma_conn_get_cq(conn, &cq);

	return ret ? ret : rpma_cq_wait(cq);
}

/*
 * rpma_conn_completion_get - fetch a completion of a connection
 * @conn: the connection
 * @cmpl: where to store it
 *
 * Return: as rpma_cq_get_completion(), with @conn for @cq
 * Threads: safe.
 * Since: 0.9, until 0.10; now rpma_cq_get_wc()
 */
static inline int rpma_conn_completion_get(struct rpma_conn *conn, struct rpma_completion *cmpl)
{
	struct rpma_cq *cq;
	int ret = rpma_conn_get_cq(conn, &cq);

	return ret ? ret : rpma_cq_get_completion(cq, cmpl);
}

/*
 * rpma_conn_get_completion_fd - ask for the descriptor completions arrive on
 * @conn: the connection
 * @fd: where to store the descriptor, borrowed: do not close it
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn or @fd is NULL
 * Threads: safe.
 * Since: 0.0, until 0.10; now rpma_cq_get_fd()
 */
static inline int rpma_conn_get_completion_fd(const struct rpma_conn *conn, int *fd)
{
	struct rpma_cq *cq;
	int ret = rpma_conn_get_cq(conn, &cq);

	return ret ? ret : rpma_cq_get_fd(cq, fd);
}

/*
 * rpma_conn_prepare_completions - rpma_conn_completion_wait() in manual 0.0
 */
static inline int rpma_conn_prepare_completions(struct rpma_conn *conn)
{
	return rpma_conn_completion_wait(conn);
}

/*
 * rpma_conn_next_completion - rpma_conn_completion_get() in manual 0.0
 */
static inline int rpma_conn_next_completion(struct rpma_conn *conn, struct rpma_completion *cmpl)
{
	return rpma_conn_completion_get(conn, cmpl);
}

/*
 * rpma_write_atomic - start writing 8 bytes that arrive all or not at all
 * @conn: the connection
 * @dst: region of the peer, registered with RPMA_MR_USAGE_WRITE_DST
 * @dst_offset: where in @dst; a multiple of RPMA_ATOMIC_WRITE_ALIGNMENT
 * @src: region that has the bytes
 * @src_offset: where in @src
 * @flags: RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @op_context: returned in the completion; may be NULL
 *
 * The bytes are read during the call; before, the device read them later.
 *
 * Return: 0, or
 *   RPMA_E_INVAL - @conn, @dst or @src is NULL; @flags is 0; @dst_offset is
 *     not a multiple of 8; the 8 bytes are not inside @src
 *   RPMA_E_PROVIDER - ibv_post_send(3) failed
 * Threads: safe.
 * Since: 0.0, until 0.13; now rpma_atomic_write()
 */
static inline int rpma_write_atomic(struct rpma_conn *conn, struct rpma_mr_remote *dst,
				    size_t dst_offset, const struct rpma_mr_local *src,
				    size_t src_offset, int flags, const void *op_context)
{
	char bytes[RPMA_ATOMIC_WRITE_ALIGNMENT];
	size_t size;
	void *ptr;

	if (rpma_mr_get_ptr(src, &ptr) || rpma_mr_get_size(src, &size))
		return RPMA_E_INVAL;
	if (src_offset > size || size - src_offset < sizeof(bytes))
		return RPMA_E_INVAL;

	memcpy(bytes, (const char *)ptr + src_offset, sizeof(bytes));
	return rpma_atomic_write(conn, dst, dst_offset, bytes, flags, op_context);
}

#ifdef __cplusplus
}
#endif

#endif /* LIBRPMA_COMPAT_H */
