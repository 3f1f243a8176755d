/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_serve.h -- one request of a lane, performed on the pool.
 *
 * Both transports call it. A request is hostile until its range was checked, and
 * nothing is done of one that is not within the pool. Any thread.
 */
#pragma once

#include <stdatomic.h>

#include "librpmem/wire/lane_message.h"
#include "pool.h"

/* The most that is made durable at once: a session that ends waits for no more. */
#define LANE_PIECE_BYTES ((uint64_t)64 << 20)

/* The writer of the data: the page cache does not notice what a device writes. */
enum lane_writer { LANE_BY_CPU, LANE_BY_DEVICE };

/*
 * `data` is that of the request. What is copied must leave the pool's header alone.
 * LANE_READ is checked only: PERSIST_DONE, the caller may send the range. Once `ends` is
 * true nothing more is made durable, with PERSIST_FAILED: the session ends.
 */
enum persist_status lane_serve(const struct pool *pool, const struct lane_request *request,
			       const uint8_t *data, enum lane_writer writer,
			       const atomic_bool *ends);
/* The bytes of data that follow the request. */
uint64_t lane_serve_data_bytes(const struct lane_request *request);

/*
 * A message that came by RDMA: its answer is encoded. -EPROTO: no client of ours sends
 * this; there is no answer.
 */
int lane_serve_message(const struct pool *pool, const uint8_t *message, size_t len,
		       const atomic_bool *ends, uint8_t answer[LANE_ANSWER_BYTES]);
