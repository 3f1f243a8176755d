/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_warnings.h -- what several measurements warn of, each kind once.
 */
#ifndef BENCH_MPI_MERGE_WARNINGS_H
#define BENCH_MPI_MERGE_WARNINGS_H

#include <jansson.h>
#include <stddef.h>

/* The run.warnings of one measurement, and whose it is. */
struct rank_warnings {
	const json_t *list;
	int rank;
};

/*
 * A warning of all appears as it is. Where only figures differ, one text stands for its kind,
 * with how many have it; that of one measurement names the rank.
 */
json_t *warnings_merge(const struct rank_warnings *all, size_t count);

#endif /* BENCH_MPI_MERGE_WARNINGS_H */
