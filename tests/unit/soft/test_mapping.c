/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mapping.c -- what is found out of a range of memory: holes, rights, files. */
#include <sys/mman.h>
#include <unistd.h>

#include "soft_device/process/mapping.h"
#include "tests/lib/test.h"

static size_t page;

static void *map(size_t pages, int protection, int flags, int fd)
{
	void *mapped = mmap(NULL, pages * page, protection, flags, fd, 0);

	assert_ptr_not_equal(mapped, MAP_FAILED);
	return mapped;
}

static uint64_t number(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

TEST(populate__finds_a_hole)
{
	unsigned char *memory = map(3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	assert_int_equal(mapping_populate(number(memory), 3 * page, true), 0);
	assert_int_equal(munmap(memory + page, page), 0);
	assert_int_equal(mapping_populate(number(memory), 3 * page, true), -EFAULT);
	assert_int_equal(mapping_populate(number(memory) + page, 1, false), -EFAULT);
	assert_int_equal(mapping_populate(number(memory) + page - 1, 2, false), -EFAULT);
	assert_int_equal(mapping_populate(number(memory) + page - 1, 1, true), 0);
	munmap(memory, page);
	munmap(memory + 2 * page, page);
}

TEST(populate__minds_what_may_be_written)
{
	void *memory = map(1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	assert_int_equal(mapping_populate(number(memory), page, false), 0);
	assert_int_equal(mapping_populate(number(memory), page, true), -EFAULT);
	munmap(memory, page);
}

TEST(populate__refuses_a_range_around_the_end)
{
	assert_int_equal(mapping_populate(page, SIZE_MAX, true), -EINVAL);
	assert_int_equal(mapping_populate(UINT64_MAX, 1, true), -EINVAL);
}

TEST(check__finds_what_populate_does)
{
	unsigned char *memory = map(3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	unsigned char resident[3];

	assert_int_equal(mapping_check(number(memory) + 1, 3 * page - 1, true), 0);
	assert_int_equal(mincore(memory, 3 * page, resident), 0);
	assert_int_equal((resident[0] | resident[1] | resident[2]) & 1, 0); /* untouched */
	assert_int_equal(mprotect(memory + 2 * page, page, PROT_READ), 0);
	assert_int_equal(mapping_check(number(memory), 3 * page, true), -EFAULT);
	assert_int_equal(mapping_check(number(memory), 3 * page, false), 0);
	assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
	assert_int_equal(mapping_check(number(memory), 3 * page, false), -EFAULT);
	assert_int_equal(munmap(memory + page, page), 0);
	assert_int_equal(mapping_check(number(memory), 2 * page, true), -EFAULT);
	assert_int_equal(mapping_check(number(memory) + page - 1, 1, true), 0);
	assert_int_equal(mapping_check(number(memory) + page, 1, true), -EFAULT);
	assert_int_equal(mapping_check(page, SIZE_MAX, true), -EINVAL);
	munmap(memory, page);
	munmap(memory + 2 * page, page);
}

static int file(void)
{
	char path[] = "/tmp/rpma-mapping-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(fd, (off_t)(4 * page)), 0);
	return fd;
}

TEST(check__finds_the_end_of_a_file)
{
	int fd = file();
	void *shared = map(4, PROT_READ | PROT_WRITE, MAP_SHARED, fd);

	assert_int_equal(mapping_check(number(shared), 4 * page, true), 0);
	assert_int_equal(ftruncate(fd, (off_t)(3 * page)), 0);
	assert_int_equal(mapping_check(number(shared), 3 * page, true), 0);
	assert_int_equal(mapping_check(number(shared), 4 * page, true), -EFAULT);
	munmap(shared, 4 * page);
	close(fd);
}

TEST(file__is_one_when_it_is_shared)
{
	int fd = file();
	void *shared = map(4, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	void *private = map(4, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);

	assert_true(mapping_is_file(number(shared), 4 * page));
	assert_true(mapping_is_file(number(shared) + page + 1, 17));
	assert_false(mapping_is_file(number(private), 4 * page));
	munmap(shared, 4 * page);
	munmap(private, 4 * page);
	close(fd);
}

TEST(file__of_two_mappings_is_one)
{
	int fd = file();
	unsigned char *shared = map(4, PROT_READ | PROT_WRITE, MAP_SHARED, fd);

	assert_int_equal(mprotect(shared + page, page, PROT_READ), 0);
	assert_true(mapping_is_file(number(shared), 4 * page));
	assert_int_equal(munmap(shared + 2 * page, page), 0);
	assert_false(mapping_is_file(number(shared), 4 * page));
	munmap(shared, 4 * page);
	close(fd);
}

TEST(file__without_a_name_is_none)
{
	int fd = memfd_create("nameless", MFD_CLOEXEC);
	void *anonymous = map(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	void *memfd;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	memfd = map(1, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	assert_false(mapping_is_file(number(anonymous), page));
	assert_false(mapping_is_file(number(memfd), page));
	munmap(anonymous, page);
	munmap(memfd, page);
	close(fd);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	return test_run(NULL, NULL);
}
