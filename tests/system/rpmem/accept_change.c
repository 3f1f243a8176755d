/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_change.c -- attributes change, and pools go.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "accept.h"

static struct rpmem_pool_attr stored_attr(unsigned char *memory)
{
	struct rpmem_pool_attr attr;
	unsigned nlanes = 1;
	RPMEMpool *pool = rpmem_open(target(), name_of("my.set"), memory, PART, &nlanes, &attr);

	CHECK(pool != NULL);
	close_pool(pool);
	return attr;
}

static void attributes_change(void)
{
	unsigned char *memory = heap(PART);

	FOR_EACH_KIND(kind)
	{
		struct rpmem_pool_attr changed = {.signature = "CHANGED", .user_flags = "f"}, seen;
		static const struct rpmem_pool_attr none;
		RPMEMpool *pool = create_pool(kind, memory, PART);

		changed.incompat_features = kind == SINGLEHDR;
		if (kind == NOHDRS) {
			CHECK_ERRNO(rpmem_set_attr(pool, &changed), EINVAL);
			CHECK(rpmem_set_attr(pool, NULL) == 0);
			changed = none;
		} else {
			CHECK(rpmem_set_attr(pool, &changed) == 0);
		}
		CHECK(rpmem_persist(pool, HEADER, 64, 0, 0) == 0);
		close_pool(pool);
		seen = stored_attr(memory);
		/* UUIDs of zero are random ones, or those of this replica */
		CHECK(memcmp(seen.signature, changed.signature, sizeof(seen.signature)) == 0);
		CHECK(memcmp(seen.user_flags, changed.user_flags, sizeof(seen.user_flags)) == 0);
		CHECK(seen.major == changed.major &&
		      seen.incompat_features == changed.incompat_features);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	}
}

static void remove_in_all_ways(void)
{
	unsigned char *memory = heap(PART);

	FOR_EACH_KIND(kind)
	{
		for (int flags = 0; flags < 4; flags++) {
			const bool with_set = (flags & RPMEM_REMOVE_POOL_SET) != 0;

			close_pool(create_pool(kind, memory, PART));
			CHECK(rpmem_remove(target(), name_of("my.set"), flags) == 0);
			no_part_is_left();
			CHECK(file_exists("my.set") == !with_set);
			CHECK_NO_POOL(try_open(name_of("my.set"), memory, PART), ENOENT);
		}
	}
	CHECK_ERRNO(rpmem_remove(target(), name_of("my.set"), 4), EINVAL);
	CHECK_ERRNO(rpmem_remove(target(), name_of("my.set"), RPMEM_REMOVE_FORCE), ENOENT);
}

/* By hand, as libpmempool does it: the pool of a client that lives stays. */
static void remove_a_pool_in_use(void)
{
	unsigned char *memory = heap(PART), word[8];
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	const char *set = name_of("my.set");
	char arguments[256];

	fill(memory + HEADER, 8, 1);
	CHECK(rpmem_persist(pool, HEADER, 8, 0, 0) == 0);
	CHECK_ERRNO(rpmem_remove(target(), set, RPMEM_REMOVE_FORCE), EBUSY);
	snprintf(arguments, sizeof(arguments), "--remove %s --force --pool-set", set);
	CHECK(run_remotely(arguments) == EBUSY);
	CHECK(file_exists("my.set") && file_exists("a") && file_exists("b"));
	CHECK(rpmem_read(pool, word, HEADER, 8, 0) == 0);
	compare(word, memory + HEADER, 8);
	close_pool(pool);
	CHECK(run_remotely(arguments) == 0);
	no_part_is_left();
	CHECK(!file_exists("my.set"));
	CHECK(run_remotely(arguments) == ENOENT);
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

const struct accept_case cases_of_change[] = {
	CASE(attributes_change),    CASE(remove_in_all_ways), CASE(remove_a_pool_in_use),
	CASE(a_pool_on_device_dax), {.name = NULL},
};
