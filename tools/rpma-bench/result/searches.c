/* SPDX-License-Identifier: BSD-3-Clause */
/* searches.c -- the outcome of --find-rate as JSON, and the line made of that. */
#include "output.h"

#include <math.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/json_path.h"
#include "common/json/result.h"

static json_t *trial_json(const struct knee_trial *t)
{
	return json_pack(
		"{s:o, s:o, s:o, s:b, s:o, s:b}", "point", json_sprintf("p%04zu", t->point),
		"rate_per_s", result_integer(t->rate_per_s), "kept",
		t->verdict == KNEE_UNKNOWN ? json_null() : json_boolean(t->verdict == KNEE_KEPT),
		"achieved", t->achieved, "value", result_real(t->value), "again", t->again);
}

static json_t *rate_json(const struct knee_trial *trial)
{
	return trial != NULL ? result_integer(trial->rate_per_s) : json_null();
}

static json_t *search_json(const struct knee *knee)
{
	const struct knee_trial *kept = knee_kept(knee), *missed = knee_missed(knee);
	const char *outcome = knee_outcome(knee);
	json_t *trials = json_array(), *gap = json_null();

	for (size_t i = 0; i < knee->trials_count; i++)
		json_array_append_new(trials, trial_json(&knee->trials[i]));
	if (strcmp(outcome, "found") == 0)
		gap = json_real((double)missed->rate_per_s / (double)kept->rate_per_s - 1);
	return json_pack(
		"{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "limit", knee->limit, "name",
		result_text(knee->name), "verdict", outcome, "highest_kept_per_s", rate_json(kept),
		"lowest_missed_per_s", rate_json(missed), "gap_fraction", gap, "needed_samples",
		knee->needed > 0 ? result_integer(knee->needed) : json_null(), "trials", trials);
}

json_t *searches_json(const struct knee *searches, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, search_json(&searches[i]));
	return list;
}

int searches_exit_code(const struct knee *searches, size_t count)
{
	int code = EXIT_GOOD;

	for (size_t i = 0; i < count; i++) {
		const char *outcome = knee_outcome(&searches[i]);

		if (strcmp(outcome, "missed") == 0)
			return EXIT_NEGATIVE;
		if (strcmp(outcome, "found") != 0 && strcmp(outcome, "kept") != 0)
			code = EXIT_NO_DEVICE;
	}
	return code;
}

/* Explains a metric that was not known, and what it takes to know it. */
static void print_unknown(FILE *to, const json_t *search)
{
	double needed = json_number_value(json_object_get(search, "needed_samples"));
	const json_t *trial;
	size_t index;

	fputs("not known", to);
	json_array_foreach(json_object_get(search, "trials"), index, trial) {
		double rate = json_number_value(json_object_get(trial, "rate_per_s"));

		if (!json_is_null(json_object_get(trial, "kept")))
			continue;
		fprintf(to, " at %.0f/s", rate);
		if (needed > 0)
			fprintf(to,
				": it needs %.0f samples in each repeat: --duration %.0fs or more, "
				"or a --rate LOW:HIGH that begins higher",
				needed, ceil(needed / rate));
	}
	fputc('\n', to);
}

/* Notes that the rate itself was missed, whatever the figure was. */
static void print_why(FILE *to, const json_t *search, double missed)
{
	const json_t *trial;
	size_t index;

	json_array_foreach(json_object_get(search, "trials"), index, trial) {
		double rate = json_number_value(json_object_get(trial, "rate_per_s"));

		if (rate == missed && json_is_false(json_object_get(trial, "achieved")))
			fprintf(to, ": %.0f/s was not achieved", rate);
	}
	fputc('\n', to);
}

static void print_search(FILE *to, const json_t *search)
{
	const char *verdict = path_text(search, "verdict"), *name = path_text(search, "name");
	double kept = json_number_value(json_object_get(search, "highest_kept_per_s"));
	double missed = json_number_value(json_object_get(search, "lowest_missed_per_s"));
	double gap = json_number_value(json_object_get(search, "gap_fraction"));

	fprintf(to, "%s%s%s: ", name, name[0] != '\0' ? ": " : "", path_text(search, "limit"));
	if (strcmp(verdict, "found") == 0)
		fprintf(to, "kept up to %.0f/s, missed at %.0f/s, %.1f %% above", kept, missed,
			gap * 100);
	else if (strcmp(verdict, "kept") == 0)
		fprintf(to, "kept up to %.0f/s, the highest rate of the search\n", kept);
	else if (strcmp(verdict, "missed") == 0)
		fprintf(to, "missed even at %.0f/s", missed);
	else if (strcmp(verdict, "unclear") == 0)
		fprintf(to,
			"between %.0f/s and %.0f/s: the lower was missed and the higher kept, "
			"both measured twice\n",
			missed, kept);
	else if (strcmp(verdict, "unknown") == 0)
		print_unknown(to, search);
	else
		fputs("not found: the search was not finished\n", to);
	if (strcmp(verdict, "found") == 0 || strcmp(verdict, "missed") == 0)
		print_why(to, search, missed);
}

void searches_print(FILE *to, const json_t *searches)
{
	const json_t *search;
	size_t index;

	json_array_foreach(searches, index, search) {
		print_search(to, search);
	}
}
