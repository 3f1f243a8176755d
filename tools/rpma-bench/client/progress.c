/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c -- the line that a waiting user sees, once a repeat.
 */
#include "progress.h"

#include <stdio.h>

#include "common/base/cli.h"

#define LINE_MAX_BYTES 512

uint64_t progress_repeat_ns(const struct options *options)
{
	if (options->ops != 0 || options->endless)
		return 0;
	return options->warmup_ns + options->duration_ns + PROGRESS_OVERHEAD_NS;
}

uint64_t progress_left_s(const struct progress *progress, uint64_t now_ns)
{
	uint64_t each = progress->repeat_ns;

	if (progress->measured > 0)
		each = (now_ns - progress->begin_ns) / progress->measured;
	if (each == 0)
		return UINT64_MAX;
	/* in milliseconds, which cannot overflow for the most repeats of the longest time */
	return (each / 1000000 * progress->left + 999) / 1000;
}

void progress_show(const struct progress *progress, const struct options *options,
		   const struct plan *plan, size_t order, uint64_t now_ns)
{
	const struct plan_trial *trial = &plan->trials[order];
	uint64_t left_s = progress_left_s(progress, now_ns);
	char line[LINE_MAX_BYTES], point[PLAN_DESCRIPTION_MAX], span[UNITS_TEXT_BYTES];

	/* the time first: a narrow terminal cuts the end */
	snprintf(line, sizeof(line), "%zu/%zu, %s left: %s, repeat %u", order + 1,
		 plan->trials_count,
		 left_s == UINT64_MAX ? "unknown time" : units_print_span(left_s, span),
		 plan_describe(plan, trial->point, &options->selector, point), trial->repeat + 1);
	cli_progress(&options->cli, line);
}
