/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.c -- puts together what the threads of a repeat measured. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "repeat.h"

struct threads {
	const struct workers *workers;
	uint32_t count;
};

static const struct worker_figures *figures_of(const struct threads *t, uint32_t thread)
{
	return workers_figures(t->workers, thread);
}

static void merge_warmup(const struct threads *t, struct measured *sum)
{
	unsigned used = MEASURE_WINDOWS;

	*sum = (struct measured){0};
	for (uint32_t i = 0; i < t->count; i++) {
		const struct measured *m = &figures_of(t, i)->warmup;

		sum->ops += m->ops;
		sum->read_ops += m->read_ops;
		if (m->elapsed_ns > sum->elapsed_ns)
			sum->elapsed_ns = m->elapsed_ns;
		if (m->windows_used < used)
			used = m->windows_used;
	}
	/* they began together, so the last windows of all cover the same time */
	for (uint32_t i = 0; i < t->count; i++) {
		const struct measured *m = &figures_of(t, i)->warmup;

		for (unsigned k = 0; k < used; k++)
			sum->windows[k] += m->windows[m->windows_used - used + k];
	}
	sum->windows_used = used;
}

/*
 * An operation that was planned takes its period, however fast it was done:
 * the last one is not waited for, and a plan of few would seem much faster. The number of
 * random arrivals does not predict their time: those take the time of the plan.
 */
static uint64_t planned_ns(const struct message_begin *begin, const struct repeat *r)
{
	const struct params *p = &begin->params;

	if (p->rate_per_s == 0)
		return 0;
	if (p->arrivals.kind == BENCH_POISSON)
		return begin->ops == 0 && r->complete ? begin->duration_ns : 0;
	return (uint64_t)((double)r->ops * 1e9 / (double)p->rate_per_s + 0.5);
}

/* From the first post of any thread to the last completion of any. */
static uint64_t elapsed_of_all(const struct threads *t)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct measured *m = &figures_of(t, i)->measured;

		if (m->ops == 0)
			continue;
		if (m->begin_raw_ns < begin)
			begin = m->begin_raw_ns;
		if (m->begin_raw_ns + m->elapsed_ns > end)
			end = m->begin_raw_ns + m->elapsed_ns;
	}
	return end > begin ? end - begin : 0;
}

/*
 * The same span of another thread. Percentiles of both cannot be put together: their samples
 * are gone. What a thread that had ended does not have, it did nothing in.
 */
static void merge_interval(struct measure_interval *all, const struct measure_interval *one)
{
	all->ops += one->ops;
	all->bytes += one->bytes;
	all->percentiles_known = false;
	if (one->t_ns > all->t_ns)
		all->t_ns = one->t_ns;
	if (one->max_ns > all->max_ns)
		all->max_ns = one->max_ns;
}

/* A thread's, with as many parts each as those of all others; NULL: no memory. */
static struct measure_interval *copy_intervals(const struct worker_figures *f, uint32_t parts,
					       uint32_t *used)
{
	struct measure_interval *copy = calloc(f->measured.intervals_used + 1, sizeof(*copy));

	if (copy == NULL)
		return NULL;
	*used = f->measured.intervals_used;
	memcpy(copy, f->intervals, *used * sizeof(*copy));
	for (uint32_t own = f->measured.interval_parts; own > 0 && own < parts; own *= 2)
		measure_intervals_thin(copy, used);
	return copy;
}

static uint32_t most_parts(const struct threads *t)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < t->count; i++) {
		if (figures_of(t, i)->measured.interval_parts > most)
			most = figures_of(t, i)->measured.interval_parts;
	}
	return most;
}

/* A last one of less than half a span is a mere remainder. */
static void drop_remainder(const struct threads *t, struct repeat *r)
{
	uint32_t last = r->intervals_count - 1;
	uint64_t begin = 0;

	if (r->intervals_count == 0)
		return;
	if (last > 0)
		begin = r->intervals[last - 1].t_ns;
	if (r->intervals[last].t_ns - begin < figures_of(t, 0)->measured.interval_ns / 2)
		r->intervals_count--;
}

static int merge_intervals(const struct threads *t, struct repeat *r)
{
	uint32_t parts = most_parts(t), used = 0;

	r->intervals = calloc(WORKERS_INTERVALS_MAX, sizeof(*r->intervals));
	if (r->intervals == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++) {
		struct measure_interval *one = copy_intervals(figures_of(t, i), parts, &used);

		if (one == NULL)
			return -ENOMEM;
		for (uint32_t k = 0; k < used; k++) {
			if (i == 0)
				r->intervals[k] = one[k];
			else
				merge_interval(&r->intervals[k], &one[k]);
		}
		if (used > r->intervals_count)
			r->intervals_count = used;
		free(one);
	}
	drop_remainder(t, r);
	return 0;
}

static int merge_histograms(const struct threads *t, struct repeat *r)
{
	const struct worker_figures *first = figures_of(t, 0);

	r->latency = histogram_new();
	r->read_latency = first->read_latency != NULL ? histogram_new() : NULL;
	r->response = first->response != NULL ? histogram_new() : NULL;
	if (r->latency == NULL || (first->read_latency != NULL && r->read_latency == NULL) ||
	    (first->response != NULL && r->response == NULL))
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct worker_figures *f = figures_of(t, i);

		histogram_merge(r->latency, f->latency);
		if (r->read_latency != NULL)
			histogram_merge(r->read_latency, f->read_latency);
		if (r->response != NULL)
			histogram_merge(r->response, f->response);
	}
	return 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#define ADD_COUNT(name, join, ...) repeat->name = join(repeat->name, m->name)

static void add_thread(struct repeat *repeat, const struct measured *m)
{
	repeat->ops += m->ops;
	repeat->bytes += m->bytes;
	repeat->read_ops += m->read_ops;
	PLAIN_COUNT_ROWS(ADD_COUNT, ;);
	repeat->complete = repeat->complete && !m->interrupted;
	repeat->native_flush = repeat->native_flush && (m->ops == 0 || m->native_flush);
	repeat->native_atomic_write =
		repeat->native_atomic_write && (m->ops == 0 || m->native_atomic_write);
}

int repeat_collect(struct repeat *repeat, const struct workers *workers,
		   const struct message_begin *begin)
{
	const struct threads threads = {workers, begin->params.threads};
	uint64_t planned;

	repeat->complete = repeat->native_flush = repeat->native_atomic_write = true;
	repeat->elapsed_ns = elapsed_of_all(&threads);
	merge_warmup(&threads, &repeat->warmup);
	repeat->threads = calloc(threads.count, sizeof(*repeat->threads));
	if (repeat->threads == NULL)
		return -ENOMEM;
	repeat->threads_count = threads.count;
	for (uint32_t i = 0; i < threads.count; i++) {
		repeat->threads[i] = figures_of(&threads, i)->usage;
		add_thread(repeat, &figures_of(&threads, i)->measured);
	}
	planned = planned_ns(begin, repeat);
	if (repeat->elapsed_ns < planned)
		repeat->elapsed_ns = planned;
	repeat->native_flush = repeat->native_flush && repeat->ops > 0;
	repeat->native_atomic_write = repeat->native_atomic_write && repeat->ops > 0;
	return merge_histograms(&threads, repeat) != 0 ? -ENOMEM
						       : merge_intervals(&threads, repeat);
}
