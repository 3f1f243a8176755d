/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kill.h -- the end of a target: no thread of it goes on, what was not
 * durable is rolled back, and it is killed.
 */
#ifndef SOFT_POWERFAIL_KILL_H
#define SOFT_POWERFAIL_KILL_H

#include <sys/types.h>

#include "journal.h"

/* Callers hold the journal's lock. It does not return when `target` is this very process. */
void powerfail_now(struct journal *journal, pid_t target);

#endif /* SOFT_POWERFAIL_KILL_H */
