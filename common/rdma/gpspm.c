/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpspm.c -- durable ranges, and the codec of the requests for them.
 *
 * request: slot 4 | zero 4 | offset 8 | length 8
 * answer:  slot 4 | status 4; all little-endian
 */
#include "gpspm.h"

#include <errno.h>

#ifdef RPMA_HAVE_LIBPMEM
#include <libpmem.h>
#endif

#include "common/base/bytes.h"
#include "common/base/failure.h"
#include "common/host/file_sync.h"

#ifdef RPMA_HAVE_LIBPMEM
/* The CPU's own flush instructions, or none where its caches are in the power-fail domain. */
static void flush_caches(const void *at, size_t len)
{
	pmem_persist(at, len);
}
#define DAX_METHOD PERSIST_LIBPMEM
#else
static void flush_caches(const void *at, size_t len)
{
	(void)at, (void)len;
}
#define DAX_METHOD PERSIST_MSYNC
#endif

int persist_open(struct persist *persist, const struct target *target)
{
	static const enum persist_method methods[TARGET_KINDS] = {
		[TARGET_DRAM] = PERSIST_NOTHING,    [TARGET_HUGEPAGES] = PERSIST_NOTHING,
		[TARGET_FILE] = PERSIST_MSYNC,	    [TARGET_FSDAX] = DAX_METHOD,
		[TARGET_DEVDAX] = DAX_METHOD,	    [TARGET_MEMFILE] = PERSIST_NOTHING,
		[TARGET_OTHERFILE] = PERSIST_MSYNC,
	};

	*persist = (struct persist){
		.method = methods[target->kind],
		.memory = target->memory,
		.bytes = target->size_bytes,
		.sync = target->sync,
	};
	if (target->kind == TARGET_DEVDAX && persist->method == PERSIST_MSYNC)
		return failure_set(EXIT_RUN_FAILED, "persist",
				   "this build has no libpmem, and nothing else makes device DAX "
				   "such as %s durable",
				   target->path);
	return 0;
}

const char *persist_method_name(enum persist_method method)
{
	static const char *const names[PERSIST_METHODS] = {"nothing", "msync", "libpmem"};

	return names[method];
}

bool persist_is_durable(enum persist_method method, enum target_kind kind)
{
	return method != PERSIST_NOTHING && kind != TARGET_OTHERFILE;
}

enum persist_status persist_range(const struct persist *persist, uint64_t offset, uint64_t length)
{
	int ret;

	if (length == 0 || offset >= persist->bytes || length > persist->bytes - offset)
		return PERSIST_OUTSIDE;
	switch (persist->method) {
	case PERSIST_LIBPMEM:
		flush_caches(persist->memory + offset, length);
		return PERSIST_DONE;
	case PERSIST_MSYNC:
		ret = file_sync_range(persist->sync, persist->memory + offset, length);
		errno = -ret;
		return ret == 0 ? PERSIST_DONE : PERSIST_FAILED;
	default:
		return PERSIST_DONE;
	}
}

void persist_encode_request(const struct persist_request *request,
			    uint8_t bytes[PERSIST_REQUEST_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, PERSIST_REQUEST_BYTES);

	bytes_put_int(&w, request->slot, 4);
	bytes_put_int(&w, 0, 4);
	bytes_put_int(&w, request->offset, 8);
	bytes_put_int(&w, request->length, 8);
}

int persist_decode_request(const uint8_t *bytes, size_t len, struct persist_request *request)
{
	struct bytes_reader r = {bytes, len, false};

	request->slot = (uint32_t)bytes_get_int(&r, 4);
	bytes_get_int(&r, 4);
	request->offset = bytes_get_int(&r, 8);
	request->length = bytes_get_int(&r, 8);
	return r.bad || r.left > 0 ? -EPROTO : 0;
}

void persist_encode_answer(const struct persist_answer *answer, uint8_t bytes[PERSIST_ANSWER_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, PERSIST_ANSWER_BYTES);

	bytes_put_int(&w, answer->slot, 4);
	bytes_put_int(&w, answer->status, 4);
}

int persist_decode_answer(const uint8_t *bytes, size_t len, struct persist_answer *answer)
{
	struct bytes_reader r = {bytes, len, false};
	uint64_t status;

	answer->slot = (uint32_t)bytes_get_int(&r, 4);
	status = bytes_get_int(&r, 4);
	if (r.bad || r.left > 0 || status >= PERSIST_STATUSES)
		return -EPROTO;
	answer->status = (enum persist_status)status;
	return 0;
}
