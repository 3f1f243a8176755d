/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_serve.c -- checks the range, copies, makes durable.
 */
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

static bool within(const struct pool *pool, const struct lane_request *request)
{
	const uint64_t size = pool_size(pool);

	return request->length > 0 && request->offset < size &&
	       request->length <= size - request->offset;
}

static bool may_write(const struct pool *pool, const struct lane_request *request)
{
	return within(pool, request) &&
	       (request->offset >= HEADER_BYTES || !pool_has_headers(pool));
}

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

enum persist_status lane_serve(const struct pool *pool, const struct lane_request *request,
			       const uint8_t *data)
{
	unsigned char *memory = pool_memory(pool);

	switch (request->op) {
	case LANE_PERSIST:
		if (!within(pool, request))
			return PERSIST_OUTSIDE;
		return status_of(pool_persist(pool, request->offset, request->length));
	case LANE_PERSIST_DATA:
		if (!may_write(pool, request))
			return PERSIST_OUTSIDE;
		copy_words(memory + request->offset, data, request->length);
		return status_of(pool_persist(pool, request->offset, request->length));
	case LANE_DEEP:
		if (!within(pool, request))
			return PERSIST_OUTSIDE;
		return status_of(pool_deep_persist(pool, request->offset, request->length));
	case LANE_WRITE:
		if (!may_write(pool, request))
			return PERSIST_OUTSIDE;
		copy_words(memory + request->offset, data, request->length);
		return PERSIST_DONE;
	default:
		return within(pool, request) ? PERSIST_DONE : PERSIST_OUTSIDE;
	}
}

static bool has_data(enum lane_op op)
{
	return op == LANE_PERSIST_DATA || op == LANE_WRITE;
}

/*
 * A device writes to the page cache behind the kernel's back, and msync(2) leaves pages
 * out that no store of a CPU has made dirty since they were written to the disk.
 */
static void make_dirty(const struct pool *pool, const struct lane_request *request)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at, end;

	if (has_data(request->op) || !within(pool, request) || !target_is_cached(pool_kind(pool)))
		return;
	at = (uintptr_t)pool_memory(pool) + request->offset;
	end = at + request->length;
	for (; at < end; at = (at / page + 1) * page)
		__atomic_fetch_or((unsigned char *)at, 0, __ATOMIC_RELAXED); /* NOLINT */
}

int lane_serve_message(const struct pool *pool, const uint8_t *message, size_t len,
		       uint8_t answer[LANE_ANSWER_BYTES])
{
	struct lane_request request;
	struct lane_answer done;
	size_t data;

	if (len < LANE_REQUEST_BYTES || lane_decode_request(message, &request) != 0 ||
	    request.op == LANE_READ)
		return -EPROTO;
	data = has_data(request.op) ? request.length : 0;
	if (len - LANE_REQUEST_BYTES != data)
		return -EPROTO;
	make_dirty(pool, &request);
	done.slot = request.slot;
	done.status = lane_serve(pool, &request, message + LANE_REQUEST_BYTES);
	lane_encode_answer(&done, answer);
	return 0;
}
