/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.h -- the faults that RPMA_SOFT asks for, where the device meets them.
 *
 * Faults stack: each hook asks all faults that have it (ops.h), in the order of the user. Each
 * counts the events it is asked about and those it hits, by itself. Without faults
 * fault_any is false and a hook costs one test of it. A trace (trace.h), checks (check/check.h) and
 * the adversary (datapath/sq_adversary.h) make it true as well, so that they cost nothing where
 * there are none; fault_more is false where checks alone have.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft_device/process/options.h"

/* Kinds of operations, as bits. */
enum soft_op {
	SOFT_OP_WRITE = 1 << 0,
	SOFT_OP_READ = 1 << 1,
	SOFT_OP_SEND = 1 << 2,
	SOFT_OP_ATOMIC = 1 << 3,
	SOFT_OP_FLUSH = 1 << 4,
	SOFT_OP_RECV = 1 << 5,
	SOFT_OP_ALL = (1 << 6) - 1,
};

/* Written once, when the object is loaded: before any program can call the device. */
extern bool fault_any;
extern bool fault_more;

/*
 * Starts over with the faults of these options: 0, or -EINVAL with one error message and none of
 * them. For part.c, the launcher and unit tests.
 */
int fault_init(const struct soft_options *options, char error[SOFT_ERROR_MAX]);

/*
 * At the top of every exported function: 0, or the errno this call has to fail with.
 * Nothing is done then but to return the function's failure. FAULT_CALL_AS is for
 * those that verbs.h reaches by a pointer.
 */
int fault_call_slow(const char *name);
#define FAULT_CALL_AS(name) (__builtin_expect(fault_more, 0) ? fault_call_slow(name) : 0)
#define FAULT_CALL()	    FAULT_CALL_AS(__func__)

/*
 * Data path, called by sq_fault.c when fault_any. At post: when the operation may be executed at
 * the earliest, 0: at once; and, if it needs a receive, how many tries of it find none.
 */
uint64_t fault_due_ns(enum soft_op op, uint32_t bytes, uint64_t now_ns);
uint32_t fault_rnr(void);

/* Operations are delayed and traced, and nothing else becomes of them: what follows does nothing.
 */
bool fault_only_delays(void);

/* A fault may keep an operation from being executed, or change its bytes. */
bool fault_decides(void);

/* Before an operation is executed: whether its connection, after this number of operations, breaks
 * instead. */
bool fault_drop(uint64_t operations);
/* IBV_WC_SUCCESS, or what it completes with instead of being executed. */
enum ibv_wc_status fault_complete(enum soft_op op);
/* Flips a byte of the payload (a copy is handed in) when it is this one's turn. */
void fault_corrupt(enum soft_op op, void *bytes, size_t length);
bool fault_corrupt_wanted(void);

/* Control path: 0 or an errno. */
int fault_register(void);
enum fault_connect { CONNECT_ALLOWED, CONNECT_REFUSED, CONNECT_UNREACHABLE };
enum fault_connect fault_connect(void);

/*
 * The power failure among the faults of these options, for powerfail/, whose hooks run in the peers
 * of this process. 0; or -EINVAL with one error message.
 */
struct fault_power {
	uint64_t at;  /* the operation that comes in as the power fails; 0: it does not */
	bool eadr;    /* CPU caches are in the persistence domain */
	bool no_ddio; /* writes of the device do not end in CPU caches */
};
int fault_power(const struct soft_options *options, struct fault_power *power,
		char error[SOFT_ERROR_MAX]);

/* One line a fault on stderr: what it hit. At exit, with the option verbose. */
void fault_report(void);

extern const struct process_part fault_part;
