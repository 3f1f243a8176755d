/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h -- where the files of a job lie in the region of its server.
 *
 * A job has the region or, split, its part of it; its files follow each other
 * there in the order of their numbers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "options.h"

struct layout_request {
	enum region_use use;
	unsigned job; /* which of jobs */
	unsigned jobs;
	uint64_t alignment;	    /* where parts and files begin; at least 1 */
	bool placed;		    /* the job file places each job (offset_increment) */
	const uint64_t *file_bytes; /* what each file reaches to; 0 of all: not given */
	size_t files;
};

struct layout {
	uint64_t base;	 /* start of the job's part */
	uint64_t bytes;	 /* its size */
	uint64_t *files; /* begin of each, in the region; malloced */
	uint64_t *sizes; /* one per file */
	size_t count;
	bool split;
};

/*
 * auto splits among several jobs that are not placed, where their files fit in
 * a part, and else shares. -ENOSPC with the error message set: what is wanted, what the
 * region has, and which option would do.
 */
int layout_open(struct layout *layout, const struct layout_request *request, uint64_t region_bytes);
void layout_close(struct layout *layout);
