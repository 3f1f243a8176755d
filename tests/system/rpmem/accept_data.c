/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_data.c -- what is persisted is in the parts, and what is in the parts is read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "accept.h"

#define THREADS 8
#define ROUNDS	8

static void read_the_whole_pool(void)
{
	FOR_EACH_KIND(kind)
	{
		const size_t size = kind_size(kind), begin = kind_begin(kind);
		unsigned char *memory = heap(2 * PART), *copy = heap(2 * PART);
		RPMEMpool *pool = create_pool(kind, memory, size);
		struct remote remote = remote_map();

		fill(copy, 2 * PART, kind);
		remote_fill(&remote, kind, copy);
		/* into the memory of the pool, and into other memory */
		CHECK(rpmem_read(pool, memory + begin, begin, size - begin, 0) == 0);
		compare(memory + begin, copy + begin, size - begin);
		memset(memory, 0, 2 * PART);
		close_pool(pool);
		pool = open_pool(copy, size);
		CHECK(rpmem_read(pool, memory + begin, begin, size - begin, 0) == 0);
		compare(memory + begin, copy + begin, size - begin);
		close_pool(pool);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		free(memory);
		free(copy);
	}
}

static void persist_the_whole_pool(void)
{
	unsigned char *memory = file_memory(2 * PART), *seen = heap(2 * PART);

	FOR_EACH_KIND(kind)
	{
		const size_t size = kind_size(kind), begin = kind_begin(kind);

		for (unsigned flags = 0; flags <= RPMEM_PERSIST_RELAXED; flags++) {
			RPMEMpool *pool = create_pool(kind, memory, size);
			struct remote remote = remote_map();

			fill(memory, size, kind * 2 + flags);
			CHECK(rpmem_persist(pool, begin, size - begin, 0, flags) == 0);
			remote_copy(&remote, kind, seen);
			compare(seen + begin, memory + begin, size - begin);
			close_pool(pool);
			CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		}
	}
}

/* --- lanes at once ------------------------------------------------------------ */

static int flush_and_drain(RPMEMpool *pool, size_t offset, size_t length, unsigned lane)
{
	const size_t piece = length / 16;

	for (size_t i = 0; i < 16; i++) {
		const size_t at = i * piece, len = i < 15 ? piece : length - at;

		if (rpmem_flush(pool, offset + at, len, lane, i % 2) != 0)
			return -1;
	}
	return rpmem_drain(pool, lane, 0);
}

/* In the way of its lane. */
static int write_range(RPMEMpool *pool, size_t offset, size_t length, unsigned lane)
{
	switch (lane % 4) {
	case 0:
		return rpmem_persist(pool, offset, length, lane, 0);
	case 1:
		return rpmem_persist(pool, offset, length, lane, RPMEM_PERSIST_RELAXED);
	case 2:
		return rpmem_deep_persist(pool, offset, length, lane);
	default:
		return flush_and_drain(pool, offset, length, lane);
	}
}

struct share {
	RPMEMpool *pool;
	unsigned char *memory;
	size_t begin, end;
	unsigned lane;
	pthread_t thread;
};

static void *write_share(void *share)
{
	struct share *s = share;
	const size_t step = (s->end - s->begin) / ROUNDS;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const size_t offset = s->begin + i * step;

		fill(s->memory + offset, step, s->lane * 100 + i);
		CHECK(write_range(s->pool, offset, step, s->lane) == 0);
	}
	return NULL;
}

static void write_from_all_lanes(enum kind kind)
{
	const size_t size = kind_size(kind), begin = kind_begin(kind);
	unsigned char *memory = heap(2 * PART), *seen = heap(2 * PART);
	struct share shares[THREADS];
	unsigned nlanes = THREADS;
	RPMEMpool *pool = with_lanes(kind, memory, size, &nlanes);
	struct remote remote = remote_map();

	CHECK(nlanes == THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		const size_t each = (size - begin) / THREADS;

		shares[i] = (struct share){.pool = pool,
					   .memory = memory,
					   .begin = begin + i * each,
					   .end = begin + (i + 1) * each,
					   .lane = i};
		CHECK(pthread_create(&shares[i].thread, NULL, write_share, &shares[i]) == 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_join(shares[i].thread, NULL) == 0);
	remote_copy(&remote, kind, seen);
	compare(seen + begin, memory + begin, size - begin);
	close_pool(pool);
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	free(memory);
	free(seen);
}

static void write_in_threads(void)
{
	FOR_EACH_KIND(kind)
	write_from_all_lanes(kind);
}

/* --- one call of more than 4 GiB ---------------------------------------------------------------
 */

#define LARGE (((size_t)4 << 30) + 2 * MIB)

static void more_than_4_gib_in_a_call(void)
{
	unsigned char *memory, word[8], *copy = heap(MIB);
	RPMEMpool *pool;

	set_write("my.set", "4098M @/a\n");
	memory = file_memory(LARGE); /* sparse */
	pool = try_create(name_of("my.set"), memory, LARGE, kind_attr(HEADERS));
	CHECK(pool != NULL);
	for (size_t at = HEADER; at < LARGE; at += 512 * MIB)
		fill(memory + at, 8, at);
	fill(memory + LARGE - MIB, MIB, 1);
	CHECK(rpmem_persist(pool, HEADER, LARGE - HEADER, 0, RPMEM_PERSIST_RELAXED) == 0);
	for (size_t at = HEADER; at < LARGE; at += 512 * MIB) {
		CHECK(rpmem_read(pool, word, at, 8, 0) == 0);
		compare(word, memory + at, 8);
	}
	CHECK(rpmem_read(pool, copy, LARGE - MIB, MIB, 0) == 0);
	compare(copy, memory + LARGE - MIB, MIB);
	CHECK(rpmem_read(pool, memory + HEADER, HEADER, LARGE - HEADER, 0) == 0);
	compare(memory + LARGE - MIB, copy, MIB);
	close_pool(pool);
}

const struct accept_case cases_of_data[] = {
	CASE(read_the_whole_pool),
	CASE(persist_the_whole_pool),
	CASE(write_in_threads),
	{.name = "more_than_4_gib_in_a_call", .run = more_than_4_gib_in_a_call, .is_long = true},
	{.name = NULL},
};
