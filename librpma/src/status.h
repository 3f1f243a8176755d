/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.h -- the result of a teardown: every step is taken, every failure is
 * logged, the first one is returned.
 */
#ifndef RPMA_STATUS_H
#define RPMA_STATUS_H

#include "log.h"

/* Remember ret unless an earlier step failed already. */
static inline void rpma_status_keep(int *first, int ret)
{
	if (*first == 0)
		*first = ret;
}

/* The same for a verbs or rdmacm call, which named itself and gave an errno value or 0. */
static inline void rpma_status_errno(int *first, const char *call, int errnum)
{
	if (errnum == 0)
		return;
	RPMA_LOG_ERRNO(errnum, "%s", call);
	rpma_status_keep(first, RPMA_E_PROVIDER);
}

#endif /* RPMA_STATUS_H */
