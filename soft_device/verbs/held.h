/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held.h -- QPs that were destroyed, and regions that were taken back, while a process held a lock
 * and was stopped: a debugger, Ctrl-Z, a frozen cgroup.
 *
 * They take no requests any more; their entries in the tables, and the rings that the
 * stopped thread may still write to, are kept until it lets go or dies. All under the objects lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct qp;
struct mr;

/* A destroyed QP whose lock cannot be had: it is freed later. */
void held_add_qp(struct qp *qp);
/* A region whose key is taken out, while an operation that saw it may be under way. */
void held_add_mr(struct mr *mr);

bool held_uses_cq(uint32_t index);
bool held_uses_srq(uint32_t index);

/* Calls process_raise() soon: something is left to the agent that could not be done at once. */
void held_raise_later(void);
