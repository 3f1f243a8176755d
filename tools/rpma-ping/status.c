/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.c -- a counter for those that are busy, descriptors for those that sleep.
 */
#include "client.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "options.h"

/* Written before the handler is installed; the descriptors stay open until exit. */
static int fds[OPTIONS_HOSTS];
static size_t count;

static atomic_uint asked;

static void on_quit(int number)
{
	const uint64_t one = 1;
	int saved = errno;

	(void)number;
	atomic_fetch_add(&asked, 1);
	for (size_t i = 0; i < count; i++) {
		if (write(fds[i], &one, sizeof(one)) < 0)
			errno = saved; /* the counter is full: readable already */
	}
	errno = saved;
}

int status_open(struct status_watch *watch)
{
	watch->seen = 0;
	watch->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->fd < 0)
		return failure_call("parse", errno, "make an eventfd");
	fds[count++] = watch->fd;
	return 0;
}

void status_catch(void)
{
	struct sigaction action = {.sa_handler = on_quit, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGQUIT, &action, NULL);
}

bool status_asked(struct status_watch *watch)
{
	const unsigned now = atomic_load(&asked);
	const bool more = now != watch->seen;

	watch->seen = now;
	return more;
}

bool status_woken(struct status_watch *watch)
{
	eventfd_t unused;

	eventfd_read(watch->fd, &unused);
	return status_asked(watch);
}
