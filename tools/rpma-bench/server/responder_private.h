/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder_private.h -- what the two files of the responder share: its ends,
 * one a queue pair, and the way of a slot.
 */
#ifndef BENCH_SERVER_RESPONDER_PRIVATE_H
#define BENCH_SERVER_RESPONDER_PRIVATE_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "responder.h"
#include "slot_pool.h"

struct end {
	struct responder *responder;
	uint32_t index;
	struct slot_pool *pool; /* its own, or that of the shared queue */
	struct connection_queues queues;
	struct rpma_conn *conn; /* borrowed; NULL: not there, or broken */
	struct rpma_cq *cq;
};

struct responder {
	const struct params *params; /* borrowed */
	const struct persist *persist;
	bool event;	   /* waits for completions rather than looks for them */
	uint32_t slots;	   /* per queue pair */
	uint32_t receives; /* per queue pair, posted at the beginning */
	uint64_t slot_bytes;
	uint64_t receive_bytes;
	unsigned char *memory;
	size_t memory_bytes;
	struct rpma_mr_local *mr;
	struct rpma_srq *srq;
	struct slot_pool *pools; /* one a queue pair; with a shared queue the first alone is used */
	struct end *ends;
	uint32_t ends_count;
	struct pollfd *fds;					       /* the ends', and wake_fd */
	int (*answer)(struct end *end, uint32_t slot, uint32_t bytes); /* NULL: none is sent */
	uint64_t requests;
	int wake_fd;
	atomic_int stop;
	const struct topology *topology; /* borrowed */
	int cpu;
	int bind_error; /* -errno; of the thread until it was stopped */
	bool running;
	pthread_t thread;
};

/* The offset of a slot in the memory; and a receive for its next message. */
uint64_t responder_offset(const struct responder *r, uint32_t slot);
int responder_post(struct end *e, uint32_t slot);

/* The answers: of a send, and of a request to make something durable. */
int responder_echo(struct end *e, uint32_t slot, uint32_t bytes);
int responder_persist(struct end *e, uint32_t slot, uint32_t bytes);

/* The thread; the argument is the responder. */
void *responder_serve(void *arg);

#endif /* BENCH_SERVER_RESPONDER_PRIVATE_H */
