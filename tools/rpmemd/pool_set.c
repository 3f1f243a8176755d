/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_set.c -- parses pool set files line by line, each cut into words.
 */
#include "pool_set.h"

#include <errno.h>
#include <inttypes.h>
#include <librpmem.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

#define SIGNATURE "PMEMPOOLSET"
#define WORDS_MAX 4 /* one more than a line may have */

struct span {
	const char *at;
	size_t len;
};

struct parser {
	struct pool_set set;
	const char *name;
	size_t line; /* counted from 1 */
};

/* For "%.*s": a part of the file that fits into an error message. */
#define SPAN(span) (int)((span).len < 200 ? (span).len : 200), (span).at

static bool equals(struct span span, const char *word)
{
	return span.len == strlen(word) && memcmp(span.at, word, span.len) == 0;
}

/* Takes the next line, without its end. False: there are no more. */
static bool next_line(struct span *text, struct span *line)
{
	const char *end;

	if (text->len == 0)
		return false;
	end = memchr(text->at, '\n', text->len);
	line->at = text->at;
	line->len = end != NULL ? (size_t)(end - text->at) : text->len;
	text->at += line->len + (end != NULL);
	text->len -= line->len + (end != NULL);
	if (line->len > 0 && line->at[line->len - 1] == '\r')
		line->len--;
	return true;
}

static void cut_comment(struct span *line)
{
	const char *comment = line->len > 0 ? memchr(line->at, '#', line->len) : NULL;

	if (comment != NULL)
		line->len = (size_t)(comment - line->at);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Gives how many words there are, WORDS_MAX at most. */
static size_t split(struct span line, struct span words[WORDS_MAX])
{
	size_t count = 0, at = 0;

	while (count < WORDS_MAX) {
		while (at < line.len && is_blank(line.at[at]))
			at++;
		if (at == line.len)
			break;
		words[count] = (struct span){line.at + at, 0};
		while (at < line.len && !is_blank(line.at[at])) {
			at++;
			words[count].len++;
		}
		count++;
	}
	return count;
}

static bool has_control_characters(struct span line)
{
	for (size_t i = 0; i < line.len; i++) {
		if (((unsigned char)line.at[i] < ' ' && line.at[i] != '\t') || line.at[i] == 0x7f)
			return true;
	}
	return false;
}

/* 0: there is no such unit. */
static uint64_t unit_bytes(struct span unit)
{
	static const char letters[] = "KMGTP";
	uint64_t binary = 1, decimal = 1;

	if (unit.len == 0 || equals(unit, "B"))
		return 1;
	for (const char *letter = letters; *letter != '\0'; letter++) {
		const char iec[] = {*letter, 'i', 'B', '\0'};
		const char si[] = {(char)(*letter == 'K' ? 'k' : *letter), 'B', '\0'};

		binary *= 1024;
		decimal *= 1000;
		if (equals(unit, iec) || (unit.len == 1 && unit.at[0] == *letter))
			return binary;
		if (equals(unit, si))
			return decimal;
	}
	return 0;
}

/* False: it is malformed, 0, or larger than a file may be. */
static bool parse_size(struct span word, uint64_t *bytes)
{
	uint64_t value = 0, unit;
	size_t digits = 0;

	for (; digits < word.len && word.at[digits] >= '0' && word.at[digits] <= '9'; digits++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(word.at[digits] - '0'), &value))
			return false;
	}
	unit = unit_bytes((struct span){word.at + digits, word.len - digits});
	if (digits == 0 || value == 0 || unit == 0 || __builtin_mul_overflow(value, unit, bytes))
		return false;
	return *bytes <= INT64_MAX;
}

/* Room for one more part; the array doubles. */
static int grow(struct pool_set *set)
{
	struct pool_set_part *parts;

	if ((set->count & (set->count - 1)) != 0)
		return 0;
	parts = realloc(set->parts, (set->count > 0 ? 2 * set->count : 1) * sizeof(*parts));
	if (parts == NULL)
		return -ENOMEM;
	set->parts = parts;
	return 0;
}

