/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c -- arithmetic on sizes; see layout.h. */
#include "layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/units.h"

static uint64_t aligned_down(const struct layout_request *request, uint64_t bytes)
{
	return bytes / request->alignment * request->alignment;
}

/* From the begin of the first file to the end of the last; UINT64_MAX: more than there can be. */
static uint64_t bytes_wanted(const struct layout_request *request)
{
	uint64_t end = 0;

	for (size_t i = 0; i < request->files; i++) {
		uint64_t begin = aligned_down(request, end + request->alignment - 1);

		if (begin < end || request->file_bytes[i] > UINT64_MAX - request->alignment - begin)
			return UINT64_MAX;
		end = begin + request->file_bytes[i];
	}
	return end;
}

static bool splits(const struct layout_request *request, uint64_t part_bytes)
{
	if (request->use != REGION_AUTO || request->jobs < 2)
		return request->use == REGION_SPLIT;
	return !request->placed && bytes_wanted(request) <= part_bytes;
}

static int too_small(const struct layout *layout, const struct layout_request *request,
		     uint64_t region_bytes)
{
	char wanted[UNITS_TEXT_BYTES], has[UNITS_TEXT_BYTES];

	units_print_size(bytes_wanted(request), wanted);
	units_print_size(region_bytes, has);
	if (layout->split)
		failure_set(EXIT_RUN_FAILED, "layout",
			    "each of %u jobs uses %s, but the server's region has %s for all: "
			    "give less size=, the server more, or region=shared",
			    request->jobs, wanted, has);
	else
		failure_set(EXIT_RUN_FAILED, "layout",
			    "the job uses %s, but the server's region has %s: give less size=, "
			    "or the server more",
			    wanted, has);
	return -ENOSPC;
}

/* Each file has an equal share of the part if no size is given. */
static void place_files(struct layout *layout, const struct layout_request *request, bool given)
{
	uint64_t share = layout->bytes;
	uint64_t next = 0;

	if (layout->count > 1)
		share = aligned_down(request, share / layout->count);
	for (size_t i = 0; i < layout->count; i++) {
		layout->files[i] = layout->base + next;
		layout->sizes[i] = given ? request->file_bytes[i] : share;
		next = aligned_down(request, next + layout->sizes[i] + request->alignment - 1);
	}
}

int layout_open(struct layout *layout, const struct layout_request *request, uint64_t region_bytes)
{
	uint64_t part_bytes =
		aligned_down(request, region_bytes / (request->jobs ? request->jobs : 1));
	struct layout made = {.split = splits(request, part_bytes), .count = request->files};
	uint64_t wanted = bytes_wanted(request);

	made.bytes = made.split ? part_bytes : region_bytes;
	made.base = made.split ? request->job * part_bytes : 0;
	if (wanted > made.bytes || made.bytes < request->files * request->alignment)
		return too_small(&made, request, region_bytes);
	made.files = calloc(request->files, sizeof(*made.files));
	made.sizes = calloc(request->files, sizeof(*made.sizes));
	if (!made.files || !made.sizes) {
		layout_close(&made);
		failure_set(EXIT_RUN_FAILED, "layout", "out of memory for %zu files",
			    request->files);
		return -ENOMEM;
	}
	place_files(&made, request, wanted > 0);
	*layout = made;
	return 0;
}

void layout_close(struct layout *layout)
{
	free(layout->files);
	free(layout->sizes);
	memset(layout, 0, sizeof(*layout));
}
