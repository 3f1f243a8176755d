/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_result.c -- how much was written, as the result of rpma-bench has it.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>

#include "common/json/json_path.h"
#include "probe_traffic.h"

/* Larger than any run gives; the sum of two still fits. */
#define BYTES_MAX (INT64_MAX / 4)

static int64_t integer_at(const json_t *object, const char *path)
{
	const json_t *value = path_get(object, path);
	json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number >= 0 && number <= BYTES_MAX ? number : -1;
}

/* The writes of the warm-up are traffic like those that were measured. */
static int read_point(const json_t *point, struct probe_traffic *traffic)
{
	const json_t *repeats = json_object_get(point, "repeats");
	int64_t size = integer_at(point, "params/size_bytes");
	int64_t warmup = integer_at(point, "warmup/ops");
	int64_t measured = integer_at(json_array_get(repeats, 0), "bytes");
	int64_t node = integer_at(point, "params/target_memory/numa_node");

	if (size <= 0 || warmup < 0 || measured < 0 || json_array_size(repeats) != 1 ||
	    warmup > BYTES_MAX / size)
		return -EINVAL;
	traffic->bytes = measured + warmup * size;
	traffic->numa_node = node <= INT_MAX ? (int)node : -1;
	return 0;
}

int probe_traffic_read(const char *text, size_t len, struct probe_traffic *traffic)
{
	json_t *document = json_loadb(text, len, 0, NULL);
	const json_t *points = json_object_get(document, "points");
	int ret = -EINVAL;

	if (path_is(document, "schema", "rpma-bench/1") &&
	    path_is(document, "run/status", "complete") && json_array_size(points) == 1)
		ret = read_point(json_array_get(points, 0), traffic);
	json_decref(document);
	return ret;
}
