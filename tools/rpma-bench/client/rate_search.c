/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rate_search.c -- each trial of a search is a point of the result like any
 * other, with its repeats; result/knee.c chooses the next rate.
 *
 * Without a bracket the search begins at half of what the same operations reach
 * in a closed loop, which is measured first, and is a point as well.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/histogram.h"
#include "tools/rpma-bench/options/slo.h"
#include "tools/rpma-bench/result/point.h"

static int out_of_memory(void)
{
	return failure_set(EXIT_INTERNAL, "search", "out of memory");
}

/* Another point at the end of the plan, with no repeats yet. */
static int add_point(struct record *r, const struct params *params, size_t *point)
{
	size_t count = r->plan.points_count;
	json_t **repeats = realloc(r->repeats, (count + 1) * sizeof(*repeats));
	char **unsupported = NULL;

	if (repeats != NULL) {
		r->repeats = repeats;
		unsupported = realloc(r->unsupported, (count + 1) * sizeof(*unsupported));
	}
	if (unsupported == NULL)
		return out_of_memory();
	r->unsupported = unsupported;
	r->unsupported[count] = NULL;
	r->repeats[count] = json_array();
	if (r->repeats[count] == NULL || plan_add_point(&r->plan, params) != 0) {
		json_decref(r->repeats[count]);
		return out_of_memory();
	}
	*point = count;
	return 0;
}

/* The next repeats of a point; -ENOTSUP: the server cannot serve it. */
static int measure_point(struct run *run, size_t point, uint32_t repeats)
{
	struct record *r = &run->record;
	size_t order = r->plan.trials_count;
	int ret = plan_add_trials(&r->plan, point, repeats);

	for (; order < r->plan.trials_count && ret == 0; order++) {
		ret = cli_signal != 0 ? -ECANCELED : run_measure_trial(run, order);
		if (ret == 0 && r->unsupported[point] != NULL)
			return -ENOTSUP;
		if (ret == 0 && !connection_alive(run->control.connection, 0))
			ret = -EIO;
	}
	return ret;
}

static void show(const struct run *run, const struct knee *knee, uint64_t rate)
{
	const struct knee_trial *kept = knee_kept(knee), *missed = knee_missed(knee);
	char line[256];
	int used = snprintf(line, sizeof(line), "search, trial %zu: %" PRIu64 "/s",
			    knee->trials_count + 1, rate);

	if (kept != NULL)
		used += snprintf(line + used, sizeof(line) - (size_t)used,
				 ", kept at %" PRIu64 "/s", kept->rate_per_s);
	if (missed != NULL)
		snprintf(line + used, sizeof(line) - (size_t)used, ", missed at %" PRIu64 "/s",
			 missed->rate_per_s);
	cli_progress(&run->record.options->cli, line);
}

/* Judges a trial by all of its repeats. */
static int judge(const struct record *r, const struct knee *knee, struct knee_trial *trial)
{
	json_t *repeats = r->repeats[trial->point];
	json_t *point =
		json_pack("{s:O, s:o}", "repeats", repeats, "summary", point_summary(repeats));
	enum slo_verdict verdict;

	if (point == NULL)
		return out_of_memory();
	verdict = slo_of_point(knee->limit, point, &trial->value);
	json_decref(point);
	trial->achieved =
		knee_achieved(repeats, r->options->duration_ns, &r->plan.points[trial->point]);
	if (!trial->achieved || verdict == SLO_MISSED)
		trial->verdict = KNEE_MISSED;
	else
		trial->verdict = verdict == SLO_KEPT ? KNEE_KEPT : KNEE_UNKNOWN;
	return 0;
}

/* A new rate, or an old one again: knee->trials has it once it is judged. */
static int try_rate(struct run *run, struct knee *knee, const struct params *base,
		    const struct knee_next *next)
{
	struct record *r = &run->record;
	struct params params = *base;
	struct knee_trial trial = {.rate_per_s = next->rate_per_s};
	int ret = 0;

	if (next->step == KNEE_AGAIN) {
		trial = knee->trials[next->trial];
		trial.again = true;
	} else {
		params.rate_per_s = next->rate_per_s;
		ret = add_point(r, &params, &trial.point);
	}
	show(run, knee, trial.rate_per_s);
	if (ret == 0)
		ret = measure_point(run, trial.point, r->options->repeats);
	if (ret == 0)
		ret = judge(r, knee, &trial);
	if (ret == 0)
		knee->trials[next->step == KNEE_AGAIN ? next->trial : knee->trials_count++] = trial;
	return ret;
}

