/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts.h -- pings all the hosts at once, each in a thread of its own.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include "options.h"
#include "step.h"

/* Gives the exit code. */
int hosts_ping(const struct options *options, const struct steps *steps);

#endif /* HOSTS_H */
