/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush.h -- where the read of a flush puts bytes that are then ignored.
 */
#ifndef RPMA_FLUSH_H
#define RPMA_FLUSH_H

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

#endif /* RPMA_FLUSH_H */
