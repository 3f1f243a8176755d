/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_threads.c -- threads that share a connection and do what the manual calls safe. */
#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS	   8
#define OPERATIONS 200 /* for each thread */
#define SQ_SIZE	   64
#define IN_FLIGHT  (SQ_SIZE / 2)

struct worker {
	struct client *client;
	struct rpma_conn_cfg *cfg;
	uint32_t index;
	atomic_uint *under_way;
	atomic_uint *fetched;
};

/* Completions are fetched by any of them; the connection does not count, so the program does. */
static void fetch(const struct worker *w)
{
	struct ibv_wc wc;

	if (rpma_cq_get_wc(w->client->cq, 1, &wc, NULL) != 0)
		return;
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
	atomic_fetch_sub(w->under_way, 1);
	atomic_fetch_add(w->fetched, 1);
}

static void take_place(const struct worker *w)
{
	while (atomic_fetch_add(w->under_way, 1) >= IN_FLIGHT) {
		atomic_fetch_sub(w->under_way, 1);
		fetch(w);
	}
}

static int start(const struct worker *w, uint32_t i)
{
	struct client *c = w->client;
	const size_t at = ((size_t)w->index * OPERATIONS + i) * 64;
	const int flags = RPMA_F_COMPLETION_ALWAYS;

	switch (i % 4) {
	case 0:
		return rpma_write(c->conn, c->dst, at, c->mr, at, 64, flags, NULL);
	case 1:
		return rpma_flush(c->conn, c->dst, at, 64, RPMA_FLUSH_TYPE_VISIBILITY, flags, NULL);
	case 2:
		return rpma_atomic_write(c->conn, c->dst, at, "8 bytes", flags, NULL);
	default:
		return rpma_read(c->conn, c->mr, at, c->dst, at, 64, flags, NULL);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint32_t value;

	for (uint32_t i = 0; i < OPERATIONS; i++) {
		take_place(w);
		MUST(start(w, i));
		MUST(rpma_conn_cfg_set_option(w->cfg, RPMA_CONN_OPT_SQ_SIZE, i));
		MUST(rpma_conn_get_option(w->client->conn, RPMA_CONN_OPT_SQ_SIZE, &value));
		MUST_GIVE(RPMA_E_INVAL, rpma_conn_get_qp_num(NULL, &value));
		MUST_HOLD(strstr(rpma_err_text(), "conn is NULL") != NULL);
		fetch(w);
	}
	while (atomic_load(w->fetched) < THREADS * OPERATIONS)
		fetch(w);
	return NULL;
}

int threads_share_a_connection(struct calls *c)
{
	static const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, SQ_SIZE},
		{RPMA_CONN_OPT_CQ_SIZE, SQ_SIZE},
		{RPMA_CONN_OPT_SIGNAL_EVERY, 0},
	};
	atomic_uint under_way = 0, fetched = 0;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	struct client client = {0};
	struct rpma_conn_cfg *cfg = conn_cfg(NULL, 0);

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){&client, cfg, i, &under_way, &fetched};
		MUST_HOLD(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		MUST_HOLD(pthread_join(threads[i], NULL) == 0);
	MUST_HOLD(under_way == 0);
	MUST(rpma_conn_cfg_delete(&cfg));
	client_close(&client, true);
	return 0;
}