static int add_part(struct parser *p, struct span path, uint64_t bytes)
{
	struct pool_set *set = &p->set;
	char *copy;

	if (set->count == POOL_SET_PARTS_MAX)
		return reason_set(EINVAL, "%s:%zu: expected %d parts or less", p->name, p->line,
				  POOL_SET_PARTS_MAX);
	copy = grow(set) == 0 ? strndup(path.at, path.len) : NULL;
	if (copy == NULL)
		return reason_set(ENOMEM, "%s: out of memory", p->name);
	set->parts[set->count++] = (struct pool_set_part){copy, bytes};
	return 0;
}

static int parse_part(struct parser *p, const struct span words[], size_t count)
{
	uint64_t bytes = POOL_SET_AUTO;

	if (!equals(words[0], "AUTO") && !parse_size(words[0], &bytes))
		return reason_set(EINVAL,
				  "%s:%zu: expected a size such as 16M or 1GiB, or a keyword, not "
				  "%.*s",
				  p->name, p->line, SPAN(words[0]));
	if (count != 2)
		return reason_set(EINVAL, "%s:%zu: expected a size and a path without blanks",
				  p->name, p->line);
	if (words[1].at[0] != '/' || words[1].len >= PATH_MAX)
		return reason_set(EINVAL, "%s:%zu: expected an absolute path, not %.*s", p->name,
				  p->line, SPAN(words[1]));
	return add_part(p, words[1], bytes);
}

static int parse_options(struct parser *p, const struct span words[], size_t count)
{
	if (count < 2 || count == WORDS_MAX)
		return reason_set(EINVAL, "%s:%zu: expected one or two words after OPTION", p->name,
				  p->line);
	for (size_t i = 1; i < count; i++) {
		if (equals(words[i], "SINGLEHDR"))
			p->set.single_header = true;
		else if (equals(words[i], "NOHDRS"))
			p->set.no_headers = true;
		else
			return reason_set(EINVAL,
					  "%s:%zu: expected OPTION SINGLEHDR or NOHDRS, not %.*s",
					  p->name, p->line, SPAN(words[i]));
	}
	if (p->set.single_header && p->set.no_headers)
		return reason_set(EINVAL, "%s:%zu: SINGLEHDR and NOHDRS are mutually exclusive",
				  p->name, p->line);
	return 0;
}

static int parse_line(struct parser *p, struct span line)
{
	struct span words[WORDS_MAX];
	size_t count;

	cut_comment(&line);
	if (has_control_characters(line))
		return reason_set(EINVAL, "%s:%zu: a control character is in this line", p->name,
				  p->line);
	count = split(line, words);
	if (count == 0)
		return 0;
	if (equals(words[0], "OPTION"))
		return parse_options(p, words, count);
	if (equals(words[0], "REPLICA"))
		return reason_set(EINVAL, "%s:%zu: a pool set of the target may not have a REPLICA",
				  p->name, p->line);
	return parse_part(p, words, count);
}

static int parse_text(struct parser *p, struct span text)
{
	struct span line;
	int ret = 0;

	if (!next_line(&text, &line) || !equals(line, SIGNATURE))
		return reason_set(EINVAL, "%s:1: expected the line " SIGNATURE, p->name);
	for (p->line = 2; ret == 0 && next_line(&text, &line); p->line++)
		ret = parse_line(p, line);
	if (ret == 0 && p->set.count == 0)
		return reason_set(EINVAL, "%s: the pool set has no parts", p->name);
	return ret;
}

int pool_set_parse(struct pool_set *set, const char *name, const char *text, size_t len)
{
	struct parser parser = {.name = name};
	int ret = parse_text(&parser, (struct span){text, len});

	if (ret) {
		pool_set_free(&parser.set);
		return ret;
	}
	*set = parser.set;
	return 0;
}

void pool_set_free(struct pool_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->parts[i].path);
	free(set->parts);
	memset(set, 0, sizeof(*set));
}
