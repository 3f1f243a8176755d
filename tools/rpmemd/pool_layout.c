/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_layout.c -- parts one after another, each whole pages.
 */
#include "pool_layout.h"

#include <errno.h>
#include <inttypes.h>
#include <librpmem.h>

#include "pool_header.h"
#include "reason.h"

size_t pool_layout_headers(const struct pool_set *set)
{
	if (set->no_headers)
		return 0;
	return set->single_header ? 1 : set->count;
}

static int check_part(const struct pool_set *set, size_t i, const struct pool_layout_part parts[])
{
	const struct pool_layout_part *part = &parts[i];
	const char *path = set->parts[i].path;

	if (part->is_dax != parts[0].is_dax)
		return reason_set(EINVAL, "%s and %s: a pool is all of files or all of device DAX",
				  set->parts[0].path, path);
	if (part->file_bytes < RPMEM_MIN_PART)
		return reason_set(EINVAL, "%s has %" PRIu64 " bytes: expected %zu or more", path,
				  part->file_bytes, RPMEM_MIN_PART);
	if (part->file_offset % part->alignment != 0)
		return reason_set(
			EINVAL,
			"%s is mapped in units of %zu bytes: a pool of several such parts "
			"needs OPTION SINGLEHDR or NOHDRS",
			path, part->alignment);
	if (part->offset % part->alignment != 0)
		return reason_set(EINVAL, "%s: its alignment of %zu is above that of %s", path,
				  part->alignment, set->parts[0].path);
	return 0;
}

int pool_layout(const struct pool_set *set, struct pool_layout_part parts[], size_t *bytes)
{
	const bool all_have_headers = pool_layout_headers(set) == set->count;
	uint64_t total = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct pool_layout_part *part = &parts[i];
		uint64_t length;
		int ret;

		part->file_offset = i > 0 && all_have_headers ? POOL_HEADER_BYTES : 0;
		part->offset = (size_t)total;
		ret = check_part(set, i, parts);
		if (ret)
			return ret;
		length = part->file_bytes - part->file_offset;
		length -= length % part->alignment;
		if (length == 0 || length > SIZE_MAX / 2 - total)
			return reason_set(EINVAL, "%s: the pool would not fit into memory",
					  set->parts[i].path);
		part->length = (size_t)length;
		total += length;
	}
	*bytes = (size_t)total;
	return 0;
}
