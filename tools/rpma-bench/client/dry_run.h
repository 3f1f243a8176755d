/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dry_run.h -- --dry-run: the plan, its time, and where it would run.
 */
#ifndef BENCH_CLIENT_DRY_RUN_H
#define BENCH_CLIENT_DRY_RUN_H

#include "tools/rpma-bench/options/options.h"

/*
 * Prints them on standard output, as text or with --json as JSON; binds
 * nothing and asks no server, so the description of another machine in
 * HWLOC_XMLFILE will do. Gives the exit code; what failed has been printed.
 */
int dry_run(const struct options *options);

#endif /* BENCH_CLIENT_DRY_RUN_H */