/* Half of the rate of the same operations in a closed loop. */
static int find_first(struct run *run, struct knee *knee, const struct params *base)
{
	struct params closed = *base;
	double rate;
	size_t point = 0;
	int ret;

	closed.test = BENCH_BW;
	closed.rate_per_s = 0;
	closed.arrivals = (struct variant){BENCH_EVEN, 0};
	ret = add_point(&run->record, &closed, &point);
	if (ret == 0)
		ret = measure_point(run, point, 1);
	if (ret)
		return ret;
	rate = json_number_value(
		json_object_get(json_array_get(run->record.repeats[point], 0), "ops_per_s"));
	knee->first = rate >= 2 ? (uint64_t)(rate / 2) : 1;
	if (knee->first > PARAMS_RATE_MAX)
		knee->first = PARAMS_RATE_MAX;
	return 0;
}

static int search(struct run *run, struct knee *knee, const struct params *base)
{
	int ret = knee->low == 0 ? find_first(run, knee, base) : 0;

	while (ret == 0) {
		const struct knee_next next = knee_next(knee);

		if (next.step == KNEE_END)
			break;
		ret = try_rate(run, knee, base, &next);
	}
	knee->over = ret == 0;
	/* a server that cannot serve it has said why, and that is in the result */
	return ret == -ENOTSUP ? 0 : ret;
}

static int prepare(struct record *r, struct knee *knee, const struct plan *bases, size_t point)
{
	double p = slo_quantile(r->options->find_rate);
	char text[PLAN_DESCRIPTION_MAX];

	*knee = (struct knee){
		.limit = r->options->find_rate,
		.name = strdup(plan_describe(bases, point, &r->options->selector, text)),
		.low = r->options->rate_low,
		.high = r->options->rate_high,
		.needed = p > 0 ? (uint64_t)ceil(HISTOGRAM_SAMPLES_BEYOND / (1 - p) - 1e-6) : 0,
	};
	return knee->name != NULL ? 0 : out_of_memory();
}

/* Takes the plan over, with what cannot be served of it. */
static int take_bases(struct record *r, struct plan *bases, char ***refused)
{
	*bases = r->plan;
	*refused = r->unsupported;
	for (size_t i = 0; i < bases->points_count; i++)
		json_decref(r->repeats[i]);
	free(r->repeats);
	r->plan = (struct plan){.varying = bases->varying | 1U << AXIS_RATE};
	r->repeats = NULL;
	r->unsupported = NULL;
	r->searches =
		bases->points_count > 0 ? calloc(bases->points_count, sizeof(*r->searches)) : NULL;
	return r->searches != NULL ? 0 : out_of_memory();
}

/* One that cannot be served stays a point of the plan, for its reason. */
static int keep_refused(struct record *r, const struct params *base, char **reason)
{
	size_t point = 0;
	int ret = add_point(r, base, &point);

	if (ret == 0) {
		r->unsupported[point] = *reason;
		*reason = NULL;
	}
	return ret;
}

int rate_search_run(struct run *run)
{
	struct record *r = &run->record;
	char **refused = NULL;
	struct plan bases;
	int ret = take_bases(r, &bases, &refused);

	for (size_t i = 0; i < bases.points_count && ret == 0; i++) {
		struct knee *knee = &r->searches[r->searches_count];

		if (refused[i] != NULL) {
			ret = keep_refused(r, &bases.points[i], &refused[i]);
			continue;
		}
		ret = prepare(r, knee, &bases, i);
		r->searches_count++;
		if (ret == 0)
			ret = search(run, knee, &bases.points[i]);
	}
	cli_progress(&r->options->cli, NULL);
	for (size_t i = 0; i < bases.points_count; i++)
		free(refused[i]);
	free(refused);
	plan_free(&bases);
	return ret;
}
