/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reverse.c -- measures from the server's side with the client's own means:
 * workers over queue pairs that were accepted rather than connected.
 *
 * It runs while the client does: the client's phases begin its own, and the
 * client's end is its end.
 */
#include "reverse.h"

#include <stdlib.h>

#include "common/base/failure.h"
#include "tools/rpma-bench/measure/op/table.h"
#include "tools/rpma-bench/measure/qps.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/result/repeat.h"

struct reverse {
	struct server_state *server;	   /* borrowed */
	const struct message_begin *begin; /* borrowed */
	struct workers *workers;
	struct qps qps;
	bool running;	/* a phase is */
	bool measuring; /* and it is the one that counts */
};

uint64_t reverse_buffer_bytes(const struct params *params)
{
	uint64_t one = params->size_bytes + ACCESS_LINE;

	if (one < ACCESS_SOURCE_BYTES)
		one = ACCESS_SOURCE_BYTES;
	/* a source and a sink */
	return 2 * one * params_qps(params);
}

/* A client exports plain memory. */
static int make_qps(struct reverse *r, const struct operation *operation)
{
	const struct qps_cfg cfg = {
		.peer = r->server->service.peer,
		.params = &r->begin->params,
		.operation = operation,
		.target_bytes = r->begin->client_bytes,
		.seed = r->begin->seed,
		.topology = r->server->topology,
		.node = -1,
		.flush_type = RPMA_FLUSH_TYPE_VISIBILITY,
	};

	return qps_make(&r->qps, &cfg, r->workers);
}

static int check(const struct message_begin *begin, const struct operation *operation)
{
	const struct params *p = &begin->params;

	if (operation == NULL || operation->answered)
		return failure_set(EXIT_RUN_FAILED, "begin",
				   "it does not run such operations in both directions");
	if (access_slice_min(p) * params_qps(p) > begin->client_bytes)
		return failure_set(
			EXIT_RUN_FAILED, "begin",
			"%u connections with such operations do not fit the memory of the client",
			params_qps(p));
	return 0;
}

int reverse_new(struct reverse **reverse, struct server_state *server,
		const struct message_begin *begin, const int *cpus)
{
	const struct operation *operation = operation_find(begin->params.op, begin->params.persist);
	const struct workers_cfg cfg = {
		.begin = begin,
		.operation = operation,
		.clock = server_clock(server),
		.topology = server->topology,
		.cpus = cpus,
	};
	struct reverse *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	r->server = server;
	r->begin = begin;
	if ((ret = check(begin, operation)) || (ret = workers_new(&r->workers, &cfg)) ||
	    (ret = make_qps(r, operation))) {
		reverse_delete(&r);
		return ret;
	}
	*reverse = r;
	return 0;
}

/* Waits for what is in flight; the first thread that failed has the reason. */
static int end_phase(struct reverse *r)
{
	if (!r->running)
		return 0;
	r->running = false;
	return workers_end(r->workers);
}

void reverse_delete(struct reverse **reverse)
{
	struct reverse *r = *reverse;

	*reverse = NULL;
	if (r == NULL)
		return;
	if (r->running)
		workers_stop(r->workers);
	end_phase(r);
	qps_free(&r->qps);
	workers_delete(&r->workers);
	free(r);
}

const struct connection_queues *reverse_qp(const struct reverse *reverse)
{
	return &reverse->qps.queues;
}

int reverse_attach(struct reverse *reverse, uint32_t index, struct connection *connection)
{
	return qps_attach(&reverse->qps, index, connection, &reverse->begin->client_desc);
}

int reverse_start(struct reverse *reverse, enum message_phase phase)
{
	int ret = end_phase(reverse);

	if (ret)
		return ret;
	workers_begin(reverse->workers, reverse->qps.all, phase);
	reverse->running = true;
	reverse->measuring = phase == PHASE_MEASURE;
	return 0;
}

json_t *reverse_end(struct reverse *reverse)
{
	struct repeat repeat = {.params = reverse->begin->params};
	json_t *figures = NULL;
	int ret;

	workers_stop(reverse->workers);
	ret = end_phase(reverse);
	if (ret == 0 && reverse->measuring &&
	    repeat_collect(&repeat, reverse->workers, reverse->begin) == 0)
		figures = repeat_own_json(&repeat);
	repeat_clear(&repeat);
	if (ret == 0 && figures == NULL)
		failure_set(EXIT_RUN_FAILED, "measure", "the server did not measure");
	return figures;
}
