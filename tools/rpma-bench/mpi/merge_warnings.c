/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_warnings.c -- puts the warnings of several measurements together.
 *
 * Of n ranks there may be n (n - 1) measurements, which warn of the same with other figures:
 * written out they would hide everything else.
 */
#include "merge_warnings.h"

#include <stdbool.h>

#include "common/json/json_path.h"
#include "tools/rpma-bench/result/warning.h"

struct merging {
	const struct rank_warnings *all;
	size_t count;
};

static bool all_have(const struct merging *m, const json_t *warning)
{
	for (size_t i = 0; i < m->count; i++) {
		const json_t *one;
		bool found = false;
		size_t index;

		json_array_foreach(m->all[i].list, index, one)
		{
			found = found || json_equal(one, warning);
		}
		if (!found)
			return false;
	}
	return true;
}

/* Equal in all but the text, and not a warning that every rank has. */
static bool same_kind(const struct merging *m, const json_t *one, const json_t *warning)
{
	static const char *const keys[] = {"code", "severity", "host"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!path_is(one, keys[i], path_text(warning, keys[i])))
			return false;
	}
	return !all_have(m, one);
}

/* How many of its kind are in a list, up to the warning itself. */
static size_t kind_in(const struct merging *m, const json_t *list, const json_t *warning)
{
	const json_t *one;
	size_t index, found = 0;

	json_array_foreach(list, index, one)
	{
		found += same_kind(m, one, warning);
		if (one == warning)
			break;
	}
	return found;
}

/* How many lists have as many of the kind; 0: one before this one has, and speaks for all. */
static size_t count_lists(const struct merging *m, size_t from, const json_t *warning)
{
	size_t nth = kind_in(m, m->all[from].list, warning), count = 0;

	for (size_t i = 0; i < m->count; i++) {
		bool found = kind_in(m, m->all[i].list, warning) >= nth;

		if (found && i < from)
			return 0;
		count += found;
	}
	return count;
}

static json_t *merged_text(const struct merging *m, size_t from, const json_t *warning)
{
	const char *text = path_text(warning, "text");
	size_t count;

	if (all_have(m, warning))
		return json_string(text);
	count = count_lists(m, from, warning);
	if (count > 1)
		return json_sprintf("%zu of %zu measurements, the first by rank %d: %s", count,
				    m->count, m->all[from].rank, text);
	return count == 1 ? json_sprintf("rank %d: %s", m->all[from].rank, text) : NULL;
}

json_t *warnings_merge(const struct rank_warnings *all, size_t count)
{
	const struct merging m = {all, count};
	json_t *merged = json_array(), *one;
	size_t index;

	for (size_t i = 0; i < count; i++) {
		json_array_foreach(all[i].list, index, one)
		{
			warning_add(merged, path_text(one, "code"), path_text(one, "severity"),
				    path_text(one, "host"), merged_text(&m, i, one));
		}
	}
	return merged;
}
