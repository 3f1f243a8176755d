/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rate_search.h -- --find-rate: measures the rates that a search asks for.
 */
#ifndef BENCH_CLIENT_RATE_SEARCH_H
#define BENCH_CLIENT_RATE_SEARCH_H

#include "run.h"

/*
 * A search for each point of the plan, which becomes the plan of the trials. What
 * they came to is in the record. As run_measure.
 */
int rate_search_run(struct run *run);

#endif /* BENCH_CLIENT_RATE_SEARCH_H */
