/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_create.c -- create and open: what they make, and what they refuse.
 */
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

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

static void still_works(RPMEMpool *pool, unsigned char *memory)
{
	unsigned char copy[64];

	fill(memory + HEADER, sizeof(copy), (uintptr_t)copy);
	CHECK(rpmem_persist(pool, HEADER, sizeof(copy), 0, 0) == 0);
	CHECK(rpmem_read(pool, copy, HEADER, sizeof(copy), 0) == 0);
	compare(copy, memory + HEADER, sizeof(copy));
}

/* Each waits for the lock. */
static void a_pool_in_use(void)
{
	unsigned char *memory = heap(PART), *other = heap(PART);
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);
	const char *set = name_of("my.set");

	CHECK_NO_POOL(try_create(set, other, PART, kind_attr(HEADERS)), EBUSY);
	CHECK_NO_POOL(try_open(set, other, PART), EBUSY);
	still_works(pool, memory);
	close_pool(pool);
	close_pool(open_pool(memory, PART));
	CHECK(rpmem_remove(target(), set, 0) == 0);
}

/* --- memory --------------------------------------------------------------------------- */

/* As libpmempool probes a replica: from heap memory, with reads into the stack. */
static void two_pages_of_a_larger_pool(void)
{
	unsigned char *memory = heap(PART), *two_pages = heap(2 * PAGE), stack[PAGE];
	RPMEMpool *pool = create_pool(HEADERS, memory, PART);

	fill(memory, PART, 1);
	CHECK(rpmem_persist(pool, HEADER, PART - HEADER, 0, 0) == 0);
	close_pool(pool);
	pool = open_pool(two_pages, 2 * PAGE);
	CHECK(rpmem_read(pool, stack, PAGE, PAGE, 0) == 0);
	compare(stack, memory + PAGE, PAGE);
	CHECK(rpmem_read(pool, stack + 5, PAGE + 3, 1000, 0) == 0);
	compare(stack + 5, memory + PAGE + 3, 1000);
	CHECK_ERRNO(rpmem_read(pool, stack, 2 * PAGE, 8, 0), EINVAL);
	CHECK_ERRNO(rpmem_read(pool, stack, PAGE, PAGE + 1, 0), EINVAL);
	CHECK_ERRNO(rpmem_persist(pool, 2 * PAGE, 8, 0, 0), EINVAL);
	fill(two_pages, 2 * PAGE, 2);
	CHECK(rpmem_persist(pool, PAGE, PAGE, 0, 0) == 0);
	close_pool(pool);
	pool = try_open(name_of("my.set"), two_pages, PAGE);
	CHECK(pool != NULL); /* nothing of it can be written */
	CHECK_ERRNO(rpmem_persist(pool, 0, 8, 0, 0), EINVAL);
	close_pool(pool);
}

static void memory_that_cannot_be_used(void)
{
	void *memory = mmap(NULL, PART, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* vm.mmap_min_addr of Linux: mmap(2) chooses no address so low by itself */
	void *unmapped = (void *)(uintptr_t)(64 << 10);

	FOR_EACH_KIND(kind)
	{
		const char *set = set_of(kind);

		CHECK_NO_POOL(try_create(set, memory, PART, kind_attr(kind)), EACCES);
		no_part_is_left();
		CHECK_NO_POOL(try_create(set, unmapped, PART, kind_attr(kind)), EFAULT);
		no_part_is_left();
	}
}

/* Root is exempt from the limit by a capability. */
static void limit_locked_memory(rlim_t bytes)
{
	const struct rlimit limit = {bytes, bytes};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	CHECK(syscall(SYS_capget, &header, caps) == 0);
	caps[0].effective &= ~(1U << CAP_IPC_LOCK);
	CHECK(syscall(SYS_capset, &header, caps) == 0);
}

/* The software device has no such limit: there the environment makes registrations fail. */
static void too_little_memory_may_be_locked(void)
{
	void *memory = heap(PART);

	limit_locked_memory(65536);
	if (over_tcp()) {
		close_pool(create_pool(HEADERS, memory, PART));
		return;
	}
	CHECK_NO_POOL(try_create(set_of(HEADERS), memory, PART, kind_attr(HEADERS)), ENOMEM);
	CHECK(strstr(rpmem_errormsg(), "ulimit -l") != NULL);
	CHECK(strstr(rpmem_errormsg(), "8 MiB") != NULL);
	CHECK(strstr(rpmem_errormsg(), "64 KiB") != NULL);
	no_part_is_left();
}

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

const struct accept_case cases_of_create[] = {
	CASE(create_and_close),
	CASE(a_pool_in_use),
	CASE(two_pages_of_a_larger_pool),
	CASE(memory_that_cannot_be_used),
	CASE(too_little_memory_may_be_locked, "RPMA_SOFT=%c register:errno=ENOMEM",
	     "RPMEM_CMD=RPMA_SOFT= %c"),
	CASE(the_daemon_may_lock_too_little_memory,
	     "RPMEM_CMD=ulimit -l 64; exec %lenv RPMA_SOFT=register:errno=ENOMEM %c"),
	{.name = NULL},
};
