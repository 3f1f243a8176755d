/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_register.c -- registers and deregisters the first bytes of a target, over
 * and over. The pages are there already: what is measured is to pin and to map
 * them, not to make them.
 */
#include "test_register.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/common/base/error.h"
#include "tools/common/base/histogram.h"
#include "tools/common/base/thread.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/result/repeat.h"

#define USAGE                                                                                      \
	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)

enum step { STEP_REGISTER, STEP_DEREGISTER, STEPS };

struct registration {
	struct host *host;		   /* borrowed */
	const struct message_begin *begin; /* borrowed */
	const struct clock *clock;
	int cpu;
	struct repeat repeat;
	struct thread_usage usage;
	struct failure failure; /* of the thread; its text empty: none */
	int done_fd;
	atomic_int stop;
	bool started;
	pthread_t thread;
};

static int failed(const struct registration *r, const char *step, int error)
{
	return failure_because(link_cause_of(error), EXIT_RUN_FAILED, "measure",
			       "the server cannot %s %llu bytes: %s", step,
			       (unsigned long long)r->begin->params.size_bytes, link_cause(error));
}

/* Once; stamps before, between and after. */
static int once(const struct registration *r, uint64_t stamps[STEPS + 1])
{
	const struct params *p = &r->begin->params;
	struct rpma_mr_local *mr = NULL;
	int ret;

	stamps[0] = clock_now(r->clock);
	ret = rpma_mr_reg(r->host->peer, r->host->offers[p->target].target.memory, p->size_bytes,
			  USAGE, &mr);
	if (ret)
		return failed(r, "register", ret);
	stamps[1] = clock_now(r->clock);
	ret = rpma_mr_dereg(&mr);
	stamps[2] = clock_now(r->clock);
	return ret ? failed(r, "deregister", ret) : 0;
}

static void record(struct registration *r, const uint64_t stamps[STEPS + 1])
{
	for (unsigned i = 0; i < STEPS; i++)
		histogram_record(r->repeat.steps[i].latency,
				 clock_ns(r->clock, stamps[i + 1] - stamps[i]));
	histogram_record(r->repeat.latency, clock_ns(r->clock, stamps[1] - stamps[0]));
}

/* Until so much time has passed, or so many ops are done (0: no matter how many). */
static int run(struct registration *r, uint64_t duration_ns, uint64_t ops, bool measured)
{
	uint64_t stamps[STEPS + 1] = {0}, begin = clock_now(r->clock), done = 0;
	int ret = 0;

	do {
		ret = once(r, stamps);
		if (ret == 0 && measured)
			record(r, stamps);
		done++;
	} while (ret == 0 && atomic_load(&r->stop) == 0 && (ops == 0 || done < ops) &&
		 clock_ns(r->clock, stamps[STEPS] - begin) < duration_ns);
	if (measured) {
		r->repeat.ops = done;
		r->repeat.elapsed_ns = clock_ns(r->clock, stamps[STEPS] - begin);
	}
	return ret;
}

static void *measure(void *arg)
{
	struct registration *r = arg;
	const struct message_begin *b = r->begin;
	struct rusage before;
	int ret = 0;

	if (r->cpu >= 0 && r->host->topology != NULL)
		topology_bind_thread(r->host->topology, r->cpu);
	if (b->warmup_ns > 0)
		ret = run(r, b->warmup_ns, 0, false);
	getrusage(RUSAGE_THREAD, &before);
	if (ret == 0)
		ret = run(r, b->duration_ns, b->ops, true);
	worker_usage_since(&before, &r->usage);
	r->usage.ops = r->repeat.ops;
	if (ret)
		r->failure = *failure_get();
	eventfd_write(r->done_fd, 1);
	return NULL;
}

static int make(struct registration *r)
{
	static const char *const names[STEPS] = {"register", "deregister"};

	r->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->done_fd < 0)
		return failure_set(EXIT_INTERNAL, "begin", "cannot make an eventfd: %s",
				   strerror(errno));
	r->repeat.latency = histogram_new();
	r->repeat.steps_count = STEPS;
	for (unsigned i = 0; i < STEPS; i++) {
		r->repeat.steps[i] = (struct repeat_step){names[i], histogram_new()};
		if (r->repeat.steps[i].latency == NULL)
			return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	}
	return r->repeat.latency != NULL ? 0 : failure_set(EXIT_INTERNAL, "begin", "out of memory");
}

int registration_start(struct registration **registration, struct host *host,
		       const struct message_begin *begin, int cpu)
{
	struct registration *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	r->host = host;
	r->begin = begin;
	r->clock = host_clock(host);
	r->cpu = cpu;
	r->repeat.params = begin->params;
	ret = make(r);
	if (ret == 0) {
		int error = thread_start(&r->thread, measure, r);

		r->started = error == 0;
		if (error)
			ret = failure_set(EXIT_RUN_FAILED, "begin", "cannot start a thread: %s",
					  strerror(-error));
	}
	if (ret) {
		registration_stop(&r);
		return ret;
	}
	*registration = r;
	return 0;
}

int registration_done_fd(const struct registration *registration)
{
	return registration->done_fd;
}

bool registration_is_done(const struct registration *registration)
{
	struct pollfd fd = {registration->done_fd, POLLIN, 0};

	return poll(&fd, 1, 0) > 0;
}

static void join(struct registration *r)
{
	if (r->started)
		pthread_join(r->thread, NULL);
	r->started = false;
}

json_t *registration_figures(struct registration *registration)
{
	struct registration *r = registration;
	json_t *figures;

	join(r);
	if (r->failure.text[0] != '\0') {
		*failure_get() = r->failure;
		return NULL;
	}
	r->repeat.threads = &r->usage;
	r->repeat.threads_count = 1;
	figures = repeat_own_json(&r->repeat);
	/* borrowed: not the repeat's to free */
	r->repeat.threads = NULL;
	r->repeat.threads_count = 0;
	if (figures == NULL)
		failure_set(EXIT_INTERNAL, "report", "out of memory");
	return figures;
}

void registration_stop(struct registration **registration)
{
	struct registration *r = *registration;

	*registration = NULL;
	if (r == NULL)
		return;
	atomic_store(&r->stop, 1);
	join(r);
	repeat_clear(&r->repeat);
	if (r->done_fd >= 0)
		close(r->done_fd);
	free(r);
}
