/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.h -- SIGQUIT asks for the statistics so far, as it does of ping(8).
 *
 * The handler wakes every client: each has a descriptor of its own, as it prints for
 * its host alone.
 */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>

struct status_watch {
	int fd; /* readable: status_woken() is due */
	unsigned seen;
};

/* Before status_catch(), of OPTIONS_HOSTS clients at most. */
int status_open(struct status_watch *watch);
void status_catch(void);
/* True if SIGQUIT came since the last time. */
bool status_asked(struct status_watch *watch);
/* The same after a sleep that the descriptor ended. */
bool status_woken(struct status_watch *watch);

#endif /* STATUS_H */
