/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.c -- see guard.h. Called when the engine is loaded, which is before fio
 * looks at what it exports.
 *
 * fio exports its version to its engines as a string; every fio that we know of
 * has it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "guard.h"

/* "-12-gabcdef": what git puts behind the last release for sources that came after it; 0: none. */
static size_t git_length(const char *text)
{
	size_t digits = *text == '-' ? strspn(text + 1, "0123456789") : 0;
	size_t hash = 0;

	if (digits && !strncmp(text + 1 + digits, "-g", 2))
		hash = strspn(text + digits + 3, "0123456789abcdef");
	return hash ? digits + 3 + hash : 0;
}

static size_t release_length(const char *text)
{
	size_t name = strcspn(text, "0123456789");
	size_t end = name;

	for (int part = 0; part < 3; part++) {
		size_t dot = part ? strspn(text + end, ".") : 0;
		size_t digits = strspn(text + end + dot, "0123456789");

		if (dot > 1 || !digits || (part && !dot))
			break;
		end += dot + digits;
	}
	return end > name ? end : 0;
}

size_t guard_version_length(const char *text)
{
	size_t release = release_length(text);

	return release ? release + git_length(text + release) : 0;
}

/* git cuts hashes to different lengths. */
bool guard_same_version(const char *one, const char *other)
{
	size_t release = release_length(one);
	size_t git = git_length(one + release), other_git;

	if (!release || release != release_length(other) || strncmp(one, other, release) != 0)
		return false;
	other_git = git_length(other + release);
	if (!git || !other_git)
		return git == other_git;
	return !strncmp(one + release, other + release, git < other_git ? git : other_git);
}

bool guard_check(const char *headers)
{
	const char *running = (const char *)dlsym(RTLD_DEFAULT, "fio_version_string");

	if (running && guard_same_version(headers, running))
		return true;
	fprintf(stderr,
		"librpma: this engine was built with the headers of %s and cannot be loaded by %s: "
		"build it with the headers of that fio (cmake -DFIO_SOURCE_DIR=)\n",
		headers, running ? running : "a fio that does not tell its version");
	return false;
}
