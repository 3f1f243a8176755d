/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank.h -- what one rank does, from its start to the exit code of all.
 */
#ifndef BENCH_MPI_RANK_H
#define BENCH_MPI_RANK_H

#include "shape.h"
#include "tools/rpma-bench/options/options.h"

/*
 * Gives the exit code, the same on all ranks; what failed has been printed by
 * rank 0. A rank whose start has failed (ret, the error message set) tells the others.
 */
int rank_run(enum shape shape, const struct options *options, int ret);

#endif /* BENCH_MPI_RANK_H */
