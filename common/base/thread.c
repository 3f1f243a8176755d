/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread.c -- starts threads. Signals set a flag and end polls of the main
 * thread; a call of another one is not to be interrupted by them.
 */
#include "thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t unnamed;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	if (thread == NULL)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(thread != NULL ? thread : &unnamed, &attributes, run, arg);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}
