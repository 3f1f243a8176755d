/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result.c -- puts a JSON document on disk atomically.
 *
 * The file appears complete under its name or not at all: written beside it,
 * synced, renamed, and the directory synced. What stood there before stays
 * until that rename.
 */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/failure.h"

#define STEP  "output"
#define FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(15))

static int refuse(const char *path, const char *cause)
{
	return failure_set(EXIT_RUN_FAILED, STEP, "cannot write the result to %s: %s", path, cause);
}

/* Renaming over a device node or a pipe would replace it by a file. */
static int check_regular(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? 0 : refuse(path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return refuse(path, strerror(EISDIR));
	if (!S_ISREG(st.st_mode))
		return refuse(path, "it is not a regular file (- is standard output)");
	return 0;
}

/* A new file beside it: who may read and write an existing one stays as it was. */
static int open_beside(const char *path, char temporary[PATH_MAX])
{
	int len = snprintf(temporary, PATH_MAX, "%s.%ld.tmp", path, (long)getpid());
	struct stat st;
	int fd;

	if (len < 0 || len >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0 && stat(path, &st) == 0 && fchmod(fd, st.st_mode & 07777) != 0) {
		close(fd);
		unlink(temporary);
		return -1;
	}
	return fd;
}

/* The file that a link names is replaced, not the link. */
static const char *behind_links(const char *path, char real[PATH_MAX])
{
	return realpath(path, real) != NULL ? real : path;
}

int result_check_writable(const char *path)
{
	char temporary[PATH_MAX], real[PATH_MAX];
	int ret = check_regular(path);
	int fd;

	if (ret)
		return ret;
	fd = open_beside(behind_links(path, real), temporary);
	if (fd < 0)
		return refuse(path, strerror(errno));
	close(fd);
	unlink(temporary);
	return 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int stat_directory(const char *path, struct stat *st)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	return stat(dirname(copy), st);
}

bool result_is_same_file(const char *path, const char *other)
{
	char real[2][PATH_MAX];
	const char *a = behind_links(path, real[0]), *b = behind_links(other, real[1]);
	struct stat st[2];

	return strcmp(last_part(a), last_part(b)) == 0 && stat_directory(a, &st[0]) == 0 &&
	       stat_directory(b, &st[1]) == 0 && st[0].st_dev == st[1].st_dev &&
	       st[0].st_ino == st[1].st_ino;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t done = write(fd, text, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		text += done;
		len -= (size_t)done;
	}
	return fsync(fd) == 0 ? 0 : -errno;
}

/* So that the new name survives a crash too; a file system may not offer it. */
static void sync_directory(const char *path)
{
	char copy[PATH_MAX];
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static int write_text(const char *path, const char *text, size_t len)
{
	char temporary[PATH_MAX];
	int fd = open_beside(path, temporary);
	int ret;

	if (fd < 0)
		return refuse(path, strerror(errno));
	ret = write_all(fd, text, len);
	if (close(fd) != 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(temporary, path) != 0)
		ret = -errno;
	if (ret != 0) {
		unlink(temporary);
		return refuse(path, strerror(-ret));
	}
	sync_directory(path);
	return 0;
}

static char *dump(const json_t *document, size_t *len)
{
	char *text = json_dumps(document, FLAGS);
	char *line;

	if (text == NULL)
		return NULL;
	*len = strlen(text) + 1;
	line = realloc(text, *len + 1);
	if (line == NULL) {
		free(text);
		return NULL;
	}
	line[*len - 1] = '\n';
	return line;
}

static int print_text(const char *text, size_t len)
{
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0)
		return refuse("standard output", strerror(errno));
	return 0;
}

int result_write_text(const char *path, const char *text, size_t len)
{
	char real[PATH_MAX];
	int ret;

	if (path == NULL)
		return print_text(text, len);
	ret = check_regular(path);
	return ret ? ret : write_text(behind_links(path, real), text, len);
}

int result_write(const char *path, const json_t *document)
{
	size_t len = 0;
	char *text = dump(document, &len);
	int ret;

	if (text == NULL)
		return failure_set(EXIT_INTERNAL, STEP, "the result cannot be written as JSON");
	ret = result_write_text(path, text, len);
	free(text);
	return ret;
}
