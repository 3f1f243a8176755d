/* SPDX-License-Identifier: BSD-3-Clause */
/* durable_check.c -- see durable_check.h. */
#include "durable_check.h"

#include <stdlib.h>
#include <string.h>

/* The effect of one write on one line. */
struct log_piece {
	uint64_t line;
	uint32_t write;
	uint32_t tag;
	uint8_t from; /* in the line */
	uint8_t bytes;
};

/* --- reading the log --------------------------------------------------------------- */

static int no_memory(void)
{
	return failure_set(EXIT_RUN_FAILED, "check", "out of memory for the log");
}

static int damaged(const char *name, size_t at, const char *why)
{
	return failure_set(EXIT_RUN_FAILED, "check", "%s is damaged at byte %zu: %s", name, at,
			   why);
}

/* The part of an append that did not reach the disk may be there as zeros. */
static bool all_zeros(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

static void add_pieces(struct durable_check *check, const struct log_record *record)
{
	const uint64_t lines = log_lines(record->begin, record->bytes);
	const uint64_t end = record->begin + record->bytes;
	uint64_t at = record->begin;

	for (uint64_t i = 0; i < lines; i++) {
		uint64_t line = at / LOG_LINE, next = (line + 1) * LOG_LINE;

		if (next > end)
			next = end;
		check->pieces[check->piece_count++] = (struct log_piece){
			.line = line,
			.write = (uint32_t)record->number,
			.tag = log_record_tag_at(record, i),
			.from = (uint8_t)(at % LOG_LINE),
			.bytes = (uint8_t)(next - at),
		};
		at = next;
	}
}

/* Holds a record against those before it: NULL, or what is wrong with it. */
static const char *take(struct durable_check *check, const struct log_record *record)
{
	if (record->type == LOG_WRITE) {
		if (record->number != check->writes)
			return "the numbers of writes do not follow each other";
		check->states[check->writes++] = CLAIM_NONE;
		add_pieces(check, record);
		return NULL;
	}
	if (record->type == LOG_END) {
		check->ended = true;
		check->flushes = record->begin;
		check->reached = (enum reached)record->bytes;
		return record->number == check->writes ? NULL : "writes are missing";
	}
	if (record->type == LOG_FAILED) { /* they stay CLAIM_DONE, or become it */
		check->unclaimable = check->writes;
		check->done_count = 0;
		return NULL;
	}
	if (record->type == LOG_SYNC) {
		while (check->done_count > 0)
			check->states[check->done[--check->done_count]] = CLAIM_THERE;
		return NULL;
	}
	if (record->number >= check->writes || check->states[record->number] != CLAIM_NONE)
		return "a write is done that was not under way";
	check->states[record->number] = record->claimed ? CLAIM_THERE : CLAIM_DONE;
	if (!record->claimed && record->number >= check->unclaimable)
		check->done[check->done_count++] = (uint32_t)record->number;
	return NULL;
}

static int read_records(struct durable_check *check, const char *name, const uint8_t *bytes,
			size_t size, struct log_sum before)
{
	size_t at = LOG_HEADER_BYTES;

	while (at < size) {
		struct log_record record;
		int64_t taken = log_record_decode(bytes + at, size - at, check->header.region_bytes,
						  before, &record);
		const char *wrong;

		if (check->ended)
			return damaged(name, at, "something follows its end");
		if (taken == 0 || (taken < 0 && all_zeros(bytes + at, size - at))) {
			check->torn = true;
			return 0;
		}
		if (taken < 0)
			return damaged(name, at, "there is no record that follows the one before");
		wrong = take(check, &record);
		if (wrong != NULL)
			return damaged(name, at, wrong);
		before = record.sum;
		at += (size_t)taken;
	}
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct log_piece *one = a, *other = b;

	if (one->line != other->line)
		return one->line < other->line ? -1 : 1;
	return (one->write > other->write) - (one->write < other->write);
}

/* Bounds on what a log of this size can hold, so that nothing grows. */
static int make_room(struct durable_check *check, size_t size)
{
	const size_t writes = size / LOG_RECORD_BYTES, pieces = size / LOG_TAG_BYTES;

	if (writes >= UINT32_MAX)
		return no_memory();
	check->states = calloc(writes + 1, sizeof(*check->states));
	check->done = calloc(writes + 1, sizeof(*check->done));
	check->pieces = calloc(pieces + 1, sizeof(*check->pieces));
	return check->states != NULL && check->done != NULL && check->pieces != NULL ? 0
										     : no_memory();
}

int durable_check_open(struct durable_check *check, const char *name, const uint8_t *bytes,
		       size_t size)
{
	struct log_sum sum;
	int ret;

	*check = (struct durable_check){.torn = false};
	if (size < LOG_HEADER_BYTES || log_header_decode(bytes, size, &check->header, &sum) != 0)
		return failure_set(EXIT_RUN_FAILED, "check",
				   "%s is not a log of durable_log=", name);
	ret = make_room(check, size);
	if (ret == 0)
		ret = read_records(check, name, bytes, size, sum);
	if (ret != 0) {
		durable_check_close(check);
		return ret;
	}
	qsort(check->pieces, check->piece_count, sizeof(*check->pieces), by_offset);
	return 0;
}

void durable_check_close(struct durable_check *check)
{
	free(check->lost);
	free(check->pieces);
	free(check->done);
	free(check->states);
	*check = (struct durable_check){.torn = false};
}

/* --- judging ----------------------------------------------------------------------- */

static uint64_t mask_of(const struct log_piece *piece)
{
	return (piece->bytes < 64 ? (1ULL << piece->bytes) - 1 : UINT64_MAX) << piece->from;
}

static bool is_there(const struct log_piece *piece, const uint8_t line[LOG_LINE])
{
	return log_tag(line + piece->from, piece->bytes) == piece->tag;
}

static bool same_bytes(const struct log_piece *one, const struct log_piece *other)
{
	return one->from == other->from && one->bytes == other->bytes;
}

/*
 * A claimed piece among those of its line, oldest first. The content of an older write
 * shows the loss even where a newer one was under way.
 */
static enum claim_state judge_piece(const struct log_piece *pieces, size_t count, size_t index,
				    const uint8_t line[LOG_LINE])
{
	bool overlapped = false;

	for (size_t i = count; i-- > 0;) {
		if (same_bytes(&pieces[i], &pieces[index]) && is_there(&pieces[i], line))
			return i >= index ? CLAIM_THERE : CLAIM_LOST;
		overlapped |= i > index && (mask_of(&pieces[i]) & mask_of(&pieces[index])) != 0;
	}
	return overlapped ? CLAIM_UNDECIDED : CLAIM_LOST;
}

/* Ascending: lines are judged in their order. */
static void add_lost(struct durable_check *check, uint64_t begin, uint64_t end)
{
	struct claim_extent *last = check->lost + check->lost_count - 1;

	if (check->lost_count > 0 && begin == last->end)
		last->end = end;
	else
		check->lost[check->lost_count++] = (struct claim_extent){begin, end};
}

/* A bit for each byte of the line. */
static void add_lost_line(struct durable_check *check, uint64_t line, uint64_t mask)
{
	for (unsigned from = 0, to; mask >> from != 0; from = to) {
		from += (unsigned)__builtin_ctzll(mask >> from);
		for (to = from; to < LOG_LINE && (mask >> to & 1) != 0;)
			to++;
		add_lost(check, line * LOG_LINE + from, line * LOG_LINE + to);
		if (to == LOG_LINE)
			return;
	}
}

/* A write is what its worst piece is; `worst` begins as CLAIM_COVERED. */
static void judge_line(struct durable_check *check, const struct log_piece *pieces, size_t count,
		       const uint8_t line[LOG_LINE], uint8_t *worst)
{
	uint64_t covered = 0, lost = 0;

	for (size_t i = count; i-- > 0 && covered != UINT64_MAX;) {
		const struct log_piece *piece = &pieces[i];
		enum claim_state state;

		if (check->states[piece->write] < CLAIM_COVERED || (mask_of(piece) & ~covered) == 0)
			continue;
		covered |= mask_of(piece);
		state = judge_piece(pieces, count, i, line);
		if (state == CLAIM_LOST)
			lost |= mask_of(piece);
		if (state > worst[piece->write])
			worst[piece->write] = (uint8_t)state;
	}
	add_lost_line(check, pieces[0].line, lost);
}

static size_t same_line(const struct durable_check *check, size_t first)
{
	size_t end = first;

	while (end < check->piece_count && check->pieces[end].line == check->pieces[first].line)
		end++;
	return end - first;
}

static int judge_all(struct durable_check *check, claim_read *read, void *arg, uint8_t *worst)
{
	size_t count;

	for (size_t i = 0; i < check->piece_count; i += count) {
		const uint64_t begin = check->pieces[i].line * LOG_LINE;
		const uint64_t left = check->header.region_bytes - begin;
		uint8_t line[LOG_LINE] = {0};
		int ret = read(arg, begin, line, left < LOG_LINE ? (size_t)left : LOG_LINE);

		if (ret)
			return ret;
		count = same_line(check, i);
		judge_line(check, &check->pieces[i], count, line, worst);
	}
	return 0;
}

int durable_check_judge(struct durable_check *check, claim_read *read, void *arg)
{
	uint8_t *worst = malloc(check->writes + 1);
	int ret;

	check->lost = calloc(check->piece_count + 1, sizeof(*check->lost));
	if (worst == NULL || check->lost == NULL) {
		free(worst);
		return no_memory();
	}
	memset(worst, CLAIM_COVERED, check->writes + 1);
	ret = judge_all(check, read, arg, worst);
	for (uint64_t i = 0; i < check->writes; i++) {
		if (check->states[i] >= CLAIM_COVERED)
			check->states[i] = worst[i];
	}
	free(worst);
	return ret;
}

uint64_t durable_check_count(const struct durable_check *check, enum claim_state state)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < check->writes; i++)
		count += check->states[i] == state;
	return count;
}

enum exit_code durable_check_verdict(const struct durable_check *check)
{
	const uint64_t kept =
		durable_check_count(check, CLAIM_THERE) + durable_check_count(check, CLAIM_COVERED);

	if (durable_check_count(check, CLAIM_LOST) > 0)
		return EXIT_NEGATIVE;
	return check->ended && kept > 0 && durable_check_count(check, CLAIM_UNDECIDED) == 0
		       ? EXIT_GOOD
		       : EXIT_NO_DEVICE;
}
