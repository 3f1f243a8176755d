/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.h -- what a process shows its peers: one memfd, mapped by each of them.
 *
 * It holds the tables a NIC would hold: memory regions, queue pairs, receive and
 * completion queues. The owner creates and destroys entries; a peer on this host
 * that executes an operation looks its target up here, takes a receive entry and
 * pushes the completion, all on its own thread. Pointers into user memory and
 * offsets into the segment are opaque numbers to every process but their owner.
 *
 * The order of its locks is in soft_device/README.md.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lock.h"

#define SEGMENT_BYTES	  (UINT64_C(4) << 30) /* address space; a page costs memory when used */
#define SEGMENT_MAGIC	  UINT64_C(0x31544f53414d5052)
#define SEGMENT_LAYOUT	  10 /* raise with any change of these structures */

#define SEGMENT_MRS	  65536
#define SEGMENT_QPS	  16384
#define SEGMENT_CQS	  16384
#define SEGMENT_SRQS	  1024
#define SEGMENT_MEMBERS	  256
#define SEGMENT_UNMAPPED  SEGMENT_MRS
#define SEGMENT_BLOCKS	  (SEGMENT_QPS / 256) /* QPs share a link listener by 256 */

#define SOFT_MAX_PD	  65536
#define SOFT_MAX_SGE	  16
#define SOFT_MAX_INLINE	  256
#define SOFT_MAX_WR	  16384
#define SOFT_MAX_CQE	  4194303   /* as mlx5; libfabric asks for more than rxe's 32767 */
#define SOFT_MAX_MESSAGE  0x800000u /* bytes; as rxe: drivers/infiniband/sw/rxe/rxe_param.h */
#define SOFT_MAX_DATAGRAM 4096u	    /* the port's MTU */
#define SOFT_MAX_DM	  0x100000u /* bytes of device memory, of a process */
#define SOFT_NONE	  UINT32_MAX

/*
 * A memory region. key = table index << 8 | generation, both lkey and rkey. Or a memory window, of
 * whose rkey the last byte is the program's.
 */
struct shared_mr {
	_Atomic uint32_t key; /* 0: free, or not in force; written last */
	uint32_t pd;	      /* its number, and MR_UNMAPPED or MR_WINDOW */
	uint32_t access;      /* enum ibv_access_flags, and MR_NULL */
	uint16_t file;	      /* not 0: a shared mapping of a file, for the power failure */
	/* Read of any entry where a refusal is explained: */
	_Atomic uint8_t last;	/* generation of the last key, taken out or not; 0: never used */
	_Atomic uint8_t window; /* enum ibv_mw_type of a window; 0: a region */
	uint64_t addr;		/* in the owner's memory */
	uint64_t length;
	uint64_t iova; /* what addr is called in work requests */
};

/* More of a memory window, at the same index: the quick check of a key needs none of it. */
struct shared_window {
	uint32_t region; /* the key of its region; 0: not bound */
	uint32_t qp;	 /* whose requests may use it, if it has type 2: shared_qp_name() */
};

/*
 * A bit of shared_mr.pd: the quick check of a key is not enough, as segment.unmapped has pages of
 * the region, or as it is a null region.
 */
#define MR_UNMAPPED (UINT32_C(1) << 31)
/* Another: a window. So its key is no lkey, and an rkey for those alone who ask for windows. */
#define MR_WINDOW (UINT32_C(1) << 30)
/*
 * A bit of shared_mr.access: a null region, whose bytes are discarded or zeros, whatever their
 * address. `addr` is SOFT_MAX_MESSAGE bytes that take what is written; as many zeros follow.
 */
#define MR_NULL (UINT32_C(1) << 31)

/* Pages of a region that the program has unmapped or replaced since it was registered. */
struct shared_unmapped {
	_Atomic uint32_t key;  /* the region's; 0: free; written last */
	_Atomic uint64_t from; /* in the owner's memory */
	_Atomic uint64_t to;
};

/* A receive work request; the ring has a fixed stride of 16 + 16 * max_sge bytes. */
struct shared_recv {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t unused;
	struct ibv_sge sge[];
};

