// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_target_memory.c -- moving bytes between lists of parts: by copies, and by the calls that
 * reach another process, here used on this one.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft_device/process/lock.h"
#include "soft_device/process/target_memory.h"
#include "tests/lib/test.h"

#define BYTES 700u

static unsigned char from[BYTES], to[BYTES];

/* Own memory is reached by the calls from when the thread has taken a lock. */
static int setup(void **unused)
{
	struct shared_lock lock;

	shared_lock_init(&lock);
	shared_lock_take(&lock);
	shared_lock_release(&lock);
	target_memory_by_call = true;
	for (unsigned i = 0; i < BYTES; i++)
		from[i] = (unsigned char)(i * 7 + 1);
	memset(to, 0, sizeof(to));
	return 0;
}

static int setup_copies(void **state)
{
	const int ret = setup(state);

	target_memory_by_call = false;
	return ret;
}

/* Own memory by the calls, and where they are refused, by copies. */
#define BOTH_TEST(name)                                                                            \
	static void name(void **state);                                                            \
	TEST_AGAIN(name, setup_copies)                                                             \
	TEST(name, setup)

static struct iovec part(unsigned char *memory, size_t offset, size_t bytes)
{
	return (struct iovec){memory + offset, bytes};
}

/* Lists of the same sum, cut at different offsets, one with an empty part. */
static void check_lists(target_process process)
{
	struct iovec local[] = {part(from, 0, 10), part(from, 10, 0), part(from, 100, 200)};
	struct iovec remote[] = {part(to, 300, 150), part(to, 0, 60)};

	memset(to, 0, sizeof(to));
	assert_int_equal(target_memory_write(process, local, 3, remote, 2), 0);
	assert_memory_equal(to + 300, from, 10);
	assert_memory_equal(to + 310, from + 100, 140);
	assert_memory_equal(to, from + 240, 60);
	memset(from + 100, 0, 200);
	assert_int_equal(target_memory_read(process, local, 3, remote, 2), 0);
	for (unsigned i = 100; i < 300; i++)
		assert_int_equal(from[i], (unsigned char)(i * 7 + 1));
}

BOTH_TEST(lists__of_different_parts_match)
{
	check_lists(0);
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

BOTH_TEST(ordered__writes_just_its_bytes)
{
	check_ordered(0);
	check_ordered(getpid());
}

/* It moves like memmove(), to either side. */
TEST(overlapping__ranges_are_moved_whole)
{
	unsigned char expected[400];

	for (size_t at = 90; at <= 110; at += 10) {
		const struct iovec source = part(from, 100, 400), target = part(from, at, 400);

		assert_int_equal(setup(state), 0);
		memcpy(expected, from + 100, sizeof(expected));
		assert_int_equal(
			target_memory_write_ordered(0, &source, 1, (uintptr_t)from + at, 400), 0);
		assert_memory_equal(from + at, expected, 400);
		assert_int_equal(setup(state), 0);
		assert_int_equal(target_memory_read(0, &target, 1, &source, 1), 0);
		assert_memory_equal(from + at, expected, 400);
	}
}

/* Some within a line, some across its end, one onto the bytes of the one before it. */
static void check_each(target_process process)
{
	const struct target_write writes[] = {
		{from, (uintptr_t)(to + 3), 8},		  {from + 8, (uintptr_t)(to + 61), 70},
		{from + 100, (uintptr_t)(to + 200), 128}, {from + 300, (uintptr_t)(to + 204), 4},
		{from + 400, (uintptr_t)(to + 639), 1},
	};

	memset(to, 0, sizeof(to));
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

BOTH_TEST(each__of_a_list_is_written)
{
	check_each(0);
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

BOTH_TEST(each__stops_at_what_is_not_mapped)
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

BOTH_TEST(atomics__do_as_they_are_called)
{
	check_atomics(0);
	check_atomics(getpid());
}

BOTH_TEST(atomics__do_the_same_with_a_gap)
{
	target_memory_gap_ns = 1000;
	check_atomics(0);
	check_atomics(getpid());
	target_memory_gap_ns = 0;
}

/* At either end, in the list that is written and in the one that is read. */
static void check_unmapped(target_process process)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec mapped = part(from, 0, 200), torn = part(two, page - 100, 200);

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(munmap(two + page, page), 0);
	assert_int_equal(target_memory_write(process, &mapped, 1, &torn, 1), -EFAULT);
	assert_int_equal(target_memory_write(process, &torn, 1, &mapped, 1), -EFAULT);
	assert_int_equal(target_memory_read(process, &mapped, 1, &torn, 1), -EFAULT);
	assert_int_equal(target_memory_read(process, &torn, 1, &mapped, 1), -EFAULT);
	assert_int_equal(
		target_memory_write_ordered(process, &mapped, 1, (uintptr_t)two + page - 100, 200),
		-EFAULT);
	assert_int_equal(target_memory_write_ordered(process, &torn, 1, (uintptr_t)to, 200),
			 -EFAULT);
	assert_false(target_memory_is_usable(&torn, 1, false));
	assert_true(target_memory_is_usable(&mapped, 1, false));
	assert_int_equal(munmap(two, page), 0);
}

BOTH_TEST(unmapped__memory_is_reported)
{
	check_unmapped(0);
	check_unmapped(getpid());
}

/* The two calls fail from now on. */
static void refuse_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(2);
}

/* In a child, of which the filter stays. */
TEST(refused__calls_are_done_without, setup)
{
	const struct iovec source = part(from, 5, 300), target = part(to, 100, 300);
	const pid_t child = fork();
	int status;

	if (child == 0) {
		setup(state);
		refuse_calls();
		_exit(target_memory_write_ordered(0, &source, 1, (uintptr_t)to + 100, 300) != 0 ||
		      memcmp(to + 100, from + 5, 300) != 0 ||
		      target_memory_read(0, &target, 1, &source, 1) != 0 || target_memory_by_call);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* In a thread; its process has no first thread any more, by whose id it is known. */
static void *write_without_first(void *first)
{
	const struct iovec source = part(from, 5, 300);

	setup(NULL);
	_exit(pthread_join(*(pthread_t *)first, NULL) != 0 ||
	      target_memory_write_ordered(0, &source, 1, (uintptr_t)to, 300) != 0 ||
	      memcmp(to, from + 5, 300) != 0 || !target_memory_by_call);
}

TEST(first__thread_may_have_ended, setup)
{
	pthread_t thread;
	pid_t child;
	int status;

#if defined(__SANITIZE_THREAD__) || (defined(__SANITIZE_ADDRESS__) && __GNUC__ >= 14)
	skip(); /* they know no first thread that could be joined */
#endif
	child = fork();
	if (child == 0) {
		static pthread_t first;

		first = pthread_self();
		if (pthread_create(&thread, NULL, write_without_first, &first) != 0)
			_exit(2);
		pthread_exit(NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

TEST(gone__process_is_reported, setup)
{
	struct iovec both = part(from, 0, 8);
	pid_t process = fork();

	if (process == 0)
		_exit(0);
	assert_int_equal(waitpid(process, NULL, 0), process);
	assert_int_equal(target_memory_write(process, &both, 1, &both, 1), -ESRCH);
}
