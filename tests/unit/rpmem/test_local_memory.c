/* SPDX-License-Identifier: BSD-3-Clause */
/* test_local_memory.c -- memory that a pool cannot be is told from such as it can. */
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "librpmem/src/local_memory.h"
#include "tests/lib/test.h"

#define PAGES 8

/* Pages that may be read and written, but for one of them. */
static char *mapped(int protection, size_t other)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	if (protection >= 0)
		assert_int_equal(mprotect(memory + other * page, page, protection), 0);
	else
		assert_int_equal(munmap(memory + other * page, page), 0);
	return memory;
}

static int checked(const char *memory, size_t pages)
{
	return local_memory_check(memory, pages * (size_t)sysconf(_SC_PAGESIZE));
}

TEST(memory_of_all_kinds_is_good)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *heap = aligned_alloc(page, PAGES * page);

	EQUAL((checked(mapped(PROT_READ | PROT_WRITE, 3), PAGES), 0), (checked(heap, PAGES), 0));
	free(heap);
	/* two mappings beside each other */
	assert_int_equal(checked(mapped(PROT_READ | PROT_WRITE | PROT_EXEC, 3), PAGES), 0);
}

TEST(memory_that_may_not_be_written_is_refused)
{
	for (size_t page = 0; page < PAGES; page++) {
		EQUAL((checked(mapped(PROT_READ, page), PAGES), -EACCES),
		      (failure_get()->text, HAS("read-only")),
		      (checked(mapped(PROT_NONE, page), PAGES), -EACCES),
		      (checked(mapped(PROT_READ, page), page), 0));
	}
}

TEST(holes_are_refused)
{
	for (size_t page = 0; page < PAGES; page++) {
		char *memory = mapped(-1, page);

		EQUAL((checked(memory, page), 0), (checked(memory, page + 1), -EFAULT),
		      (failure_get()->text, HAS("not mapped")));
	}
}

TEST(the_end_of_the_address_space_is_refused)
{
	EQUAL((local_memory_check((void *)UINTPTR_MAX, 4096), -EFAULT),
	      (local_memory_check((void *)4096, SIZE_MAX - 8192), -EFAULT));
}
