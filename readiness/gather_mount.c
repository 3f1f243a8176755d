/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_mount.c -- which mount a path is below, by proc/self/mountinfo:
 *
 *   36 35 259:0 /root /mnt rw,noatime master:1 - ext4 /dev/pmem0 rw,dax=always
 *
 * The longest mount point wins, and of equal ones the last: it hides the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_pmem.h"

#define MOUNTS_BYTES_MAX (1 << 20)

bool gather_has_option(const char *options, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = options; *at != '\0'; at += strspn(at, ",")) {
		size_t word = strcspn(at, ",");

		if (word == len && strncmp(at, option, len) == 0)
			return true;
		at += word;
	}
	return false;
}

static bool is_octal(const char *text)
{
	return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' &&
	       text[2] >= '0' && text[2] <= '7';
}

/* Blanks and the like are written as "\040". */
static void unescape(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		if (*text == '\\' && is_octal(text + 1)) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				       (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static bool is_below(const char *path, const char *point)
{
	size_t len = strlen(point);

	if (strcmp(point, "/") == 0)
		return path[0] == '/';
	return strncmp(path, point, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* The fields after " - ". */
static bool read_filesystem(char *tail, struct mount *mount)
{
	char *rest, *type = strtok_r(tail, " ", &rest);
	char *source = strtok_r(NULL, " ", &rest), *options = strtok_r(NULL, " ", &rest);
	size_t len = strlen(mount->options);

	if (type == NULL || source == NULL)
		return false;
	unescape(source);
	snprintf(mount->filesystem, sizeof(mount->filesystem), "%s", type);
	if (strncmp(source, "/dev/", 5) == 0)
		snprintf(mount->source, sizeof(mount->source), "%s", strrchr(source, '/') + 1);
	snprintf(mount->options + len, sizeof(mount->options) - len, ",%s",
		 options != NULL ? options : "");
	return true;
}

/* "259:0" */
static bool read_numbers(const char *text, struct mount *mount)
{
	uint64_t major, minor;

	if (!gather_number(&text, &major) || *text++ != ':' || !gather_number(&text, &minor) ||
	    major > UINT_MAX || minor > UINT_MAX)
		return false;
	mount->major = (unsigned)major;
	mount->minor = (unsigned)minor;
	return true;
}

/* Cuts the line up; the point is in it. */
static const char *read_line(char *line, struct mount *mount)
{
	char *tail = strstr(line, " - "), *rest = NULL, *fields[6];

	if (tail == NULL)
		return NULL;
	*tail = '\0';
	for (int i = 0; i < 6; i++) {
		fields[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
		if (fields[i] == NULL)
			return NULL;
	}
	if (!read_numbers(fields[2], mount))
		return NULL;
	unescape(fields[4]);
	snprintf(mount->options, sizeof(mount->options), "%.120s", fields[5]);
	return read_filesystem(tail + 3, mount) ? fields[4] : NULL;
}

static bool find_mount(char *mounts, const char *path, struct mount *mount)
{
	char *rest, *line;
	size_t best = 0;

	for (line = strtok_r(mounts, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct mount one = {0};
		const char *point = read_line(line, &one);

		if (point == NULL || !is_below(path, point) || strlen(point) < best)
			continue;
		best = strlen(point);
		*mount = one;
	}
	return best > 0;
}

bool gather_mount(const struct sysroot *root, const char *path, struct mount *mount)
{
	char *mounts = malloc(MOUNTS_BYTES_MAX);
	bool found = false;

	if (mounts != NULL &&
	    sysroot_read(root, mounts, MOUNTS_BYTES_MAX, "proc/self/mountinfo") > 0)
		found = find_mount(mounts, path, mount);
	free(mounts);
	return found;
}