/* Receives of one QP or SRQ, in a ring of the segment. head - tail are posted. */
struct shared_ring {
	uint64_t offset; /* where the first entry is in the segment */
	uint32_t slots;	 /* power of two */
	uint32_t max_wr; /* how many of them may be in use */
	uint32_t max_sge;
	uint32_t stride;       /* bytes */
	_Atomic uint32_t head; /* next to post; written by the owner */
	_Atomic uint32_t
		tail; /* next to take; under the QP's lock, of an SRQ by the thread that moves it */
};

/* Async events that the owner has to raise: bits of shared_qp/srq/cq.raise. */
enum shared_raise {
	RAISE_QP_ACCESS = 1 << 0,    /* IBV_EVENT_QP_ACCESS_ERR */
	RAISE_QP_REQUEST = 1 << 1,   /* IBV_EVENT_QP_REQ_ERR */
	RAISE_QP_FATAL = 1 << 2,     /* IBV_EVENT_QP_FATAL */
	RAISE_QP_FLUSH = 1 << 3,     /* no event: the send queue is to be flushed */
	RAISE_QP_COMM_EST = 1 << 4,  /* IBV_EVENT_COMM_EST */
	RAISE_SRQ_LIMIT = 1 << 5,    /* IBV_EVENT_SRQ_LIMIT_REACHED */
	RAISE_CQ_OVERFLOW = 1 << 6,  /* IBV_EVENT_CQ_ERR */
	RAISE_CQ_NOTIFY = 1 << 7,    /* the channel's fd is not known to the peer: ring it */
	RAISE_CQ_HELD = 1 << 8,	     /* an event is held back: limit how long */
	RAISE_CQ_HOLE = 1 << 9,	     /* a thread may sleep while a completion is being written */
	RAISE_QP_RECEIVES = 1 << 10, /* no event: in ERR, with receives to be flushed */
};

/* The request because of which a queue pair went to ERR: for its owner's user alone. */
struct shared_refusal {
	uint32_t why; /* enum vendor_err; 0: there was none */
	uint32_t op;  /* enum request_op */
	uint32_t rkey;
	uint32_t length;
	uint64_t remote_addr;
	uint64_t wr_id;	   /* the one that its receive has, if it found one */
	uint32_t position; /* position of that receive in its ring */
};

/* A queue pair as responder. */
struct shared_qp {
	struct shared_lock lock;
	_Atomic uint32_t qpn; /* 0: free */
	/*
	 * enum ibv_qp_state, and above QP_LOW_BITS the generation: each QP that takes this entry
	 * has its own. Changed under the lock. Where that cannot be had: to ERR from RTR to SQE, by
	 * compare and exchange, and to RESET by the owner that destroys the QP.
	 */
	_Atomic uint32_t life;
	_Atomic uint32_t raise; /* enum shared_raise, and the generation that it is about */
	uint32_t pd;
	uint32_t type;	   /* enum ibv_qp_type: RC, UC or UD */
	uint32_t access;   /* qp_access_flags */
	uint32_t qkey;	   /* UD: datagrams with another one are dropped */
	uint32_t dest_qpn; /* whose requests it takes; UD: 0, any process's */
	union ibv_gid dest_gid;
	/* identity of the process found at dest_gid: others reach us over TCP in vain; 0: none */
	_Atomic uint64_t partner;
	uint32_t recv_cq;   /* table index */
	uint32_t srq;	    /* table index or SOFT_NONE */
	uint16_t rnr_timer; /* attr.min_rnr_timer */
	uint16_t rnr_retry; /* attr.rnr_retry, of what it sends: for findings of its peer */
	uint32_t max_dest_rd_atomic;
	_Atomic uint32_t framing; /* what it takes, see below; changed under the lock */
	uint32_t established;	  /* a message came in RTR: IBV_EVENT_COMM_EST was raised */
	struct shared_refusal refusal;
	struct shared_ring rq;
};

/* The form of the packets of a connected QP: enum ibv_mtu, 0 before RTR, and the RoCE version.
 */
