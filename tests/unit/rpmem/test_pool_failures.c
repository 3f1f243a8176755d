/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pool_failures.c -- each system call below the storage side fails once: nothing
 * is leaked, and nothing of a failed create stays.
 */
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "pool_scratch.h"

/* The call of this number fails, counted from 1, or all from it on; 0: none. */
static struct {
	unsigned calls, fails_at;
	bool all_fail;
	bool is_counting;
} plan;

static bool fails(int error)
{
	if (!plan.is_counting)
		return false;
	plan.calls++;
	if (plan.calls != plan.fails_at && (!plan.all_fail || plan.calls < plan.fails_at))
		return false;
	errno = error;
	return true;
}

#define WRAP(type, name, params, args, error, result)                                              \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return fails(error) ? (result) : __real_##name args;                               \
	}

WRAP(int, posix_fallocate, (int fd, off_t at, off_t len), (fd, at, len), ENOSPC, ENOSPC)
WRAP(int, fsync, (int fd), (fd), EIO, -1)
WRAP(int, msync, (void *at, size_t len, int flags), (at, len, flags), EIO, -1)
WRAP(int, flock, (int fd, int how), (fd, how), ENOLCK, -1)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), EIO, -1)
WRAP(int, unlink, (const char *path), (path), EIO, -1)
WRAP(ssize_t, read, (int fd, void *to, size_t len), (fd, to, len), EIO, -1)
WRAP(ssize_t, getrandom, (void *to, size_t len, unsigned flags), (to, len, flags), ENOSYS, -1)
WRAP(void *, malloc, (size_t size), (size), ENOMEM, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), ENOMEM, NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), ENOMEM, NULL)
WRAP(char *, strndup, (const char *text, size_t len), (text, len), ENOMEM, NULL)

/* mmap() with MAP_SYNC often fails, and is tried again without it. */
void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (!(flags & MAP_SYNC) && fails(ENOMEM))
		return MAP_FAILED;
	return __real_mmap(at, len, prot, flags, fd, offset);
}

