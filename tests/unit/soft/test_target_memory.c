// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_memory.c -- moving bytes between lists of parts: by copies, and by the calls that
 * reach another process, here used on this one.
 */
/* cmocka.h needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft_device/process/target_memory.h"

#define BYTES 700u

static unsigned char from[BYTES], to[BYTES];

static int setup(void **unused)
{
	for (unsigned i = 0; i < BYTES; i++)
		from[i] = (unsigned char)(i * 7 + 1);
	memset(to, 0, sizeof(to));
	return 0;
}

static struct iovec part(unsigned char *memory, size_t offset, size_t bytes)
{
	return (struct iovec){memory + offset, bytes};
}

/* Lists of the same sum, cut at different offsets, one with an empty part. */
static void check_lists(target_process process)
{
	struct iovec local[] = {part(from, 0, 10), part(from, 10, 0), part(from, 100, 200)};
	struct iovec remote[] = {part(to, 300, 150), part(to, 0, 60)};

	assert_int_equal(target_memory_write(process, local, 3, remote, 2), 0);
	assert_memory_equal(to + 300, from, 10);
	assert_memory_equal(to + 310, from + 100, 140);
	assert_memory_equal(to, from + 240, 60);
	memset(from + 100, 0, 200);
	assert_int_equal(target_memory_read(process, local, 3, remote, 2), 0);
	for (unsigned i = 100; i < 300; i++)
		assert_int_equal(from[i], (unsigned char)(i * 7 + 1));
}

static void lists__of_different_parts_match_by_copies(void **unused)
{
	check_lists(0);
}

static void lists__of_different_parts_match_by_calls(void **unused)
{
	check_lists(getpid());
}

/* Each length and offset around a line of 64 bytes, from a source in one part or two. */
static void check_ordered(target_process process)
{
	static const size_t lengths[] = {1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 400};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t length = lengths[i];

		for (size_t at = 1; at < 140; at += 3) {
			struct iovec whole = part(from, 5, length);
			struct iovec two[] = {part(from, 5, length / 2),
					      part(from, 5 + length / 2, length - length / 2)};
			uint64_t addr = (uintptr_t)(to + at);

			memset(to, 0, sizeof(to));
			assert_int_equal(
				target_memory_write_ordered(process, &whole, 1, addr, length), 0);
			assert_memory_equal(to + at, from + 5, length);
			assert_int_equal(to[at - 1], 0);
			assert_int_equal(to[at + length], 0);
			memset(to, 0, sizeof(to));
			assert_int_equal(target_memory_write_ordered(process, two, 2, addr, length),
					 0);
			assert_memory_equal(to + at, from + 5, length);
			assert_int_equal(to[at + length], 0);
		}
	}
}

static void ordered__writes_just_its_bytes_by_copies(void **unused)
{
	check_ordered(0);
}

static void ordered__writes_just_its_bytes_by_calls(void **unused)
{
	check_ordered(getpid());
}

/* Some within a line, some across its end, one onto the bytes of the one before it. */
static void check_each(target_process process)
{
	const struct target_write writes[] = {
		{from, (uintptr_t)(to + 3), 8},		  {from + 8, (uintptr_t)(to + 61), 70},
		{from + 100, (uintptr_t)(to + 200), 128}, {from + 300, (uintptr_t)(to + 204), 4},
		{from + 400, (uintptr_t)(to + 639), 1},
	};

	assert_int_equal(target_memory_write_each(process, writes, 5), 5);
	assert_memory_equal(to + 3, from, 8);
	assert_memory_equal(to + 61, from + 8, 70);
	assert_memory_equal(to + 200, from + 100, 4);
	assert_memory_equal(to + 204, from + 300, 4);
	assert_memory_equal(to + 208, from + 108, 120);
	assert_int_equal(to[639], from[400]);
	assert_true(to[2] == 0 && to[11] == 0 && to[60] == 0 && to[131] == 0 && to[199] == 0 &&
		    to[328] == 0 && to[638] == 0 && to[640] == 0);
}

static void each__of_a_list_is_written_by_copies(void **unused)
{
	check_each(0);
}

static void each__of_a_list_is_written_by_calls(void **unused)
{
	check_each(getpid());
}

/* The third of four ends in a page that is not there, or begins in one. */
static void check_hole(target_process process, size_t third_at)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct target_write writes[] = {
		{from, (uintptr_t)two, 8},
		{from + 8, (uintptr_t)two + 64, 100},
		{from + 200, (uintptr_t)two + page + third_at - 100, 200},
		{from + 400, (uintptr_t)two + 300, 8},
	};

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(munmap(two + page, page), 0);
	assert_int_equal(target_memory_write_each(process, writes, 4), 2);
	assert_memory_equal(two, from, 8);
	assert_memory_equal(two + 64, from + 8, 100);
	assert_int_equal(two[300], 0);
	assert_int_equal(munmap(two, page), 0);
}

static void each__stops_at_what_is_not_mapped(void **unused)
{
	check_hole(getpid(), 0);
	check_hole(getpid(), 100);
	check_hole(0, 0);
	check_hole(0, 100);
}

static void check_atomics(target_process process)
{
	static _Alignas(8) uint64_t word;
	uint64_t addr = (uintptr_t)&word, before = 0;

	assert_int_equal(target_memory_store_8(process, addr, 5), 0);
	assert_int_equal(target_memory_compare_swap_8(process, addr, 4, 9, &before), 0);
	assert_true(before == 5 && word == 5);
	assert_int_equal(target_memory_compare_swap_8(process, addr, 5, 9, &before), 0);
	assert_true(before == 5 && word == 9);
	assert_int_equal(target_memory_fetch_add_8(process, addr, UINT64_MAX, &before), 0);
	assert_true(before == 9 && word == 8);
}

static void atomics__do_as_they_are_called(void **unused)
{
	check_atomics(0);
	check_atomics(getpid());
}

static void unmapped__memory_is_told(void **unused)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec source = part(from, 0, 200), target = part(two, page - 100, 200);

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(munmap(two + page, page), 0);
	assert_int_equal(target_memory_write(getpid(), &source, 1, &target, 1), -EFAULT);
	assert_int_equal(target_memory_read(getpid(), &source, 1, &target, 1), -EFAULT);
	assert_false(target_memory_is_usable(&target, 1, false));
	assert_true(target_memory_is_usable(&source, 1, false));
	assert_int_equal(munmap(two, page), 0);
}

static void gone__process_is_told(void **unused)
{
	struct iovec both = part(from, 0, 8);
	pid_t process = fork();

	if (process == 0)
		_exit(0);
	assert_int_equal(waitpid(process, NULL, 0), process);
	assert_int_equal(target_memory_write(process, &both, 1, &both, 1), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lists__of_different_parts_match_by_copies, setup),
		cmocka_unit_test_setup(lists__of_different_parts_match_by_calls, setup),
		cmocka_unit_test_setup(ordered__writes_just_its_bytes_by_copies, setup),
		cmocka_unit_test_setup(ordered__writes_just_its_bytes_by_calls, setup),
		cmocka_unit_test_setup(each__of_a_list_is_written_by_copies, setup),
		cmocka_unit_test_setup(each__of_a_list_is_written_by_calls, setup),
		cmocka_unit_test_setup(each__stops_at_what_is_not_mapped, setup),
		cmocka_unit_test(atomics__do_as_they_are_called),
		cmocka_unit_test_setup(unmapped__memory_is_told, setup),
		cmocka_unit_test_setup(gone__process_is_told, setup),
	};

	return cmocka_run_group_tests_name("soft_queues.target_memory", tests, NULL, NULL);
}
