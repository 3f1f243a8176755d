/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.h -- a directory of its own for each test, and files in it. */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char scratch[64];

static int scratch_setup(void **state)
{
	const char *folder = getenv("TMPDIR");

	snprintf(scratch, sizeof(scratch), "%s/rpma-test-XXXXXX", folder != NULL ? folder : "/tmp");
	*state = scratch;
	return mkdtemp(scratch) == NULL;
}

static int scratch_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int scratch_teardown(void **state)
{
	return nftw(scratch, scratch_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#define SCRATCH_TEST(name) TEST(name, scratch_setup, scratch_teardown)

/* The path of a file of this test; what lies above it is made. */
static inline const char *scratch_path(const char *name, char path[PATH_MAX])
{
	assert_true(snprintf(path, PATH_MAX, "%s/%s", scratch, name) < PATH_MAX);
	for (char *slash = path + strlen(scratch) + 1; (slash = strchr(slash, '/')) != NULL;
	     slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	return path;
}

static inline void scratch_write(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file = fopen(scratch_path(name, path), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline void scratch_link(const char *target, const char *name)
{
	char path[PATH_MAX];

	assert_int_equal(symlink(target, scratch_path(name, path)), 0);
}

static inline size_t scratch_read(const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *file = fopen(scratch_path(name, path), "re");
	size_t len;

	assert_non_null(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return len;
}
