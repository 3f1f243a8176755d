/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_run.h -- one repeat of one point of a run.
 */
#ifndef BENCH_CLIENT_REPEAT_RUN_H
#define BENCH_CLIENT_REPEAT_RUN_H

#include <jansson.h>

#include "run.h"

/*
 * Measures the trial of the plan and gives its JSON, the caller's to decref.
 * -ECANCELED: a signal ended it; *repeat then is what it had measured, or NULL.
 * -ENOTSUP with the error message set: the server refused it, and is ready for another.
 */
int trial_measure(struct run *run, size_t order, json_t **repeat);

#endif /* BENCH_CLIENT_REPEAT_RUN_H */
