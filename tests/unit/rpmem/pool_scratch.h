/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_scratch.h -- pool sets in the directory of a test, and what became of their
 * parts. The directory is the pool set directory, too.
 */
#pragma once

#include <dirent.h>
#include <errno.h>

#include "common/base/failure.h"
#include "golden_headers.h"
#include "tests/lib/scratch.h"
#include "tools/rpmemd/pool.h"
#include "tools/rpmemd/pool_header.h"

#define MIB  ((size_t)1024 * 1024)
#define HEAD 4096

/* The pool of a test, closed after it. */
static struct pool *pool;

static inline int pool_teardown(void **state)
{
	pool_close(&pool, false);
	return scratch_teardown(state);
}

#define POOL_TEST(name) TEST(name, scratch_setup, pool_teardown)

/* A pool set of these lines; @ stands for the directory of the test. */
static inline void set_write(const char *name, const char *lines)
{
	char text[4096] = "PMEMPOOLSET\n";
	size_t len = strlen(text);

	for (; *lines != '\0'; lines++) {
		if (*lines == '@')
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", scratch);
		else
			text[len++] = *lines;
		assert_true(len < sizeof(text) - sizeof(scratch));
	}
	text[len] = '\0';
	scratch_write(name, text);
}

/* The attributes that libpmemobj gives a pool. */
static inline struct rpmem_pool_attr obj_attr(void)
{
	uint8_t bytes[POOL_HEADER_BYTES];
	struct pool_header header;

	golden_header(GOLDEN_REMOTE, bytes);
	assert_int_equal(pool_header_decode("golden", bytes, &header), 0);
	return header.attr;
}

static inline bool exists(const char *name)
{
	char path[PATH_MAX];

	return access(scratch_path(name, path), F_OK) == 0;
}

static inline struct stat stat_of(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(stat(scratch_path(name, path), &st), 0);
	return st;
}

/* How many files the directory of the test has. */
static inline unsigned files_left(void)
{
	DIR *dir = opendir(scratch);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2; /* . and .. */
}

static inline void file_put(const char *name, size_t offset, const void *bytes, size_t len)
{
	char path[PATH_MAX];
	int fd = open(scratch_path(name, path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, (off_t)offset), len);
	close(fd);
}

static inline void file_get(const char *name, size_t offset, void *bytes, size_t len)
{
	char path[PATH_MAX];
	int fd = open(scratch_path(name, path), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, len, (off_t)offset), len);
	close(fd);
}

static inline void file_make(const char *name, size_t bytes)
{
	char path[PATH_MAX];

	file_put(name, 0, "", 1);
	assert_int_equal(truncate(scratch_path(name, path), (off_t)bytes), 0);
}

static inline bool is_zero_at(const char *name, size_t offset)
{
	static const uint8_t zeros[HEAD];
	uint8_t bytes[HEAD];

	file_get(name, offset, bytes, sizeof(bytes));
	return memcmp(bytes, zeros, sizeof(bytes)) == 0;
}

/* The call failed with this errno, and its sentence has the words. */
#define assert_failed(call, error, words)                                                          \
	do {                                                                                       \
		failure_get()->text[0] = '\0';                                                     \
		assert_int_equal(call, -(error));                                                  \
		if (strstr(failure_get()->text, words) == NULL)                                    \
			fail_msg("\"%s\" has no \"%s\"", failure_get()->text, words);              \
	} while (0)

static inline int create(struct pool **to, const char *name, size_t size)
{
	const struct rpmem_pool_attr attr = obj_attr();

	return pool_create(to, scratch, name, size, &attr);
}

static inline int create_plain(struct pool **to, const char *name, size_t size)
{
	return pool_create(to, scratch, name, size, NULL);
}

static inline int reopen(struct pool **to, const char *name, size_t size)
{
	struct rpmem_pool_attr attr;

	return pool_open(to, scratch, name, size, &attr);
}

/* Three options; the two parts together have 16 MiB. */
static const struct {
	const char *set;
	bool has_headers;
	size_t bytes;	       /* REMOTE POOL SIZE of rpmem_create(3), from offset 0 on */
	size_t second_in_file; /* where the second part's pool bytes begin in its file */
} kinds[] = {
	{"8M @/a\n8M @/b\n", true, 16773120, HEAD},
	{"OPTION SINGLEHDR\n8M @/a\n8M @/b\n", true, 16777216, 0},
	{"OPTION NOHDRS\n8M @/a\n8M @/b\n", false, 16777216, 0},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static inline int create_kind(struct pool **to, size_t kind, size_t size)
{
	set_write("my.set", kinds[kind].set);
	return (kinds[kind].has_headers ? create : create_plain)(to, "my.set", size);
}

static inline void remove_kind(void)
{
	pool_close(&pool, true);
	assert_false(exists("a") || exists("b"));
}

/* A pool that exists, and is closed. */
static inline void make_pool(const char *name, bool has_headers)
{
	assert_int_equal((has_headers ? create : create_plain)(&pool, name, MIB), 0);
	pool_close(&pool, false);
	assert_null(pool);
}

/* Becomes another user: no permission counts for root. The directory of the test lets it in. */
static inline void become_user(void)
{
	assert_int_equal(chmod(scratch, 0777), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
}

static inline void become_root_again(void)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}
