/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.h -- rpma-bench client: one run, and what becomes of its result.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "options.h"

/* Gives the exit code; what failed has been printed. */
int client_run(const struct options *options);

#endif /* CLIENT_H */
