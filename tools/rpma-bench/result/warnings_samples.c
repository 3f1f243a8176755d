/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings_samples.c -- how much longer repeats must be for the percentiles of
 * the table.
 */
#include "warnings.h"

#include <math.h>
#include <stdio.h>

#include "common/base/histogram.h"
#include "common/json/json_path.h"
#include "warning.h"

/* The repeat with the fewest samples of all that lack a percentile. */
struct shortage {
	const json_t *point, *repeat;
	double samples;
	size_t points;
};

static void find_fewest(const json_t *point, struct shortage *s)
{
	const json_t *repeat;
	size_t index;

	s->points++;
	json_array_foreach(json_object_get(point, "repeats"), index, repeat)
	{
		double samples = json_number_value(path_get(repeat, "latency/count"));

		if (!json_is_true(json_object_get(repeat, "complete")) || samples <= 0 ||
		    (s->repeat != NULL && samples >= s->samples))
			continue;
		s->point = point;
		s->repeat = repeat;
		s->samples = samples;
	}
}

static json_t *advise(const struct shortage *s, const char *name, double needed, size_t points)
{
	double longer = needed / s->samples;
	double ops = json_number_value(path_get(s->point, "stop/ops"));
	double ms = json_number_value(json_object_get(s->repeat, "elapsed_ns")) / 1e6;
	char option[64];

	if (ops > 0)
		snprintf(option, sizeof(option), "--ops %.0f", ceil(ops * longer));
	else
		snprintf(option, sizeof(option), "--duration %.0fms", ceil(ms * longer));
	return json_sprintf("%s is not known for %zu of %zu points: it needs %.0f samples in each "
			    "repeat, one of %s had %.0f: %s or more",
			    name, s->points, points, needed,
			    json_string_value(json_object_get(s->point, "id")), s->samples, option);
}

void warn_samples(const json_t *points, json_t *list)
{
	static const struct {
		const char *name, *path;
		double p;
	} rows[] = {
		{"p99.9", "summary/latency/percentiles/p=0.999/ns", 0.999},
		{"p99", "summary/latency/percentiles/p=0.99/ns", 0.99},
		{"p50", "summary/latency/percentiles/p=0.5/ns", 0.5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shortage s = {0};
		const json_t *point;
		size_t index;

		json_array_foreach(points, index, point)
		{
			if (json_is_null(path_get(point, rows[i].path)))
				find_fewest(point, &s);
		}
		if (s.repeat == NULL)
			continue;
		warning_add(list, "TOO_FEW_SAMPLES", "info", "client",
			    advise(&s, rows[i].name,
				   ceil(HISTOGRAM_SAMPLES_BEYOND / (1 - rows[i].p) - 1e-6),
				   json_array_size(points)));
		return; /* what the highest needs is enough for the others */
	}
}
