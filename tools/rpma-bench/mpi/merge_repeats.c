/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_repeats.c -- makes one repeat from those that several clients measured
 * together, in the JSON that a journal or another rank brings.
 *
 * The rows of repeat_schema.c say how.
 */
#include "merge_documents.h"

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "tools/rpma-bench/result/join.h"
#include "tools/rpma-bench/result/repeat_schema.h"

/* One behind the other, those of the first client first. */
static void number_threads(const json_t *threads, struct sides s, const char *path)
{
	size_t at = 0;

	for (size_t i = 0; i < s.count; i++) {
		size_t until = at + json_array_size(path_get(s.all[i], path));

		for (; at < until; at++) {
			json_t *thread = json_array_get(threads, at);

			json_object_set_new(thread, "rank", result_integer(i));
			json_object_set_new(thread, "index", result_integer(at));
		}
	}
}

json_t *merge_repeats(const json_t *const *repeats, size_t count)
{
	struct sides s = {repeats, count, false};
	json_t *merged = count > 0 ? join_objects(s, repeat_fields) : NULL;

	number_threads(path_get(merged, "threads"), s, "threads");
	number_threads(path_get(merged, "reverse/threads"), s, "reverse/threads");
	return merged;
}
