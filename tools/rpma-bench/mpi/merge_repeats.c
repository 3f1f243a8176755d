/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_repeats.c -- makes one repeat from those that several clients measured
 * together, in the JSON that a journal or another rank brings.
 *
 * The keys are those of repeat_schema.c, each with its own way to be merged; what
 * one of them does not know, all together do not know either.
 */
#include "merge_documents.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "tools/rpma-bench/result/repeat.h"
#include "tools/rpma-bench/result/repeat_schema.h"

struct sides {
	const json_t *const *all;
	size_t count;
};

/* NULL, or the sum of whole numbers that all have. */
static json_t *sum_of(struct sides s, const char *path)
{
	json_int_t sum = 0;

	for (size_t i = 0; i < s.count; i++) {
		const json_t *value = path_get(s.all[i], path);

		if (!json_is_integer(value))
			return json_null();
		sum += json_integer_value(value);
	}
	return json_integer(sum);
}

static json_t *most_of(struct sides s, const char *path)
{
	const json_t *most = NULL;

	for (size_t i = 0; i < s.count; i++) {
		const json_t *value = path_get(s.all[i], path);

		if (!json_is_number(value))
			return json_null();
		if (most == NULL || json_number_value(value) > json_number_value(most))
			most = value;
	}
	return json_deep_copy(most);
}

static json_t *least_of(struct sides s, const char *path)
{
	const json_t *least = NULL;

	for (size_t i = 0; i < s.count; i++) {
		const json_t *value = path_get(s.all[i], path);

		if (!json_is_number(value))
			return json_null();
		if (least == NULL || json_number_value(value) < json_number_value(least))
			least = value;
	}
	return json_deep_copy(least);
}

static json_t *first_of(struct sides s, const char *key)
{
	const json_t *value = path_get(s.all[0], key);

	return value != NULL ? json_deep_copy(value) : json_null();
}

/* The value that all have; null where they differ. */
static json_t *same_of(struct sides s, const char *path)
{
	for (size_t i = 1; i < s.count; i++) {
		if (!json_equal(path_get(s.all[i], path), path_get(s.all[0], path)))
			return json_null();
	}
	return first_of(s, path);
}

/* Over those that have one: a client may have had no read in a mix. */
static json_t *latency_of(struct sides s, const char *path)
{
	struct histogram *merged = histogram_new(), *one = histogram_new();
	json_t *latency = NULL;

	for (size_t i = 0; merged != NULL && one != NULL && i < s.count; i++) {
		if (result_read_latency(path_get(s.all[i], path), one) == 0)
			histogram_merge(merged, one);
	}
	if (merged != NULL && one != NULL)
		latency = result_latency(merged);
	free(merged);
	free(one);
	return latency;
}

static json_t *steps_of(struct sides s, const char *key)
{
	const json_t *steps = json_object_get(s.all[0], key), *step;
	json_t *list = json_is_array(steps) ? json_array() : json_null();
	char path[128];
	size_t index;

	json_array_foreach(steps, index, step)
	{
		const char *name = json_string_value(json_object_get(step, "name"));

		snprintf(path, sizeof(path), "%s/name=%s/latency", key, name);
		json_array_append_new(list, json_pack("{s:s, s:o}", "name", name, "latency",
						      latency_of(s, path)));
	}
	return list;
}

static json_t *used_of(struct sides s, const char *key)
{
	json_t *used = first_of(s, key);

	for (size_t i = 1; i < s.count; i++)
		repeat_join_used(used, json_object_get(s.all[i], key));
	return used;
}

/* Those that all have: their clocks differ, so no percentile is of all of them. */
static json_t *intervals_of(struct sides s, const char *key)
{
	json_t *list = json_array();
	size_t used = SIZE_MAX;

	for (size_t i = 0; i < s.count; i++) {
		size_t has = json_array_size(json_object_get(s.all[i], key));

		used = has < used ? has : used;
	}
	for (size_t at = 0; at < used; at++) {
		json_int_t t_ns = 0, ops = 0, bytes = 0, max_ns = 0;

		for (size_t i = 0; i < s.count; i++) {
			const json_t *one = json_array_get(json_object_get(s.all[i], key), at);
			json_int_t end = path_whole(one, "t_ns");
			json_int_t slow = path_whole(one, "max_ns");

			t_ns = end > t_ns ? end : t_ns;
			max_ns = slow > max_ns ? slow : max_ns;
			ops += path_whole(one, "ops");
			bytes += path_whole(one, "bytes");
		}
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:I, s:n, s:n, s:o}", "t_ns", t_ns, "ops", ops,
					"bytes", bytes, "p50_ns", "p99_ns", "max_ns",
					ops > 0 ? json_integer(max_ns) : json_null()));
	}
	return list;
}

