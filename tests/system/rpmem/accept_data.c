/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_data.c -- what is persisted is in the parts, and what is in the parts is read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

typedef int write_range(RPMEMpool *pool, size_t offset, size_t length, unsigned lane);

static int persist_plain(RPMEMpool *pool, size_t offset, size_t length, unsigned lane)
{
	return rpmem_persist(pool, offset, length, lane, 0);
}

static int persist_relaxed(RPMEMpool *pool, size_t offset, size_t length, unsigned lane)
{
	return rpmem_persist(pool, offset, length, lane, RPMEM_PERSIST_RELAXED);
}

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

struct share {
	RPMEMpool *pool;
	unsigned char *memory;
	write_range *write;
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
		CHECK(s->write(s->pool, offset, step, s->lane) == 0);
	}
	return NULL;
}

static void write_in_threads(enum kind kind, write_range *write)
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
					   .write = write,
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

static void persist_in_threads(void)
{
	FOR_EACH_KIND(kind)
	{
		write_in_threads(kind, persist_plain);
		write_in_threads(kind, persist_relaxed);
	}
}

static void deep_persist_in_threads(void)
{
	FOR_EACH_KIND(kind)
	write_in_threads(kind, rpmem_deep_persist);
}

static void flush_and_drain_in_threads(void)
{
	FOR_EACH_KIND(kind)
	write_in_threads(kind, flush_and_drain);
}

/* --- a small work queue --------------------------------------------------------------- */

static void flush_some(RPMEMpool *pool, unsigned char *memory, unsigned count, unsigned flags)
{
	for (unsigned i = 0; i < count; i++) {
		const size_t offset = HEADER + i * 3000;

		fill(memory + offset, 3000, count * 1000 + i * 10 + flags);
		CHECK(rpmem_flush(pool, offset, 3000, 0, flags & 1) == 0);
	}
}

static void a_work_queue_of_8(void)
{
	unsigned char *memory = heap(2 * PART), *seen = heap(2 * PART);

	for (unsigned count = 6; count <= 17; count++) {
		RPMEMpool *pool = create_pool(NOHDRS, memory, PART);

		for (unsigned i = 0; i < 4; i++) {
			/* each comes first in some new pool */
			const unsigned flags = (count + i) % 4;
			const size_t end = HEADER + 64 * 3000;
			struct remote remote = remote_map();

			flush_some(pool, memory, count, flags);
			if (count % 2 == 0)
				CHECK(rpmem_drain(pool, 0, 0) == 0);
			fill(memory + end, 100, flags);
			CHECK(rpmem_persist(pool, end, 100, 0, flags >> 1) == 0);
			remote_copy(&remote, NOHDRS, seen);
			compare(seen + HEADER, memory + HEADER, end + 100 - HEADER);
		}
		close_pool(pool);
	}
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
	CASE(persist_in_threads),
	CASE(deep_persist_in_threads),
	CASE(flush_and_drain_in_threads),
	CASE(a_work_queue_of_8, "RPMEM_WORK_QUEUE_SIZE=8"),
	{.name = "more_than_4_gib_in_a_call", .run = more_than_4_gib_in_a_call, .is_long = true},
	{.name = NULL},
};