#define FRAMING_MTU	7u
#define FRAMING_ROCE_V1 8u

/* Bytes that one packet may carry. */
static inline uint32_t framing_bytes(uint32_t framing)
{
	return 128u << (framing & FRAMING_MTU);
}

#define QP_LOW_BITS 16

static inline uint32_t shared_qp_word(uint16_t generation, uint32_t low)
{
	return (uint32_t)generation << QP_LOW_BITS | low;
}

static inline uint16_t shared_qp_generation(const struct shared_qp *qp)
{
	return (uint16_t)(atomic_load(&qp->life) >> QP_LOW_BITS);
}

static inline enum ibv_qp_state shared_qp_state(const struct shared_qp *qp, memory_order order)
{
	return (enum ibv_qp_state)(uint16_t)atomic_load_explicit(&qp->life, order);
}

/* For the holder of the lock, and for the owner that destroys it. */
static inline void shared_qp_set_state(struct shared_qp *qp, enum ibv_qp_state state)
{
	atomic_store(&qp->life, shared_qp_word(shared_qp_generation(qp), state));
}

struct shared_srq {
	_Atomic uint32_t live;
	uint32_t pd;
	_Atomic uint32_t limit; /* 0: not armed */
	_Atomic uint32_t raise;
	struct shared_ring rq;
};

/* How a slot in the ring of a CQ was used last; see completion.c. */
enum shared_use {
	SLOT_NEW,    /* never */
	SLOT_FULL,   /* holds the completion of this position */
	SLOT_LEFT,   /* a poll passed over it: its writer may still write */
	SLOT_PASSED, /* the same, at a later position, which has no writer */
	SLOT_EMPTY,  /* passed over as well, but no thread writes there */
};

#define SLOT_USE	  7u /* the bits of enum shared_use */
#define SLOT_WRITER_SHIFT 3

/* A completion. `send` completions are pushed by the owner of the CQ alone. */
struct shared_cqe {
	uint64_t wr_id;
	uint32_t status; /* enum ibv_wc_status */
	uint32_t opcode; /* enum ibv_wc_opcode */
	uint32_t vendor_err;
	uint32_t byte_len;
	uint32_t imm_data; /* network order */
	uint32_t qp_num;
	uint32_t wc_flags;
	uint32_t solicited; /* for the arm; not part of ibv_wc */
	union {
		uint32_t sq_release; /* send: the send queue's slots before this one are free */
		uint32_t src_qp;     /* receive of a datagram: enum grh_kind << 24 | who sent it */
	};
	uint32_t is_send;
};

/* A slot in the ring of a CQ. */
struct shared_slot {
	_Atomic uint64_t use; /* position << 32 | late writer's << SLOT_WRITER_SHIFT | use */
	struct shared_cqe cqe;
	uint64_t stamp_ns; /* when it was pushed, process_now_ns(); with shared_cq.stamped */
};

_Static_assert(sizeof(struct shared_slot) == 64, "a cache line");

enum shared_arm { ARM_NONE, ARM_SOLICITED, ARM_ANY };

/* CQ_DYING: destroyed, but a thread that is stopped may still push there */
enum shared_cq_life { CQ_FREE, CQ_LIVE, CQ_DYING };

struct shared_cq {
	struct shared_lock lock; /* the owner's threads alone */
	_Atomic uint32_t live;	 /* enum shared_cq_life */
	uint32_t slots;		 /* power of two */
	uint32_t cqe;		 /* how many of them may be in use */
	uint16_t stamped;	 /* not 0: completions have the time at which they were pushed */
	uint16_t may_overrun;	 /* not 0: what finds no room is lost without an error */
	_Atomic uint32_t room;	 /* with those that are left; 0: it overflowed, or is not live */
	_Atomic uint32_t armed;	 /* enum shared_arm */
	uint64_t offset;	 /* where the ring of struct shared_slot is */
	uint32_t channel_slot;
	uint32_t channel_id;	 /* 0: no channel; never used twice */
	_Atomic uint32_t head;	 /* next to push; who moves it has the slot before it */
	_Atomic uint32_t tail;	 /* next to poll; under the lock */
	_Atomic uint32_t left;	 /* slots that took no completion when they were used last */
	uint32_t waits_at;	 /* the slot that a poll waits for, under the lock, ... */
	uint64_t waits_since_ns; /* ... since then; 0: for none */
	_Atomic uint32_t events; /* notified and not read from the channel yet */
	_Atomic uint32_t raise;
	_Atomic uint32_t unrung; /* notifications left to the owner with RAISE_CQ_NOTIFY */
	uint32_t moderate_count; /* completions per event; with moderate_us: 0: each */
	uint32_t moderate_us;	 /* before an event is given all the same */
	_Atomic uint32_t held;	 /* completions since the CQ was armed that gave no event yet */
};