static json_t *threads_of(struct sides s, const char *path)
{
	json_t *list = json_array();
	const json_t *thread;
	size_t index;

	for (size_t i = 0; i < s.count; i++) {
		json_array_foreach(path_get(s.all[i], path), index, thread)
		{
			json_t *copy = json_deep_copy(thread);

			json_object_set_new(copy, "rank", result_integer(i));
			json_object_set_new(copy, "index", result_integer(json_array_size(list)));
			json_array_append_new(list, copy);
		}
	}
	return list;
}

static json_t *warnings_of(struct sides s, const char *key)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s.count; i++)
		json_array_extend(list, json_object_get(s.all[i], key));
	return list;
}

/* All began together: what they did took as long as the longest of them. */
static int put_rates(json_t *object, struct sides s)
{
	json_t *ops = sum_of(s, "ops"), *bytes = sum_of(s, "bytes");
	json_t *elapsed = most_of(s, "elapsed_ns");
	double span = json_number_value(elapsed) / 1e9;
	double ops_per_s = span > 0 ? json_number_value(ops) / span : NAN;
	double bytes_per_s = span > 0 ? json_number_value(bytes) / span : NAN;
	int bad = 0;

	bad |= json_object_set_new(object, "ops_per_s", result_real(ops_per_s));
	bad |= json_object_set_new(object, "bytes_per_s",
				   json_is_null(bytes) ? json_null() : result_real(bytes_per_s));
	bad |= json_object_set_new(object, "ops", ops);
	bad |= json_object_set_new(object, "bytes", bytes);
	bad |= json_object_set_new(object, "elapsed_ns", elapsed);
	return bad;
}

static json_t *reverse_of(struct sides s, const char *key)
{
	const json_t **reverse = calloc(s.count, sizeof(*reverse));
	struct sides inner = {reverse, s.count};
	json_t *value = NULL;

	for (size_t i = 0; reverse != NULL && i < s.count; i++)
		reverse[i] = json_object_get(s.all[i], key);
	if (reverse != NULL && json_is_object(reverse[0])) {
		value = json_pack("{s:o, s:o}", "latency", latency_of(inner, "latency"), "threads",
				  threads_of(inner, "threads"));
		if (put_rates(value, inner) != 0) {
			json_decref(value);
			value = NULL;
		}
	} else if (reverse != NULL) {
		value = json_null();
	}
	free(reverse);
	return value;
}

static json_t *verify_of(struct sides s, const char *key)
{
	const json_t *offset = NULL;

	for (size_t i = 0; i < s.count; i++) {
		if (!json_is_object(json_object_get(s.all[i], key)))
			return json_null();
		if (!json_is_integer(offset))
			offset = path_get(s.all[i], "verify/first_offset");
	}
	return json_pack("{s:o, s:o, s:o, s:O?, s:o}", "overwritten_bytes",
			 sum_of(s, "verify/overwritten_bytes"), "checked_bytes",
			 sum_of(s, "verify/checked_bytes"), "mismatches",
			 sum_of(s, "verify/mismatches"), "first_offset", offset, "method",
			 same_of(s, "verify/method"));
}

static json_t *warmup_of(struct sides s, const char *key)
{
	int steady = 1;

	for (size_t i = 0; i < s.count; i++) {
		const json_t *one = json_object_get(json_object_get(s.all[i], key), "steady");

		if (json_is_false(one))
			steady = 0;
		else if (!json_is_true(one) && steady == 1)
			steady = -1;
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "ns", most_of(s, "warmup/ns"), "ops",
			 sum_of(s, "warmup/ops"), "steady",
			 steady < 0 ? json_null() : json_boolean(steady), "windows_used",
			 least_of(s, "warmup/windows_used"));
}