static unsigned descriptors(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

/* Runs it with one more call failing each time; until all calls succeed. */
static void each_call_fails(int (*run)(void), void (*check)(int ret))
{
	const unsigned before = descriptors();

	for (plan.fails_at = 1;; plan.fails_at++) {
		int ret;

		plan.calls = 0;
		failure_get()->text[0] = '\0';
		plan.is_counting = true;
		ret = run();
		plan.is_counting = false;
		if (ret != 0) {
			assert_true(ret < 0);
			assert_string_not_equal(failure_get()->text, "");
		}
		check(ret);
		assert_int_equal(descriptors(), before);
		if (plan.calls < plan.fails_at)
			break;
	}
	assert_true(plan.fails_at > 10);
}

static struct rpmem_pool_attr attr;

static int run_create(void)
{
	int ret = pool_create(&pool, scratch, "my.set", 4 * MIB, &attr);

	plan.is_counting = false;
	pool_close(&pool, true);
	return ret;
}

/* The part that was there is as before. */
static void check_create(int ret)
{
	assert_true(ret <= 0);
	EQUAL((exists("a") || exists("c"), false), (stat_of("b").st_size, 2 * MIB),
	      (is_zero_at("b", 0), true));
}

POOL_TEST(create_leaves_nothing_behind)
{
	attr = obj_attr();
	memset(attr.uuid, 0, sizeof(attr.uuid));
	set_write("my.set", "2M @/a\n2M @/b\n2M @/c\n");
	file_make("b", 2 * MIB);
	each_call_fails(run_create, check_create);
}

static int run_create_on_zeros(void)
{
	int ret;

	file_make("a", 2 * MIB);
	file_make("b", 2 * MIB);
	failure_get()->text[0] = '\0';
	plan.calls = 0;
	plan.is_counting = true;
	ret = pool_create(&pool, scratch, "my.set", MIB, &attr);
	plan.is_counting = false;
	pool_close(&pool, true);
	assert_int_equal(pool_remove(scratch, "my.set", true, false), 0);
	return ret;
}

/* Cleaning up fails as well, and does not put its own sentence in the place. */
POOL_TEST(the_first_failure_is_told)
{
	char first[sizeof(failure_get()->text)];

	attr = obj_attr();
	set_write("my.set", "2M @/a\n2M @/b\n");
	for (plan.fails_at = 1;; plan.fails_at++) {
		int ret;

		plan.all_fail = true;
		ret = run_create_on_zeros();
		strcpy(first, failure_get()->text);
		plan.all_fail = false;
		if (run_create_on_zeros() == ret)
			assert_string_equal(failure_get()->text, first);
		if (plan.calls < plan.fails_at)
			break;
	}
	assert_true(plan.fails_at > 10);
	plan.all_fail = false;
}

static int run_open(void)
{
	struct rpmem_pool_attr got;
	int ret = pool_open(&pool, scratch, "my.set", 4 * MIB, &got);

	pool_close(&pool, true);
	return ret;
}

static void check_pool_stays(int ret)
{
	assert_true(ret <= 0);
	assert_int_equal(reopen(&pool, "my.set", 4 * MIB), 0);
	pool_close(&pool, false);
}

POOL_TEST(open_changes_nothing)
{
	set_write("my.set", "2M @/a\n2M @/b\n2M @/c\n");
	make_pool("my.set", true);
	each_call_fails(run_open, check_pool_stays);
}

static int run_remove(void)
{
	return pool_remove(scratch, "my.set", false, false);
}

/* Either all parts are as they were, or some could not be removed: made again for the next. */
static void check_removed(int ret)
{
	EQUAL((ret == 0, !exists("a") && !exists("b") && !exists("c")),
	      (pool_remove(scratch, "my.set", true, false), 0));
	make_pool("my.set", true);
}

POOL_TEST(remove_tells_what_is_left)
{
	set_write("my.set", "2M @/a\n2M @/b\n2M @/c\n");
	make_pool("my.set", true);
	each_call_fails(run_remove, check_removed);
}

static int run_set_attr(void)
{
	int ret;

	plan.is_counting = false;
	assert_int_equal(reopen(&pool, "my.set", 4 * MIB), 0);
	plan.is_counting = true;
	ret = pool_set_attr(pool, &attr);
	plan.is_counting = false;
	pool_close(&pool, false);
	return ret;
}

/* Good means that it is stored. */
static void check_attr(int ret)
{
	struct rpmem_pool_attr got;

	if (ret == 0) {
		assert_int_equal(pool_open(&pool, scratch, "my.set", 4 * MIB, &got), 0);
		assert_memory_equal(&got, &attr, sizeof(attr));
		pool_close(&pool, false);
	}
	assert_int_equal(pool_remove(scratch, "my.set", true, false), 0);
	make_pool("my.set", true);
}

POOL_TEST(set_attr_is_stored_or_fails)
{
	attr = obj_attr();
	attr.major = 77;
	set_write("my.set", "2M @/a\n2M @/b\n2M @/c\n");
	make_pool("my.set", true);
	each_call_fails(run_set_attr, check_attr);
}

/* The part that failed stays so, whatever is persisted later, its header too. */
POOL_TEST(a_failure_of_msync_is_told_for_good)
{
	const struct rpmem_pool_attr changed = obj_attr();

	set_write("my.set", "2M @/a\n2M @/b\n");
	assert_int_equal(create(&pool, "my.set", MIB), 0);
	plan.is_counting = true;
	plan.calls = 0;
	plan.fails_at = 2;
	assert_failed(pool_persist(pool, 2 * MIB - 1, 2), EIO, "/b");
	plan.is_counting = false;
	assert_failed(pool_persist(pool, 3 * MIB, 1), EIO, "/b");
	assert_failed(pool_set_attr(pool, &changed), EIO, "/b");
	assert_int_equal(pool_persist(pool, MIB, 1), 0);
}
