/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * powerfail.h -- the power failure: what RDMA wrote to files and is not durable yet may be
 * lost at a chosen operation.
 *
 * The target, whose RPMA_SOFT has `powerfail`, keeps a journal in its segment.
 * The process that executes operations on it (its partners on this host, or its
 * own agent) calls the hooks below; each costs a test of segment.powerfail
 * where there is no such option.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft_device/process/segment.h"
#include "soft_device/transport/peer.h"

/* This process is such a target. */
extern bool powerfail_any;

/* The program has checks and a mark of durable.c, so a journal is kept without a failure. */
extern bool powerfail_marked;

extern const struct process_part durable_part, powerfail_part;

/* The journal of this process; NULL: it has none. */
struct journal;
struct journal *powerfail_own_journal(void);

/* For shared_mr.file: 1 when any of the range is a shared mapping of a file, else 0. */
uint32_t powerfail_file(const void *addr, size_t length);

void powerfail_before_write_slow(struct peer *peer, uint64_t memory, uint64_t length, uint32_t qpn);
void powerfail_pushed_slow(struct peer *peer, uint32_t qpn);
void powerfail_flush_slow(struct peer *peer, uint64_t memory, uint64_t length, uint32_t qpn,
			  bool persistent);
bool powerfail_strikes_slow(struct peer *peer);
bool powerfail_executed_slow(struct peer *peer);

/*
 * Before an operation that the target's QP accepts is executed. True: the power has failed,
 * the target is dead, this operation is neither executed nor answered. It does not return in
 * the target itself.
 */
static inline bool powerfail_strikes(struct peer *peer)
{
	return peer->segment->powerfail != 0 && powerfail_strikes_slow(peer);
}

/*
 * Before an operation on the target's QP `qpn` changes `length` bytes of a region of the
 * target at its address `memory`.
 */
static inline void powerfail_before_write(struct peer *peer, const struct shared_mr *mr,
					  uint64_t memory, uint64_t length, uint32_t qpn)
{
	if (peer->segment->powerfail != 0 && mr->file != 0)
		powerfail_before_write_slow(peer, memory, length, qpn);
}

/*
 * Writes on this QP before now have left the NIC and the PCIe: an operation that reads
 * memory came after them, or one that completes a receive; call before that
 * completion is pushed.
 */
static inline void powerfail_pushed(struct peer *peer, uint32_t qpn)
{
	if (peer->segment->powerfail != 0)
		powerfail_pushed_slow(peer, qpn);
}

/* A native flush of the range, to visibility or to persistence. */
static inline void powerfail_flush(struct peer *peer, uint64_t memory, uint64_t length,
				   uint32_t qpn, bool persistent)
{
	if (peer->segment->powerfail != 0)
		powerfail_flush_slow(peer, memory, length, qpn, persistent);
}

/*
 * Counts an operation that was executed with success. False: the power failed meanwhile. The
 * operation may have come too late to make anything durable, and is not answered.
 */
static inline bool powerfail_executed(struct peer *peer)
{
	return peer->segment->powerfail == 0 || powerfail_executed_slow(peer);
}
