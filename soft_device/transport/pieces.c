/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.c -- see pieces.h. There are 64 at most, so a piece of a long message is several lines:
 * pieces that follow each other are moved as one part, and all parts by one call.
 */
#include "pieces.h"

#include "names/random.h"

#define LINE	   TARGET_MEMORY_LINE
#define LINE_SHIFT 6
#define PIECES_MAX 64u
#define PARTS_MAX  (PIECES_MAX / 2)

struct parts {
	struct iovec local[PARTS_MAX + SOFT_MAX_SGE];
	struct iovec remote[PARTS_MAX];
	unsigned local_count;
	unsigned remote_count;
};

static bool is_wanted(const struct pieces *pieces, uint64_t piece)
{
	const uint64_t group = random_mix(pieces->key + piece) % pieces->groups;

	return group >= pieces->first && group <= pieces->last;
}

/* The bytes of the local parts from `from` on, which they have. */
static void add_local(struct parts *parts, const struct local_memory *local, uint64_t from,
		      uint64_t bytes)
{
	for (unsigned i = 0; i < local->count && bytes > 0; i++) {
		const struct iovec *part = &local->parts[i];
		uint64_t most;

		if (from >= part->iov_len) {
			from -= part->iov_len;
			continue;
		}
		most = part->iov_len - from < bytes ? part->iov_len - from : bytes;
		parts->local[parts->local_count++] =
			(struct iovec){(unsigned char *)part->iov_base + from, most};
		bytes -= most;
		from = 0;
	}
}

static void add(struct parts *parts, const struct local_memory *local, uint64_t memory,
		uint64_t from, uint64_t to)
{
	parts->remote[parts->remote_count++] =
		(struct iovec){(void *)(uintptr_t)(memory + from), to - from};
	add_local(parts, local, from, to - from);
}

static void find_parts(const struct pieces *pieces, uint64_t memory, uint64_t length,
		       struct parts *parts)
{
	const uint64_t skew = memory % LINE, lines_end = skew + length;
	uint64_t from = 0, to = 0; /* the part so far */
	unsigned shift = LINE_SHIFT;

	parts->local_count = parts->remote_count = 0;
	while ((lines_end - 1) >> shift >= PIECES_MAX)
		shift++;
	for (uint64_t piece = 0; piece << shift < lines_end; piece++) {
		const uint64_t end = (piece + 1) << shift;

		if (is_wanted(pieces, piece)) {
			to = (end < lines_end ? end : lines_end) - skew;
			continue;
		}
		if (to > from)
			add(parts, pieces->local, memory, from, to);
		from = to = end - skew;
	}
	if (to > from)
		add(parts, pieces->local, memory, from, to);
}

int pieces_move(void *arg, uint64_t memory, uint64_t length)
{
	const struct pieces *pieces = arg;
	struct parts parts;

	if (length == 0)
		return 0;
	find_parts(pieces, memory, length, &parts);
	if (parts.remote_count == 0)
		return 0;
	return (pieces->reads ? target_memory_read : target_memory_write)(
		pieces->process, parts.local, parts.local_count, parts.remote, parts.remote_count);
}