/* 256 QPs of one device: QPN = port << 8 | index in the block. */
struct shared_block {
	_Atomic uint32_t port;		  /* the link listener's, host order; 0: unused */
	union ibv_gid gid;		  /* the device's */
	_Atomic uint32_t qkey_violations; /* datagrams with a Q_Key that their QP has not */
};

/* A QP in a multicast group. */
struct shared_member {
	_Atomic uint32_t qpn; /* 0: free; written last */
	union ibv_gid group;
};

extern const struct process_part segment_part;

/* All zeros when it is new; a lock that is not held is 0, so locks of entries need no init. */
struct segment {
	uint64_t magic;
	uint64_t layout;
	uint64_t bytes;
	uint64_t identity; /* random; names the process on every host */
	uint64_t probe;	   /* = identity; read across by process_vm_readv to see whether one may */
	pid_t pid;	   /* as its owner sees it */
	struct shared_lock atomics; /* held around every remote atomic on this process */
	uint64_t powerfail;	    /* offset of the journal (powerfail.c); 0: no such option */
	struct shared_block block[SEGMENT_BLOCKS];
	struct shared_mr mr[SEGMENT_MRS];
	struct shared_window window[SEGMENT_MRS];
	_Atomic uint32_t unmapped_used; /* entries that were ever used */
	struct shared_unmapped unmapped[SEGMENT_UNMAPPED];
	struct shared_qp qp[SEGMENT_QPS];
	struct shared_cq cq[SEGMENT_CQS];
	struct shared_srq srq[SEGMENT_SRQS];
	struct shared_member member[SEGMENT_MEMBERS];
	_Alignas(4096) unsigned char heap[]; /* rings; allocated by the owner */
};

/* Tells a QP from those that had its entry before. */
static inline uint32_t shared_qp_name(const struct segment *segment, const struct shared_qp *qp)
{
	return (uint32_t)(qp - segment->qp) << QP_LOW_BITS | shared_qp_generation(qp);
}

/* Makes this process's segment: *segment mapped, *fd its memfd (close-on-exec). 0 or -errno. */
int segment_create(struct segment **segment, int *fd);

/*
 * Maps a peer's segment; the fd came from another process, so its size, magic and
 * layout are checked. 0, -EPROTO (not a segment, or of another version) or -errno.
 */
int segment_map(int fd, struct segment **segment);
void segment_unmap(struct segment *segment);

/*
 * Heap for rings, in this process's own segment (process_get()->segment); callers hold
 * the objects lock. The memory is zeroed. 0 when it is used up.
 */
uint64_t segment_alloc(size_t bytes);
void segment_free(uint64_t offset, size_t bytes);

static inline void *segment_at(struct segment *segment, uint64_t offset)
{
	return (unsigned char *)segment + offset;
}

/* The slots of a ring, so that its counters may run freely. */
static inline uint32_t power_of_two(uint32_t at_least)
{
	uint32_t slots = 1;

	while (slots < at_least)
		slots *= 2;
	return slots;
}

/* The first free entry of a table is found by the owner under the objects lock. */

/*
 * The QP of this number; NULL when the segment has none. The block is found by the GID
 * and the port in the number; the numbers may come from anywhere.
 */
struct shared_qp *segment_qp(struct segment *segment, const union ibv_gid *gid, uint32_t qpn);