/* Processor time of all clients; of the servers the busiest. */
static json_t *cpu_of(struct sides s, const char *key)
{
	double busy = 0;

	for (size_t i = 0; i < s.count; i++) {
		const json_t *one =
			path_get(json_object_get(s.all[i], key), "client/busy_fraction");

		busy = json_is_number(one) ? busy + json_number_value(one) : NAN;
	}
	return json_pack("{s:{s:o}, s:{s:o, s:o}}", "client", "busy_fraction", result_real(busy),
			 "server", "busy_fraction", most_of(s, "cpu/server/busy_fraction"),
			 "load_fraction_measured", most_of(s, "cpu/server/load_fraction_measured"));
}

/* The busiest host's; ranks on one host count each other. */
static json_t *interference_of(struct sides s, const char *key)
{
	static const char *const keys[] = {"other_cpu_ns", "steal_ns", "cpus", "all_cpu_ns"};
	static const char *const ends[] = {"client", "server"};
	json_t *merged = json_object();
	char path[64];

	for (size_t e = 0; e < 2; e++) {
		json_t *end = json_object();

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			snprintf(path, sizeof(path), "%s/%s/%s", key, ends[e], keys[k]);
			json_object_set_new(end, keys[k], most_of(s, path));
		}
		if (json_is_null(json_object_get(end, "cpus"))) {
			json_decref(end);
			end = json_null();
		}
		json_object_set_new(merged, ends[e], end);
	}
	return merged;
}

/* That of the rank that was stopped longest; several may be in one group. */
static json_t *worst_quota(struct sides s, const char *path)
{
	const json_t *worst = path_get(s.all[0], path);

	for (size_t i = 0; i < s.count; i++) {
		const json_t *one = path_get(s.all[i], path);

		if (!json_is_object(one))
			return json_null();
		if (json_is_false(json_object_get(worst, "limited")) ||
		    path_whole(one, "throttled_ns") > path_whole(worst, "throttled_ns"))
			worst = one;
	}
	return json_deep_copy(worst);
}

static json_t *quotas_of(struct sides s, const char *key)
{
	(void)key;
	return json_pack("{s:o, s:o}", "client", worst_quota(s, "cpu_quota/client"), "server",
			 worst_quota(s, "cpu_quota/server"));
}

static json_t *complete_of(struct sides s, const char *key)
{
	for (size_t i = 0; i < s.count; i++) {
		if (!json_is_true(json_object_get(s.all[i], key)))
			return json_false();
	}
	return json_true();
}

/* Several clients would count the same on one device. */
static json_t *null_of(struct sides s, const char *key)
{
	(void)s;
	(void)key;
	return json_null();
}

#define WAY(name, join, ...)                                                                       \
	{                                                                                          \
		.key = #name, .merge = join##_of                                                   \
	}

/* How keys are merged that are no counts to add up, and no latencies. */
static const struct {
	const char *key;
	json_t *(*merge)(struct sides s, const char *key);
} ways[] = {
	{"index", first_of},
	{"order", first_of},
	{"complete", complete_of},
	{"used", used_of},
	{"elapsed_ns", most_of},
	PLAIN_COUNT_ROWS(WAY, PLAIN_COUNT_COMMA),
	{"steps", steps_of},
	{"warmup", warmup_of},
	{"intervals", intervals_of},
	{"threads", threads_of},
	{"cpu", cpu_of},
	{"interference", interference_of},
	{"cpu_quota", quotas_of},
	{"counters", null_of},
	{"persist_method", same_of},
	{"verify", verify_of},
	{"reverse", reverse_of},
	{"placement", NULL}, /* each rank has its own */
	{"warnings", warnings_of},
};

static int merge_key(json_t *merged, struct sides s, const struct schema *field)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].key, field->key) == 0)
			return ways[i].merge == NULL
				       ? 0
				       : json_object_set_new(merged, field->key,
							     ways[i].merge(s, field->key));
	}
	return json_object_set_new(merged, field->key,
				   field->kind == SCHEMA_LATENCY ? latency_of(s, field->key)
								 : sum_of(s, field->key));
}

json_t *merge_repeats(const json_t *const *repeats, size_t count)
{
	struct sides s = {repeats, count};
	json_t *merged = count > 0 ? json_object() : NULL;
	int bad = 0;

	if (merged == NULL)
		return NULL;
	for (const struct schema *field = repeat_fields; field->key != NULL; field++)
		bad |= merge_key(merged, s, field);
	bad |= put_rates(merged, s);
	if (bad != 0) {
		json_decref(merged);
		return NULL;
	}
	return merged;
}
