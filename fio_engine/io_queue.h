/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue.h -- the operations of one client between being handed over and being
 * done: posting them, the flushes that follow them, and what completions mean.
 *
 * It knows nothing of fio: an operation carries its owner as a pointer. All
 * that it needs is allocated when it is opened; there is one operation for
 * each unit of the depth, and everything else is an index of one.
 *
 * Operations of one connection complete in their order, so one completion
 * stands for all writes of its flush. With gpspm an operation is done when its
 * request has left and its answer has come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flush_policy.h"
#include "job_connection.h"
#include "options.h"

struct extent {
	uint64_t begin;
	uint64_t end; /* not of it */
};

/*
 * Bytes of the region that were written and not flushed since, in two levels of bits: one for
 * each grain of the region, and one for each word of those that is not 0. A write sets bits and
 * allocates nothing; a flush takes the extents out in ascending order, each as long as it can be.
 */
struct dirty {
	uint64_t bytes; /* the region's size */
	unsigned grain_shift;
	uint64_t *bits;
	uint64_t *summary;
	uint64_t words; /* number of 64-bit words */
	uint64_t summary_words;
	uint64_t first; /* no summary word below it has a bit */
};

/*
 * grain: all offsets and lengths are multiples of it; rounded down to the
 * largest power of two that divides it, and 0 stands for 1. Where the bits
 * would be more than DIRTY_BITS_MAX it is made larger, and extents are rounded
 * to it, outwards. The region is not empty. -ENOMEM.
 */
#define DIRTY_BITS_MAX (1ULL << 28)
int dirty_open(struct dirty *dirty, uint64_t region_bytes, uint64_t grain);
void dirty_close(struct dirty *dirty);

/* The range is within the region: the caller has checked. */
void dirty_mark(struct dirty *dirty, uint64_t begin, uint64_t end);
bool dirty_any(const struct dirty *dirty);
/* Takes the lowest extent out; false: there is none. */
bool dirty_take(struct dirty *dirty, struct extent *extent);
/* All is clean. */
void dirty_clear(struct dirty *dirty);

enum operation_kind { OPERATION_READ, OPERATION_WRITE, OPERATION_TRIM };

struct operation {
	void *owner;
	enum operation_kind kind;
	size_t local_offset; /* in the registered buffers; of a trim: none */
	uint64_t begin;	     /* in the region */
	uint32_t bytes;
	uint64_t number; /* the owner's, as the next one */
	uint64_t posted_ns;
	/* set when it is done */
	int error;		   /* errno; 0: it was done */
	uint64_t done_ns;	   /* when, if a sync was waiting for it; else 0 */
	enum ibv_wc_status status; /* that it failed with; SUCCESS: it failed otherwise */
	uint32_t vendor_error;
	/* the queue's own */
	uint32_t next;	  /* next in its group */
	uint32_t pending; /* in a group's head: completions and answers still to come */
	uint32_t flushes; /* in a group's head: that it ends with */
};

struct io_queue_cfg {
	struct job_connection *connection;
	enum flush_policy policy;
	enum write_op write_op;
	uint32_t depth;
	uint64_t grain; /* granularity of dirty extents */
};

struct io_queue;

/*
 * The send queue of the connection has room for two work requests of each operation,
 * one of a sync and the goodbye; its completion queue for all those and for the
 * answers. With gpspm job_request.depth is not below depth; with immediate data and another
 * method not below twice of it.
 */
#define IO_QUEUE_SQ_SIZE(depth) (2 * (depth) + 2)
int io_queue_open(struct io_queue **queue, const struct io_queue_cfg *cfg);
void io_queue_close(struct io_queue **queue);

/* The operation with this number, below the depth; its owner fills it while it is not in flight. */
struct operation *io_queue_operation(struct io_queue *queue, uint32_t number);

/*
 * Takes the operation to be posted by the next commit; false: depth operations
 * are there already. One with immediate data waits until the server can take it.
 */
bool io_queue_add(struct io_queue *queue, struct operation *operation);
/* Operations added and not committed; operations committed and not handed back. */
uint32_t io_queue_added(const struct io_queue *queue);
uint32_t io_queue_out(const struct io_queue *queue);

/*
 * Posts all that was added and the flushes that the policy wants, with one doorbell.
 * `posting` is called for each operation right before librpma gets it, NULL: not. An operation that
 * cannot be posted comes back as done, with its error.
 */
void io_queue_commit(struct io_queue *queue,
		     void (*posting)(void *arg, struct operation *operation), void *arg);

/*
 * Takes completions that are there, without waiting; gives the number of
 * operations that are done and not yet handed back.
 */
uint32_t io_queue_poll(struct io_queue *queue);
/* Hands back one that is done, in order; NULL: none is. */
struct operation *io_queue_done(struct io_queue *queue);

/*
 * Polls or sleeps, as the settings say, until that number of operations is done, or
 * timeout_ns has passed (UINT64_MAX: never), or no more are out; gives as
 * io_queue_poll() does. Where the connection ends, nothing completes for a
 * minute, or the job has been told to stop for a second, all that is out is
 * done, with an error.
 */
uint32_t io_queue_wait(struct io_queue *queue, uint32_t count, uint64_t timeout_ns);

/*
 * Flushes what is dirty and returns when that is durable (or visible), what
 * else completes meanwhile is kept for io_queue_done(). 0, or -errno with the
 * error message set. Nothing is to be added and not committed.
 */
int io_queue_sync(struct io_queue *queue);
/* Something written was not flushed. */
bool io_queue_dirty(const struct io_queue *queue);

/* The operations that are done without an error. */
struct io_queue_counts {
	uint64_t writes;  /* trims too */
	uint64_t covered; /* writes behind which a flush has completed */
	uint64_t pending; /* writes that the next sync would cover, or nothing without any flush */
	uint64_t flushes; /* requests to a server to make something durable, too */
};

struct io_queue_counts io_queue_counts(const struct io_queue *queue);

/*
 * 0, or the errno that the connection cannot be used for any more, with the
 * error message set when that was found; then what was out is done, with an error.
 */
int io_queue_broken(const struct io_queue *queue);
/* Disconnects: all that is out is done, with this error, and what is added when it is committed. */
void io_queue_break(struct io_queue *queue, int error);
/*
 * All that is out is done, with this error; when job_connection_reconnect() has
 * succeeded, before or after, operations can be committed again. Where something
 * was dirty, the next sync fails.
 */
void io_queue_abandon(struct io_queue *queue, int error);
