/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel.h -- no cancellation of this thread (pthread_setcancelstate(3)): of posting and polling
 * nobody expects it, but system calls that they make, mostly with a lock held, are such points.
 */
#pragma once

#include <pthread.h>

static inline int cancel_off(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void cancel_restore(int before)
{
	pthread_setcancelstate(before, NULL);
}
