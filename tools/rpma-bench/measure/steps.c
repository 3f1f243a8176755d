/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c -- the loop over steps that are timed. */
#include "steps.h"

#include <errno.h>

static void record(const struct steps *s, const uint64_t *stamps)
{
	histogram_record(s->latency, clock_ns(s->clock, stamps[s->until_ready] - stamps[0]));
	for (unsigned i = 0; i < s->count; i++)
		histogram_record(s->each[i], clock_ns(s->clock, stamps[i + 1] - stamps[i]));
}

/* Until the time is over, or that number is done (0: any number). */
static int run(const struct steps *s, uint64_t duration_ns, uint64_t ops, bool recorded,
	       struct measured *m)
{
	uint64_t begin = clock_now(s->clock), end = begin + clock_ticks(s->clock, duration_ns);
	uint64_t stamps[STEPS_MAX + 1] = {0};
	int ret;

	do {
		ret = s->once(s->arg, stamps);
		if (ret == 0) {
			m->ops++;
			if (recorded)
				record(s, stamps);
		}
		m->interrupted = s->stopped(s->arg);
	} while (ret == 0 && !m->interrupted && stamps[s->count] < end &&
		 (ops == 0 || m->ops < ops));
	m->elapsed_ns = clock_ns(s->clock, stamps[s->count] - begin);
	/* a step that a signal cut short does not count, and is no error */
	return ret == -ECANCELED ? 0 : ret;
}

int steps_measure(const struct steps *steps, const struct message_begin *begin,
		  struct measured *warmup, struct measured *measured, struct thread_usage *usage)
{
	struct rusage before;
	int ret = 0;

	if (begin->warmup_ns > 0)
		ret = run(steps, begin->warmup_ns, 0, false, warmup);
	if (ret || warmup->interrupted)
		return ret ? ret : -ECANCELED;
	getrusage(RUSAGE_THREAD, &before);
	ret = run(steps, begin->duration_ns, begin->ops, true, measured);
	worker_usage_since(&before, usage);
	usage->ops = measured->ops;
	return ret;
}
