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
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/thread.h"
#include "tools/rpma-bench/result/repeat.h"

#define USAGE                                                                                      \
	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)

enum step { STEP_REGISTER, STEP_DEREGISTER, STEPS };

struct registration {
	struct server_state *server;	   /* borrowed */
	const struct message_begin *begin; /* borrowed */
	struct steps steps;
	int cpu;
	struct repeat repeat;
	struct thread_usage usage;
	struct failure failure; /* the thread's; its text empty: none */
	int done_fd;
	atomic_int stop;
	bool started;
	pthread_t thread;
};

static int failed(const struct registration *r, const char *step, int error)
{
	return failure_because(connection_cause_of(error), EXIT_RUN_FAILED, "measure",
			       "the server cannot %s %llu bytes: %s", step,
			       (unsigned long long)r->begin->params.size_bytes,
			       connection_cause(error));
}

static int once(void *arg, uint64_t *stamps)
{
	const struct registration *r = arg;
	const struct params *p = &r->begin->params;
	struct rpma_mr_local *mr = NULL;
	int ret;

	stamps[0] = clock_now(r->steps.clock);
	ret = rpma_mr_reg(r->server->service.peer, r->server->regions[p->target].target.memory,
			  p->size_bytes, USAGE, &mr);
	if (ret)
		return failed(r, "register", ret);
	stamps[1] = clock_now(r->steps.clock);
	ret = rpma_mr_dereg(&mr);
	stamps[2] = clock_now(r->steps.clock);
	return ret ? failed(r, "deregister", ret) : 0;
}

static bool stopped(void *arg)
{
	const struct registration *r = arg;

	return atomic_load(&r->stop) != 0;
}

static void *measure(void *arg)
{
	struct registration *r = arg;
	struct measured warmup = {0}, measured = {0};

	if (r->cpu >= 0 && r->server->topology != NULL)
		topology_bind_thread(r->server->topology, r->cpu);
	if (steps_measure(&r->steps, r->begin, &warmup, &measured, &r->usage) != 0)
		r->failure = *failure_get();
	r->repeat.ops = measured.ops;
	r->repeat.elapsed_ns = measured.elapsed_ns;
	eventfd_write(r->done_fd, 1);
	return NULL;
}

static int make(struct registration *r)
{
	static const char *const names[STEPS] = {"register", "deregister"};

	r->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->done_fd < 0)
		return failure_call("begin", errno, "make an eventfd");
	r->steps = (struct steps){.clock = server_clock(r->server),
				  .count = STEPS,
				  .until_ready = STEP_DEREGISTER,
				  .once = once,
				  .stopped = stopped,
				  .arg = r};
	if (repeat_make_steps(&r->repeat, &r->steps, names) != 0)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	return 0;
}

int registration_start(struct registration **registration, struct server_state *server,
		       const struct message_begin *begin, int cpu)
{
	struct registration *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	r->server = server;
	r->begin = begin;
	r->cpu = cpu;
	r->repeat.params = begin->params;
	ret = make(r);
	if (ret == 0) {
		int error = thread_start(&r->thread, measure, r);

		r->started = error == 0;
		if (error)
			ret = failure_call("begin", -error, "start a thread");
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
