/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h -- rpma-ping --server.
 */
#ifndef SERVER_H
#define SERVER_H

#include "options.h"

/* Serves until a signal; gives the exit code. */
int server_run(const struct options *options);

#endif /* SERVER_H */
