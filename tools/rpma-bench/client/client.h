/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.h -- rpma-bench client: one run, and what becomes of its result.
 */
#ifndef BENCH_CLIENT_CLIENT_H
#define BENCH_CLIENT_CLIENT_H

#include "tools/rpma-bench/options/options.h"

/* Gives the exit code; what failed has been printed. */
int client_run(const struct options *options);

#endif /* BENCH_CLIENT_CLIENT_H */
