/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c -- the line that a waiting user sees, once a repeat. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/cli.h"
#include "common/base/monotonic.h"
#include "common/base/units.h"

#define LOOKS 10 /* an interval */

static void print_percentile(const char *name, const struct histogram *h, double p)
{
	struct percentile value = histogram_percentile(h, p);
	char text[UNITS_TEXT_BYTES];

	fprintf(stderr, "  %s %s", name, value.known ? units_print_duration(value.ns, text) : "-");
}

static void print_line(const struct live_view *view, uint32_t threads)
{
	const struct live_snapshot *s = view->now;
	char text[UNITS_TEXT_BYTES];

	fprintf(stderr, "%7.1f s  %.0f op/s  %.3f %s", (double)s->end_ns / 1e9, s->ops_per_s,
		s->bytes_per_s / (s->bytes_per_s < 1e8 ? 1e6 : 1e9),
		s->bytes_per_s < 1e8 ? "MB/s" : "GB/s");
	print_percentile("p50", &s->latency, 0.5);
	print_percentile("p99", &s->latency, 0.99);
	print_percentile("p99.9", &s->latency, 0.999);
	fprintf(stderr, "  max %s",
		s->latency.count > 0 ? units_print_duration((double)s->latency.max_ns, text) : "-");
	if (view->open_loop)
		fprintf(stderr, "  late %" PRIu64, s->late_ops);
	/* the first error ends the run, with a message of its own */
	fputs("  errors 0", stderr);
	if (threads < view->threads)
		fprintf(stderr, "  (%" PRIu32 " of %" PRIu32 " threads)", threads, view->threads);
	fputc('\n', stderr);
}

static void show(struct live_view *view)
{
	uint32_t threads;

	live_clear(view->now);
	threads = workers_live_take(view->workers, view->now);
	view->shown_ns = clock_raw_ns();
	if (threads == 0)
		view->now->end_ns = view->shown_ns - view->begin_ns;
	print_line(view, threads);
}

static void on_timer(void *arg)
{
	struct live_view *view = arg;
	uint64_t expired;

	if (read(view->watch.fd, &expired, sizeof(expired)) != sizeof(expired))
		return;
	if (workers_live_ready(view->workers) == view->threads ||
	    clock_raw_ns() - view->shown_ns > 2 * view->interval_ns)
		show(view);
}

static void print_title(const struct run *run, size_t order)
{
	const struct record *r = &run->record;
	const struct plan_trial *trial = &r->plan.trials[order];
	char text[PLAN_DESCRIPTION_MAX];

	cli_progress(&r->options->cli, NULL);
	if (r->plan.trials_count > 1)
		fprintf(stderr, "p%04zu, repeat %u: %s\n", trial->point, trial->repeat + 1,
			plan_describe(&r->plan, trial->point, &r->options->selector, text));
}

void live_view_open(struct live_view *view, const struct run *run, size_t order,
		    const struct workers *workers)
{
	uint64_t interval_ns = run->record.options->interval_ns;
	const struct itimerspec timer = {timespec_of_ns(interval_ns / LOOKS),
					 timespec_of_ns(interval_ns / LOOKS)};
	const struct params *p = &run->record.plan.points[run->record.plan.trials[order].point];

	*view = (struct live_view){
		.watch = {-1, on_timer, view},
		.workers = workers,
		.interval_ns = interval_ns,
		.begin_ns = clock_raw_ns(),
		.shown_ns = clock_raw_ns(),
		.threads = p->threads,
		.open_loop = p->test == BENCH_RATE,
	};
	if (interval_ns == 0)
		return;
	view->now = calloc(1, sizeof(*view->now));
	view->watch.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (view->now == NULL || view->watch.fd < 0 ||
	    timerfd_settime(view->watch.fd, 0, &timer, NULL) != 0) {
		live_view_close(view);
		return;
	}
	print_title(run, order);
}

void live_view_close(struct live_view *view)
{
	if (view->now != NULL && view->watch.fd >= 0 && workers_live_ready(view->workers) > 0)
		show(view);
	if (view->watch.fd >= 0)
		close(view->watch.fd);
	free(view->now);
	view->now = NULL;
	view->watch.fd = -1;
}

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
