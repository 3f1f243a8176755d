/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h -- what RDMA changed and is not durable: for each 64-byte line and queue
 * pair the bytes that were there when they were last durable.
 *
 * Values in, values out: addresses are numbers, nothing is read or written but the journal. It
 * lies in the target's segment and is used by every process that may execute operations there.
 * Callers hold the lock unless noted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "soft_device/faults/fault.h"
#include "soft_device/process/lock.h"

#define JOURNAL_LINE	64u	   /* bytes: a line of the CPU's caches */
#define JOURNAL_LINES	(1u << 18) /* 16 MiB may be undurable at a time */
#define JOURNAL_BUCKETS (1u << 18)

struct journal_line {
	uint64_t addr;	 /* in the target; a multiple of JOURNAL_LINE */
	uint64_t mask;	 /* bit n: byte n is not durable, old[n] is what it was */
	uint32_t qpn;	 /* the target's QP that changed it */
	bool left;	 /* it is out of NIC and PCIe: in the CPU's caches */
	bool visible;	 /* a native flush to visibility covered it */
	int32_t flusher; /* the target's thread that has flushed it and not drained yet; 0 */
	uint32_t next;	 /* index + 1 of the next in its bucket; 0: none */
	unsigned char old[JOURNAL_LINE];
};

struct journal {
	struct shared_lock lock;
	uint64_t seed;
	uint64_t at;		     /* the operation that comes in as the power fails */
	_Atomic uint64_t operations; /* executed so far; no lock needed */
	_Atomic uint32_t failed;     /* the target is dead or about to be; no lock needed */
	uint32_t eadr;
	uint32_t ddio;
	uint32_t count;			  /* number of lines; what is beyond does not exist */
	uint32_t in_nic;		  /* lines that have not left */
	uint32_t bucket[JOURNAL_BUCKETS]; /* index + 1 */
	struct journal_line line[JOURNAL_LINES];
};

void journal_init(struct journal *journal, uint64_t seed, const struct fault_power *power);

void journal_lock(struct journal *journal);
void journal_unlock(struct journal *journal);

/*
 * The bytes of `mask` in the line at `addr` are about to change; `old` is what the line has
 * now. False: the journal is full.
 */
bool journal_note(struct journal *journal, uint64_t addr, uint64_t mask, uint32_t qpn,
		  const unsigned char old[JOURNAL_LINE]);

/* The changes of this QP have left the NIC. */
void journal_push(struct journal *journal, uint32_t qpn);

/* A native flush: of the changes of this QP, and of these bytes only. */
void journal_flush(struct journal *journal, uint64_t addr, uint64_t length, uint32_t qpn,
		   bool persistent);

/* A CPU flush of the lines that hold these bytes, and the fence that completes it. */
void journal_cpu_flush(struct journal *journal, uint64_t addr, uint64_t length, int32_t thread);
void journal_cpu_drain(struct journal *journal, int32_t thread);

/* How many lines have bytes of the range that this QP (0: any) changed and that are not durable,
 * and the first of them. `left`: of those that have left the NIC alone. */
uint32_t journal_not_durable(const struct journal *journal, uint64_t addr, uint64_t length,
			     uint32_t qpn, bool left, struct journal_line *first);

/* True if the line at this index is rolled back: a coin of the seed. */
bool journal_loses(const struct journal *journal, uint32_t index);
