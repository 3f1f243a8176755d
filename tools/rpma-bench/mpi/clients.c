/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clients.c -- threads that run clients, and where they stand.
 *
 * All of them follow the same plan, so they come to the same meetings in the
 * same order; one that ends early comes to no more of them.
 */
#include "clients.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/thread.h"
#include "common/json/result.h"
#include "tools/rpma-bench/client/run.h"

enum state { AT_WORK, WAITS, FINISHED };

struct start {
	uint64_t unix_ns;
	uint64_t lag_ns;
};

struct client {
	struct clients *all;
	struct options options;
	struct barrier barrier;
	struct run run;
	struct failure failure; /* set once a run is over */
	pthread_t thread;
	bool started;
	enum state state;     /* under all->lock */
	uint64_t round;	      /* meetings it came to */
	struct start *starts; /* one per repeat; owned */
	size_t starts_count;
	int server_rank;
};

struct clients {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t released;	/* meetings that are over */
	struct world_word word; /* the last one's */
	uint64_t entered_ns;
	struct client *list;
	int count;
};

static void note_start(struct client *c)
{
	struct start *starts, now;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	now.unix_ns = (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
	now.lag_ns = clock_raw_ns() - c->all->entered_ns;
	starts = reallocarray(c->starts, c->starts_count + 1, sizeof(*starts));
	if (starts == NULL)
		return;
	c->starts = starts;
	c->starts[c->starts_count++] = now;
}

/* Called by the run, in its thread. */
static int wait_for_all(void *arg, enum message_phase phase)
{
	struct client *c = arg;
	struct clients *all = c->all;
	struct world_word word;

	pthread_mutex_lock(&all->lock);
	c->state = WAITS;
	c->round++;
	pthread_cond_broadcast(&all->changed);
	while (all->released < c->round)
		pthread_cond_wait(&all->changed, &all->lock);
	word = all->word;
	pthread_mutex_unlock(&all->lock);
	if (word.kind == WORLD_GO) {
		if (phase == PHASE_MEASURE)
			note_start(c);
		return 0;
	}
	if (word.signal != 0)
		return -ECANCELED;
	return failure_because(word.failure.cause, word.failure.code, word.failure.step, "%s",
			       word.failure.text);
}

static void *run_client(void *arg)
{
	struct client *c = arg;
	struct run *run = &c->run;
	int ret = run_open(run, &c->options);

	run->barrier = &c->barrier;
	if (ret == 0)
		ret = run_measure(run);
	else
		clock_gettime(CLOCK_REALTIME, &run->record.ended);
	run_judge(run, ret);
	c->failure = *failure_get();
	pthread_mutex_lock(&c->all->lock);
	c->state = FINISHED;
	pthread_cond_broadcast(&c->all->changed);
	pthread_mutex_unlock(&c->all->lock);
	return NULL;
}

static void prepare(struct client *c, const struct options *options,
		    const struct client_server *server)
{
	c->options = *options;
	c->server_rank = server->rank;
	c->options.host = server->host;
	c->options.port = server->port;
	/* files, SLOs and words are a matter of all clients together */
	c->options.output = NULL;
	c->options.csv = NULL;
	c->options.json = false;
	c->options.slos_count = 0;
	c->barrier = (struct barrier){.wait = wait_for_all, .arg = c};
}

int clients_start(struct clients **clients, const struct options *options,
		  const struct client_server *servers, int count, uint32_t cores_taken, bool shows)
{
	struct clients *all = calloc(1, sizeof(*all));
	int ret;

	*clients = all;
	if (all != NULL)
		all->list = calloc((size_t)count + 1, sizeof(*all->list));
	if (all == NULL || all->list == NULL)
		return failure_set(EXIT_INTERNAL, "together", "out of memory");
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->changed, NULL);
	for (int i = 0; i < count; i++) {
		struct client *c = &all->list[i];

		c->all = all;
		prepare(c, options, &servers[i]);
		c->barrier.cores_taken = cores_taken + (uint32_t)i * options->cores_taken;
		c->options.cli.quiet = options->cli.quiet || i > 0 || !shows;
		ret = thread_start(&c->thread, run_client, c);
		if (ret)
			return failure_call("together", -ret, "start a thread");
		c->started = true;
		all->count++;
	}
	return 0;
}

static bool any_at_work(const struct clients *all)
{
	for (int i = 0; i < all->count; i++) {
		if (all->list[i].state == AT_WORK)
			return true;
	}
	return false;
}

void clients_await(struct clients *all, struct world_word *word)
{
	*word = (struct world_word){.kind = WORLD_GO};
	if (all == NULL)
		return;
	pthread_mutex_lock(&all->lock);
	while (any_at_work(all))
		pthread_cond_wait(&all->changed, &all->lock);
	pthread_mutex_unlock(&all->lock);
	for (int i = 0; i < all->count && word->kind != WORLD_OVER; i++) {
		const struct client *c = &all->list[i];

		if (c->state == WAITS)
			continue;
		word->kind = c->run.record.status == RUN_COMPLETE ? WORLD_DONE : WORLD_OVER;
		word->signal = c->run.record.status == RUN_INTERRUPTED ? cli_signal : 0;
		word->failure = c->failure;
	}
}

void clients_release(struct clients *all, const struct world_word *word, uint64_t entered_ns)
{
	if (all == NULL)
		return;
	pthread_mutex_lock(&all->lock);
	all->word = *word;
	all->entered_ns = entered_ns;
	all->released++;
	for (int i = 0; i < all->count; i++) {
		if (all->list[i].state == WAITS)
			all->list[i].state = AT_WORK;
	}
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
}

static json_t *starts_json(const struct client *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->starts_count; i++)
		json_array_append_new(list, json_pack("{s:o, s:o}", "begin_unix_ns",
						      result_integer(c->starts[i].unix_ns),
						      "start_lag_ns",
						      result_integer(c->starts[i].lag_ns)));
	return list;
}

/* It may have been done where another rank was not. */
static void judge(struct client *c, const struct world_word *word)
{
	if (word->kind != WORLD_OVER || c->run.record.status != RUN_COMPLETE)
		return;
	*failure_get() = word->failure;
	run_judge(&c->run, -EIO);
}

json_t *clients_collect(struct clients *all, const struct world_word *word)
{
	json_t *list = json_array();

	for (int i = 0; all != NULL && i < all->count; i++) {
		struct client *c = &all->list[i];

		if (c->started)
			pthread_join(c->thread, NULL);
		c->started = false;
		judge(c, word);
		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "server",
						      result_text(c->run.control.dial.name),
						      "server_rank", result_known(c->server_rank),
						      "document", document_make(&c->run.record),
						      "starts", starts_json(c)));
	}
	return list;
}

struct record *clients_first(struct clients *all)
{
	return all != NULL && all->count > 0 ? &all->list[0].run.record : NULL;
}

void clients_delete(struct clients **clients)
{
	struct clients *all = *clients;

	if (all == NULL)
		return;
	for (int i = 0; i < all->count; i++) {
		if (all->list[i].started)
			pthread_join(all->list[i].thread, NULL);
		run_close(&all->list[i].run);
		free(all->list[i].starts);
	}
	free(all->list);
	free(all);
	*clients = NULL;
}
