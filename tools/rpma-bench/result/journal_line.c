/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_line.c -- what is read back from a journal is as foreign as what a
 * peer sends: anybody may have edited it.
 *
 * The keys of a repeat, their types and ranges are in repeat_schema.c; what follows
 * from other figures (rates, counts of samples, percentiles, the place in the
 * order) is computed again and compared.
 */
#include "journal_line.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json_path.h"
#include "repeat_schema.h"
#include "repeat_server.h"
#include "tools/rpma-bench/measure/op/table.h"

static const struct schema line_fields[] = {
	{"point", SCHEMA_COUNT, 0, NULL},
	{"repeat", SCHEMA_OBJECT, 0, repeat_fields},
	{0},
};

static bool check_rates(const json_t *side, const struct params *params,
			struct schema_position *position)
{
	json_int_t ops = path_whole(side, "ops"), elapsed_ns = path_whole(side, "elapsed_ns");
	json_t *rates = json_object(), *rate;
	const char *key;
	json_int_t bytes = path_whole(side, "bytes");
	bool good = repeat_put_rates(rates, params, (uint64_t)ops, (uint64_t)bytes,
				     (uint64_t)elapsed_ns) == 0;

	json_object_foreach(rates, key, rate)
	{
		good = good && json_equal(rate, json_object_get(side, key));
	}
	json_decref(rates);
	if (params->mix != NULL &&
	    (bytes < ops || (uint64_t)bytes / params->size_bytes > (uint64_t)ops))
		return schema_wrong(position, "bytes of as many operations of its sizes");
	if (ops > 0 && elapsed_ns == 0)
		return schema_wrong(position, "an elapsed_ns from 1, as there are ops");
	return good ||
	       schema_wrong(position, "the bytes and rates that follow from ops and elapsed_ns");
}

static bool check_samples(const json_t *repeat, const struct params *params,
			  struct schema_position *position)
{
	uint64_t ops = (uint64_t)path_whole(repeat, "ops");
	uint64_t reads = (uint64_t)path_whole(repeat, "read_latency/count");
	uint64_t samples = (uint64_t)path_whole(repeat, "latency/count") + reads;
	uint64_t responses = (uint64_t)path_whole(repeat, "response_latency/count");

	if (params->signal_every == 1 ? samples > 0 && samples != ops : samples > ops)
		return schema_wrong(position, "as many ops as latency and read_latency count");
	if ((uint64_t)path_whole(repeat, "read_ops") != reads)
		return schema_wrong(position, "as many read_ops as read_latency counts");
	if (responses > 0 && responses != ops)
		return schema_wrong(position, "as many ops as response_latency counts");
	if (responses > 0 &&
	    path_whole(repeat, "response_latency/unbegun_ops") != path_whole(repeat, "unbegun_ops"))
		return schema_wrong(position, "as many unbegun_ops as response_latency has");
	return true;
}

static bool check_reverse(const json_t *repeat, const struct params *params,
			  struct schema_position *position)
{
	const json_t *side = json_object_get(repeat, "reverse");

	if (json_is_null(side))
		return true;
	if (path_whole(side, "ops") == 0 ||
	    path_whole(side, "ops") < path_whole(side, "latency/count"))
		return schema_wrong(position, "a reverse with as many ops as its latency counts");
	return check_rates(side, params, position);
}

/* Is it of a trial of the plan, and in its place? */
static bool check_trial(const json_t *line, const struct plan *plan,
			struct schema_position *position)
{
	const json_t *repeat = json_object_get(line, "repeat");
	size_t order = (size_t)path_whole(repeat, "order");

	if (order >= plan->trials_count ||
	    (json_int_t)plan->trials[order].point != path_whole(line, "point") ||
	    (json_int_t)plan->trials[order].repeat != path_whole(repeat, "index"))
		return schema_wrong(position, "point, index and order of the plan");
	return true;
}

static enum bench_persist persist_of(const json_t *used)
{
	int persist = BENCH_NONE;

	while (persist < BENCH_PERSISTS && !path_is(used, "persist", params_persists[persist]))
		persist++;
	return (enum bench_persist)persist;
}

static bool check_used(const json_t *repeat, const struct params *asked,
		       struct schema_position *position)
{
	const json_t *used = json_object_get(repeat, "used");
	bool native = path_is(used, "flush_method", "native");
	struct params params = *asked;

	params.persist = persist_of(used);
	if (params.persist == BENCH_PERSISTS ||
	    (asked->persist != BENCH_AUTO && asked->persist != params.persist))
		return schema_wrong(position, "the used.persist of its point");
	snprintf(position->path, sizeof(position->path), "repeat.used.latency_kind");
	return path_is(used, "latency_kind", operation_latency_kind(&params, native)) ||
	       schema_wrong(position, "what a latency of this operation is");
}

/* why is written through position. NOLINTNEXTLINE(readability-non-const-parameter) */
bool journal_line_good(const json_t *line, const struct plan *plan, char why[SCHEMA_WHY_MAX])
{
	const json_t *repeat = json_object_get(line, "repeat");
	struct schema_position position = {.why = why};
	const struct params *params;

	if (!schema_check(line, line_fields, &position))
		return false;
	snprintf(position.path, sizeof(position.path), "repeat");
	if (!check_trial(line, plan, &position))
		return false;
	params = &plan->points[path_whole(line, "point")];
	return check_rates(repeat, params, &position) && check_samples(repeat, params, &position) &&
	       check_reverse(repeat, params, &position) && check_used(repeat, params, &position);
}
