/* SPDX-License-Identifier: BSD-3-Clause */
/* accept_data.c -- what is persisted is in the parts, and is read again. */
#include <fcntl.h>
#include <sys/mman.h>

#include "accept.h"

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

/* --- device DAX ---------------------------------------------------------------------------- */

static void a_pool_on_device_dax(void)
{
	const char *device = getenv("RPMEM_ACCEPT_DEVDAX");
	unsigned char *memory = heap(PART), *copy = heap(PART);
	char lines[256];
	RPMEMpool *pool;

	if (device == NULL)
		accept_skip("there is no device DAX to overwrite");
	snprintf(lines, sizeof(lines), "AUTO %s\n", device);
	rpmem_remove(target(), set_write("my.set", lines), RPMEM_REMOVE_FORCE);
	for (int round = 0; round < 2; round++) { /* remove makes room for the next */
		pool = try_create(name_of("my.set"), memory, PART, kind_attr(HEADERS));
		CHECK(pool != NULL);
		fill(memory, PART, (unsigned)round);
		CHECK(rpmem_persist(pool, HEADER, PART / 2, 0, 0) == 0);
		CHECK(rpmem_persist(pool, PART / 2, PART / 2, 0, RPMEM_PERSIST_RELAXED) == 0);
		CHECK(rpmem_deep_persist(pool, HEADER, PART - HEADER, 0) == 0);
		CHECK_NO_POOL(try_open(name_of("my.set"), copy, PART), EBUSY);
		close_pool(pool);
		CHECK_NO_POOL(try_create(name_of("my.set"), copy, PART, kind_attr(HEADERS)),
			      EEXIST);
		pool = open_pool(copy, PART);
		CHECK(rpmem_read(pool, copy + HEADER, HEADER, PART - HEADER, 0) == 0);
		compare(copy + HEADER, memory + HEADER, PART - HEADER);
		close_pool(pool);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		CHECK_NO_POOL(try_open(name_of("my.set"), copy, PART), EINVAL);
	}
}

const struct accept_case cases_of_data[] = {
	CASE(persist_the_whole_pool),
	CASE(a_pool_on_device_dax),
	{.name = "more_than_4_gib_in_a_call", .run = more_than_4_gib_in_a_call, .is_long = true},
	{.name = NULL},
};
