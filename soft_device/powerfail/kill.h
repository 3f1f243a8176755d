/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kill.h -- the end of a target: no thread of it goes on, what was not
 * durable is rolled back, and it is killed.
 */
#pragma once

#include <sys/types.h>

#include "journal.h"

/* Callers hold the journal's lock. It does not return when `target` is this very process. */
void powerfail_now(struct journal *journal, pid_t target);
