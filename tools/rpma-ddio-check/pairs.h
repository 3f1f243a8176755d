/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.h -- --all: the verdict of every RDMA device on every target of a host.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "options.h"

/* Inspects each pair and prints; *exit_code is that of the worst verdict. */
int pairs_inspect(const struct options *options, const struct sysroot *root, int *exit_code);

#endif /* PAIRS_H */
