/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_adversary.h -- `rpma-soft --adversary`: send queues execute any schedule that the InfiniBand
 * specification allows, chosen by a seed.
 *
 * All requests are kept in slots then. What happens to them, happens in steps: some lines of a
 * payload, a message, a completion. A poll makes one step, of the queue whose turn it is; where no
 * thread polls, the agent makes them after a while. Each choice comes from the seed, the index of
 * the queue and the number of the request, so that it is the same in the next run.
 */
#pragma once

#include "sq.h"

/* Written once, before the first queue is made. It makes fault_any true as well. */
extern bool adversary_any;
extern const struct process_part sq_adversary_part;

/* A request was put in a slot. Callers hold sq.lock, as those of the next three. */
void sq_adversary_posted(struct send_queue *sq);
/* The next request is to be executed in the ordinary way; false: the queue has to wait. */
bool sq_adversary_passes(struct send_queue *sq);
/* The queue cannot go on, or its peer is gone: what is executed gets its completion. */
void sq_adversary_settle(struct send_queue *sq);
/* The queue is reset. */
void sq_adversary_end(struct send_queue *sq);

/* Before a poll; no lock held. */
void sq_adversary_poll(void);
/* Executes all of a queue, or of all queues, that may be executed; no lock held. */
void sq_adversary_run(struct send_queue *sq);
void sq_adversary_run_all(void);

/* For sq_wait.c: the queue with the least number is next; it takes its turn. */
uint64_t sq_adversary_turn(const struct send_queue *sq);
void sq_adversary_take_turn(const struct send_queue *sq);
/* In a child of fork(): queues of the parent are gone. */
void sq_adversary_forget(void);
