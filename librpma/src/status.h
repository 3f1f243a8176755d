/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.h -- the result of a teardown: every step is taken, every failure is
 * logged, the first one is returned.
 */
#pragma once

#include "log.h"

/* Remember ret unless an earlier step failed already. */
static inline void rpma_status_keep(int *first, int ret)
{
	if (*first == 0)
		*first = ret;
}

/* A verbs or rdmacm call failed with the errno value given. */
static inline void rpma_status_fail(int *first, const char *call, int errnum)
{
	RPMA_LOG_ERRNO(errnum, "%s", call);
	rpma_status_keep(first, RPMA_E_PROVIDER);
}

/* The same for a verb, which returns 0 or an errno value. */
static inline void rpma_status_verb(int *first, const char *call, int errnum)
{
	if (errnum != 0)
		rpma_status_fail(first, call, errnum);
}
