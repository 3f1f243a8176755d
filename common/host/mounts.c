/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mounts.c -- reads the mounts of a host:
 *
 *   36 35 259:0 /root /mnt rw,noatime master:1 - ext4 /dev/pmem0 rw,dax=always
 */
#include "mounts.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (1 << 20)

void mounts_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; to++) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* A number before this character, and what follows; NULL: there is none. */
static const char *read_number(const char *text, char behind, unsigned int *number)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	*number = (unsigned int)value;
	return isdigit((unsigned char)text[0]) && *end == behind && value <= UINT_MAX ? end + 1
										      : NULL;
}

bool mounts_read_device(const char *text, unsigned int *major, unsigned int *minor)
{
	const char *behind = read_number(text, ':', major);

	return behind != NULL && read_number(behind, '\0', minor) != NULL;
}

static bool read_numbers(const char *id, const char *device, struct mount *mount)
{
	char *end;

	mount->id = strtol(id, &end, 10);
	return *end == '\0' && mounts_read_device(device, &mount->major, &mount->minor);
}

static bool read_line(char *line, struct mount *mount)
{
	char *tail = strstr(line, " - "), *rest = NULL, *fields[6];

	if (tail == NULL)
		return false;
	*tail = '\0';
	for (int i = 0; i < 6; i++) {
		fields[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
		if (fields[i] == NULL)
			return false;
	}
	mount->root = fields[3];
	mount->point = fields[4];
	mount->options = fields[5];
	mount->type = strtok_r(tail + 3, " ", &rest);
	mount->source = strtok_r(NULL, " ", &rest);
	mount->fs_options = rest != NULL ? rest : "";
	if (mount->source == NULL || !read_numbers(fields[0], fields[2], mount))
		return false;
	mounts_unescape(mount->root);
	mounts_unescape(mount->point);
	mounts_unescape(mount->source);
	return true;
}

void mounts_take(struct mounts *mounts, char *text)
{
	char *rest, *line;
	size_t lines = 1;

	*mounts = (struct mounts){.text = text};
	for (const char *at = text; at != NULL && (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	mounts->list = text != NULL ? calloc(lines, sizeof(*mounts->list)) : NULL;
	if (mounts->list == NULL)
		return;
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		mounts->count += read_line(line, &mounts->list[mounts->count]);
}

void mounts_read(const struct sysroot *root, struct mounts *mounts)
{
	char *text = malloc(TEXT_BYTES_MAX);

	if (text != NULL)
		sysroot_read(root, text, TEXT_BYTES_MAX, "proc/self/mountinfo");
	mounts_take(mounts, text);
}

void mounts_free(struct mounts *mounts)
{
	free(mounts->list);
	free(mounts->text);
}
