/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h -- rpmemd --check: what this user could serve, and how durable it is.
 */
#ifndef RPMEMD_CHECK_H
#define RPMEMD_CHECK_H

#include "config.h"

/*
 * Prints the configuration, each pool set below its directory with the persistence that a
 * client would be promised and why, and the RDMA device of the address. The exit code:
 * EXIT_NEGATIVE where something keeps clients from being served.
 */
int check_run(const struct config *config, const char *address);

#endif /* RPMEMD_CHECK_H */
