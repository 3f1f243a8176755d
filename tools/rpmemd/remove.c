/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remove.c -- removes pools: rpmem_remove(), and `rpmemd --remove` by hand.
 *
 * All parts are locked before the first one goes, so that a pool in use stays whole.
 */
#include "pool.h"

#include <errno.h>
#include <string.h>

#include "common/base/failure.h"
#include "pool_files.h"
#include "pool_headers.h"
#include "reason.h"
#include "set_file.h"

static int remove_part(const struct pool_files *files, size_t i)
{
	if (files->layout[i].is_dax)
		return pool_headers_clear(files, i);
	return pool_files_unlink(&files->files[i]);
}

/* Goes on after a failure; the first one is given. */
static int remove_parts(const struct pool_files *files)
{
	struct failure failure = {.text = ""};
	int first = 0;

	for (size_t i = 0; i < files->count; i++) {
		const int ret = remove_part(files, i);

		if (ret && first == 0) {
			first = ret;
			failure = *failure_get();
		}
	}
	if (first)
		*failure_get() = failure;
	return first;
}

static int remove_set(const struct pool_set *set, bool force)
{
	const enum pool_files_use use = force ? POOL_FILES_REMOVE : POOL_FILES_INSPECT;
	struct rpmem_pool_attr attr;
	struct pool_files files;
	int ret = pool_files_find(&files, set, use);

	if (ret == 0)
		ret = pool_files_open(&files, use);
	if (ret == 0 && !force) /* a pool that could not be opened is inconsistent */
		ret = pool_headers_open(&files, set, &attr);
	if (ret == 0)
		ret = remove_parts(&files);
	pool_files_close(&files, false);
	return ret;
}

int pool_remove(const char *directory, const char *name, bool force, bool with_set)
{
	struct pool_set set;
	int ret = set_file_read(directory, name, &set);

	if (ret)
		return ret;
	ret = remove_set(&set, force);
	pool_set_free(&set);
	return ret == 0 && with_set ? set_file_remove(directory, name) : ret;
}
