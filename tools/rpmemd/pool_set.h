/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_set.h -- a pool set file: the parts of a pool with their sizes, and options.
 *
 * poolset(5) has the format. Bytes in, values out, no I/O: the text is hostile
 * until it has been parsed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_SET_TEXT_MAX  (1U << 20)
#define POOL_SET_PARTS_MAX 1024
#define POOL_SET_AUTO	   0

struct pool_set_part {
	char *path;	/* absolute; owned by the set */
	uint64_t bytes; /* from 1 to INT64_MAX; POOL_SET_AUTO: the size of the device DAX */
};

struct pool_set {
	struct pool_set_part *parts;
	size_t count;
	bool single_header; /* OPTION SINGLEHDR: the first part alone has a header */
	bool no_headers;    /* OPTION NOHDRS: no part has one */
};

/*
 * `name` is for error messages. -EINVAL with the error message "NAME:LINE: ..." stored if the
 * text is not a pool set of one local replica; -ENOMEM. Free the set with
 * pool_set_free().
 */
int pool_set_parse(struct pool_set *set, const char *name, const char *text, size_t len);
void pool_set_free(struct pool_set *set);

struct pool_layout_part {
	/* set by the caller */
	uint64_t file_bytes;
	size_t alignment; /* mappings need it: the page, or what the device DAX has */
	bool is_dax;	  /* device DAX */
	/* set by pool_layout() */
	size_t offset; /* in the pool */
	size_t length;
	uint64_t file_offset;
};

/* How many of the parts, from the first on, have a header. */
size_t pool_layout_headers(const struct pool_set *set);

/*
 * Lays out the set's parts; *bytes gets the size of the pool. -EINVAL with the
 * error message set: a part is too small, the pool too large, device DAX is mixed with
 * files, or its alignment does not allow a header in each part.
 */
int pool_layout(const struct pool_set *set, struct pool_layout_part parts[], size_t *bytes);

/*
 * The file of a pool set, below the pool set directory. Its name comes from the client: it is a
 * relative path, and no name reaches a file elsewhere. Neither .. nor a symbolic link may be a
 * part of it.
 */

/*
 * Reads and parses. -EINVAL: the name or the text is wrong; -ENOENT, -EACCES and others
 * as open(2); the error message is stored.
 */
int set_file_read(const char *directory, const char *name, struct pool_set *set);
int set_file_remove(const char *directory, const char *name);
