/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpspm.h -- makes a range of a target durable on the target's own host, and
 * the messages by which a peer asks for that (the general purpose method).
 *
 * A request names a range; the answer carries its slot back, with a status.
 * rpma-bench, the fio engine and rpmemd speak it alike. Requests are hostile
 * until persist_range() has checked their range.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

#define PERSIST_REQUEST_BYTES 24
#define PERSIST_ANSWER_BYTES  8

enum persist_method {
	PERSIST_NOTHING, /* memory that no power failure survives */
	PERSIST_MSYNC,
	PERSIST_LIBPMEM,
	PERSIST_METHODS,
};

enum persist_status {
	PERSIST_DONE,
	PERSIST_OUTSIDE, /* the range is not within the target */
	PERSIST_FAILED,	 /* the system refused */
	PERSIST_STATUSES,
};

struct persist_request {
	uint32_t slot; /* the asker's own, comes back in the answer */
	uint64_t offset;
	uint64_t length;
};

struct persist_answer {
	uint32_t slot;
	enum persist_status status;
};

struct persist {
	enum persist_method method;
	unsigned char *memory; /* borrowed */
	size_t bytes;
	struct file_sync *sync; /* borrowed from the target */
};

/*
 * Chooses the method for a target, which must outlive it. -EIO with the
 * error message set for device DAX in a build without libpmem: no system call
 * flushes it.
 */
int persist_open(struct persist *persist, const struct target *target);
/* The word of results: "nothing", "msync" or "libpmem". */
const char *persist_method_name(enum persist_method method);

/* True if memory of this kind is known to survive a power failure after this method. */
bool persist_is_durable(enum persist_method method, enum target_kind kind);

/*
 * Returns when the range is durable, as far as the memory can be. PERSIST_FAILED, with errno: a
 * file could not be written, and nothing of that target becomes durable from then on. Any thread.
 */
enum persist_status persist_range(const struct persist *persist, uint64_t offset, uint64_t length);

void persist_encode_request(const struct persist_request *request,
			    uint8_t bytes[PERSIST_REQUEST_BYTES]);
/* -EPROTO if it is not a request; its range is not checked. */
int persist_decode_request(const uint8_t *bytes, size_t len, struct persist_request *request);
void persist_encode_answer(const struct persist_answer *answer,
			   uint8_t bytes[PERSIST_ANSWER_BYTES]);
int persist_decode_answer(const uint8_t *bytes, size_t len, struct persist_answer *answer);
