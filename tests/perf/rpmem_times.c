/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmem_times.c -- the time of librpmem's calls, beside what they are compared with.
 *
 * Usage: rpma-soft rpmem_times SET BYTES TEST ARGUMENTS
 *
 *	persist LENGTH FLAGS CALLS PAIRS ADDRESS PORT TOKEN
 *		rpmem_persist(), and a write and a flush by hand, to rpmem_lane_daemon
 *	split FLAGS CALLS PAIRS
 *		16 flushes of 64 bytes and a drain, and 16 persists
 *	lanes NLANES
 *		to create a pool, and to open it; and then until each lane has persisted
 *	read TIMES
 *		the whole pool, into its own memory
 *
 * The first two alternate, PAIRS times after a pair that does not count, and print the
 * nanoseconds of both for each pair. The others print seconds. rpmem_ratios.py runs all of
 * them and judges.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "rpmem_pool.h"
#include "tests/system/rpmem/by_hand.h"

#define FLUSHES	   16
#define FLUSH_STEP 4096
#define FLUSH_SIZE 64

struct times {
	struct pool pool;
	struct by_hand by_hand;
	size_t length;
	unsigned flags;
	size_t calls; /* in each turn */
	size_t pairs;
};

/* Nanoseconds of one call, or of one batch of flushes. */
typedef double turn(struct times *t);

static double since(uint64_t begun, size_t calls)
{
	return (double)(monotonic_ns() - begun) / (double)calls;
}

static void alternate(struct times *t, turn *one, turn *other)
{
	for (size_t i = 0; i <= t->pairs; i++) {
		double first = (i % 2 != 0 ? one : other)(t);
		double second = (i % 2 != 0 ? other : one)(t);

		if (i != 0)
			printf("%.1f %.1f\n", i % 2 != 0 ? first : second,
			       i % 2 != 0 ? second : first);
	}
}

/* --- a persist, and a write and a flush ----------------------------------- */

static double turn_persist(struct times *t)
{
	uint64_t begun = monotonic_ns();
	int ret = 0;

	for (size_t i = 0; i < t->calls; i++)
		ret |= rpmem_persist(t->pool.rpp, POOL_BEGIN, t->length, 0, t->flags);
	if (ret != 0)
		pool_fail("rpmem_persist");
	return since(begun, t->calls);
}

static double turn_by_hand(struct times *t)
{
	uint64_t begun = monotonic_ns();
	int ret = 0;

	for (size_t i = 0; i < t->calls; i++)
		ret |= by_hand_persist(&t->by_hand, POOL_BEGIN, t->length);
	if (ret != 0)
		pool_fail("a write and a flush by hand");
	return since(begun, t->calls);
}

static void open_by_hand(struct times *t, char **words)
{
	struct control_pool_reply daemon = {
		.method = CONTROL_APM,
		.port = (uint16_t)pool_number(words[1]),
		.token = pool_number(words[2]),
	};
	const struct lanes_cfg cfg = {
		.daemon = &daemon, .memory = t->pool.memory, .bytes = t->pool.bytes};

	snprintf(daemon.address, sizeof(daemon.address), "%s", words[0]);
	if (by_hand_open(&t->by_hand, &cfg, 0) != 0) {
		fprintf(stderr, "a lane by hand: %s\n", failure_get()->text);
		exit(2);
	}
}

static void test_persist(const char *set, size_t bytes, char **words)
{
	struct times t = {.length = pool_number(words[0]),
			  .flags = (unsigned)pool_number(words[1]),
			  .calls = pool_number(words[2]),
			  .pairs = pool_number(words[3])};

	t.pool = pool_connect(set, bytes, 1, true);
	open_by_hand(&t, words + 4);
	alternate(&t, turn_persist, turn_by_hand);
	by_hand_close(&t.by_hand);
	pool_disconnect(&t.pool);
}

/* --- persists one by one, and flushes with one drain ---------------------- */

