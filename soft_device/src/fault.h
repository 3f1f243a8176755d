/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.h -- the faults that RPMA_SOFT asks for, where the device meets them.
 *
 * Each filter is a file fault_<name>.c; fault.c counts events, draws from the seed and asks
 * them. Without faults fault_any is false and each hook costs one test of it.
 */
#ifndef SOFT_FAULT_H
#define SOFT_FAULT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "request.h"

extern bool fault_any; /* written once by process_get() */

void fault_init(const struct soft_options *options);

/*
 * At the top of every exported function: 0, or the errno this call has to fail with.
 * Nothing is done then but to return the function's failure.
 */
int fault_call_slow(const char *name);
#define FAULT_CALL() (__builtin_expect(fault_any, 0) ? fault_call_slow(__func__) : 0)

/* Data path, called by sq.c when fault_any. */
uint64_t fault_due_ns(enum soft_op op, uint32_t bytes, uint64_t now_ns); /* 0: at once */
bool fault_rnr(uint32_t tries);	     /* this send finds no receive */
bool fault_drop(uint64_t operations); /* this connection breaks: its count so far */
/* IBV_WC_SUCCESS, or what this operation completes with instead */
enum ibv_wc_status fault_complete(enum soft_op op);
/* Flips a byte of the payload (a copy is handed in) when it is this one's turn. */
void fault_corrupt(enum soft_op op, void *bytes, size_t length);
bool fault_corrupt_wanted(void);

/* Control path: 0 or an errno. */
int fault_register(void);
enum fault_connect { CONNECT_ALLOWED, CONNECT_REFUSED, CONNECT_UNREACHABLE };
enum fault_connect fault_connect(void);

/* The counts of what was hit, as lines on stderr at exit when verbose. */
void fault_report(void);

/*
 * powerfail.c. The executor calls before and after it changes the memory of a target whose region is a
 * file, and when something makes lines durable; see the option `powerfail`. powerfail_any is
 * false without it.
 */
extern bool powerfail_any;
int powerfail_init(const struct soft_fault *fault); /* by process_get(), in the target */
/* Old contents of the lines of a write to `mr` at `memory` (target's address) go to the journal. */
void powerfail_before_write(struct peer *peer, const struct shared_mr *mr, uint64_t memory,
			    uint64_t length, uint32_t qpn);
void powerfail_read(struct peer *peer, uint32_t qpn); /* a read, or a send, on this QP after writes */
void powerfail_flush(struct peer *peer, uint64_t memory, uint64_t length); /* native, persistent */
/* Counts an executed operation; at the chosen one the target does not survive it. */
void powerfail_operation(struct peer *peer);

#endif /* SOFT_FAULT_H */
