/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix.h -- --all: the verdict of every RDMA device on every target of a host.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include "options.h"

/* Inspects each pair and prints; *exit_code is that of the worst verdict. */
int matrix(const struct options *options, const struct sysroot *root, int *exit_code);

#endif /* MATRIX_H */
