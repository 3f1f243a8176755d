/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel.h -- holds off the cancellation of this thread (pthread_setcancelstate(3)): posting and
 * polling are no cancellation points, but some system calls that they make with a lock held are.
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
