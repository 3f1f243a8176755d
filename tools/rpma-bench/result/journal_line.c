/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_line.c -- what is read back from a journal is as foreign as what a
 * peer sends: anybody may have edited it.
 *
 * The keys of a repeat, their types and ranges are in repeat_schema.c; what follows
 * from other figures (rates, counts of samples, percentiles, the position in the
 * order) is computed again and compared. The head has everything that a figure depends on and
 * a user can say; where the result goes and what it is called is not in it.
 */
#include "journal_line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "repeat.h"
#include "repeat_schema.h"
#include "tools/rpma-bench/measure/op/table.h"

static json_t *points_json(const struct plan *plan, const struct target_selector *selector)
{
	json_t *points = json_array();

	for (size_t i = 0; i < plan->points_count; i++)
		json_array_append_new(points, plan_point_json(plan, i, selector));
	return points;
}

/* The targets, if this run exports them itself. */
static json_t *offered_json(const struct options *o)
{
	json_t *offered = json_array();

	for (size_t i = 0; i < o->targets_count; i++)
		json_array_append_new(offered, json_string(o->targets[i]));
	return offered;
}

/* The knobs that were chosen. */
static void put_knobs(json_t *head, const struct options *o)
{
	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		if (o->knobs.value[i] != CONNECTION_KNOB_UNSET)
			json_object_set_new(head, connection_knob_rows[i].key,
					    json_integer(o->knobs.value[i]));
	}
	if (o->huge_buffers)
		json_object_set_new(head, "buffers", json_string("hugepages"));
	if (o->label != NULL)
		json_object_set_new(head, "label", json_string(o->label));
}

json_t *journal_head_make(const struct options *o, const struct journal_run *run,
			  const struct plan *plan)
{
	json_t *head = json_pack(
		"{s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:b}",
		"schema", JOURNAL_SCHEMA, "run_id", result_uuid(run->id), "version", RPMA_VERSION,
		"seed", (json_int_t)run->seed, "host", result_text(o->host), "device",
		result_text(o->device != NULL ? o->device : "auto"), "offered", offered_json(o),
		"duration_ns", (json_int_t)o->duration_ns, "ops", (json_int_t)o->ops, "warmup_ns",
		(json_int_t)o->warmup_ns, "repeats", (json_int_t)o->repeats, "ci", o->ci, "pin",
		result_text(o->pin), "mem_node", result_text(o->mem_node), "verify", o->verify);

	put_knobs(head, o);
	json_object_set_new(head, "points", points_json(plan, &o->selector));
	return head;
}

/* Pairs of digits, of a random UUID; the dashes between them mean nothing. */
static bool read_id(const char *text, uint8_t id[16])
{
	size_t n = 0;

	while (text != NULL && *text != '\0' && n < 16) {
		char pair[3] = {text[0], text[1], '\0'}, *end;

		if (text[0] == '-') {
			text++;
			continue;
		}
		id[n++] = (uint8_t)strtoul(pair, &end, 16);
		if (!isxdigit((unsigned char)pair[0]) || end != pair + 2)
			return false;
		text += 2;
	}
	/* version and variant (RFC 9562, 5.4) */
	return n == 16 && *text == '\0' && id[6] >> 4 == 4 && id[8] >> 6 == 2;
}

bool journal_head_read(const json_t *head, struct journal_run *run)
{
	const json_t *seed = json_object_get(head, "seed");

	if (!path_is(head, "schema", JOURNAL_SCHEMA) || !json_is_integer(seed) ||
	    json_integer_value(seed) < 0)
		return false;
	run->seed = (uint64_t)json_integer_value(seed);
	return read_id(json_string_value(json_object_get(head, "run_id")), run->id);
}

static bool differ(const char *what, const json_t *there, const json_t *here,
		   char text[JOURNAL_DIFFERENCE_MAX])
{
	size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6);
	char *a = there != NULL ? json_dumps(there, flags) : NULL;
	char *b = here != NULL ? json_dumps(here, flags) : NULL;

	snprintf(text, JOURNAL_DIFFERENCE_MAX, "%s is %.60s there and %.60s here", what,
		 a != NULL ? a : "nothing", b != NULL ? b : "nothing");
	free(a);
	free(b);
	return false;
}

static bool same_point(size_t index, const json_t *there, const json_t *here,
		       char text[JOURNAL_DIFFERENCE_MAX])
{
	for (int axis = 0; axis < AXES; axis++) {
		json_t *a = json_object_get(there, axes[axis].name);
		json_t *b = json_object_get(here, axes[axis].name);
		char what[64];

		if (a != NULL && json_equal(a, b))
			continue;
		snprintf(what, sizeof(what), "%s of point p%04zu", axes[axis].name, index);
		return differ(what, a, b, text);
	}
	return true;
}

static bool same_points(const json_t *there, const json_t *here, char text[JOURNAL_DIFFERENCE_MAX])
{
	size_t count = json_array_size(there);

	for (size_t i = 0; i < count && i < json_array_size(here); i++) {
		if (!same_point(i, json_array_get(there, i), json_array_get(here, i), text))
			return false;
	}
	if (count == json_array_size(here))
		return true;
	snprintf(text, JOURNAL_DIFFERENCE_MAX, "there are %zu points there and %zu here", count,
		 json_array_size(here));
	return false;
}

bool journal_head_same(const json_t *there, const json_t *here, char text[JOURNAL_DIFFERENCE_MAX])
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)here, key, value) {
		json_t *other = json_object_get(there, key);

		if (strcmp(key, "run_id") == 0 || strcmp(key, "points") == 0)
			continue;
		if (other == NULL || !json_equal(value, other))
			return differ(key, other, value, text);
	}
	json_object_foreach((json_t *)(uintptr_t)there, key, value) {
		if (json_object_get(here, key) == NULL)
			return differ(key, value, NULL, text);
	}
	return same_points(json_object_get(there, "points"), json_object_get(here, "points"), text);
}

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

	json_object_foreach(rates, key, rate) {
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
	enum bench_persist persist = persist_of(used);

	if (persist == BENCH_PERSISTS ||
	    (asked->persist != BENCH_AUTO && asked->persist != persist))
		return schema_wrong(position, "the used.persist of its point");
	snprintf(position->path, sizeof(position->path), "repeat.used.latency_kind");
	return path_is(used, "latency_kind",
		       operation_latency_kind(asked->test, operation_find(asked->op, persist),
					      native)) ||
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
