/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_register.c -- registers and deregisters the first bytes of a target, over
 * and over. The pages are there already: what is measured is to pin and to map
 * them, not to make them.
 */
#include "test_register.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "tools/rpma-bench/measure/workers.h"
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
	struct thread_pool *pool; /* it has one thread */
	bool running;		  /* its job was begun, and is to be ended */
};

static int failed(const struct registration *r, const char *step, int error)
{
	return librpma_failed(error, "measure", "the server cannot %s %llu bytes: %s", step,
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

	return atomic_load(thread_pool_stop(r->pool)) != 0;
}

static int measure(void *arg, uint32_t thread)
{
	struct registration *r = arg;
	int ret;

	(void)thread;
	if (r->cpu >= 0 && r->server->topology != NULL)
		topology_bind_thread(r->server->topology, r->cpu);
	ret = repeat_measure_steps(&r->repeat, &r->steps, r->begin);
	return ret == -ECANCELED ? 0 : ret;
}

int registration_start(struct registration **registration, struct server_state *server,
		       const struct message_begin *begin, int cpu)
{
	static const char *const names[STEPS] = {"register", "deregister"};
	struct registration *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	*r = (struct registration){
		.server = server,
		.begin = begin,
		.steps = {.clock = server_clock(server),
			  .names = names,
			  .count = STEPS,
			  .until_ready = STEP_DEREGISTER,
			  .once = once,
			  .stopped = stopped,
			  .arg = r},
		.cpu = cpu,
		.repeat.params = begin->params,
	};
	ret = thread_pool_new(&r->pool, 1);
	if (ret) {
		registration_stop(&r);
		return ret;
	}
	thread_pool_begin(r->pool, measure, r);
	r->running = true;
	*registration = r;
	return 0;
}

int registration_done_fd(const struct registration *registration)
{
	return thread_pool_done_fd(registration->pool);
}

bool registration_is_done(const struct registration *registration)
{
	struct pollfd fd = {registration_done_fd(registration), POLLIN, 0};

	return !registration->running || poll(&fd, 1, 0) > 0;
}

json_t *registration_figures(struct registration *r)
{
	json_t *figures;

	r->running = false;
	if (thread_pool_end(r->pool) != 0)
		return NULL;
	figures = repeat_own_json(&r->repeat);
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
	if (r->running) { /* its thread looks at the pool whether to stop */
		atomic_store(thread_pool_stop(r->pool), 1);
		thread_pool_end(r->pool);
	}
	thread_pool_delete(&r->pool);
	repeat_clear(&r->repeat);
	free(r);
}
