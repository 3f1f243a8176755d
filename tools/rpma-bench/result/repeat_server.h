/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_server.h -- what a repeat takes over from the server's report.
 */
#ifndef BENCH_RESULT_REPEAT_SERVER_H
#define BENCH_RESULT_REPEAT_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/rpma-bench/protocol/params.h"

/*
 * Puts "ops", "elapsed_ns", "bytes", "ops_per_s" and "bytes_per_s" of one
 * direction into an object; without a payload bytes are null. The bytes that are given count
 * where sizes are mixed, else they follow from ops. 0, or -1 without memory.
 */
int repeat_put_rates(json_t *object, const struct params *params, uint64_t ops, uint64_t bytes,
		     uint64_t elapsed_ns);

/*
 * Fills in the server's side of a repeat: "cpu", "counters", "requests",
 * "verify", "reverse", "placement", "warnings". What the report lacks, or has
 * in a form that the schema does not allow, becomes null. A registration is
 * measured by the server alone: its figures become those of the repeat. False:
 * no memory.
 */
bool repeat_take_server(json_t *repeat, const struct params *params, const json_t *report);

#endif /* BENCH_RESULT_REPEAT_SERVER_H */
