/* SPDX-License-Identifier: BSD-3-Clause */
/* accept_create.c -- create: what it makes, and what it lacks. */
#include <fcntl.h>
#include <sys/resource.h>

#include "accept.h"

static void create_and_close(void)
{
	FOR_EACH_KIND(kind)
	{
		close_pool(create_pool(kind, heap(PART), PART));
		CHECK(file_size("a") == (off_t)PART && file_size("b") == (off_t)PART);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		close_pool(create_pool(kind, file_memory(PART), PART));
		close_pool(open_pool(file_memory(PART), PART));
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		no_part_is_left();
	}
}

/* --- memory --------------------------------------------------------------------------- */

/* The software device has no such limit: there the environment makes registrations fail. */
static void the_daemon_may_lock_too_little_memory(void)
{
	void *memory = heap(PART);

	if (over_tcp()) {
		close_pool(create_pool(SINGLEHDR, memory, PART));
		return;
	}
	CHECK_NO_POOL(try_create(set_of(SINGLEHDR), memory, PART, kind_attr(SINGLEHDR)), EREMOTEIO);
	CHECK(strstr(rpmem_errormsg(), "ulimit -l") != NULL);
	CHECK(strstr(rpmem_errormsg(), "16 MiB") != NULL);
	CHECK(strstr(rpmem_errormsg(), "64 KiB") != NULL);
	no_part_is_left();
}

/* --- descriptors, and several pools ---------------------------------------------------- */

/* Whatever a call needs a descriptor for: it fails as a whole, or not at all. */
static void too_few_descriptors(void)
{
	const struct rlimit limit = {256, 256};
	unsigned char *memory = heap(PART);
	int fds[256], count = 0, succeeded = 0;
	unsigned nlanes;

	close_pool(try_create(set_of(HEADERS), memory, PART,
			      kind_attr(HEADERS))); /* the device stays open */
	CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	for (int spare = 0; spare < 40 && succeeded < 3; spare++) {
		RPMEMpool *pool;

		nlanes = 4;
		pool = rpmem_create(target(), name_of("my.set"), memory, PART, &nlanes,
				    kind_attr(HEADERS));
		if (pool == NULL) {
			CHECK(errno == EMFILE);
			no_part_is_left();
		} else {
			succeeded++;
			close_pool(pool);
			close(fds[--count]); /* remove has no need of more */
			CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		}
		close(fds[--count]);
	}
	CHECK(succeeded == 3);
}

static void two_pools_of_one_client(void)
{
	unsigned char *memory = heap(2 * PART), copy[4096];
	RPMEMpool *first, *second;

	first = try_create(set_write("1.set", "8M @/1\n"), memory, PART, kind_attr(HEADERS));
	second =
		try_create(set_write("2.set", "8M @/2\n"), memory + PART, PART, kind_attr(HEADERS));
	CHECK(first != NULL && second != NULL);
	fill(memory, 2 * PART, 3);
	CHECK(rpmem_persist(first, HEADER, PART - HEADER, 0, 0) == 0);
	close_pool(first);
	CHECK(rpmem_persist(second, HEADER, PART - HEADER, 0, 0) == 0);
	CHECK(rpmem_read(second, copy, PART - sizeof(copy), sizeof(copy), 0) == 0);
	compare(copy, memory + 2 * PART - sizeof(copy), sizeof(copy));
	close_pool(second);
	first = try_open(name_of("1.set"), memory + PART, PART);
	CHECK(rpmem_read(first, copy, PART - sizeof(copy), sizeof(copy), 0) == 0);
	compare(copy, memory + PART - sizeof(copy), sizeof(copy));
	close_pool(first);
}

const struct accept_case cases_of_create[] = {
	CASE(create_and_close),
	CASE(too_few_descriptors),
	CASE(two_pools_of_one_client),
	CASE(the_daemon_may_lock_too_little_memory,
	     "RPMEM_CMD=ulimit -l 64; exec %lenv RPMA_SOFT=register:errno=ENOMEM %c"),
	{.name = NULL},
};
