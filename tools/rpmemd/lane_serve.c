/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_serve.c -- checks the range, copies, makes durable. */
#include "lane_serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 4096
#define WORD	     8

static enum persist_status status_of(int ret)
{
	if (ret == 0)
		return PERSIST_DONE;
	return ret == -EINVAL ? PERSIST_OUTSIDE : PERSIST_FAILED;
}

static bool within(const struct pool *pool, uint64_t offset, uint64_t length)
{
	const uint64_t size = pool_size(pool);

	return length > 0 && offset < size && length <= size - offset;
}

/* --- copying ------------------------------------------------------------- */

/* NOLINTNEXTLINE(readability-non-const-parameter): it is stored to */
static void copy_bytes(unsigned char *to, const uint8_t *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

/* Each aligned word by one store: a power failure leaves the old one or the new one. */
static void copy_words(unsigned char *to, const uint8_t *from, size_t len)
{
	size_t head = -(uintptr_t)to % WORD;

	if (head > len)
		head = len;
	copy_bytes(to, from, head);
	for (; len - head >= WORD; head += WORD) {
		uint64_t word;

		memcpy(&word, from + head, WORD);
		__atomic_store_n((uint64_t *)(void *)(to + head), word, __ATOMIC_RELAXED);
	}
	copy_bytes(to + head, from + head, len - head);
}

static enum persist_status copy(const struct pool *pool, const struct lane_request *request,
				const uint8_t *data)
{
	if (!within(pool, request->offset, request->length) ||
	    (pool_has_headers(pool) && request->offset < HEADER_BYTES))
		return PERSIST_OUTSIDE;
	copy_words(pool_memory(pool) + request->offset, data, request->length);
	return PERSIST_DONE;
}

/* --- making durable -------------------------------------------------------- */

/*
 * msync(2) leaves out pages of the page cache that no store of a CPU has made dirty
 * since they were written to the disk.
 */
static void make_dirty(const struct pool *pool, uint64_t offset, uint64_t length)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)pool_memory(pool) + offset;
	const uintptr_t end = at + length;

	for (; at < end; at = (at / page + 1) * page)
		__atomic_fetch_or((unsigned char *)at, 0, __ATOMIC_RELAXED); /* NOLINT */
}

static enum persist_status persist_piece(const struct pool *pool, enum lane_op op,
					 const struct lane_range *range, enum lane_writer writer)
{
	if (writer == LANE_BY_DEVICE && target_is_cached(pool_kind(pool)))
		make_dirty(pool, range->offset, range->length);
	return status_of(op == LANE_DEEP ? pool_deep_persist(pool, range->offset, range->length)
					 : pool_persist(pool, range->offset, range->length));
}

static enum persist_status persist(const struct pool *pool, enum lane_op op,
				   const struct lane_range *range, enum lane_writer writer,
				   const atomic_bool *ends)
{
	enum persist_status status = PERSIST_DONE;
	struct lane_range piece = *range;

	if (!within(pool, range->offset, range->length))
		return PERSIST_OUTSIDE;
	for (uint64_t left = range->length; status == PERSIST_DONE && left > 0;
	     left -= piece.length, piece.offset += piece.length) {
		piece.length = left < LANE_PIECE_BYTES ? left : LANE_PIECE_BYTES;
		status = atomic_load_explicit(ends, memory_order_relaxed)
				 ? PERSIST_FAILED
				 : persist_piece(pool, op, &piece, writer);
	}
	return status;
}

/* All of them, whatever becomes of one; the first failure is the status. */
static enum persist_status persist_ranges(const struct pool *pool,
					  const struct lane_request *request, const uint8_t *data,
					  enum lane_writer writer, const atomic_bool *ends)
{
	enum persist_status first = PERSIST_DONE;

	for (uint64_t at = 0; at < request->length; at += LANE_RANGE_BYTES) {
		const struct lane_range range = lane_decode_range(data + at);
		enum persist_status status = persist(pool, LANE_PERSIST, &range, writer, ends);

		first = first == PERSIST_DONE ? status : first;
	}
	return first;
}

/* --- requests ---------------------------------------------------------------- */

uint64_t lane_serve_data_bytes(const struct lane_request *request)
{
	switch (request->op) {
	case LANE_PERSIST_DATA:
	case LANE_WRITE:
	case LANE_PERSIST_RANGES:
		return request->length;
	default:
		return 0;
	}
}

enum persist_status lane_serve(const struct pool *pool, const struct lane_request *request,
			       const uint8_t *data, enum lane_writer writer,
			       const atomic_bool *ends)
{
	const struct lane_range range = {request->offset, request->length};
	enum persist_status status;

	switch (request->op) {
	case LANE_PERSIST_DATA:
		status = copy(pool, request, data);
		return status == PERSIST_DONE
			       ? persist(pool, LANE_PERSIST, &range, LANE_BY_CPU, ends)
			       : status;
	case LANE_WRITE:
		return copy(pool, request, data);
	case LANE_PERSIST_RANGES:
		return persist_ranges(pool, request, data, writer, ends);
	case LANE_READ:
		return within(pool, range.offset, range.length) ? PERSIST_DONE : PERSIST_OUTSIDE;
	default:
		return persist(pool, request->op, &range, writer, ends);
	}
}

int lane_serve_message(const struct pool *pool, const uint8_t *message, size_t len,
		       const atomic_bool *ends, uint8_t answer[LANE_ANSWER_BYTES])
{
	const uint8_t *data = message + LANE_REQUEST_BYTES;
	struct lane_request request;
	struct lane_answer done;

	if (len < LANE_REQUEST_BYTES || lane_decode_request(message, &request) != 0 ||
	    request.op == LANE_READ || len - LANE_REQUEST_BYTES != lane_serve_data_bytes(&request))
		return -EPROTO;
	done.slot = request.slot;
	done.status = lane_serve(pool, &request, data, LANE_BY_DEVICE, ends);
	lane_encode_answer(&done, answer);
	return 0;
}
