/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmem_threads.c -- persists of 64 bytes in threads, each on a lane of its own, for callgrind.
 *
 * Usage: rpma-soft valgrind ... rpmem_threads SET BYTES THREADS CALLS FLAGS
 *        rpma-soft valgrind ... rpmem_threads SET BYTES by-hand CALLS ADDRESS PORT TOKEN
 *
 * With --tool=callgrind --collect-atstart=no what is counted are CALLS of each thread, after
 * one that connects its lane. Threads take turns, so that none waits for another within a
 * call. The second form does the same work with librpma, to rpmem_lane_daemon.
 * rpmem_instructions.py runs both.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "common/base/failure.h"
#include "rpmem_pool.h"
#include "tests/system/rpmem/by_hand.h"

#define LENGTH	    64
#define STEP	    4096
#define THREADS_MAX 64

struct turn {
	pthread_t thread;
	const struct pool *pool;
	unsigned lane;
	unsigned flags;
	size_t offset;
	size_t calls;
	sem_t may_begin;
	sem_t has_ended;
};

static struct turn turns[THREADS_MAX];

static void persist(const struct turn *t, size_t calls)
{
	for (size_t i = 0; i < calls; i++)
		pool_persist(t->pool, t->offset, LENGTH, t->lane, t->flags);
}

/* Twice: what the first call of a lane connects and allocates is not what is looked at. */
static void *run_turn(void *arg)
{
	struct turn *t = arg;

	sem_wait(&t->may_begin);
	persist(t, 1);
	sem_post(&t->has_ended);
	sem_wait(&t->may_begin);
	CALLGRIND_TOGGLE_COLLECT;
	persist(t, t->calls);
	CALLGRIND_TOGGLE_COLLECT;
	sem_post(&t->has_ended);
	return NULL;
}

static void start_threads(const struct pool *pool, unsigned threads, char **words)
{
	for (unsigned i = 0; i < threads; i++) {
		turns[i] = (struct turn){.pool = pool,
					 .lane = i,
					 .flags = (unsigned)pool_number(words[2]),
					 .offset = POOL_BEGIN + (size_t)i * STEP,
					 .calls = pool_number(words[1])};
		sem_init(&turns[i].may_begin, 0, 0);
		sem_init(&turns[i].has_ended, 0, 0);
		if (pthread_create(&turns[i].thread, NULL, run_turn, &turns[i]) != 0)
			pool_fail("pthread_create");
	}
}

static void run_threads(const char *set, size_t bytes, char **words)
{
	const unsigned threads = (unsigned)pool_number(words[0]);
	struct pool pool = pool_connect(set, bytes, threads, true);

	if (threads > THREADS_MAX)
		exit(EXIT_WRONG_USAGE);
	start_threads(&pool, threads, words);
	for (unsigned i = 0; i < 2 * threads; i++) {
		sem_post(&turns[i % threads].may_begin);
		sem_wait(&turns[i % threads].has_ended);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(turns[i].thread, NULL);
	pool_disconnect(&pool);
}

static void run_by_hand(size_t bytes, char **words)
{
	const size_t calls = pool_number(words[0]);
	struct control_pool_reply daemon = {
		.method = CONTROL_APM,
		.port = (uint16_t)pool_number(words[2]),
		.token = pool_number(words[3]),
	};
	const struct lanes_cfg cfg = {
		.daemon = &daemon, .memory = calloc(1, bytes), .bytes = bytes};
	struct by_hand by_hand;
	int ret;

	snprintf(daemon.address, sizeof(daemon.address), "%s", words[1]);
	ret = cfg.memory != NULL ? by_hand_open(&by_hand, &cfg, 0) : -1;
	if (ret == 0) /* the device does the first one in another thread */
		ret = by_hand_persist(&by_hand, POOL_BEGIN, LENGTH);
	CALLGRIND_TOGGLE_COLLECT;
	for (size_t i = 0; ret == 0 && i < calls; i++)
		ret = by_hand_persist(&by_hand, POOL_BEGIN, LENGTH);
	CALLGRIND_TOGGLE_COLLECT;
	if (ret != 0) {
		fprintf(stderr, "by hand: %s\n", failure_get()->text);
		exit(2);
	}
	by_hand_close(&by_hand);
	free(cfg.memory);
}

int main(int argc, char **argv)
{
	if (argc == 8 && strcmp(argv[3], "by-hand") == 0)
		run_by_hand(pool_number(argv[2]), argv + 4);
	else if (argc == 6)
		run_threads(argv[1], pool_number(argv[2]), argv + 3);
	else
		return EXIT_WRONG_USAGE;
	return EXIT_SUCCESS;
}
