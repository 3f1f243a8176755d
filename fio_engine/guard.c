/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.c -- see guard.h. Called when the engine is loaded, which is before fio
 * looks at what it exports.
 *
 * fio exports its version to its engines as a string; a program without it is
 * no fio that we know of.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "guard.h"

size_t guard_release_length(const char *text)
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

bool guard_same_release(const char *one, const char *other)
{
	size_t length = guard_release_length(one);

	return length && length == guard_release_length(other) && !strncmp(one, other, length);
}

bool guard_check(const char *headers)
{
	const char *running = (const char *)dlsym(RTLD_DEFAULT, "fio_version_string");

	if (running && guard_same_release(headers, running))
		return true;
	fprintf(stderr,
		"librpma: this engine was built with the headers of %s and cannot be loaded by %s: "
		"build it with the headers of that fio (cmake -DFIO_SOURCE_DIR=)\n",
		headers, running ? running : "a fio that does not tell its version");
	return false;
}
