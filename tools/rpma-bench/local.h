/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local.h -- rpma-bench local: a server and a client on this machine.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "tools/rpma-bench/options/options.h"

/* Gives the exit code; what failed has been printed. */
int local_run(const struct options *options);

#endif /* LOCAL_H */
