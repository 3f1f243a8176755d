/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session_test.h -- a directory for each test, and sessions whose ssh is fake_ssh
 * with a script in it: "$D" in a script is the directory.
 */
#pragma once

#include <dirent.h>

#include "common/base/failure.h"
#include "librpmem/src/session.h"
#include "librpmem/src/ssh_target.h"
#include "tests/lib/scratch.h"

static inline const char *test_path(const char *name)
{
	static char path[PATH_MAX];

	return scratch_path(name, path);
}

/* The file's text; empty if there is none. */
static inline const char *test_file(const char *name)
{
	static char text[4096];
	FILE *file = fopen(test_path(name), "r");
	size_t len = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	return text;
}

static inline const char *test_script(const char *script)
{
	static char expanded[2048];
	char *end = expanded;

	for (; *script != '\0'; script++) {
		if (strncmp(script, "$D", 2) != 0) {
			*end++ = *script;
			continue;
		}
		end = stpcpy(end, scratch);
		script++;
	}
	*end = '\0';
	return expanded;
}

static inline int test_setup(void **state)
{
	setenv("RPMEM_SSH", FAKE_SSH, 1);
	failure_get()->text[0] = '\0';
	return scratch_setup(state) || mkfifo(test_path("go"), 0600);
}

/* Lets a script with meet=$D/go go on. */
static inline void test_meet(void)
{
	const int fd = open(test_path("go"), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
}

/* How often ssh was started, by scripts with argv=$D/argv; starts at 0 again. */
static inline int count_starts(void)
{
	const char *at = test_file("argv");
	int count = 0;

	for (; (at = strstr(at, "-T\n")) != NULL; at++)
		count++;
	unlink(test_path("argv"));
	return count;
}

static inline void expect_text(const char *part)
{
	if (strstr(failure_get()->text, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, failure_get()->text);
}

static inline unsigned count_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(fds) != NULL)
		count++;
	closedir(fds);
	return count;
}
