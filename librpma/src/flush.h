/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush.h -- where the read of a flush puts bytes that are then ignored, and what a flush
 * checks before anything is posted.
 */
#pragma once

#include "err.h"
#include "mr.h"

struct rpma_flush_sink {
	void *page;	   /* NULL: none */
	size_t page_bytes; /* size of page; RPMA_FLUSH_READ_BYTES are used */
	struct ibv_mr *mr;
};

/*
 * A read of any byte of the region will do: its response leaves the target
 * only after all earlier writes of the queue pair were placed (IBTA 1.x,
 * 9.5 "transaction ordering"). Eight, as librpma has always read.
 */
enum { RPMA_FLUSH_READ_BYTES = 8 };

/* RPMA_E_NOMEM or RPMA_E_PROVIDER. */
int rpma_flush_sink_open(struct rpma_flush_sink *sink, const struct rpma_peer *peer);

/* Takes one that was never opened. RPMA_E_PROVIDER or RPMA_E_INVAL, and closed all the same. */
int rpma_flush_sink_close(struct rpma_flush_sink *sink);

/* Puts into the log what rpma_flush_range_check() found. conn and dst may be NULL. */
RPMA_COLD int rpma_flush_range_refused(const struct rpma_conn *conn,
				       const struct rpma_mr_remote *dst, size_t dst_offset,
				       size_t len, enum rpma_flush_type type, const char *function);

/* The arguments that a flush needs besides flags: 0 or RPMA_E_INVAL. */
static __always_inline int rpma_flush_range_check(const struct rpma_conn *conn,
						  const struct rpma_mr_remote *dst,
						  size_t dst_offset, size_t len,
						  enum rpma_flush_type type, const char *function)
{
	if (conn != NULL && dst != NULL && dst_offset <= dst->size &&
	    len <= dst->size - dst_offset &&
	    (type == RPMA_FLUSH_TYPE_VISIBILITY || type == RPMA_FLUSH_TYPE_PERSISTENT))
		return 0;
	(void)rpma_flush_range_refused(conn, dst, dst_offset, len, type, function);
	return RPMA_E_INVAL; /* a constant: nothing is kept for what would follow */
}

/* RPMA_E_NOSUPP: the region may not be flushed so over this connection. */
int rpma_flush_check(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
		     enum rpma_flush_type type, int flags);
