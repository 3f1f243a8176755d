/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * power.c -- a client whose target's power fails: writes until a call fails, and keeps a
 * journal of what it was told is durable.
 *
 *	power TARGET SET SIZE JOURNAL SEED
 *
 * Creates the pool, whose parts have equal sizes. Each lane has a window of the pool: that of
 * lane 0 lies on both parts, the others at the pool's ends. Write n fills its range with words
 * that nothing else has: a hash of n, plus the number of the word in the pool. In the journal
 *
 *	write N LANE CALL FLAGS OFFSET LENGTH	before the call
 *	ack LANE				all writes of the lane are durable
 *
 * stand in the order of the calls. Prints "lost CALL ERRNO: MESSAGE". Exit status 0: the
 * connection was lost; 1: something else; 3: all calls succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <librpmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/random.h"

#define HEADER	      ((size_t)4096)
#define LANES	      3
#define SECTIONS      8
#define SECTION_BYTES ((size_t)24576) /* in whole cache lines: two ranges never share one */
#define WINDOW_BYTES  (SECTIONS * SECTION_BYTES)
#define ROUNDS	      4000
#define LIMIT_S	      300
#define NEVER_LOST    3

struct work {
	RPMEMpool *pool;
	unsigned char *memory;
	int journal;
	uint64_t random;
	uint64_t number; /* the last write's */
	size_t window[LANES];
};

struct range {
	size_t offset;
	size_t length;
};

static unsigned one_of(struct work *w, unsigned count)
{
	return (unsigned)(test_random(&w->random) % count);
}

/* A range of a section; one of three begins and ends at any byte. */
static struct range choose(struct work *w, unsigned lane, unsigned section)
{
	static const size_t sizes[] = {8, 64, 4096, 20000};
	const size_t begin = w->window[lane] + section * SECTION_BYTES;
	struct range range = {.length = sizes[one_of(w, 4)]};
	const size_t unit = range.length < 64 ? 8 : 64;
	/* the section has room for the odd bytes, too */
	const size_t room = (SECTION_BYTES - range.length - 128) / unit;

	range.offset = begin + one_of(w, (unsigned)room) * unit;
	if (one_of(w, 3) == 0) {
		range.offset += 1 + one_of(w, 63);
		range.length += one_of(w, 64);
	}
	return range;
}

static void fill(struct work *w, struct range range)
{
	uint64_t state = w->number;
	const uint64_t hash = test_random(&state) >> 2;

	for (size_t at = range.offset; at < range.offset + range.length; at++) {
		const uint64_t word = hash + at / 8;

		w->memory[at] = (unsigned char)(word >> at % 8 * 8);
	}
}

static void begin_write(struct work *w, unsigned lane, const char *call, unsigned flags,
			struct range range)
{
	w->number++;
	fill(w, range);
	dprintf(w->journal, "write %llu %u %s %u %zu %zu\n", (unsigned long long)w->number, lane,
		call, flags, range.offset, range.length);
}

static const char *acknowledged(struct work *w, unsigned lane)
{
	dprintf(w->journal, "ack %u\n", lane);
	return NULL;
}

/* The call that failed, or NULL; so do the next ones. */
static const char *persist(struct work *w, unsigned lane, unsigned section)
{
	const struct range range = choose(w, lane, section);
	const unsigned flags = one_of(w, 2) != 0 ? RPMEM_PERSIST_RELAXED : 0;

	if (one_of(w, 16) == 0) {
		begin_write(w, lane, "deep", 0, range);
		if (rpmem_deep_persist(w->pool, range.offset, range.length, lane) != 0)
			return "deep_persist";
	} else {
		begin_write(w, lane, "persist", flags, range);
		if (rpmem_persist(w->pool, range.offset, range.length, lane, flags) != 0)
			return "persist";
	}
	return acknowledged(w, lane);
}

/*
 * Ranges that do not overlap; a drain, or a persist in its place, acknowledges all. Most are
 * relaxed, as it is the device's writes that a power failure takes.
 */
static const char *flush(struct work *w, unsigned lane)
{
	const unsigned first = one_of(w, SECTIONS), count = 1 + one_of(w, SECTIONS - 1);

	for (unsigned i = 0; i < count; i++) {
		const struct range range = choose(w, lane, (first + i) % SECTIONS);
		const unsigned flags = one_of(w, 4) != 0 ? RPMEM_FLUSH_RELAXED : 0;

		begin_write(w, lane, "flush", flags, range);
		if (rpmem_flush(w->pool, range.offset, range.length, lane, flags) != 0)
			return "flush";
	}
	if (one_of(w, 4) == 0)
		return persist(w, lane, (first + count) % SECTIONS);
	return rpmem_drain(w->pool, lane, 0) == 0 ? acknowledged(w, lane) : "drain";
}

static const char *write_until_lost(struct work *w)
{
	const char *failed = NULL;

	for (unsigned round = 0; failed == NULL && round < ROUNDS; round++) {
		const unsigned lane = one_of(w, LANES);

		failed = one_of(w, 4) != 0 ? flush(w, lane) : persist(w, lane, one_of(w, SECTIONS));
	}
	return failed;
}

static int open_work(struct work *w, char **argv, size_t size)
{
	static const struct rpmem_pool_attr attr = {.signature = "POWER", .major = 1};
	unsigned nlanes = LANES;

	w->window[0] = size / 2 / HEADER * HEADER - WINDOW_BYTES / 2;
	w->window[1] = HEADER;
	w->window[2] = size - WINDOW_BYTES;
	w->memory = aligned_alloc(HEADER, size);
	w->journal = open(argv[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (w->memory == NULL || w->journal < 0)
		return -1;
	memset(w->memory, 0, size);
	w->pool = rpmem_create(argv[1], argv[2], w->memory, size, &nlanes, &attr);
	if (w->pool != NULL && nlanes == LANES)
		return 0;
	fprintf(stderr, "power: %u lanes: %s\n", nlanes, rpmem_errormsg());
	return -1;
}

int main(int argc, char **argv)
{
	struct work w = {.number = 0};
	const char *failed;
	int error;

	if (argc != 6)
		return 64;
	alarm(LIMIT_S);
	w.random = strtoull(argv[5], NULL, 10);
	if (open_work(&w, argv, strtoull(argv[3], NULL, 10)) != 0)
		return EXIT_FAILURE;
	failed = write_until_lost(&w);
	error = errno;
	if (failed == NULL) {
		rpmem_close(w.pool);
		return NEVER_LOST;
	}
	printf("lost %s %s: %s\n", failed, strerrorname_np(error), rpmem_errormsg());
	rpmem_close(w.pool);
	close(w.journal);
	free(w.memory);
	return error == ECONNRESET ? EXIT_SUCCESS : EXIT_FAILURE;
}
