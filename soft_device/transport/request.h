/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h -- one operation on its way to a target, and what became of it.
 *
 * A part of a work request (sq.h), executed by responder.c against a segment: on the
 * initiator's thread when the target's segment is mapped, on the target's agent when
 * it came over TCP (wire.h has its encoding).
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft_device/process/segment.h"
#include "vendor_err.h"

/* Known to rdma-core since 45; the numbers are the kernel's (include/uapi/rdma/ib_user_verbs.h). */
#define SOFT_WR_FLUSH		     14
#define SOFT_WC_FLUSH		     8
#define SOFT_WC_ATOMIC_WRITE	     9
#define SOFT_ACCESS_FLUSH_GLOBAL     (1u << 8)
#define SOFT_ACCESS_FLUSH_PERSISTENT (1u << 9)
#define SOFT_QP_EX_WITH_FLUSH	     (UINT64_C(1) << 11)
#define SOFT_QP_EX_WITH_ATOMIC_WRITE (UINT64_C(1) << 12)
#define SOFT_FLUSH_GLOBAL	     1u /* placement types: bit mask */
#define SOFT_FLUSH_PERSISTENT	     2u
#define SOFT_FLUSH_RANGE	     0u /* levels */
#define SOFT_FLUSH_MR		     1u

enum request_op {
	REQUEST_WRITE = 1,
	REQUEST_WRITE_IMM,
	REQUEST_READ,
	REQUEST_SEND,
	REQUEST_SEND_IMM,
	REQUEST_COMPARE_SWAP,
	REQUEST_FETCH_ADD,
	REQUEST_ATOMIC_WRITE,
	REQUEST_FLUSH,
	REQUEST_DATAGRAM,
	REQUEST_DATAGRAM_IMM,
	REQUEST_SEND_INV, /* rkey: the window to invalidate */
	REQUEST_OPS,
	/* no target has to do with these: window.h */
	REQUEST_BIND_MW = REQUEST_OPS,
	REQUEST_LOCAL_INV,
	REQUEST_NAMES
};

static inline bool request_is_datagram(enum request_op op)
{
	return op == REQUEST_DATAGRAM || op == REQUEST_DATAGRAM_IMM;
}

struct request {
	enum request_op op;
	bool solicited;
	union {
		uint8_t flush_type;    /* SOFT_FLUSH_GLOBAL | SOFT_FLUSH_PERSISTENT */
		uint8_t traffic_class; /* datagrams only */
	};
	union {
		uint8_t flush_level; /* SOFT_FLUSH_RANGE, SOFT_FLUSH_MR */
		uint8_t hop_limit;   /* datagrams only */
	};
	uint8_t framing;   /* what its packets look like: segment.h; datagrams: 0 */
	uint32_t imm_data; /* network order */
	union {
		uint32_t rkey;
		uint32_t qkey; /* datagrams only */
	};
	uint32_t length; /* bytes moved; of the flushed range for REQUEST_FLUSH */
	uint32_t src_qpn;
	union {
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
		};
		union ibv_gid to; /* datagrams only: a device's, or a multicast group */
	};
	uint64_t swap; /* also the value of an atomic write */
	union ibv_gid src_gid;
};

/* Its memory in the executing process: the payload (write, send), or where a read's bytes go. */
struct local_memory {
	struct iovec parts[SOFT_MAX_SGE];
	unsigned count;
	/*
	 * Not NULL: the payload of a write comes in another way. Over TCP it is not in memory, and
	 * is received into this memory of the own process, which takes `length` bytes; a part of it
	 * (pieces.h) goes into that of the target. 0, or -EFAULT: that is not mapped.
	 */
	int (*receive)(void *arg, uint64_t memory, uint64_t length);
	void *receive_arg;
};

enum outcome_kind {
	OUTCOME_DONE,	/* see status */
	OUTCOME_RNR,	/* no receive posted: try again after rnr_timer */
	OUTCOME_ABSENT, /* no such QP, or not ready to receive, or not linked with the sender:
			   silence */
	OUTCOME_BUSY,	/* a lock that the peer or another one holds cannot be had: try again */
};

/* Small enough to be returned in registers. */
struct outcome {
	enum outcome_kind kind : 8;
	uint8_t rnr_timer;	   /* encoded as min_rnr_timer */
	uint8_t vendor_err;	   /* enum vendor_err: why; 0 with success */
	enum ibv_wc_status status; /* for the requester's completion */
	uint64_t before;	   /* the old value, for the two atomics */
};

static inline struct outcome outcome_failed(enum ibv_wc_status status, enum vendor_err why)
{
	return (struct outcome){.kind = OUTCOME_DONE, .status = status, .vendor_err = (uint8_t)why};
}

static inline struct outcome outcome_done(void)
{
	return outcome_failed(IBV_WC_SUCCESS, VENDOR_NONE);
}

static inline struct outcome outcome_absent(enum vendor_err why)
{
	return (struct outcome){.kind = OUTCOME_ABSENT, .vendor_err = (uint8_t)why};
}

static inline struct outcome outcome_busy(void)
{
	return (struct outcome){.kind = OUTCOME_BUSY};
}
