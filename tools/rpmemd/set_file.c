/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * set_file.c -- walks down from the pool set directory, one component at a time:
 * what openat2(2) does for RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, on all kernels.
 */
#include "pool_set.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reason.h"
#include "text_file.h"

/* A name on its way down. */
struct walk {
	const char *directory;
	const char *name;
	const char *rest; /* what is left of the name */
	char component[NAME_MAX + 1];
	int fd; /* the directory that the component is in */
};

static int refuse(const struct walk *w, const char *why)
{
	return reason_set(EINVAL, "pool set %.300s: %s", w->name, why);
}

static int system_failed(const struct walk *w, int error, const char *verb)
{
	if (error == ELOOP || error == ENOTDIR)
		return refuse(w, "a part of this name is a symbolic link, or not a directory");
	return reason_set(error, "cannot %s the pool set %.300s/%.300s: %s", verb, w->directory,
			  w->name, strerror(error));
}

/* Takes the next component; an empty one, as in a//b, is like ".". */
static int next_component(struct walk *w)
{
	const size_t len = strcspn(w->rest, "/");

	if (len >= sizeof(w->component))
		return refuse(w, "a part of this name is too long");
	memcpy(w->component, w->rest, len);
	w->component[len] = '\0';
	if (strcmp(w->component, "..") == 0)
		return refuse(w, "the name may not have .. in it");
	w->rest += len;
	w->rest += *w->rest == '/';
	return 0;
}

static int enter(struct walk *w)
{
	int fd;

	if (w->component[0] == '\0')
		return 0;
	fd = openat(w->fd, w->component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return system_failed(w, errno, "open");
	close(w->fd);
	w->fd = fd;
	return 0;
}

static int walk_down(struct walk *w)
{
	int ret = next_component(w);

	while (ret == 0 && w->rest[0] != '\0') {
		ret = enter(w);
		if (ret == 0)
			ret = next_component(w);
	}
	return ret;
}

/* On success the walk stands before the last component, and its fd is open. */
static int walk_start(struct walk *w, const char *directory, const char *name)
{
	int ret;

	*w = (struct walk){.directory = directory, .name = name, .rest = name, .fd = -1};
	if (name[0] == '\0' || name[strlen(name) - 1] == '/')
		return refuse(w, "expected the name of a file");
	if (name[0] == '/')
		return refuse(w, "expected a path below the pool set directory");
	w->fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->fd < 0)
		return reason_set(errno, "cannot open the pool set directory %s: %s", directory,
				  strerror(errno));
	ret = walk_down(w);
	if (ret)
		close(w->fd);
	return ret;
}

static int parse(const struct walk *w, int fd, struct pool_set *set)
{
	char path[PATH_MAX], *text;
	size_t len;
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", w->directory, w->name) >= (int)sizeof(path))
		return refuse(w, "the name is too long");
	ret = text_file_read(fd, path, POOL_SET_TEXT_MAX, &text, &len);
	if (ret)
		return ret;
	ret = pool_set_parse(set, path, text, len);
	free(text);
	return ret;
}

int set_file_read(const char *directory, const char *name, struct pool_set *set)
{
	struct walk w;
	int ret = walk_start(&w, directory, name), fd;

	if (ret)
		return ret;
	/* a FIFO would wait for a writer, a terminal would become ours */
	fd = openat(w.fd, w.component, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		ret = system_failed(&w, errno, "open");
	close(w.fd);
	if (ret)
		return ret;
	ret = parse(&w, fd, set);
	close(fd);
	return ret;
}

int set_file_remove(const char *directory, const char *name)
{
	struct walk w;
	int ret = walk_start(&w, directory, name);

	if (ret)
		return ret;
	if (unlinkat(w.fd, w.component, 0) != 0)
		ret = system_failed(&w, errno, "remove");
	close(w.fd);
	return ret;
}