static double turn_whole(struct times *t)
{
	uint64_t begun = monotonic_ns();

	for (size_t i = 0; i < t->calls * FLUSHES; i++)
		pool_persist(&t->pool, POOL_BEGIN + i % FLUSHES * FLUSH_STEP, FLUSH_SIZE, 0,
			     t->flags);
	return since(begun, t->calls);
}

static double turn_split(struct times *t)
{
	uint64_t begun = monotonic_ns();

	for (size_t i = 0; i < t->calls; i++) {
		for (size_t j = 0; j < FLUSHES; j++) {
			if (rpmem_flush(t->pool.rpp, POOL_BEGIN + j * FLUSH_STEP, FLUSH_SIZE, 0,
					t->flags) != 0)
				pool_fail("rpmem_flush");
		}
		if (rpmem_drain(t->pool.rpp, 0, 0) != 0)
			pool_fail("rpmem_drain");
	}
	return since(begun, t->calls);
}

static void test_split(const char *set, size_t bytes, char **words)
{
	struct times t = {.flags = (unsigned)pool_number(words[0]),
			  .calls = pool_number(words[1]),
			  .pairs = pool_number(words[2])};

	t.pool = pool_connect(set, bytes, 1, true);
	alternate(&t, turn_whole, turn_split);
	pool_disconnect(&t.pool);
}

/* --- all lanes ------------------------------------------------------------ */

/* Prints how long the call took, and until each lane was connected by its first use. */
static void use_lanes(const struct pool *pool, uint64_t begun)
{
	const double called = since(begun, 1) / 1e9;

	for (unsigned i = 0; i < pool->nlanes; i++)
		pool_persist(pool, POOL_BEGIN, FLUSH_SIZE, i, 0);
	printf("%.6f %.6f\n", called, since(begun, 1) / 1e9);
}

static void test_lanes(const char *set, size_t bytes, char **words)
{
	const unsigned nlanes = (unsigned)pool_number(words[0]);
	uint64_t begun = monotonic_ns();
	struct pool p = pool_connect(set, bytes, nlanes, true);

	use_lanes(&p, begun);
	pool_disconnect(&p);
	begun = monotonic_ns();
	pool_reconnect(&p, set);
	use_lanes(&p, begun);
	if (p.nlanes != nlanes) {
		fprintf(stderr, "%u lanes instead of %u\n", p.nlanes, nlanes);
		exit(2);
	}
	pool_disconnect(&p);
}

/* --- all bytes ------------------------------------------------------------ */

/* The first one, whose pages the target has never touched, does not count. */
static void test_read(const char *set, size_t bytes, char **words)
{
	const size_t times = pool_number(words[0]);
	struct pool p = pool_connect(set, bytes, 1, true);

	pool_persist(&p, 0, bytes, 0, RPMEM_PERSIST_RELAXED);
	for (size_t i = 0; i <= times; i++) {
		uint64_t begun = monotonic_ns();

		if (rpmem_read(p.rpp, p.memory, 0, bytes, 0) != 0)
			pool_fail("rpmem_read");
		if (i != 0)
			printf("%.6f\n", since(begun, 1) / 1e9);
	}
	pool_disconnect(&p);
}

static const struct {
	const char *name;
	int words;
	void (*run)(const char *set, size_t bytes, char **words);
} tests[] = {
	{"persist", 7, test_persist},
	{"split", 3, test_split},
	{"lanes", 1, test_lanes},
	{"read", 1, test_read},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 4 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(argv[3], tests[i].name) == 0 && argc == 4 + tests[i].words) {
			tests[i].run(argv[1], pool_number(argv[2]), argv + 4);
			return EXIT_SUCCESS;
		}
	}
	fprintf(stderr, "Usage: rpma-soft rpmem_times SET BYTES TEST ARGUMENTS\n");
	return EXIT_WRONG_USAGE;
}
