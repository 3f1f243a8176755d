/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_headers.c -- maps the begin of parts, and calls the codec on it. */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mapping.h"
#include "reason.h"

/* Device DAX can be mapped in units of its alignment only. */
static int map_head(struct mapping *head, const struct pool_files *files, size_t part)
{
	const size_t alignment = files->layout[part].alignment;

	return mapping_open(head, &files->files[part], NULL,
			    alignment > POOL_HEADER_BYTES ? alignment : POOL_HEADER_BYTES, 0);
}

static uint8_t *bytes_of(const struct mapping *head)
{
	return head->target.memory;
}

/* NULL: zeros. */
static int write_header(const struct pool_files *files, size_t part,
			const struct pool_header *header)
{
	struct mapping head;
	int ret = map_head(&head, files, part);

	if (ret)
		return ret;
	if (header != NULL)
		pool_header_encode(header, bytes_of(&head));
	else
		memset(bytes_of(&head), 0, POOL_HEADER_BYTES);
	ret = mapping_persist(&head, 0, POOL_HEADER_BYTES);
	mapping_close(&head);
	return ret;
}

static int read_header(const struct pool_files *files, size_t part, struct pool_header *header)
{
	struct mapping head;
	int ret = map_head(&head, files, part);

	if (ret)
		return ret;
	ret = pool_header_decode(files->files[part].path, bytes_of(&head), header);
	mapping_close(&head);
	return ret;
}

static int allocate(size_t count, struct pool_header **headers)
{
	*headers = calloc(count, sizeof(**headers));
	return *headers != NULL ? 0 : reason_set(ENOMEM, "out of memory");
}

/* A pool made with the other geometry would show headers as data, or data as headers. */
static int check_single(const struct pool_set *set, const char *path,
			const struct pool_header *header)
{
	const bool single = header->attr.incompat_features & POOL_HEADER_SINGLE;

	if (single == set->single_header)
		return 0;
	return reason_set(EINVAL, "the pool of part %s was made %s OPTION SINGLEHDR, its set %s it",
			  path, single ? "with" : "without", single ? "lacks" : "has");
}

/* The caller frees them. */
static int read_all(const struct pool_files *files, const struct pool_set *set,
		    struct pool_header **out)
{
	const size_t count = pool_layout_headers(set);
	struct pool_header *headers;
	int ret = allocate(count, &headers);

	for (size_t i = 0; ret == 0 && i < count; i++) {
		ret = read_header(files, i, &headers[i]);
		if (ret == 0)
			ret = check_single(set, files->files[i].path, &headers[i]);
	}
	if (ret == 0)
		ret = pool_header_verify(files->files[0].path, headers, count);
	if (ret == 0)
		*out = headers;
	else
		free(headers);
	return ret;
}

static int check_empty(const struct pool_files *files, size_t part)
{
	struct mapping head;
	int ret = map_head(&head, files, part);

	if (ret)
		return ret;
	if (!pool_header_is_empty(bytes_of(&head)))
		ret = reason_set(EEXIST, "the part %s exists and its first %d bytes are in use",
				 files->files[part].path, POOL_HEADER_BYTES);
	mapping_close(&head);
	return ret;
}

int pool_headers_check_empty(const struct pool_files *files, const struct pool_set *set)
{
	const size_t count = pool_layout_headers(set);
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < count; i++) {
		if (!files->files[i].made)
			ret = check_empty(files, i);
	}
	return ret;
}

/* When the part's file was made, as PMDK has it. */
static uint64_t creation_time(const struct pool_file *file)
{
	struct stat st;

	return fstat(file->fd, &st) == 0 ? (uint64_t)st.st_ctim.tv_sec : 0;
}

int pool_headers_create(struct pool_files *files, const struct pool_set *set,
			const struct rpmem_pool_attr *attr)
{
	const size_t count = pool_layout_headers(set);
	struct pool_header *headers;
	int ret;

	if (count == 0)
		return 0;
	ret = allocate(count, &headers);
	if (ret)
		return ret;
	for (size_t i = 0; i < count; i++)
		headers[i].created_s = creation_time(&files->files[i]);
	ret = pool_header_create(headers, count, attr);
	for (size_t i = 0; ret == 0 && i < count; i++) {
		files->files[i].header_made = true;
		ret = write_header(files, i, &headers[i]);
	}
	free(headers);
	return ret;
}

int pool_headers_open(const struct pool_files *files, const struct pool_set *set,
		      struct rpmem_pool_attr *attr)
{
	struct pool_header *headers;
	int ret;

	if (pool_layout_headers(set) == 0)
		return 0;
	ret = read_all(files, set, &headers);
	if (ret)
		return ret;
	*attr = headers[0].attr;
	free(headers);
	return 0;
}

int pool_headers_change(const struct pool_files *files, const struct pool_set *set,
			const struct rpmem_pool_attr *attr)
{
	const size_t count = pool_layout_headers(set);
	struct pool_header *headers;
	int ret;

	if (count == 0)
		return 0;
	ret = read_all(files, set, &headers);
	if (ret)
		return ret;
	pool_header_change(headers, count, attr);
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = write_header(files, i, &headers[i]);
	free(headers);
	return ret;
}

int pool_headers_clear(const struct pool_files *files, size_t part)
{
	return write_header(files, part, NULL);
}
