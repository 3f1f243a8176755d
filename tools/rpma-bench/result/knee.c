/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * knee.c -- bisection between the highest rate that was kept and the lowest
 * one that was missed, by ratios: a rate is as likely between 1k and 2k as
 * between 10k and 20k.
 */
#include "knee.h"

#include <math.h>

#include "common/json/json_path.h"

/* The share of its time that the last operations of a plan may take beyond it. */
#define DRAIN 0.005

const struct knee_trial *knee_kept(const struct knee *knee)
{
	const struct knee_trial *best = NULL;

	for (size_t i = 0; i < knee->trials_count; i++) {
		const struct knee_trial *t = &knee->trials[i];

		if (t->verdict == KNEE_KEPT && (best == NULL || t->rate_per_s > best->rate_per_s))
			best = t;
	}
	return best;
}

const struct knee_trial *knee_missed(const struct knee *knee)
{
	const struct knee_trial *least = NULL;

	for (size_t i = 0; i < knee->trials_count; i++) {
		const struct knee_trial *t = &knee->trials[i];

		if (t->verdict == KNEE_MISSED &&
		    (least == NULL || t->rate_per_s < least->rate_per_s))
			least = t;
	}
	return least;
}

static bool any_unknown(const struct knee *knee)
{
	for (size_t i = 0; i < knee->trials_count; i++) {
		if (knee->trials[i].verdict == KNEE_UNKNOWN)
			return true;
	}
	return false;
}

static struct knee_next end(void)
{
	return (struct knee_next){.step = KNEE_END};
}

static struct knee_next try(const struct knee *knee, uint64_t rate)
{
	if (knee->trials_count == KNEE_TRIALS_MAX)
		return end();
	return (struct knee_next){.step = KNEE_TRY, .rate_per_s = rate};
}

/* The first of the two that was measured only once; NULL is fine. */
static struct knee_next again(const struct knee *knee, const struct knee_trial *a,
			      const struct knee_trial *b)
{
	const struct knee_trial *t = a != NULL && !a->again ? a : b;

	if (t == NULL || t->again)
		return end();
	return (struct knee_next){.step = KNEE_AGAIN, .trial = (size_t)(t - knee->trials)};
}

/* All were missed. */
static struct knee_next go_down(const struct knee *knee, const struct knee_trial *missed)
{
	uint64_t rate = missed->rate_per_s / 2;

	if (knee->low > 0 || rate == 0 || rate < knee->first / KNEE_LOWEST)
		return again(knee, missed, NULL);
	return try(knee, rate);
}

/* All were kept. */
static struct knee_next go_up(const struct knee *knee, const struct knee_trial *kept)
{
	uint64_t top = knee->high > 0 ? knee->high : PARAMS_RATE_MAX;
	uint64_t rate = knee->high > 0 ? knee->high : kept->rate_per_s * 2;

	if (kept->rate_per_s >= top)
		return again(knee, kept, NULL);
	return try(knee, rate < top ? rate : top);
}

static struct knee_next go_between(const struct knee *knee, uint64_t low, uint64_t high,
				   struct knee_next ends)
{
	uint64_t rate = (uint64_t)(sqrt((double)low * (double)high) + 0.5);

	if ((double)high <= (double)low * (1 + KNEE_GAP) || rate <= low || rate >= high)
		return ends;
	return try(knee, rate);
}

struct knee_next knee_next(const struct knee *knee)
{
	const struct knee_trial *kept = knee_kept(knee), *missed = knee_missed(knee);

	if (any_unknown(knee))
		return end();
	if (kept == NULL && missed == NULL)
		return try(knee, knee->low > 0 ? knee->low : knee->first);
	if (kept == NULL)
		return go_down(knee, missed);
	if (missed == NULL)
		return go_up(knee, kept);
	/* they contradict each other: one of them may be noise */
	if (kept->rate_per_s > missed->rate_per_s)
		return again(knee, missed, kept);
	return go_between(knee, kept->rate_per_s, missed->rate_per_s, again(knee, kept, missed));
}

const char *knee_outcome(const struct knee *knee)
{
	const struct knee_trial *kept = knee_kept(knee), *missed = knee_missed(knee);

	if (any_unknown(knee))
		return "unknown";
	if (!knee->over)
		return "unfinished";
	if (kept == NULL)
		return missed != NULL ? "missed" : "unknown";
	if (missed == NULL)
		return "kept";
	return kept->rate_per_s > missed->rate_per_s ? "unclear" : "found";
}

bool knee_achieved(const json_t *repeats, uint64_t duration_ns, const struct params *params)
{
	double at_once = params->arrivals.kind == BENCH_BURST ? params->arrivals.number : 1;
	double period_ns = 1e9 / (double)params->rate_per_s;
	double most = (double)duration_ns * (1 + DRAIN) + at_once * period_ns, sum = 0;
	const json_t *repeat;
	size_t index, count = 0;

	json_array_foreach(repeats, index, repeat) {
		if (!json_is_true(json_object_get(repeat, "complete")))
			continue;
		if (path_whole(repeat, "unbegun_ops") > 0)
			return false;
		sum += (double)path_whole(repeat, "elapsed_ns");
		count++;
	}
	return count > 0 && sum <= most * (double)count;
}
