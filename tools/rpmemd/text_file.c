/* SPDX-License-Identifier: BSD-3-Clause */
/* text_file.c -- reads a file into memory, and cuts it into lines. */
#include "text_file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reason.h"

/* Up to `room` bytes: the file may have changed since its size was read. */
static int read_all(int fd, char *text, size_t room, size_t *len)
{
	ssize_t got = 1;

	*len = 0;
	while (*len < room && got > 0) {
		got = read(fd, text + *len, room - *len);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			return -errno;
		else
			*len += (size_t)got;
	}
	return 0;
}

int text_file_read(int fd, const char *path, size_t max, char **text, size_t *len)
{
	struct stat st;
	char *bytes;
	int ret;

	if (fstat(fd, &st) != 0)
		return reason_set(errno, "cannot examine %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return reason_set(EINVAL, "%s is not a regular file", path);
	if ((uint64_t)st.st_size > max)
		return reason_set(EINVAL, "%s has %lld bytes: expected %zu or less", path,
				  (long long)st.st_size, max);
	bytes = malloc((size_t)st.st_size + 1);
	if (bytes == NULL)
		return reason_set(ENOMEM, "%s: out of memory", path);
	ret = read_all(fd, bytes, (size_t)st.st_size, len);
	if (ret) {
		free(bytes);
		return reason_set(-ret, "cannot read %s: %s", path, strerror(-ret));
	}
	*text = bytes;
	return 0;
}

int text_file_lines(const char *path, const char *text, size_t len,
		    int (*take)(void *arg, const char *where, char *line), void *arg)
{
	const char *const end = text + len;
	char where[PATH_MAX + 32];
	int ret = 0;

	for (size_t number = 1; ret == 0 && (text < end || number == 1); number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t size = (size_t)((newline != NULL ? newline : end) - text);
		char *line = strndup(text, size);

		snprintf(where, sizeof(where), "%s:%zu", path, number);
		if (line == NULL)
			return reason_set(ENOMEM, "out of memory");
		if (strlen(line) < size)
			ret = reason_set(EINVAL, "%s: a control character is in this line", where);
		else if (size > 0 && line[size - 1] == '\r')
			line[size - 1] = '\0';
		if (ret == 0)
			ret = take(arg, where, line);
		free(line);
		text += size + (newline != NULL);
	}
	return ret;
}
