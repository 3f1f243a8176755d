/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list_ops.h -- what can be measured: --list-ops.
 */
#ifndef BENCH_OPTIONS_LIST_OPS_H
#define BENCH_OPTIONS_LIST_OPS_H

/* Prints it on standard output; -EIO where that fails. */
int list_ops(void);

#endif /* BENCH_OPTIONS_LIST_OPS_H */
